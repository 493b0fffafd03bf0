# SPDX-License-Identifier: Apache-2.0
"""Integers of a program of floats as floats, for a machine whose stages have one type: formulas without integer types.

A float holds each integer up to 2**24, so that sums, differences and products of integers are those of floats while the
results of all of them are proven to be no larger (interval analysis; Cousot and Cousot 1977, Moore 1966), and to be in
the range of their own type: then nothing wraps. What is not proven is refused. Conversions between types of integers
disappear; one of a float is `to_f32(to_i8(x))`.

A matrix unit may round sums of products of floats, also of integers: it aligns products to the largest of several. One
of 11 bits is exact between products of at most 11 bits (`Carrier.splits`). So a factor a of 8 bits is split, a = h + l,
where h is a multiple of 16 and l at most 8 (error-free splitting; Dekker 1971): both sums of products are exact.
Without that, a sum is a float's, and may only be added up and become one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NoReturn, cast

from polyloom.diagnostics import Span, input_error
from polyloom.ir.formula import Apply, Definition, Formulas, Leaf, Number, Sum, Term, leaves, subterms, term_type
from polyloom.ir.operations import INTEGERS, ElementType
from polyloom.transform.stages.terms import product_factors

Range = tuple[int, int]
"""The least and the largest value."""
EXACT: Final = 1 << 24
"""Up to which all integers are numbers of FP32."""
RANGES: Final[dict[str, Range]] = {
    "i8": (-(1 << 7), (1 << 7) - 1),
    "u8": (0, (1 << 8) - 1),
    "i16": (-(1 << 15), (1 << 15) - 1),
    "u16": (0, (1 << 16) - 1),
    "i32": (-(1 << 31), (1 << 31) - 1),
    "u32": (0, (1 << 32) - 1),
}
_COMPARISONS: Final = ("lt", "le", "eq", "ne", "ge", "gt")
_LOW: Final = 16
"""What the high part of a split factor is a multiple of."""
_BITS: Final = 11
"""Of products that a matrix unit adds up without a rounding, beside smaller ones."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """What a machine's floats hold: `element` and `factor` are the largest integers up to which all are exact, as an
    array has them and as a product reads them. `splits`: sums of products are exact where those are of 11 bits, so that
    larger factors are split.
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
        return _largest(self.range)


def carry_integers(formulas: Formulas, carrier: Carrier) -> Formulas:
    """Formulas of floats alone, of a program that has both; any other as it is. Errors: PL1232 for integers that floats
    do not hold, and for results that are integers.
    """
    read = {leaf.array for d in formulas.definitions for leaf in leaves(d.term)}
    kinds = {kind for name, kind in formulas.types.items() if name in read} | {d.dtype for d in formulas.definitions}
    if "f32" not in kinds or not _has_integers(formulas):
        return formulas
    made = _Carried(formulas, carrier)
    definitions = tuple(map(made.definition, formulas.definitions))
    types: dict[str, ElementType] = {n: "f32" if k in INTEGERS else k for n, k in formulas.types.items()}
    return replace(formulas, definitions=definitions, types=types)


def _has_integers(formulas: Formulas) -> bool:
    """Whether a formula computes with integers, beside comparing."""
    parts = (part for d in formulas.definitions for part in subterms(d.term))
    arrays = {leaf.array for d in formulas.definitions for leaf in leaves(d.term)}
    return any(formulas.types.get(name) in INTEGERS for name in arrays) or any(
        isinstance(part, Apply) and part.operation.startswith(("to_i", "to_u")) for part in parts
    )


