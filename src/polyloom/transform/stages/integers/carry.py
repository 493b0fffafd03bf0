# SPDX-License-Identifier: Apache-2.0
"""Integers of a program of floats as floats, for a machine whose stages have one type: formulas without integer types.

A float holds each integer up to 2**24, so that sums, differences and products of integers are those of floats while the
results of all of them are proven to be no larger, and to be in the range of their own type: then nothing wraps
(interval analysis; Cousot and Cousot 1977). What is not proven is refused. Conversions between types of integers
disappear; one of a float is `to_f32(to_i8(x))`.

A matrix unit may round sums of products of floats, also of integers (`exact_products`, `Carrier.splits`). Then a sum
is a float's, and may only be added up and become one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NoReturn

from polyloom.diagnostics import Span, input_error
from polyloom.ir.formula import Apply, Definition, Formulas, Leaf, Number, Sum, Term, leaves, subterms, term_type
from polyloom.ir.operations import INTEGERS, ElementType
from polyloom.transform.stages.integers.exact_products import exact_sum, sum_of_products
from polyloom.transform.stages.integers.ranges import (
    LINEAR,
    OTHERS,
    RANGES,
    Range,
    hull,
    largest_magnitude,
    product_range,
    sum_range,
)
from polyloom.transform.stages.terms import product_factors

EXACT: Final = 1 << 24
"""Up to which all integers are numbers of FP32."""
_COMPARISONS: Final = ("lt", "le", "eq", "ne", "ge", "gt")


@dataclass(frozen=True, slots=True)
class Carrier:
    """What a machine's floats hold: `element` and `factor` are the largest integers up to which all are exact, as an
    array has them and as a product reads them. `splits`: sums of products of few bits are exact, and are stored so.
    """

    element: int
    factor: int
    splits: bool


@dataclass(frozen=True, slots=True)
class _Integer:
    """An integer as a float: its term, its range, and whether it is exact."""

    term: Term
    range: Range
    is_exact: bool = True

    @property
    def largest(self) -> int:
        return largest_magnitude(self.range)


def carry_integers(formulas: Formulas, carrier: Carrier) -> Formulas:
    """Formulas of floats alone, of a program that has both; any other as it is. Errors: PL1232 for integers that floats
    do not hold, and for results that are integers.
    """
    read = {leaf.array for d in formulas.definitions for leaf in leaves(d.term)}
    kinds = {formulas.types[name] for name in read if name in formulas.types} | {d.dtype for d in formulas.definitions}
    converts = any(
        isinstance(part, Apply) and part.operation == "to_f32"
        for d in formulas.definitions
        for part in subterms(d.term)
    )
    if "f32" not in kinds or not (converts or kinds & {*INTEGERS}):
        return formulas
    made = _IntegerCarrier(formulas, carrier)
    definitions = tuple(map(made.definition, formulas.definitions))
    types: dict[str, ElementType] = {n: "f32" if k in INTEGERS else k for n, k in formulas.types.items()}
    return replace(formulas, definitions=definitions, types=types)


class _IntegerCarrier:
    """Definitions so far: types in the source, and integers by name (mutable)."""

    def __init__(self, formulas: Formulas, carrier: Carrier) -> None:
        self.carrier = carrier
        self.outputs = {output.definition: output.array for output in formulas.outputs}
        self.types: dict[str, ElementType] = dict(formulas.types)
        self.known = dict[str, _Integer]()
        self.d = formulas.definitions[0]

    def definition(self, d: Definition) -> Definition:
        self.d, self.types[d.name] = d, d.dtype
        if d.dtype not in INTEGERS:
            return replace(d, term=self.float_term(d.term))
        if d.name in self.outputs:
            message = f"the result `{self.outputs[d.name]}` is {d.dtype} in a program of f32"
            self.refuse(message, "return it as f32, or compute it in a program of integers")
        found = self.integer(d.term)
        self.known[d.name] = replace(found, is_exact=found.is_exact and found.largest <= self.carrier.element)
        return replace(d, term=found.term, dtype="f32")

    def refuse(self, message: str, help: str, span: Span | None = None) -> NoReturn:
        raise input_error("PL1232", message, span=span or self.d.span, help=help)

    def is_integer(self, term: Term) -> bool:
        return term_type(term, self.types) in INTEGERS

    # Floats

    def float_term(self, term: Term) -> Term:
        """A float's term, with its integers as floats."""
        if isinstance(term, Sum):
            return replace(term, term=self.float_term(term.term))
        if not isinstance(term, Apply):
            return term
        if term.operation == "to_f32" and self.is_integer(term.operands[0]):
            return self.integer(term.operands[0]).term
        if term.operation == "select":
            condition, *sides = term.operands
            return replace(term, operands=(self.condition(condition), *map(self.float_term, sides)))
        return replace(term, operands=tuple(o if self.is_integer(o) else self.float_term(o) for o in term.operands))

    def condition(self, term: Term) -> Term:
        """A comparison, of floats or of integers that are exact."""
        if not isinstance(term, Apply) or term.operation not in _COMPARISONS:
            return term
        if any(map(self.is_integer, term.operands)):
            return replace(term, operands=tuple(self.exact_integer(o, term).term for o in term.operands))
        return replace(term, operands=tuple(map(self.float_term, term.operands)))

    # Integers

    def integer(self, term: Term) -> _Integer:
        match term:
            case Number(value=value):
                return _Integer(Number(float(value)), (int(value), int(value)))
            case Leaf():
                return self.element(term)
            case Sum():
                return self.sum(term)
            case Apply():
                return self.conversion(term) if term.operation.startswith("to_") else self.operation(term)

    def exact_integer(self, term: Term, use: Apply) -> _Integer:
        found = self.integer(term)
        if not found.is_exact:
            self.refuse(
                f"`{use.operation}` takes a sum of products of integers, which the matrix unit rounds in this format",
                "leave --format out for sums that are exact, or convert the sum to float32 first",
                use.span,
            )
        return found

    def check_range(self, found: _Integer, kind: ElementType, what: str, span: Span | None) -> _Integer:
        """The integer, of which nothing wraps or is rounded."""
        (low, high), (least, largest) = found.range, RANGES[kind]
        if low < least or high > largest:
            self.refuse(
                f"{what} may be from {low} to {high} and wrap in {kind}; floats, which carry it, do not wrap",
                "convert to a wider type before, or limit the values by np.clip",
                span,
            )
        if found.largest > EXACT:
            self.refuse(
                f"{what} may be from {low} to {high}, and floats, which carry it, are exact up to 2^24",
                "sum fewer products, or convert them to float32 before they are summed",
                span,
            )
        return found

    def element(self, leaf: Leaf) -> _Integer:
        if leaf.array in self.known:
            return replace(self.known[leaf.array], term=leaf)
        kind, name = self.types[leaf.array], leaf.array.split(".")[0]
        if largest_magnitude(RANGES[kind]) > EXACT or not leaf.index:
            self.refuse(
                f"{'' if leaf.index else 'the scalar '}`{name}` is {kind} in a program of f32",
                "declare it as f32, or an array as i8, i16, u8 or u16",
            )
        return _Integer(leaf, RANGES[kind], largest_magnitude(RANGES[kind]) <= self.carrier.element)

    def operation(self, term: Apply) -> _Integer:
        kind = term_type(term, self.types) or "i32"
        if term.operation == "select":
            condition, *sides = term.operands
            a, b = (self.exact_integer(side, term) for side in sides)
            return _Integer(replace(term, operands=(self.condition(condition), a.term, b.term)), hull(a.range, b.range))
        if term.operation in LINEAR:
            operands, found = [self.integer(o) for o in term.operands], LINEAR[term.operation]
        elif term.operation in OTHERS:
            operands, found = [self.exact_integer(o, term) for o in term.operands], OTHERS[term.operation]
        else:
            help = "use + - * abs min max select and conversions of integers, or make two programs"
            self.refuse(f"`{term.operation}` of {kind} stands in a program of f32", help, term.span)
        made = replace(term, operands=tuple(o.term for o in operands))
        is_exact = all(o.is_exact for o in operands)
        integer = _Integer(made, found([o.range for o in operands]), is_exact)
        return self.check_range(integer, kind, f"`{term.operation}`", term.span)

    def conversion(self, term: Apply) -> _Integer:
        """Conversion to a type of integers: of an integer nothing, where it cannot wrap."""
        kind: ElementType = next(k for k in INTEGERS if term.operation == f"to_{k}")
        operand = _saturation_operand(term.operands[0], RANGES[kind])
        if self.is_integer(operand) or isinstance(operand, Number):
            return self.check_range(self.integer(operand), kind, f"`{term.operation}`", term.span)
        given = term_type(operand, self.types)
        if largest_magnitude(RANGES[kind]) > EXACT or given != "f32":
            help = "convert to int8, int16, uint8 or uint16"
            self.refuse(f"{given} is converted to {kind} in a program of f32", help, term.span)
        made = replace(term, operands=(self.float_term(operand),))
        return _Integer(Apply("to_f32", (made,), term.span), RANGES[kind])

    # Sums

    def sum(self, whole: Sum) -> _Integer:
        factors, extent = product_factors(whole.term), self.d.extents[whole.dimension]
        if whole.operation != "add":
            term = self.integer(whole.term)
            return replace(term, term=replace(whole, term=term.term))
        if not extent.is_constant:
            self.refuse(
                f"a sum of {extent} integers in `{self.d.label}`: floats, which carry it, are exact up to 2^24",
                "declare the extent of the sum as a number, or convert the factors to float32 before the product",
            )
        kind: ElementType = term_type(whole, self.types) or "i32"
        what = f"a sum of {extent} integers in `{self.d.label}`"
        parts = [*map(self.integer, factors)] if len(factors) == 2 else [self.integer(whole.term)]
        one = parts[0].range if len(parts) == 1 else product_range(parts[0].range, parts[1].range)
        self.check_range(_Integer(whole, one), kind, "a term of a sum", self.d.span)
        found = self.check_range(_Integer(whole, sum_range(one, extent.constant)), kind, what, self.d.span)
        if len(parts) == 2:
            return self.products(whole, parts, found.range)
        return _Integer(replace(whole, term=parts[0].term), found.range, is_exact=False)

    def products(self, whole: Sum, parts: list[_Integer], found: Range) -> _Integer:
        """Sum of products of two factors."""
        holds = self.carrier.splits and all(p.is_exact and p.largest <= self.carrier.factor for p in parts)
        terms, magnitudes = [part.term for part in parts], [part.largest for part in parts]
        exact = exact_sum(whole, terms, magnitudes) if holds else None
        return _Integer(exact or sum_of_products(whole, terms), found, exact is not None)


def _saturation_operand(term: Term, range: Range) -> Term:
    """The rounded float of what saturates it to a range by way of i32 (ONNX operator QuantizeLinear), which conversions
    of floats do alone; a NaN, of which ONNX says nothing, becomes 0. Any other term as it is.
    """
    match term:
        case Apply("min", (Apply("max", (Apply("round_i32", (value,)), Number(value=low))), Number(value=high))) if (
            low,
            high,
        ) == range:
            return Apply("rint", (value,), term.span)
        case _:
            return term
