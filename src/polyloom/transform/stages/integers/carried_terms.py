# SPDX-License-Identifier: Apache-2.0
"""Terms of integers as terms of floats, for a machine that computes in one type; of formulas (`carry`) and of
statements of nests (`transform.stages.integers.carry_nest`).

A float holds each integer up to 2**24, so that sums, differences and products of integers are those of floats while the
results of all of them are proven to be no larger, and to be in the range of their own type: then nothing wraps
(interval analysis; Cousot and Cousot 1977). What is not proven is refused. Conversions between types of integers
disappear; one of a float is `to_f32(to_i8(x))`.

Integers have one zero, floats two: a product with 0 may be -0.0. Where an integer becomes a float or is compared, 0.0
is added to what may be that, which leaves +0.0 (IEEE 754, section 6.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from polyloom.diagnostics import Span, input_error
from polyloom.ir.formula import Apply, Leaf, Number, Sum, Term, term_type
from polyloom.ir.operations import INTEGERS, ElementType
from polyloom.transform.stages.integers.ranges import (
    LINEAR,
    OTHERS,
    RANGES,
    Range,
    hull,
    largest_magnitude,
)

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
class CarriedInteger:
    """An integer as a float: its term, its range, whether it is exact, and whether a 0 may be -0.0."""

    term: Term
    range: Range
    is_exact: bool = True
    has_negative_zero: bool = False

    @property
    def largest(self) -> int:
        return largest_magnitude(self.range)

    @property
    def value(self) -> Term:
        """Term whose zero is +0.0."""
        return Apply("add", (self.term, Number(0.0))) if self.has_negative_zero else self.term


class TermCarrier:
    """Terms of one program: types in the source, and integers that arrays hold, by name (mutable)."""

    def __init__(self, types: Mapping[str, ElementType], carrier: Carrier) -> None:
        self.carrier = carrier
        self.types: dict[str, ElementType] = dict(types)
        self.known = dict[str, CarriedInteger]()
        self.span: Span | None = None

    def refuse(self, message: str, help: str, span: Span | None = None) -> NoReturn:
        raise input_error("PL1232", message, span=span or self.span, help=help)

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
            return self.integer(term.operands[0]).value
        if term.operation == "select":
            condition, *sides = term.operands
            return replace(term, operands=(self.condition(condition), *map(self.float_term, sides)))
        return replace(term, operands=tuple(o if self.is_integer(o) else self.float_term(o) for o in term.operands))

    def condition(self, term: Term) -> Term:
        """A comparison, of floats or of integers that are exact; or several, of which one or all hold. Any other
        integer holds where it is not 0.
        """
        if isinstance(term, Apply) and term.operation in ("and", "or"):
            return replace(term, operands=tuple(map(self.condition, term.operands)))
        if self.is_integer(term) and not _is_comparison(term):
            return Apply("ne", (self.exact_integer(term, Apply("ne", (term,))).value, Number(0.0)))
        if not isinstance(term, Apply) or not _is_comparison(term):
            return term
        if any(map(self.is_integer, term.operands)):
            return replace(term, operands=tuple(self.exact_integer(o, term).value for o in term.operands))
        return replace(term, operands=tuple(map(self.float_term, term.operands)))

    # Integers

    def integer(self, term: Term) -> CarriedInteger:
        match term:
            case Number(value=value):
                return CarriedInteger(Number(float(value)), (int(value), int(value)))
            case Leaf():
                return self.element(term)
            case Sum():
                return self.sum(term)
            case Apply():
                return self.conversion(term) if term.operation.startswith("to_") else self.operation(term)

    def sum(self, whole: Sum) -> CarriedInteger:
        raise AssertionError(f"a sum along {whole.dimension} is a loop here")

    def exact_integer(self, term: Term, use: Apply) -> CarriedInteger:
        found = self.integer(term)
        if not found.is_exact:
            self.refuse(
                f"`{use.operation}` takes a sum of products of integers, which the matrix unit rounds in this format",
                "leave --format out for sums that are exact, or convert the sum to float32 first",
                use.span,
            )
        return found

    def check_range(self, found: CarriedInteger, kind: ElementType, what: str, span: Span | None) -> CarriedInteger:
        """The integer, of which nothing wraps or is rounded."""
        (low, high), (least, largest) = found.range, RANGES[kind]
        if low < least or high > largest:
            self.refuse(
                f"{what} may be from {low} to {high} and wrap in {kind}; floats, which carry it, do not wrap",
                "convert to a wider type before, or limit the values by a minimum and a maximum",
                span,
            )
        if found.largest > EXACT:
            self.refuse(
                f"{what} may be from {low} to {high}, and floats, which carry it, are exact up to 2^24",
                "sum fewer products, or convert them to float32 before they are summed",
                span,
            )
        return found

    def element(self, leaf: Leaf) -> CarriedInteger:
        if leaf.array in self.known:
            return replace(self.known[leaf.array], term=leaf)
        kind, name = self.types[leaf.array], leaf.array.split(".")[0]
        if largest_magnitude(RANGES[kind]) > EXACT or not leaf.index:
            self.refuse(
                f"{'' if leaf.index else 'the scalar '}`{name}` is {kind} in a program of f32",
                "declare it as f32, or an array as i8, i16, u8 or u16",
            )
        return CarriedInteger(leaf, RANGES[kind], largest_magnitude(RANGES[kind]) <= self.carrier.element)

    def operation(self, term: Apply) -> CarriedInteger:
        kind = term_type(term, self.types) or "i32"
        if _is_comparison(term):
            return CarriedInteger(Apply("select", (self.condition(term), Number(1.0), Number(0.0)), term.span), (0, 1))
        if term.operation == "select":
            condition, *sides = term.operands
            a, b = (self.exact_integer(side, term) for side in sides)
            made = replace(term, operands=(self.condition(condition), a.value, b.value))
            return CarriedInteger(made, hull(a.range, b.range))
        if term.operation in LINEAR:
            operands, found = [self.integer(o) for o in term.operands], LINEAR[term.operation]
        elif term.operation in OTHERS:
            operands, found = [self.exact_integer(o, term) for o in term.operands], OTHERS[term.operation]
        else:
            help = "use + - * abs min max select and conversions of integers, or make two programs"
            self.refuse(f"`{term.operation}` of {kind} stands in a program of f32", help, term.span)
        made = replace(term, operands=tuple(o.term for o in operands))
        integer = CarriedInteger(
            made, found([o.range for o in operands]), all(o.is_exact for o in operands), _signs_zero(term, operands)
        )
        return self.check_range(integer, kind, f"`{term.operation}`", term.span)

    def conversion(self, term: Apply) -> CarriedInteger:
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
        return CarriedInteger(Apply("to_f32", (made,), term.span), RANGES[kind])


def _is_comparison(term: Term) -> bool:
    return isinstance(term, Apply) and term.operation in _COMPARISONS


def _signs_zero(term: Apply, operands: list[CarriedInteger]) -> bool:
    """Whether a result that is 0 may be -0.0 (IEEE 754, section 6.3)."""
    signs = [o.has_negative_zero for o in operands]
    match term.operation:
        case "neg":
            low, high = operands[0].range
            return low <= 0 <= high
        case "mul":
            zeros = [o.range[0] <= 0 <= o.range[1] for o in operands]
            return any(zeros) and (any(o.range[0] < 0 for o in operands) or any(signs))
        case "add":
            return all(signs)
        # -0.0 less +0.0; the other way around it is +0.0.
        case "sub" | "move":
            return signs[0]
        case "abs":
            return False
        case _:
            return any(signs)


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
