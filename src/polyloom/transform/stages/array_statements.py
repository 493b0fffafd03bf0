# SPDX-License-Identifier: Apache-2.0
"""Straight-line form of a whole-array program: loops of a few iterations are unrolled, and a loop of one store, none of
whose elements needs another, is an axis of that store (vectorization of statements; Allen and Kennedy 2001, chapter 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.analysis.dataflow import refuse
from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Constant,
    Contract,
    For,
    Form,
    If,
    Program,
    Read,
    Reduce,
    Scan,
    Shape,
    Statement,
    Store,
    Value,
    View,
    axis,
    parts,
    reads,
    shape,
    with_parts,
)
from polyloom.sets import Affine, Condition
from polyloom.transform.arrays.fusion import fuse_producers

_MOST: Final = 16
"""Iterations of a loop that is unrolled."""


def straighten(program: Program) -> Iterator[Store]:
    """Stores in their order. Raises `Unlike` for other loops and for branches."""
    return _straighten(fuse_producers(program).body, {})


def _straighten(statements: Sequence[Statement], known: Mapping[str, Affine]) -> Iterator[Store]:
    for statement in statements:
        match statement:
            case Store(target=target, value=value):
                made = substitute_loops(target, known)
                assert isinstance(made, Read)
                yield replace(statement, target=made, value=substitute_loops(value, known))
            case For():
                yield from _loop(statement, known)
            case If(condition=condition, body=body, orelse=orelse, span=span):
                found = condition.substitute(known)
                # Sizes are not known here: a program is cut once for all of them.
                if found.symbols:
                    refuse("a branch is no stage: its condition is not known when the program is cut", span)
                yield from _straighten(body if found.contains({}) else orelse, known)


def _loop(loop: For, known: Mapping[str, Affine]) -> Iterator[Store]:
    lower, upper = ([form.substitute(known) for form in forms] for forms in (loop.lower, loop.upper))
    if all(form.is_constant for form in (*lower, *upper)):
        numbers = range(max(f.constant for f in lower), min(f.constant for f in upper))
        # More would make more stages than a tile has room for programs.
        if len(numbers) <= _MOST:
            for number in numbers if loop.step == 1 else reversed(numbers):
                yield from _straighten(loop.body, {**known, loop.loop: Affine((), number)})
            return
    stores = list(_straighten(loop.body, known))
    if len(stores) == len(lower) == len(upper) == 1:
        (store,), extent = stores, upper[0] - lower[0]
        if _is_parallel(store, loop.loop):
            yield _as_axis(store, loop.loop, lower[0], extent)
            return
        if (term := _accumulated_term(store, loop.loop)) is not None:
            # The sum in one: its terms are rounded in another order, as those of all stages are.
            target, moved = store.target, _axis_map(loop.loop, lower[0], len(store.target.shape))
            whole = Reduce("add", (0,), _with_axis(term, moved, (extent, *target.shape)), store.span)
            yield replace(store, value=Apply("add", target.dtype, (target, whole), store.span))
            return
    refuse("a loop whose iterations need one another is no stage", loop.span)


def _accumulated_term(store: Store, loop: str) -> Value | None:
    """What each iteration adds to elements that all iterations store; None for another loop."""
    match store.value:
        case Apply(operation="add", operands=(Read(name=name, index=index), term)):
            own = (name, index) == (store.target.name, store.target.index)
            free = not any(loop in form.symbols for form in index)
            elsewhere = all(read.name != name for read in reads(term))
            return term if own and free and elsewhere and not _has_sums(term) else None
        case _:
            return None


def _is_parallel(store: Store, loop: str) -> bool:
    """Whether each iteration stores elements of its own, and reads none that another one stores."""
    own = [form for form in store.target.index if loop in form.symbols]
    if len(own) != 1 or own[0].terms != ((loop, 1),) or _has_sums(store.value):
        return False
    return all(read.name != store.target.name for read in reads(store.value))


def _has_sums(value: Value) -> bool:
    return isinstance(value, Contract | Reduce | Scan) or any(map(_has_sums, parts(value)))


def _as_axis(store: Store, loop: str, lower: Affine, extent: Affine) -> Store:
    """A store for all iterations of a loop, whose first axis is the loop."""
    moved = _axis_map(loop, lower, len(store.target.shape))
    whole = (extent, *store.target.shape)
    target, value = store.target, store.value
    index = tuple(form.substitute(moved) for form in target.index)
    return replace(store, target=replace(target, index=index, shape=whole), value=_with_axis(value, moved, whole))


def _axis_map(loop: str, lower: Affine, rank: int) -> dict[str, Affine]:
    """The loop as the first axis, in front of those that there are."""
    return {loop: axis(0) + lower, **{f"${n}": axis(n + 1) for n in range(rank)}}


def _with_axis(value: Value, moved: Mapping[str, Affine], whole: Shape) -> Value:
    own = whole if shape(value) or not isinstance(value, Constant) else ()
    match value:
        case Constant():
            return value
        case Form(value=form):
            return replace(value, value=form.substitute(moved), shape=own)
        case Read(index=index):
            return replace(value, index=tuple(form.substitute(moved) for form in index), shape=own)
        case View(source=source, index=index):
            if _names_loop(source, moved):
                refuse("a view of what a loop changes is no stage", value.span)
            return replace(value, index=tuple(form.substitute(moved) for form in index), shape=own)
        case Cases(condition=condition, inside=inside, outside=outside):
            sides = _with_axis(inside, moved, whole), _with_axis(outside, moved, whole)
            return replace(value, condition=condition.substitute(moved), inside=sides[0], outside=sides[1], shape=own)
        case _:
            return with_parts(value, [_with_axis(part, moved, whole) for part in parts(value)])


def _names_loop(value: Value, moved: Mapping[str, Affine]) -> bool:
    loops = {name for name in moved if not name.startswith("$")}
    match value:
        case Read(index=index) | View(index=index):
            own = any(form.symbols & loops for form in index)
        case Form(value=form):
            own = bool(form.symbols & loops)
        case Cases(condition=condition):
            own = bool(condition.symbols & loops)
        case _:
            own = False
    return own or any(_names_loop(part, moved) for part in parts(value))


def substitute_loops(value: Value, known: Mapping[str, Affine]) -> Value:
    """A value with forms in the place of symbols, those of shapes included."""
    if not known:
        return value

    def forms(items: Sequence[Affine]) -> tuple[Affine, ...]:
        return tuple(form.substitute(known) for form in items)

    made = with_parts(value, [substitute_loops(part, known) for part in parts(value)])
    match made:
        case Read(index=index, shape=extents) | View(index=index, shape=extents):
            return replace(made, index=forms(index), shape=forms(extents))
        case Form(value=form, shape=extents):
            return replace(made, value=form.substitute(known), shape=forms(extents))
        case Cases(condition=condition, inside=inside, outside=outside, shape=extents):
            found: Condition = condition.substitute(known)
            if not found.symbols and not extents:
                return inside if found.contains({}) else outside
            return replace(made, condition=found, shape=forms(extents))
        case _:
            return made
