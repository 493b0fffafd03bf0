# SPDX-License-Identifier: Apache-2.0
"""Account of a run on RISC-V: cycles of an in-order core, or instructions where no time is modelled.

A cycle in which the core issues is work. Otherwise it waits for a load (memory), for another result (dependence) or for
the divider (full unit), or it lost the cycle behind a branch (front).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from polyloom.riscv.source_lines import Lines
from polyloom.riscv.timing.core import Pace
from polyloom.targets.account import Account, Category, Row, merge_rows
from polyloom.targets.account_advice import advise

_HART = "hart 0"


@dataclass(frozen=True, slots=True)
class CycleCounts:
    """What a hart that counts tells of a run: its cycles, and each instruction; `is_timed` where cycles are those of a
    core, and not the instructions.
    """

    cycles: int
    paces: Sequence[Pace]
    is_timed: bool


def account(counted: CycleCounts, lines: Lines) -> Account:
    """Account of a run; `lines` are those of its words."""
    rows = merge_rows(row for pace in counted.paces for row in _rows(pace, lines))
    made = Account(1, counted.cycles, rows, "cycles" if counted.is_timed else "instructions")
    return replace(made, advice=advise(made))


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
        # An atomic operation gives what the memory had, as a load does.
        if kind in ("load", "atomic"):
            yield row("memory", f"{writer} to {pace.mnemonic}", cycles)
        else:
            yield row("dependence", f"{writer} to {pace.mnemonic}", cycles)
