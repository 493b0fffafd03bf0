# SPDX-License-Identifier: Apache-2.0
"""Data layout in L1, behind the programs: words by which cores meet, words of scalars, then tiles of 4-byte datums, of
2 bytes and of 1.

An argument lies there once for each way in which a stage reads it; what a stage computes lies there once, and stays.
Arrays of one width follow each other, so that any two are a multiple of a tile's pitch apart: T0 addresses all inputs
of a stage by one base and a counter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from polyloom.analysis.contraction import Matrix
from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError, input_error
from polyloom.ir.stage import Program
from polyloom.targets.tensix.map.loops.steps import Pointwise
from polyloom.targets.tensix.words.arrays.area import END, Area, Held, Key, Placed, datum_width
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.targets.tensix.words.arrays.tiles import SIDE
from polyloom.transform.stages.layout_assignment import Applied, Arranged


def array_shapes(program: Program, values: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Shapes in numbers. Errors: PL1237 for sizes that are not positive, of a program that needs elements."""
    found = {name: tuple(n.evaluate(values) for n in shape) for name, shape in program.shapes.items()}
    # A program of one stage may be empty: then its threads have nothing to do.
    if not program.needs_elements:
        return found
    for name, value in values.items() if program.needs_sizes else ():
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
    """Areas of what stages compute, by name, at no address yet."""
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
    """Areas that a stage reads, in its order: the one area of what another computes, and arguments as it wants them."""
    if not isinstance(each, Applied):
        factors = (each.contraction.left, each.contraction.right)
        # A computed factor is read as it was packed; an argument is laid in the factor's own format.
        areas = [
            computed[m.array] if m.array in computed else _area(m, shapes[m.array], "factor", how) for m in factors
        ]
        if each.stage.is_spread:
            areas[1] = _spread_column(areas[1])
        return areas
    if each.source is not None:
        name = each.source.array
        return [computed[name] if name in computed else _area(each.source, shapes[name], "elements", how)]
    assert formula is not None
    own = computed[each.stage.result].placed
    return [
        computed[spread.array]
        if spread.array in computed
        else Area(replace(own, matrix=replace(own.matrix, array=spread.array)), spread.axes, "elements")
        for spread in formula.arrays
    ]


def fits_l1(found: Iterable[Area], at: int) -> bool:
    """Whether L1 has room for all areas, from the address on."""
    return at + sum(size for size in {area.key: area.placed.size for area in found}.values()) <= END


def place_areas(found: Iterable[Area], at: int) -> dict[Key, Area]:
    """Placement of all areas, from the address on. Errors: PL1233 (exit 3) where L1 is too small."""
    made, first = dict[Key, Area](), at
    # Widest datums first; equal keys were merged, as they hold the same bytes.
    for area in sorted({area.key: area for area in found}.values(), key=lambda area: -area.placed.width):
        made[area.key] = replace(area, placed=replace(area.placed, address=at))
        at += area.placed.size
    if at > END:
        sizes = ", ".join(f"{area.placed.matrix.array} {area.placed.size}" for area in made.values())
        message = f"the arrays need {at - first} bytes as tiles, and L1 has {max(0, END - first)} for them"
        help = (
            "give smaller sizes, or --format bf16, whose tiles are half as large; the arrays of a program of one "
            "product may be larger"
        )
        raise PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, notes=(f"bytes of each: {sizes}",), help=help))
    return made


def _spread_column(area: Area) -> Area:
    """A vector as a matrix whose columns, of which one tile has place, are all this vector."""
    p = area.placed
    spread = replace(p, matrix=Matrix(p.matrix.array, (0,), (1,)), shape=(*p.shape, SIDE))
    return replace(area, placed=spread, axes=(0, -1))


def _area(matrix: Matrix, shape: tuple[int, ...], held: Held, how: Arithmetic, *, wrapped: bool = False) -> Area:
    return Area(Placed(matrix, shape, 0, datum_width(held, how), wrapped), tuple(range(len(shape))), held)
