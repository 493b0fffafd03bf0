# SPDX-License-Identifier: Apache-2.0
"""Overflow arithmetic (`__builtin_add_overflow`): the operation, and a condition that tells of overflow.

A sum overflows where its sign differs from that of both operands, a difference where those differ and its own from the
first one's (Hacker's Delight, section 2-13). A product is computed twice as wide, or divided again.
"""

from __future__ import annotations

from typing import Final

from polyloom.frontend.c.llvm_text import Unsupported
from polyloom.frontend.c.llvm_widths import Emitter
from polyloom.ir.ssa import Operand, Value, integer_constant
from polyloom.ir.ssa_types import I1, I8, I16, I32, I64, Type

NAMES: Final = tuple(f"{sign}{name}.with.overflow" for sign in "su" for name in ("add", "sub", "mul"))
_WIDER: Final = {I8: I16, I16: I32, I32: I64}


def overflow_arithmetic(to: Emitter, name: str, operands: list[Operand]) -> tuple[Value, Operand]:
    """Result of an operation modulo 2^n, and whether the exact one differs (Hacker's Delight, section 2-13)."""
    a, b = operands
    if a.type not in (*_WIDER, I64):
        raise Unsupported("arithmetic that tells of overflow")
    is_signed, operation = name[0] == "s", name[1:4]
    if operation == "mul":
        return _product_overflow(to, a, b, is_signed)
    result = to.emit(operation, (a, b), "", a.type)
    # Unsigned: a sum that wrapped is less than its operands, a difference wraps where the first is less.
    if not is_signed:
        return result, to.emit("ult", (result, a) if operation == "add" else (a, b), "", I1)
    one = to.emit("xor", (a, result), "", a.type)
    other = to.emit("xor", (b, result) if operation == "add" else (a, b), "", a.type)
    both = to.emit("and", (one, other), "", a.type)
    return result, to.emit("slt", (both, integer_constant(a.type, 0)), "", I1)


def _product_overflow(to: Emitter, a: Operand, b: Operand, is_signed: bool) -> tuple[Value, Operand]:
    """Product, and whether it overflows: twice as wide where such a type exists, else by division of the product by an
    operand (Hacker's Delight, section 2-13).
    """
    type = a.type
    if type in _WIDER:
        wide, extension = _WIDER[type], "sext" if is_signed else "zext"
        x, y = (to.emit(extension, (each,), "", wide) for each in (a, b))
        whole = to.emit("mul", (x, y), "", wide)
        result = to.emit("trunc", (whole,), "", type)
        return result, to.emit("ne", (to.emit(extension, (result,), "", wide), whole), "", I1)
    result = to.emit("mul", (a, b), "", type)
    is_zero = _equality(to, b, 0, type)
    # Both sides of a select are computed: the divisor must not be 0, whatever is chosen then.
    safe: Operand = to.emit("select", (is_zero, integer_constant(type, 1), b), "", type)
    if not is_signed:
        back = to.emit("udiv", (result, safe), "", type)
        differs = to.emit("ne", (back, a), "", I1)
        return result, to.emit("select", (is_zero, integer_constant(I1, 0), differs), "", I1)
    # The least number divided by -1 has no quotient, and is the one whose negative overflows.
    is_negation = _equality(to, b, -1, type)
    safe = to.emit("select", (is_negation, integer_constant(type, 1), safe), "", type)
    differs = to.emit("ne", (to.emit("sdiv", (result, safe), "", type), a), "", I1)
    negated = to.emit("select", (is_negation, _equality(to, a, -(1 << 63), type), differs), "", I1)
    return result, to.emit("select", (is_zero, integer_constant(I1, 0), negated), "", I1)


def _equality(to: Emitter, value: Operand, number: int, type: Type) -> Value:
    return to.emit("eq", (value, integer_constant(type, number)), "", I1)
