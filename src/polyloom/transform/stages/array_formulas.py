# SPDX-License-Identifier: Apache-2.0
"""Formulas of whole-array programs, for stages: a contraction or a sum is a sum of products, anything else a formula
element by element. Nothing is discovered again from loops.

What only moves elements of arguments (slices, flips, transposes, pads, concatenations, triangles; iotas and masks) is a
view: an argument of its own, which the host lays out. A statement that stores a part of an array becomes a formula over
all of it, a selection by a mask (if-conversion of array statements; Allen and Kennedy 2001, chapter 7). A sum that is
broadcast is multiplied by ones with the dimensions that it lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from polyloom.analysis.dataflow import refuse
from polyloom.diagnostics import Span
from polyloom.ir import formula as terms
from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Constant,
    Contract,
    Gather,
    Program,
    Read,
    Reduce,
    Scan,
    Store,
    Value,
    View,
    axes,
    axis,
    dtype,
    label_extents,
    parts,
    read_array,
    reads,
    shape,
    summed_labels,
    with_parts,
)
from polyloom.ir.formula import Definition, Formulas, Leaf, Number, Output, Sum, Term, index_dimension, leaves
from polyloom.ir.nest import Storage
from polyloom.ir.operations import FLOATS, ElementType
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine
from polyloom.transform.arrays.elements import Place, places
from polyloom.transform.stages.array_terms import (
    EVERYWHERE,
    apply_operation,
    factor_groups,
    free_dimensions,
    has_axis,
    initial_content,
    invert_target,
    is_movement,
    mask_selections,
    named_symbols,
    numeral,
    remove_spans,
    substitute_symbols,
    summed_dimensions,
    view_elements,
)
from polyloom.transform.stages.terms import addends

_LETTERS = "ijklmnpqrst"


@dataclass(frozen=True, slots=True)
class ArrayFormulas:
    """Formulas, and the program of array statements by which the host makes the views among their arguments."""

    formulas: Formulas
    views: Program


class Reader:
    """Symbolic execution of the stores: `contents` are the values of arrays so far, of arguments, views and definitions
    (mutable).
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.taken = {*program.parameters, *(s.name for s in program.storage)}
        self.storage = {s.name: s for s in program.storage if s.role == "argument"}
        self.contents: dict[str, Value] = {s.name: initial_content(s) for s in program.storage}
        self.values = dict[str, Value]()
        self.definitions, self.views = list[Definition](), dict[tuple[str, object], Store]()
        self.dims = dict[str, Affine]()

    # Statements

    def store(self, store: Store) -> None:
        target = store.target
        value, whole = mask_selections(self.substitute(store.value)), self.program[target.name].shape
        if target.index != axes(len(whole)) or target.shape != whole:
            inverse, inside = invert_target(target, whole)
            there = view_elements(value, inverse, whole)
            there = self.align_fixed(there, target, whole)
            value = there if inside is None else Cases(inside, there, self.contents[target.name], whole, store.span)
        if not is_movement(value, self.storage):
            # What is all of a computed array is no copy of it.
            is_whole = isinstance(value, Read) and (value.index, value.shape) == (axes(len(whole)), whole)
            value = value if is_whole and whole else self.define(value, whole, target.name, store.span)
        elif whole and not shape(value):
            # A number alone would not say how many elements the array has.
            value = Cases(EVERYWHERE, value, value, whole, store.span)
        self.contents[target.name] = value

    def align_fixed(self, value: Value, target: Read, whole: Sequence[Affine]) -> Value:
        """A value that is stored at a fixed index, in whose computed arrays this index is the element's own."""
        if isinstance(value, Read) and value.name in self.values and self._extents(value.name) == tuple(whole):
            fixed = [form == own and not has_axis(own) for form, own in zip(value.index, target.index, strict=True)]
            index = [axis(n) if is_fixed else value.index[n] for n, is_fixed in enumerate(fixed)]
            return replace(value, index=tuple(index), shape=tuple(whole))
        return with_parts(value, [self.align_fixed(part, target, whole) for part in parts(value)])

    def substitute(self, value: Value) -> Value:
        """The value with what arrays hold now in the place of their names."""
        if isinstance(value, Read):
            return view_elements(self.contents[value.name], value.index, value.shape)
        return with_parts(value, [self.substitute(part) for part in parts(value)])

    def define(self, value: Value, extents: Sequence[Affine], label: str, span: Span | None) -> Read:
        """An array that is computed; its value is kept, for readers that need it with more dimensions."""
        at = self.fresh_dims(extents)
        # Arrays of one element are numbers to a machine.
        place = tuple(Affine() if extent == Affine((), 1) else form for form, extent in zip(at, extents, strict=True))
        own = tuple(str(form) for form in place if not form.is_constant)
        term = self.term(value, place if shape(value) else (), frozenset(own))
        return self.add_definition(term, own, value, extents, label, span)

    def add_definition(
        self, term: Term, own: tuple[str, ...], value: Value, extents: Sequence[Affine], label: str, span: Span | None
    ) -> Read:
        name = fresh_name(label, self.taken, dotted_name)
        used = {*own, *summed_dimensions(term)}
        kept = {d: e for d, e in self.dims.items() if d in used}
        # A name of the compiler has what the source calls the array before its dot.
        self.definitions.append(Definition(name, label.split(".")[0], own, kept, term, dtype(value), span))
        self.values[name] = value
        return read_array(Storage(name, dtype(value), tuple(extents)), span)

    def fresh_dims(self, extents: Sequence[Affine]) -> tuple[Affine, ...]:
        names = list[str]()
        for extent in extents:
            if any(symbol.startswith("ceil{") for symbol in extent.symbols):
                refuse(f"an axis has {extent} elements, which is no affine form of sizes", self.program.span)
            free = next((letter for letter in _LETTERS if letter not in self.taken), None)
            names.append(fresh_name(free or _LETTERS[0], self.taken))
            self.dims[names[-1]] = extent
        return tuple(map(Affine.symbol, names))

    # Terms

    def term(self, value: Value, at: Place, needed: frozenset[str]) -> Term:
        """The element of a value at a place; a sum gets the `needed` dimensions, those of the formula around it."""
        if is_movement(value, self.storage):
            return self.move_element(value, at)
        match value:
            case Read(name=name):
                return self.computed_element(value, name, places(value.index, at), needed)
            case View(source=source, index=index):
                return self.term(source, places(index, at), needed)
            case Apply(operation=operation, operands=operands, span=span):
                made = [self.term(o, at if shape(o) else (), needed) for o in operands]
                return apply_operation(operation, made, span)
            case Cases(condition=condition, inside=inside, outside=outside, shape=extents, span=span):
                mask = Cases(condition, numeral(1, dtype(inside)), numeral(0, dtype(inside)), extents, span)
                holds = terms.Apply(
                    "gt", (self.move_element(mask, at), Number(0.5 if dtype(inside) in FLOATS else 0)), span
                )
                sides = [self.term(s, at if shape(s) else (), needed) for s in (inside, outside)]
                return terms.Apply("select", (holds, *sides), span)
            case Reduce(operation="add", axes=reduced, source=source):
                own, rest = iter(self.fresh_dims([shape(source)[n] for n in reduced])), iter(at)
                inner = tuple(next(own) if n in reduced else next(rest) for n in range(len(shape(source))))
                over = [str(inner[n]) for n in reduced]
                return self.sum(self.summand(source, inner), over, needed, dtype(value), value.span)
            case Reduce(operation=operation, span=span):
                return refuse(f"stages sum along a dimension, and `{operation}` is no sum", span)
            case Contract():
                return self.contraction(value, at, needed)
            case Gather(span=span):
                return refuse("a gather is no stage: data choose its elements", span)
            case Scan(span=span):
                return refuse("running sums are no stage: each element needs the one before", span)
            case _:
                raise AssertionError(f"{type(value).__name__} only moves")

    def summand(self, value: Value, at: Place) -> Term:
        """Summand: a product's factors are arrays, and one that is a formula reads what is computed with all dimensions
        that it has.
        """
        if isinstance(value, Apply) and value.operation in ("add", "sub", "neg"):
            made = [self.summand(o, at if shape(o) else ()) for o in value.operands]
            return apply_operation(value.operation, made, value.span)
        return self.product_factor(value, at)

    def product_factor(self, value: Value, at: Place) -> Term:
        if isinstance(value, Apply) and value.operation == "mul":
            made = [self.product_factor(o, at if shape(o) else ()) for o in value.operands]
            return apply_operation(value.operation, made, value.span)
        # Twice, because which dimensions a formula has shows only in its term.
        term = self.term(value, at, frozenset())
        own = free_dimensions(term)
        is_spread = any(leaf.array in self.values and len(leaf.index) < len(own) for leaf in leaves(term))
        return self.term(value, at, own) if is_spread and isinstance(term, terms.Apply) else term

    def move_element(self, value: Value, at: Place) -> Term:
        """An element of what only moves: a number, an argument's own element, or one of a view."""
        value = view_elements(value, at, ())
        # A number needs no array: it stands in the words of a formula.
        if isinstance(value, Constant):
            return Number(value.value)
        if isinstance(value, Read):
            names = tuple(map(self.dimension, value.index))
            whole = tuple(self.dims.get(name) for name in names) == self.storage[value.name].shape
            if len({*names}) == len(names) and whole:
                return Leaf(value.name, tuple(map(Affine.symbol, names)))
        return self.viewed_element(value)

    def dimension(self, form: Affine) -> str:
        """The dimension that an index is; "" where it is none."""
        return index_dimension(form)

    def viewed_element(self, value: Value) -> Term:
        """Element of a view with the dimensions that a value names."""
        own = [d for d in self.dims if d in named_symbols(value)]
        extents = tuple(self.dims[d] for d in own)
        made = substitute_symbols(value, {d: axis(n) for n, d in enumerate(own)}, extents)
        return Leaf(self.make_view(made, extents), tuple(map(Affine.symbol, own)))

    def make_view(
        self,
        value: Value,
        extents: tuple[Affine, ...],
        target: tuple[tuple[Affine, ...], tuple[Affine, ...]] | None = None,
    ) -> str:
        """The argument that the host makes of a value; equal ones are one. `target`: the index that is stored to, and
        the extents of its axes, where these are not those of the view.
        """
        key = str(remove_spans(value)), extents
        if key not in self.views:
            name = fresh_name(next((r.name for r in reads(value)), "view"), self.taken, dotted_name)
            storage = Storage(name, dtype(value), extents)
            self.storage[name] = storage
            whole = read_array(storage)
            at = whole if target is None else replace(whole, index=target[0], shape=target[1])
            self.views[key] = Store(at, value)
        return self.views[key].target.name

    def computed_element(self, value: Read, name: str, index: Place, needed: frozenset[str]) -> Term:
        """An element of what is computed: at its own place, or the value again with the dimensions that it lacks."""
        definition = next(d for d in self.definitions if d.name == name)
        kept = [form for form, extent in zip(index, self._extents(name), strict=True) if extent != Affine((), 1)]
        names = tuple(map(index_dimension, kept))
        whole = len({*names, ""}) == len(names) + 1 and all(
            self.dims.get(n) == definition.extents[d] for n, d in zip(names, definition.dims, strict=True)
        )
        if whole and (needed <= {*names} or not needed):
            return Leaf(name, tuple(kept))
        again = self.values[name]
        if not whole:
            refuse(
                f"`{definition.label}` is computed, and would be read at other places than it has in its tiles",
                value.span,
            )
        return self.term(again, index if shape(again) else (), needed)

    def _extents(self, name: str) -> tuple[Affine, ...]:
        found = shape(self.values[name])
        definition = next(d for d in self.definitions if d.name == name)
        return found or tuple(Affine((), 1) for _ in definition.dims)

    # Sums

    def sum(
        self, term: Term, over: Sequence[str], needed: frozenset[str], kind: ElementType, span: Span | None
    ) -> Term:
        """Sum over dimensions, the last one innermost, each a sum of products of two factors."""
        for n, dimension in reversed([*enumerate(over)]):
            # A product's factors are whole arrays, so that an inner sum is computed first.
            if isinstance(term, Sum):
                term = self.materialize(term, kind, span)
            missing = needed - free_dimensions(term) if n == 0 else frozenset[str]()
            term = Sum(self.pair_factors(term, dimension, missing, kind, span), dimension, EVERYWHERE, EVERYWHERE)
        return term

    def materialize(self, term: Term, kind: ElementType, span: Span | None) -> Term:
        """A sum as an array of its own."""
        own = tuple(d for d in self.dims if d in free_dimensions(term))
        extents = tuple(self.dims[d] for d in own)
        label = next((leaf.array for leaf in leaves(term)), "sum").split(".")[0]
        name = fresh_name(label, self.taken, dotted_name)
        kept = {d: e for d, e in self.dims.items() if d in {*own, *summed_dimensions(term)}}
        self.definitions.append(Definition(name, label, own, kept, term, kind, span))
        self.values[name] = Read(name, kind, axes(len(own)), extents, span)
        return Leaf(name, tuple(map(Affine.symbol, own)))

    def pair_factors(
        self, term: Term, over: str, missing: frozenset[str], kind: ElementType, span: Span | None
    ) -> Term:
        """Summand as a product of two groups of factors that share the dimension of the sum alone: ones where there is
        but one, with the dimensions that the sum is missing.
        """
        summed = [part for part, _ in addends(term)]
        if not missing and all(factor_groups(part, over) == 2 for part in summed):
            return term
        if factor_groups(term, over) > 1:
            refuse("a sum of products is spread over the elements of another array", span)
        # The matrix unit alone sums along a dimension, and only products.
        ones = self.array_of_ones([*sorted(missing), over], kind)
        return terms.Apply("mul", (term, ones), span)

    def array_of_ones(self, names: Sequence[str], kind: ElementType) -> Term:
        extents = tuple(self.dims[name] for name in names)
        number = numeral(1, kind)
        # A condition that always holds spreads the number over the axes.
        value = Cases(EVERYWHERE, number, number, extents)
        return Leaf(self.make_view(value, extents), tuple(map(Affine.symbol, names)))

    def contraction(self, value: Contract, at: Place, needed: frozenset[str]) -> Term:
        """Contraction, of more than two operands from the right (matrix chain, without its order by costs)."""
        extents = label_extents(value.labels, value.operands)
        over = summed_labels(value)
        known = dict(zip(value.result, at, strict=True))
        known |= dict(zip(over, self.fresh_dims([extents[label] for label in over]), strict=True))
        operands = [
            (self.term(o, tuple(known[label] for label in labels), frozenset()), {*labels})
            for labels, o in zip(value.labels, value.operands, strict=True)
        ]
        left = [*over]
        while len(operands) > 2:
            (first, of_first), (second, of_second) = operands[-2:]
            elsewhere = {*value.result}.union(*(labels for _, labels in operands[:-2]))
            inner = [label for label in left if label in (of_first | of_second) - elsewhere]
            term: Term = terms.Apply("mul", (first, second), value.span)
            if inner:
                names = [str(known[label]) for label in inner]
                term = self.materialize(
                    self.sum(term, names, frozenset(), dtype(value), value.span), dtype(value), value.span
                )
            left = [label for label in left if label not in inner]
            operands[-2:] = [(term, (of_first | of_second) - {*inner})]
        whole: Term = operands[0][0]
        for factor, _ in operands[1:]:
            whole = terms.Apply("mul", (whole, factor), value.span)
        return self.sum(whole, [str(known[label]) for label in left], needed, dtype(value), value.span)

    # Results

    def finish(self) -> ArrayFormulas:
        outputs = list[Output]()
        for name in self.program.written_arguments:
            storage, held = self.program[name], self.contents[name]
            definition = next((d for d in self.definitions if isinstance(held, Read) and d.name == held.name), None)
            if definition is None or not isinstance(held, Read) or held.index != axes(len(storage.shape)):
                made = self.define(held, storage.shape, name, storage.span)
                definition = next(d for d in self.definitions if d.name == made.name)
            own = [n for n, extent in enumerate(storage.shape) if extent != Affine((), 1)]
            outputs.append(Output(name, definition.name, tuple(range(len(own)))))
        return self.formulas(outputs)

    def formulas(self, outputs: Sequence[Output]) -> ArrayFormulas:
        """Definitions with these outputs, and the views of arguments."""
        arguments = list(self.storage.values())
        formulas = Formulas(
            tuple(self.definitions),
            tuple(outputs),
            {s.name: s.dtype for s in arguments},
            {s.name: s.shape for s in arguments},
        )
        views = Program(
            self.program.name,
            self.program.parameters,
            self.program.assumptions,
            tuple(arguments),
            tuple(self.views.values()),
        )
        return ArrayFormulas(formulas, views)


def array_formulas(program: Program, stores: Iterable[Store]) -> ArrayFormulas:
    """Formulas of a program, whose straight-line form is `stores`. Raises `Unlike` for what is neither a sum of
    products nor element by element.
    """
    reader = Reader(program)
    for store in stores:
        reader.store(store)
    return reader.finish()
