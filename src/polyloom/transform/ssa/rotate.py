# SPDX-License-Identifier: Apache-2.0
"""Loop rotation (inversion): `while (c) s` becomes `if (c) do s while (c)` (Muchnick, "Advanced Compiler Design and
Implementation", 1997, section 18.5).

One jump fewer per iteration, and what the header of a rotated loop computes is computed whenever the loop is entered.
The test is copied to where the loop is entered; the original becomes the end of the loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.analysis.effects import externals_by_name, is_copyable
from polyloom.analysis.loops import loop_forest
from polyloom.ir.ssa import Block, Branch, Edge, Function, Jump, Value, flow_edges, replace_edges, successor_edges
from polyloom.ir.ssa_verify import definitions
from polyloom.transform.ssa.duplication import copy_blocks, read_elsewhere, repair
from polyloom.transform.ssa.function_editing import names, on_each_function, remove_unreachable

LONGEST: Final = 12
"""Instructions of a test that is copied."""


@on_each_function
def rotate(function: Function) -> Function:
    """Loop inversion (Muchnick 1997, section 18.5): the function with loops tested at their ends."""
    function = remove_unreachable(function)
    forest = loop_forest(len(function.blocks), flow_edges(function))
    work = _Rotation(function)
    members = [{function.blocks[k].name for k in forest.members(n)} for n in range(len(forest.loops))]
    for number in reversed(range(len(forest.loops))):
        loop = forest.loops[number]
        made = [] if loop.irreducible else work.rotate(function.blocks[loop.header].name, members[number])
        # What the inner loop was given in front of it is part of the loops around it.
        while (number := forest.loops[number].parent) >= 0:
            members[number].update(made)
    return work.function()


class _Rotation:
    """Mutable: the blocks, and by value the copies of its definition."""

    def __init__(self, function: Function) -> None:
        self.source, self.fresh, self.externals = function, names(function), externals_by_name(function)
        self.blocks = {block.name: block for block in function.blocks}
        self.copies: dict[str, list[Value]] = {}

    def function(self) -> Function:
        if not self.copies and len(self.blocks) == len(self.source.blocks):
            return self.source
        return repair(replace(self.source, blocks=tuple(self.blocks.values())), self.copies)

    def rotate(self, header: str, members: set[str]) -> list[str]:
        """The blocks that are new, some of them members of the loop."""
        block = self.blocks[header]
        body = self._body(block, members)
        if body is None:
            return []
        before = len(self.blocks)
        # The body begins at a block that others reach: the copied test needs an edge of its own to it.
        if self._arrivals(body.block) > 1:
            body = self._split(header, body)
            members.add(body.block)
        block = self.blocks[header]
        (guard,), _, values = copy_blocks([block], self.fresh)
        # A copied test that jumps to its own header would be part of the loop.
        shown = read_elsewhere(tuple(self.blocks.values()), lambda name: name == header)
        for value in definitions(block):
            if value.name in shown:
                self.copies.setdefault(value.name, []).append(values[value.name])
        for name in [name for name in self.blocks if name not in members]:
            self.blocks[name] = _redirect(self.blocks[name], header, guard.name)
        self.blocks[guard.name] = guard
        return list(self.blocks)[before:]

    def _body(self, block: Block, members: set[str]) -> Edge | None:
        """The edge of the header's test that stays in the loop, where the loop can be rotated."""
        if not isinstance(block.terminator, Branch) or len(block.instructions) > LONGEST:
            return None
        if not all(is_copyable(i, self.externals) for i in block.instructions):
            return None
        inside = [edge for edge in successor_edges(block.terminator) if edge.block in members]
        latches = [
            self.blocks[m]
            for m in members
            if any(e.block == block.name for e in successor_edges(self.blocks[m].terminator))
        ]
        # A loop that ends by a test of its own has one jump per iteration already.
        is_open = all(isinstance(latch.terminator, Jump) for latch in latches)
        return inside[0] if len(inside) == 1 and inside[0].block != block.name and is_open else None

    def _arrivals(self, name: str) -> int:
        return sum(e.block == name for b in self.blocks.values() for e in successor_edges(b.terminator))

    def _split(self, header: str, edge: Edge) -> Edge:
        """The edge through a block of its own: the body's beginning may be another loop's."""
        name = self.fresh("body")
        self.blocks[name] = Block(name, (), (), Jump(edge))
        block = self.blocks[header]
        end = replace_edges(block.terminator, lambda o: o, lambda e: Edge(name) if e == edge else e)
        self.blocks[header] = replace(block, terminator=end)
        return Edge(name)


def _redirect(block: Block, old: str, new: str) -> Block:
    def to_guard(edge: Edge) -> Edge:
        return replace(edge, block=new) if edge.block == old else edge

    if all(edge.block != old for edge in successor_edges(block.terminator)):
        return block
    return replace(block, terminator=replace_edges(block.terminator, lambda operand: operand, to_guard))
