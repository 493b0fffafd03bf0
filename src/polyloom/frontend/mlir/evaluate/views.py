# SPDX-License-Identifier: Apache-2.0
"""Views of NumPy's arrays as memrefs have them: parts, and axes joined and taken apart, which share the elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def check_index(array: Array, *index: Any) -> tuple[int, ...]:
    """An index that is within the array; a negative one is not (PL0221)."""
    for at, extent in zip(index, array.shape, strict=True):
        if not 0 <= at < extent:
            raise IndexError(f"index {int(at)} of an axis of {extent} elements")
    return tuple(map(int, index))


def take_part(array: Array, place: tuple[slice, ...], shape: Sequence[int]) -> Array:
    """A part of an array, without axes of one element that its type lacks; -1 is a dynamic extent."""
    for part, extent in zip(place, array.shape, strict=True):
        if part.start < 0 or (part.stop > part.start and part.stop - part.step >= extent):
            raise IndexError(f"a part up to {part.stop} of an axis of {extent} elements")
    found = array[place]
    dropped, at = list[int](), 0
    surplus = found.ndim - len(shape)
    for n, extent in enumerate(found.shape):
        wanted = shape[at] if at < len(shape) else None
        if len(dropped) < surplus and extent == 1 and (wanted != 1 or surplus - len(dropped) >= found.ndim - n):
            dropped.append(n)
        else:
            at += 1
    return found.squeeze(tuple(dropped))


def put_part(array: Array, place: tuple[slice, ...], source: Array) -> None:
    """Stores a part, whose axes of one element the source may lack."""
    part = array[place]
    part[...] = source.reshape(part.shape)


def collapse(array: Array, groups: Sequence[Sequence[int]]) -> Array:
    """Axes joined, without a copy where the elements are in order."""
    return array.reshape([int(np.prod([array.shape[n] for n in group])) for group in groups])


def expand(array: Array, groups: Sequence[Sequence[int]], shape: Sequence[int]) -> Array:
    """Axes taken apart; -1 is what is left of an axis."""
    sizes = list(shape)
    for n, group in enumerate(groups):
        known = int(np.prod([sizes[k] for k in group if sizes[k] != -1]))
        for k in group:
            if sizes[k] == -1:
                sizes[k] = array.shape[n] // known
    return array.reshape(sizes)


def pad(array: Array, low: Sequence[int], high: Sequence[int], body: Callable[..., tuple[Any]]) -> Array:
    """An array with what `body` gives around it."""
    shape = [a + s + b for a, s, b in zip(low, array.shape, high, strict=True)]
    found = np.zeros(shape, array.dtype)
    for place in np.ndindex(*shape):
        found[place] = body(*place)[0]
    found[tuple(slice(a, a + s) for a, s in zip(low, array.shape, strict=True))] = array
    return found


def pack(
    source: Array, dest: Array, positions: Sequence[int], order: Sequence[int], tiles: Sequence[int], padding: Any
) -> Array:
    """A packed array: the source, padded up to whole tiles, whose axes are divided; those within tiles are the last."""
    order = list(order) or list(range(source.ndim))
    tile = dict(zip(positions, tiles, strict=True))
    outer = {axis: dest.shape[n] for n, axis in enumerate(order)}
    whole = np.full([outer[n] * tile.get(n, 1) for n in range(source.ndim)], padding or 0, source.dtype)
    if padding is None:
        # Beyond the source the destination keeps its elements.
        _packed_view(whole, positions, order, tile)[...] = dest
    whole[tuple(slice(0, extent) for extent in source.shape)] = source
    return _packed_view(whole, positions, order, tile).copy()


def unpack(source: Array, dest: Array, positions: Sequence[int], order: Sequence[int], tiles: Sequence[int]) -> Array:
    """The inverse: an array of the destination's shape."""
    order = list(order) or list(range(dest.ndim))
    tile = dict(zip(positions, tiles, strict=True))
    whole = np.zeros([source.shape[order.index(n)] * tile.get(n, 1) for n in range(dest.ndim)], source.dtype)
    _packed_view(whole, positions, order, tile)[...] = source
    return whole[tuple(slice(0, extent) for extent in dest.shape)].copy()


def _packed_view(whole: Array, positions: Sequence[int], order: Sequence[int], tile: dict[int, int]) -> Array:
    """A view of an array as its packed form."""
    shape, places, inner = list[int](), list[int](), dict[int, int]()
    for axis, extent in enumerate(whole.shape):
        places.append(len(shape))
        shape.append(extent // tile.get(axis, 1))
        if axis in tile:
            inner[axis] = len(shape)
            shape.append(tile[axis])
    return whole.reshape(shape).transpose([*(places[axis] for axis in order), *(inner[axis] for axis in positions)])
