# SPDX-License-Identifier: Apache-2.0
"""Lowering of the operations of `ir.operations` to instructions of `ir.ssa`, exact in every bit (the definition is
`ir.semantics`).

A bool is a byte that is 0 or 1; what a comparison gives is an i1 until it is used as a number (`Truth`). Types of
floats that are only stored (f16) are their bits, and are converted by integer arithmetic (`halves.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from polyloom.ir.numbers import WIDTH, type_limits
from polyloom.ir.operations import BY_NAME, FLOATS, UNSIGNED, ElementType
from polyloom.ir.ssa import Constant, Operand, float_constant, integer_constant
from polyloom.ir.ssa_types import F32, F64, I8, I16, I32, I64, Type
from polyloom.transform.nest_to_ssa import halves
from polyloom.transform.nest_to_ssa.writer import Writer

TYPES: Final[dict[ElementType, Type]] = {
    **dict.fromkeys(("i8", "u8", "bool"), I8),
    **dict.fromkeys(("i16", "u16", "f16"), I16),
    **dict.fromkeys(("i32", "u32"), I32),
    "f32": F32,
    "f64": F64,
}
_RELATIONS: Final = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED_RELATIONS: Final = {"lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
_SAME: Final = ("add", "sub", "mul", "and", "or", "xor")
_SHIFTS: Final = ("shl", "shr")
_NEAREST: Final[dict[Type, float]] = {F32: 2.0**23, F64: 2.0**52}
"""From here on, a float has no fraction."""


def constant(value: float, dtype: ElementType) -> Constant:
    """Constant of an element type."""
    if dtype == "f16":
        return halves.f16_bits(value)
    return float_constant(TYPES[dtype], float(value)) if dtype in FLOATS else integer_constant(TYPES[dtype], int(value))


def relation(writer: Writer, operation: str, dtype: ElementType, a: Operand, b: Operand) -> Operand:
    """Comparison, as an i1; that of a NaN is false, but for `ne` (IEEE 754-2019, section 5.11)."""
    if dtype in FLOATS:
        return writer.compare("fune" if operation == "ne" else f"fo{operation}", a, b)
    table = _UNSIGNED_RELATIONS if dtype in (*UNSIGNED, "bool") else _RELATIONS
    return writer.compare(table.get(operation, operation), a, b)


def is_nonzero(writer: Writer, value: Operand) -> Operand:
    """Whether an integer is not 0."""
    return writer.compare("ne", value, integer_constant(value.type, 0))


def operate(writer: Writer, operation: str, dtype: ElementType, operands: tuple[Operand, ...]) -> Operand:
    """Operation on operands of the element type `dtype`, other than a comparison, `select` or a conversion."""
    type, is_float = TYPES[dtype], dtype in FLOATS
    if operation == "move":
        return operands[0]
    if operation in _SAME:
        return writer.put(f"f{operation}" if is_float else operation, type, *operands)
    if operation in _SHIFTS:
        return _shift(writer, operation, dtype, *operands)
    if operation in ("min", "max"):
        prefix = "u" if dtype in UNSIGNED else "s"
        # Minima and maxima of floats ignore a NaN (IEEE 754-2019, minimumNumber).
        return writer.call(f"{operation}num" if is_float else f"{prefix}{operation}", type, *operands)
    if is_float:
        return _FLOATS[operation](writer, type, operands)
    return _INTEGERS[operation](writer, dtype, operands)


def convert(writer: Writer, operation: str, dtype: ElementType, value: Operand) -> Operand:
    """Conversion of an element of the type `dtype` by its name in `ir.operations`."""
    result = BY_NAME[operation].result(dtype)
    match operation:
        case "bits_i32" | "bits_f32":
            return writer.put("bitcast", TYPES[result], value)
        case "round_i32":
            return _nearest_i32(writer, value)
        case "sat8" | "satu8":
            return _clip_integer(writer, value, result)
        case _:
            return _convert_element(writer, value, dtype, result)


def _shift(writer: Writer, operation: str, dtype: ElementType, a: Operand, b: Operand) -> Operand:
    """Shift whose amount counts modulo the width; that of `ir.ssa` is undefined from the width on."""
    amount = writer.put("and", b.type, b, integer_constant(b.type, WIDTH[dtype] - 1))
    name = "shl" if operation == "shl" else "lshr" if dtype in UNSIGNED else "ashr"
    return writer.put(name, a.type, a, amount)


def _divide(writer: Writer, operation: str, dtype: ElementType, a: Operand, b: Operand) -> Operand:
    """Division: truncated or floored quotients and remainders (Leijen 2001); the least number divided by -1 wraps."""
    type = TYPES[dtype]
    if dtype in UNSIGNED:
        return writer.put("urem" if operation in ("rem", "mod") else "udiv", type, a, b)
    # An arithmetic shift rounds down, and masking gives the remainder that is not negative (Hacker's Delight, chapter
    # 10).
    if isinstance(b, Constant) and operation in ("floordiv", "mod") and _is_power(b.value):
        if operation == "mod":
            return writer.put("and", type, a, integer_constant(type, b.value - 1))
        return writer.put("ashr", type, a, integer_constant(type, b.value.bit_length() - 1))
    # In more bits no quotient is beyond the range; a constant other than -1 gives none either.
    wide = type if isinstance(b, Constant) and b.value != -1 else I32 if type != I32 else I64
    x, y = (_sign_extend(writer, each, wide) for each in (a, b))
    found = _quotient(writer, operation, wide, x, y)
    return found if wide == type else writer.put("trunc", type, found)


def _quotient(writer: Writer, operation: str, type: Type, a: Operand, b: Operand) -> Operand:
    """Quotient or remainder that cannot overflow; floored ones are corrected where the signs of remainder and divisor
    differ.
    """
    if operation in ("div", "rem"):
        return writer.put("sdiv" if operation == "div" else "srem", type, a, b)
    zero = integer_constant(type, 0)
    rest = writer.put("srem", type, a, b)
    if isinstance(b, Constant):  # the sign of the remainder is that of the dividend
        differs = writer.compare("slt" if b.value > 0 else "sgt", rest, zero)
    else:
        opposite = writer.compare("slt", writer.put("xor", type, rest, b), zero)
        differs = writer.put("and", opposite.type, writer.compare("ne", rest, zero), opposite)
    if operation == "mod":
        return writer.put("add", type, rest, writer.select(differs, b, zero))
    return writer.put("sub", type, writer.put("sdiv", type, a, b), writer.put("zext", type, differs))


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _sign_extend(writer: Writer, value: Operand, type: Type) -> Operand:
    return value if value.type == type else writer.put("sext", type, value)


def _absolute(writer: Writer, dtype: ElementType, operands: tuple[Operand, ...]) -> Operand:
    return operands[0] if dtype in UNSIGNED else writer.call("abs", TYPES[dtype], *operands)


def _multiply_add(writer: Writer, dtype: ElementType, operands: tuple[Operand, ...]) -> Operand:
    a, b, c = operands
    return writer.put("add", a.type, writer.put("mul", a.type, a, b), c)


_INTEGERS: Final[dict[str, Callable[[Writer, ElementType, tuple[Operand, ...]], Operand]]] = {
    "div": lambda writer, dtype, given: _divide(writer, "div", dtype, *given),
    "rem": lambda writer, dtype, given: _divide(writer, "rem", dtype, *given),
    "floordiv": lambda writer, dtype, given: _divide(writer, "floordiv", dtype, *given),
    "mod": lambda writer, dtype, given: _divide(writer, "mod", dtype, *given),
    "neg": lambda writer, dtype, given: writer.put("sub", TYPES[dtype], integer_constant(TYPES[dtype], 0), *given),
    "abs": _absolute,
    "madd": _multiply_add,
}
_FLOATS: Final[dict[str, Callable[[Writer, Type, tuple[Operand, ...]], Operand]]] = {
    "div": lambda writer, type, given: writer.put("fdiv", type, *given),
    "neg": lambda writer, type, given: writer.put("fneg", type, *given),
    "abs": lambda writer, type, given: writer.call("fabs", type, *given),
    "sqrt": lambda writer, type, given: writer.call("sqrt", type, *given),
    "madd": lambda writer, type, given: writer.call("fma", type, *given),
}


def _convert_element(writer: Writer, value: Operand, source: ElementType, to: ElementType) -> Operand:
    """Conversion between element types; halves pass through a single."""
    if to == "f16":
        return halves.from_number(writer, value, source)
    if source == "f16":
        single = halves.to_single(writer, value)
        return single if to == "f32" else _convert_element(writer, single, "f32", to)
    if to == "bool":
        zero = constant(0, source)
        return writer.put("zext", I8, relation(writer, "ne", source, value, zero))
    if source in FLOATS and to in FLOATS:
        return writer.put("fpext" if to == "f64" else "fptrunc", TYPES[to], value)
    if to in FLOATS:
        return writer.put("uitofp" if source in (*UNSIGNED, "bool") else "sitofp", TYPES[to], value)
    return _saturate_float(writer, value, to) if source in FLOATS else _resize_integer(writer, value, source, to)


def _resize_integer(writer: Writer, value: Operand, source: ElementType, to: ElementType) -> Operand:
    """Integer of another width: cut, or extended by the sign of its own type."""
    type = TYPES[to]
    if type.bits == value.type.bits:
        return value
    if type.bits < value.type.bits:
        return writer.put("trunc", type, value)
    return writer.put("zext" if source in (*UNSIGNED, "bool") else "sext", type, value)


def _saturate_float(writer: Writer, value: Operand, to: ElementType) -> Operand:
    """Float as an integer, toward zero; beyond the range its end, of a NaN 0."""
    least, most = type_limits(to) or (0, 0)
    # Its result is undefined beyond the range, and the selections below replace it there.
    inside = "fptoui" if to == "u32" else "fptosi"
    found = _clamp_result(writer, value, writer.put(inside, I32, value), (float(least), least), (float(most + 1), most))
    found = writer.select(writer.compare("funo", value, value), integer_constant(I32, 0), found)
    return found if TYPES[to] == I32 else writer.put("trunc", TYPES[to], found)


def _clamp_result(
    writer: Writer, value: Operand, found: Operand, least: tuple[float, int], most: tuple[float, int]
) -> Operand:
    """Result, but for values below the first and from the second number on, where it is an end of the range."""
    low = writer.compare("folt", value, float_constant(value.type, least[0]))
    found = writer.select(low, integer_constant(I32, least[1]), found)
    high = writer.compare("foge", value, float_constant(value.type, most[0]))
    return writer.select(high, integer_constant(I32, most[1]), found)


def _nearest_i32(writer: Writer, value: Operand) -> Operand:
    """Rounding to the nearest i32, ties to even; of a NaN the greatest. What is added leaves no place for a fraction
    (Muller et al., Handbook of Floating-Point Arithmetic, 2018).
    """
    type, large = value.type, float_constant(value.type, _NEAREST[value.type])
    size = writer.call("fabs", type, value)
    near = writer.put("fsub", type, writer.put("fadd", type, size, large), large)
    near = writer.select(writer.compare("folt", size, large), near, size)
    # Magnitudes are rounded, because ties to even are the same on both sides of 0; -0 keeps its sign.
    near = writer.call("copysign", type, near, value)
    least, most = -(2**31), 2**31 - 1
    found = _clamp_result(writer, near, writer.put("fptosi", I32, near), (float(least), least), (float(most + 1), most))
    return writer.select(writer.compare("funo", value, value), integer_constant(I32, most), found)


def _clip_integer(writer: Writer, value: Operand, to: ElementType) -> Operand:
    least, most = type_limits(to) or (0, 0)
    low = writer.call("smax", I32, value, integer_constant(I32, least))
    return writer.put("trunc", TYPES[to], writer.call("smin", I32, low, integer_constant(I32, most)))
