# SPDX-License-Identifier: Apache-2.0
"""Functions in the style of libraries as these are shipped: instance structures, helpers in headers, globals. Each that
is accepted means what the function itself computes, compiled; the golden text has the count, and a reason per refusal.
"""

from __future__ import annotations

import re

import pytest
from tests.conftest import Golden
from tests.frontend.c.helpers import HERE
from tests.frontend.python.helpers import arguments, assert_same, meaning

from polyloom import api
from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import c
from polyloom.frontend.source import Options

pytestmark = pytest.mark.usefixtures("roughly_scheduled", "shared_trees")

pytest.importorskip("ziglang", reason="C needs the extra `c`")

FOLDER = HERE / "shipped"
FUNCTION = re.compile(r"(?:/\* shapes (.*?) \*/\n)?^(?:void|status|float) (\w+)\(", re.MULTILINE)


@pytest.mark.parametrize("file", sorted(path.stem for path in FOLDER.glob("*.c")))
def test_functions_as_shipped(file: str, golden: Golden) -> None:
    path = FOLDER / f"{file}.c"
    rows = FUNCTION.findall(path.read_text(encoding="utf-8"))
    found = {name: verdict(str(path), options(name, words.split())) for words, name in rows}
    equal = sum(text == "equal" for text in found.values())
    lines = [f"{equal} of {len(rows)} accepted and equal", *(f"{name}: {text}" for name, text in found.items())]
    golden(file, "\n".join([*lines, ""]))


@pytest.mark.parametrize(
    ("file", "name", "on"),
    [
        ("signal", "filter_q31_fast", "riscv"),
        ("signal", "matrix_multiply_f32", "riscv"),
        ("neural", "fully_connected_s8", "riscv"),
        ("neural", "convolve_s8", "riscv"),
        ("loops", "s000", "riscv"),
        ("loops", "s211", "belt"),
        ("signal", "filter_f32", "belt"),
        ("signal", "filter_f32", "minion"),
        ("loops", "s151", "tensix"),
        ("loops", "s4114", "tcpa"),
        ("intrinsics", "doubling", "tcpa"),
        ("streams", "stream_control_q15", "tcpa"),
        ("streams", "stream_dot_q31", "riscv"),
        ("streams", "stream_filter_q15", "tcpa"),
        ("streams", "stream_filter_q31", "riscv"),
        ("streams", "stream_cascade_q31", "belt"),
        ("library", "cascade_f32", "belt"),
        ("library", "packed_q15", "riscv"),
        ("library", "weighted", "riscv"),
        ("library", "delayed", "belt"),
        # A quotient of 64 bits on the array: 18 s, the half of what these members take; `stream_filter_q15` has sums.
        pytest.param("library", "mean_q31", "tcpa", marks=pytest.mark.long),
    ],
)
def test_runs_on_machines(file: str, name: str, on: str) -> None:
    path = FOLDER / f"{file}.c"
    words = {n: w for w, n in FUNCTION.findall(path.read_text(encoding="utf-8"))}
    compiled = api.compile(path, on, options=options(name, words[name].split()))
    assert compiled.run(dict.fromkeys(compiled.signature.sizes, 4), fill="random").verified


def options(name: str, words: list[str]) -> Options:
    """Options that the comment above a function names: shapes, and what is left out."""
    ignored = [word.removeprefix("ignore:").split(",") for word in words if word.startswith("ignore:")]
    shapes = tuple(word for word in words if not word.startswith("ignore:"))
    return Options(name, shapes=shapes, ignore=tuple(name for names in ignored for name in names))


def verdict(path: str, options: Options) -> str:
    """Outcome of one function: "equal", or the first line of what refuses it. A difference fails the test."""
    try:
        nest, reference = c.load(path, options)
        nest = check_with_least_sizes(nest)
    except PolyloomError as error:
        return str(error).partition("\n")[0]
    sizes = [dict.fromkeys(nest.parameters, size) for size in (4, 3, 2, 1, 8)]
    meant = [parameters for parameters in sizes if nest.assumptions.contains(parameters)]
    assert meant, options.function
    for parameters in meant[:2]:
        inputs = {n: values - values.dtype.type(1) for n, values in arguments(nest, parameters, 1).items()}
        assert_same(meaning(nest, parameters, inputs), reference(parameters, inputs))
    return "equal"
