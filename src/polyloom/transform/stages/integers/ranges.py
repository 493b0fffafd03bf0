# SPDX-License-Identifier: Apache-2.0
"""Interval arithmetic of integers in formulas: the range of a result from those of its operands (Moore, Interval
Analysis, 1966), as if no type wrapped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from polyloom.ir.numbers import type_limits
from polyloom.ir.operations import INTEGERS, ElementType

Range = tuple[int, int]
"""The least and the largest value."""
RANGES: Final[Mapping[str, Range]] = {kind: limits for kind in INTEGERS if (limits := type_limits(kind)) is not None}
"""Of types."""
CARRIED: Final[Mapping[ElementType, Range]] = {kind: RANGES[kind] for kind in ("i8", "u8", "i16", "u16")}
"""Of types whose elements all are floats, to which floats are converted."""


def largest_magnitude(range: Range) -> int:
    return max(map(abs, range))


def hull(a: Range, b: Range) -> Range:
    """The least range that has both."""
    return min(a[0], b[0]), max(a[1], b[1])


def product_range(a: Range, b: Range) -> Range:
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def sum_range(term: Range, most: int) -> Range:
    """Of a sum of terms, of which there are no more than `most`."""
    return min(term[0] * most, 0), max(term[1] * most, 0)


def _magnitude(a: Range) -> Range:
    return 0 if a[0] <= 0 <= a[1] else min(map(abs, a)), largest_magnitude(a)


def _sum(ranges: Sequence[Range]) -> Range:
    (a, b), (c, d) = ranges
    return a + c, b + d


def _difference(ranges: Sequence[Range]) -> Range:
    (a, b), (c, d) = ranges
    return a - d, b - c


LINEAR: Final[Mapping[str, Callable[[Sequence[Range]], Range]]] = {
    "move": lambda ranges: ranges[0],
    "neg": lambda ranges: (-ranges[0][1], -ranges[0][0]),
    "add": _sum,
    "sub": _difference,
}
"""Operations whose result is missed by no more than their operands are."""
OTHERS: Final[Mapping[str, Callable[[Sequence[Range]], Range]]] = {
    "mul": lambda ranges: product_range(*ranges),
    "abs": lambda ranges: _magnitude(*ranges),
    "min": lambda ranges: (min(low for low, _ in ranges), min(high for _, high in ranges)),
    "max": lambda ranges: (max(low for low, _ in ranges), max(high for _, high in ranges)),
}
