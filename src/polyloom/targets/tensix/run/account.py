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

from polyloom.riscv.source_lines import Lines
from polyloom.targets.account import Account, Category, Row, merge_rows
from polyloom.targets.account_advice import advise
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
Tally = Sequence[tuple[int, int, int, int]]
"""Thread, reason, address, cycles."""


@dataclass(frozen=True, slots=True)
class CycleCounts:
    """What the model counted, by tile."""

    tallies: Sequence[Tally]


def count_tiles(tiles: Sequence[Tile]) -> CycleCounts:
    """Counts of tiles that ran."""
    # Sorted: rows must not depend on the order of a table of the model.
    return CycleCounts(tuple(sorted(tile.native.tally) for tile in tiles))


def account(counted: CycleCounts, cycles: int, lines: Lines) -> Account:
    """Account of a run of so many cycles; `lines` are those of the words' addresses."""
    used = [(tally, thread) for tally in counted.tallies for thread in _threads(tally)]
    rows = [row for tally, thread in used for row in _thread_rows(tally, thread, cycles, lines)]
    made = Account(len(used), cycles, merge_rows(rows))
    return replace(made, advice=advise(made))


def _threads(tally: Tally) -> Iterator[int]:
    """Threads that did anything but be at their end."""
    yield from sorted({thread for thread, why, _, _ in tally if why != _ENDED})


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


def _reason(why: int) -> tuple[Category, str]:
    if why < _OCCUPIED:
        return "work", UNITS[why]
    if why < _CONDITION:
        return "full unit", UNITS[why - _OCCUPIED]
    if why < _SEMAPHORE:
        return "synchronisation", f"STALLWAIT for {_CONDITIONS[why - _CONDITION]}"
    if why < _SINGLE:
        return "synchronisation", f"semaphore {why - _SEMAPHORE}"
    return _REASONS[why - _SINGLE]


def loop_weights(counted: CycleCounts) -> dict[int, int]:
    """Cycles of all threads by address of the word."""
    found = dict[int, int]()
    for tally in counted.tallies:
        for _, _, address, count in tally:
            found[address] = found.get(address, 0) + count
    return found
