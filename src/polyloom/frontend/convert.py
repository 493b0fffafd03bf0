# SPDX-License-Identifier: Apache-2.0
"""Conversions between element types, as few as there can be.

Front ends say what their language says: operands are widened, the operation is on the wider type, its result is
narrowed. Here such a computation becomes one on the narrow type where that gives the same bits: sums, products and
bitwise operations do modulo any power of two; comparisons, minima and shifts to the right do on values that both types
have; and a sum, product or quotient of singles in double precision, rounded to single, is that of singles (Figueroa,
"When is double rounding innocuous?", SIGNUM 30(3), 1995).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from polyloom.diagnostics import Span
from polyloom.ir.nest import Apply, Expression, Index
from polyloom.ir.numbers import NUMPY, WIDTH, element_constant
from polyloom.ir.operations import BY_NAME, INTEGERS, ElementType, may_divide_by_zero
from polyloom.ir.pla import Constant
from polyloom.ir.semantics import apply

FLOATS: Final[tuple[ElementType, ...]] = ("f16", "f32", "f64")
_WHOLE: Final[dict[ElementType, int]] = {"f16": 11, "f32": 24, "f64": 53}
"""The width of the integers that a type of floating point has all of."""
# Homomorphisms modulo 2^n: the low bits of the result depend on the low bits of the operands alone (Hacker's Delight,
# section 2-1).
_WRAPPING: Final = ("add", "sub", "mul", "neg", "and", "or", "xor", "madd")
# Rounding to 53 bits and then to 24 is rounding once, because 53 >= 2 * 24 + 2 (Figueroa 1995).
_ROUNDED: Final = ("add", "sub", "mul", "div", "sqrt")


def is_signed(dtype: ElementType) -> bool:
    return dtype in ("i8", "i16", "i32")


def widens(source: ElementType, to: ElementType) -> bool:
    """Widening: whether `to` has every value of `source`, of floating types also the zeros and infinities (IEEE 754,
    section 5.4.2).
    """
    if source == to or source == "bool":
        return True
    if source in FLOATS:
        return to in FLOATS and WIDTH[to] > WIDTH[source]
    if to in FLOATS:
        # Two's complement: the magnitude has one bit less than the type, and -2^(n-1) is a power of two.
        return WIDTH[source] - is_signed(source) <= _WHOLE[to]
    if to == "bool":
        return False
    if is_signed(source) == is_signed(to):
        return WIDTH[to] > WIDTH[source]
    return is_signed(to) and WIDTH[to] > WIDTH[source]


def convert_value(value: Expression, source: ElementType, to: ElementType, span: Span | None = None) -> Expression:
    """Conversion of a value of the type `source` to the type `to`, by the meaning of the operation `to_...`, with as
    few conversions as give the same bits.
    """
    if source == to:
        return value
    plain = _convert_simple(value, source, to, span)
    if plain is not None:
        return plain
    # A narrowed form is taken only where it saves conversions: otherwise both computations cost the same.
    narrow = _narrow(value, source, to)
    whole = Apply(f"to_{to}", source, (value,), span)
    return narrow if narrow is not None and _count_conversions(narrow) < _count_conversions(whole) else whole


def narrow_comparison(
    operation: str, dtype: ElementType, a: Expression, b: Expression, span: Span | None = None
) -> Apply:
    """Comparison in the narrowest type that has what is compared."""
    for narrow in _source_types((a, b), dtype):
        operands = exact_value(a, dtype, narrow), exact_value(b, dtype, narrow)
        if operands[0] is not None and operands[1] is not None and BY_NAME[operation].accepts_type(narrow):
            return Apply(operation, narrow, (operands[0], operands[1]), span)
    return Apply(operation, dtype, (a, b), span)


def fold_constants(
    operation: str, dtype: ElementType, operands: tuple[Expression, ...], span: Span | None
) -> Expression:
    """Constant folding (Muchnick 1997, section 12.1): an operation, or its result where its operands are constants; a
    division by zero stays.
    """
    constants = [operand for operand in operands if isinstance(operand, Constant)]
    if len(constants) < len(operands) or (may_divide_by_zero(operation, dtype) and not constants[1].value):
        return Apply(operation, dtype, operands, span)
    # Operands have types of their own: what a select decides by is no element of its type.
    return _evaluate(operation, dtype, [NUMPY[c.dtype].type(c.value) for c in constants], span)


def is_truth(value: Expression) -> bool:
    """Whether an i32 is 0 or 1."""
    if not isinstance(value, Apply):
        return False
    return (
        BY_NAME[value.operation].compares
        or (value.operation == "to_i32" and value.dtype == "bool")
        or (value.operation in ("and", "or") and all(map(is_truth, value.operands)))
    )


def _evaluate(operation: str, dtype: ElementType, values: Sequence[Any], span: Span | None) -> Constant:
    # Overflow and NaN are values here, not warnings.
    with np.errstate(all="ignore"):
        result = apply(operation, dtype, values)
    kind = BY_NAME[operation].result(dtype)
    return Constant(float(result) if kind in FLOATS else int(result), kind, span)


def exact_value(value: Expression, source: ElementType, to: ElementType) -> Expression | None:
    """Same value in the type `to`, if it is one of that type's wherever it is computed; None otherwise."""
    if source == to:
        return value
    match value:
        case Constant(value=number):
            found = element_constant(number, to)
            # A zero may have a sign that an integer does not have.
            if found is None or found != number or (number == 0 and to not in FLOATS and source in FLOATS):
                return None
            return Constant(found, to, value.span)
        case Apply(operation=operation, dtype=inner, operands=(operand,)) if operation == f"to_{source}":
            # A conversion that itself changed the value must stay.
            if not widens(inner, source) or not widens(inner, to):
                return None
            return operand if inner == to else Apply(f"to_{to}", inner, (operand,), value.span)
        case Apply(operation=operation, dtype=inner) if inner == source:
            return _exact_operation(value, source, to)
        case _:
            return None


