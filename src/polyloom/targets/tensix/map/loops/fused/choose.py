# SPDX-License-Identifier: Apache-2.0
"""Epilogue fusion: which formulas are computed where the sums of a product lie, in Dst (kernel fusion of a product and
what follows it element by element; K. Goto and R. van de Geijn, 2008, call the loop around it the macro-kernel).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from polyloom.ir.stage import Program
from polyloom.targets.tensix.map.loops.steps import ARRAYS, Pointwise
from polyloom.targets.tensix.words.arrays.area import element_format
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.transform.stages.layout_assignment import Applied, Arranged, Multiplied

_ROWS: Final = 1024
"""Of 16 bits, in Dst."""
_TILE: Final = 64
"""Rows of a tile."""
_SUMS: Final = 8
"""Tiles of 32 bits in Dst."""


def sum_places(arrays: int, width: int) -> int:
    """Places of sums in Dst, an even number, if each has room for so many tiles of arrays beside it."""
    return min(_SUMS, _ROWS // (2 * _TILE + arrays * width // 2 * _TILE)) // 2 * 2


def array_address(number: int, places: int, width: int) -> int:
    """Address in Dst, counted from that of the sum, of an array's tile: behind all places, in rows of its own width."""
    return _TILE * places * (number + 4 // width)


def fuse_epilogues(
    arranged: Sequence[Arranged], formulas: Mapping[str, Pointwise], program: Program, how: Arithmetic
) -> dict[str, str]:
    """By formula the product whose sums it may read from Dst: one that nothing else reads. Sums have 32 bits there."""
    # Places and modes below are those of sums of 32 bits.
    if how.dest != 32:
        return {}
    products = {each.stage.result: each for each in arranged if isinstance(each, Multiplied)}
    made = dict[str, str]()
    for each in arranged:
        formula = formulas.get(each.stage.result)
        if not isinstance(each, Applied) or each.wrapped or formula is None:
            continue
        # Beside sums of 32 bits, Dst has room for as many arrays as at 32 bits.
        if len(formula.arrays) > ARRAYS:
            continue
        # Beside sums, tiles of arrays follow one another: none serves all columns.
        if any(-1 in spread.axes and spread.array in program.computed for spread in formula.arrays):
            continue
        # Dst holds the sums of one product at a time; those of earlier ones are read from L1, like arguments.
        last = [*_private_sums(each, formula, products, program)][-1:]
        made |= dict.fromkeys([each.stage.result] if last else [], *last)
    return made


def is_gainful(formula: Pointwise, how: Arithmetic) -> bool:
    """Whether a formula costs less in Dst than as a stage of its own. With operands of 32 bits the unpackers bind
    already, and to read arrays besides costs more than it saves. Results are the same then: sums have 32 bits in L1.
    """
    return how.factors.width < 4 or len(formula.arrays) == 1


def _private_sums(
    each: Applied, formula: Pointwise, products: Mapping[str, Multiplied], program: Program
) -> Iterator[str]:
    """Products that this formula alone reads, element by element, in the order of its own matrix."""
    outputs = {output.definition for output in program.outputs}
    for name, product in products.items():
        # Another reader would need the sums in L1, where they have not the bits of Dst.
        readers = [stage.result for stage in program.stages if name in stage.reads]
        axes = [spread.axes for spread in formula.arrays if spread.array == name]
        if readers != [each.stage.result] or name in outputs or axes != [(*range(len(each.stage.dims)),)]:
            continue
        # A transposed right factor leaves its unpacker in a mode in which it does not write to Dst.
        if product.turned and len(formula.arrays) > 1:
            continue
        if (product.result.rows, product.result.columns) == (each.result.rows, each.result.columns):
            yield name


def element_loads(formula: Pointwise, sums: str, how: Arithmetic) -> list[tuple[int, int]]:
    """Modes and addresses of the formula's arrays: the sum in Dst's own format, the others behind all sums."""
    e, others = element_format(how), [spread.array for spread in formula.arrays if spread.array != sums]
    places = sum_places(len(others), e.width)
    return [
        (sum_mode(how), 0) if s.array == sums else (e.mode, array_address(others.index(s.array), places, e.width))
        for s in formula.arrays
    ]


def sum_mode(how: Arithmetic) -> int:
    """Mode of SFPLOAD and SFPSTORE for a sum in Dst of 32 bits (ISA documentation, page of `SFPLOAD`)."""
    return _INT32 if how.format == "i8" else _FP32


_FP32, _INT32 = 3, 12
