# SPDX-License-Identifier: Apache-2.0
"""Induction variable widening: counters of 32 bits that never wrap around become counters as wide as addresses, so that
indices need no extension in the loop.

What a counter is as 32 bits stays as its truncation, which machines have for nothing where they read low bits alone.
Sums with it whose ranges show that they do not wrap are extended by their operands (`analysis.value_ranges` proves
both), and comparisons with it become wide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.analysis.value_ranges import ValueRanges
from polyloom.ir.ssa import (
    Block,
    Constant,
    Edge,
    Function,
    Instruction,
    Operand,
    Place,
    Value,
    integer_constant,
    replace_edges,
)
from polyloom.ir.ssa_types import I32, I64
from polyloom.transform.ssa.function_editing import names, on_each_function, remove_unreachable, with_operands

_COMPARED: Final = ("slt", "sle", "sgt", "sge", "eq", "ne")
_DEPTH: Final = 4


@on_each_function
def widen_counters(function: Function) -> Function:
    """Induction variable widening (LLVM's IndVarSimplify): the function with such counters in 64 bits; only where
    pointers have as many.
    """
    if function.pointers != 64:
        return function
    function = remove_unreachable(function)
    work = _Widening(function)
    return work.function() if work.choose() else function


class _Widening:
    """Mutable: `wide` has by name of a value of 32 bits the one of 64 bits that is its extension by the sign;
    `counters` by name the wide counter and its step; `steps` are the sums that are their next values."""

    def __init__(self, source: Function) -> None:
        self.source, self.ranges, self.fresh = source, ValueRanges(source), names(source)
        self.wide: dict[str, Operand] = {}
        self.counters: dict[str, tuple[Value, int]] = {}
        self.steps: set[str] = set()

    def choose(self) -> bool:
        """Picks the counters that something reads extended."""
        extended = self._extended_values()
        for p in (p for block in self.source.blocks for p in block.parameters):
            if p.type == I32 and p.name in extended and self._pays(p):
                step = self.ranges.counters[p.name][1]
                self.counters[p.name] = Value(self.fresh(p.name), I64), step
                self.wide[p.name] = self.counters[p.name][0]
                # Proved for these additions: another one of the same counter may stand where it wraps around.
                self.steps |= {i.results[0].name for _, i in self.ranges.counter_increments(p)}
        return bool(self.counters)

    def _pays(self, parameter: Value) -> bool:
        """Whether this is a counter that never wraps around, and that begins with what is extended for nothing."""
        if parameter.name not in self.ranges.counters:
            return False
        begins, step = self.ranges.counters[parameter.name]
        makers = [self.ranges.makers.get(o.name) for o in begins if isinstance(o, Value)]
        is_cut = any(made is not None and made.operation == "trunc" for made in makers)
        return step != 0 and not is_cut and self.ranges.counts_exactly(parameter)

    def _extended_values(self) -> set[str]:
        """Values of 32 bits that extensions read, or sums that extensions read."""
        found: set[str] = set()
        counters = [p for block in self.source.blocks for p in block.parameters if p.name in self.ranges.counters]
        steps = {i.results[0].name for p in counters for _, i in self.ranges.counter_increments(p)}
        # Indices that may wrap around gain by wide counters, too (`unwrap`). But where some are wide already, whoever
        # made the function has chosen which ones.
        is_fresh = all(p.type != I64 for p in counters)
        work = [
            i.operands[0]
            for b in self.source.blocks
            for i in b.instructions
            if i.operation == "sext" and i.results[0].type == I64
        ]
        while work:
            operand = work.pop()
            if not isinstance(operand, Value) or operand.type != I32 or operand.name in found:
                continue
            found.add(operand.name)
            made = self.ranges.makers.get(operand.name)
            if made is None and operand.name in self.ranges.counters:
                # What a counter begins with is extended in front of its loop.
                work += self.ranges.counters[operand.name][0]
            elif made is not None and made.operation in ("add", "sub"):
                # The extension of a sum that may wrap around is no sum of extensions.
                is_exact = operand.name in steps or self.ranges.is_exact(made, self.ranges.home[operand.name])
                work += made.operands if is_fresh or is_exact else ()
        return found

    def function(self) -> Function:
        blocks = [self._block(k, block) for k, block in enumerate(self.source.blocks)]
        return replace(self.source, blocks=tuple(blocks))

    def _block(self, k: int, block: Block) -> Block:
        made: list[Instruction] = []
        for instruction in block.instructions:
            made.append(self._instruction(instruction, k, made))
        end = replace_edges(
            block.terminator, lambda operand: operand, lambda edge: self._edge(edge, k, made, block.terminator.place)
        )
        parameters = tuple(self.counters[p.name][0] if p.name in self.counters else p for p in block.parameters)
        return self._with_truncations(Block(block.name, parameters, tuple(made), end))

    def _with_truncations(self, block: Block) -> Block:
        """The block with the counters that it reads in 32 bits made in it: passed along they would take registers."""
        made: dict[str, Instruction] = {}

        def operand(old: Operand) -> Operand:
            if not isinstance(old, Value) or old.name not in self.counters:
                return old
            if old.name not in made:
                result = Value(self.fresh(old.name), I32)
                made[old.name] = Instruction("trunc", (self.counters[old.name][0],), (result,))
            return made[old.name].results[0]

        changed = with_operands(block, operand)
        return replace(changed, instructions=(*made.values(), *changed.instructions))

    def _edge(self, edge: Edge, k: int, made: list[Instruction], place: Place) -> Edge:
        target = self.source.blocks[self.ranges.position[edge.block]]
        pairs = zip(target.parameters, edge.arguments, strict=True)
        arguments = tuple(self._argument(p, a, k, made, place) if p.name in self.counters else a for p, a in pairs)
        return Edge(edge.block, arguments)

    def _argument(self, parameter: Value, argument: Operand, k: int, made: list[Instruction], place: Place) -> Operand:
        wide, step = self.counters[parameter.name]
        maker = self.ranges.makers.get(argument.name) if isinstance(argument, Value) else None
        is_step = isinstance(argument, Value) and argument.name in self.steps
        if is_step and maker is not None and maker.operands[0] == parameter:
            return self._put("add", (wide, integer_constant(I64, step)), made, place)
        return self._extension(argument, k, made, place)

    def _instruction(self, instruction: Instruction, k: int, made: list[Instruction]) -> Instruction:
        operands = instruction.operands
        if instruction.operation == "sext" and operands[0].type == I32 and instruction.results[0].type == I64:
            found = self._exactly(operands[0], k, made, instruction.place, _DEPTH)
            return instruction if found is None else replace(instruction, operation="copy", operands=(found,))
        is_counter = any(isinstance(o, Value) and self._is_counter_value(o) for o in operands)
        if instruction.operation in _COMPARED and is_counter:
            wide = tuple(self._extension(o, k, made, instruction.place) for o in operands)
            return replace(instruction, operands=wide)
        return instruction

    def _is_counter_value(self, value: Value) -> bool:
        """A counter, or its next value."""
        return value.name in self.counters or value.name in self.steps

    def _extension(self, operand: Operand, k: int, made: list[Instruction], place: Place) -> Operand:
        found = self._exactly(operand, k, made, place, _DEPTH)
        return self._put("sext", (operand,), made, place) if found is None else found

    def _exactly(self, operand: Operand, k: int, made: list[Instruction], place: Place, depth: int) -> Operand | None:
        """The extension as a computation of extended operands, for counters and sums that do not wrap around."""
        if isinstance(operand, Constant):
            return integer_constant(I64, operand.value)
        if not isinstance(operand, Value) or depth == 0:
            return None
        if operand.name in self.wide:
            return self.wide[operand.name]
        maker = self.ranges.makers.get(operand.name)
        if maker is None or maker.operation not in ("add", "sub"):
            return None
        home = self.ranges.home[operand.name]
        if operand.name not in self.steps and not self.ranges.is_exact(maker, home):
            return None
        parts = [self._exactly(o, home, made, place, depth - 1) for o in maker.operands]
        if all(part is None for part in parts):
            return None
        wide = tuple(
            self._put("sext", (o,), made, place) if p is None else p for o, p in zip(maker.operands, parts, strict=True)
        )
        return self._put(maker.operation, wide, made, place)

    def _put(self, operation: str, operands: tuple[Operand, ...], made: list[Instruction], place: Place) -> Value:
        result = Value(self.fresh("wide"), I64)
        made.append(Instruction(operation, operands, (result,), place=place))
        return result
