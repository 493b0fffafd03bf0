# SPDX-License-Identifier: Apache-2.0
"""Account of a run on RISC-V: cycles of an in-order core, or instructions where no time is modelled.

A cycle in which the core issues is work. Otherwise it waits for a load (memory), for another result (dependence) or for
the divider (full unit), or it lost the cycle behind a branch (front).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from polyloom.riscv.source_lines import Lines
from polyloom.riscv.timing.core import DATA_CLASSES, CycleCounts, Pace
from polyloom.targets.account import Account, Category, Row, merge_rows
from polyloom.targets.account_advice import advise
from polyloom.targets.account_timeline import Parts, category_table, fold_timeline, snapshot_parts, uniform_parts

_HART = "hart 0"
_COUNTED: Final[Sequence[Category]] = ("work", "dependence", "memory", "full unit", "front")
"""Classes of the numbers of a snapshot (native/riscv/paced.hpp)."""


def account(counted: CycleCounts, lines: Lines) -> Account:
    """Account of a run; `lines` are those of its words."""
    rows = merge_rows(row for pace in counted.paces for row in _rows(pace, lines))
    made = Account(1, counted.cycles, rows, "cycles" if counted.is_timed else "instructions")
    return replace(made, advice=advise(made), timeline=fold_timeline(_parts(counted, made)))


def _parts(counted: CycleCounts, made: Account) -> Parts:
    """Parts between snapshots. Without time each instruction is one unit-cycle of work, whenever it is."""
    if not counted.is_timed:
        return uniform_parts(made)
    final = np.array([made.categories.get(name, 0) for name in _COUNTED], np.int64)
    return snapshot_parts(counted.step, counted.over_time, final, counted.cycles, category_table(_COUNTED))


def loop_weights(counted: CycleCounts) -> dict[int, int]:
    """Cycles by address: executions and all waits of the instruction."""
    return {p.address: p.executed + p.jumped + p.unit + sum(n for n, _, _ in p.waited) for p in counted.paces}


def _rows(pace: Pace, lines: Lines) -> Iterator[Row]:
    place = lines.at(pace.address)
    line = 0 if place is None else place.line

    def row(category: Category, detail: str, cycles: int) -> Row:
        return Row(category, detail, line, "", _HART, cycles)

    yield row("work", pace.kind, pace.executed)
    yield row("front", f"taken {pace.kind}", pace.jumped)
    yield row("full unit", "divider", pace.unit)
    for cycles, kind, writer in pace.waited:
        if kind in DATA_CLASSES:
            yield row("memory", f"{writer} to {pace.mnemonic}", cycles)
        else:
            yield row("dependence", f"{writer} to {pace.mnemonic}", cycles)