def _exact_operation(value: Apply, source: ElementType, to: ElementType) -> Apply | None:
    """Operation in a narrower type that gives the same on the same values: one whose result is among what its operands
    allow.
    """
    if not BY_NAME[value.operation].accepts_type(to) or (source in FLOATS) != (to in FLOATS):
        return None
    # The condition of a select is no operand of its type: it stays as it is.
    kept, rest = ((value.operands[0],), value.operands[1:]) if value.operation == "select" else ((), value.operands)
    operands = [exact_value(operand, source, to) for operand in rest]
    if None in operands:
        return None
    found = tuple(operand for operand in operands if operand is not None)
    match value.operation:
        case "select" | "min" | "max":
            pass
        case "and" | "or" | "xor" | "rem" | "mod" if source not in FLOATS:
            pass
        # Signed: the least number by -1 has a quotient in the wide type only.
        case "div" | "floordiv" if source not in FLOATS and not is_signed(to):
            pass
        # An amount that the narrow type does not allow has a result in the wide type only.
        case "shr" if isinstance(found[1], Constant) and 0 <= found[1].value < WIDTH[to]:
            pass
        case "neg" | "abs" if source in FLOATS:
            pass
        case _:
            return None
    return Apply(value.operation, to, (*kept, *found), value.span)


def _convert_simple(value: Expression, source: ElementType, to: ElementType, span: Span | None) -> Expression | None:
    """Conversion of a constant, an index, or what has been converted from a type whose values it has; None
    for others.
    """
    match value:
        case Constant(value=number):
            return _evaluate(f"to_{to}", source, [NUMPY[source].type(number)], span or value.span)
        case Index(dtype="i32" | "u32") if to != "bool":
            return Index(value.value, to, value.span)
        case Apply(operation=operation, dtype=inner, operands=(operand,)) if operation == f"to_{source}":
            kept = widens(inner, source) or (source == "bool" and is_truth(operand))
            return convert_value(operand, inner, to, span) if kept else None
        case _:
            return None


def _narrow(value: Expression, source: ElementType, to: ElementType) -> Expression | None:
    """Narrowing of a computation whose result is converted to a type with fewer values (Hacker's Delight, section 2-1,
    for integers; Figueroa 1995 for double rounding); None where its bits would differ.
    """
    found = exact_value(value, source, to)
    if found is not None:
        return found
    if source in INTEGERS and to in INTEGERS and WIDTH[to] <= WIDTH[source]:
        return _narrow_modulo(value, source, to)
    if source == "f64" and to == "f32" and isinstance(value, Apply) and value.dtype == "f64":
        operands = [exact_value(operand, "f64", "f32") for operand in value.operands]
        if value.operation in _ROUNDED and None not in operands:
            return Apply(value.operation, "f32", tuple(filter(None, operands)), value.span)
    return None


def _narrow_modulo(value: Expression, source: ElementType, to: ElementType) -> Expression:
    """Value modulo the range of a type that is no wider: operands are narrowed as deep as operations wrap."""
    found = exact_value(value, source, to) or _convert_simple(value, source, to, None)
    if found is not None:
        return found
    match value:
        case Apply(operation=operation, dtype=inner, operands=(operand,)) if operation == f"to_{source}":
            if inner in INTEGERS and WIDTH[inner] >= WIDTH[to]:
                return operand if inner == to else _narrow_modulo(operand, inner, to)
        case Apply(operation=operation, dtype=inner, operands=operands) if inner == source and operation in _WRAPPING:
            return Apply(operation, to, tuple([_narrow_modulo(o, source, to) for o in operands]), value.span)
        case Apply(operation="shl", dtype=inner, operands=(shifted, Constant(value=amount))) if inner == source:
            # A shift by the narrow width or more is undefined there, and 0 in the wide type.
            if 0 <= amount < WIDTH[to]:
                return Apply("shl", to, (_narrow_modulo(shifted, source, to), Constant(amount, to)), value.span)
        case Apply(operation="select", dtype=inner, operands=(test, a, b)) if inner == source:
            return Apply("select", to, (test, _narrow_modulo(a, source, to), _narrow_modulo(b, source, to)), value.span)
        case Apply(operation="div" | "floordiv" as operation, dtype=inner, operands=(a, b)) if inner == source:
            # The one quotient that the narrow type does not have, of its least number by -1, wraps in it, too.
            x, y = exact_value(a, source, to), exact_value(b, source, to)
            if x is not None and y is not None:
                return Apply(operation, to, (x, y), value.span)
        case _:
            pass
    return Apply(f"to_{to}", source, (value,))


def _source_types(values: Iterable[Expression], dtype: ElementType) -> tuple[ElementType, ...]:
    """The types that parts of values were widened from."""
    found: set[ElementType] = {inner for value in values for inner in _widening_sources(value, dtype)}
    return tuple(sorted(found, key=lambda inner: (WIDTH[inner], inner)))


def _widening_sources(value: Expression, dtype: ElementType) -> Iterator[ElementType]:
    if isinstance(value, Apply):
        if value.operation == f"to_{dtype}":
            yield value.dtype
        else:
            for operand in value.operands:
                yield from _widening_sources(operand, dtype)


def _count_conversions(value: Expression) -> int:
    if not isinstance(value, Apply):
        return 0
    return value.operation.startswith("to_") + sum(map(_count_conversions, value.operands))
