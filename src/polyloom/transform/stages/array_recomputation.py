# SPDX-License-Identifier: Apache-2.0
"""Formulas of whole-array programs whose computed arrays are read at other places than they have: transposed heads,
every second channel, a row of a cache. On a machine that moves no single elements, such a read computes the value again
for the places that it needs, down to the arguments, which the host lays out (rematerialization; Briggs, Cooper, Torczon
1992, of arrays).

    q[t, h, d] = (h @ w)[t, 8*h + d]       the product of h with a view of w
    even[t, i] = q[t, 2*i]                 the product of h with every second column of it

- An axis that a store puts together of digits, `8*h + 2*i + e`, is one dimension with these digits
  (`array_places`).
- A dimension that both factors of a product have and that is not summed makes many products, not one: where it has few
  elements, and a sum or nothing is left of it, its elements are computed one by one (unrolling).
- Each place is computed once, whoever reads it (value numbering).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from polyloom.analysis.dataflow import refuse
from polyloom.diagnostics import Span
from polyloom.ir import formula as terms
from polyloom.ir.arrays.program import (
    Cases,
    Constant,
    Contract,
    Program,
    Read,
    Reduce,
    Store,
    Value,
    View,
    axes,
    axis,
    dtype,
    label_extents,
    read_array,
    shape,
    summed_labels,
)
from polyloom.ir.formula import Definition, Leaf, Number, Output, Sum, Term, index_dimension, leaves
from polyloom.ir.nest import Storage
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.transform.arrays.elements import Place
from polyloom.transform.stages.array_formulas import ArrayFormulas, Reader
from polyloom.transform.stages.array_places import (
    Radices,
    form_digits,
    label_radices,
    solve_digits,
    strides,
    value_radices,
)
from polyloom.transform.stages.array_terms import EVERYWHERE, named_symbols, substitute_symbols, view_elements

_MOST: Final = 16
"""Elements of a dimension that is unrolled."""
_DEFINITIONS: Final = 512
"""Arrays of a program, beyond which another form of it certainly takes less."""
_FOLDS: Final = ("maximum", "minimum")


class SharedDimensionError(Exception):
    """A dimension that both factors of a product have, and that is not summed."""

    def __init__(self, dimension: str, span: Span | None) -> None:
        super().__init__(dimension)
        self.dimension, self.span = dimension, span

    def rename_dimension(self, names: Mapping[str, str]) -> SharedDimensionError:
        return SharedDimensionError(names.get(self.dimension, self.dimension), self.span)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A computed array as it was stored: the extents of the store's axes, and the index that they are stored at."""

    extents: tuple[Affine, ...]
    index: tuple[Affine, ...]
    label: str
    span: Span | None


def recomputed_formulas(program: Program, stores: Sequence[Store], *, has_rows: bool = True) -> ArrayFormulas:
    """Formulas of a program, whose straight-line form is `stores`; with `has_rows`, a sum along rows is one number for
    all of a row, else it has the dimensions of the formula around it. Raises `Unlike`.
    """
    reader = _Recomputer(program)
    reader.has_rows = has_rows
    for store in stores:
        reader.store(store)
    return reader.finish()


