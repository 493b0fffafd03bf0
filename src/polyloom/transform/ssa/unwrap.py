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
    NOWHERE,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
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
from polyloom.transform.ssa.narrow import Products, extended
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


@dataclass(frozen=True, slots=True)
class _Shape:
    """A sum without its constant: what stays, the factor of the counter, and what the counter is multiplied by."""

    stays: Linear
    factor: int
    by: Value | None


@dataclass(slots=True)
class _Range:
    """Mutable: the least and the greatest constant of sums of one shape."""

    least: int
    greatest: int


@dataclass(slots=True)
class _Test:
    """Mutable: the instructions in front of the loop, what is 0 where nothing wraps around, and values in 64 bits."""

    made: list[Instruction] = field(default_factory=list[Instruction])
    differences: list[Operand] = field(default_factory=list[Operand])
    wide: dict[Value, Value] = field(default_factory=dict[Value, Value])
    place: Place = NOWHERE


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
        found = dict(self._extended(members, scope, count))
        ends = closed(self.blocks, members, self.fresh) if found else None
        if ends is None:
            return
        self.blocks = ends
        test = _Test(place=self.blocks[entry].terminator.place)
        self._tests(test, count, found)
        loop_blocks = [self._rewritten(self.blocks[k], found, test.wide, count.variable) for k in members]
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
        return Scope(made, defined, frozenset((count.variable.name,)), self.function.address, self.made)

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

    def _extended(
        self, members: tuple[int, ...], scope: Scope, count: _Count
    ) -> Iterator[tuple[Value, tuple[_Shape, int, int]]]:
        """Integers that wrap around on the way to an address: shapes with small factors, constants and shifts."""
        instructions = [i for k in members for i in self.blocks[k].instructions]
        addressing = {o for i in instructions if i.operation in ("offset", "shl", "mul") for o in i.operands}
        for instruction in instructions:
            products: Products = {}
            found = extended(instruction, scope, products)
            if found is None or instruction.results[0] not in addressing or found.sum.constant not in _NARROW:
                continue
            shape = _shape(found.sum, count.variable, products)
            if shape is not None:
                yield instruction.results[0], (shape, found.sum.constant, found.shift)

    def _tests(self, test: _Test, count: _Count, found: Mapping[Value, tuple[_Shape, int, int]]) -> None:
        """In front of the loop."""
        ranges: dict[_Shape, _Range] = {}
        for shape, constant, _ in found.values():
            known = ranges.setdefault(shape, _Range(constant, constant))
            known.least, known.greatest = min(known.least, constant), max(known.greatest, constant)
        multiplies = any(shape.by is not None for shape in ranges)
        for operand in (count.first, count.limit):
            # A product of two numbers of 33 bits could be beyond 64.
            if not self._is_narrow(operand) or (multiplies and not isinstance(operand, Constant)):
                self._fits(test, operand)
        last = self._sum(test, count.limit, integer(I64, -count.step))
        for shape, known in ranges.items():
            for value in (*(value for value, _ in shape.stays.terms), *([shape.by] if shape.by else [])):
                self._wide(test, value)
            if shape.by is not None:
                for end in (count.first, last):
                    for constant in dict.fromkeys((known.least, known.greatest)):
                        if not _is_own(shape, end, constant):
                            self._fits(test, self._at(test, shape, end, constant))
                continue
            rises = (count.step > 0) == (shape.factor > 0)
            low, high = (count.first, last) if rises else (last, count.first)
            if not _is_above(shape, low, known.least):
                self._fits(test, self._at(test, shape, low, known.least))
            self._fits(test, self._at(test, shape, high, known.greatest))

    def _is_narrow(self, operand: Operand) -> bool:
        """Whether it has at most 33 bits."""
        if isinstance(operand, Constant):
            return operand.value in _NARROW
        made = self.made.get(operand.name) if isinstance(operand, Value) else None
        return made is not None and made.operation in ("sext", "zext")

    def _at(self, test: _Test, shape: _Shape, count: Operand, constant: int) -> Operand:
        """The sum in 64 bits where the counter has a value."""
        total = self._sum(test, self._times(test, count, shape.factor), integer(I64, constant))
        for value, factor in shape.stays.terms:
            total = self._sum(test, total, self._times(test, self._wide(test, value), factor))
        is_zero = isinstance(count, Constant) and count.value == 0
        if shape.by is None or is_zero:
            return total
        return self._sum(test, total, self._put(test, "mul", I64, count, self._wide(test, shape.by)))

    def _wide(self, test: _Test, value: Value) -> Value:
        """The low half, extended; computed once in front of the loop."""
        if value not in test.wide:
            low = value if value.type == I32 else self._put(test, "trunc", I32, value)
            test.wide[value] = self._put(test, "sext", I64, low)
        return test.wide[value]

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
        test.made.append(Instruction(operation, operands, (result,), place=test.place))
        return result

    def _rewritten(
        self, block: Block, found: Mapping[Value, tuple[_Shape, int, int]], wide: dict[Value, Value], variable: Value
    ) -> Block:
        """The block with sums of 64 bits."""
        made: list[Instruction] = []
        test = _Test(made, [], wide)
        for instruction in block.instructions:
            each = found.get(instruction.results[0]) if len(instruction.results) == 1 else None
            if each is None:
                made.append(instruction)
                continue
            shape, constant, shift = each
            test.place = instruction.place
            # Constants last, so that sums of one shape share the rest.
            whole = self._sum(test, self._at(test, shape, variable, 0), integer(I64, constant))
            operation, operands = ("shl", (whole, integer(I64, shift))) if shift else ("copy", (whole,))
            made.append(Instruction(operation, operands, instruction.results, place=instruction.place))
        return replace(block, instructions=tuple(made))


def _shape(sum: Linear, variable: Value, products: Products) -> _Shape | None:
    """None where it does not count, or where its factors are too large."""
    factor = next((by for value, by in sum.terms if value == variable), 0)
    multiplied = [(products[value], by) for value, by in sum.terms if value in products]
    stays = tuple((value, by) for value, by in sum.terms if value != variable and value not in products)
    is_small = all(abs(by) < _FACTOR for _, by in sum.terms)
    if not is_small or not (factor or multiplied) or multiplied[1:] or any(by != 1 for _, by in multiplied):
        return None
    return _Shape(Linear(stays), factor, multiplied[0][0] if multiplied else None)


def _is_above(shape: _Shape, low: Operand, least: int) -> bool:
    """Whether the least value is no less than a number of 32 bits, and no test is needed at that end: one that were
    too great would show at the other."""
    terms = shape.stays.terms
    alone = not terms or (len(terms) == 1 and terms[0][1] == 1)
    return alone and isinstance(low, Constant) and low.value * shape.factor + least >= 0


def _is_own(shape: _Shape, end: Operand, constant: int) -> bool:
    """Whether the sum is a number of 32 bits there, or none but 0."""
    terms = shape.stays.terms
    is_zero = isinstance(end, Constant) and end.value == 0 and constant == 0
    return is_zero and (not terms or (len(terms) == 1 and terms[0][1] == 1))
