# SPDX-License-Identifier: Apache-2.0
"""Legalization of multiplication and division: without M, and the division of 64-bit integers on RV32.

Without M one bit per step, by shift and subtract (Hacker's Delight, section 9-4). With M, quotients of 64 bits come
from a routine (division.txt) that becomes a function of the program. A division by zero, which C leaves undefined, ends
too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from polyloom.ir.ssa import Function, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_types import I1, I32, I64, WIDTH
from polyloom.riscv.backend.editor import Editor
from polyloom.riscv.names import Isa


def legalize_division(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Rule for mul, sdiv, udiv, srem, urem."""
    assert instruction.result is not None
    is_wide = instruction.result.type == I64 and isa.xlen == 32
    if instruction.result.type == I1:
        _single_bits(editor, instruction, instruction.result)
        return True
    if "m" in isa.extensions and (not is_wide or instruction.operation == "mul"):
        return False
    (a, b), result = instruction.operands, instruction.result
    if instruction.operation == "mul":
        _multiply(editor, a, b, result)
    elif is_wide and "m" in isa.extensions and instruction.operation == "udiv":
        editor.make("call", I64, a, b, to=result, callee=f"@{editor.division}")
    # The remainder by the quotient: one routine serves both.
    elif is_wide and "m" in isa.extensions and instruction.operation == "urem":
        quotient = editor.make("udiv", I64, a, b)
        editor.make("sub", I64, a, editor.make("mul", I64, quotient, b), to=result)
    elif instruction.operation in ("udiv", "urem"):
        _unsigned_division(editor, a, b, instruction.operation == "udiv", result)
    else:
        _signed_division(editor, a, b, instruction.operation == "sdiv", result)
    return True


@cache
def division_routine() -> Function:
    """Runtime routine: the quotient of unsigned 64-bit integers."""
    return read(files("polyloom.riscv.backend").joinpath("division.txt").read_text(encoding="utf-8"))


def _single_bits(editor: Editor, instruction: Instruction, result: Value) -> None:
    """Products and quotients of single bits: the only divisor is 1."""
    a, b = instruction.operands
    if instruction.operation == "mul":
        editor.make("and", I1, a, b, to=result)
    else:
        editor.make("copy", I1, a if instruction.operation.endswith("div") else integer_constant(I1, 0), to=result)


def _multiply(editor: Editor, a: Operand, b: Operand, result: Value) -> None:
    """Shift-and-add multiplication: the sum of a shifted to where b has ones."""
    type = result.type
    zero, one = integer_constant(type, 0), integer_constant(type, 1)

    def body(variables: Sequence[Value]) -> tuple[Operand, Sequence[Operand]]:
        shifted, rest, total = variables
        # All ones where the bit is set: no branch, hence the same time for all operands of one length.
        mask = editor.make("sub", type, zero, editor.make("and", type, rest, one))
        summed = editor.make("add", type, total, editor.make("and", type, shifted, mask))
        less = editor.make("lshr", type, rest, one)
        return editor.make("ne", I1, less, zero), (editor.make("shl", type, shifted, one), less, summed)

    editor.make("copy", type, editor.repeat((a, b, zero), body)[2], to=result)


def _unsigned_division(editor: Editor, a: Operand, b: Operand, is_quotient: bool, result: Value) -> None:
    """Restoring division: the dividend moves bit by bit into the remainder, and the quotient's bits follow it (Hacker's
    Delight, section 9-4).
    """
    type, width = result.type, WIDTH[result.type]
    one, top = integer_constant(type, 1), integer_constant(type, width - 1)

    def body(variables: Sequence[Value]) -> tuple[Operand, Sequence[Operand]]:
        rest, quotient, count = variables
        # The top bit leaves the register when the remainder is shifted. With it set the remainder exceeds every
        # divisor.
        lost = editor.make("slt", I1, rest, integer_constant(type, 0))
        moved = editor.make("or", type, editor.make("shl", type, rest, one), editor.make("lshr", type, quotient, top))
        fits = editor.make("or", I1, lost, editor.make("uge", I1, moved, b))
        bit = editor.make("zext", type, fits)
        mask = editor.make("sub", type, integer_constant(type, 0), bit)
        less = editor.make("sub", type, moved, editor.make("and", type, b, mask))
        more = editor.make("or", type, editor.make("shl", type, quotient, one), bit)
        left = editor.make("sub", I32, count, integer_constant(I32, 1))
        return editor.make("ne", I1, left, integer_constant(I32, 0)), (less, more, left)

    rest, quotient, _ = editor.repeat((integer_constant(type, 0), a, integer_constant(I32, width)), body)
    editor.make("copy", type, quotient if is_quotient else rest, to=result)


def _signed_division(editor: Editor, a: Operand, b: Operand, is_quotient: bool, result: Value) -> None:
    """Signed division by absolute values; the quotient has the sign of a ^ b, the remainder that of a (C11, section
    6.5.5: truncation towards zero).
    """
    type = result.type
    top = integer_constant(type, WIDTH[type] - 1)

    def negate_by_sign(x: Operand, sign: Operand, to: Value | None = None) -> Value:
        """-x where the sign is -1, x where it is 0."""
        return editor.make("sub", type, editor.make("xor", type, x, sign), sign, to=to)

    # 0 or -1: (x ^ s) - s is then x or -x. Division by 0 gives all ones and the dividend, as in the M extension.
    sign_a, sign_b = editor.make("ashr", type, a, top), editor.make("ashr", type, b, top)
    found = editor.make("udiv" if is_quotient else "urem", type, negate_by_sign(a, sign_a), negate_by_sign(b, sign_b))
    negate_by_sign(found, editor.make("xor", type, sign_a, sign_b) if is_quotient else sign_a, result)
