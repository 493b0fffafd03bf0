# SPDX-License-Identifier: Apache-2.0
"""Sets of integers up to translation (hash consing; Ershov 1958): the elements of windows that move.

Blocks of one class touch the same elements, moved by their window. A set is a sorted array that begins with 0, and a
shift; an operation on two sets depends on the difference of their shifts alone, and is computed once for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Integers:
    """Set of integers: those of array `number` of a table, moved by `shift`."""

    number: int
    shift: int


@dataclass
class SetTable:
    """Table of sets that differ in more than a shift. Mutable: it grows."""

    arrays: list[Numbers] = field(default_factory=list[Numbers])
    _numbers: dict[bytes, int] = field(default_factory=dict[bytes, int])
    _known: dict[tuple[str, int, int, int], Integers] = field(default_factory=dict[tuple[str, int, int, int], Integers])

    def make(self, numbers: Numbers) -> Integers:
        """Set of these integers."""
        found = np.unique(numbers).astype(np.int64)
        shift = int(found[0]) if len(found) else 0
        moved = found - shift
        key = moved.tobytes()
        if (number := self._numbers.get(key)) is None:
            number = self._numbers[key] = len(self.arrays)
            self.arrays.append(moved)
        return Integers(number, shift)

    def union(self, a: Integers, b: Integers) -> Integers:
        return self._combine("union", np.union1d, a, b)

    def difference(self, a: Integers, b: Integers) -> Integers:
        return self._combine("difference", np.setdiff1d, a, b)

    def intersection(self, a: Integers, b: Integers) -> Integers:
        return self._combine("intersection", np.intersect1d, a, b)

    def run_lengths(self, a: Integers) -> Numbers:
        """Lengths of the runs of integers that follow one another."""
        numbers = self.arrays[a.number]
        ends = np.flatnonzero(np.diff(numbers, append=numbers[-1:] + 2) != 1)
        return np.diff(ends, prepend=-1)

    def _combine(
        self, name: str, operation: Callable[[Numbers, Numbers], Numbers], a: Integers, b: Integers
    ) -> Integers:
        # Sets of integers commute with translation, so that only the distance of both sets matters.
        key = name, a.number, b.number, b.shift - a.shift
        if (found := self._known.get(key)) is None:
            made = operation(self.arrays[a.number], self.arrays[b.number] + (b.shift - a.shift))
            found = self._known[key] = self.make(made)
        return Integers(found.number, found.shift + a.shift)
