# SPDX-License-Identifier: Apache-2.0
"""Sums of 32 bits whose values in a loop are known to follow one another by one step, in 64 bits: the first one, and a
multiple of a counter, or a variable that is added to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from polyloom.ir.ssa import Block, Constant, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import I32, I64, Type
from polyloom.transform.ssa.body import Body, Place
from polyloom.transform.ssa.counters import Count
from polyloom.transform.ssa.sign_extended_sums import Extended, Products


@dataclass(frozen=True, slots=True)
class Wide:
    """origin + factor * counter + constant, times two to the `shift`; a factor of 0 has no counter."""

    origin: Operand
    counter: Operand
    factor: int
    constant: int
    shift: int

    def plus(self, distance: int) -> Wide:
        return replace(self, constant=self.constant + distance)


def widen_sum(body: Body, place: Place, counts: Mapping[Operand, Count], found: Extended, products: Products) -> Wide:
    """The sum in 64 bits: what it needs is computed in front of the loop."""
    writer = _Writer(body, place.entry)
    first, step = integer_constant(I32, found.sum.constant), integer_constant(I32, 0)
    start: Operand = first
    by: Operand = step
    for value, factor in found.sum.terms:
        counter, stays = products.get(value, (value, None))
        count = counts.get(counter)
        parts = (value, integer_constant(I32, 0)) if count is None else (count.first, count.step)
        scaled = [writer.times(writer.low(part), factor) for part in parts]
        if stays is not None:
            scaled = [writer.product(part, writer.low(stays)) for part in scaled]
        start, by = writer.sum(start, scaled[0]), writer.sum(by, scaled[1])
    origin = writer.sign_extend(start)
    # A counter of 64 bits whose step divides that of the sum: no variable is added.
    for count in counts.values():
        factor = _multiple(by, count.step)
        if factor is not None and count.variable.type == I64:
            return Wide(writer.sum(origin, writer.times(count.first, -factor)), count.variable, factor, 0, found.shift)
    variable, following = Value(body.fresh("wide"), I64), Value(body.fresh("wide"), I64)
    body.add_variable(place, variable, origin, following)
    where = body.blocks[place.latch].terminator.place
    body.append(place.latch, Instruction("add", (variable, writer.sign_extend(by)), (following,), place=where))
    return Wide(variable, integer_constant(I64, 0), 0, 0, found.shift)


def _multiple(number: Operand, step: Operand) -> int | None:
    """How often a constant step is in a number."""
    if not isinstance(number, Constant) or not isinstance(step, Constant) or step.value == 0:
        return None
    return number.value // step.value if number.value % step.value == 0 else None


def rewritten(body: Body, block: Block, made: Mapping[Value, Wide]) -> Block:
    """The block with these values in 64 bits."""
    kept: list[Instruction] = []
    for instruction in block.instructions:
        wide = made.get(instruction.results[0]) if len(instruction.results) == 1 else None
        if wide is None:
            kept.append(instruction)
            continue
        writer = _Writer(body, None, kept, instruction)
        total = writer.sum(wide.origin, writer.times(wide.counter, wide.factor))
        total = writer.times(writer.sum(total, integer_constant(I64, wide.constant)), 1 << wide.shift)
        # The old name stays for those who read it, at no cost.
        kept.append(Instruction("copy", (total,), instruction.results, place=instruction.place))
    return replace(block, instructions=tuple(kept))


class _Writer:
    """Writes sums and products at the end of a block, or into a list, without those of constants."""

    def __init__(
        self, body: Body, k: int | None, made: list[Instruction] | None = None, at: Instruction | None = None
    ) -> None:
        self.body, self.k, self.made, self.at = body, k, made, at

    def put(self, operation: str, type: Type, *operands: Operand) -> Operand:
        result = Value(self.body.fresh("wide"), type)
        if self.k is not None:
            place = self.body.blocks[self.k].terminator.place
            self.body.append(self.k, Instruction(operation, operands, (result,), place=place))
        elif self.made is not None and self.at is not None:
            self.made.append(Instruction(operation, operands, (result,), place=self.at.place))
        return result

    def sum(self, a: Operand, b: Operand) -> Operand:
        if isinstance(a, Constant) and isinstance(b, Constant):
            return integer_constant(a.type, a.value + b.value)
        a, b = (b, a) if isinstance(a, Constant) else (a, b)
        return a if isinstance(b, Constant) and b.value == 0 else self.put("add", a.type, a, b)

    def times(self, value: Operand, factor: int) -> Operand:
        if isinstance(value, Constant) or factor == 0:
            return integer_constant(value.type, value.value * factor if isinstance(value, Constant) else 0)
        if factor == 1:
            return value
        is_power = factor > 0 and factor & (factor - 1) == 0
        by = integer_constant(value.type, factor.bit_length() - 1 if is_power else factor)
        return self.put("shl" if is_power else "mul", value.type, value, by)

    def product(self, a: Operand, b: Operand) -> Operand:
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Constant):
                return self.times(other, one.value)
        return self.put("mul", a.type, a, b)

    def low(self, value: Operand) -> Operand:
        """Modulo two to the 32."""
        if isinstance(value, Constant):
            return integer_constant(I32, value.value)
        return value if value.type == I32 else self.put("trunc", I32, value)

    def sign_extend(self, value: Operand) -> Operand:
        return integer_constant(I64, value.value) if isinstance(value, Constant) else self.put("sext", I64, value)
