# SPDX-License-Identifier: Apache-2.0
"""Legalization of integer intrinsics that an instruction set lacks, by shifts, masks and comparisons.

Bits are counted as in "Hacker's Delight" (Warren, 2nd edition, sections 5-1, 5-3 and 5-4).
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import I1, I32, I64, WIDTH, Type
from polyloom.riscv.backend.editor import Editor
from polyloom.riscv.names import Isa

_COMPARISONS: Final = {"smin": "slt", "smax": "sgt", "umin": "ult", "umax": "ugt"}


def _is_wide(type: Type, isa: Isa) -> bool:
    return type == I64 and isa.xlen == 32


def legalize_minmax(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Minimum, maximum, absolute value and unsigned saturating difference of i64 on RV32; others are in the select
    table.
    """
    a, b, result = instruction.operands[0], instruction.operands[-1], _result(instruction)
    if not _is_wide(result.type, isa):
        return False
    zero = integer_constant(result.type, 0)
    match instruction.callee:
        case "abs":
            negative = editor.make("slt", I1, a, zero)
            editor.make("select", result.type, negative, editor.make("sub", result.type, zero, a), a, to=result)
        case "usub.sat":
            below = editor.make("ult", I1, a, b)
            editor.make("select", result.type, below, zero, editor.make("sub", result.type, a, b), to=result)
        case name:
            editor.make("select", result.type, editor.make(_COMPARISONS[name], I1, a, b), a, b, to=result)
    return True


