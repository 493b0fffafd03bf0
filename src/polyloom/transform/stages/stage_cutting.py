# SPDX-License-Identifier: Apache-2.0
"""Cutting of formulas into stages: each sum of products becomes products, and what is left element-wise formulas.

The term of a sum is a sum of products. Each of these has factors that change along the sum, in two groups that share no
other dimension, and factors that do not. A group that is no array of its own becomes a formula. What a machine's
products and formulas may be is data, `Abilities`:

- Where sums may begin with an array, each product and each sum is one of the source, in its order. Factors that are the
  same for all terms go into a group; several products are summed one after another, each begun with the one before.
  Integers wrap, so that every order gives the same bits.
- Elsewhere such factors, and what a sum begins with, follow in a formula, of which sums are parts like all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from polyloom.analysis.calls import with_calls
from polyloom.analysis.dataflow import refuse
from polyloom.ir import stage_text, stage_verify
from polyloom.ir.formula import (
    Apply,
    Definition,
    Formulas,
    Leaf,
    Number,
    Sum,
    Term,
    has_sum,
    index_dimension,
    leaves,
    result_element,
    rewrite_term,
)
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.stage import Fold, Formula, Product, Program, Stage
from polyloom.names import fresh_name
from polyloom.passes import Form
from polyloom.sets import Affine
from polyloom.transform.stages.abilities import Abilities, largest_part
from polyloom.transform.stages.factors import Scope, merge_outer_factors, split_factors, unwiden
from polyloom.transform.stages.integers.ranges import CARRIED
from polyloom.transform.stages.terms import (
    add_signed,
    addends,
    inline_definitions,
    multiply_factors,
    product_factors,
    split_sum,
    substitute_dimensions,
)

_ROUNDINGS: Final = ("rint", *(f"to_{kind}" for kind in CARRIED))
STAGES: Final = Form(stage_text.print_stages, stage_verify.verify)
"""What passes that cut leave."""


def cut_stages(formulas: Formulas, can: Abilities, *, exact: bool = False) -> Program:
    """Program of stages of formulas. `exact`: with the bits of the source where that is possible, also where others
    take less time. Raises `Unlike`.
    """
    # A machine that fuses keeps intermediate values in registers, so larger formulas mean fewer arrays.
    formulas = inline_definitions(with_calls(formulas)) if can.fuses else formulas
    made = _Cutter(formulas, can, exact=exact)
    for definition in formulas.definitions:
        made.cut(definition)
    program = Program(tuple(made.stages), made.types, made.shapes, formulas.outputs)
    # A running sum has every one of its turns in the output; a product has the last one.
    for output in program.outputs:
        if any(stage_verify.outputs_are_parts_of_results(replace(program, outputs=(output,)))):
            refuse(f"`{output.array}` has other dimensions than the elements of its stage", None)
    return program


class _Cutter:
    """Stages of definitions, one after another (mutable)."""

    def __init__(self, formulas: Formulas, can: Abilities, *, exact: bool) -> None:
        self.can, self.exact = can, exact
        self.stages = list[Stage]()
        self.types: dict[str, ElementType] = {**formulas.types}
        self.shapes: dict[str, tuple[Affine, ...]] = {**formulas.shapes}
        self.taken = {*formulas.shapes, *(d.name for d in formulas.definitions)}
        self.numbered = dict[object, str]()
        self.rows = set[str]()
        self.around: tuple[str, ...] = ()

    def cut(self, d: Definition) -> None:
        """Stages of one definition; its last one computes its name."""
        self.d, self.summed = d, list[Affine]()
        self.scope = Scope(d, self.types, self.can, self.exact)
        begins, whole, is_less = split_sum(d.term)
        if whole is not None and self.can.accumulates:
            self.chain(whole, begins, d.name, is_less=is_less)
        else:
            self.around = d.dims
            found = self.replace_sums(d.term, d.name)
            if found != result_element(d.name, d.dims):
                self.formula(found, d.dims, d.name)

    def chain(self, whole: Sum, begins: Term | None, name: str, *, is_less: bool) -> None:
        """Products of what is summed, term by term: the first begins with `begins`, each other with the one before."""
        parts = addends(whole.term, is_less=is_less)
        for number, (part, is_taken) in enumerate(parts, 1):
            result = name if number == len(parts) else self.fresh()
            is_alone = parts == [(whole.term, is_less)]
            self.link(part, whole.dimension, begins, result, is_less=is_taken, is_alone=is_alone)
            begins = result_element(result, self.d.dims)

    def link(self, term: Term, over: str, begins: Term | None, name: str, *, is_less: bool, is_alone: bool) -> None:
        """Link of a chain: `begins` + the sum of `term` over `over`, or less it. Integers are summed apart: what they
        begin with, and what is the same for all terms, comes in behind.
        """
        sides, outer, is_ordered = split_factors(term, over, self.scope)
        factors, widened = unwiden(sides, self.scope)
        is_integer = self.d.dtype != "f32"
        # A widening product sums narrow factors as they are; anything else has to be computed in the wide type behind
        # it.
        follows = bool(widened) and (is_less or bool(outer) or (is_integer and begins is not None))
        if outer and not follows:
            factors = merge_outer_factors(sides, outer, self.scope)
        # The negation of a factor is exact, so that subtracting a product adds the product of the negated one.
        if is_less and not follows:
            factors = Apply("neg", (factors[0],)), factors[1]
        left, right = (self.factor(side, over) for side in factors)
        start = "" if follows or begins is None else self.array(begins)
        is_ordered = is_integer or (is_ordered and is_alone and not widened)
        made = self.product(left, right, over, self.fresh() if follows else name, widened, start, is_ordered=is_ordered)
        if follows:
            summed = multiply_factors([*outer, made])
            self.formula(add_signed(begins, summed, is_less=is_less), self.d.dims, name)

    def replace_sums(self, term: Term, name: str = "") -> Term:
        """Term with arrays, which products compute, in the place of sums; `name` is for a sum that is all of it."""
        if not self.can.fuses and has_sum(term):
            refuse(f"`{self.d.label}` has a sum inside a formula", self.d.span)

        def change(part: Term) -> Term | None:
            return self.total(part, name if part is term else "") if isinstance(part, Sum) else None

        return rewrite_term(term, change)

    def total(self, whole: Sum, name: str) -> Term:
        """Products of what is summed, and what does not change along the sum, times them (distributive law); of a
        maximum a fold.
        """
        if whole.operation != "add":
            return self.fold(whole, name)
        total, parts = None, addends(whole.term)
        for part, is_less in parts:
            (left, right), outer, _ = split_factors(part, whole.dimension, self.scope)
            self.summed.append(self.d.extents[whole.dimension])
            is_all = parts == [(whole.term, False)] and not outer
            # Each further term and factor rounds once more than one product of two does.
            roundings = len(parts) + len(product_factors(part)) - 3
            over = whole.dimension
            sides = self.factor(left, over), self.factor(right, over)
            is_spread = self.is_row(whole) and sides[1].index == (Affine.symbol(over),) and self.has_columns(sides[1])
            name = "" if is_spread else name
            made = self.product(*sides, over, name if is_all else "", roundings=roundings, is_spread=is_spread)
            total = add_signed(total, multiply_factors([*outer, made]), is_less=is_less)
        assert total is not None, "a sum has terms"
        return total

    def is_row(self, whole: Sum) -> bool:
        """Whether the formula around a sum has dimensions that the sum lacks."""
        return self.can.folds and {*self.scope.dims(whole)} < {*self.around}

    def has_columns(self, leaf: Leaf) -> bool:
        """Whether each element of a vector is there in all columns of a tile: the host lays arguments so, and of what
        stages compute only a row's numbers are.
        """
        return leaf.array in self.rows or all(stage.result != leaf.array for stage in self.stages)

    def reciprocals(self, term: Term, dims: tuple[str, ...], *, is_rounded: bool = False) -> Term:
        """Products with reciprocals in the place of divisions by what is the same for all of a row: one quotient for
        each row (loop-invariant code motion; Allen and Kennedy 2001, section 4.4). `is_rounded`: the quotient becomes
        an integer, which is another one with a reciprocal of few bits.
        """

        def change(part: Term) -> Term | None:
            if isinstance(part, Apply) and part.operation in _ROUNDINGS and not is_rounded:
                return replace(part, operands=tuple(self.reciprocals(o, dims, is_rounded=True) for o in part.operands))
            if not isinstance(part, Apply) or part.operation != "div":
                return None
            first, divisor = part.operands
            read = [leaf for leaf in leaves(divisor) if leaf.index]
            if isinstance(divisor, Number) and divisor.value:
                factors: tuple[Term, ...] = (Number(1.0 / divisor.value),)
            elif read and all(leaf.array in self.rows for leaf in read) and {*self.scope.dims(divisor)} < {*dims}:
                factors = self.row_reciprocal(divisor, in_two=is_rounded and self.can.has_halves)
            else:
                return None
            # One more rounding than the source's.
            self.summed.append(Affine((), 1))
            quotient = self.reciprocals(first, dims, is_rounded=is_rounded)
            products = [Apply("mul", (quotient, factor), part.span) for factor in factors]
            return products[0] if len(products) == 1 else Apply("add", (products[0], products[1]), part.span)

        return rewrite_term(term, change)

    def row_reciprocal(self, divisor: Term, *, in_two: bool) -> tuple[Term, ...]:
        """Reciprocal of a number of a row; `in_two`, with what its own array misses (double-length arithmetic; Dekker
        1971).
        """
        dims, whole = self.scope.dims(divisor), Apply("div", (Number(1.0), divisor))
        found = [self.formula(whole, dims, self.fresh())]
        if in_two:
            found.append(self.formula(Apply("sub", (whole, found[0])), dims, self.fresh()))
        self.rows.update(leaf.array for leaf in found)
        return tuple(found)

    def fold(self, whole: Sum, name: str) -> Leaf:
        """Array that a fold computes; `name` is for one with the definition's dimensions. Raises `Unlike`."""
        d = self.d
        if not self.can.folds:
            refuse(f"stages sum along a dimension, and `{whole.operation}` is no sum", d.span)
        leaf = self.factor(whole.term, whole.dimension)
        read = [*map(index_dimension, leaf.index)]
        if whole.dimension not in read:
            # One element, or several that are the same, as a row's number is.
            return leaf
        own = tuple(n for n in read if n != whole.dimension)
        out = tuple(n for n in (*d.dims, *d.extents) if n in own)
        out = tuple(dict.fromkeys(out))
        result = name if name and out == d.dims else self.fresh()
        parts = self.row_parts(d.extents[whole.dimension])
        made = Fold(result, out, leaf, d.label, (), d.span, over=whole.dimension, operation=whole.operation)
        found = self.fold_of_parts(made, parts) if len(parts) > 1 else self.add(made, self.types[leaf.array])
        self.rows.add(found.array)
        return found

    def row_parts(self, extent: Affine) -> Sequence[tuple[int, int]]:
        """Parts of a row that the machine folds at once, where its length is known."""
        length = extent.constant if extent.is_constant else 1
        width = self.can.row or length
        return [(first, min(first + width, length)) for first in range(0, length, width)]

    def fold_of_parts(self, whole: Fold, parts: Sequence[tuple[int, int]]) -> Leaf:
        """Fold of what folds of parts of a row give (strip mining; Allen and Kennedy 2001, section 5.5)."""
        operation, total = "max" if whole.operation == "maximum" else "min", None
        assert isinstance(whole.term, Leaf), "a fold is of a whole array"
        for part in parts:
            found = self.add(replace(whole, result=self.fresh(), part=part), self.types[whole.term.array])
            self.rows.add(found.array)
            total = found if total is None else Apply(operation, (total, found))
        assert total is not None, "rows have elements"
        return self.formula(total, whole.dims, whole.result)

    def product(
        self,
        left: Leaf,
        right: Leaf,
        over: str,
        name: str,
        widened: str = "",
        begins: str = "",
        *,
        is_ordered: bool = False,
        roundings: int = 0,
        is_spread: bool = False,
    ) -> Leaf:
        """Array that a product computes; `name` is for one with the definition's dimensions. Raises `Unlike` for a
        batch of products.
        """
        d = self.d
        rows, columns = (tuple(map(index_dimension, leaf.index)) for leaf in (left, right))
        if shared := sorted(({*rows} & {*columns}) - {over}):
            refuse(f"both factors have {shared[0]}, which is not summed: these are many products, not one", d.span)
        out = tuple(name for name in dict.fromkeys((*d.dims, *d.extents)) if name in {*rows, *columns} - {over})
        if out != d.dims and self.can.accumulates:
            refuse(f"`{d.label}` does not have the other dimensions of both factors", d.span)
        # The left factor has the rows of the result.
        if out and out[0] in columns:
            left, right = right, left
        result = name if name and out == d.dims else self.fresh()
        dtype = BY_NAME[widened].gives or "f32" if widened else self.types[left.array]
        made = Product(
            result, out, left, right, over, d.label, widened, begins, is_ordered, roundings, d.span, is_spread
        )
        found = self.add(made, dtype)
        if is_spread:
            self.rows.add(found.array)
        return found

    def factor(self, term: Term, over: str) -> Leaf:
        """Factor as an array that has each of the term's dimensions in one place, and all of it."""
        if isinstance(term, Leaf) and self.is_whole_array(term):
            return term
        before, self.summed = self.summed, []
        around, self.around = self.around, self.scope.dims(term)
        made = self.replace_sums(term)
        self.around = around
        # What a product computes is a factor as it is.
        if not isinstance(made, Leaf) or not self.is_whole_array(made):
            made = self.formula(made, self.scope.dims(term), self.fresh())
        self.summed = before
        return made

    def array(self, term: Term) -> str:
        """Array of a term, with the result's dimensions."""
        if isinstance(term, Leaf) and self.is_whole_array(term) and term == result_element(term.array, self.d.dims):
            return term.array
        return self.formula(term, self.d.dims, self.fresh()).array

    def is_whole_array(self, leaf: Leaf) -> bool:
        """Whether a leaf reads its whole array, each dimension by one loop, without padding."""
        names = tuple(map(index_dimension, leaf.index))
        is_plain = len({*names}) == len(names) and {*names} <= {*self.d.extents} and not leaf.padded
        return is_plain and tuple(self.d.extents[n] for n in names) == self.shapes[leaf.array]

    def formula(self, term: Term, dims: tuple[str, ...], name: str) -> Leaf:
        """Array of a formula; of one that is too large, its largest parts are formulas before it."""
        d = self.d
        before, self.around = self.around, dims
        term = self.replace_sums(term)
        self.around = before
        if self.can.folds:
            term = self.reciprocals(term, dims)
        while (part := largest_part(term, self.can)) is not None:
            leaf = self.formula(part, dims, self.fresh())
            term = rewrite_term(term, partial(_substitute, part, leaf))
        dtype = self.scope.element_type(term) or d.dtype
        return self.add(Formula(name, dims, term, d.label, tuple(self.summed), d.span), dtype)

    def add(self, stage: Stage, dtype: ElementType) -> Leaf:
        """Array of a stage, or of an equal one before it (value numbering; Cocke and Schwartz 1970)."""
        shape = tuple(self.d.extents[n] for n in stage.dims)
        number = dtype, shape, _without_names(stage, self.d)
        # What definitions are called is read by others, and by outputs.
        if stage.result != self.d.name and number in self.numbered:
            return result_element(self.numbered[number], stage.dims)
        self.numbered.setdefault(number, stage.result)
        self.types[stage.result] = dtype
        self.shapes[stage.result] = shape
        self.stages.append(stage)
        return result_element(stage.result, stage.dims)

    def fresh(self) -> str:
        return fresh_name(self.d.label, self.taken)


def _without_names(stage: Stage, d: Definition) -> Stage:
    """Stage with numbers in the place of its dimensions, and without names of its own."""
    names = stage.dims if isinstance(stage, Formula) else (*stage.dims, stage.over)
    if isinstance(stage, Fold):
        names = *stage.dims, stage.over
    places = {name: Affine.symbol(f"${n}") for n, name in enumerate(names)}
    dims = tuple(str(places[name]) for name in stage.dims)
    if isinstance(stage, Fold):
        term = substitute_dimensions(stage.term, places, {})
        return replace(stage, result="", dims=dims, term=term, label="", over=str(d.extents[stage.over]))
    if isinstance(stage, Formula):
        return replace(stage, result="", dims=dims, term=substitute_dimensions(stage.term, places, {}), label="")
    left, right = (
        replace(leaf, index=tuple(form.substitute(places) for form in leaf.index)) for leaf in (stage.left, stage.right)
    )
    return replace(stage, result="", dims=dims, left=left, right=right, over=str(d.extents[stage.over]), label="")


def _substitute(part: Term, leaf: Leaf, found: Term) -> Term | None:
    return leaf if found == part else None