class _Carried:
    """Definitions so far: types in the source, and ranges of integers (mutable)."""

    def __init__(self, formulas: Formulas, carrier: Carrier) -> None:
        self.carrier = carrier
        self.outputs = {output.definition: output.array for output in formulas.outputs}
        self.types: dict[str, ElementType] = dict(formulas.types)
        self.known = dict[str, _Integer]()
        self.d = formulas.definitions[0]

    def definition(self, d: Definition) -> Definition:
        self.d, self.types[d.name] = d, d.dtype
        if d.dtype not in INTEGERS:
            return replace(d, term=self.float(d.term))
        if d.name in self.outputs:
            self.refuse(
                f"the result `{self.outputs[d.name]}` is {d.dtype}, and the program computes in f32",
                "return it as f32, or compute it in a program of integers",
            )
        found = self.integer(d.term)
        self.known[d.name] = replace(found, is_exact=found.is_exact and found.largest <= self.carrier.element)
        return replace(d, term=found.term, dtype="f32")

    def refuse(self, message: str, help: str, span: Span | None = None) -> NoReturn:
        raise input_error("PL1232", message, span=span or self.d.span, help=help)

    def kind(self, term: Term) -> ElementType | None:
        return term_type(term, self.types)

    # Floats

    def float(self, term: Term) -> Term:
        """A float's term, with its integers as floats."""
        if isinstance(term, Sum):
            return replace(term, term=self.float(term.term))
        if not isinstance(term, Apply):
            return term
        if term.operation == "to_f32" and self.kind(term.operands[0]) in INTEGERS:
            return self.integer(term.operands[0]).term
        operands = [self.operand(o) for o in term.operands]
        if term.operation == "select":
            operands[0] = self.condition(term.operands[0])
        return replace(term, operands=tuple(operands))

    def operand(self, term: Term) -> Term:
        return term if self.kind(term) in INTEGERS else self.float(term)

    def condition(self, term: Term) -> Term:
        """A comparison, of floats or of integers that are exact."""
        if not isinstance(term, Apply) or term.operation not in _COMPARISONS:
            return term
        if self.kind(term.operands[0]) in INTEGERS or self.kind(term.operands[1]) in INTEGERS:
            return replace(term, operands=tuple(self.exact(o, term).term for o in term.operands))
        return replace(term, operands=tuple(map(self.float, term.operands)))

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
                return self.within(self.operation(term), term)

    def exact(self, term: Term, use: Apply) -> _Integer:
        found = self.integer(term)
        if not found.is_exact:
            self.refuse(
                f"`{use.operation}` takes a sum of integer products, which the matrix unit rounds in this format",
                "leave --format out, which is exact where sums are below 2^24, or convert the sum to float32 first",
                use.span,
            )
        return found

    def within(self, found: _Integer, term: Apply) -> _Integer:
        """The integer, of which nothing wraps or is rounded."""
        kind = self.kind(term) or "i32"
        (low, high), (least, largest) = found.range, RANGES[kind]
        if low < least or high > largest:
            self.refuse(
                f"`{term.operation}` gives integers from {low} to {high}, which wrap in {kind}, and the tile carries "
                "integers beside floats as floats, which do not",
                "convert to a wider type first, or limit the values, as np.clip does",
                term.span,
            )
        if found.largest > EXACT:
            self.refuse(
                f"`{term.operation}` gives integers up to {found.largest}, and floats, which carry them, are exact up "
                "to 2^24",
                "sum fewer products, or convert them to float32 before the sum",
                term.span,
            )
        return found

    def element(self, leaf: Leaf) -> _Integer:
        if leaf.array in self.known:
            return replace(self.known[leaf.array], term=leaf)
        kind, name = self.types[leaf.array], leaf.array.split(".")[0]
        if _largest(RANGES[kind]) > EXACT or not leaf.index:
            what = f"`{name}` is {kind}" if leaf.index else f"the scalar `{name}` is {kind}"
            self.refuse(
                f"{what} in a program of floats, which carry arrays of integers of 8 and 16 bits",
                "declare it as f32, or an array as i8, i16, u8 or u16",
            )
        found = RANGES[kind]
        return _Integer(leaf, found, _largest(found) <= self.carrier.element)

    def operation(self, term: Apply) -> _Integer:
        if term.operation.startswith("to_"):
            return self.conversion(term)
        if term.operation == "select":
            condition, *sides = term.operands
            a, b = (self.exact(side, term) for side in sides)
            made = Apply("select", (self.condition(condition), a.term, b.term), term.span)
            return _Integer(made, _hull(a.range, b.range))
        if term.operation in _LINEAR:
            operands = [self.integer(o) for o in term.operands]
        elif term.operation in _OTHERS:
            operands = [self.exact(o, term) for o in term.operands]
        else:
            self.refuse(
                f"`{term.operation}` of {self.kind(term)} stands in a program of floats, which carry its integers",
                "use + - * abs min max select and conversions of integers, or make two programs",
                term.span,
            )
        found = (_LINEAR | _OTHERS)[term.operation](*(o.range for o in operands))
        made = replace(term, operands=tuple(o.term for o in operands))
        return _Integer(made, found, all(o.is_exact for o in operands))

    def conversion(self, term: Apply) -> _Integer:
        kind, (operand,) = cast("ElementType", term.operation.removeprefix("to_")), term.operands
        if self.kind(operand) in INTEGERS or isinstance(operand, Number):
            return self.integer(operand)
        if kind not in RANGES or _largest(RANGES[kind]) > EXACT or self.kind(operand) != "f32":
            self.refuse(
                f"{self.kind(operand)} is converted to {kind}, and floats carry integers of 8 and 16 bits",
                "convert to int8, int16, uint8 or uint16",
                term.span,
            )
        made = Apply("to_f32", (replace(term, operands=(self.float(operand),)),), term.span)
        return _Integer(made, RANGES[kind])

    # Sums

    def sum(self, whole: Sum) -> _Integer:
        extent = self.d.extents[whole.dimension]
        parts = [*map(self.integer, product_factors(whole.term))]
        low, high = parts[0].range if len(parts) == 1 else self.integer(whole.term).range
        if whole.operation != "add":
            return _Integer(replace(whole, term=self.integer(whole.term).term), (low, high))
        if not extent.is_constant:
            self.refuse(
                f"the sum of integers in `{self.d.label}` has {extent} terms: floats carry it up to 2^24, which takes a "
                "number that is known",
                "declare the extent of the sum as a number, or convert the factors to float32 before the product",
            )
        count = extent.constant
        made = Apply("add", (Number(0), Number(0)), self.d.span)
        found = self.within(_Integer(whole, (min(low * count, 0), max(high * count, 0))), made)
        return self.products(whole, parts, found.range) if len(parts) == 2 else _Integer(
            replace(whole, term=self.integer(whole.term).term), found.range, is_exact=False
        )

    def products(self, whole: Sum, parts: list[_Integer], found: Range) -> _Integer:
        """Sum of products of two factors, exact where their products have 11 bits or one of them can be split."""
        is_whole = all(part.is_exact and part.largest <= self.carrier.factor for part in parts)
        bits = [part.largest.bit_length() for part in parts]
        # Exponents of products, which decide how they are aligned.
        if not (is_whole and self.carrier.splits) or sum(bits) - 1 <= _BITS:
            return _Integer(_sum_of(whole, [p.term for p in parts]), found, is_whole and self.carrier.splits)
        for n in self.split_order(parts):
            if bits[1 - n] <= 8 and sum(bits) <= 16:
                return _Integer(_split_sum(whole, [p.term for p in parts], n), found)
        return _Integer(_sum_of(whole, [p.term for p in parts]), found, is_exact=False)

    def split_order(self, parts: list[_Integer]) -> tuple[int, ...]:
        """Which factor is split: one that is computed anyway, before an argument."""
        return (1, 0) if isinstance(parts[0].term, Leaf) else (0, 1)


