# SPDX-License-Identifier: Apache-2.0
"""Cuts formulas into stages: each sum of products becomes products, and what is left element-wise formulas.

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
from dataclasses import dataclass
from functools import partial
from typing import Final

from polyloom.analysis.calls import with_calls
from polyloom.analysis.contraction import narrow
from polyloom.analysis.dataflow import refuse
from polyloom.ir import stage_text, stage_verify
from polyloom.ir.formula import (
    Apply,
    Definition,
    Formulas,
    Leaf,
    Sum,
    Term,
    has_sum,
    leaves,
    loop_of,
    result_element,
    rewrite,
    subterms,
    type_of,
)
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.stage import Formula, Product, Program, Stage
from polyloom.names import fresh
from polyloom.passes import Form
from polyloom.sets import Affine
from polyloom.transform.stages.terms import (
    accumulate,
    addends,
    factors_of,
    inline_definitions,
    product_of,
    split_sum,
    unconverted,
)

STAGES: Final = Form(stage_text.text, stage_verify.verify)
"""What passes that cut leave."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What stages of a machine can be. `unit` multiplies elements of the types `factors`, in messages by this name.
    `accumulates`: sums may begin with an array. `fuses`: a formula contains what it alone reads, library functions and
    sums too. `arrays` and `scalars`: how many a formula may read; 0 is without a limit."""

    unit: str
    factors: frozenset[ElementType]
    accumulates: bool = False
    fuses: bool = False
    arrays: int = 0
    scalars: int = 0


def cut(formulas: Formulas, can: Abilities, *, exact: bool = False) -> Program:
    """`exact`: with the bits of the source where that is possible, also where others take less time. Raises
    `Unlike`."""
    formulas = inline_definitions(with_calls(formulas)) if can.fuses else formulas
    made = _Cutter(formulas, can, exact=exact)
    for definition in formulas.definitions:
        made.cut(definition)
    return Program(tuple(made.stages), made.types, made.shapes, formulas.outputs)


def fits(term: Term, can: Abilities) -> bool:
    """Whether a formula reads no more than a machine's may."""
    scalars = {leaf.array for leaf in leaves(term) if not leaf.index}
    return (not can.arrays or len(_elements(term)) <= can.arrays) and (not can.scalars or len(scalars) <= can.scalars)


