# SPDX-License-Identifier: Apache-2.0
"""Every pass on scalar code keeps the meaning of random functions and leaves what the verifier accepts; a pass that
does not is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.riscv.backend.programs import SLOTS
from tests.riscv.backend.programs import functions as of_all_types
from tests.transform.ssa import programs
from tests.transform.ssa.counted import SIZE, counted
from tests.transform.ssa.native import arguments, same
from tests.transform.ssa.structured import SIZE as WORDS
from tests.transform.ssa.structured import structured

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.carried_loads import CarryCosts, carry_loads
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.exit_tests import equality_tests
from polyloom.transform.ssa.hoist import hoist
from polyloom.transform.ssa.redundant_loads import forward_loads
from polyloom.transform.ssa.rotate import rotate
from polyloom.transform.ssa.simplify import simplify
from polyloom.transform.ssa.split_variables import split_variables
from polyloom.transform.ssa.stores import remove_dead_stores, sink_stores
from polyloom.transform.ssa.unroll import unroll
from polyloom.transform.ssa.widen_counters import widen_counters

Change = Callable[[Function], Function]
PASSES: dict[str, Change] = {
    "simplify": simplify,
    "widen": widen_counters,
    "rotate": rotate,
    "unroll": lambda f: unroll(rotate(f)),
    "hoist": lambda f: hoist(simplify(rotate(f))),
    "forward": lambda f: forward_loads(common(f)),
    "carry": lambda f: carry_loads(common(simplify(rotate(f))), CarryCosts(loads=True)),
    "split": split_variables,
    "stores": lambda f: sink_stores(remove_dead_stores(simplify(rotate(f)))),
    "equality": lambda f: equality_tests(common(simplify(rotate(f)))),
}
STEPS = 20_000


def outcome(function: Function, given: list[Any]) -> object:
    """What is returned and left in arrays, or the fault."""
    try:
        result = interpret(function, given, STEPS)
    except PolyloomError as error:
        return error.diagnostics[0].code
    return result, [a.tolist() for a in given if isinstance(a, np.ndarray)]


def check(function: Function, changed: Function, make: Callable[[], list[Any]]) -> None:
    """The same, unless the function faults or does not end: then there is nothing to keep."""
    verify(changed)
    expected = outcome(function, make())
    assert isinstance(expected, str) or outcome(changed, make()) == expected


def arrays(n: int, shared: bool) -> list[Any]:
    p, q, r = (np.arange(k, SIZE + k, dtype=np.int32) * k for k in (3, 5, 7))
    return [n, p, q, p if shared else r]


ALL = [*PASSES, "in a row"]


def changed_by(name: str, function: Function) -> Function:
    chosen = PASSES.values() if name == "in a row" else (PASSES[name],)
    for change in chosen:
        function = verify(change(function))
    return function


@pytest.mark.parametrize("name", ALL)
@given(counted(), st.integers(-3, 6), st.booleans())
@settings(max_examples=15)
def test_counted_loops(name: str, function: Function, n: int, shared: bool) -> None:
    check(function, changed_by(name, function), lambda: arrays(n, shared))


@pytest.mark.parametrize("name", ALL)
@given(structured(), st.integers(-5, 9))
@settings(max_examples=5)
def test_structured(name: str, function: Function, n: int) -> None:
    check(function, changed_by(name, function), lambda: [n, np.arange(3, 3 + WORDS, dtype=np.int32)])


@pytest.mark.parametrize("name", ALL)
@given(programs.functions(), st.integers(-50, 50))
@settings(max_examples=5)
def test_any_jumps(name: str, function: Function, n: int) -> None:
    """Irreducible loops too; with variables in memory, and with values."""
    for each in (function, construct(function)):
        check(each, changed_by(name, each), lambda: [n])


@pytest.mark.parametrize("name", ALL)
@given(of_all_types(), st.integers(0, 9))
@settings(max_examples=5)
def test_all_types(name: str, function: Function, seed: int) -> None:
    random = np.random.default_rng(seed)
    values = [random.integers(-9, 9, 2 * SLOTS).astype("i4"), *arguments(function, random)[1:]]
    given = [[v.copy() if isinstance(v, np.ndarray) else v for v in values] for _ in range(2)]
    changed = changed_by(name, function)
    try:
        expected = interpret(function, given[0], STEPS)
    except PolyloomError:
        return
    assert same(interpret(changed, given[1], STEPS), expected)
    assert np.array_equal(given[0][0], given[1][0])


def test_a_wrong_pass_is_noticed() -> None:
    """Sabotage: one that takes every addition for a subtraction changes some random function."""

    def wrong(function: Function) -> Function:
        blocks = tuple(
            replace(
                block,
                instructions=tuple(
                    replace(i, operation="sub", flags=()) if i.operation == "add" else i for i in block.instructions
                ),
            )
            for block in function.blocks
        )
        return replace(function, blocks=blocks)

    @given(counted(), st.integers(-3, 6))
    @settings(max_examples=25, phases=[Phase.generate])  # the smallest such function would take most of the time
    def search(function: Function, n: int) -> None:
        check(function, wrong(function), lambda: arrays(n, False))

    with pytest.raises(AssertionError):
        search()
