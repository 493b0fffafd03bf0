# SPDX-License-Identifier: Apache-2.0
"""Operations that a member lacks, as a few that it has: minima by comparison, products of 64 bits by those of 32,
rotations, counts of bits and byte orders by shifts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from polyloom.diagnostics import infeasible
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.select.lower import constant
from polyloom.targets.belt.source.ir import Function, Op, Operand, Value
from polyloom.targets.belt.value_types import BYTES, Type
from polyloom.targets.belt.words.meaning import computes

Fresh = Callable[[str], str]
_LESS = {"mins": "lsss", "maxs": "gtrs", "minu": "lssu", "maxu": "gtru"}
_SWAR = ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F), (8, 0x00FF00FF00FF00FF))
_WIDE = (*_SWAR, (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF))


def substitute(function: Function, machine: Machine, fresh: Fresh) -> Function:
    """The function in operations of the member. Errors: PL1090 (exit 3)."""
    blocks = tuple(replace(block, ops=_ops(block.ops, machine, fresh)) for block in function.blocks)
    return replace(function, blocks=blocks)


def _ops(ops: tuple[Op, ...], machine: Machine, fresh: Fresh) -> tuple[Op, ...]:
    made: list[Op] = []
    for op in ops:
        if not computes(op.name) or machine.has(op.name, _width(op).width):
            made.append(op)
            continue
        maker = _Maker(op, machine, fresh)
        maker.expand()
        made += _ops(tuple(maker.ops), machine, fresh)
    return tuple(made)


def _width(op: Op) -> Type:
    return op.operands[1 if op.name == "pick" else 0].type


@dataclass(slots=True)
class _Maker:
    """Mutable: what stands for an operation. The last one gives its result."""

    op: Op
    machine: Machine
    fresh: Fresh
    ops: list[Op] = field(default_factory=list[Op])

    def emit(self, name: str, *operands: Operand, type: Type | None = None, last: bool = False) -> Value:
        row = OPS[name]
        made = type or (Type("b", operands[0].type.lanes) if row.width == "b" else operands[0].type)
        result = self.op.results[0] if last else Value(self.fresh("s"), made)
        width = result.type.width if row.width == "=" else None
        self.ops.append(Op(name, operands, (result,), width, place=self.op.place))
        return result

    def number(self, value: int) -> Operand:
        return constant(_width(self.op), value)

    def expand(self) -> None:
        name, type = self.op.name, _width(self.op)
        a = self.op.operands[0]
        match name:
            case "mins" | "maxs" | "minu" | "maxu":
                b = self.op.operands[1]
                self.emit("pick", self.emit(_LESS[name], a, b), a, b, type=type, last=True)
            case "abs":
                sign = self.emit("shrs", a, self.number(8 * BYTES[type.width] - 1))
                self.emit("sub", self.emit("xor", a, sign), sign, last=True)
            case "rotl":
                b = self.op.operands[1]
                other = self.emit("sub", self.number(0), b)
                self.emit("or", self.emit("shl", a, b), self.emit("shru", a, other), last=True)
            case "mul" if type.width == "d":
                self._product(a, self.op.operands[1])
            case "pop":
                self._count(a, last=True)
            case "ctz":
                below = self.emit("and", self.emit("not", a), self.emit("add", a, self.number(-1)))
                self._count(below, last=True)
            case "clz":
                filled: Operand = a
                by = 1
                while by < 8 * BYTES[type.width]:
                    filled = self.emit("or", filled, self.emit("shru", filled, self.number(by)))
                    by *= 2
                self._count(self.emit("not", filled), last=True)
            case "bswap":
                self._swapped(a)
            case _:
                words = self.op.place.words()
                at = f", {words}" if words else ""
                raise infeasible(
                    "PL1090",
                    f"{self.machine.name} has no slot for `{name}` of {type}{at}, and it has no expansion",
                    help="take a member that has it, or write the computation otherwise",
                )

    def _product(self, a: Operand, b: Operand) -> None:
        """(ah * 2^32 + al) * (bh * 2^32 + bl) modulo 2^64."""
        word = Type("w")
        halves = [(self.emit("narrow", x, type=word), self.emit("shru", x, self.number(32))) for x in (a, b)]
        (al, ah), (bl, bh) = halves
        low = self.emit("muluw", al, bl, type=Type("d"))
        one = self.emit("mul", self.emit("narrow", ah, type=word), bl)
        two = self.emit("mul", al, self.emit("narrow", bh, type=word))
        high = self.emit("widenu", self.emit("add", one, two), type=Type("d"))
        self.emit("add", low, self.emit("shl", high, self.number(32)), last=True)

    def _count(self, a: Operand, last: bool) -> None:
        """The number of ones, by sums of neighbours."""
        width = 8 * BYTES[a.type.width]
        found = a
        rows = [row for row in _WIDE if row[0] < width]
        for k, (by, mask) in enumerate(rows):
            masked = self.emit("and", found, self.number(mask))
            shifted = self.emit("and", self.emit("shru", found, self.number(by)), self.number(mask))
            found = self.emit("add", masked, shifted, last=last and k == len(rows) - 1)

    def _swapped(self, a: Operand) -> None:
        width = 8 * BYTES[a.type.width]
        found = a
        rows = [row for row in _WIDE if 8 <= row[0] < width]
        for k, (by, mask) in enumerate(rows):
            low = self.emit("shl", self.emit("and", found, self.number(mask)), self.number(by))
            high = self.emit("and", self.emit("shru", found, self.number(by)), self.number(mask))
            found = self.emit("or", low, high, last=k == len(rows) - 1)
