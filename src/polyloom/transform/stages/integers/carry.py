# SPDX-License-Identifier: Apache-2.0
"""Integers of a program of floats as floats, for a machine whose stages have one type: formulas without integer types.

A matrix unit may round sums of products of floats, also of integers (`exact_products`, `Carrier.splits`). Then a sum
is a float's, and may only be added up and become one.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.formula import Apply, Definition, Formulas, Sum, leaves, subterms, term_type
from polyloom.ir.operations import INTEGERS, ElementType
from polyloom.transform.stages.integers.carried_terms import CarriedInteger, Carrier, TermCarrier
from polyloom.transform.stages.integers.exact_products import exact_sum, sum_of_products
from polyloom.transform.stages.integers.ranges import Range, product_range, sum_range
from polyloom.transform.stages.terms import product_factors


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
    made = _FormulaCarrier(formulas, carrier)
    definitions = tuple(map(made.definition, formulas.definitions))
    types: dict[str, ElementType] = {n: "f32" if k in INTEGERS else k for n, k in formulas.types.items()}
    return replace(formulas, definitions=definitions, types=types)


class _FormulaCarrier(TermCarrier):
    """Definitions so far (mutable)."""

    def __init__(self, formulas: Formulas, carrier: Carrier) -> None:
        super().__init__(formulas.types, carrier)
        self.outputs = {output.definition: output.array for output in formulas.outputs}
        self.d = formulas.definitions[0]

    def definition(self, d: Definition) -> Definition:
        self.d, self.span, self.types[d.name] = d, d.span, d.dtype
        if d.dtype not in INTEGERS:
            return replace(d, term=self.float_term(d.term))
        if d.name in self.outputs:
            message = f"the result `{self.outputs[d.name]}` is {d.dtype} in a program of f32"
            self.refuse(message, "return it as f32, or compute it in a program of integers")
        found = self.integer(d.term)
        is_exact = found.is_exact and found.largest <= self.carrier.element
        self.known[d.name] = replace(found, is_exact=is_exact, has_negative_zero=False)
        return replace(d, term=found.value, dtype="f32")

    def sum(self, whole: Sum) -> CarriedInteger:
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
        self.check_range(CarriedInteger(whole, one), kind, "a term of a sum", self.d.span)
        found = self.check_range(CarriedInteger(whole, sum_range(one, extent.constant)), kind, what, self.d.span)
        if len(parts) == 2:
            return self.products(whole, parts, found.range)
        return CarriedInteger(replace(whole, term=parts[0].term), found.range, is_exact=False)

    def products(self, whole: Sum, parts: list[CarriedInteger], found: Range) -> CarriedInteger:
        """Sum of products of two factors."""
        holds = self.carrier.splits and all(p.is_exact and p.largest <= self.carrier.factor for p in parts)
        terms, magnitudes = [part.term for part in parts], [part.largest for part in parts]
        exact = exact_sum(whole, terms, magnitudes) if holds else None
        return CarriedInteger(exact or sum_of_products(whole, terms), found, exact is not None)
