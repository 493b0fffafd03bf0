# SPDX-License-Identifier: Apache-2.0
"""Where arrays lie in L1, behind the programs: words by which cores meet, words of scalars, then tiles of 4-byte
datums, of 2 bytes and of 1.

An argument lies there once for each way in which a stage reads it; what a stage computes lies there once, and stays.
Arrays of one width follow each other, so that any two are a multiple of a tile's pitch apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Matrix
from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError, input_error
from polyloom.ir.stage import Program
from polyloom.targets.tensix.loops import tiles
from polyloom.targets.tensix.loops.elements import ELEMENTS, Elements, elements_of
from polyloom.targets.tensix.loops.formats import Arithmetic
from polyloom.targets.tensix.loops.steps import Pointwise
from polyloom.transform.stages.arrange import Applied, Arranged

Array = NDArray[Any]
CODE: Final = 0x6000
"""Where T0 starts after a reset; T1's and T2's programs follow."""
DATA: Final = 0x8000
END: Final = 0x170000
MEETING: Final = 16
"""Bytes of the words by which cores meet."""
Held = Literal["factor", "sum", "elements"]
"""As what an array lies in L1: as a factor of products, as their result, or as elements."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An array as a matrix of tiles at an address: its shape, and what `Matrix` says. `wrapped`: the matrix is as many
    rows of a tile's side as the elements of a vector fill."""

    matrix: Matrix
    shape: tuple[int, ...]
    address: int
    width: int
    wrapped: bool = False

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns."""
        if self.wrapped:
            return -(-prod(self.shape) // tiles.SIDE), tiles.SIDE
        rows, columns = (prod(self.shape[n] for n in axes) for axes in (self.matrix.rows, self.matrix.columns))
        return rows, columns

    @property
    def size(self) -> int:
        """Bytes in L1."""
        rows, columns = self.extents
        return tiles.count(rows) * tiles.count(columns) * tiles.pitch(self.width)

    def flat(self, array: Array) -> Array:
        """The array as a matrix."""
        made = array.transpose(*self.matrix.rows, *self.matrix.columns)
        if self.wrapped:
            made = np.pad(made.ravel(), (0, -made.size % tiles.SIDE))
        return made.reshape(self.extents)

    def unflat(self, matrix: Array) -> Array:
        """The inverse of `flat`."""
        order = (*self.matrix.rows, *self.matrix.columns)
        back = matrix.ravel()[: prod(self.shape)].reshape([self.shape[n] for n in order])
        # `ascontiguousarray` makes an array of one dimension of a scalar.
        return np.ascontiguousarray(back.transpose(np.argsort(order) if order else ())).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Area:
    """An array in L1: of each dimension of `placed.shape`, which one of the array's own it is, or -1."""

    placed: Placed
    axes: tuple[int, ...]
    held: Held

    @property
    def key(self) -> Key:
        return replace(self.placed, address=0), self.axes, self.held


Key = tuple[Placed, tuple[int, ...], Held]


def element_format(how: Arithmetic) -> Elements:
    """What formulas work in beside products of this arithmetic."""
    return ELEMENTS[elements_of(how.format)]


def width(held: Held, how: Arithmetic) -> int:
    """Bytes of a datum."""
    if held == "elements":
        return element_format(how).width
    return how.factors.width if held == "factor" else how.sums.width


def array_shapes(program: Program, values: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """In numbers. Errors: PL1237 for sizes that are not positive, of a program that needs elements."""
    found = {name: tuple(n.evaluate(values) for n in shape) for name, shape in program.shapes.items()}
    if not program.needs_elements:
        return found
    for name, value in values.items():
        if value < 1:
            message = f"`{name}` is {value}, and a program of several stages needs elements"
            raise input_error("PL1237", message, help="give sizes of at least 1")
    for name, shape in found.items():
        if min(shape, default=1) < 1:
            message = f"`{name}` has no elements: its shape is {shape}"
            raise input_error("PL1237", message, help="give sizes of which all arrays have elements")
    return found


def result_areas(
    arranged: Sequence[Arranged], how: Arithmetic, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Area]:
    """What stages compute, by name, at no address yet."""
    return {
        each.stage.result: _area(
            each.result,
            shapes[each.stage.result],
            "elements" if isinstance(each, Applied) else "sum",
            how,
            wrapped=isinstance(each, Applied) and each.wrapped,
        )
        for each in arranged
    }


def operand_areas(
    each: Arranged,
    formula: Pointwise | None,
    computed: Mapping[str, Area],
    how: Arithmetic,
    shapes: Mapping[str, tuple[int, ...]],
) -> list[Area]:
    """What a stage reads, in its order: the one area of what another computes, and arguments as it wants them."""
    if not isinstance(each, Applied):
        factors = (each.contraction.left, each.contraction.right)
        return [computed[m.array] if m.array in computed else _area(m, shapes[m.array], "factor", how) for m in factors]
    assert formula is not None
    own = computed[each.stage.result].placed
    return [
        computed[spread.array]
        if spread.array in computed
        else Area(replace(own, matrix=replace(own.matrix, array=spread.array)), spread.axes, "elements")
        for spread in formula.arrays
    ]


def place_areas(found: Iterable[Area], at: int) -> dict[Key, Area]:
    """All of them, from the address on. Errors: PL1233 (exit 3) where L1 is too small."""
    made, first = dict[Key, Area](), at
    for area in sorted({area.key: area for area in found}.values(), key=lambda area: -area.placed.width):
        made[area.key] = replace(area, placed=replace(area.placed, address=at))
        at += area.placed.size
    if at > END:
        sizes = ", ".join(f"{area.placed.matrix.array} {area.placed.size}" for area in made.values())
        message = f"the arrays need {at - first} bytes as tiles, and L1 has {END - first} for them"
        help = "give smaller sizes, or --format bf16, whose tiles are half as large"
        raise PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, notes=(f"bytes of each: {sizes}",), help=help))
    return made


def _area(matrix: Matrix, shape: tuple[int, ...], held: Held, how: Arithmetic, *, wrapped: bool = False) -> Area:
    return Area(Placed(matrix, shape, 0, width(held, how), wrapped), tuple(range(len(shape))), held)


def spread(array: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """An input in the result's shape."""
    own = [axis for axis in axes if axis >= 0]
    at = tuple(slice(None) if axis >= 0 else None for axis in axes)
    return np.broadcast_to(array.transpose(own)[at], shape)
