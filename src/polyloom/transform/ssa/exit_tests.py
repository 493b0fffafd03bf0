# SPDX-License-Identifier: Apache-2.0
"""Linear function test replacement: a loop that counts by one up to a bound, or down to it, and is entered on the right
side of it, ends exactly where the counter equals the bound (Cooper, Simpson, Vick, "Operator Strength Reduction", 2001,
section 4.3).

A test for equality can be made of any variable that counts with it, such as a pointer (`endings`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.analysis.value_ranges import ValueRanges
from polyloom.ir.ssa import Block, Branch, Constant, Function, Instruction, Operand, Value, successor_edges
from polyloom.transform.ssa.function_editing import on_each_function, remove_unreachable

_AGAIN: Final = {1: "slt", -1: "sgt"}
"""By the step the comparison of the next value with the bound for which the loop is repeated."""
_OPPOSITE: Final = {"slt": "sge", "sgt": "sle"}


@on_each_function
def equality_tests(function: Function) -> Function:
    """Linear function test replacement (Cooper, Simpson, Vick 2001, section 4.3): the function whose loops end by tests
    of equality, as far as that is the same.
    """
    function = remove_unreachable(function)
    ranges = ValueRanges(function)
    return replace(
        function, blocks=tuple(_with_equality_test(function, ranges, k) for k in range(len(function.blocks)))
    )


def _with_equality_test(function: Function, ranges: ValueRanges, k: int) -> Block:
    block = function.blocks[k]
    end = block.terminator
    test = next((i for i in block.instructions if isinstance(end, Branch) and end.condition in i.results), None)
    if test is None or not isinstance(end, Branch):
        return block
    for edge, repeats in ((end.then, True), (end.orelse, False)):
        header = ranges.position[edge.block]
        if header != 0 and ranges.dominates(header, k) and _counts(function, ranges, header, k, test, repeats):
            changed = replace(test, operation="ne" if repeats else "eq")
            made = tuple(changed if i is test else i for i in block.instructions)
            return replace(block, instructions=made)
    return block


def _counts(function: Function, ranges: ValueRanges, header: int, latch: int, test: Instruction, repeats: bool) -> bool:
    """Whether the test compares the next value of a counter of the loop with a bound that stays, and holds whenever the
    loop is entered or repeated."""
    following, bound = test.operands
    home = function.blocks[header]
    for n, p in enumerate(home.parameters):
        found = ranges.counters.get(p.name)
        if found is None or found[1] not in _AGAIN or p.type != bound.type:
            continue
        relation = _AGAIN[found[1]]
        backs = [
            (k, edge.arguments[n])
            for k in dict.fromkeys(ranges.arrivals[home.name])
            for edge in successor_edges(function.blocks[k].terminator)
            if edge.block == home.name and ranges.dominates(header, k)
        ]
        # A value whose block the header does not dominate is made outside of the loop.
        stays = isinstance(bound, Constant) or (
            isinstance(bound, Value) and not ranges.dominates(header, ranges.home[bound.name])
        )
        if (
            backs == [(latch, following)]
            and test.operation == (relation if repeats else _OPPOSITE[relation])
            and stays
            and all(_holds(ranges, relation, begin, bound, header) for begin in found[0])
        ):
            return True
    return False


def _holds(ranges: ValueRanges, relation: str, begin: Operand, bound: Operand, header: int) -> bool:
    """Whether a comparison holds where the loop is entered."""
    mirrored = {"slt": "sgt", "sgt": "slt"}[relation]
    for condition in ranges.conditions(header):
        if (condition.relation, condition.a, condition.b) == (relation, begin, bound):
            return True
        if (condition.relation, condition.a, condition.b) == (mirrored, bound, begin):
            return True
    # No condition says it: the ranges may.
    a, b = ranges.interval(begin, header), ranges.interval(bound, header)
    return a[1] < b[0] if relation == "slt" else a[0] > b[1]
