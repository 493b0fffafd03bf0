# SPDX-License-Identifier: Apache-2.0
"""Functions mean the same in SSA form and in the member-independent form, on every member."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.riscv.backend import test_functions as examples
from tests.riscv.backend.programs import SLOTS, functions
from tests.targets.belt.map.select.comparing import check
from tests.transform.ssa import programs
from tests.transform.ssa.native import arguments

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Constant, Function, Instruction, integer_constant
from polyloom.ir.ssa_types import I32
from polyloom.targets.belt.machine import member
from polyloom.targets.belt.map.import_ssa import import_function
from polyloom.targets.belt.source.genasm import print_genasm
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.ir import Module
from polyloom.transform.ssa.construct import construct

MEMBERS = ("silver", "hex4", "tin")


@cache
def _imported(name: str, machine: str) -> tuple[Function, Module]:
    known = examples.functions(32) if name in examples.NAMES else examples.calling(32)
    return known[name], import_function(known[name], member(machine))


def _pairs() -> list[Any]:
    """Every function on silver; in a short run one in six on the others, whose routines take long to interpret."""
    names = (*examples.NAMES, *examples.CALLING)
    pairs = [
        (name, machine, k % 6 if machine != "silver" else 0) for k, name in enumerate(names) for machine in MEMBERS
    ]
    return [pytest.param(n, m, id=f"{n}-{m}", marks=[pytest.mark.long] * bool(later)) for n, m, later in pairs]


@pytest.mark.parametrize(("name", "machine"), _pairs())
def test_c_functions(name: str, machine: str) -> None:
    try:
        function, module = _imported(name, machine)
    except PolyloomError as error:
        assert error.code in ("PL1085", "PL1086", "PL1087"), error
        return
    assert read_genasm(print_genasm(module)) == module
    random = np.random.default_rng(len(name))
    for _ in range(3):
        values = examples.given(function, random)
        check(function, module, values, 10**6)


def _check_drawn(function: Function, machine: str, values: list[examples.Argument]) -> None:
    module = import_function(function, member(machine))
    try:
        check(function, module, values, 20_000)
    except PolyloomError as error:
        assume(error.code not in ("PL0972", "PL0974"))
        raise


@given(functions(), st.sampled_from(MEMBERS[:2]), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_drawn_functions_of_all_types(function: Function, machine: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    function = _narrow(function)
    values = [random.integers(-9, 9, 2 * SLOTS).astype("i4"), *arguments(function, random)[1:]]
    _check_drawn(function, machine, values)


@given(functions(), st.integers(0, 9))
@settings(max_examples=8, deadline=None)
def test_drawn_functions_without_floating_point(function: Function, seed: int) -> None:
    test_drawn_functions_of_all_types.hypothesis.inner_test(function, "tin", seed)  # type: ignore[attr-defined]


@given(programs.functions(reducible=True), st.sampled_from(MEMBERS), st.integers(-50, 50))
@settings(max_examples=30, deadline=None)
def test_drawn_functions_with_any_reducible_jumps(function: Function, machine: str, n: int) -> None:
    _check_drawn(_narrow(construct(function)), machine, [n])


def _narrow(function: Function) -> Function:
    """With pointers of 32 bits, and distances as wide."""

    def shorter(i: Instruction) -> Instruction:
        if i.operation != "offset" or not isinstance(distance := i.operands[1], Constant):
            return i
        return replace(i, operands=(i.operands[0], integer_constant(I32, distance.value)))

    def changed(f: Function) -> Function:
        blocks = (replace(b, instructions=tuple(map(shorter, b.instructions))) for b in f.blocks)
        return replace(f, pointers=32, blocks=tuple(blocks), others=tuple(map(changed, f.others)))

    return changed(function)