class _Cutter:
    """The stages of definitions, one after another (mutable)."""

    def __init__(self, formulas: Formulas, can: Abilities, *, exact: bool) -> None:
        self.can, self.exact = can, exact
        self.stages = list[Stage]()
        self.types: dict[str, ElementType] = {**formulas.types}
        self.shapes: dict[str, tuple[Affine, ...]] = {**formulas.shapes}
        self.taken = {*formulas.shapes, *(d.name for d in formulas.definitions)}

    def cut(self, d: Definition) -> None:
        self.d, self.summed = d, list[Affine]()
        begins, whole, is_less = split_sum(d.term)
        if whole is not None and self.can.accumulates:
            self.chain(whole, begins, d.name, is_less=is_less)
        else:
            found = self.without_sums(d.term, d.name)
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
        """`begins` + the sum of `term` over `over`, or less it. Integers are summed apart: what they begin with, and
        what is the same for all terms, comes in behind."""
        sides, outer, is_ordered = self.sides(term, over)
        factors, widened = self.unwidened(sides)
        is_integer = self.d.dtype != "f32"
        follows = bool(widened) and (is_less or bool(outer) or (is_integer and begins is not None))
        if outer and not follows:
            factors = self.gather(sides, outer)
        if is_less and not follows:
            factors = Apply("neg", (factors[0],)), factors[1]
        start = "" if follows or begins is None else self.array(begins)
        is_ordered = is_integer or (is_ordered and is_alone and not widened)
        left, right = (self.factor(side, over) for side in factors)
        made = self.product(left, right, over, self.fresh() if follows else name, widened, start, is_ordered=is_ordered)
        if follows:
            summed = product_of([*outer, made])
            self.formula(accumulate(begins, summed, is_less=is_less), self.d.dims, name)

    def without_sums(self, term: Term, name: str = "") -> Term:
        """A term with arrays, which products compute, in the place of sums; `name` is for a sum that is all of it."""
        if not self.can.fuses and has_sum(term):
            refuse(f"`{self.d.label}` has a sum inside a formula", self.d.span)

        def change(part: Term) -> Term | None:
            return self.total(part, name if part is term else "") if isinstance(part, Sum) else None

        return rewrite(term, change)

    def total(self, whole: Sum, name: str) -> Term:
        """Products of what is summed, and what does not change along the sum, times them."""
        total, parts = None, addends(whole.term)
        for part, is_less in parts:
            (left, right), outer, _ = self.sides(part, whole.dimension)
            self.summed.append(self.d.extents[whole.dimension])
            is_all = parts == [(whole.term, False)] and not outer
            roundings = len(parts) + len(factors_of(part)) - 3
            over = whole.dimension
            sides = self.factor(left, over), self.factor(right, over)
            made = self.product(*sides, over, name if is_all else "", roundings=roundings)
            total = accumulate(total, product_of([*outer, made]), is_less=is_less)
        assert total is not None, "a sum has terms"
        return total

    def unwidened(self, sides: tuple[Term, Term]) -> tuple[tuple[Term, ...], str]:
        """Factors without a conversion that the machine's products make, and that. Raises `Unlike` for types that it
        does not multiply."""
        bare, widened = narrow(Apply("mul", sides))
        is_integer = self.d.dtype != "f32"
        assert isinstance(bare, Apply)
        is_bare = bool(widened) and all(isinstance(o, Leaf) for o in bare.operands) and (is_integer or not self.exact)
        if is_bare:
            return bare.operands, widened
        if is_integer and self.d.dtype not in self.can.factors:
            kinds = [str(self.type_of(unconverted(side))) for side in sides]
            kind = next((kind for kind in kinds if kind not in ("i8", "u8")), "i32")
            message = f"{self.can.unit} multiplies f32, f16 and bytes, and factors of `{self.d.label}` are {kind}"
            refuse(message, self.d.span)
        return sides, ""

    def sides(self, term: Term, over: str) -> tuple[tuple[Term, Term], list[Term], bool]:
        """Both factors, those without the dimension of the sum, and whether the source multiplies in this order."""
        factors = factors_of(term)
        outer = [f for f in factors if over not in self.dims(f)]
        if self.can.accumulates:
            if not isinstance(term, Apply) or term.operation != "mul":
                refuse(f"`{self.d.label}` is no sum of products", self.d.span)
            first, second = term.operands
            is_ordered = {*self.dims(first)} & {*self.dims(second)} == {over}
            if is_ordered and not (outer and self.is_better_apart(first, second, factors)):
                return (first, second), [], True
        groups = self.groups([f for f in factors if over in self.dims(f)], over)
        return (product_of(groups[0]), product_of(groups[1])), outer, False

    def is_better_apart(self, first: Term, second: Term, factors: Sequence[Term]) -> bool:
        """Whether what is the same for all terms had better not be multiplied with the factor beside it: bytes and
        halves have to stay what they are, and a vector is multiplied sooner than a matrix. Of floats, that changes
        bits."""
        if self.d.dtype != "f32":
            return True
        has_halves = any(self.type_of(unconverted(factor)) == "f16" for factor in factors)
        sizes = sorted((len(self.dims(first)), len(self.dims(second))))
        return not self.exact and (has_halves or sizes == [1, 2])

    def groups(self, factors: Sequence[Term], over: str) -> list[list[Term]]:
        """Factors that share another dimension are together; those with no other one go to the first of the rest."""
        found = list[tuple[set[str], list[Term]]]()
        for factor in factors:
            dims = {*self.dims(factor)} - {over}
            joint = [group for group in found if group[0] & dims]
            found = [group for group in found if group not in joint]
            found.append((dims.union(*(g[0] for g in joint)), [*(f for g in joint for f in g[1]), factor]))
        while len(found) > 2 and (alone := next((g for g in found if not g[0]), None)) is not None:
            found.remove(alone)
            found[0] = found[0][0], [*found[0][1], *alone[1]]
        label, span = self.d.label, self.d.span
        if len(found) == 1 and len(found[0][1]) > 1 and found[0][0]:
            name = min(found[0][0])
            refuse(
                f"the factors of `{label}` share {name}, which is not summed: these are many products, not one", span
            )
        if len(found) != 2:
            count = "one factor" if len(found) == 1 else f"{len(found)} factors"
            refuse(f"`{label}` sums terms of {count} along {over}, and {self.can.unit} sums products of two", span)
        return [group for _, group in found]

    def gather(self, sides: tuple[Term, Term], outer: Sequence[Term]) -> tuple[Term, Term]:
        """Factors with those that are the same for all terms, each where its dimensions are."""
        made = [*sides]
        for factor in outer:
            where = [n for n in (0, 1) if {*self.dims(factor)} <= {*self.dims(made[n])}]
            if not where:
                refuse(f"a factor of `{self.d.label}` has the dimensions of both others", self.d.span)
            best = min(where, key=lambda n: len(self.dims(made[n])))
            made[best] = Apply("mul", (factor, made[best]))
        return made[0], made[1]

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
    ) -> Leaf:
        """The array that a product computes; `name` is for one with the definition's dimensions."""
        d = self.d
        rows, columns = (tuple(map(loop_of, leaf.index)) for leaf in (left, right))
        if shared := sorted(({*rows} & {*columns}) - {over}):
            refuse(f"both factors have {shared[0]}, which is not summed: these are many products, not one", d.span)
        out = tuple(name for name in dict.fromkeys((*d.dims, *d.extents)) if name in {*rows, *columns} - {over})
        if out != d.dims and self.can.accumulates:
            refuse(f"`{d.label}` does not have the other dimensions of both factors", d.span)
        if out and out[0] in columns:
            left, right = right, left
        result = name if name and out == d.dims else self.fresh()
        dtype = BY_NAME[widened].gives or "f32" if widened else self.types[left.array]
        made = Product(result, out, left, right, over, d.label, widened, begins, is_ordered, roundings, d.span)
        return self.add(made, dtype)

    def factor(self, term: Term, over: str) -> Leaf:
        """An array that has each of the term's dimensions in one place, and all of it."""
        if isinstance(term, Leaf) and self.is_whole(term):
            return term
        before, self.summed = self.summed, []
        made = self.formula(self.without_sums(term), self.dims(term), self.fresh())
        self.summed = before
        return made

    def array(self, term: Term) -> str:
        """One with the result's dimensions."""
        if isinstance(term, Leaf) and self.is_whole(term) and term == result_element(term.array, self.d.dims):
            return term.array
        return self.formula(term, self.d.dims, self.fresh()).array

    def is_whole(self, leaf: Leaf) -> bool:
        names = tuple(map(loop_of, leaf.index))
        is_plain = len({*names}) == len(names) and {*names} <= {*self.d.extents} and not leaf.padded
        return is_plain and tuple(self.d.extents[n] for n in names) == self.shapes[leaf.array]

    def formula(self, term: Term, dims: tuple[str, ...], name: str) -> Leaf:
        """The array of a formula; of one that is too large, its largest parts are formulas before it."""
        d = self.d
        term = self.without_sums(term)
        while (part := _largest_part(term, self.can)) is not None:
            leaf = self.formula(part, dims, self.fresh())
            term = rewrite(term, partial(_substitute, part, leaf))
        return self.add(Formula(name, dims, term, d.label, tuple(self.summed), d.span), self.type_of(term) or d.dtype)

    def add(self, stage: Stage, dtype: ElementType) -> Leaf:
        self.types[stage.result] = dtype
        self.shapes[stage.result] = tuple(self.d.extents[n] for n in stage.dims)
        self.stages.append(stage)
        return result_element(stage.result, stage.dims)

    def fresh(self) -> str:
        return fresh(self.d.label, self.taken)

    def dims(self, term: Term) -> tuple[str, ...]:
        """In the order of the loops."""
        found = {name for leaf in leaves(term) for at in leaf.index for name in at.symbols}
        return tuple(name for name in dict.fromkeys((*self.d.dims, *self.d.extents)) if name in found)

    def type_of(self, term: Term) -> ElementType | None:
        """None of a number alone, which has the type of what it meets."""
        return type_of(term, self.types)


def _substitute(part: Term, leaf: Leaf, found: Term) -> Term | None:
    return leaf if found == part else None


def _elements(term: Term) -> set[Leaf]:
    return {leaf for leaf in leaves(term) if leaf.index}


def _largest_part(term: Term, can: Abilities) -> Term | None:
    """The largest part that fits, of a formula that reads too much; None of one that fits as it is, or has no part."""
    if fits(term, can):
        return None
    parts = [p for p in list(subterms(term))[1:] if isinstance(p, Apply) and not _compares(p)]
    parts = [p for p in parts if fits(p, can) and len(_elements(p)) > 1]
    return max(parts, key=lambda p: len(_elements(p)), default=None)


def _compares(term: Apply) -> bool:
    return term.operation in ("lt", "le", "eq", "ne", "ge", "gt")
