# SPDX-License-Identifier: Apache-2.0
"""Modulo reservation table: how often each resource is held in each row (Rau and Glaeser 1981; Lam 1988).

The rows of a resource are bits of integers: bit r of `levels[k]` says that row r is held more than k times. So the rows
where something fits are found for all rows at once, with a few operations on integers, however long the interval is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from polyloom.modulo.problem import Resource, Use


class Run(NamedTuple):
    """From row `first` after the start on, `rows` rows are held so many `times`."""

    first: int
    rows: int
    times: int


Footprint = tuple[tuple[int, tuple[Run, ...]], ...]
"""What is held of each limited resource."""


class Table:
    """Mutable: solvers place and remove. `interval` rows for each resource."""

    def __init__(self, interval: int, resources: Sequence[Resource]) -> None:
        self.interval = interval
        self.all = (1 << interval) - 1
        self.limits = [r.limit for r in resources]
        # Unary counters: bit r of `levels[k]` says that row r is held more than k times, so that whole rows are added
        # and compared by machine words.
        self.levels: list[list[int]] = [[] for _ in resources]
        self._footprints: dict[tuple[Use, ...], Footprint | None] = {}

    def footprint(self, uses: tuple[Use, ...]) -> Footprint | None:
        """What these uses hold; None where that exceeds a limit even in an empty table."""
        if uses not in self._footprints:
            self._footprints[uses] = footprint(uses, self.interval, self.limits)
        return self._footprints[uses]

    def free(self, wanted: Footprint) -> int:
        """The rows, as bits, in which something with this footprint can start."""
        blocked = 0
        for resource, runs in wanted:
            levels, limit = self.levels[resource], self.limits[resource]
            assert limit is not None
            for first, rows, count in runs:
                # Held more than limit - count times: no room for `count` more in that row.
                if len(levels) > limit - count and (full := levels[limit - count]):
                    blocked |= self._rotate_rows(self._spread(full, rows), first)
        return self.all ^ blocked

    def held(self, wanted: Footprint, row: int) -> dict[int, int]:
        """The rows that something with this footprint holds, by resource, if it starts in `row`."""
        found: dict[int, int] = {}
        for resource, runs in wanted:
            for first, rows, _ in runs:
                found[resource] = found.get(resource, 0) | self._rows(row + first, rows)
        return found

    def add(self, wanted: Footprint, row: int) -> None:
        for resource, runs in wanted:
            levels = self.levels[resource]
            for first, rows, count in runs:
                mask = self._rows(row + first, rows)
                levels += [0] * count
                # Adding `count` shifts the counters of these rows up; from the top, so that no level is read after it
                # has been written.
                for k in range(len(levels) - 1, count - 1, -1):
                    levels[k] |= levels[k - count] & mask
                for k in range(count):
                    levels[k] |= mask
                while not levels[-1]:
                    levels.pop()

    def remove(self, wanted: Footprint, row: int) -> None:
        for resource, runs in wanted:
            levels = self.levels[resource]
            for first, rows, count in runs:
                mask = self._rows(row + first, rows)
                for k in range(len(levels)):
                    above = levels[k + count] if k + count < len(levels) else 0
                    levels[k] = levels[k] & ~mask | above & mask
                while levels and not levels[-1]:
                    levels.pop()

    def first(self, free: int, time: int) -> int | None:
        """The first time from `time` on whose row is among the free ones."""
        if not free:
            return None
        # The lowest set bit after turning is the distance to the next free row.
        turned = self._rotate_rows(free, time % self.interval)
        return time + (turned & -turned).bit_length() - 1

    def _rows(self, first: int, rows: int) -> int:
        first %= self.interval
        mask = ((1 << rows) - 1) << first
        return (mask | mask >> self.interval) & self.all

    def _rotate_rows(self, mask: int, rows: int) -> int:
        """Row r of the result is row r + `rows` of the mask."""
        return (mask >> rows | mask << (self.interval - rows)) & self.all if rows else mask

    def _spread(self, mask: int, rows: int) -> int:
        """Rows from which on one of the next `rows` is in the mask."""
        size = 1
        # Doubling: log2(rows) steps instead of one per row.
        while size < rows:
            step = min(size, rows - size)
            mask |= self._rotate_rows(mask, step)
            size += step
        return mask


def footprint(uses: Sequence[Use], interval: int, limits: Sequence[int | None]) -> Footprint | None:
    """What `uses` hold of each limited resource, modulo the interval; None where that exceeds a limit."""
    found: list[tuple[int, tuple[Run, ...]]] = []
    for resource in sorted({u.resource for u in uses if u.busy}):
        limit = limits[resource]
        if limit is None:
            continue
        runs = profile([u.busy for u in uses if u.resource == resource], interval)
        if max(run.times for run in runs) > limit:
            return None
        found.append((resource, runs))
    return tuple(found)


def profile(busy: Sequence[int], interval: int) -> tuple[Run, ...]:
    """How often each row after the start is held by uses that are busy for these numbers of cycles."""
    whole = sum(b // interval for b in busy)
    rests = [b % interval for b in busy]
    breaks = [0, *sorted({r for r in rests if r}), interval]
    runs = [Run(a, b - a, whole + sum(r > a for r in rests)) for a, b in pairwise(breaks)]
    return tuple(run for run in runs if run.times and run.rows)
