# SPDX-License-Identifier: Apache-2.0
"""Legalization of `minnum` and `maxnum` by comparisons, and of conversions between floats and 64-bit integers on RV32.

fmin.s would take the smaller of two zeros (RISC-V unprivileged manual, "F" extension); `minnum` takes the first of two
equal numbers, as everywhere in this package.
"""

from __future__ import annotations

from polyloom.ir.ssa import Instruction, Operand, Value, float_constant, integer_constant
from polyloom.ir.ssa_types import F32, F64, I1, I32, I64, Type
from polyloom.riscv.backend.editor import Editor
from polyloom.riscv.names import Isa


def legalize_minnum(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Rule for minnum and maxnum: b where a is no number or b is beyond it, else a (IEEE 754-2008, section 5.3.1, but
    for zeros).
    """
    del isa
    (a, b), result = instruction.operands, instruction.result
    assert result is not None
    beyond = editor.make("folt" if instruction.callee == "minnum" else "fogt", I1, b, a)
    taken = editor.make("or", I1, beyond, editor.make("funo", I1, a, a))
    editor.make("select", result.type, taken, b, a, to=result)
    return True


def legalize_conversion(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Rule for conversions of i64, where registers have 32 bits. Singles go through doubles, which need D."""
    value, result = instruction.operands[0], instruction.result
    assert result is not None
    if isa.xlen == 64 or I64 not in (value.type, result.type):
        return False
    if instruction.operation in ("sitofp", "uitofp"):
        _to_float(editor, value, instruction.operation, result)
    else:
        _to_integer(editor, value, instruction.operation, result)
    return True


def _to_float(editor: Editor, value: Operand, operation: str, result: Value) -> None:
    """Conversion of an i64 to a float: high * 2**32 + low in doubles, in which only the sum is rounded.

    A single would be rounded twice: so bits that a double does not hold are first made one that is set where any of
    them is (rounding to odd: Boldo and Melquiond 2008).
    """
    if result.type == F32:
        value = _sticky(editor, value, operation)
    half = editor.make("lshr", I64, value, integer_constant(I64, 32))
    high = editor.make(operation, F64, editor.make("trunc", I32, half))
    low = editor.make("uitofp", F64, editor.make("trunc", I32, value))
    scaled = editor.make("fmul", F64, high, float_constant(F64, 2.0**32))
    total = editor.make("fadd", F64, scaled, low, to=result if result.type == F64 else None)
    if result.type == F32:
        editor.make("fptrunc", F32, total, to=result)


def _sticky(editor: Editor, value: Operand, operation: str) -> Operand:
    """Rounding to odd: the value where a double holds it, else with its eleven low bits made one (Boldo and Melquiond
    2008).
    """
    type: Type = I64
    if operation == "sitofp":
        # One unsigned comparison for -2^53 <= value < 2^53.
        near = editor.make("add", type, value, integer_constant(type, 1 << 53))
        small = editor.make("ult", I1, near, integer_constant(type, 1 << 54))
    else:
        small = editor.make("ult", I1, value, integer_constant(type, 1 << 53))
    low = editor.make("and", type, value, integer_constant(type, 0x7FF))
    # The sum carries into bit 11 exactly if one of the low bits is set.
    carried = editor.make("add", type, low, integer_constant(type, 0x7FF))
    odd = editor.make("and", type, editor.make("or", type, value, carried), integer_constant(type, ~0x7FF))
    return editor.make("select", type, small, value, odd)


def _to_integer(editor: Editor, value: Operand, operation: str, result: Value) -> None:
    """Conversion of a float to an i64: the words of the absolute value, which doubles hold exactly; then the sign."""
    wide = editor.make("fpext", F64, value) if value.type == F32 else value
    # Both words are unsigned then, and the truncation is towards zero for either sign.
    size = editor.make("call", F64, wide, callee="fabs")
    # A multiplication by a power of two is exact, and the conversion truncates.
    high = editor.make("fptoui", I32, editor.make("fmul", F64, size, float_constant(F64, 2.0**-32)))
    above = editor.make("fmul", F64, editor.make("uitofp", F64, high), float_constant(F64, 2.0**32))
    low = editor.make("fptoui", I32, editor.make("fsub", F64, size, above))
    upper = editor.make("shl", I64, editor.make("zext", I64, high), integer_constant(I64, 32))
    whole = editor.make("or", I64, upper, editor.make("zext", I64, low), to=result if operation == "fptoui" else None)
    if operation == "fptosi":
        negative = editor.make("folt", I1, wide, float_constant(F64, 0.0))
        editor.make("select", I64, negative, editor.make("sub", I64, integer_constant(I64, 0), whole), whole, to=result)
