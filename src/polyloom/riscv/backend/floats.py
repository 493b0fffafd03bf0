# SPDX-License-Identifier: Apache-2.0
"""Selection of floating-point operations, in registers of the f bank (RISC-V unprivileged manual, "F" and "D"
extensions).
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.ssa import Constant, Instruction, float_value
from polyloom.ir.ssa_types import F32, F64, FLOATS, I1, I8, I16, I32, I64, Type
from polyloom.riscv.backend.build import TOWARDS_ZERO
from polyloom.riscv.backend.code import Reg
from polyloom.riscv.backend.context import Context

SUFFIX: Final[dict[Type, str]] = {F32: "s", F64: "d"}
_COMPARISONS: Final[dict[str, tuple[str, bool, bool]]] = {
    "foeq": ("feq", False, False),
    "folt": ("flt", False, False),
    "fole": ("fle", False, False),
    "fogt": ("flt", True, False),
    "foge": ("fle", True, False),
    "fune": ("feq", False, True),
    "fuge": ("flt", False, True),
    "fugt": ("fle", False, True),
    "fule": ("flt", True, True),
    "fult": ("fle", True, True),
}
"""By operation: instruction, whether operands are exchanged, whether the result is inverted. NaNs give false."""
_NAMES: Final = {"fneg": "fneg", "fabs": "fabs", "sqrt": "fsqrt", "copysign": "fsgnj", "fma": "fmadd"}


def arithmetic(context: Context, instruction: Instruction) -> Reg:
    """Selection of an operation of `ssa.FLOATING`, of a sign, a root, or a fused sum."""
    assert instruction.result is not None
    suffix = SUFFIX[instruction.result.type]
    operands = [context.reg(operand) for operand in instruction.operands]
    name = instruction.callee or instruction.operation
    return context.b.make(f"{_NAMES.get(name, name)}.{suffix}", *operands)


def compare(context: Context, instruction: Instruction) -> Reg:
    """Selection of an operation of `ssa.FLOAT_COMPARISONS`, as 0 or 1."""
    made, is_inverted = test(context, instruction)
    return context.b.make("xori", made, 1) if is_inverted else made


def test(context: Context, instruction: Instruction) -> tuple[Reg, bool]:
    """Floating-point comparison: a register that is 0 or 1, and whether it is the inverse of what is asked for.

    feq, flt and fle give 0 where an operand is a NaN (RISC-V unprivileged manual, "Single-Precision Floating-Point
    Compare Instructions"): unordered comparisons are inverses of ordered ones.
    """
    operation, suffix = instruction.operation, SUFFIX[instruction.operands[0].type]
    a, b = (context.reg(operand) for operand in instruction.operands)
    make = context.b.make
    if operation in ("ford", "funo"):
        # A NaN is the only value that does not equal itself.
        return make("and", make(f"feq.{suffix}", a, a), make(f"feq.{suffix}", b, b)), operation == "funo"
    if operation in ("fone", "fueq"):
        # Ordered and unequal: less or greater. A NaN makes both false.
        return make("or", make(f"flt.{suffix}", a, b), make(f"flt.{suffix}", b, a)), operation == "fueq"
    mnemonic, is_exchanged, is_inverted = _COMPARISONS[operation]
    return make(f"{mnemonic}.{suffix}", *((b, a) if is_exchanged else (a, b))), is_inverted


def cast(context: Context, instruction: Instruction) -> tuple[Reg, ...]:
    """Selection of a conversion from a float or to one. To integers it truncates (C11, section 6.3.1.4)."""
    assert instruction.result is not None
    value, source, target = instruction.operands[0], instruction.operands[0].type, instruction.result.type
    make = context.b.make
    match instruction.operation:
        case "fptrunc":
            return (make("fcvt.s.d", context.reg(value)),)
        case "fpext":
            return (make("fcvt.d.s", context.reg(value)),)
        case "fptosi" | "fptoui" as operation:
            return (
                make(f"fcvt.{_integer_suffix(target, operation)}.{SUFFIX[source]}", context.reg(value), TOWARDS_ZERO),
            )
        case "sitofp" | "uitofp" as operation:
            return (
                make(
                    f"fcvt.{SUFFIX[target]}.{_integer_suffix(source, operation)}",
                    _extend_operand(context, operation, instruction),
                ),
            )
        case _:
            return _bitcast(context, instruction)


def _integer_suffix(type: Type, operation: str) -> str:
    """Integer's letter in the mnemonic of a conversion: w, wu, l or lu. A narrow one fits into a signed word."""
    unsigned = "u" if operation in ("fptoui", "uitofp") and type in (I32, I64) else ""
    return ("l" if type == I64 else "w") + unsigned


def _extend_operand(context: Context, operation: str, instruction: Instruction) -> Reg:
    """Operand of a conversion to a float, extended by its own sign."""
    value = instruction.operands[0]
    register = context.reg(value)
    if value.type == I1:
        # A signed single bit is 0 or -1.
        # 0 - 1 is -1, as C's one-bit signed field has it; 0 stays.
        return context.b.make("neg", register) if operation == "sitofp" else register
    return context.unsigned(value.type, register) if operation == "uitofp" and value.type in (I8, I16) else register


def _bitcast(context: Context, instruction: Instruction) -> tuple[Reg, ...]:
    """Bitcast between banks; on RV32 one of 64 bits goes through memory."""
    assert instruction.result is not None
    value, source, target = instruction.operands[0], instruction.operands[0].type, instruction.result.type
    # A float of the same bits: it is not moved through an x register. NaNs differ from themselves, and take the general
    # way.
    if (
        isinstance(value, Constant)
        and source in FLOATS
        and float_value(value) == float_value(value)
        and target in FLOATS
    ):
        return (context.reg(value),)
    make, put = context.b.make, context.b.put
    match str(source), str(target):
        case "f32", "i32":
            return (make("fmv.x.w", context.reg(value)),)
        case "i32", "f32":
            return (make("fmv.w.x", context.reg(value)),)
        case "f64", "i64" if context.isa.xlen == 64:
            return (make("fmv.x.d", context.reg(value)),)
        case "i64", "f64" if context.isa.xlen == 64:
            return (make("fmv.d.x", context.reg(value)),)
        case "f64", "i64":
            place = context.scratch_address()
            put("fsd", context.reg(value), 0, place)
            return make("lw", 0, place), make("lw", 4, place)
        case "i64", "f64":
            low, high = context.pair(value)
            place = context.scratch_address()
            put("sw", low, 0, place)
            put("sw", high, 4, place)
            return (make("fld", 0, place),)
        case _:
            return context.parts(value)
