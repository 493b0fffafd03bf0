# SPDX-License-Identifier: Apache-2.0
"""Exact dataflow: every read's origin against enumeration, and the equations' meaning against the nest's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from tests.conftest import Golden
from tests.made_up import random_inputs
from tests.transform.nest.brute import Instance, trace
from tests.transform.nest.kernels import KERNELS
from tests.transform.nest.programs import programs

from polyloom.diagnostics import PolyloomError
from polyloom.ir import nest_interpret, recurrence_interpret
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import nest_signature
from polyloom.ir.recurrence import Piece, Produced, System
from polyloom.ir.recurrence_text import print_system
from polyloom.transform import write_only_arguments
from polyloom.transform.dataflow import analyse, flow
from polyloom.transform.pieces import origin_name
from polyloom.transform.undefined_values import remove_undefined_choices

CASES = [
    pytest.param(name, sizes, id=f"{name}-{'-'.join(map(str, sizes.values()))}")
    for name, kernel in KERNELS.items()
    for sizes in kernel.sizes
]


def origins(read: tuple[Piece, ...], at: Mapping[str, int]) -> list[Instance]:
    found = [p.origin for p in read if p.domain.contains(at)]
    return [
        (origin_name(o) if isinstance(o, Produced) else f"@{origin_name(o)}", tuple(a.evaluate(at) for a in o.index))
        for o in found
    ]


def check_flow(source: Nest, system: System, sizes: dict[str, int]) -> None:
    """Every instance, every read, every final element; and no instance, read or final more."""
    expected = trace(source, sizes)
    for (name, point), reads in expected.reads.items():
        equation = system[name]
        at = sizes | dict(zip(equation.loops, point, strict=True))
        assert equation.domain.contains(at)
        assert [origins(read, at) for read in equation.reads] == [[r] for r in reads], (name, point)
    finals: dict[Instance, Instance] = {}
    for final in system.finals:
        for point in recurrence_interpret.final_points(final, system, sizes):
            at = sizes | dict(zip(system[final.statement].loops, point, strict=True))
            element = final.name, tuple(a.evaluate(at) for a in final.index)
            assert element not in finals
            finals[element] = final.statement, point
    outputs = {a.name for a in nest_signature(source).outputs}
    assert finals == {element: writer for element, writer in expected.last.items() if element[0] in outputs}


def inputs_of(source: Nest, sizes: dict[str, int], seed: int = 1) -> dict[str, npt.NDArray[Any]]:
    """Large numbers, so that different origins hardly give equal results."""
    generator = np.random.default_rng(seed)
    return {
        n: generator.integers(-(2**31), 2**31, a.shape).astype(a.dtype)
        for n, a in random_inputs(nest_signature(source), sizes, seed).items()
    }


def check_only_written(source: Nest, system: System, sizes: dict[str, int]) -> None:
    """Whatever such an array holds at entry, the results are the same."""
    one, other = inputs_of(source, sizes, 1), inputs_of(source, sizes, 2)
    free = write_only_arguments(source)
    expected = nest_interpret.interpret(source, sizes, one)
    found = nest_interpret.interpret(source, sizes, {n: (other if n in free else one)[n] for n in one})
    for name in {f.name for f in system.finals}:
        np.testing.assert_array_equal(found[name], expected[name], name)


def check_meaning(source: Nest, system: System, sizes: dict[str, int]) -> None:
    inputs = inputs_of(source, sizes)
    expected = nest_interpret.interpret(source, sizes, inputs)
    found = recurrence_interpret.interpret(system, sizes, inputs)
    for name, array in expected.items():
        np.testing.assert_array_equal(found.get(name, inputs[name]), array, name)


@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_origins_are_those_of_an_enumeration(name: str, sizes: dict[str, int]) -> None:
    source = remove_undefined_choices(KERNELS[name].nest(name))
    check_flow(source, flow(source), sizes)


@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_equations_compute_what_the_nest_computes(name: str, sizes: dict[str, int]) -> None:
    source = KERNELS[name].nest(name)
    check_meaning(source, analyse(source), sizes)
    check_only_written(source, analyse(source), sizes)


@pytest.mark.parametrize("name", KERNELS)
def test_dataflow(name: str, golden: Golden) -> None:
    golden(name, print_system(analyse(KERNELS[name].nest(name))))


@given(programs())
@settings(max_examples=8)
def test_random_nests(source: Nest) -> None:
    check_random(source)


@pytest.mark.long
@given(programs())
@settings(max_examples=1000)
def test_many_random_nests(source: Nest) -> None:
    check_random(source)


def check_random(source: Nest) -> None:
    """Some origins are not affine; such nests are refused."""
    try:
        plain = flow(source)
        system = analyse(source)
    except PolyloomError as error:
        assert error.diagnostics[0].code == "PL0251"
        return
    for size in (4, 1):
        check_flow(source, plain, {"N": size})
        check_meaning(source, system, {"N": size})
        check_only_written(source, system, {"N": size})
