# SPDX-License-Identifier: Apache-2.0
"""Account of one configuration over time: work as the model counted it, and why its units were idle.

The model tells in which cycles units issued, of all elements of a class together. An element starts in the cycle that
the controller's words say, and then an iteration every interval (the array paper, section 6.2): in these cycles an idle
unit waits, in those of the iterations that fuller elements have it has a partial tile, and around both it is filled or
drained. Sums are those of the account; where the skew of units moves a few cycles over a border, the last parts give
way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.account import CATEGORIES, Category
from polyloom.targets.account_timeline import Parts, snapshot_sums
from polyloom.targets.tcpa.words.concrete import Controller

Cycles = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClassTotals:
    """Totals of a class of elements: their places, the iterations that each starts, and by unit the cycles of work, of
    waiting, which is of category `why`, and of iterations that fuller elements have.
    """

    places: Sequence[tuple[int, int]]
    iterations: int
    why: Category
    work: Sequence[int]
    waiting: Sequence[int]
    missing: Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class HeldUnits:
    """Cycles that units are held by what they issued, at multiples of `step`, shaped (multiples, classes, units)."""

    step: int
    counts: Cycles

    @classmethod
    def read(cls, told: tuple[int, bytes], classes: int, units: int) -> HeldUnits | None:
        """What the native model tells; None of a run without an account."""
        step, counts = told
        # An array of which no element has a program counts nothing.
        return cls(step, np.frombuffer(counts, np.int64).reshape(-1, classes, units)) if step and classes else None


def class_parts(
    held: HeldUnits,
    totals: Sequence[ClassTotals],
    numbers: Sequence[int],
    most: int,
    interval: int,
    controller: Controller,
    corner: tuple[int, int],
    cycles: int,
) -> Parts:
    """Parts of a run of so many cycles; `numbers` are those of the classes, `most` iterations the most of an element,
    `corner` the last row and column.
    """
    final = np.zeros(held.counts.shape[1:], np.int64)
    final[list(numbers)] = [own.work for own in totals]
    ends, passed = snapshot_sums(held.step, held.counts, final, cycles)
    counts = np.zeros((len(ends), len(CATEGORIES)), np.int64)
    starts = [_starts(own.places, controller, corner) for own in totals]
    first = min((int(own.min()) for own in starts), default=0)
    for own, number, begins in zip(totals, numbers, starts, strict=True):
        room = np.diff(ends, prepend=0) * len(own.places)
        busy, fuller = (_overlap(ends, begins - first, n * interval) for n in (own.iterations, most))
        for unit in range(len(own.work)):
            work = _window_part(passed[:, number, unit], room)
            waiting = _fit(np.clip(busy - work, 0, room - work), own.waiting[unit], room - work)
            left = room - work - waiting
            missing = _fit(np.clip(fuller - busy, 0, left), own.missing[unit], left)
            for name, part in (
                ("work", work),
                (own.why, waiting),
                ("imbalance", missing),
                ("fill and drain", left - missing),
            ):
                counts[:, CATEGORIES.index(name)] += part
    return Parts(ends, counts)


def _starts(places: Sequence[tuple[int, int]], controller: Controller, corner: tuple[int, int]) -> Cycles:
    """Cycles in which elements start: the token comes from a corner (the array paper, section 3.3)."""
    rows, columns = np.array(places, np.int64).reshape(-1, 2).T
    rows = corner[0] - rows if controller.south else rows
    columns = corner[1] - columns if controller.east else columns
    return controller.row_delay * rows + controller.column_delay * columns


def _overlap(ends: Cycles, starts: Cycles, length: int) -> Cycles:
    """Cycles of each part in which elements that run for `length` from their starts on do so, together."""
    passed = np.clip(ends[:, None] - starts[None, :], 0, length).sum(axis=1)
    return np.diff(passed, prepend=0)


def _window_part(passed: Cycles, room: Cycles) -> Cycles:
    """Work by part from its running sum. A unit that is held at the end of a part goes on in the next one, and beyond
    the end of the run not at all.
    """
    limits, total = np.cumsum(room), int(passed[-1])
    # The greatest running sum that is nowhere steeper than the room: min over t <= s of passed(t) + room(t, s).
    eager = limits + np.minimum.accumulate(np.minimum(passed - limits, 0))
    # What would be beyond the end is earlier instead.
    kept = np.maximum(np.minimum(eager, total), total - (limits[-1] - limits))
    return np.diff(kept, prepend=0)


def _fit(wanted: Cycles, total: int, room: Cycles) -> Cycles:
    """Parts that are wanted, changed from the last on such that they sum to `total`."""
    excess = int(wanted.sum()) - total
    return wanted - _from_end(excess, wanted) if excess > 0 else wanted + _from_end(-excess, room - wanted)


def _from_end(amount: int, available: Cycles) -> Cycles:
    """As much of what is available as makes up the amount, from the last part on."""
    behind = np.cumsum(available[::-1])[::-1] - available
    return np.clip(amount - behind, 0, available)
