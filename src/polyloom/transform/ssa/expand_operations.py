# SPDX-License-Identifier: Apache-2.0
"""Legalization: operations that a machine lacks, as a few that it has: minima by comparison, products of 64 bits by
those of 32, rotations, counts of bits and byte orders by shifts (H. Warren, "Hacker's Delight", 2012)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.ir.ssa import Constant, Function, Instruction, Operand, Value, wrap_to_type
from polyloom.ir.ssa_types import I1, I32, I64, Type
from polyloom.transform.ssa.function_editing import names, on_each_function

Makers = Mapping[str, Instruction]
Lacks = Callable[[Instruction, Makers], bool]
"""Whether the machine lacks an instruction, by what makes its operands."""
Refusal = Callable[[Instruction], Exception]
_LESS: Final = {"smin": "slt", "smax": "sgt", "umin": "ult", "umax": "ugt"}
_MASKS: Final = (
    *((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F), (8, 0x00FF00FF00FF00FF)),
    *((16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)),
)
"""By distance, every other group of as many bits."""


@on_each_function
def expand_operations(function: Function, lacks: Lacks, refusal: Refusal) -> Function:
    """Legalization by expansion (Hacker's Delight; LLVM's TargetLowering::expand family): the function without what the
    machine lacks. Errors: `refusal` for what has no expansion.
    """
    fresh = names(function)
    makers = {r.name: i for block in function.blocks for i in block.instructions for r in i.results}

    def expand(i: Instruction) -> list[Instruction]:
        if not lacks(i, makers):
            return [i]
        expansion = _Expansion(i, fresh)
        if not expansion.expand():
            raise refusal(i)
        makers.update((each.results[0].name, each) for each in expansion.made)
        # An expansion may use what the machine lacks as well.
        return [made for each in expansion.made for made in expand(each)]

    return replace(
        function,
        blocks=tuple(
            replace(block, instructions=tuple(made for i in block.instructions for made in expand(i)))
            for block in function.blocks
        ),
    )


@dataclass(slots=True)
class _Expansion:
    """Mutable: what stands for an instruction. The last one gives its result."""

    i: Instruction
    fresh: Callable[[str], str]
    made: list[Instruction] = field(default_factory=list[Instruction])

    def emit(self, operation: str, *operands: Operand, type: Type | None = None, last: bool = False) -> Value:
        result = self.i.results[0] if last else Value(self.fresh("s"), type or operands[0].type)
        self.made.append(Instruction(operation, operands, (result,), place=self.i.place))
        return result

    def number(self, value: int, type: Type | None = None) -> Constant:
        type = type or self.i.results[0].type
        return Constant(type, wrap_to_type(type, value))

    def expand(self) -> bool:
        """Whether there is an expansion."""
        type, a = self.i.results[0].type, self.i.operands[0]
        match self.i.callee or self.i.operation:
            case "smin" | "smax" | "umin" | "umax" as name:
                b = self.i.operands[1]
                test = self.emit(_LESS[name], a, b, type=I1.with_lanes(type.lanes) if type.lanes else I1)
                self.emit("select", test, a, b, last=True)
            case "abs":
                # All ones of a negative number: x ^ -1 is -x - 1 (Hacker's Delight, section 2-4).
                sign = self.emit("ashr", a, self.number(type.bits - 1))
                self.emit("sub", self.emit("xor", a, sign), sign, last=True)
            case "fshl" | "fshr" as name if a == self.i.operands[1]:
                self._rotation(a, self.i.operands[2], *(("shl", "lshr") if name == "fshl" else ("lshr", "shl")))
            case "mul" if type == I64:
                self._product(a, self.i.operands[1])
            case "ctpop":
                self._count(a)
            case "cttz":
                # ~x & (x - 1) has ones exactly where x ends in zeros (Hacker's Delight, section 5-4).
                below = self.emit("xor", a, self.number(-1)), self.emit("add", a, self.number(-1))
                self._count(self.emit("and", *below))
            case "ctlz":
                # The highest one is copied to all bits below (Hacker's Delight, section 5-3).
                filled, by = a, 1
                while by < type.bits:
                    filled = self.emit("or", filled, self.emit("lshr", filled, self.number(by)))
                    by *= 2
                self._count(self.emit("xor", filled, self.number(-1)))
            case "bswap":
                self._swap(a)
            case _:
                return False
        return True

    def _rotation(self, a: Operand, by: Operand, there: str, back: str) -> None:
        """Rotation by two shifts (Hacker's Delight, section 2-15). Amounts count modulo the width."""
        most = self.number(a.type.bits - 1)
        if isinstance(by, Constant):
            amounts: tuple[Operand, Operand] = (self.number(by.value & most.value), self.number(-by.value & most.value))
        else:
            opposite = self.emit("sub", self.number(0), by)
            amounts = self.emit("and", by, most), self.emit("and", opposite, most)
        self.emit("or", self.emit(there, a, amounts[0]), self.emit(back, a, amounts[1]), last=True)

    def _product(self, a: Operand, b: Operand) -> None:
        """Product of double words by single ones (Knuth, The Art of Computer Programming, section 4.3.1): (ah * 2^32 +
        al) * (bh * 2^32 + bl) modulo 2^64.
        """
        low = [self.emit("trunc", x, type=I32) for x in (a, b)]
        high = [self.emit("trunc", self.emit("lshr", x, self.number(32)), type=I32) for x in (a, b)]
        whole = self.emit("mul", *(self.emit("zext", x, type=I64) for x in low))
        # The product of both high halves is a multiple of 2^64, which is 0 here.
        cross = self.emit("add", self.emit("mul", high[0], low[1]), self.emit("mul", low[0], high[1]))
        wide = self.emit("zext", cross, type=I64)
        self.emit("add", whole, self.emit("shl", wide, self.number(32)), last=True)

    def _count(self, a: Operand) -> None:
        """Population count by sums of neighbours (Hacker's Delight, section 5-1)."""
        found, rows = a, [row for row in _MASKS if row[0] < a.type.bits]
        for by, mask in rows:
            masked = self.emit("and", found, self.number(mask))
            shifted = self.emit("and", self.emit("lshr", found, self.number(by)), self.number(mask))
            found = self.emit("add", masked, shifted, last=by == rows[-1][0])

    def _swap(self, a: Operand) -> None:
        """Byte reversal by exchanges of neighbours (Hacker's Delight, section 7-1)."""
        found, rows = a, [row for row in _MASKS if 8 <= row[0] < a.type.bits]
        for by, mask in rows:
            low = self.emit("shl", self.emit("and", found, self.number(mask)), self.number(by))
            high = self.emit("and", self.emit("lshr", found, self.number(by)), self.number(mask))
            found = self.emit("or", low, high, last=by == rows[-1][0])
