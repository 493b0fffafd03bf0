# SPDX-License-Identifier: Apache-2.0
"""Selection of integer arithmetic and conversions in one register (RISC-V unprivileged manual, RV32I, RV64I, "M" and
Zbb).
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Operand, Value
from polyloom.ir.ssa_types import I1, I32, WIDTH, Type
from polyloom.riscv.backend.code import Reg
from polyloom.riscv.backend.context import Context

_NAMES: Final = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "sdiv": "div",
    "udiv": "divu",
    "srem": "rem",
    "urem": "remu",
    "shl": "sll",
    "lshr": "srl",
    "ashr": "sra",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
_LOGIC: Final = ("and", "or", "xor")
_UNSIGNED: Final = ("udiv", "urem", "lshr")
_SHIFTS: Final = ("shl", "lshr", "ashr")
_EXACT: Final = ("and", "or", "xor", "ashr", "sdiv", "srem")
"""Operations whose result is held as it must be where the operands are."""
_IMMEDIATE: Final = {
    "add": "addi",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
    "shl": "slli",
    "lshr": "srli",
    "ashr": "srai",
}
_COUNTS: Final = {"ctpop": "cpop", "ctlz": "clz", "cttz": "ctz"}


def arithmetic(context: Context, instruction: Instruction) -> Reg:
    """Selection of an operation of `ssa.ARITHMETIC`. Immediates, word forms and complemented operands are used where
    they exist.
    """
    assert instruction.result is not None
    operation, type = instruction.operation, instruction.result.type
    a, b = instruction.operands
    # There is no `subi`.
    # -2048 has no counterpart among immediates; `immediate` refuses 2048 then.
    if operation == "sub" and isinstance(b, Constant):
        operation, b = "add", Constant(type, -b.value)
    # Immediates are second operands: commutative operations exchange theirs.
    if isinstance(a, Constant) and operation in ("add", "mul", *_LOGIC):
        a, b = b, a
    # Words on RV64: the word forms sign-extend their result (RISC-V unprivileged manual, RV64I); logic keeps the
    # extension by itself.
    word = "w" if type == I32 and context.isa.xlen == 64 and operation not in _LOGIC else ""
    if (
        context.has("zbb")
        and operation in _LOGIC
        and isinstance(b, Value)
        and (found := _select_complement(context, operation, a, b)) is not None
    ):
        return found
    if operation in _SHIFTS:
        b = _shift_amount(context, type, b)
    # Narrow values are held sign-extended: unsigned operations need zeros above them first.
    narrow = WIDTH[type] < 32
    left = context.unsigned(type, context.reg(a)) if narrow and operation in _UNSIGNED else context.reg(a)
    if operation in _IMMEDIATE and (k := context.immediate(b)) is not None:
        made = context.b.make(_IMMEDIATE[operation] + word, left, k)
    else:
        right = context.unsigned(type, context.reg(b)) if narrow and operation in ("udiv", "urem") else context.reg(b)
        made = context.b.make(_NAMES[operation] + word, left, right)
    loose = not narrow or operation in _EXACT or instruction.result.name in context.loose
    return made if loose else context.canonical(type, made)


def _shift_amount(context: Context, type: Type, amount: Operand) -> Operand:
    """Shift amount without a mask of its low bits: shifts read log2(XLEN) bits only (RISC-V unprivileged manual,
    "Integer Register-Register Operations").
    """
    whole, mask = context.masked.get(amount.name, (amount, 0)) if isinstance(amount, Value) else (amount, 0)
    bits = (32 if type == I32 else context.isa.xlen) - 1
    return whole if mask & bits == bits else amount


def _select_complement(context: Context, operation: str, a: Operand, b: Operand) -> Reg | None:
    """andn, orn and xnor of Zbb, where an operand was made by `xor x, -1`."""
    for kept, other in ((a, b), (b, a)):
        inverse = context.inverses.get(other.name) if isinstance(other, Value) else None
        if inverse is not None:
            return context.b.make(
                {"and": "andn", "or": "orn", "xor": "xnor"}[operation], context.reg(kept), context.reg(inverse)
            )
    return None


def cast(context: Context, instruction: Instruction) -> Reg:
    """Selection of a conversion between integers, or of an address."""
    assert instruction.result is not None
    value, source, target = instruction.operands[0], instruction.operands[0].type, instruction.result.type
    register = context.reg(value)
    match instruction.operation:
        case "zext":
            return register if source == I1 or _is_unsigned(context, value) else context.unsigned(source, register)
        case "sext":
            return sign_extend(context, value)
        case "trunc":
            return register if instruction.result.name in context.loose else context.canonical(target, register)
        case _:
            return register


def sign_extend(context: Context, value: Operand) -> Reg:
    """Sign extension of a value to its register; values that are not loose are extended already."""
    if value.type == I1:
        return context.b.make("neg", context.reg(value))
    is_loose = isinstance(value, Value) and value.name in context.loose
    return context.canonical(value.type, context.reg(value)) if is_loose else context.reg(value)


def _is_unsigned(context: Context, value: Operand) -> bool:
    """Whether the register holds zeros above the value's bits."""
    if not isinstance(value, Value):
        return False
    _, mask = context.masked.get(value.name, (value, -1))
    return value.name in context.zero_extended or mask >= 0


def count_bits(context: Context, callee: str, type: Type, operand: Operand) -> Reg:
    """Population count, leading and trailing zeros by Zbb. Narrow operands are legalized before."""
    word = "w" if type == I32 and context.isa.xlen == 64 else ""
    return context.b.make(_COUNTS[callee] + word, context.reg(operand))


def swap_bytes(context: Context, type: Type, operand: Operand) -> Reg:
    """Byte swap by rev8, of a word or of a register."""
    # rev8 swaps the whole register: on RV64 the word arrives in the upper half.
    made = context.b.make("rev8", context.reg(operand))
    return context.b.make("srai", made, 32) if type == I32 and context.isa.xlen == 64 else made


def rotate(context: Context, instruction: Instruction) -> Reg:
    """Rotation by Zbb: fshl and fshr of a value with itself. A left rotation by a constant is a right one by the rest:
    there is no roli.
    """
    assert instruction.result is not None
    a, _, amount = instruction.operands
    width, left = WIDTH[instruction.result.type], instruction.callee == "fshl"
    word = "w" if width < context.isa.xlen else ""
    if isinstance(amount, Constant):
        return context.b.make("rori" + word, context.reg(a), (-amount.value if left else amount.value) % width)
    return context.b.make(("rol" if left else "ror") + word, context.reg(a), context.reg(amount))
