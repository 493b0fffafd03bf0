# SPDX-License-Identifier: Apache-2.0
"""Linear layout of arrays in L1: row-major, without tiles, rows padded to the 16 bytes that a packer writes at once;
addresses are affine in the loops, in datums of 32 bits from the first array on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.analysis.contraction import Matrix
from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError
from polyloom.ir.nest import Nest
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.targets.tensix.words.arrays.area import END, Area, Placed
from polyloom.targets.tensix.words.arrays.tiles import LINE, drop_unit_axes, row_pitch

_BYTES: Final = 4
_BEHIND: Final = 64
"""Datums behind the last array that vectors may read: all of four rows."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of arrays, in datums from the address `base` in bytes."""

    base: int
    first: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]

    def address(self, reference: Reference) -> Affine:
        """Address of an element, in datums."""
        at = Affine((), self.first[reference.name])
        for index, stride in zip(reference.index, row_strides(self.shapes[reference.name]), strict=True):
            at = at + index * stride
        return at

    def area(self, name: str) -> Area:
        shape = self.shapes[name]
        matrix = Matrix(name, tuple(range(len(shape))), ())
        placed = Placed(matrix, shape, self.base + _BYTES * self.first[name], _BYTES, linear=True)
        return Area(placed, tuple(range(len(shape))), "elements")


def row_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Datums between neighbours along each dimension."""
    own = drop_unit_axes(shape)
    if own != shape:
        return (*row_strides(own), *(1 for _ in shape[len(own) :]))
    strides, step = [1], row_pitch(shape[-1] if shape else 1)
    for extent in reversed(shape[1:-1] if len(shape) > 1 else ()):
        strides.append(step)
        step *= extent
    if len(shape) > 1:
        strides.append(step)
    return tuple(reversed(strides[: len(shape)]))


def place_linear(nest: Nest, base: int) -> Layout:
    """Layout of a nest's arrays from an address on. Errors: PL1233 (exit 3) where L1 is too small."""
    # In front is a line that shifted vectors may read.
    at, first, shapes = LINE, dict[str, int](), dict[str, tuple[int, ...]]()
    # Each array begins a line of its own, which no packer shares with another one.
    for storage in nest.storage:
        shape = tuple(extent.constant for extent in storage.shape)
        first[storage.name], shapes[storage.name] = at, shape
        strides = row_strides(shape)
        at += row_pitch(max(1, strides[0] * shape[0]) if shape else 1)
    room = END - base - _BYTES * _BEHIND
    if _BYTES * at > room:
        sizes = ", ".join(f"{name} {'x'.join(map(str, shape)) or '1'}" for name, shape in shapes.items())
        message = f"the arrays need {_BYTES * at} bytes, and L1 has {max(0, room)} for them"
        note = f"elements of each: {sizes}"
        raise PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, notes=(note,), help="give smaller sizes"))
    return Layout(base, first, shapes)
