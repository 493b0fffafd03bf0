# SPDX-License-Identifier: Apache-2.0
"""Random affine nests, in Python and in C: both run on the array as they run on the processor, or both are refused for
one reason.

The C text is the nest that the Python front end found, printed. A plan that both front ends give is compiled once.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.frontend.python.helpers import assert_same
from tests.kernels.nests import kernel
from tests.kernels.running import run

from polyloom import api, frontend
from polyloom.diagnostics import INFEASIBLE, INPUT, PolyloomError
from polyloom.frontend.python import load_kernel
from polyloom.frontend.source import Source
from polyloom.ir.nest_c import print_c
from polyloom.ir.pla_text import print_program

pytestmark = [
    pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`"),
    pytest.mark.usefixtures("roughly_scheduled"),
]
REGIONS = ((1, 1), (1, 3), (2, 2), (2, 3), (3, 1))
RAN = "runs"


def outcome(folder: Path, seed: int) -> str:
    """`RAN`, or the code for which the nest was refused; anything else is an error."""
    python, c = folder / "nest.py", folder / "nest.c"
    python.write_text(kernel(seed), encoding="utf-8")
    c.write_text(print_c(load_kernel(str(python)).nest), encoding="utf-8")
    from_python, from_c = _loaded(python), _loaded(c)
    if isinstance(from_python, str) or isinstance(from_c, str):
        assert from_python == from_c
        return str(from_python)
    sizes, region = {"N": 2 + seed % 4}, REGIONS[seed % len(REGIONS)]
    if _texts(from_python) == _texts(from_c):
        return _run(from_python, from_c, sizes, region)
    found = {
        _run(source, source, sizes, region) for source in (from_python, from_c)
    }  # C's `a < b ? a : b` is a minimum
    assert len(found) == 1
    return found.pop()


def _loaded(path: Path) -> Source | str:
    try:
        return frontend.load(str(path))
    except PolyloomError as error:
        return _reason(error, INPUT)


def _reason(error: PolyloomError, expected: int) -> str:
    assert all(d.exit_code == expected for d in error.diagnostics), error
    return error.diagnostics[0].code


def _texts(source: Source) -> list[tuple[object, ...]]:
    return [(print_program(phase.program), phase.inputs, phase.outputs) for phase in source.plan.phases]


def _run(source: Source, other: Source, sizes: Mapping[str, int], region: tuple[int, int]) -> str:
    """`run` compares with the function of `source`; here that of `other` joins."""
    try:
        inputs, result = run(api.compile(source, on="tcpa:wide"), sizes, region)
    except PolyloomError as error:
        return _reason(error, INFEASIBLE)
    expected = other.reference(sizes, inputs)
    assert result.outputs.keys() <= expected.keys()
    assert_same({name: expected[name] for name in result.outputs}, result.outputs)
    return RAN


def check(folder: Path, seeds: Iterable[int]) -> None:
    """At least half of all nests run."""
    outcomes = Counter(outcome(folder, seed) for seed in seeds)
    print(", ".join(f"{code}: {count}" for code, count in outcomes.most_common()))
    assert 2 * outcomes[RAN] >= outcomes.total()


FIRST = (*range(6), 27, 31)
"""The nests of the default run: the last two have the comparisons that those before lack."""


def _constructs(seeds: Iterable[int]) -> set[str]:
    return {type(node).__name__ for seed in seeds for node in ast.walk(ast.parse(kernel(seed)))}


def test_the_first_nests_have_all_constructs() -> None:
    assert _constructs(FIRST) == _constructs(range(200))


def test_a_few_nests(tmp_path: Path) -> None:
    check(tmp_path, FIRST)


@pytest.mark.long
@pytest.mark.parametrize("block", range(4))
def test_a_hundred_nests(block: int, tmp_path: Path) -> None:
    check(tmp_path, range(25 * block, 25 * block + 25))


def test_values_that_share_an_element_between_phases(tmp_path: Path) -> None:
    """Each has an element of its own then, of an array that is not the one to which they are assigned."""
    assert [outcome(tmp_path, seed) for seed in (124, 130, 171)] == [RAN, RAN, RAN]


@pytest.mark.long
@pytest.mark.parametrize("block", range(1, 11))
def test_a_thousand_nests(block: int, tmp_path: Path) -> None:
    check(tmp_path, range(100 * block, 100 * block + 100))
