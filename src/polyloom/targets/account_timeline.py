# SPDX-License-Identifier: Apache-2.0
"""Account over time: what models counted in parts of a run becomes columns of equal length, exactly.

A model keeps what it has counted so far at multiples of a step (native/account/snapshots.hpp); differences of
neighbours are the unit-cycles of a part. A column that ends within a part gets its share of it, in integers that sum
to the part's (largest remainder method; Hamilton 1792).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.account import CATEGORIES, Account, Category, Timeline

COLUMNS: Final = 128
"""Columns of a timeline at most: as many as a page can show."""
Counts = NDArray[np.int64]
_NUMBER: Final[Mapping[Category, int]] = {name: n for n, name in enumerate(CATEGORIES)}


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Parts of a run, one after another: the cycle in which each ends (ascending), and its unit-cycles by class, shaped
    (parts, classes). `step` is that of the cycles, 1 where they are at no multiples.
    """

    ends: Counts
    counts: Counts
    step: int = 1


def category_table(categories: Sequence[Category]) -> Counts:
    """Matrix that folds counts to classes: shaped (counts, classes), with a 1 where a count is of a class."""
    made = np.zeros((len(categories), len(CATEGORIES)), np.int64)
    made[np.arange(len(categories)), [_NUMBER[name] for name in categories]] = 1
    return made


def snapshot_parts(step: int, snapshots: Counts, final: Counts, cycles: int, table: Counts) -> Parts:
    """Parts between snapshots, shaped (snapshots, counts), of what had been counted at multiples of `step`. `final` is
    what had been counted at the end; `table` folds counts to unit-cycles by class.
    """
    ends, passed = snapshot_sums(step, snapshots.reshape(-1, len(final)), final, cycles)
    return Parts(ends, np.diff(passed, axis=0, prepend=0) @ table, step)


def snapshot_sums(step: int, snapshots: Counts, final: Counts, cycles: int) -> tuple[Counts, Counts]:
    """Ends of the parts between snapshots, and what had been counted at each. Snapshots behind the end are left out;
    what follows the last one was counted within a step, for otherwise there would be another.
    """
    marks = np.arange(1, len(snapshots) + 2, dtype=np.int64) * step
    ends = np.append(marks[marks < cycles], cycles)
    rest = np.repeat(final[None], max(0, len(ends) - len(snapshots)), axis=0)
    passed = np.concatenate([snapshots[: len(ends)], rest])
    passed[-1] = final
    return ends, passed


def join_parts(parts: Sequence[Parts]) -> Parts:
    """Parts of runs one after another."""
    starts = np.cumsum([0, *(int(own.ends[-1]) for own in parts)])
    ends = np.concatenate([own.ends + start for own, start in zip(parts, starts[:-1], strict=True)])
    return Parts(ends, np.concatenate([own.counts for own in parts]))


def uniform_parts(account: Account) -> Parts:
    """One part: all that is known of a run in which nothing changes."""
    counts = np.array([[account.categories.get(name, 0) for name in CATEGORIES]], np.int64)
    return Parts(np.array([account.cycles], np.int64), counts)


def fold_timeline(parts: Parts) -> Timeline | None:
    """Timeline of at most `COLUMNS` columns; None of a run without cycles."""
    cycles = int(parts.ends[-1]) if len(parts.ends) else 0
    if not cycles:
        return None
    least = -(-cycles // COLUMNS)
    # Columns that end where parts end need no shares.
    step = -(-least // parts.step) * parts.step
    columns = np.array([list(column) for column in _columns(parts, step, cycles)], np.int64)
    named: list[dict[Category, int]] = [
        {name: int(n) for name, n in zip(CATEGORIES, column, strict=True) if n} for column in columns
    ]
    return Timeline(step, tuple(named))


def _columns(parts: Parts, step: int, cycles: int) -> Iterator[Counts]:
    """Counts by column. What is left of a part that a column ends in goes to the next one."""
    starts = np.append(0, parts.ends[:-1])
    sums = np.vstack([np.zeros(parts.counts.shape[1], np.int64), np.cumsum(parts.counts, axis=0)])
    before = taken = np.zeros(parts.counts.shape[1], np.int64)
    given, at = -1, 0
    for end in (min(n, cycles) for n in range(step, cycles + step, step)):
        part = int(np.searchsorted(parts.ends, end))
        if part != given:
            given, at, taken = part, int(starts[part]), np.zeros_like(taken)
        taken = taken + _share(parts.counts[part] - taken, end - at, int(parts.ends[part]) - at)
        yield sums[part] + taken - before
        at, before = end, sums[part] + taken


def _share(left: Counts, length: int, whole: int) -> Counts:
    """Share of the first `length` of `whole` cycles, in integers that sum to the same share of all."""
    given = left * length // whole
    missing = int(left.sum()) * length // whole - int(given.sum())
    # The greatest remainders are rounded up; of equal ones the first.
    order = np.argsort(-(left * length % whole), kind="stable")
    given[order[:missing]] += 1
    return given
