# SPDX-License-Identifier: Apache-2.0
"""A function in SSA form as one of the member-independent form: innermost loops as lines, all else as open code."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from polyloom.ir import ssa
from polyloom.ir.ssa_verify import definitions
from polyloom.targets.belt.front.landing import Region, landed
from polyloom.targets.belt.front.lower import Emitter, constant, lower, type_of
from polyloom.targets.belt.front.straight import Straight
from polyloom.targets.belt.ir import (
    Block,
    Branch,
    Edge,
    Function,
    Jump,
    Loop,
    Operand,
    Return,
    Terminator,
    Value,
)


def build(function: ssa.Function) -> Function:
    """The function, with the operations as the source has them."""
    return _Building(*landed(function)).function()


class _Building:
    def __init__(self, function: ssa.Function, regions: tuple[Region, ...]) -> None:
        self.source, self.regions = function, {region.header: region for region in regions}
        self.inside = {name for region in regions for name in region.blocks}
        self.blocks = {block.name: block for block in function.blocks}
        taken = {v.name for block in function.blocks for v in definitions(block)}
        numbers = count(1)

        def fresh(name: str) -> str:
            base = name.split("'")[0]
            while (found := f"{base}_{next(numbers)}") in taken:
                pass
            return found

        self.fresh = fresh
        self.known: dict[str, Operand] = {}
        self.done: dict[str, Block | Loop] = {}

    def function(self) -> Function:
        """Blocks in an order in which definitions come before uses: what one block's copies are, later ones know."""
        order = _preorder(self.source)
        for name in order:
            if name in self.regions:
                emitter = Emitter(self.fresh, self.known)
                self.done[name] = Straight(self.blocks, self.regions[name], emitter, self._land).loop()
            elif name not in self.inside and name not in self.done:
                self.done[name] = self._block(self.blocks[name], {})
        kept = [self.done[b.name] for b in self.source.blocks if b.name in self.done]
        results = (type_of(self.source.result),) if self.source.result is not None else ()
        return Function(self.source.name, results, tuple(kept), self.source.place)

    def _land(self, block: ssa.Block, taken: Mapping[str, Operand]) -> None:
        self.done[block.name] = self._block(block, taken)

    def _block(self, block: ssa.Block, taken: Mapping[str, Operand]) -> Block:
        """A block of open code; `taken` are parameters that it gets as a landing, for values of the loop."""
        before = {name: self.known.get(name) for name in taken}
        self.known.update(taken)
        emitter = Emitter(self.fresh, self.known)
        for instruction in block.instructions:
            lower(emitter, instruction)
        end = self._end(emitter, block.terminator)
        for name, old in before.items():
            del self.known[name]
            if old is not None:
                self.known[name] = old
        parameters = [Value(p.name, type_of(p.type)) for p in block.parameters]
        parameters += [value for value in taken.values() if isinstance(value, Value)]
        return Block(block.name, tuple(parameters), tuple(emitter.ops), end)

    def _end(self, emitter: Emitter, end: ssa.Terminator) -> Terminator:
        def edge(of: ssa.Edge) -> Edge:
            return Edge(of.block, tuple(map(emitter.operand, of.arguments)))

        match end:
            case ssa.Jump(target):
                return Jump(edge(target), end.place)
            case ssa.Branch(condition, then, orelse):
                return Branch(emitter.operand(condition), edge(then), edge(orelse), place=end.place)
            case ssa.Return(value):
                return Return((emitter.operand(value),) if value is not None else (), end.place)
            case _:  # never reached
                result = self.source.result
                return Return((constant(type_of(result), 0),) if result is not None else (), end.place)


def _preorder(function: ssa.Function) -> list[str]:
    """Reverse postorder: a block after all that dominate it."""
    blocks = {block.name: block for block in function.blocks}
    found: list[str] = []
    seen = {function.blocks[0].name}
    path = [(function.blocks[0].name, iter(ssa.edges_of(function.blocks[0].terminator)))]
    while path:
        name, rest = path[-1]
        edge = next((edge for edge in rest if edge.block not in seen), None)
        if edge is None:
            found.append(name)
            path.pop()
        else:
            seen.add(edge.block)
            path.append((edge.block, iter(ssa.edges_of(blocks[edge.block].terminator))))
    return found[::-1]
