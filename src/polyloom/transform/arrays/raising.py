# SPDX-License-Identifier: Apache-2.0
"""Raising: nests as programs of whole arrays (Chelini et al., Progressive Raising in Multi-level IR, CGO 2021), with
the same bits for all data. It is the inverse of `lower.py`, for loops that structured operations are.

A band of loops around one assignment is one store, whose axes are the loops that the target's index has (vectorization
of statements; Allen and Kennedy 2001, chapter 2). Its other loops reduce: what begins with the operation's identity is
a sum or a contraction; other sums keep these loops around the store, outermost, for a float sum has one order. A loop
that cannot be an axis stays a loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.ir import nest
from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    For,
    Form,
    If,
    Program,
    Read,
    Reduce,
    Statement,
    Store,
    Value,
    axis,
    dtype,
    reads,
    shape,
    stores,
)
from polyloom.ir.arrays.verify import verify
from polyloom.ir.nest import Assign, Expression, Loop, Nest, Node, Storage, data_symbols, depends_on_symbols
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.arrays.raised_reductions import Reduction, begins_with_identity, contraction, find_reduction
from polyloom.transform.arrays.raised_scalars import expand_scalars

_EXTREMES: Final = ("maximum", "minimum")
"""Reductions that are no single operation on two elements."""


def raise_arrays(source: Nest) -> Program | None:
    """The program of whole arrays that a nest is; None where an element would be stored on its own, or where indices
    are data."""
    if depends_on_symbols(source.body, data_symbols(source)):
        return None
    raising = _Builder(source)
    body = raising.block(source.body)
    used = {name for s in stores(body) for name in (s.target.name, *(r.name for r in reads(s.value)))}
    storage = (*source.storage, *raising.made)
    # Arguments first, as front ends have them: a result may have been a local.
    arguments = tuple(s for s in storage if s.role == "argument")
    kept = (*arguments, *(s for s in storage if s.role == "local" and s.name in used))
    program = Program(source.name, source.parameters, source.assumptions, kept, body, source.span)
    if not _stores_arrays(body):
        return None
    # What is no valid program stays a nest: this is no mistake in the source.
    try:
        verify(program)
    except PolyloomError:
        return None
    return program


def _stores_arrays(body: Sequence[Statement]) -> bool:
    """Whether loops that are left hold stores of arrays alone."""
    for statement in body:
        match statement:
            case For(body=inner):
                if any(not shape(store.target) for store in stores(inner)):
                    return False
            case If(body=first, orelse=second):
                if not _stores_arrays((*first, *second)):
                    return False
            case Store():
                pass
    return True


class _Builder:
    """`made` are arrays in the place of scalars that a band computes, `uses` how often each name is read (mutable)."""

    def __init__(self, source: Nest) -> None:
        self.storage = {s.name: s for s in source.storage}
        self.made = list[Storage]()
        self.taken = set(nest.names(source))
        self.uses = Counter(r.name for a in nest.assignments(source.body) for r in nest.accesses(a.value))

    def block(self, nodes: Sequence[Node]) -> tuple[Statement, ...]:
        found = list[Statement]()
        for node in nodes:
            for statement in self.node(node):
                self.add(statement, found)
        return tuple(found)

    def add(self, statement: Statement | _Sum, found: list[Statement]) -> None:
        """A sum takes the place of the store that began it."""
        if isinstance(statement, _Sum):
            found.extend(statement.replacement_statements(found))
        else:
            found.append(statement)

    def node(self, node: Node) -> Sequence[Statement | _Sum]:
        match node:
            case Assign():
                return (self.store(node, ()),)
            case nest.If(condition=condition, body=body, orelse=orelse, span=span):
                return (If(condition, self.block(body), self.block(orelse), span),)
            case Loop():
                made = self.band(*_band(node))
                if made is not None:
                    return made
                # Fewer loops may be axes: the outermost one stays around them.
                inner = self.block(node.body)
                return (For(node.name, node.lower, node.upper, inner, node.step, node.span, node.called),)

    def band(self, band: Sequence[Loop], body: Sequence[Node]) -> Sequence[Statement | _Sum] | None:
        """A band as stores; None where it is none."""
        assigns, arrays = list(body), list[Storage]()
        # A band of one assignment may reduce into a scalar.
        if len(assigns) > 1 or not isinstance(assigns[0], Assign):
            expanded = expand_scalars(body, band, self.storage, self.uses, self.taken)
            if expanded is None:
                return None
            assigns, arrays = expanded
        for storage in arrays:
            self.storage[storage.name] = storage
        found = [self.store(assign, band) if _is_parallel(assign, band) else None for assign in assigns]
        if len(assigns) == 1 and found[0] is None:
            made = self.reduction(assigns[0], band)
            return None if made is None else (made,)
        stores = [store for store in found if store is not None]
        # Axes are numbered by each store's own target: indices compare where all number them alike.
        targets = [assign.target for node in assigns for assign in nest.assignments((node,))]
        orders = {tuple(loop.name for loop in _in_order(band, target)) for target in targets}
        if len(stores) < len(assigns) or len(orders) > 1 or not _may_distribute(stores):
            return None
        self.made += arrays
        return stores

    def store(self, node: Node, band: Sequence[Loop]) -> Store:
        """A store whose axes are all loops of a band."""
        assign = next(nest.assignments((node,)))
        at, extents = _axes(_in_order(band, assign.target))
        if isinstance(node, nest.If):
            # Without an `else`, elements elsewhere stay as they are.
            others = [each.value for each in nest.assignments(node.orelse)] or [assign.target]
            sides = [self.value(each, at, extents) for each in (assign.value, others[0])]
            value: Value = Cases(node.condition.substitute(at), sides[0], sides[1], extents, node.span)
        else:
            value = self.value(assign.value, at, extents)
        return Store(self.read(assign.target, at, extents), value, node.span)

    def reduction(self, node: Node, band: Sequence[Loop]) -> _Sum | None:
        """An assignment that some loops of a band repeat for each element."""
        if not isinstance(node, Assign):
            return None
        found = find_reduction(node)
        if found is None:
            return None
        own = _in_order([loop for loop in band if _varies(node.target.index, {loop.name})], node.target)
        over = [loop for loop in band if loop not in own]
        if not _has_own_elements(node.target, own):
            return None
        target = self.read(node.target, *_axes(own))
        places, whole = _axes([*own, *over])
        term = self.value(found.term, places, whole, spread=True)
        total = contraction(found.operation, term, len(own), len(over)) or Reduce(
            found.operation, tuple(range(len(own), len(whole))), term, node.span
        )
        # With the loops that reduce outermost, each element has its terms in the same order.
        step: Statement = self.store(node, own)
        for loop in reversed(over):
            step = For(loop.name, loop.lower, loop.upper, (step,), 1, loop.span, loop.called)
        return _Sum(found, Store(target, total, node.span), step)

    def value(
        self, expression: Expression, at: dict[str, Affine], extents: tuple[Affine, ...], *, spread: bool = False
    ) -> Value:
        """An expression of all iterations; what is the same in all of them has rank 0, unless it is to be `spread`."""
        match expression:
            case Reference():
                return self.read(expression, at, extents if spread or _varies(expression.index, at) else ())
            case nest.Index(value=form, dtype=kind, span=span):
                own = extents if spread or _varies((form,), at) else ()
                return Form(form.substitute(at), kind, own, span)
            case nest.Apply(operation=operation, dtype=kind, operands=operands, span=span):
                made = tuple(self.value(operand, at, extents) for operand in operands)
                if spread and not any(map(shape, made)):
                    made = tuple(self.value(operand, at, extents, spread=True) for operand in operands)
                return Apply(operation, kind, made, span)
            case _:
                return expression

    def read(self, reference: Reference, at: dict[str, Affine], extents: tuple[Affine, ...]) -> Read:
        index = tuple(form.substitute(at) for form in reference.index)
        return Read(reference.name, self.storage[reference.name].dtype, index, extents, reference.span)


class _Sum:
    """A reduction into elements that something began: `whole` without what they hold, `step` with it."""

    def __init__(self, found: Reduction, whole: Store, step: Statement) -> None:
        self.found, self.whole, self.step = found, whole, step

    @property
    def has_terms(self) -> bool:
        """Whether each element has a term, which an extreme needs, whatever the sizes are."""
        value = self.whole.value
        extents = shape(value.source) if isinstance(value, Reduce) else ()
        return all(extent.is_constant and extent.constant > 0 for extent in extents)

    def replacement_statements(self, before: list[Statement]) -> list[Statement]:
        """The statements that it is behind others; the store of an identity goes."""
        target = self.whole.target
        if shape(self.whole.value) != target.shape:
            return [self.step]
        if self.found.operation in _EXTREMES and not self.has_terms:
            return [self.step]
        at = next((n for n in reversed(range(len(before))) if _mentions(before[n], target.name)), None)
        last = None if at is None else before[at]
        begins = isinstance(last, Store) and begins_with_identity(self.found.operation, last.value)
        if at is not None and begins and isinstance(last, Store) and _is_same_view(last.target, target):
            # By its place: an equal statement may stand before it, whose value is read in between.
            del before[at]
            return [self.whole]
        kind = dtype(self.whole.value)
        if kind not in ("f16", "f32", "f64") and self.found.operation not in _EXTREMES:
            # Integers wrap: any order gives the same bits.
            value = Apply(self.found.operation, kind, (target, self.whole.value), self.whole.span)
            return [replace(self.whole, value=value)]
        return [self.step]


def _band(loop: Loop) -> tuple[list[Loop], Sequence[Node]]:
    """The outermost loops of a perfect nest whose bounds do not depend on each other, and what is in them."""
    band, body = list[Loop](), (loop,)
    names = set[str]()
    while len(body) == 1 and isinstance(body[0], Loop) and _is_rectangular(body[0], names):
        band.append(body[0])
        names.add(body[0].name)
        body = body[0].body
    return band, body


def _is_rectangular(loop: Loop, names: set[str]) -> bool:
    if loop.step != 1 or len(loop.lower) != 1 or len(loop.upper) != 1 or loop.stepped:
        return False
    # A triangle has no extent that is the same for all iterations.
    return not (loop.lower[0].symbols | loop.upper[0].symbols) & names


def _has_own_elements(target: Reference, loops: Sequence[Loop]) -> bool:
    """Whether each iteration of some loops has an element of its own: each loop is alone in one index."""
    names = {loop.name for loop in loops}
    # A form of two loops, such as i + j, names one element in several iterations.
    alone = [next(iter(own)) for form in target.index if len(own := form.symbols & names) == 1]
    return set(alone) == names and all(len(form.symbols & names) <= 1 for form in target.index)


def _is_parallel(node: Node, band: Sequence[Loop]) -> bool:
    """Whether each iteration stores elements of its own, and reads of that array at most these."""
    assigns = list(nest.assignments((node,)))
    target = assigns[0].target
    own = [r for each in assigns for r in nest.accesses(each.value) if r.name == target.name]
    return _has_own_elements(target, band) and all(r.index == target.index for r in own)


def _in_order(loops: Sequence[Loop], target: Reference) -> list[Loop]:
    """Loops in the order of the indices that they are in: each has elements of its own, whatever their order."""
    names = [name for form in target.index for name in sorted(form.symbols)]
    return sorted(loops, key=lambda loop: names.index(loop.name) if loop.name in names else len(names))


def _axes(loops: Sequence[Loop]) -> tuple[dict[str, Affine], tuple[Affine, ...]]:
    """The place along an axis that each loop's value is, and the extents."""
    at = {loop.name: axis(n) + loop.lower[0] for n, loop in enumerate(loops)}
    return at, tuple(loop.upper[0] - loop.lower[0] for loop in loops)


def _is_same_view(a: Read, b: Read) -> bool:
    return (a.name, a.index, a.shape) == (b.name, b.index, b.shape)


def _mentions(statement: Statement, name: str) -> bool:
    return any(s.target.name == name or any(r.name == name for r in reads(s.value)) for s in stores((statement,)))


def _may_distribute(stores: Sequence[Store]) -> bool:
    """Whether stores of one band may run one after the other: each array has one, and is read at its own element."""
    targets = {store.target.name: store.target for store in stores}
    if len(targets) < len(stores):
        return False
    return all(
        read.index == targets[read.name].index
        for store in stores
        for read in reads(store.value)
        if read.name in targets
    )


def _varies(index: Sequence[Affine], loops: Collection[str]) -> bool:
    return any(name in loops for form in index for name in form.symbols)
