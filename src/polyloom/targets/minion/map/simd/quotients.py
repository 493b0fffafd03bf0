# SPDX-License-Identifier: Apache-2.0
"""Instruction selection for divisions: of floats in line, with calls out of line (short_division.py), of integers lane
by lane, and software routines (software_arithmetic.py).

Of a constant, and of a divisor that a loop does not change, the reciprocal is known in front of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import pack, unpack

from polyloom.ir.nest import Apply, cell
from polyloom.ir.pla import Constant, Reference
from polyloom.targets.minion.map.simd import short_division as division
from polyloom.targets.minion.map.simd.elements import Around, Elements
from polyloom.targets.minion.map.simd.short_division import Call, Divisor, scratch_address
from polyloom.targets.minion.map.simd.text import Text


@dataclass(slots=True)
class Quotients(Elements):
    """Writer of divisions into `text`. `routines` are those that were called, `calls` those out of line; `keeps`: calls
    keep the registers of the routine.
    """

    routines: set[str] = field(default_factory=set[str])
    calls: list[Call] = field(default_factory=list[Call])
    keeps: bool = True

    def known_divisor(self, value: Apply, around: Around) -> Divisor | None:
        """Divisor of a division of floats whose reciprocal is known: that of a constant, or one that was computed in
        front of the loop.
        """
        if (value.operation, value.dtype) != ("div", "f32"):
            return None
        by = value.operands[1]
        if not isinstance(by, Constant):
            return around.divisors.get(cell(by)) if isinstance(by, Reference) else None
        bits = division.exact_divisor(float(by.value))
        if bits is None:
            return None
        number, reciprocal = (self.constant("bits", each) for each in (constant_bits(by), bits))
        if not number[1] and not reciprocal[1]:
            return Divisor(number[0], reciprocal[0])
        # Without registers for both, a reciprocal is computed in fewer instructions than they are set.
        self.drop(reciprocal)
        self.drop(number)
        return None

    def divide_by_known(
        self, value: Apply, dividend: tuple[str, bool], by: Divisor, into: str | None
    ) -> tuple[str, bool]:
        """Division by a divisor whose reciprocal is known."""
        constants = [self.constant("bits", bits) for bits in division.CONSTANTS[:-1]]
        # The operand is needed to the end.
        made = self.text.vectors.take(value.span) if into is None or into in (dividend[0], by.number) else into
        spare, flag = self.text.vectors.take(value.span), self.text.integers.take(value.span)
        labels, registers = (self.text.label("slow"), self.text.label("divided")), tuple(r for r, _ in constants)
        self.text.add(*division.known_division_lines(made, dividend[0], by, spare, flag, registers, labels))
        self.routines.add("div")
        self.calls.append(Call(*labels, made, dividend[0], by.number))
        self.text.vectors.give(spare)
        self.text.integers.give(flag)
        for each in (*constants, dividend):
            self.drop(each)
        return (made, into is None) if into in (None, made) else self.move_value((made, True), into)

    def set_divisor(self, number: str) -> Divisor:
        """Reciprocal of a divisor, in front of a loop, in registers that are the caller's."""
        constants = [self.constant("bits", bits) for bits in division.CONSTANTS]
        made = Divisor(number, self.text.vectors.take(), self.text.vectors.take())
        spare = self.text.vectors.take()
        self.text.add(*division.divisor_lines(made, spare, tuple(register for register, _ in constants)))
        self.text.vectors.give(spare)
        for each in constants:
            self.drop(each)
        return made

    def move_value(self, value: tuple[str, bool], into: str | None) -> tuple[str, bool]:
        """Value in the register that was asked for, by a move if it is in another one."""
        if into is None or value[0] == into:
            return value
        self.text.add(f"for.pi {into}, {value[0]}, {value[0]}")
        self.drop(value)
        return into, False

    def call_routine(self, routine: str, into: str, operands: list[str]) -> None:
        """Call of a software routine, whose operands are in f24 and f25."""
        self.routines.add(routine)
        for n, operand in enumerate(operands):
            self.text.add(f"for.pi f{24 + n}, {operand}, {operand}")
        # t5 is the link register, because ra is one of the pool's.
        self.text.add(f"jal t5, {self.text.prefix}.{routine}", f"for.pi {into}, f24, f24")

    def divide(self, value: Apply, into: str, operands: list[str]) -> None:
        """Division in line, with a call out of line for lanes that it cannot divide."""
        constants = [self.constant("bits", bits) for bits in division.CONSTANTS]
        y, r = (self.text.vectors.take(value.span) for _ in range(2))
        # Operands are needed to the end.
        made = self.text.vectors.take(value.span) if into in operands else into
        flag = self.text.integers.take(value.span)
        labels, (a, b) = (self.text.label("slow"), self.text.label("divided")), operands
        registers = tuple(register for register, _ in constants)
        self.text.add(*division.division_lines(made, (a, b), (y, r), flag, registers, labels))
        self.routines.add("div")
        self.calls.append(Call(*labels, made, a, b))
        self.text.vectors.give(r, y)
        if made != into:
            self.move_value((made, True), into)
        self.text.integers.give(flag)
        for each in constants:
            self.drop(each)

    def call_routines(self) -> None:
        """Calls that the lines since the last ones branch to, where the program does not come by."""
        if not self.calls:
            return
        over = self.text.label("over")
        self.text.add(f"j {over}")
        with self.text.at(None, "divides what needs all steps"):
            for call in self.calls:
                self.text.reach(call.label, call.back)
                self.text.add(*division.call_lines(call, self.text.prefix, self.memory.scratch if self.keeps else None))
        self.text.add(f"{over}:")
        self.calls.clear()

    def divide_lanes(self, value: Apply, into: str, operands: list[str]) -> None:
        """Division of integers lane by lane, by RISC-V's own instructions, on the hart's scratch: packed division traps
        (manual, which gives cause 30 to instructions that software emulate).
        """
        again = self.text.label("lane")
        a, b = operands
        # Scratch belongs to each hart; lane numbers are at the beginning, in front of these operands.
        self.text.add(*scratch_address("t0", "t1", self.memory.scratch + 64))
        self.text.add(
            f"fsw.ps {a}, 0(t0)", f"fsw.ps {b}, 32(t0)", "addi t4, t0, 32", f"{again}:", "lw t1, 0(t0)", "lw t2, 32(t0)"
        )
        self.text.add(*_scalar_division(value.operation, self.text))
        self.text.add("sw t3, 0(t0)", "addi t0, t0, 4", f"bltu t0, t4, {again}", f"flw.ps {into}, -32(t0)")


