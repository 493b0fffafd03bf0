# SPDX-License-Identifier: Apache-2.0
"""Cycle account of a run on tiles: threads times cycles, from what the model counted at the wait gates
(native/tensix/account.cpp), by the line of the word.

A cycle in which a unit accepts a thread's word is work of that kind; in all others the gate has one reason. Threads
that the program leaves alone are no units of the account.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.riscv.source_lines import Lines
from polyloom.targets.account import CATEGORIES, Account, Category, Row, merge_rows
from polyloom.targets.account_advice import advise
from polyloom.targets.account_timeline import Parts, category_table, fold_timeline, snapshot_parts
from polyloom.targets.tensix.run.tile import UNITS, Tile

_CONDITIONS: Final = (
    *("memory requests of the scalar unit", "unpacker 0", "unpacker 1"),
    *(f"packer {n}" for n in range(4)),
    *("matrix unit", "SrcA, with the matrix unit", "SrcB, with the matrix unit"),
    *("SrcA, with the unpackers", "SrcB, with the unpackers", "mover", "configuration of the core", "vector unit"),
    "latch that goes",
)
"""What a STALLWAIT waits for, by bit as Wormhole numbers them; the last is the cycle in which it has come."""
# First numbers of the kinds of reasons that native/tensix/account.cpp has; those below are work.
_OCCUPIED, _CONDITION, _SEMAPHORE, _SINGLE = 16, 32, 48, 56
_REASONS: Final[tuple[tuple[Category, str], ...]] = (
    ("synchronisation", "mutex"),
    ("synchronisation", "banks of SrcA and SrcB"),
    ("dependence", "rows of Dst"),
    ("dependence", "registers of the vector unit"),
    ("memory", "retries of the scalar unit"),
    ("front", "expanders"),
    ("front", "core pushes no word"),
    ("synchronisation", "core polls"),
    ("imbalance", "thread has ended"),
)
"""By number of the model's reasons from 56 on."""
_ENDED: Final = _SINGLE + len(_REASONS) - 1
_THREADS: Final = 3
Tally = Sequence[tuple[int, int, int, int]]
"""Thread, reason, address, cycles."""


@dataclass(frozen=True, slots=True, eq=False)
class CycleCounts:
    """What the model counted, by tile; over time a step and the counts by thread and reason at multiples of it, shaped
    (multiples, threads, reasons).
    """

    tallies: Sequence[Tally]
    over_time: Sequence[tuple[int, NDArray[np.int64]]] = ()


def count_tiles(tiles: Sequence[Tile]) -> CycleCounts:
    """Counts of tiles that ran."""
    # Sorted: rows must not depend on the order of a table of the model.
    return CycleCounts(
        tuple(sorted(tile.native.tally) for tile in tiles),
        tuple(
            (step, np.frombuffer(counts, np.int64).reshape(-1, _THREADS, _ENDED + 1))
            for step, counts in (tile.native.over_time for tile in tiles)
        ),
    )


def account(counted: CycleCounts, cycles: int, lines: Lines) -> Account:
    """Account of a run of so many cycles; `lines` are those of the words' addresses."""
    used = [(tally, thread) for tally in counted.tallies for thread in _threads(tally)]
    rows = [row for tally, thread in used for row in _thread_rows(tally, thread, cycles, lines)]
    made = Account(len(used), cycles, merge_rows(rows))
    timeline = fold_timeline(_parts(counted, cycles)) if counted.over_time else None
    return replace(made, advice=advise(made), timeline=timeline)


def _parts(counted: CycleCounts, cycles: int) -> Parts:
    """Parts of all tiles. Of two tiles that kept snapshots at other steps, both powers of two, the coarser counts."""
    found = [
        snapshot_parts(step, snapshots[:, threads].reshape(len(snapshots), -1), final, cycles, table)
        for (step, snapshots), tally in zip(counted.over_time, counted.tallies, strict=True)
        for threads, final, table in [_used_counts(tally, cycles)]
        if threads
    ]
    if not found:
        return Parts(np.zeros(0, np.int64), np.zeros((0, len(CATEGORIES)), np.int64))
    coarse = max(found, key=lambda parts: parts.step)
    ends = np.append(np.arange(coarse.step, cycles, coarse.step), cycles)
    counts = sum((_regroup(parts, ends) for parts in found), np.zeros((len(ends), len(CATEGORIES)), np.int64))
    # What a thread neither did nor waited for is the sleep of its tile.
    units = sum(len(_threads(tally)) for tally in counted.tallies)
    sleep = np.diff(ends, prepend=0) * units - counts.sum(axis=1)
    return Parts(ends, counts + sleep[:, None] * category_table(["synchronisation"]), coarse.step)


def _used_counts(tally: Tally, cycles: int) -> tuple[list[int], NDArray[np.int64], NDArray[np.int64]]:
    """Threads that a tile uses, their final counts, and the classes of these."""
    threads = _threads(tally)
    final = np.zeros((_THREADS, _ENDED + 1), np.int64)
    for thread, why, _, count in tally:
        final[thread, why] += count
    final = final[threads]
    final[:, _ENDED] = np.minimum(final[:, _ENDED], cycles - final[:, :_ENDED].sum(axis=1))
    table = category_table([_category(why) for why in range(_ENDED + 1)])
    return threads, final.reshape(-1), np.tile(table, (len(threads), 1))


def _regroup(parts: Parts, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts up to each of `ends`, which are ends of parts, or behind the last snapshot."""
    sums = np.vstack([np.zeros(len(CATEGORIES), np.int64), np.cumsum(parts.counts, axis=0)])
    return np.diff(sums[np.searchsorted(parts.ends, ends, side="right")], axis=0, prepend=0)


def _threads(tally: Tally) -> list[int]:
    """Threads that did anything but be at their end."""
    return sorted({thread for thread, why, _, _ in tally if why != _ENDED})


def _thread_rows(tally: Tally, thread: int, cycles: int, lines: Lines) -> Iterator[Row]:
    unit, seen, ended = f"T{thread}", 0, 0
    for of, why, address, count in tally:
        if of != thread:
            continue
        if why == _ENDED:
            ended += count
            continue
        place = lines.at(address) if address else None
        seen += count
        yield Row(*_reason(why), 0 if place is None else place.line, "", unit, count)
    # A run ends with the last effect, while tiles step on until they notice; a tile of a grid sleeps between.
    yield Row(*_reason(_ENDED), 0, "", unit, min(ended, cycles - seen))
    yield Row("synchronisation", "tile sleeps", 0, "", unit, max(0, cycles - seen - ended))


def _category(why: int) -> Category:
    if why >= _SINGLE:
        return _REASONS[why - _SINGLE][0]
    return "work" if why < _OCCUPIED else "full unit" if why < _CONDITION else "synchronisation"


def _reason(why: int) -> tuple[Category, str]:
    """Class and detail of a reason."""
    if why < _OCCUPIED:
        detail = UNITS[why]
    elif why < _CONDITION:
        detail = UNITS[why - _OCCUPIED]
    elif why < _SEMAPHORE:
        detail = f"STALLWAIT for {_CONDITIONS[why - _CONDITION]}"
    else:
        detail = f"semaphore {why - _SEMAPHORE}" if why < _SINGLE else _REASONS[why - _SINGLE][1]
    return _category(why), detail


def loop_weights(counted: CycleCounts) -> dict[int, int]:
    """Cycles of all threads by address of the word."""
    found = dict[int, int]()
    for tally in counted.tallies:
        for _, _, address, count in tally:
            found[address] = found.get(address, 0) + count
    return found
