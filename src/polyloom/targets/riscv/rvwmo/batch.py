# SPDX-License-Identifier: Apache-2.0
"""All classes of the last location against one order of its operations at once: which close no cycle with it, and what they count.

For the last location no order is handed on, so that acyclicity is all that matters: the transitive closure (Warshall, 1962) of a relation
among at most 64 operations, a bit mask for each, in arrays over the classes. `executions` does the same for few classes, one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Seen = TypeVar("Seen")
WIDTH: Final = 64


class Batch(Generic[Seen]):
    """Classes by what they put before each of the operations `numbers`, with counts by what they observe."""

    def __init__(self, numbers: Sequence[int], found: Mapping[tuple[int, ...], Mapping[Seen, int]]) -> None:
        size = len(numbers)
        self._numbers = numbers
        self._type = np.dtype(next(f"uint{bits}" for bits in (8, 16, 32, WIDTH) if size <= bits))
        self._shifts = np.arange(size, dtype=self._type)
        here = sum(1 << number for number in numbers)
        outside = 0
        for added in found:
            for mask in added:
                outside |= mask & ~here
        local = {mask: self._local(mask) for mask in {mask for added in found for mask in added}}
        self._masks = self._array([[local[mask] for mask in added] for added in found])
        self._outside = {v: self._array([[mask >> v & 1 for mask in added] for added in found]) for v in range(outside.bit_length()) if outside >> v & 1}
        entries = sorted((seen, index, number) for seen, index, number in self._entries(found))
        self._rows = np.array([index for _, index, _ in entries])
        self._starts = np.array([n for n, (seen, _, _) in enumerate(entries) if n == 0 or entries[n - 1][0] != seen])
        total = sum(number for _, _, number in entries)
        self._counts: npt.NDArray[Any] = np.array([number for _, _, number in entries], dtype=np.int64 if total < 1 << 63 else object)

    def fitting(self, before: Sequence[int]) -> dict[Seen, int]:
        """Executions of the classes that close no cycle with `before`, which is closed: for each operation those that precede it."""
        masks = self._masks | self._array([self._local(before[number]) for number in self._numbers])
        for number, marks in self._outside.items():
            masks |= marks * self._type.type(self._local(before[number]))
        for middle in self._shifts:
            masks |= (masks >> middle & 1) * masks[:, middle : middle + 1]
        fit: npt.NDArray[np.bool_] = np.logical_not(np.any(masks >> self._shifts & 1, axis=1))
        taken: npt.NDArray[Any] = self._counts * fit[self._rows]
        sums = np.add.reduceat(taken, self._starts)
        return {seen: int(number) for seen, number in zip(self._seen, sums.tolist(), strict=True) if number}

    def _entries(self, found: Mapping[tuple[int, ...], Mapping[Seen, int]]) -> list[tuple[int, int, int]]:
        """What is observed, by number in the order of its first class; the class; how often."""
        ids: dict[Seen, int] = {}
        made = [(ids.setdefault(seen, len(ids)), index, number) for index, counts in enumerate(found.values()) for seen, number in counts.items()]
        self._seen = tuple(ids)
        return made

    def _array(self, values: object) -> npt.NDArray[Any]:
        return np.array(values, dtype=self._type)

    def _local(self, mask: int) -> int:
        """A mask over `numbers` alone."""
        return sum(1 << n for n, number in enumerate(self._numbers) if mask >> number & 1)
