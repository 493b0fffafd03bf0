# SPDX-License-Identifier: Apache-2.0
"""Report of a run on minions: what was busy, where its bytes went, and what it waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from polyloom.targets.report import Report, Table
from polyloom.targets.target import Json

_LEVELS: Final = {"shire": "own shire", "l3": "L3 and other shires", "dram": "DRAM", "messages": "messages"}
# By the model's names of counters; the words are those of the manual's units.
_STALLS: Final = {
    "stall_load": "a load",
    "stall_load_b": "the next operand of TenB",
    "stall_load_l2": "a load into the scratchpad",
    "stall_fma": "the multiply-add unit",
    "stall_quant": "the quantizer",
    "stall_store": "a store",
    "stall_reduce": "a partner of a transfer",
    "stall_credit": "a credit or a barrier",
    "stall_registers": "vector registers that a tensor operation writes",
}


def reports(facts: Mapping[str, Json], cycles: int | None) -> Sequence[Report]:
    """Tables of a run; `facts` are the keys of `run --json`. Empty where there is nothing to tell."""
    tables = [_busy(facts), _bytes(facts, cycles), _intermediates(facts), None if cycles is None else _waits(facts)]
    found = tuple(table for table in tables if table is not None)
    return (Report(tables=found),) if found else ()


def _busy(facts: Mapping[str, Json]) -> Table | None:
    """Table of busy resources, the one that would take longest first, and of time without work."""
    busy, used = facts.get("busy"), facts.get("loop_utilization")
    if not isinstance(busy, str):
        return None
    rows = [*busy.split("; "), *([f"in the loop, {used:.1%} of the peak"] if isinstance(used, float) else [])]
    return Table("Busy", ("shares of the cycles",), tuple((row,) for row in rows))


def _bytes(facts: Mapping[str, Json], cycles: int | None) -> Table | None:
    """Table of traffic: bytes by level of the memory hierarchy, and per cycle."""
    found = cast("Mapping[str, int]", facts.get("bytes") or {})
    rows = [
        (title, f"{found[level]:,}", "" if not cycles else f"{found[level] / cycles:.1f}")
        for level, title in _LEVELS.items()
        if found.get(level)
    ]
    return Table("Bytes by level", ("from and to", "bytes", "a cycle"), tuple(rows), "memory") if rows else None


def _intermediates(facts: Mapping[str, Json]) -> Table | None:
    """Table of the arrays between phases: where each lies, and its bytes."""
    rows = cast("Sequence[tuple[str, str, int]]", facts.get("intermediates") or ())
    found = tuple((name, where, f"{size:,}") for name, where, size in rows)
    return Table("Arrays between phases", ("array", "in", "bytes"), found, "memory") if found else None


def _waits(facts: Mapping[str, Json]) -> Table | None:
    """Table of waits: cycles of all minions in which the first thing that a hart or a unit waited for was this."""
    counters = cast("Mapping[str, int]", facts.get("counters") or {})
    rows = [(what, f"{counters[name]:,}") for name, what in _STALLS.items() if counters.get(name)]
    # Longest first: the first row is where to look.
    rows.sort(key=lambda row: -int(row[1].replace(",", "")))
    return Table("Waits, in cycles of all minions", ("for", "cycles"), tuple(rows)) if rows else None
