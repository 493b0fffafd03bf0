# SPDX-License-Identifier: Apache-2.0
"""Cuts formulas into stages: each sum becomes a product, and what is left of a formula an element-wise program.

The term of a sum is taken apart into factors. Those that do not change along the sum are multiplied behind it; the
others fall into two groups that share no other dimension. A group of several factors, or a factor that is a formula,
becomes an element-wise program of its own. A formula of more arrays than `Dst` holds is cut at its largest part that
fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.analysis.calls import with_calls
from polyloom.analysis.contraction import Contraction, Matrix
from polyloom.analysis.dataflow import Apply, Leaf, Sum, Term, refuse
from polyloom.analysis.formulas import Definition, Formulas
from polyloom.diagnostics import input_error
from polyloom.ir.operations import ElementType
from polyloom.names import fresh
from polyloom.sets import Affine
from polyloom.targets.tensix.loops.pointwise import formula
from polyloom.targets.tensix.loops.stages import stage
from polyloom.targets.tensix.loops.stages.stage import Multiply, Stage, Stages
from polyloom.targets.tensix.loops.stages.terms import inlined, leaves, mapped
from polyloom.targets.tensix.loops.steps import ARRAYS, SCALARS, Goal


def cut(formulas: Formulas) -> Stages:
    """Raises `Unlike`. Errors: PL1231 for operations, PL1232 for types."""
    formulas = with_calls(formulas)
    definitions = inlined(formulas)
    dtype = _type(formulas, definitions)
    shapes = {**formulas.shapes}
    made = list[Stage]()
    for definition in definitions:
        _Cutter(definition, dtype, shapes, made, frozenset(formulas.shapes)).cut()
    return Stages(tuple(made), shapes, formulas.outputs, dtype)


def _type(formulas: Formulas, definitions: Sequence[Definition]) -> ElementType:
    read = {leaf.array for d in definitions for leaf in leaves(d.term)}
    kinds = {*(d.dtype for d in definitions), *(kind for name, kind in formulas.types.items() if name in read)}
    if len(kinds) != 1 or not kinds <= {"f32", "i32"}:
        help = "declare all arrays and scalars as f32, or as i32"
        raise input_error("PL1232", "a program on a tile is all f32 or all i32", help=help)
    return "f32" if kinds == {"f32"} else "i32"


class _Cutter:
    """The stages of one definition, behind those that are `made`."""

    def __init__(
        self,
        definition: Definition,
        dtype: ElementType,
        shapes: dict[str, tuple[Affine, ...]],
        made: list[Stage],
        given: frozenset[str],
    ) -> None:
        self.definition, self.shapes, self.made, self.given = definition, shapes, made, given
        self.dtype: ElementType = dtype
        self.taken = {*shapes, definition.name}
        self.begun = list[Affine]()

    def cut(self) -> None:
        d = self.definition
        if isinstance(d.term, Sum):
            found = self.product(d.term, d.name)
            if isinstance(found, Leaf) and found.array == d.name and self.own(found) == d.dims:
                return
            self.element(found, d.dims, d.name)
        else:
            self.element(self.without_sums(d.term), d.dims, d.name)

    def own(self, leaf: Leaf) -> tuple[str, ...]:
        """The dimension that each place of an index is; they run over all of the array."""
        d = self.definition
        names = tuple(
            at.terms[0][0] if at.constant == 0 and [c for _, c in at.terms] == [1] else "" for at in leaf.index
        )
        if len(set(names)) != len(names) or not set(names) <= set(d.extents) or leaf.padded:
            at = ", ".join(map(str, leaf.index))
            refuse(f"`{self.label(leaf)}[{at}]` is not indexed by one loop in each place", d.span)
        for name, extent in zip(names, self.shapes[leaf.array], strict=True):
            if d.extents[name] != extent:
                refuse(f"{name} runs over {d.extents[name]} of the {extent} elements of `{self.label(leaf)}`", d.span)
        return names

    def label(self, leaf: Leaf) -> str:
        return next((each.label for each in self.made if each.result == leaf.array), leaf.array)

    def dims(self, term: Term) -> tuple[str, ...]:
        """In the order of the loops."""
        found = {name for leaf in leaves(term) for name in self.own(leaf)}
        return tuple(name for name in dict.fromkeys((*self.definition.dims, *self.definition.extents)) if name in found)

    def without_sums(self, term: Term) -> Term:
        """With arrays in the place of sums, which are stages then."""

        def change(part: Term) -> Term | None:
            return self.product(part) if isinstance(part, Sum) else None

        return mapped(term, change)

    def element(self, term: Term, out: tuple[str, ...], name: str) -> Leaf:
        """An element-wise program of what has no sums."""
        while (part := _large(term)) is not None:
            leaf = self.element(part, out, self.fresh())
            term = mapped(term, lambda found, part=part, leaf=leaf: leaf if found == part else None)
        d = self.definition
        goal = Goal(d.label, out, self.dtype, d.span)
        found = formula(goal, term, self.own, frozenset(self.shapes) - self.given)
        self.add(stage.Apply(d.label, replace(found, result=name), tuple(self.begun), d.span), out)
        return Leaf(name, tuple(map(Affine.symbol, out)))

    def add(self, made: Stage, out: tuple[str, ...]) -> None:
        self.shapes[made.result] = tuple(self.definition.extents[d] for d in out)
        self.made.append(made)

    def fresh(self) -> str:
        return fresh(self.definition.label, self.taken)

    def product(self, over: Sum, name: str | None = None, rounded: int = 0) -> Term:
        """A sum, as an array that a stage makes, times what does not change along it."""
        label, span = self.definition.label, self.definition.span
        term = over.term
        if isinstance(term, Apply) and term.operation in ("add", "sub", "neg"):
            sums = (Sum(o, over.dimension, over.first, over.where) for o in term.operands)
            return Apply(term.operation, tuple(self.product(s, rounded=rounded + 1) for s in sums), span)
        factors = list(_factors(term))
        outer = [f for f in factors if over.dimension not in self.dims(f)]
        groups = self.groups([f for f in factors if over.dimension in self.dims(f)], over.dimension)
        if len(groups) != 2:
            count = "one factor" if len(groups) == 1 else f"{len(groups)} factors"
            refuse(f"`{label}` sums terms of {count} along {over.dimension}, and a tile sums products of two", span)
        self.begun.append(self.definition.extents[over.dimension])
        left, right = (self.factor(group) for group in groups)
        rows, columns = (tuple(d for d in self.own(f) if d != over.dimension) for f in (left, right))
        out = tuple(d for d in self.dims(over.term) if d in {*rows, *columns})
        if out and out[0] not in rows:
            left, right, rows, columns = right, left, columns, rows
        made = Leaf(name if name is not None and not outer else self.fresh(), tuple(map(Affine.symbol, out)))
        contraction = self.contraction(left, right, made, over.dimension)
        self.add(Multiply(label, contraction, rounded + len(factors) - 2, span), out)
        return _product([*outer, made]) if outer else made

    def contraction(self, left: Leaf, right: Leaf, made: Leaf, over: str) -> Contraction:
        out, of_left, of_right = (tuple(str(at) for at in leaf.index) for leaf in (made, left, right))
        rows = tuple(d for d in out if d in of_left)
        columns = tuple(d for d in out if d in of_right)
        return Contraction(
            Matrix(left.array, tuple(map(of_left.index, rows)), (of_left.index(over),)),
            Matrix(right.array, (of_right.index(over),), tuple(map(of_right.index, columns))),
            Matrix(made.array, tuple(map(out.index, rows)), tuple(map(out.index, columns))),
            over,
        )

    def groups(self, factors: list[Term], over: str) -> list[list[Term]]:
        """Factors that share another dimension are together; those with no other one go to the first of the rest."""
        found = list[tuple[set[str], list[Term]]]()
        for factor in factors:
            dims = {*self.dims(factor)} - {over}
            joint = [group for group in found if group[0] & dims]
            for group in joint:
                found.remove(group)
            all_dims = dims.union(*(group[0] for group in joint))
            found.append((all_dims, [f for group in joint for f in group[1]] + [factor]))
        while len(found) > 2 and (alone := next((g for g in found if not g[0]), None)) is not None:
            found.remove(alone)
            found[0] = found[0][0], [*found[0][1], *alone[1]]
        shared = [dims for dims, group in found if len(group) > 1 and len(found) == 1]
        if shared:
            name = min(shared[0])
            label = self.definition.label
            message = f"the factors of `{label}` share {name}, which is not summed: these are many products, not one"
            refuse(message, self.definition.span)
        return [group for _, group in found]

    def factor(self, group: list[Term]) -> Leaf:
        """An array; of several factors, or of a formula, one that a stage makes."""
        if len(group) == 1 and isinstance(group[0], Leaf):
            return group[0]
        begun, self.begun = self.begun, []
        term = self.without_sums(_product(group))
        made = self.element(term, self.dims(term), self.fresh())
        self.begun = begun
        return made


def _factors(term: Term) -> list[Term]:
    if isinstance(term, Apply) and term.operation == "mul":
        return [factor for operand in term.operands for factor in _factors(operand)]
    return [term]


def _product(factors: Sequence[Term]) -> Term:
    made = factors[0]
    for factor in factors[1:]:
        made = Apply("mul", (made, factor))
    return made


def _large(term: Term) -> Term | None:
    """The largest part that fits, of a formula of too many arrays; None of one that fits as it is, or has no part."""
    if _fits(term):
        return None
    parts = [part for part in _parts(term) if _fits(part) and len(_arrays(part)) > 1]
    return max(parts, key=lambda part: len(_arrays(part)), default=None)


def _fits(term: Term) -> bool:
    scalars = {leaf.array for leaf in leaves(term) if not leaf.index}
    return len(_arrays(term)) <= ARRAYS and len(scalars) <= SCALARS


def _arrays(term: Term) -> set[Leaf]:
    return {leaf for leaf in leaves(term) if leaf.index}


def _parts(term: Term) -> list[Term]:
    """All operations that give numbers, but the whole."""
    if not isinstance(term, Apply):
        return []
    inner = [part for operand in term.operands for part in (operand, *_parts(operand))]
    return [p for p in inner if isinstance(p, Apply) and p.operation not in ("lt", "le", "eq", "ne", "ge", "gt")]
