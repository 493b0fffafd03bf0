# SPDX-License-Identifier: Apache-2.0
"""Stores that nobody reads: in a block, those that a later store covers (dead store elimination); in a loop, those to a
place that stays the same and that the loop accesses nowhere else, which move behind it (store sinking, the half of
register promotion that follows `carried_loads`; Cooper, Lu, "Register Promotion in C Programs", 1997).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyloom.analysis.aliases import Aliases, is_plain_store
from polyloom.analysis.loops import LoopForest, loop_forest
from polyloom.ir.ssa import Block, Edge, Function, Instruction, Jump, Value, flow_edges, replace_edges, successor_edges
from polyloom.ir.ssa_verify import definitions
from polyloom.transform.ssa.function_editing import names, on_each_function, remove_unreachable


@on_each_function
def remove_dead_stores(function: Function) -> Function:
    """Dead store elimination in blocks (backward, as liveness of locations; Muchnick 1997, section 18.10): the function
    without stores that another one of the same block covers before anything may read them.
    """
    aliases = Aliases(function)
    return replace(function, blocks=tuple(_live_stores(block, aliases) for block in function.blocks))


def _live_stores(block: Block, aliases: Aliases) -> Block:
    kept: list[Instruction] = []
    covering: list[Instruction] = []
    for instruction in reversed(block.instructions):
        if is_plain_store(instruction):
            if any(_covers(aliases, later, instruction) for later in covering):
                continue
            covering.append(instruction)
        elif aliases.may_read(instruction) or aliases.may_write(instruction):
            covering = [later for later in covering if not aliases.may_meet(instruction, later)]
        kept.append(instruction)
    return block if len(kept) == len(block.instructions) else replace(block, instructions=tuple(reversed(kept)))


def _covers(aliases: Aliases, later: Instruction, earlier: Instruction) -> bool:
    a, b = aliases.location(later), aliases.location(earlier)
    return a is not None and a == b


@on_each_function
def sink_stores(function: Function) -> Function:
    """Register promotion of stores (Cooper, Lu 1997): the function with such stores behind its loops, the innermost
    first; loops that are left at several places keep them.
    """
    function = remove_unreachable(function)
    forest = loop_forest(len(function.blocks), flow_edges(function))
    aliases, fresh = Aliases(function), names(function)
    blocks = list(function.blocks)
    behind: dict[int, str] = {}
    for number in reversed(range(len(forest.loops))):
        for store, latch in list(_sinkable(blocks, forest, number, aliases)):
            _move(blocks, store, latch, forest.members(number), behind, fresh)
    return replace(function, blocks=tuple(blocks))


def _sinkable(
    blocks: list[Block], forest: LoopForest, number: int, aliases: Aliases
) -> Iterator[tuple[Instruction, int]]:
    """Stores of the block that repeats the loop, where the loop is left there alone."""
    loop, members = forest.loops[number], forest.members(number)
    if loop.irreducible or len(loop.latches) != 1:
        return
    latch = loop.latches[0]
    inside = {blocks[k].name for k in members}
    exits = [(k, e) for k in members for e in successor_edges(blocks[k].terminator) if e.block not in inside]
    if len(exits) != 1 or exits[0][0] != latch:
        return
    defined = {v.name for k in members for v in definitions(blocks[k])}
    accesses = [i for k in members for i in blocks[k].instructions if aliases.may_read(i) or aliases.may_write(i)]
    for store in blocks[latch].instructions:
        place = store.operands[1] if is_plain_store(store) else None
        if place is None or (isinstance(place, Value) and place.name in defined):
            continue
        # Another access in the loop would miss what is only stored behind it.
        if not any(other is not store and aliases.may_meet(other, store) for other in accesses):
            yield store, latch


def _move(
    blocks: list[Block], store: Instruction, latch: int, members: tuple[int, ...], behind: dict[int, str], fresh: object
) -> None:
    """From the end of the loop to a block on the edge that leaves it."""
    assert callable(fresh)
    block = blocks[latch]
    inside = {blocks[k].name for k in members}
    kept = tuple(i for i in block.instructions if i is not store)
    (leaves,) = (e for e in successor_edges(block.terminator) if e.block not in inside)
    if latch not in behind:
        name = str(fresh("behind"))
        end = replace_edges(block.terminator, lambda o: o, lambda e: Edge(name) if e == leaves else e)
        blocks.append(Block(name, (), (store,), Jump(leaves, store.place)))
        blocks[latch], behind[latch] = replace(block, instructions=kept, terminator=end), name
        return
    blocks[latch] = replace(block, instructions=kept)
    k = next(k for k, other in enumerate(blocks) if other.name == behind[latch])
    blocks[k] = replace(blocks[k], instructions=(*blocks[k].instructions, store))