def legalize_saturating(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Saturating addition and subtraction, with overflow by signs (Hacker's Delight, chapter 2, "Overflow Detection").

    A signed sum overflows where its sign differs from that of both operands, a difference where those differ and its
    own from a's.
    """
    del isa
    (a, b), result = instruction.operands, _result(instruction)
    type, width = result.type, WIDTH[result.type]
    if instruction.callee == "uadd.sat":
        total = editor.make("add", type, a, b)
        # An unsigned sum is less than its operand exactly if it has wrapped.
        editor.make("select", type, editor.make("ult", I1, total, a), integer_constant(type, -1), total, to=result)
        return True
    is_sum = instruction.callee == "sadd.sat"
    total = editor.make("add" if is_sum else "sub", type, a, b)
    signs = editor.make(
        "and", type, editor.make("xor", type, a, total), editor.make("xor", type, b, total if is_sum else a)
    )
    over = editor.make("slt", I1, signs, integer_constant(type, 0))
    # The bound on the side of a's sign: the largest number is all ones but the top, xor -1 it is the smallest.
    sign = editor.make("ashr", type, a, integer_constant(type, width - 1))
    limit = editor.make("xor", type, sign, integer_constant(type, (1 << width - 1) - 1))
    editor.make("select", type, over, limit, total, to=result)
    return True


def legalize_bit_counts(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Population count, leading and trailing zeros (Hacker's Delight, sections 5-1, 5-3 and 5-4). Narrow operands are
    counted in words.
    """
    a, result, callee = instruction.operands[0], _result(instruction), instruction.callee
    type, width = result.type, WIDTH[result.type]
    if width < 32:
        wide: Operand = editor.make("zext", I32, a)
        if callee == "cttz":
            # A bit above the operand: of zero, the number of trailing zeros is the width.
            wide = editor.make("or", I32, wide, integer_constant(I32, 1 << width))
        count = editor.make("call", I32, wide, callee=callee)
        if callee == "ctlz":
            # The zeros that the extension has put above the operand do not count.
            count = editor.make("sub", I32, count, integer_constant(I32, 32 - width))
        editor.make("trunc", type, count, to=result)
        return True
    if _is_wide(type, isa):
        _count_words(editor, callee, a, result)
        return True
    if "zbb" in isa.extensions:
        return False
    match callee:
        case "ctpop":
            _population_count(editor, a, result, isa)
        case "cttz":  # the ones below the lowest one
            below = editor.make("sub", type, a, integer_constant(type, 1))
            zeros = editor.make("xor", type, a, integer_constant(type, -1))
            _population_count(editor, editor.make("and", type, zeros, below), result, isa)
        case _:  # the zeros above the highest one
            # The highest one is smeared to the right; what is left as zeros are the leading ones.
            for step in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:
                a = editor.make("or", type, a, editor.make("lshr", type, a, integer_constant(type, step)))
            _population_count(editor, editor.make("xor", type, a, integer_constant(type, -1)), result, isa)
    return True


def _count_words(editor: Editor, callee: str, a: Operand, result: Value) -> None:
    """Bit count of an i64 on RV32: of both words, or of the one where the first one is found."""
    high = editor.make("trunc", I32, editor.make("lshr", I64, a, integer_constant(I64, 32)))
    low = editor.make("trunc", I32, a)
    if callee == "ctpop":
        ones = (editor.make("call", I32, word, callee=callee) for word in (low, high))
        editor.make("zext", I64, editor.make("add", I32, *ones), to=result)
        return
    near, far = (high, low) if callee == "ctlz" else (low, high)
    none = editor.make("eq", I1, near, integer_constant(I32, 0))
    count = editor.make("call", I32, editor.make("select", I32, none, far, near), callee=callee)
    # 32 more where the nearer word is zero.
    before = editor.make("shl", I32, editor.make("zext", I32, none), integer_constant(I32, 5))
    editor.make("zext", I64, editor.make("add", I32, count, before), to=result)


def _population_count(editor: Editor, a: Operand, result: Value, isa: Isa) -> None:
    """Population count: sums of neighbouring fields, of twice the width each time, until bytes hold them; these are
    summed by a product where there is one (Hacker's Delight, section 5-1).
    """
    type, width = result.type, WIDTH[result.type]

    def logical_shift(a: Operand, k: int) -> Value:
        return editor.make("lshr", type, a, integer_constant(type, k))

    # A pair of bits minus the upper one of them is their number.
    a = editor.make("sub", type, a, editor.make("and", type, logical_shift(a, 1), _field_mask(type, 1)))
    low, high = (editor.make("and", type, each, _field_mask(type, 2)) for each in (a, logical_shift(a, 2)))
    a = editor.make("add", type, low, high)
    a = editor.make("and", type, editor.make("add", type, a, logical_shift(a, 4)), _field_mask(type, 4))
    if "m" in isa.extensions:
        # A product by 0x0101...01 sums all bytes into the top one.
        ones = integer_constant(type, ((1 << width) - 1) // 255)
        editor.make("lshr", type, editor.make("mul", type, a, ones), integer_constant(type, width - 8), to=result)
        return
    for k in (8, 16, 32)[: width.bit_length() - 4]:
        a = editor.make("add", type, a, logical_shift(a, k))
    editor.make("and", type, a, integer_constant(type, 2 * width - 1), to=result)


def _field_mask(type: Type, k: int) -> Constant:
    """Mask with ones in every second group of k bits, from the lowest on."""
    return integer_constant(type, ((1 << WIDTH[type]) - 1) // ((1 << 2 * k) - 1) * ((1 << k) - 1))


def legalize_wide_shift(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Shift of an i64 by a variable amount on RV32 (double-length shift, Hacker's Delight, chapter 2).

    A shift by n from 32 on moves one word by n - 32, and n modulo 32 is the same. Bits from one word to the other are
    moved by one and by 31 - n, so that no shift is by 32.
    """
    (a, amount), result = instruction.operands, _result(instruction)
    if not _is_wide(result.type, isa) or isinstance(amount, Constant):
        return False
    make = editor.make
    low, high = make("trunc", I32, a), make("trunc", I32, make("lshr", I64, a, integer_constant(I64, 32)))
    n = make("trunc", I32, amount)
    near = make("and", I32, n, integer_constant(I32, 31))
    rest = make("and", I32, make("xor", I32, n, integer_constant(I32, -1)), integer_constant(I32, 31))
    far = make("ne", I1, make("and", I32, n, integer_constant(I32, 32)), integer_constant(I32, 0))
    left = instruction.operation == "shl"
    source, other = (low, high) if left else (high, low)
    back, one = ("lshr" if left else "shl"), integer_constant(I32, 1)
    moved = make(instruction.operation, I32, source, near)
    carried = make(back, I32, make(back, I32, source, one), rest)
    kept = make("or", I32, make("shl" if left else "lshr", I32, other, near), carried)
    filled = (
        make("ashr", I32, high, integer_constant(I32, 31))
        if instruction.operation == "ashr"
        else integer_constant(I32, 0)
    )
    first, second = make("select", I32, far, filled, moved), make("select", I32, far, moved, kept)
    words = (first, second) if left else (second, first)
    wide = [make("zext", I64, word) for word in words]
    make("or", I64, wide[0], make("shl", I64, wide[1], integer_constant(I64, 32)), to=result)
    return True


def legalize_byte_swap(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Byte swap: neighbouring bytes, then halves, then words are exchanged (Hacker's Delight, section 7-1)."""
    a, result = instruction.operands[0], _result(instruction)
    type, width = result.type, WIDTH[result.type]
    if "zbb" in isa.extensions and width >= 32 and not _is_wide(type, isa):
        return False
    steps = [k for k in (8, 16, 32) if k < width]
    for k in steps:
        kept = _field_mask(type, k)
        up = editor.make("shl", type, editor.make("and", type, a, kept), integer_constant(type, k))
        down = editor.make("and", type, editor.make("lshr", type, a, integer_constant(type, k)), kept)
        a = editor.make("or", type, up, down, to=result if k == steps[-1] else None)
    return True


def legalize_funnel_shift(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    """Funnel shift: fshl(a, b, c) = a << c | b >> 1 >> (w - 1 - c), for c below the width w, so that no shift is by
    w."""
    (a, b, amount), result = instruction.operands, _result(instruction)
    type, width = result.type, WIDTH[result.type]
    if is_rotation(instruction, isa):
        return False
    left = instruction.callee == "fshl"
    if width == 1:
        editor.make("copy", type, a if left else b, to=result)
        return True
    near: Operand
    if isinstance(amount, Constant):
        near, far = (
            integer_constant(type, amount.value % width),
            integer_constant(type, width - 1 - amount.value % width),
        )
    else:
        # LLVM's funnel shifts take the amount modulo the width.
        near = editor.make("and", type, amount, integer_constant(type, width - 1))
        far = editor.make("xor", type, near, integer_constant(type, width - 1))
    one = integer_constant(type, 1)
    if left:
        high = editor.make("shl", type, a, near)
        low = editor.make("lshr", type, editor.make("lshr", type, b, one), far)
    else:
        high = editor.make("shl", type, editor.make("shl", type, a, one), far)
        low = editor.make("lshr", type, b, near)
    editor.make("or", type, high, low, to=result)
    return True


def is_rotation(instruction: Instruction, isa: Isa) -> bool:
    """Whether Zbb has it: a rotation of a word or of a whole register."""
    a, b, _ = instruction.operands
    type = _result(instruction).type
    return a == b and "zbb" in isa.extensions and (type == I32 or WIDTH[type] == isa.xlen)


def _result(instruction: Instruction) -> Value:
    assert instruction.result is not None
    return instruction.result
