# SPDX-License-Identifier: Apache-2.0
"""Cycle account of a run on minions: harts times cycles, from what the model counted for each hart and instruction
(native/minion/timeline.hpp), by the line of the instruction.

A hart works in the cycles in which it issues; a tensor operation runs beside it, so that waiting for one is a wait for
a full unit, or for memory. What harts of one kind (thread 0 or 1 of a minion) do is one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.riscv.source_lines import Lines
from polyloom.riscv.timing import listing_loops
from polyloom.riscv.timing.instruction_class import instruction_class
from polyloom.targets.account import Account, Category, Row, merge_rows
from polyloom.targets.account_advice import advise
from polyloom.targets.account_timeline import Parts, category_table, fold_timeline

_STALLS: Final[tuple[tuple[Category, str], ...]] = (
    ("memory", "tensor load"),
    ("memory", "operands of TenB"),
    ("memory", "load into the scratchpad, id 0"),
    ("memory", "load into the scratchpad, id 1"),
    ("full unit", "tensor multiply-add"),
    ("full unit", "quantizer"),
    ("memory", "tensor store"),
    ("synchronisation", "partner of a transfer"),
    ("full unit", "registers of a tensor operation"),
    ("synchronisation", "credit"),
    ("synchronisation", "interrupt"),
    ("synchronisation", "barrier"),
    ("memory", "cache operation"),
    ("memory", "data of a load"),
    ("dependence", "result of an instruction"),
    ("front", "instruction cache"),
    ("full unit", "multiplier"),
    ("dependence", "pipeline before a control register"),
)
"""By number of the model's `Stall`, whose first eight are classes of tensor operations."""
_KINDS: Final[tuple[Category, ...]] = ("work", "full unit", "front", *(name for name, _ in _STALLS))
"""Classes of the model's kinds (native/minion/timeline.hpp): issued, the other hart's turn, front, stalls."""
Passed = tuple[int, int, int, int, int, Sequence[tuple[int, int]]]
"""Thread of a minion, pc, cycles in which it issued, in which the other hart had the slot, before an issue, stalls:
what for and cycles."""


@dataclass(frozen=True, slots=True, eq=False)
class CycleCounts:
    """What the model counted: harts' cycles by instruction, by hart its cycles up to its end, and those of all harts
    over time, shaped (columns, kinds), in columns of so many cycles.
    """

    passed: Sequence[Passed]
    lives: Sequence[int]
    width: int = 0
    over_time: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, len(_KINDS)), np.int64))


def account(counted: CycleCounts, cycles: int, kinds: Mapping[int, str], lines: Lines) -> Account:
    """Account of a run of so many cycles; `kinds` are classes of instructions by address,
    `lines` those of the words.
    """
    harts = len(counted.lives)
    rows = [row for each in sorted(counted.passed) for row in _rows(each, kinds, lines)]
    # Harts 2n and 2n + 1 are threads 0 and 1 of minion n.
    rows += [_rest(thread, counted.lives[thread::2], cycles) for thread in (0, 1)]
    made = Account(harts, cycles, merge_rows(rows))
    timeline = fold_timeline(_parts(counted, cycles)) if counted.width and cycles else None
    return replace(made, advice=advise(made), timeline=timeline)


def read_counts(passed: Sequence[Passed], lives: Sequence[int], told: tuple[int, bytes]) -> CycleCounts:
    """What the native model tells."""
    width, columns = told
    return CycleCounts(passed, lives, width, np.frombuffer(columns, np.int64).reshape(-1, len(_KINDS)))


def _parts(counted: CycleCounts, cycles: int) -> Parts:
    """Parts of the model's columns. Harts that have ended are in none of its counts."""
    ends = np.minimum(np.arange(1, -(-cycles // counted.width) + 1) * counted.width, cycles)
    counts = np.zeros((len(ends), len(_KINDS)), np.int64)
    # Columns behind the end are empty: what was counted there has been taken back.
    told = counted.over_time[: len(ends)]
    counts[: len(told)] = told
    ended = np.diff(ends, prepend=0) * len(counted.lives) - counts.sum(axis=1)
    rest = ended[:, None] * category_table(["imbalance"])
    return Parts(ends, counts @ category_table(_KINDS) + rest, counted.width)


def instruction_kinds(listing: str) -> dict[int, str]:
    """Mnemonic by address of a listing: tensor operations by name, scalar instructions by class."""
    found = dict[int, str]()
    for address, mnemonic in listing_loops.list_mnemonics(listing):
        plain = mnemonic.removeprefix("c.")
        # Packed instructions have no class in the unprivileged manual: they are told by name.
        scalar = not (plain.startswith("tensor_") or plain.endswith((".ps", ".pi")))
        found[address] = instruction_class(plain) if scalar else plain
    return found


def loop_weights(counted: CycleCounts) -> dict[int, int]:
    """Cycles of all harts by address."""
    found = dict[int, int]()
    for _, pc, issued, turn, front, stalls in counted.passed:
        found[pc] = found.get(pc, 0) + issued + turn + front + sum(cycles for _, cycles in stalls)
    return found


def _rows(passed: Passed, kinds: Mapping[int, str], lines: Lines) -> Iterator[Row]:
    thread, pc, issued, turn, front, stalls = passed
    place, unit = lines.at(pc), f"harts {thread}"
    line = 0 if place is None else place.line
    yield Row("work", kinds.get(pc, "instruction"), line, "", unit, issued)
    yield Row("full unit", "issue slot, for the other hart", line, "", unit, turn)
    yield Row("front", "taken branches and start", line, "", unit, front)
    for number, cycles in stalls:
        category, detail = _STALLS[number]
        yield Row(category, detail, line, "", unit, cycles)


def _rest(thread: int, lives: Sequence[int], cycles: int) -> Row:
    """Cycles behind the harts' ends: of those that work less than others, and of what is still under way."""
    rest = sum(cycles - life for life in lives)
    return Row("imbalance", "harts that have ended", 0, "", f"harts {thread}", rest)
