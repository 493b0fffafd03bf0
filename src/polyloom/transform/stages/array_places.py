# SPDX-License-Identifier: Apache-2.0
"""Places of elements in arrays whose axes are split and merged: mixed radices of an axis (delinearization; Grosser,
Pop, Ramanujam, Sadayappan, "On recovering multi-dimensional arrays in polyhedral tools", 2015).

An axis of 16 channels that is stored as `8*h + 2*i + e` has the radices (2, 4, 2). Whoever needs an element of it names
it by digits, one for each radix, so that the store's map is inverted by comparing coefficients.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from math import prod

from polyloom.ir.arrays.program import Apply, Cases, Contract, Read, Reduce, Shape, Value, View, axis, shape
from polyloom.sets import Affine

Radices = tuple[int, ...]
"""Of an axis, the most significant digit first; () where the axis is one digit."""


def strides(radices: Radices) -> tuple[int, ...]:
    """Strides of digits: the product of the radices behind each."""
    return tuple(prod(radices[n + 1 :]) for n in range(len(radices)))


def merge_radices(first: Radices, second: Radices) -> Radices:
    """Coarsest radices that refine both; () where one does not divide the other."""
    if not first or not second or first == second:
        return first or second
    total = prod(first)
    cuts = {*strides(first), *strides(second)}
    bounds = [total, *sorted(cuts, reverse=True)]
    if prod(second) != total or any(high % low for high, low in itertools.pairwise(bounds)):
        return ()
    return tuple(high // low for high, low in itertools.pairwise(bounds))


def form_digits(form: Affine, extents: Shape) -> Radices:
    """Radices of an axis whose index is a mixed-radix form of all axes of such extents; () of another form."""
    own = [(factor, extents[int(name[1:])]) for name, factor in form.terms if name.startswith("$")]
    if len(own) < 2 or len(own) != len(form.terms) or not all(extent.is_constant for _, extent in own):
        return ()
    ordered = sorted(own, key=lambda each: -each[0])
    radices = tuple(extent.constant for _, extent in ordered)
    return radices if strides(radices) == tuple(factor for factor, _ in ordered) else ()


def digits_of_part(radices: Radices, factor: int, extent: int) -> Radices:
    """Radices of an axis that is the digits from the stride `factor` on of a longer one, `extent` in all."""
    found = [r for r, s in zip(radices, strides(radices), strict=True) if factor <= s < factor * extent]
    return tuple(found) if prod(found) == extent and len(found) > 1 else ()


def value_radices(value: Value, number: int, of_array: Callable[[str, int], Radices]) -> Radices:
    """Radices of an axis of a value, from those of the arrays that it reads."""
    match value:
        case Read(name=name, index=index):
            return _index_radices(index, number, shape(value), lambda m: of_array(name, m))
        case View(source=source, index=index):
            return _index_radices(index, number, shape(value), lambda m: value_radices(source, m, of_array))
        case Apply(operands=operands):
            found = [value_radices(o, number, of_array) for o in operands if shape(o)]
        case Cases(inside=inside, outside=outside):
            found = [value_radices(o, number, of_array) for o in (inside, outside) if shape(o)]
        case Contract(result=result):
            return label_radices(value, result[number], of_array)
        case Reduce(axes=reduced, source=source):
            kept = [n for n in range(len(shape(source))) if n not in reduced]
            return value_radices(source, kept[number], of_array)
        case _:
            return ()
    merged: Radices = ()
    for each in found:
        merged = merge_radices(merged, each)
    return merged


def label_radices(value: Contract, label: str, of_array: Callable[[str, int], Radices]) -> Radices:
    """Radices of a label of a contraction."""
    merged: Radices = ()
    for labels, operand in zip(value.labels, value.operands, strict=True):
        if label in labels:
            merged = merge_radices(merged, value_radices(operand, labels.index(label), of_array))
    return merged


def _index_radices(
    index: Sequence[Affine], number: int, extents: Shape, of_source: Callable[[int], Radices]
) -> Radices:
    merged: Radices = ()
    for m, form in enumerate(index):
        factor = form.coefficient(str(axis(number)))
        if not factor:
            continue
        own = of_source(m)
        if own and len(form.terms) > 1 and extents[number].is_constant:
            own = digits_of_part(own, factor, extents[number].constant)
        elif factor != 1:
            own = ()
        merged = merge_radices(merged, own)
    return merged


def solve_digits(
    target: Sequence[Affine], extents: Shape, place: Sequence[Affine], sizes: Mapping[str, Affine]
) -> tuple[Affine, ...] | None:
    """Axes of a store for which its target has an element at a place; None where the place's forms are no digits of it.
    `sizes` are extents of dimensions.
    """
    found = dict[int, Affine]()
    for form, at in zip(target, place, strict=True):
        own = sorted(((f, int(n[1:])) for n, f in form.terms if n.startswith("$")), reverse=True)
        rest = at - Affine((), form.constant)
        if len(own) == 1 and own[0][0] == 1:
            found[own[0][1]] = rest
            continue
        for factor, number in own:
            part = Affine(tuple((n, f // factor) for n, f in rest.terms if f % factor == 0), rest.constant // factor)
            # A digit is below its radix, so that no other digit carries into it.
            if not _is_smaller_index(part, extents[number], sizes):
                return None
            found[number] = part
            rest = rest - part * factor
        if rest != Affine():
            return None
    return tuple(found.get(n, Affine()) for n in range(len(extents)))


def _is_smaller_index(form: Affine, extent: Affine, sizes: Mapping[str, Affine]) -> bool:
    known = all(n in sizes and sizes[n].is_constant and f > 0 for n, f in form.terms)
    if not known or not extent.is_constant or form.constant < 0:
        return False
    return form.constant + sum(f * (sizes[n].constant - 1) for n, f in form.terms) < extent.constant