def _floor_division(text: Text, quotient: bool) -> list[str]:
    """Division rounded down: C's quotient and remainder are corrected where the remainder's sign is not the divisor's
    (Leijen 2001).
    """
    done = text.label("exact")
    lines = ["divw t3, t1, t2"] if quotient else []
    # A remainder of 0 needs no correction, whatever its signs.
    lines += ["remw t5, t1, t2", f"beqz t5, {done}r", "xor t6, t5, t2", f"bgez t6, {done}r"]
    if quotient:
        return [*lines, "addi t3, t3, -1", f"{done}r:"]
    return [*lines, "addw t5, t5, t2", f"{done}r:", "mv t3, t5"]


def _scalar_division(operation: str, text: Text) -> list[str]:
    """Division or remainder of t1 by t2, in t3."""
    match operation:
        case "div":
            return ["divw t3, t1, t2"]
        case "rem":
            return ["remw t3, t1, t2"]
        case _:
            return _floor_division(text, operation == "floordiv")


def constant_bits(constant: Constant) -> int:
    """Bits of a constant in a lane, as a signed number."""
    if constant.dtype == "f32":
        return unpack("<i", pack("<f", constant.value))[0]
    if constant.dtype == "f16":
        return unpack("<H", pack("<e", constant.value))[0]
    return int(constant.value)
