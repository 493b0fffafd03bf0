# SPDX-License-Identifier: Apache-2.0
"""Instruction selection: a function in SSA form as one of the member-independent form, superblock loops as lines, all
else as open code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import count

from polyloom.analysis.superblocks import SideExit, Superblock, superblocks
from polyloom.ir import ssa
from polyloom.ir.ssa_types import I1
from polyloom.ir.ssa_verify import definitions, uses
from polyloom.targets.belt.map.select.lower import (
    B,
    Emitter,
    belt_type,
    complemented_condition,
    constant,
    lower_instruction,
)
from polyloom.targets.belt.source.ir import (
    Block,
    Branch,
    Edge,
    Function,
    Jump,
    Loop,
    Op,
    Operand,
    Return,
    Terminator,
    Value,
)
from polyloom.transform.ssa.function_editing import postorder
from polyloom.transform.ssa.vectorize.vectorize import expected_iterations


def select_operations(function: ssa.Function, expect: Mapping[str, int] | None = None) -> Function:
    """Select operations of a function in loop-closed form, in the order of the source; `expect` has likely values of
    parameters."""
    return _Building(function, expect or {}).function()


class _Building:
    """Selection state of a function, mutable: makers and readers of values, and what has become of them."""

    def __init__(self, function: ssa.Function, expect: Mapping[str, int]) -> None:
        self.source, self.expect = function, expect
        self.loops = {loop.name: loop for loop in superblocks(function)}
        self.inside = {name for loop in self.loops.values() for name in loop.blocks}
        self.blocks = {block.name: block for block in function.blocks}
        taken = {v.name for block in function.blocks for v in definitions(block)}
        numbers = count(1)

        def fresh(name: str) -> str:
            # A suffix of an earlier fresh name is dropped, or names would grow with every pass.
            base = name.split("'")[0]
            while (found := f"{base}_{next(numbers)}") in taken:
                pass
            return found

        self.fresh = fresh
        self.around = {r.name: i for block in function.blocks for i in block.instructions for r in i.results}
        self.readers: defaultdict[str, list[ssa.Instruction | None]] = defaultdict(list)
        for block in function.blocks:
            # None stands for the terminator, whose uses have the position behind all instructions.
            readers = [*block.instructions, None]
            for k, operands in uses(block):
                for operand in operands:
                    if isinstance(operand, ssa.Value):
                        self.readers[operand.name].append(readers[k])
        self.known: dict[str, Operand] = {}

    def function(self) -> Function:
        """Function with its blocks in an order in which definitions come before uses: what one block's copies are,
        later ones know."""
        done: dict[str, Block | Loop] = {}
        for name in reversed(postorder(self.source)):
            if name in self.loops:
                done[name] = self._loop(self.loops[name])
            elif name not in self.inside:
                done[name] = self._block(self.blocks[name])
        # Printed in the order of the source; blocks inside of loops have become part of them.
        kept = [done[b.name] for b in self.source.blocks if b.name in done]
        results = (belt_type(self.source.result),) if self.source.result is not None else ()
        return Function(self.source.name, results, tuple(kept), self.source.place)

    def _parameters(self, parameters: tuple[ssa.Value, ...]) -> tuple[Value, ...]:
        return tuple(Value(p.name, belt_type(p.type)) for p in parameters)

    def _emitter(self, makers: dict[str, ssa.Instruction]) -> Emitter:
        return Emitter(self.fresh, self.known, makers, self.around, self.readers)

    def _block(self, block: ssa.Block) -> Block:
        emitter = self._emitter({r.name: i for i in block.instructions for r in i.results})
        for instruction in block.instructions:
            lower_instruction(emitter, instruction)
        end = self._end(emitter, block.terminator)
        return Block(block.name, self._parameters(block.parameters), tuple(emitter.ops), end)

    def _loop(self, loop: Superblock) -> Loop:
        """Superblock loop as one line, its side exits as leaves where they stand."""
        made = {r.name: i for i in loop.instructions for r in i.results}
        emitter = self._emitter(made)
        leaving = list(loop.exits)
        for position, instruction in enumerate(loop.instructions):
            # A side exit stands before the instruction at its position; the last ones behind all of them.
            while leaving and leaving[0].position == position:
                self._leave(emitter, leaving.pop(0), made)
            lower_instruction(emitter, instruction)
        for e in leaving:
            self._leave(emitter, e, made)
        following = tuple(map(emitter.operand, loop.following))
        parameters, expected = self._parameters(loop.parameters), expected_iterations(self.source, loop, self.expect)
        return Loop(loop.name, parameters, tuple(emitter.ops), following, expected=expected, place=loop.place)

    def _leave(self, emitter: Emitter, e: SideExit, made: dict[str, ssa.Instruction]) -> None:
        """Leave of a side exit. Under a predicate the condition is None where it is not to leave."""
        emitter.place = e.place
        wanted, guard, sense = e.condition, None, e.sense
        source = made.get(wanted.name) if isinstance(wanted, ssa.Value) else None
        # select(guard, c, not taken) leaves only under its guard: a pick with one arm gives None otherwise.
        if source is not None and source.operation == "select" and source.operands[2] == ssa.Constant(I1, not sense):
            guard, wanted, _ = source.operands
        if (opposite := complemented_condition(emitter, wanted)) is not None:
            wanted, sense = opposite, not sense
        condition = emitter.operand(wanted)
        if guard is not None:
            condition = emitter.emit("pick", emitter.operand(guard), condition, type=B)
        edge = self._edge(emitter, e.edge)
        emitter.ops.append(Op("leavetr" if sense else "leavefl", (condition,), edge=edge, place=e.place))

    def _edge(self, emitter: Emitter, edge: ssa.Edge) -> Edge:
        return Edge(edge.block, tuple(map(emitter.operand, edge.arguments)))

    def _end(self, emitter: Emitter, end: ssa.Terminator) -> Terminator:
        """Terminator of a block of open code."""
        match end:
            case ssa.Jump(target):
                return Jump(self._edge(emitter, target), end.place)
            case ssa.Branch(condition, then, orelse):
                ways = self._edge(emitter, then), self._edge(emitter, orelse)
                return Branch(emitter.operand(condition), *ways, place=end.place)
            case ssa.Return(value):
                return Return((emitter.operand(value),) if value is not None else (), end.place)
            # An unreachable end needs some terminator: the verifier knows no other.
            case _:  # never reached
                result = self.source.result
                return Return((constant(belt_type(result), 0),) if result is not None else (), end.place)
