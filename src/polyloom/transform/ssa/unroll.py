# SPDX-License-Identifier: Apache-2.0
"""Full loop unrolling: a loop whose iterations are counted by constants becomes its iterations, one behind the other
(Muchnick, "Advanced Compiler Design and Implementation", 1997, section 17.4.1).

The counter is then a constant in each of them, and so is what is computed from it. Innermost loops come first; those
around them are looked at when these have become straight code. Loops must be rotated: their ends test the counter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.effects import externals_by_name, is_copyable
from polyloom.analysis.loops import LoopForest, loop_forest
from polyloom.ir.ssa import (
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Terminator,
    Value,
    flow_edges,
    successor_edges,
)
from polyloom.ir.ssa_verify import definitions
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.constant_folding import fold_constants
from polyloom.transform.ssa.duplication import copy_blocks, read_elsewhere, repair
from polyloom.transform.ssa.function_editing import names, on_each_function, remove_unreachable
from polyloom.transform.ssa.simplify import simplify

_ROUNDS: Final = 6
"""How deep nests are unrolled from the inside."""


@dataclass(frozen=True, slots=True)
class UnrollCosts:
    """How many iterations a loop may have, and how many instructions it may become; `nested`: only loops that are in
    others, of machines that gain where the loop around becomes innermost."""

    trips: int = 16
    instructions: int = 160
    nested: bool = False


@on_each_function
def unroll(function: Function, costs: UnrollCosts | None = None) -> Function:
    """Full unrolling of loops with constant trip counts (Muchnick 1997, section 17.4.1): the function with such loops
    unrolled, in simpler form where there were any.
    """
    for _ in range(_ROUNDS):
        changed = _unroll_innermost(function, costs or UnrollCosts())
        if changed is function:
            break
        function = simplify(common(changed))
    return function


def _unroll_innermost(function: Function, costs: UnrollCosts) -> Function:
    """With the loops unrolled that have no loop in them."""
    source = remove_unreachable(function)
    forest = loop_forest(len(source.blocks), flow_edges(source))
    fresh = names(source)
    blocks = {block.name: block for block in source.blocks}
    copies: dict[str, list[Value]] = {}
    outer = {loop.parent for loop in forest.loops}
    found = False
    for number, loop in enumerate(forest.loops):
        if number in outer or loop.irreducible or (costs.nested and loop.parent < 0):
            continue
        members = [source.blocks[k] for k in loop.own]
        trips = _trips(source, forest, number, costs)
        if trips is not None:
            found = True
            _unroll(blocks, members, trips, fresh, copies)
    return repair(replace(source, blocks=tuple(blocks.values())), copies) if found else function


def _trips(function: Function, forest: LoopForest, number: int, costs: UnrollCosts) -> int | None:
    """Trip count by constant evaluation (brute force; LLVM's ScalarEvolution does the same up to a limit): how often
    the loop is run through, where constants decide that and it may become so long.
    """
    loop = forest.loops[number]
    members = [function.blocks[k] for k in loop.own]
    instructions = [i for block in members for i in block.instructions]
    externals = externals_by_name(function)
    if len(loop.latches) != 1 or any(i.operation == "alloca" or not is_copyable(i, externals) for i in instructions):
        return None
    header, latch = function.blocks[loop.header], function.blocks[loop.latches[0]]
    begins = [
        edge.arguments
        for k, block in enumerate(function.blocks)
        if k not in loop.own
        for edge in successor_edges(block.terminator)
        if edge.block == header.name
    ]
    end = latch.terminator
    if not isinstance(end, Branch) or (end.then.block == header.name) == (end.orelse.block == header.name):
        return None
    known = _constants(header, begins)
    most = min(costs.trips, costs.instructions // max(len(instructions), 1))
    makers = {r.name: i for i in instructions for r in i.results}
    for trip in range(1, most + 1):
        decided = _evaluate(end.condition, known, makers)
        if not isinstance(decided, Constant):
            return None
        taken = end.then if decided.value & 1 else end.orelse
        if taken.block != header.name:
            return trip
        # Only what counts matters; the rest of the variables stays unknown.
        following = [_evaluate(a, known, makers) for a in taken.arguments]
        known = {p.name: c for p, c in zip(header.parameters, following, strict=True) if isinstance(c, Constant)}
    return None


def _constants(header: Block, begins: Sequence[tuple[Operand, ...]]) -> dict[str, Constant]:
    """The parameters that begin with one constant."""
    columns = zip(header.parameters, zip(*begins, strict=True), strict=True) if begins and header.parameters else ()
    return {p.name: given[0] for p, given in columns if isinstance(given[0], Constant) and len(set(given)) == 1}


def _evaluate(
    operand: Operand, known: dict[str, Constant], makers: dict[str, Instruction], depth: int = 8
) -> Constant | None:
    """The operand's value in an iteration whose variables are known."""
    if isinstance(operand, Constant):
        return operand
    if not isinstance(operand, Value) or depth == 0:
        return None
    if operand.name in known or operand.name not in makers:
        return known.get(operand.name)
    made = makers[operand.name]
    given = [_evaluate(o, known, makers, depth - 1) for o in made.operands]
    constants = tuple(o for o in given if o is not None)
    # Undefined operations fold to nothing, so that the loop stays.
    return fold_constants(replace(made, operands=constants)) if len(constants) == len(given) else None


def _unroll(
    blocks: dict[str, Block],
    members: Sequence[Block],
    trips: int,
    fresh: Callable[[str], str],
    copies: dict[str, list[Value]],
) -> None:
    """Writes the iterations, of which the loop itself becomes the first."""
    header, inside = members[0].name, {block.name for block in members}
    iterations = [list(members)]
    headers = [header]
    shown = read_elsewhere(tuple(blocks.values()), lambda name: name in inside)
    for _ in range(trips - 1):
        made, named, values = copy_blocks(members, fresh)
        iterations.append(made)
        headers.append(named[header])
        for value in (v for block in members for v in definitions(block) if v.name in shown):
            copies.setdefault(value.name, []).append(values[value.name])
    for own, following, iteration in zip(headers, [*headers[1:], ""], iterations, strict=True):
        for block in iteration:
            blocks[block.name] = replace(block, terminator=_onward(block.terminator, own, following))


def _onward(end: Terminator, own: str, following: str) -> Terminator:
    """The end of a block whose way back leads to the next iteration, and behind the loop in the last one."""
    if not any(edge.block == own for edge in successor_edges(end)):
        return end
    assert isinstance(end, Branch)
    again, leaves = (end.then, end.orelse) if end.then.block == own else (end.orelse, end.then)
    return Jump(Edge(following, again.arguments) if following else leaves, end.place)
