# SPDX-License-Identifier: Apache-2.0
"""Cuts formulas into stages: each sum of products becomes a product, and what is left element-wise formulas.

A sum begins with an array, or with nothing. Its term is a product of two factors that share only the dimension of the
sum. A factor that is a formula of its own becomes an array first: then each product and each sum is one of the
source, in its order. Where the source multiplies in another order, as in (A B) alpha, factors are gathered, which
rounds in another order; so does a sum of several products, which are summed one after another. Integers wrap, so that
every order gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyloom.analysis.contraction import Contraction, Matrix, narrow
from polyloom.analysis.dataflow import Apply, Leaf, Sum, Term, refuse
from polyloom.analysis.formulas import Definition, Formulas
from polyloom.ir.operations import ElementType
from polyloom.names import fresh
from polyloom.sets import Affine
from polyloom.targets.minion.loops.stages.outputs import named, turned
from polyloom.targets.minion.loops.stages.stage import Elementwise, Multiply, Stage, Stages, leaves
from polyloom.targets.minion.loops.stages.terms import (
    added_to,
    addends,
    factors_of,
    multiplied,
    parts_of,
    signed,
    type_of,
    unconverted,
)


def cut(formulas: Formulas, *, exact: bool) -> Stages:
    """`exact`: with the bits of the source where that is possible, also where others take less time. Raises
    `Unlike`."""
    formulas = turned(formulas)
    made = _Cutter(formulas, exact=exact)
    for definition in formulas.definitions:
        made.cut(definition)
    return named(formulas, Stages(tuple(made.stages), made.types, made.shapes))


class _Cutter:
    def __init__(self, formulas: Formulas, *, exact: bool) -> None:
        self.exact = exact
        self.stages = list[Stage]()
        self.types: dict[str, ElementType] = {**formulas.types}
        self.shapes: dict[str, tuple[Affine, ...]] = {**formulas.shapes}
        self.taken = {*formulas.shapes, *(d.name for d in formulas.definitions)}

    def cut(self, d: Definition) -> None:
        self.d = d
        term, is_less = signed(d.term)
        if isinstance(term, Sum):
            self.product(term, None, d.name, is_less=is_less)
        elif isinstance(term, Apply) and isinstance(term.operands[-1], Sum):
            begins, whole = term.operands
            self.product(whole, begins, d.name, is_less=term.operation == "sub")
        else:
            self.element(term, d.dims, d.name)

    def product(self, whole: Term, begins: Term | None, name: str, *, is_less: bool) -> None:
        """What is summed, term by term: the first sum begins with `begins`, each other one with the one before."""
        assert isinstance(whole, Sum)
        parts = list(addends(whole.term, is_less=is_less))
        for number, (part, taken_away) in enumerate(parts, 1):
            result = name if number == len(parts) else self.fresh()
            self.one(part, whole.dimension, begins, result, taken_away, is_alone=parts == [(whole.term, is_less)])
            begins = Leaf(result, tuple(map(Affine.symbol, self.d.dims)))

    def one(self, term: Term, over: str, begins: Term | None, name: str, is_less: bool, *, is_alone: bool) -> None:
        """`begins` + the sum of `term` over `over`, or less it."""
        sides, outer, is_in_order = self.sides(term, over)
        is_integer = self.d.dtype != "f32"
        bare, widened = narrow(Apply("mul", sides))
        is_wide = bool(widened) and isinstance(bare, Apply) and all(isinstance(o, Leaf) for o in bare.operands)
        is_wide = is_wide and (is_integer or not self.exact)
        if is_integer and not is_wide:
            kinds = [str(self.type_of(unconverted(side))) for side in sides]
            kind = next((kind for kind in kinds if kind not in ("i8", "u8")), "i32")
            refuse(
                f"the tensor unit multiplies f32, f16 and bytes, and factors of `{self.d.label}` are {kind}",
                self.d.span,
            )
        # Integers are summed apart: what they begin with, and what is the same for all terms, comes in afterwards.
        last = is_wide and (is_less or bool(outer) or (is_integer and begins is not None))
        if outer and not last:
            sides = self.gathered(sides, outer)
        if is_less and not last:
            sides = Apply("neg", (sides[0],)), sides[1]
        assert isinstance(bare, Apply)
        factors = bare.operands if is_wide else sides
        left, right = (self.factor(side, over) for side in (factors[0], factors[1]))
        start = None if last or begins is None else self.array(begins)
        made = self.fresh() if last else name
        exact = is_integer or (is_in_order and is_alone and not is_wide)
        self.multiply(left, right, over, made, widened if is_wide else "", start, exact=exact)
        if last:
            summed = multiplied([*outer, Leaf(made, tuple(map(Affine.symbol, self.d.dims)))])
            self.element(added_to(begins, summed, is_less=is_less), self.d.dims, name)

    def sides(self, term: Term, over: str) -> tuple[tuple[Term, Term], list[Term], bool]:
        """Both factors, those without the dimension of the sum, and whether the source multiplies in this order."""
        if not isinstance(term, Apply) or term.operation != "mul":
            refuse(f"`{self.d.label}` is no sum of products", self.d.span)
        first, second = term.operands
        is_in_order = over in self.dims(first) & self.dims(second) and self.dims(first) & self.dims(second) == {over}
        factors = factors_of(term)
        outer = [f for f in factors if over not in self.dims(f)]
        if is_in_order and not (outer and self.is_better_apart(first, second, factors)):
            return (first, second), [], True
        groups = self.groups([f for f in factors if over in self.dims(f)], over)
        return (multiplied(groups[0]), multiplied(groups[1])), outer, False

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
        """Factors that share another dimension are together."""
        found = list[tuple[set[str], list[Term]]]()
        for factor in factors:
            dims = self.dims(factor) - {over}
            joint = [group for group in found if group[0] & dims]
            found = [group for group in found if group not in joint]
            found.append((dims.union(*(g[0] for g in joint)), [*(f for g in joint for f in g[1]), factor]))
        if len(found) != 2:
            count = "one factor" if len(found) == 1 else f"{len(found)} factors"
            refuse(f"`{self.d.label}` sums terms of {count} along {over}, and products have two", self.d.span)
        return [group for _, group in found]

    def gathered(self, sides: tuple[Term, Term], outer: Sequence[Term]) -> tuple[Term, Term]:
        """With the factors that are the same for all terms, each where its dimensions are."""
        made = [*sides]
        for factor in outer:
            where = [n for n in (0, 1) if self.dims(factor) <= self.dims(made[n])]
            if not where:
                refuse(f"a factor of `{self.d.label}` has the dimensions of both others", self.d.span)
            best = min(where, key=lambda n: len(self.dims(made[n])))
            made[best] = Apply("mul", (factor, made[best]))
        return made[0], made[1]

    def multiply(
        self, left: Leaf, right: Leaf, over: str, name: str, widened: str, start: str | None, *, exact: bool
    ) -> None:
        out = self.d.dims
        rows, columns = (tuple(map(str, leaf.index)) for leaf in (left, right))
        if shared := sorted((set(rows) & set(columns)) - {over}):
            refuse(f"both factors have {shared[0]}, which is not summed: these are many products, not one", self.d.span)
        if set(out) != {*rows, *columns} - {over}:
            refuse(f"`{self.d.label}` does not have the other dimensions of both factors", self.d.span)
        if out and out[0] in columns:
            left, right, rows, columns = right, left, columns, rows
        of_rows, of_columns = (tuple(d for d in out if d in dims) for dims in (rows, columns))
        made = Contraction(
            Matrix(left.array, tuple(map(rows.index, of_rows)), (rows.index(over),)),
            Matrix(right.array, (columns.index(over),), tuple(map(columns.index, of_columns))),
            Matrix(name, tuple(map(out.index, of_rows)), tuple(map(out.index, of_columns))),
            over,
            widened,
            begins=start or "",
        )
        self.add(Multiply(made, out, self.d.shape, "i32" if widened == "to_i32" else "f32", exact, self.d.span))

    def factor(self, term: Term, over: str) -> Leaf:
        """An array that has each of the term's dimensions in one place, and all of it."""
        if isinstance(term, Leaf) and self.is_whole(term):
            return term
        dims = tuple(d for d in (*self.d.dims, over) if d in self.dims(term))
        return self.element(term, dims, self.fresh())

    def array(self, term: Term) -> str:
        """One with the result's dimensions."""
        if isinstance(term, Leaf) and self.is_whole(term) and term.index == tuple(map(Affine.symbol, self.d.dims)):
            return term.array
        return self.element(term, self.d.dims, self.fresh()).array

    def is_whole(self, leaf: Leaf) -> bool:
        names = tuple(map(str, leaf.index))
        is_plain = len(set(names)) == len(names) and set(names) <= set(self.d.extents)
        return is_plain and tuple(self.d.extents[n] for n in names) == self.shapes[leaf.array]

    def element(self, term: Term, dims: tuple[str, ...], name: str) -> Leaf:
        d = self.d
        if any(isinstance(part, Sum) for part in parts_of(term)):
            refuse(f"`{d.label}` has a sum inside a formula", d.span)
        dtype = self.type_of(term) or d.dtype
        self.add(Elementwise(name, dims, tuple(d.extents[n] for n in dims), term, dtype, d.span))
        return Leaf(name, tuple(map(Affine.symbol, dims)))

    def add(self, stage: Stage) -> None:
        self.types[stage.result], self.shapes[stage.result] = stage.dtype, stage.extents
        self.stages.append(stage)

    def fresh(self) -> str:
        return fresh(self.d.label, self.taken)

    def dims(self, term: Term) -> set[str]:
        return {name for leaf in leaves(term) for at in leaf.index for name in at.symbols & set(self.d.extents)}

    def type_of(self, term: Term) -> ElementType | None:
        """None of a number alone, which has the type of what it meets."""
        return type_of(term, self.types)
