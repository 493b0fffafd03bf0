# SPDX-License-Identifier: Apache-2.0
"""Blocks of a box of iterations, which an interpreter evaluates one after another, and the values that pass between
them (rectangular tiling: Irigoin and Triolet, "Supernode partitioning", 1988).

Blocks are in lexicographic order. It is legal where no dependence leads backwards in a dimension that is cut: a
dimension whose distances are all negative is walked through from its end, one with distances of both signs is not cut.
What a later block reads lies in the last planes of a block along a dimension, its face; so between blocks only faces
are kept, whose size does not grow with the box in all dimensions. Coordinates here count in the direction of the walk,
from 0 on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]
Vector = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of the iterations from `lower` on: `extents` of the box, the same or less of a block, the direction of
    the walk (1 or -1) by dimension."""

    lower: Vector
    extents: Vector
    block: Vector
    directions: Vector

    @staticmethod
    def cut(lower: Vector, extents: Vector, distances: Sequence[Vector], most: int) -> Blocks:
        """Blocks of at most so many iterations, as far as distances allow it; one, where the box is small."""
        signs = [{(d[m] > 0) - (d[m] < 0) for d in distances} - {0} for m in range(len(lower))]
        # No face is thicker than a block: values pass to the next one alone.
        least = [max([1, *(abs(d[m]) for d in distances)]) for m in range(len(lower))]
        block = list(extents)
        while prod(block) > most:
            free = [m for m, own in enumerate(signs) if len(own) < 2 and -(-block[m] // 2) >= least[m] and block[m] > 1]
            if not free:
                break
            # Near to a cube: fronts of ready instances stay wide in every direction.
            longest = max(free, key=lambda m: block[m])
            block[longest] = -(-block[longest] // 2)
        return Blocks(lower, extents, tuple(block), tuple(-1 if own == {-1} else 1 for own in signs))

    def __iter__(self) -> Iterator[Vector]:
        """Numbers of blocks, by dimension, in their order."""
        return product(*(range(-(-e // b)) for e, b in zip(self.extents, self.block, strict=True)))

    def bounds(self, number: Vector) -> tuple[Vector, Vector]:
        """First iteration of a block, and its extents."""
        starts = [n * b for n, b in zip(number, self.block, strict=True)]
        sizes = tuple(min(b, e - s) for b, e, s in zip(self.block, self.extents, starts, strict=True))
        rows = zip(self.lower, self.extents, starts, sizes, self.directions, strict=True)
        return tuple(low + (s if way > 0 else e - s - size) for low, e, s, size, way in rows), sizes

    def walk_coordinates(self, coordinates: Positions) -> Positions:
        """Coordinates in the direction of the walk, from 0 on."""
        rows = zip(coordinates, self.lower, self.extents, self.directions, strict=True)
        made = [row - low if way > 0 else low + e - 1 - row for row, low, e, way in rows]
        return np.array(made, np.int64).reshape(coordinates.shape)


@dataclass(frozen=True, slots=True)
class _Face:
    """Values of the last `depth` planes of blocks along a dimension, and which are known. Axes: the number of the
    block, even or odd; the plane, counted from the end; dimensions outside of it within a block; those inside whole.
    """

    depth: int
    values: npt.NDArray[Any]
    known: npt.NDArray[np.bool_]


@dataclass(slots=True)
class Faces:
    """Values that pass between blocks, by variable and dimension (mutable)."""

    blocks: Blocks
    faces: dict[str, dict[int, _Face]] = field(default_factory=dict[str, dict[int, _Face]])

    def add(self, name: str, distances: Sequence[Vector], dtype: npt.DTypeLike) -> None:
        """Faces of a variable that is read at these distances."""
        b = self.blocks
        found: dict[int, _Face] = {}
        for m, (extent, size) in enumerate(zip(b.extents, b.block, strict=True)):
            depth = max((abs(d[m]) for d in distances), default=0)
            if depth and size < extent:
                shape = (2, depth, *b.block[:m], *b.extents[m + 1 :])
                found[m] = _Face(depth, np.zeros(shape, dtype), np.zeros(shape, np.bool_))
        self.faces[name] = found

    def write(self, name: str, number: Vector, coordinates: Sequence[Positions], values: Sequence[Any]) -> None:
        """Keep what a block has computed of a variable, in several parts, as far as later blocks may read it."""
        b = self.blocks
        for m, face in self.faces[name].items():
            end = (number[m] + 1) * b.block[m]
            inner = [slice(n * s, (n + 1) * s) for n, s in zip(number[m + 1 :], b.block[m + 1 :], strict=True)]
            outer = [slice(None)] * m
            face.known[number[m] % 2, :, *outer, *inner] = False
            for place, value in zip(coordinates, values, strict=True):
                kept = place[m] >= end - face.depth
                index = self._index(m, number, place[:, kept])
                face.values[index], face.known[index] = value[kept], True

    def read(self, name: str, number: Vector, places: Positions) -> tuple[Any, npt.NDArray[np.bool_]]:
        """Values of a variable at places before a block, one per column, and which of them are known."""
        b = self.blocks
        first = np.array([n * s for n, s in zip(number, b.block, strict=True)])[:, None]
        inside = np.logical_and(places >= 0, places < np.array(b.extents)[:, None]).all(axis=0)
        # The outermost dimension in which a place is in another block: blocks that differ only inside have come later.
        outermost = np.argmax(places < first, axis=0)
        known = np.zeros(places.shape[1], np.bool_)
        values: Any = None
        for m, face in self.faces[name].items():
            chosen = np.flatnonzero(inside & (outermost == m) & (places[m] < first[m]))
            before = (*number[:m], number[m] - 1, *number[m + 1 :])
            index = self._index(m, before, places[:, chosen])
            values = np.zeros(places.shape[1], face.values.dtype) if values is None else values
            values[chosen], known[chosen] = face.values[index], face.known[index]
        return (known if values is None else values), known

    def _index(self, m: int, number: Vector, places: Positions) -> tuple[Any, ...]:
        """Index of places in the face of dimension `m` of the blocks with this number in it."""
        b = self.blocks
        plane = (number[m] + 1) * b.block[m] - 1 - places[m]
        outer = [places[k] - number[k] * b.block[k] for k in range(m)]
        return np.full_like(plane, number[m] % 2), plane, *outer, *places[m + 1 :]


def distances_by_variable(reads: Sequence[tuple[str, Vector]]) -> Mapping[str, list[Vector]]:
    """Distances at which variables are read."""
    found: dict[str, list[Vector]] = {}
    for name, distance in reads:
        found.setdefault(name, []).append(distance)
    return found
