# SPDX-License-Identifier: Apache-2.0
"""Value range analysis of integers in SSA form: intervals from operations, from counters of loops, and from conditions
that hold where control is.

An interval holds the value read as signed. It starts from the type; a counter that rises by a constant without wrapping
is no less than what it begins with (Harrison, "Compiler Analysis of the Value Ranges for Variables", 1977). A condition
holds in all blocks that an edge of its branch dominates, where that edge is the only one to its target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.analysis.dominators import dominators
from polyloom.ir.ssa import Branch, Constant, Function, Instruction, Operand, Value, flow_edges, successor_edges
from polyloom.ir.ssa_types import INTEGERS, Type

Interval = tuple[int, int]
_DEPTH: Final = 6
_FAR: Final = 64
"""Dominators whose branches are looked at: bounds the time in functions of many blocks."""
_SIGNED: Final = ("slt", "sle", "sgt", "sge", "eq", "ne")
_OPPOSITE: Final = {"slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "eq": "ne", "ne": "eq"}
_MIRRORED: Final = {"slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle", "eq": "eq", "ne": "ne"}


@dataclass(frozen=True, slots=True)
class Condition:
    """`a relation b`, a comparison as signed, which holds."""

    relation: str
    a: Operand
    b: Operand


def type_range(type: Type) -> Interval:
    """All values of a type, read as signed."""
    return -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1


class ValueRanges:
    """The intervals of a function's values, and the conditions that hold in its blocks."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.above: Sequence[int] = dominators(len(function.blocks), flow_edges(function)).tolist()
        self.position = {block.name: k for k, block in enumerate(function.blocks)}
        self.makers = {r.name: i for block in function.blocks for i in block.instructions for r in i.results}
        self.home = {
            value.name: k
            for k, block in enumerate(function.blocks)
            for value in (*block.parameters, *(r for i in block.instructions for r in i.results))
        }
        self.arrivals = _arrivals(function)
        self.counters = dict(self._counters())
        self._held: dict[int, tuple[Condition, ...]] = {}

    def conditions(self, k: int) -> Iterator[Condition]:
        """Those that hold at the beginning of a block, the nearest first."""
        for _ in range(_FAR):
            if k <= 0:
                return
            yield from self._edge_conditions(k)
            k = self.above[k]

    def _edge_conditions(self, k: int) -> tuple[Condition, ...]:
        """What holds because control came to the block by its only edge."""
        if k not in self._held:
            self._held[k] = tuple(self._branch_condition(k))
        return self._held[k]

    def _branch_condition(self, k: int) -> Iterator[Condition]:
        """Condition of the only edge to a block (Harrison 1977; Patterson, "Accurate static branch prediction by value
        range propagation", 1995).
        """
        name = self.function.blocks[k].name
        # Ways back to the block come from what it dominates: all paths to those enter it by the other edge.
        sources = [source for source in self.arrivals.get(name, []) if not self.dominates(k, source)]
        end = self.function.blocks[sources[0]].terminator if len(sources) == 1 else None
        if not isinstance(end, Branch) or not isinstance(end.condition, Value):
            return
        test = self.makers.get(end.condition.name)
        if test is not None and test.operation in _SIGNED and test.operands[0].type in INTEGERS:
            relation = test.operation if end.then.block == name else _OPPOSITE[test.operation]
            yield Condition(relation, *test.operands)

    def dominates(self, k: int, node: int) -> bool:
        """Whether all paths to the node lead through block k, as far as that is looked for."""
        steps = 0
        while node not in (k, 0, -1) and (steps := steps + 1) <= _FAR:
            node = self.above[node]
        return node == k

    def _counters(self) -> Iterator[tuple[str, tuple[tuple[Operand, ...], int]]]:
        """Basic induction variables: parameters that each way back increases by one constant; what they begin with, and
        the constant.
        """
        for block in self.function.blocks[1:]:
            sources = self.arrivals.get(block.name, [])
            for n, parameter in enumerate(block.parameters):
                if parameter.type not in INTEGERS:
                    continue
                begins: list[Operand] = []
                steps: set[int] = set()
                for k in dict.fromkeys(sources):
                    for edge in successor_edges(self.function.blocks[k].terminator):
                        if edge.block == block.name:
                            argument = edge.arguments[n]
                            step = self._step(parameter, argument)
                            if step is None:
                                begins.append(argument)
                            else:
                                steps.add(step)
                if len(steps) == 1 and begins:
                    yield parameter.name, (tuple(begins), steps.pop())

    def _step(self, parameter: Value, argument: Operand) -> int | None:
        made = self.makers.get(argument.name) if isinstance(argument, Value) else None
        if made is None or made.operation != "add" or made.operands[0] != parameter:
            return None
        return made.operands[1].value if isinstance(made.operands[1], Constant) else None

    def interval(self, operand: Operand, k: int, depth: int = _DEPTH) -> Interval:
        """Interval of an operand when control is in a block: that of its definition, cut by the conditions that hold
        there.
        """
        if isinstance(operand, Constant):
            # An i1 that is 1 is -1 when it is read as signed.
            value = -operand.value if operand.type.bits == 1 else operand.value
            return value, value
        low, high = type_range(operand.type)
        if not isinstance(operand, Value) or depth == 0:
            return low, high
        for found in (self._operation_interval(operand, depth), *self._condition_intervals(operand, k, depth)):
            low, high = max(low, found[0]), min(high, found[1])
        # Contradictions hold where control never comes.
        return (low, high) if low <= high else type_range(operand.type)

    def _condition_intervals(self, operand: Value, k: int, depth: int) -> Iterator[Interval]:
        for condition in self.conditions(k):
            for relation, a, b in (
                (condition.relation, condition.a, condition.b),
                (_MIRRORED[condition.relation], condition.b, condition.a),
            ):
                if a == operand and b != operand:
                    # Halved: conditions multiply, and each would be followed to the full depth.
                    low, high = self.interval(b, k, depth // 2) if not isinstance(b, Constant) else (b.value, b.value)
                    least, most = type_range(operand.type)
                    match relation:
                        case "slt":
                            yield least, high - 1
                        case "sle":
                            yield least, high
                        case "sgt":
                            yield low + 1, most
                        case "sge":
                            yield low, most
                        case "eq":
                            yield low, high
                        case _:
                            pass

    def _operation_interval(self, value: Value, depth: int) -> Interval:
        """Transfer functions of operations on intervals (Cousot, Cousot 1977); what may wrap around is the
        whole range.
        """
        made, home = self.makers.get(value.name), self.home[value.name]
        whole = type_range(value.type)
        if made is None:
            return self._counter_interval(value, depth)
        match made.operation:
            case "sext" | "copy" | "trunc":
                found = self.interval(made.operands[0], home, depth - 1)
                return found if whole[0] <= found[0] and found[1] <= whole[1] else whole
            case "zext":
                low, high = self.interval(made.operands[0], home, depth - 1)
                return (low, high) if low >= 0 else (0, (1 << made.operands[0].type.bits) - 1)
            case "and" if isinstance(mask := made.operands[1], Constant) and mask.value >= 0:
                return 0, mask.value
            case "add" | "sub":
                found = _sum(made, *(self.interval(o, home, depth - 1) for o in made.operands))
                return found if whole[0] <= found[0] and found[1] <= whole[1] else whole
            case _:
                return whole

    def _counter_interval(self, parameter: Value, depth: int) -> Interval:
        least, most = type_range(parameter.type)
        if parameter.name not in self.counters:
            return least, most
        begins, step = self.counters[parameter.name]
        if step == 0 or not self.counts_exactly(parameter):
            return least, most
        home = self.home[parameter.name]
        ends = [self.interval(o, home, depth // 2) for o in begins]
        return (min(low for low, _ in ends), most) if step > 0 else (least, max(high for _, high in ends))

    def counts_exactly(self, parameter: Value) -> bool:
        """Whether a counter's next value never wraps around as signed: it is computed only where a condition holds the
        counter away from the end of the range."""
        step = self.counters[parameter.name][1]
        least, most = type_range(parameter.type)
        return all(
            "nsw" in made.flags or self._has_room(parameter, step, k, least, most)
            for k, made in self.counter_increments(parameter)
        )

    def counter_increments(self, parameter: Value) -> Iterator[tuple[int, Instruction]]:
        """The additions that make the next value of a counter, with their blocks."""
        home = self.function.blocks[self.home[parameter.name]]
        n = home.parameters.index(parameter)
        for k in dict.fromkeys(self.arrivals[home.name]):
            for edge in successor_edges(self.function.blocks[k].terminator):
                argument = edge.arguments[n] if edge.block == home.name else None
                if argument is not None and self._step(parameter, argument) is not None:
                    assert isinstance(argument, Value)
                    yield self.home[argument.name], self.makers[argument.name]

    def _has_room(self, parameter: Value, step: int, k: int, least: int, most: int) -> bool:
        """Room for one more step: whether a condition holds the counter far enough from the end of its type's range."""
        for condition in self.conditions(k):
            for relation, a, b in (
                (condition.relation, condition.a, condition.b),
                (_MIRRORED[condition.relation], condition.b, condition.a),
            ):
                if a != parameter:
                    continue
                # Of what b is, its type alone and constants are looked at: its own interval may rest on this counter.
                low, high = (b.value, b.value) if isinstance(b, Constant) else (least, most)
                if step > 0 and (
                    (relation == "slt" and high - 1 + step <= most) or (relation == "sle" and high + step <= most)
                ):
                    return True
                if step < 0 and (
                    (relation == "sgt" and low + 1 + step >= least) or (relation == "sge" and low + step >= least)
                ):
                    return True
        return False

    def is_exact(self, instruction: Instruction, k: int) -> bool:
        """Whether a sum or a difference in a block never wraps around as signed."""
        if "nsw" in instruction.flags:
            return True
        if instruction.operation not in ("add", "sub"):
            return False
        a, b = (self.interval(o, k) for o in instruction.operands)
        low, high = _sum(instruction, a, b)
        least, most = type_range(instruction.results[0].type)
        return least <= low and high <= most


def _sum(instruction: Instruction, a: Interval, b: Interval) -> Interval:
    return (a[0] + b[0], a[1] + b[1]) if instruction.operation == "add" else (a[0] - b[1], a[1] - b[0])


def _arrivals(function: Function) -> Mapping[str, list[int]]:
    """By block the positions of those that jump to it, once for each edge."""
    found: dict[str, list[int]] = {}
    for k, block in enumerate(function.blocks):
        for edge in successor_edges(block.terminator):
            found.setdefault(edge.block, []).append(k)
    return found
