# SPDX-License-Identifier: Apache-2.0
"""Parts of arrays that the tensor coprocessor loads and stores as they are: matrices of whole lines of 64 bytes
(manual, chapter 9: addresses and strides of tensor loads and stores).

A part ends where its array does, whose rows are padded to lines, or its store would overwrite what lies beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Final

from polyloom.ir.nest import Loop
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.targets.minion.memory_map import LINE
from polyloom.transform.parallel.restructuring.strided_products import StridedProduct

_WORD: Final = 4
"""Bytes: depth is counted in words of 32 bits (manual, chapter 9: TensorIMA8A32)."""

Shapes = Mapping[str, tuple[Affine, ...]]


def fits_lines(found: StridedProduct, types: Mapping[str, ElementType], shapes: Shapes) -> bool:
    """Whether all parts of a product are matrices of whole lines, none is empty, and no two results overlap."""
    f = found
    parts = ((f.left, f.row, f.depth), (f.right, f.depth, f.column), (f.result, f.row, f.column))
    for reference, one, other in parts:
        size, shape = NUMPY[types[reference.name]].itemsize, shapes[reference.name]
        if len(reference.index) != len(shape):
            return False
        inner = _inner_loop(reference, one, other)
        if inner is None or not _begins_at_line(reference, inner, LINE // size):
            return False
        if reference is f.result and (inner is not other or not _ends_at_line(reference, inner, shape, LINE // size)):
            return False
    loops = (f.row, f.column, f.depth)
    return all(_has_iterations(loop, found, shapes) for loop in loops) and _is_disjoint(found)


def fills_words(found: StridedProduct, types: Mapping[str, ElementType], shapes: Shapes) -> bool:
    """Whether depth is whole words of the factors, or ends where they do: what is behind would be added, too."""
    size, depth = NUMPY[types[found.left.name]].itemsize, found.depth
    count = depth.upper[0] - depth.lower[0]
    is_whole = count.is_constant and count.constant * size % _WORD == 0
    return is_whole or all(_covers(reference, depth, shapes) for reference in (found.left, found.right))


def _inner_loop(reference: Reference, one: Loop, other: Loop) -> Loop | None:
    """The loop that steps along neighbours in memory, where the other one steps along rows."""
    *outer, last = reference.index
    inner = [loop for loop in (one, other) if last.coefficient(loop.name)]
    if len(inner) != 1 or last.coefficient(inner[0].name) != 1:
        return None
    across = [form.coefficient(x.name) for form in outer for x in (one, other) if form.coefficient(x.name)]
    is_matrix = across == [1] and not any(form.coefficient(inner[0].name) for form in outer)
    return inner[0] if is_matrix else None


def _begins_at_line(reference: Reference, inner: Loop, elements: int) -> bool:
    return _is_multiple(reference.index[-1].substitute({inner.name: inner.lower[0]}), elements)


def _ends_at_line(reference: Reference, inner: Loop, shape: tuple[Affine, ...], elements: int) -> bool:
    end = reference.index[-1].substitute({inner.name: inner.upper[0]})
    return end == shape[-1] or _is_multiple(end, elements)


def _is_multiple(form: Affine, elements: int) -> bool:
    return all(c % elements == 0 for c in (form.constant, *(c for _, c in form.terms)))


def _has_iterations(loop: Loop, found: StridedProduct, shapes: Shapes) -> bool:
    """Whether a loop has an iteration for all sizes for which its arrays have elements."""
    count = loop.upper[0] - loop.lower[0]
    references = (found.left, found.right, found.result)
    return count.constant > 0 if count.is_constant else any(_covers(r, loop, shapes) for r in references)


def _covers(reference: Reference, loop: Loop, shapes: Shapes) -> bool:
    """Whether a loop goes through a dimension of an array from its beginning to its end."""
    # Rows that are written behind those of a cache count from its length: `h[i - S]` covers `h`, too.
    (first,), (end,) = loop.lower, loop.upper
    return any(
        form.coefficient(loop.name) == 1
        and (form.substitute({loop.name: first}), form.substitute({loop.name: end})) == (Affine(), extent)
        for form, extent in zip(reference.index, shapes[reference.name], strict=True)
    )


def _is_disjoint(found: StridedProduct) -> bool:
    """Whether results of a batch are different elements: each group of minions stores without waiting for others."""
    batch = {loop.name for loop in found.batch}
    extents = {x.name: x.upper[0] - x.lower[0] for x in (found.row, found.column)}
    sizes = list[int | None]()
    for form in found.result.index:
        own = [extents[name] for name in form.symbols & extents.keys()]
        sizes.append(1 if not own else own[0].constant if own[0].is_constant else None)
    starts = [
        [sum(c * point[name] for name, c in form.terms if name in batch) for form in found.result.index]
        for point in found.batch_points()
    ]
    return all(
        any(size is not None and abs(a - b) >= size for a, b, size in zip(one, other, sizes, strict=True))
        for one, other in combinations(starts, 2)
    )