def _sum_of(whole: Sum, factors: list[Term]) -> Sum:
    return replace(whole, term=Apply("mul", (factors[0], factors[1])))


def _split_sum(whole: Sum, factors: list[Term], n: int) -> Term:
    """Sums of products with the high and with the low part of a factor."""
    nearest = Apply("rint", (Apply("mul", (factors[n], Number(1 / _LOW))),))
    high = Apply("mul", (nearest, Number(float(_LOW))))
    low = Apply("sub", (factors[n], high))
    sums = [_sum_of(whole, [part if m == n else factors[m] for m in range(2)]) for part in (high, low)]
    return Apply("add", (sums[0], sums[1]))


# Intervals (Moore 1966)


def _largest(range: Range) -> int:
    return max(map(abs, range))


def _hull(*ranges: Range) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _corners(a: Range, b: Range) -> Range:
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def _magnitude(a: Range) -> Range:
    low, high = a
    return (0 if low <= 0 <= high else min(map(abs, a)), _largest(a))


_LINEAR: Final[dict[str, Callable[..., Range]]] = {
    "move": lambda a: a,
    "neg": lambda a: (-a[1], -a[0]),
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
}
"""Operations that keep an error what it is."""
_OTHERS: Final[dict[str, Callable[..., Range]]] = {
    "mul": _corners,
    "abs": _magnitude,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}
