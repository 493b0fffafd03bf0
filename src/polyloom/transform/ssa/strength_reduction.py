# SPDX-License-Identifier: Apache-2.0
"""Strength reduction in loops: addresses become pointers that move by a constant distance per iteration.

From the innermost loop outwards: what stays the same is computed before the loop (hoist.py); products of a
variable that counts become variables that count (counters.py); addresses that are linear in one become a pointer
(pointers.py; Cooke, Kennedy, "An algorithm for reduction of operator strength", 1977). Where then only the test that
ends the loop reads the counter, it compares a pointer instead (endings.py).
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.analysis.dominators import dominators
from polyloom.analysis.loops import LoopForest, loop_forest
from polyloom.ir.ssa import Function, flow_edges
from polyloom.transform.ssa.body import Body, loop_place
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.counters import counts, multiply
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.function_editing import on_each_function
from polyloom.transform.ssa.hoist import HoistCosts, Hoisting
from polyloom.transform.ssa.loop_tests import compare_next_value, compare_pointer
from polyloom.transform.ssa.pointer_variables import pointers, rewrite
from polyloom.transform.ssa.preheaders import with_preheaders


@on_each_function
def reduce_strength(function: Function) -> Function:
    """The function with addresses reduced in all reducible loops that are left by one jump back."""
    function = with_preheaders(function)
    edges = flow_edges(function)
    forest = loop_forest(len(function.blocks), edges)
    above: list[int] = dominators(len(function.blocks), edges).tolist()
    body = Body(function)
    hoisting = Hoisting(function, HoistCosts(loads=0), forest)
    for number, loop in reversed(list(enumerate(forest.loops))):
        if not loop.irreducible:
            hoisting.move(body, number)
            _reduce(body, number, forest, above)
    return dce(common(replace(function, blocks=tuple(body.blocks))))


def _reduce(body: Body, number: int, forest: LoopForest, above: list[int]) -> None:
    members = forest.members(number)
    place = loop_place(body, forest, number, above)
    if place is None:
        return
    multiply(body, place, body.scope(members))
    scope = body.scope(members)
    known = counts(body, place, scope)
    # Before pointers: the test must read the counter's next value for a pointer to take its place.
    compare_next_value(body, place, list(known.values()))
    scope = body.scope(members, frozenset(count.variable.name for count in known.values()))
    found = pointers(body, place, known, scope)
    if found:
        compare_pointer(body, place, rewrite(body, place, found))
