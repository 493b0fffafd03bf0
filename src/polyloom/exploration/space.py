# SPDX-License-Identifier: Apache-2.0
"""Design space: every machine, with every combination of the keys swept in its file and of the axes.

The order is that of the product, machines outermost and the last axis innermost, so that a point's number never depends
on who computes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from math import prod
from typing import Any, Final

from polyloom.exploration.ranges import MOST, Axis, count_error, range_error

Words = tuple[tuple[str, str], ...]
"""Pairs of a name and the text of its value."""
SIDES: Final = ("rows", "columns")


@dataclass(frozen=True, slots=True)
class Point:
    """`settings` are keys of the machine file; `values` parameters, scalars and options of the target."""

    number: int
    on: str
    settings: Words
    values: Words

    def row(self) -> dict[str, Any]:
        """The columns that are known before anything is computed."""
        named = {name: _parse_value(text) for name, text in (*self.settings, *self.values)}
        return {"on": self.on, **named, **_elements(text for _, text in self.values)}


@dataclass(frozen=True, slots=True)
class Space:
    """`fixed` are values that are not swept."""

    on: tuple[str, ...]
    axes: tuple[Axis, ...]
    settings: tuple[Axis, ...] = ()
    fixed: Words = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of values, the fixed ones first."""
        return (*(name for name, _ in self.fixed), *chain.from_iterable(a.names for a in self.axes))

    @property
    def keys(self) -> tuple[str, ...]:
        """Of the machine file."""
        return tuple(chain.from_iterable(a.names for a in self.settings))

    def __len__(self) -> int:
        return prod([len(self.on), *(len(a.values) for a in (*self.axes, *self.settings))])

    def check(self) -> None:
        """Errors: PL1401 for a name that has two meanings, PL1402."""
        names = [*self.names, *self.keys]
        for name in names:
            if names.count(name) > 1:
                raise range_error(f"{name} is given twice", "give each name once: a value, an axis, or --set")
        # Computed from the lengths: the points themselves are only made afterwards.
        if len(self) > MOST:
            raise count_error("the sweep")

    def points(self) -> Iterator[Point]:
        """All of them, in their order."""
        combined = [(*self.fixed, *words) for words in _combinations(self.axes)]
        settings = list(_combinations(self.settings))
        for number, (on, own, values) in enumerate(product(self.on, settings, combined)):
            yield Point(number, on, own, values)


def _combinations(axes: tuple[Axis, ...]) -> Iterator[Words]:
    choices = ([tuple((name, value) for name in axis.names) for value in axis.values] for axis in axes)
    return (tuple(chain.from_iterable(words)) for words in product(*choices))


def _parse_value(text: str) -> int | float | str:
    """A number where the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _elements(texts: Iterator[str]) -> Mapping[str, int]:
    """Region size of a point: rows, columns and elements of the region that it asks for, if one of its values is a pair
    such as 4x8.
    """
    for text in texts:
        parts = text.split("x")
        if len(parts) == 2 and all(part.isdecimal() for part in parts):
            return {**dict(zip(SIDES, map(int, parts), strict=True)), "elements": int(parts[0]) * int(parts[1])}
    return {}
