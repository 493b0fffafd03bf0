# SPDX-License-Identifier: Apache-2.0
"""Constant folding and algebraic identities of scalars: what an instruction's result is already, or a shorter
instruction for it.

Integers alone: an identity of floats would have to keep NaNs and the signs of zeros. What would be undefined is left
as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import (
    ARITHMETIC,
    CASTS,
    COMPARISONS,
    Constant,
    Instruction,
    Operand,
    Undef,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_semantics import Undefined, arithmetic, compare, convert_value, unsigned
from polyloom.ir.ssa_types import I1, INTEGERS, PTR, Type
from polyloom.transform.ssa.comparison_folding import NEGATED, Makers, simplify_comparison

COMMUTATIVE: Final = ("add", "mul", "and", "or", "xor")
_EXTENSIONS: Final = ("sext", "zext")


def fold_constants(instruction: Instruction) -> Constant | None:
    """Constant folding (Muchnick 1997, section 12.1): the result of integer arithmetic, a comparison, a conversion or a
    select of constants; None where it is undefined or something else.
    """
    constants = [o for o in instruction.operands if isinstance(o, Constant)]
    if len(constants) != len(instruction.operands) or not constants or len(instruction.results) != 1:
        return None
    type, first, values = instruction.results[0].type, constants[0].type, [c.value for c in constants]
    try:
        match instruction.operation:
            case operation if operation in ARITHMETIC and type in INTEGERS:
                return Constant(type, arithmetic(operation, type, values[0], values[1], instruction.flags))
            case operation if operation in COMPARISONS and first in (*INTEGERS, PTR):
                return Constant(type, compare(operation, first, values[0], values[1]))
            case operation if operation in CASTS and first in INTEGERS and type in INTEGERS:
                return integer_constant(type, int(convert_value(operation, first, type, values[0])))
            case _:
                return None
    except Undefined:
        return None


def simplify_instruction(instruction: Instruction, makers: Makers) -> Operand | Instruction | None:
    """Algebraic simplification (Muchnick 1997, section 12.3): the operand that the result equals, a cheaper
    instruction, or None where none is known.
    """
    if len(instruction.results) != 1:
        return None
    type = instruction.results[0].type
    if (constant := fold_constants(instruction)) is not None:
        return constant
    if instruction.operation == "copy":
        return instruction.operands[0]
    if instruction.operation == "select":
        return _select(instruction)
    if instruction.operation == "offset":
        return _offset(instruction, makers)
    if instruction.operation in _RULES and instruction.operands[0].type in INTEGERS:
        return _RULES[instruction.operation](instruction, type, makers)
    if instruction.operation in COMPARISONS and instruction.operands[0].type in (*INTEGERS, PTR):
        return simplify_comparison(instruction, makers)
    return None


def _canonical(instruction: Instruction) -> Instruction:
    """With a constant last."""
    a, b = instruction.operands
    if isinstance(a, Constant) and not isinstance(b, Constant) and instruction.operation in COMMUTATIVE:
        return replace(instruction, operands=(b, a))
    return instruction


def _difference(old: Instruction, new: Instruction) -> Instruction | None:
    return new if new != old else None


def _ring(instruction: Instruction, type: Type, makers: Makers) -> Operand | Instruction | None:
    found = _canonical(instruction)
    a, b = found.operands
    if found.operation == "sub" and a == b and not isinstance(a, Undef):
        return integer_constant(type, 0)
    if not isinstance(b, Constant):
        return _difference(instruction, found)
    number = b.value
    match found.operation:
        case "add" | "sub" if number == 0:
            return a
        case "sub":
            # One form for both, so that sums are found to be alike.
            return Instruction("add", (a, integer_constant(type, -number)), found.results, place=found.place)
        # In I1 this is also a conjunction with true.
        case "mul" if number == 1:
            return a
        case "mul" if number == 0:
            return b
        case "mul" if (bits := unsigned(type, number)) & (bits - 1) == 0 and type != I1:
            shift = integer_constant(type, bits.bit_length() - 1)
            return replace(found, operation="shl", operands=(a, shift), flags=())
        case _:
            return _reassociate_constants(found, type, makers) or _difference(instruction, found)


def _reassociate_constants(instruction: Instruction, type: Type, makers: Makers) -> Instruction | None:
    """(x + a) + b is x + (a + b), exact modulo the width; so are products, masks and complements."""
    a, b = instruction.operands
    inner = makers.get(a.name) if isinstance(a, Value) else None
    if inner is None or inner.operation != instruction.operation or not isinstance(b, Constant):
        return None
    known = inner.operands[1]
    if not isinstance(known, Constant):
        return None
    return replace(
        instruction,
        operands=(inner.operands[0], Constant(type, arithmetic(instruction.operation, type, known.value, b.value))),
        flags=(),
    )


def _bitwise(instruction: Instruction, type: Type, makers: Makers) -> Operand | Instruction | None:
    found = _canonical(instruction)
    a, b = found.operands
    if a == b and not isinstance(a, Undef):
        return integer_constant(type, 0) if found.operation == "xor" else a
    if not isinstance(b, Constant):
        return _difference(instruction, found)
    every = integer_constant(type, -1)
    if (found.operation in ("or", "xor") and b.value == 0) or (found.operation == "and" and b == every):
        return a
    if (found.operation == "and" and b.value == 0) or (found.operation == "or" and b == every):
        return b
    # A negated comparison is the opposite comparison.
    if found.operation == "xor" and type == I1 and b.value == 1 and isinstance(a, Value):
        test = makers.get(a.name)
        if test is not None and test.operation in NEGATED:
            return replace(test, operation=NEGATED[test.operation], results=found.results, place=found.place)
    return _reassociate_constants(found, type, makers) or _difference(instruction, found)


def _shift(instruction: Instruction, type: Type, makers: Makers) -> Operand | Instruction | None:
    a, b = instruction.operands
    if isinstance(b, Constant) and b.value == 0:
        return a
    inner = makers.get(a.name) if isinstance(a, Value) else None
    if inner is None or inner.operation != instruction.operation or not isinstance(b, Constant):
        return None
    known = inner.operands[1]
    if not isinstance(known, Constant):
        return None
    sum = unsigned(type, known.value) + unsigned(type, b.value)
    # Beyond the width each shift alone is undefined, and the sum would be as well.
    if max(sum, known.value, b.value) >= type.bits or min(known.value, b.value) < 0:
        return None
    return replace(instruction, operands=(inner.operands[0], integer_constant(type, sum)), flags=())


def _cast(instruction: Instruction, type: Type, makers: Makers) -> Operand | Instruction | None:
    a = instruction.operands[0]
    inner = makers.get(a.name) if isinstance(a, Value) else None
    if inner is None or inner.operation not in (*_EXTENSIONS, "trunc") or inner.operands[0].type not in INTEGERS:
        return None
    source = inner.operands[0]
    if instruction.operation == "trunc" and inner.operation == "trunc":
        return replace(instruction, operands=(source,))
    if inner.operation not in _EXTENSIONS:
        return None
    if instruction.operation == "trunc":
        if source.type == type:
            return source
        # The extension was too wide, or too narrow: one conversion does both.
        operation = "trunc" if source.type.bits > type.bits else inner.operation
        return replace(instruction, operation=operation, operands=(source,))
    # Above what was extended with zeros the sign is 0, too.
    if inner.operation == "zext" or instruction.operation == "sext":
        return replace(instruction, operation=inner.operation, operands=(source,))
    return None


def _select(instruction: Instruction) -> Operand | Instruction | None:
    condition, then, orelse = instruction.operands
    if isinstance(condition, Constant):
        return then if condition.value & 1 else orelse
    if then == orelse:
        return then
    if condition.type == I1 and then.type == I1 and isinstance(then, Constant) and isinstance(orelse, Constant):
        return condition if then.value & 1 else None
    return None


def _offset(instruction: Instruction, makers: Makers) -> Operand | Instruction | None:
    base, distance = instruction.operands
    if not isinstance(distance, Constant):
        return None
    if distance.value == 0:
        return base
    inner = makers.get(base.name) if isinstance(base, Value) else None
    if inner is None or inner.operation != "offset" or not isinstance(known := inner.operands[1], Constant):
        return None
    return replace(
        instruction,
        operands=(inner.operands[0], integer_constant(distance.type, known.value + distance.value)),
        flags=(),
    )


Rule = Callable[[Instruction, Type, Makers], Operand | Instruction | None]
_RULES: Final[dict[str, Rule]] = {
    **dict.fromkeys(("add", "sub", "mul"), _ring),
    **dict.fromkeys(("and", "or", "xor"), _bitwise),
    **dict.fromkeys(("shl", "lshr", "ashr"), _shift),
    **dict.fromkeys(("trunc", "sext", "zext"), _cast),
}