class _Recomputer(Reader):
    """Reader that defines arrays when they are read: `kept` by name, `known` by name and place (mutable). A dimension
    of several digits has them in `digits`; `owner` has by digit its dimension.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.has_rows = True
        self.kept = dict[str, _Kept]()
        self.known = dict[tuple[str, tuple[str, ...]], str]()
        self.digits = dict[str, tuple[str, ...]]()
        self.owner = dict[str, str]()
        self.forms = dict[Affine, str]()
        self.sizes = dict[str, Affine]()

    # Dimensions

    def fresh_place(self, extent: Affine, radices: Radices) -> Affine:
        """Index of a new dimension: of several digits, where the axis has radices."""
        (form,) = self.fresh_dims((extent,))
        name = str(form)
        self.sizes[name] = extent
        if not radices:
            return form
        names = tuple(fresh_name(name, self.taken, dotted_name) for _ in radices)
        self.digits[name] = names
        self.owner |= dict.fromkeys(names, name)
        self.sizes |= {n: Affine((), r) for n, r in zip(names, radices, strict=True)}
        made = Affine.from_terms(dict(zip(names, strides(radices), strict=True)))
        self.forms[made] = name
        return made

    def dimension(self, form: Affine) -> str:
        return self.forms.get(form) or index_dimension(form)

    def dimensions(self, symbols: Sequence[str] | frozenset[str]) -> tuple[str, ...]:
        """Dimensions of symbols, in the order in which they were made."""
        owners = {self.owner.get(name, name) for name in symbols}
        return tuple(name for name in self.dims if name in owners)

    def needed_dimensions(self, place: Sequence[Affine]) -> frozenset[str]:
        return frozenset(self.dimensions([name for form in place for name in sorted(form.symbols)]))

    def axis_radices(self, name: str, number: int) -> Radices:
        """Radices of an axis of a computed array; arguments are laid out as they are needed."""
        kept = self.kept.get(name)
        if kept is None:
            return ()
        own = form_digits(kept.index[number], kept.extents)
        inner = index_dimension(kept.index[number])
        if own or not inner.startswith("$"):
            return own
        return value_radices(self.values[name], int(inner[1:]), self.axis_radices)

    # Statements

    def store(self, store: Store) -> None:
        target = store.target
        whole = self.program[target.name].shape
        value = self.substitute(store.value)
        if _is_digit_store(target, whole):
            kept = _Kept(target.shape, target.index, target.name, store.span)
            self.contents[target.name] = self.keep(value, whole, kept)
            return
        if (every := _lowest_digit(target, whole)) is not None:
            self.store_digit(*every, value, whole, store.span)
            return
        super().store(store)

    def store_digit(self, target: Read, number: int, value: Value, whole: Sequence[Affine], span: Span | None) -> None:
        """Store where the last axis of the target is a number, and elsewhere what the array held."""
        last = axis(len(target.shape) - 1)
        held = view_elements(self.contents[target.name], target.index, target.shape)
        new = view_elements(value, axes(len(target.shape) - 1), target.shape)
        chosen = Condition((Polyhedron((last - number, Affine((), number) - last)),))
        made = Cases(chosen, new, held, target.shape, span)
        kept = _Kept(target.shape, target.index, target.name, span)
        self.contents[target.name] = self.keep(made, whole, kept)

    def keep(self, value: Value, whole: Sequence[Affine], kept: _Kept) -> Read:
        name = fresh_name(kept.label, self.taken, dotted_name)
        self.kept[name], self.values[name] = kept, value
        return read_array(Storage(name, dtype(value), tuple(whole)), kept.span)

    def define(self, value: Value, extents: Sequence[Affine], label: str, span: Span | None) -> Read:
        whole = tuple(extents)
        return self.keep(value, whole, _Kept(whole, axes(len(whole)), label, span))

    def align_fixed(self, value: Value, target: Read, whole: Sequence[Affine]) -> Value:
        # Fixed places of computed arrays are places like others.
        del target, whole
        return value

    # Elements

    def computed_element(self, value: Read, name: str, index: Place, needed: frozenset[str]) -> Term:
        kept, again = self.kept[name], self.values[name]
        place = solve_digits(kept.index, kept.extents, index, self.sizes) if shape(again) else ()
        if place is None:
            label = kept.label.split(".")[0]
            refuse(
                f"`{label}` is computed, and is read at places that are no digits of those it is stored at", value.span
            )
        unit = Affine((), 1)
        place = tuple(Affine() if e == unit else form for form, e in zip(place, kept.extents, strict=False))
        # What only moves elements of computed arrays is no array of its own.
        if isinstance(again, Read | View):
            return self.term(again, place, needed)
        leaf = self.place_array(name, place)
        own = frozenset(map(index_dimension, leaf.index))
        return leaf if needed <= own else self.spread(again, leaf, place, needed)

    def spread(self, again: Value, leaf: Leaf, place: Place, needed: frozenset[str]) -> Term:
        """An element with dimensions that its array lacks: the value again, or one of a number for each row."""
        definition = next(d for d in self.definitions if d.name == leaf.array)
        if isinstance(definition.term, Sum) and definition.term.operation in _FOLDS:
            return leaf
        return self.term(again, place, needed)

    def place_array(self, name: str, place: Place) -> Leaf:
        """The array of a value at a place, defined once."""
        kept = self.kept[name]
        symbols = [*dict.fromkeys(s for form in place for s, _ in form.terms if s in self.sizes)]
        own = list(dict.fromkeys(self.owner.get(s, s) for s in symbols))
        numbers = {s: Affine.symbol(f"${n}") for n, s in enumerate(self.linear_digits(own))}
        key = name, (*(str(form.substitute(numbers)) for form in place), *(str(self.sizes[d]) for d in own))
        if key not in self.known:
            self.known[key] = self.define_place(name, place, own, kept)
        return Leaf(self.known[key], tuple(map(Affine.symbol, own)))

    def linear_digits(self, own: Sequence[str]) -> list[str]:
        return [digit for d in own for digit in self.digits.get(d, (d,))]

    def define_place(self, name: str, place: Place, own: Sequence[str], kept: _Kept) -> str:
        """Definition of a value at a place, over new dimensions like `own`."""
        if len(self.definitions) >= _DEFINITIONS:
            refuse(
                f"more than {_DEFINITIONS} arrays would have to be computed, for places at which others are read", None
            )
        copies = [
            self.fresh_place(self.sizes[d], tuple(self.sizes[s].constant for s in self.digits.get(d, ()))) for d in own
        ]
        names = [self.dimension(form) for form in copies]
        renamed = dict(zip(self.linear_digits(own), self.linear_digits(names), strict=True))
        at = tuple(form.substitute({s: Affine.symbol(n) for s, n in renamed.items()}) for form in place)
        value = self.values[name]
        try:
            term = self.term(value, at, frozenset(names))
        except SharedDimensionError as shared:
            raise shared.rename_dimension({new: old for old, new in renamed.items()}) from None
        extents = tuple(self.dims[d] for d in names)
        before = self.values
        # The definition's own name is a new one: the array's is that of all of its places.
        self.values = dict[str, Value]()
        made = self.add_definition(term, tuple(names), value, extents, kept.label, kept.span)
        self.values = before
        return made.name

    def viewed_element(self, value: Value) -> Term:
        # What a local array holds before it is stored to is a number.
        if isinstance(value, Cases) and isinstance(value.inside, Constant) and value.inside == value.outside:
            return Number(value.inside.value)
        own = self.dimensions(named_symbols(value))
        flat = self.linear_digits(own)
        extents = tuple(self.sizes.get(s, self.dims.get(s, Affine())) for s in flat)
        named = substitute_symbols(value, {s: axis(n) for n, s in enumerate(flat)}, extents)
        target, numbers = list[Affine](), iter(range(len(flat)))
        for d in own:
            digits = self.digits.get(d, (d,))
            radices = tuple(self.sizes[s].constant for s in digits) if len(digits) > 1 else ()
            factors = strides(radices) if radices else (1,)
            target.append(Affine.from_terms({f"${next(numbers)}": f for f in factors}))
        whole = tuple(self.dims[d] for d in own)
        name = self.make_view(named, whole, (tuple(target), extents))
        return Leaf(name, tuple(map(Affine.symbol, own)))

    def term(self, value: Value, at: Place, needed: frozenset[str]) -> Term:
        if isinstance(value, Reduce) and value.operation in ("add", *_FOLDS):
            return self.reduction(value, at, needed)
        return super().term(value, at, needed)

    # Reductions

    def reduction(self, value: Reduce, at: Place, needed: frozenset[str]) -> Term:
        """Reduction along axes, of which each is a dimension."""
        extents = shape(value.source)
        radices = [value_radices(value.source, n, self.axis_radices) for n in range(len(extents))]
        own = {n: self.fresh_place(extents[n], radices[n]) for n in value.axes}
        rest = iter(at)
        inner = tuple(own[n] if n in own else next(rest) for n in range(len(extents)))
        over = [self.dimension(own[n]) for n in value.axes]
        if value.operation == "add":
            spread = frozenset[str]() if self.has_rows else needed
            return self.sum(self.summand(value.source, inner), over, spread, dtype(value), value.span)
        if len(over) > 1:
            refuse(f"a stage takes a {value.operation} along one dimension", value.span)
        return self.fold(value, inner)

    def fold(self, value: Reduce, inner: Place) -> Term:
        """Maximum or minimum along one axis; of what is a product for each element of a digit of it, one after
        another.
        """
        (along,) = value.axes
        try:
            term = self.term(value.source, inner, self.needed_dimensions(inner))
        except SharedDimensionError as shared:
            if shared.dimension not in inner[along].symbols:
                raise
            total: Term | None = None
            for part, is_fixed in self.unrolled_places(inner[along], shared):
                place = (*inner[:along], part, *inner[along + 1 :])
                made = (
                    self.term(value.source, place, self.needed_dimensions(place))
                    if is_fixed
                    else self.fold(value, place)
                )
                operation = "max" if value.operation == "maximum" else "min"
                total = made if total is None else terms.Apply(operation, (total, made), value.span)
            assert total is not None, "dimensions have elements"
            return total
        form = inner[along]
        own = form - form.constant
        return Sum(term, self.dimension(own), EVERYWHERE, EVERYWHERE, value.operation)

    def contraction(self, value: Contract, at: Place, needed: frozenset[str]) -> Term:
        extents = label_extents(value.labels, value.operands)
        known = dict(zip(value.result, at, strict=True))
        over = summed_labels(value)
        for label in over:
            known[label] = self.fresh_place(extents[label], label_radices(value, label, self.axis_radices))
        return self.unrolled_contraction(value, known, over, needed)

    def unrolled_contraction(
        self, value: Contract, known: Mapping[str, Affine], over: str, needed: frozenset[str]
    ) -> Term:
        """Contraction; a summed dimension that makes many products of one behind it is unrolled."""
        for label in value.result:
            if sum(label in labels for labels in value.labels) > 1 and known[label].symbols & self.sizes.keys():
                raise SharedDimensionError(min(known[label].symbols & self.sizes.keys()), value.span)
        try:
            return self.products(value, known, over, needed)
        except SharedDimensionError as shared:
            label = next((each for each in over if shared.dimension in known[each].symbols), None)
            if label is None:
                raise
            return self.unroll(value, known, over, label, shared, needed)

    def unroll(
        self,
        value: Contract,
        known: Mapping[str, Affine],
        over: str,
        label: str,
        shared: SharedDimensionError,
        needed: frozenset[str],
    ) -> Term:
        """Sum over the elements of a digit of a label, one after another."""
        total: Term | None = None
        for part, is_fixed in self.unrolled_places(known[label], shared):
            left = over.replace(label, "") if is_fixed else over
            made = self.unrolled_contraction(value, {**known, label: part}, left, needed)
            total = made if total is None else terms.Apply("add", (total, made), value.span)
        assert total is not None, "dimensions have elements"
        return total

    def unrolled_places(self, form: Affine, shared: SharedDimensionError) -> Iterator[tuple[Affine, bool]]:
        """Index for each element of a dimension that it names, and whether no other dimension is left in it."""
        size = self.sizes[shared.dimension]
        if not size.is_constant or size.constant > _MOST:
            refuse(f"a product for each of {size} elements is many products, not one", shared.span)
        for number in range(size.constant):
            fixed = form.substitute({shared.dimension: Affine((), number)})
            rest = self.remaining_digits(form, shared.dimension)
            yield (fixed, True) if rest is None else (rest[0] + fixed.constant, False)

    def remaining_digits(self, form: Affine, without: str) -> tuple[Affine] | None:
        """Index of the digits that are left of a label, which are a new dimension; None of a label of one digit."""
        others = [name for name, _ in sorted(form.terms, key=lambda each: -each[1]) if name != without]
        if not others:
            return None
        radices = tuple(self.sizes[name].constant for name in others)
        made = self.fresh_place(Affine((), prod(radices)), radices if len(radices) > 1 else ())
        own = self.linear_digits([self.dimension(made)])
        return (Affine.from_terms({new: form.coefficient(old) for new, old in zip(own, others, strict=True)}),)

    def products(self, value: Contract, known: Mapping[str, Affine], over: str, needed: frozenset[str]) -> Term:
        """Sum of products of operands, the last two first."""
        if len(value.operands) > 2:
            refuse("a product of more than two arrays is several", value.span)
        whole: Term | None = None
        for labels, operand in zip(value.labels, value.operands, strict=True):
            place = tuple(known[label] for label in labels)
            factor = self.term(operand, place, self.needed_dimensions(place))
            whole = factor if whole is None else terms.Apply("mul", (whole, factor), value.span)
        assert whole is not None, "a contraction has operands"
        names = [d for label in over for d in self.dimensions(known[label].symbols)]
        return self.sum(whole, names, needed, dtype(value), value.span) if names else whole

    # Results

    def finish(self) -> ArrayFormulas:
        outputs = list[Output]()
        for name in self.program.written_arguments:
            held = self.contents[name]
            extents = self.program[name].shape
            if not (isinstance(held, Read) and held.name in self.kept and held.index == axes(len(extents))):
                held = self.define(held, extents, name, self.program[name].span)
            outputs.append(self.output(name, held, extents))
        self.definitions = _used_definitions(self.definitions, {o.definition for o in outputs})
        made = self.formulas(outputs)
        return replace(made, views=_used_views(made))

    def output(self, name: str, held: Read, extents: Sequence[Affine]) -> Output:
        """Output whose array is defined over new dimensions."""
        unit = Affine((), 1)
        place = tuple(
            Affine() if extent == unit else self.fresh_place(extent, self.axis_radices(held.name, n))
            for n, extent in enumerate(extents)
        )
        try:
            found = self.computed_element(held, held.name, place, self.needed_dimensions(place))
        except SharedDimensionError as shared:
            refuse("a product for each element of a dimension is many products, not one", shared.span)
        own = [self.dimension(form) for form in place if form != Affine()]
        if not isinstance(found, Leaf) or [*map(index_dimension, found.index)] != own or found.array in self.storage:
            kind, span = held.dtype, self.program[name].span
            whole = tuple(self.dims[d] for d in own)
            before, self.values = self.values, dict[str, Value]()
            defined = self.add_definition(found, tuple(own), Read(name, kind, (), whole), whole, name, span).name
            self.values = before
        else:
            defined = found.array
        return Output(name, defined, tuple(range(len(own))))


def _is_digit_store(target: Read, whole: Sequence[Affine]) -> bool:
    """Whether a store writes all of an array, with an axis that is put together of digits."""
    named = [name for form in target.index for name, _ in form.terms]
    needed = {str(axis(n)) for n, extent in enumerate(target.shape) if extent != Affine((), 1)}
    if len({*named}) < len(named) or not needed <= {*named}:
        return False
    digits = [form_digits(form, target.shape) for form in target.index]
    return any(digits) and all(
        Affine((), prod(own)) == extent if own else _is_whole_axis(form, extent, target.shape)
        for form, own, extent in zip(target.index, digits, whole, strict=True)
    )


def _is_whole_axis(form: Affine, extent: Affine, extents: Sequence[Affine]) -> bool:
    if form.is_constant:
        return form == Affine() and extent == Affine((), 1)
    name = index_dimension(form)
    return name.startswith("$") and extents[int(name[1:])] == extent


def _lowest_digit(target: Read, whole: Sequence[Affine]) -> tuple[Read, int] | None:
    """A store of every n-th element of an axis as one of all digits, of which the last is fixed: the store with an axis
    for this digit, and its number.
    """
    for n, form in enumerate(target.index):
        factors = [factor for name, factor in form.terms if name.startswith("$")]
        step = min(factors, default=1)
        if step < 2 or not 0 <= form.constant < step:
            continue
        number = form.constant
        index = tuple(
            each - number + axis(len(target.shape)) if n == m else each for m, each in enumerate(target.index)
        )
        made = replace(target, index=index, shape=(*target.shape, Affine((), step)))
        return (made, number) if _is_digit_store(made, whole) else None
    return None


def _used_definitions(definitions: Sequence[Definition], needed: set[str]) -> list[Definition]:
    """Definitions that others or outputs need (dead code elimination)."""
    kept = list[Definition]()
    for definition in reversed(definitions):
        if definition.name in needed:
            kept.append(definition)
            needed |= {leaf.array for leaf in leaves(definition.term)}
    return kept[::-1]


def _used_views(made: ArrayFormulas) -> Program:
    """The views that formulas read, and the arguments."""
    read = {leaf.array for d in made.formulas.definitions for leaf in leaves(d.term)}
    body = tuple(s for s in made.views.body if isinstance(s, Store) and s.target.name in read)
    stored = {s.target.name for s in made.views.body if isinstance(s, Store)}
    storage = tuple(s for s in made.views.storage if s.name not in stored or s.name in read)
    return replace(made.views, storage=storage, body=body)
