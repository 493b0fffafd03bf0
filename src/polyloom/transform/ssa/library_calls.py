# SPDX-License-Identifier: Apache-2.0
"""Library calls: division and floating point that a machine lacks become calls of exact integer routines, as GCC's
`libgcc` and LLVM's `RTLIB` have them.

Routines are functions on integers, with the bits of floats: `sdiv32`, `f64_add`, `f32_lt`, `i64_f64` and so on, behind
a prefix of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import (
    FLOAT_COMPARISONS,
    FLOATING,
    Block,
    Function,
    Instruction,
    Operand,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import F32, F64, FLOATS, I1, I8, I16, I32, I64, Type
from polyloom.transform.ssa.function_editing import names

_DIVISIONS: Final = ("sdiv", "udiv", "srem", "urem")
_SHAPES: Final[dict[str, tuple[tuple[str, bool, bool], ...]]] = {
    "foeq": (("eq", False, False),),
    "fune": (("eq", False, True),),
    "funo": (("uno", False, False),),
    "ford": (("uno", False, True),),
    "folt": (("lt", False, False),),
    "fogt": (("lt", True, False),),
    "fole": (("le", False, False),),
    "foge": (("le", True, False),),
    "fuge": (("lt", False, True),),
    "fule": (("lt", True, True),),
    "fugt": (("le", False, True),),
    "fult": (("le", True, True),),
    "fone": (("lt", False, False), ("lt", True, False)),
    "fueq": (("lt", False, True), ("lt", True, True)),
}
"""By comparison the routines whose results are or-ed (and-ed for fueq): name, operands swapped, result inverted."""


@dataclass(frozen=True, slots=True)
class Library:
    """What a target offers: its `routines`, each with those that it calls, whose names begin with the prefix; `lacks`
    tells of divisions by type, and of `fadd` for all of floating point, whether the machine lacks them; `refusal` is
    the error for an intrinsic that has no routine."""

    prefix: str
    routines: Callable[[], tuple[Function, ...]]
    lacks: Callable[[str, Type], bool]
    refusal: Callable[[Instruction], Exception]


def call_library(function: Function, library: Library) -> Function:
    """Library call lowering (GCC internals manual, chapter on libgcc; LLVM's RTLIB): the program with such calls, and
    with the routines that it needs. Errors: `refusal`.
    """
    wanted: dict[str, None] = {}
    members = [_member(member, library, wanted) for member in function.program]
    if not wanted:
        return function
    known = {f.name: f for f in library.routines()}
    others = {f.name: f for f in members[1:]}
    for name in wanted:
        for part in (known[name], *known[name].others):
            # A routine's own callees come along once, whoever else calls them.
            others.setdefault(part.name, replace(part, data=(), others=()))
    return call_library(replace(members[0], others=tuple(others.values())), library)  # a routine may need others


def _member(function: Function, library: Library, wanted: dict[str, None]) -> Function:
    maker = _Maker(names(function), wanted, library)
    blocks = tuple(_block(block, maker) for block in function.blocks)
    return replace(function, blocks=blocks)


def _block(block: Block, maker: _Maker) -> Block:
    maker.made = []
    for instruction in block.instructions:
        if not maker.try_replace(instruction):
            maker.made.append(instruction)
    return replace(block, instructions=tuple(maker.made))


class _Maker:
    """Mutable: the instructions of a block so far, and the routines that they call."""

    def __init__(self, fresh: Callable[[str], str], wanted: dict[str, None], library: Library) -> None:
        self.fresh, self.wanted, self.library = fresh, wanted, library
        self.made: list[Instruction] = []
        self.now = Instruction("fence")

    def emit(self, operation: str, type: Type, *operands: Operand, to: Value | None = None) -> Value:
        result = to or Value(self.fresh("e"), type)
        self.made.append(Instruction(operation, operands, (result,), place=self.now.place))
        return result

    def call(self, routine: str, type: Type, operands: Sequence[Operand]) -> Value:
        """Of a routine on integers, with the bits of floats."""
        name = self.library.prefix + routine
        self.wanted[name] = None
        given = tuple(self.emit("bitcast", _bits(o.type), o) if o.type in FLOATS else o for o in operands)
        result = Value(self.fresh("e"), _bits(type))
        self.made.append(Instruction("call", given, (result,), callee=f"@{name}", place=self.now.place))
        return result

    def try_replace(self, i: Instruction) -> bool:
        """Whether the instruction is done by other means."""
        self.now = i
        if i.operation in _DIVISIONS:
            return self._division(i)
        types = {o.type for o in (*i.operands, *i.results)}
        if not types & set(FLOATS) or not self.library.lacks("fadd", F64):
            return False
        result = i.results[0] if i.results else None
        if result is None:
            return False
        if i.operation in FLOATING:
            self._write_result(result, self.call(f"{_name(result.type)}_{i.operation[1:]}", result.type, i.operands))
        elif i.operation in FLOAT_COMPARISONS:
            self._comparison(i, result)
        elif i.operation in ("fneg", "fpext", "fptrunc", "sitofp", "uitofp", "fptosi", "fptoui"):
            self._conversion(i, result)
        elif i.operation == "call" and not i.called:
            self._intrinsic(i, result)
        else:
            return False
        return True

    def _division(self, i: Instruction) -> bool:
        result = i.results[0]
        if result.type.lanes or result.type == I1 or not self.library.lacks(i.operation, result.type):
            return False
        if result.type in (I8, I16):
            # Quotients of narrow numbers are those of the extended ones; only i8 -128 / -1 differs, which is undefined.
            extend = "sext" if i.operation[0] == "s" else "zext"
            given = [self.emit(extend, I32, o) for o in i.operands]
            self.emit("trunc", result.type, self.call(f"{i.operation}32", I32, given), to=result)
        else:
            self._write_result(result, self.call(f"{i.operation}{result.type.bits}", result.type, i.operands))
        return True

    def _write_result(self, result: Value, bits: Operand) -> None:
        self.emit("bitcast" if result.type in FLOATS else "copy", result.type, bits, to=result)

    def _comparison(self, i: Instruction, result: Value) -> None:
        form, found = _name(i.operands[0].type), list[Operand]()
        # Routines know no NaN of their own: unordered relations are negations of ordered ones (IEEE 754, section 5.11).
        for name, swapped, inverted in _SHAPES[i.operation]:
            given = i.operands[::-1] if swapped else i.operands
            found.append(
                self.emit(
                    "eq" if inverted else "ne", I1, self.call(f"{form}_{name}", I32, given), integer_constant(I32, 0)
                )
            )
        if len(found) == 1:
            self.emit("copy", I1, found[0], to=result)
        else:
            self.emit("and" if i.operation == "fueq" else "or", I1, *found, to=result)

    def _conversion(self, i: Instruction, result: Value) -> None:
        source, type = i.operands[0], result.type
        match i.operation:
            case "fneg":
                bits = self.emit("bitcast", _bits(type), source)
                # Negation is one bit, also of NaNs and zeros (IEEE 754, section 5.5.1).
                self._write_result(
                    result, self.emit("xor", _bits(type), bits, integer_constant(_bits(type), 1 << (type.bits - 1)))
                )
            case "fpext" | "fptrunc":
                self._write_result(result, self.call(f"{_name(source.type)}_{_name(type)}", type, [source]))
            case "sitofp" | "uitofp":
                signed = i.operation == "sitofp"
                # i64 holds all numbers of i32 and u32, and f64 all of them exactly: one routine serves both.
                whole = I64 if source.type == I64 or type == F64 else I32
                wide = source if source.type == whole else self.emit("sext" if signed else "zext", whole, source)
                self._write_result(
                    result, self.call(f"{'i' if signed else 'u'}{whole.bits}_{_name(type)}", type, [wide])
                )
            case _:
                whole = I64 if type == I64 or source.type == F64 else I32
                wide = self.call(f"{_name(source.type)}_i{whole.bits}", whole, [source])
                self.emit("copy" if type == whole else "trunc", type, wide, to=result)

    def _intrinsic(self, i: Instruction, result: Value) -> None:
        type = result.type
        integers, high = _bits(type), 1 << (type.bits - 1)
        if i.callee in ("minnum", "maxnum", "sqrt"):
            self._write_result(result, self.call(f"{_name(type)}_{i.callee.removesuffix('num')}", type, i.operands))
        elif i.callee in ("fabs", "copysign"):
            bits = [self.emit("bitcast", integers, o) for o in i.operands]
            size = self.emit("and", integers, bits[0], integer_constant(integers, high - 1))
            if i.callee == "copysign":
                sign = self.emit("and", integers, bits[1], integer_constant(integers, high))
                size = self.emit("or", integers, size, sign)
            self._write_result(result, size)
        else:
            raise self.library.refusal(i)


def _bits(type: Type) -> Type:
    return {F32: I32, F64: I64}.get(type, type)


def _name(type: Type) -> str:
    return "f32" if type == F32 else "f64"
