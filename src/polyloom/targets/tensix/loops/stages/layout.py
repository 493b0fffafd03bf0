# SPDX-License-Identifier: Apache-2.0
"""Where the arrays of all stages lie in L1: words for scalars, then tiles of 4-byte datums, of 2 bytes and of 1.

An argument lies there once for each way in which a stage reads it; what a stage makes lies there once, and stays.
Arrays of one width follow each other, so that any two are a multiple of a tile's pitch apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from polyloom.analysis.contraction import Matrix
from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError, input_error
from polyloom.targets.tensix.loops.compile import Arithmetic
from polyloom.targets.tensix.loops.elements import ELEMENTS, Elements
from polyloom.targets.tensix.loops.formats import FORMATS, Result, result_of
from polyloom.targets.tensix.loops.layout import END, Placed
from polyloom.targets.tensix.loops.stages.arrange import Arranged, Product
from polyloom.targets.tensix.loops.stages.stage import Stages

Held = Literal["factor", "sum", "elements"]
"""As what an array lies in L1: as a factor of products, as their result, or as elements."""
Key = tuple[Matrix, tuple[int, ...], Held]
MEETING: Final = 16
"""Bytes of the words by which cores meet."""
_ELEMENTS: Final = {"tf32": "fp32", "bf16": "bf16", "fp16": "fp16", "i8": "i32"}


@dataclass(frozen=True, slots=True)
class Area:
    """An array in L1: of each dimension of `placed.shape`, which one of the array's own it is, or -1."""

    placed: Placed
    axes: tuple[int, ...]
    held: Held

    @property
    def key(self) -> Key:
        return self.placed.matrix, self.axes, self.held


def elements_of(how: Arithmetic) -> Elements:
    """What element-wise programs work in beside products of this arithmetic."""
    return ELEMENTS[_ELEMENTS[how.format]]


def sum_of(how: Arithmetic) -> Result:
    """What a product is packed to: what later stages read."""
    return result_of(how.format, 16 if how.format in ("bf16", "fp16") else 32)


def width(held: Held, how: Arithmetic) -> int:
    """Bytes of a datum."""
    if held == "elements":
        return elements_of(how).width
    return FORMATS[how.format].width if held == "factor" else sum_of(how).width


def shapes_of(stages: Stages, values: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """In numbers. Errors: PL1237 for sizes that are not positive."""
    for name, value in values.items():
        if value < 1:
            message = f"`{name}` is {value}, and a program of several stages needs elements"
            raise input_error("PL1237", message, help="give sizes of at least 1")
    found = {name: tuple(n.evaluate(values) for n in shape) for name, shape in stages.shapes.items()}
    for name, shape in found.items():
        if min(shape, default=1) < 1:
            message = f"`{name}` has no elements: its shape is {shape}"
            raise input_error("PL1237", message, help="give sizes of which all arrays have elements")
    return found


def results(arranged: Sequence[Arranged], how: Arithmetic, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Area]:
    """What stages make, by name, at no address yet."""
    return {
        each.stage.result: _area(
            each.result, shapes[each.stage.result], "sum" if isinstance(each, Product) else "elements", how
        )
        for each in arranged
    }


def operands(
    each: Arranged, made: Mapping[str, Area], how: Arithmetic, shapes: Mapping[str, tuple[int, ...]]
) -> list[Area]:
    """What a stage reads, in its order: the one area of what another made, and arguments as it wants them."""
    if isinstance(each, Product):
        factors = (each.contraction.left, each.contraction.right)
        return [made[m.array] if m.array in made else _area(m, shapes[m.array], "factor", how) for m in factors]
    shape, of = shapes[each.stage.result], each.result
    return [
        made[spread.array]
        if spread.array in made
        else Area(
            Placed(Matrix(spread.array, of.rows, of.columns), shape, 0, width("elements", how)), spread.axes, "elements"
        )
        for spread in each.stage.pointwise.arrays
    ]


def placed(found: Iterable[Area], at: int) -> dict[Key, Area]:
    """All of them, from the address on. Errors: PL1233 (exit 3) where L1 is too small."""
    made, first = dict[Key, Area](), at
    for area in sorted({area.key: area for area in found}.values(), key=lambda area: -area.placed.width):
        p = area.placed
        made[area.key] = Area(Placed(p.matrix, p.shape, at, p.width), area.axes, area.held)
        at += p.size
    if at > END:
        sizes = ", ".join(f"{area.placed.matrix.array} {area.placed.size}" for area in made.values())
        message = f"the arrays of all stages need {at - first} bytes as tiles, and L1 has {END - first} for them"
        help = "give smaller sizes, or --format bf16, whose tiles are half as large"
        raise PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, notes=(f"bytes of each: {sizes}",), help=help))
    return made


def _area(matrix: Matrix, shape: tuple[int, ...], held: Held, how: Arithmetic) -> Area:
    return Area(Placed(matrix, shape, 0, width(held, how)), tuple(range(len(shape))), held)
