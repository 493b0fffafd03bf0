# SPDX-License-Identifier: Apache-2.0
"""Indices of 32 bits in loops without their extensions: a second version of the loop, for when no index wraps around.

C's `int` may wrap around here, as machines do: `a[i * n + j]` is the low 32 bits of a sum, extended by their sign, so
that its address is not linear in j. An innermost loop whose counter and bounds are known when it is entered is entered
through a test: the first and the last value of each such sum, in 64 bits, are those of 32 bits. As sums are monotone in
the counter, no value between them wraps around either, and the version that is entered then computes with 64 bits,
whose addresses become pointers that move (strength.py). Otherwise the loop is as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.analysis.loops import Loop, loop_forest
from polyloom.ir.ssa import (
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Value,
    edges_of,
    flow_edges,
    integer,
)
from polyloom.ir.ssa_types import I1, I32, I64, Type
from polyloom.ir.ssa_verify import definitions
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.copies import closed, copied
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.editing import names, throughout
from polyloom.transform.ssa.linear import Linear, Scope
from polyloom.transform.ssa.narrow import Extended, extended
from polyloom.transform.ssa.preheaders import with_preheaders

MOST: Final = 200
"""Instructions of a loop that is worth a second version."""
_FACTOR: Final = 1 << 16
"""Beyond it, sums of 64 bits could wrap around themselves."""
_NARROW: Final = range(-(1 << 31), 1 << 31)


@throughout
def unwrap(function: Function) -> Function:
    """The function with second versions of innermost loops; only where pointers have 64 bits."""
    if function.pointers != 64:
        return function
    function = with_preheaders(function)
    forest = loop_forest(len(function.blocks), flow_edges(function))
    outer = {loop.parent for loop in forest.loops}
    work = _Work(function)
    for number, loop in enumerate(forest.loops):
        if number not in outer and not loop.irreducible and len(loop.latches) == 1:
            work.loop(loop, forest.members(number))
    return dce(common(replace(function, blocks=tuple(work.blocks)))) if work.changed else function


@dataclass(frozen=True, slots=True)
class _Count:
    """A counter of a loop from `first` on in steps, as long as its next value is not `limit`."""

    variable: Value
    first: Operand
    limit: Operand
    step: int


@dataclass(slots=True)
class _Family:
    """Mutable: sums that differ by constants, of which the least and the greatest are kept."""

    sum: Linear
    factor: int
    least: int
    greatest: int


@dataclass(slots=True)
class _Test:
    """Mutable: the instructions in front of the loop, and what is 0 where nothing wraps around."""

    made: list[Instruction] = field(default_factory=list[Instruction])
    differences: list[Operand] = field(default_factory=list[Operand])


class _Work:
    """Mutable: the blocks, in their order."""

    def __init__(self, function: Function) -> None:
        self.function, self.blocks, self.fresh = function, list(function.blocks), names(function)
        self.changed = False
        self.made: dict[str, Instruction] = {}

    def loop(self, loop: Loop, members: tuple[int, ...]) -> None:
        header = self.blocks[loop.header]
        entry = next(
            k
            for k, block in enumerate(self.blocks)
            if k not in members and any(edge.block == header.name for edge in edges_of(block.terminator))
        )
        self.made = {r.name: i for b in self.blocks for i in b.instructions for r in i.results}
        inside = {value for k in members for value in definitions(self.blocks[k])}
        count = self._count(header, self.blocks[entry], self.blocks[loop.latches[0]], inside)
        if count is None or sum(len(self.blocks[k].instructions) for k in members) > MOST:
            return
        scope = self._scope(members, count)
        found = dict(self._extended(members, scope))
        ends = closed(self.blocks, members, self.fresh) if found else None
        if ends is None:
            return
        self.blocks = ends
        test = _Test()
        bases = self._tests(test, count, found)
        loop_blocks = [self._rewritten(self.blocks[k], found, bases, count.variable) for k in members]
        named, fast = copied(loop_blocks, self.fresh)
        enters = self.blocks[entry].terminator
        assert isinstance(enters, Jump)
        condition = self._condition(test)
        way = Edge(named[header.name], enters.target.arguments)
        end = Branch(condition, way, enters.target, enters.place)
        before = self.blocks[entry]
        self.blocks[entry] = Block(before.name, before.parameters, (*before.instructions, *test.made), end)
        self.blocks += fast
        self.changed = True

    def _scope(self, members: tuple[int, ...], count: _Count) -> Scope:
        blocks = [self.blocks[k] for k in members]
        made = {result.name: i for block in blocks for i in block.instructions for result in i.results}
        defined = frozenset((*made, *(p.name for block in blocks for p in block.parameters)))
        return Scope(made, defined, frozenset((count.variable.name,)), self.function.address)

    def _count(self, header: Block, entry: Block, latch: Block, inside: Set[Value]) -> _Count | None:
        """The counter by which the loop ends. One that misses its limit has no end."""
        if not isinstance(latch.terminator, Branch) or not isinstance(entry.terminator, Jump):
            return None
        condition, back = latch.terminator.condition, latch.terminator
        test = self.made.get(condition.name) if isinstance(condition, Value) else None
        leaves = back.orelse if test is not None and test.operation == "ne" else back.then
        stays = back.then if leaves is back.orelse else back.orelse
        if test is None or test.operation not in ("eq", "ne") or stays.block != header.name:
            return None
        if leaves.block == header.name:
            return None
        for p, first, following in zip(
            header.parameters, entry.terminator.target.arguments, stays.arguments, strict=True
        ):
            step = self._step(p, following)
            limit = next((b for a, b in (test.operands, test.operands[::-1]) if a == following), None)
            stays_same = isinstance(limit, Constant) or (isinstance(limit, Value) and limit not in inside)
            if p.type == I64 and step and limit is not None and stays_same:
                return _Count(p, first, limit, step)
        return None

    def _step(self, variable: Value, following: Operand) -> int:
        made = self.made.get(following.name) if isinstance(following, Value) else None
        if made is None or made.operation != "add" or made.operands[0] != variable:
            return 0
        return made.operands[1].value if isinstance(made.operands[1], Constant) else 0

    def _extended(self, members: tuple[int, ...], scope: Scope) -> Iterator[tuple[Value, Extended]]:
        """Integers that wrap around on the way to an address, with a counter and with small factors."""
        instructions = [i for k in members for i in self.blocks[k].instructions]
        addressing = {o for i in instructions if i.operation in ("offset", "shl", "mul") for o in i.operands}
        for instruction in instructions:
            found = extended(instruction, scope)
            if found is None or instruction.results[0] not in addressing:
                continue
            counts = any(value.name in scope.counting for value, _ in found.sum.terms)
            if counts and all(abs(factor) < _FACTOR for _, factor in found.sum.terms) and found.sum.constant in _NARROW:
                yield instruction.results[0], found

    def _tests(self, test: _Test, count: _Count, found: Mapping[Value, Extended]) -> dict[Linear, Operand]:
        """What stays of each sum, computed in front of the loop."""
        families: dict[tuple[Linear, int], _Family] = {}
        for each in found.values():
            stays, factor = _parted(each.sum, count.variable)
            key = Linear(stays.terms), factor
            family = families.setdefault(key, _Family(key[0], factor, stays.constant, stays.constant))
            family.least, family.greatest = min(family.least, stays.constant), max(family.greatest, stays.constant)
        for operand in (count.first, count.limit):
            if not self._is_narrow(operand):
                self._fits(test, operand)
        last = self._sum(test, count.limit, integer(I64, -count.step))
        ends = (count.first, last) if count.step > 0 else (last, count.first)
        bases: dict[Linear, Operand] = {}
        for family in families.values():
            base = self._base(test, family.sum, bases)
            low, high = ends if family.factor > 0 else ends[::-1]
            if not _is_above(family, low):
                self._fits(test, self._at(test, base, low, family.factor, family.least))
            self._fits(test, self._at(test, base, high, family.factor, family.greatest))
        return bases

    def _is_narrow(self, operand: Operand) -> bool:
        """Whether it has at most 33 bits."""
        if isinstance(operand, Constant):
            return operand.value in _NARROW
        made = self.made.get(operand.name) if isinstance(operand, Value) else None
        return made is not None and made.operation in ("sext", "zext")

    def _base(self, test: _Test, sum: Linear, bases: dict[Linear, Operand]) -> Operand:
        if sum not in bases:
            total: Operand = integer(I64, 0)
            for value, factor in sum.terms:
                low = value if value.type == I32 else self._put(test, "trunc", I32, value)
                wide = self._times(test, self._put(test, "sext", I64, low), factor)
                total = self._sum(test, total, wide)
            bases[sum] = total
        return bases[sum]

    def _at(self, test: _Test, base: Operand, count: Operand, factor: int, constant: int) -> Operand:
        return self._sum(test, self._sum(test, self._times(test, count, factor), integer(I64, constant)), base)

    def _fits(self, test: _Test, value: Operand) -> None:
        """The difference between a number and its low half, extended."""
        if isinstance(value, Constant):
            if value.value not in _NARROW:
                test.differences.append(integer(I64, 1))
            return
        low = self._put(test, "sext", I64, self._put(test, "trunc", I32, value))
        test.differences.append(self._put(test, "xor", I64, low, value))

    def _condition(self, test: _Test) -> Operand:
        whole, *rest = test.differences or [integer(I64, 0)]
        for difference in rest:
            whole = self._put(test, "or", I64, whole, difference)
        return self._put(test, "eq", I1, whole, integer(I64, 0))

    def _times(self, test: _Test, value: Operand, factor: int) -> Operand:
        if isinstance(value, Constant):
            return integer(I64, value.value * factor)
        if factor == 1:
            return value
        is_power = factor > 0 and factor & (factor - 1) == 0
        by = integer(I64, factor.bit_length() - 1 if is_power else factor)
        return self._put(test, "shl" if is_power else "mul", I64, value, by)

    def _sum(self, test: _Test, a: Operand, b: Operand) -> Operand:
        if isinstance(a, Constant) and isinstance(b, Constant):
            return integer(I64, a.value + b.value)
        a, b = (b, a) if isinstance(a, Constant) else (a, b)
        return a if isinstance(b, Constant) and b.value == 0 else self._put(test, "add", I64, a, b)

    def _put(self, test: _Test, operation: str, type: Type, *operands: Operand) -> Value:
        result = Value(self.fresh("wide"), type)
        test.made.append(Instruction(operation, operands, (result,)))
        return result

    def _rewritten(
        self, block: Block, found: Mapping[Value, Extended], bases: Mapping[Linear, Operand], variable: Value
    ) -> Block:
        """The block with sums of 64 bits."""
        made: list[Instruction] = []
        for instruction in block.instructions:
            each = found.get(instruction.results[0]) if len(instruction.results) == 1 else None
            if each is None:
                made.append(instruction)
                continue
            test = _Test(made)
            stays, factor = _parted(each.sum, variable)
            moving = self._sum(test, bases[Linear(stays.terms)], self._times(test, variable, factor))
            whole = self._sum(test, moving, integer(I64, stays.constant))
            operation, by = ("shl", integer(I64, each.shift)) if each.shift else ("add", integer(I64, 0))
            made.append(Instruction(operation, (whole, by), instruction.results, place=instruction.place))
        return replace(block, instructions=tuple(made))


def _parted(sum: Linear, variable: Value) -> tuple[Linear, int]:
    """What stays, and the factor of the counter."""
    factor = next(by for value, by in sum.terms if value == variable)
    return sum.plus(Linear(((variable, factor),)), -1), factor


def _is_above(family: _Family, low: Operand) -> bool:
    """Whether the least value is no less than a number of 32 bits, and no test is needed at that end: one that were
    too great would show at the other."""
    alone = len(family.sum.terms) == 0 or (len(family.sum.terms) == 1 and family.sum.terms[0][1] == 1)
    return alone and isinstance(low, Constant) and low.value * family.factor + family.least >= 0
