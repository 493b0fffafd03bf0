# SPDX-License-Identifier: Apache-2.0
"""What people look at after a run on minions: what bounds it, where its bytes went, what it waited for, and the loop in
which the work is done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from polyloom.targets.report import Report, Table
from polyloom.targets.target import Json

_LEVELS: Final = {"shire": "own shire", "l3": "L3 and other shires", "dram": "DRAM", "messages": "messages"}
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
_LINE: Final = re.compile(r"^([0-9a-f]+): [0-9a-f]+ +(\S+)(.*)$")
_TARGET: Final = re.compile(r"(-\d+)$")
_LONGEST: Final = 48
"""Lines of a loop that is shown; `polyloom show` has all."""


def reports(facts: Mapping[str, Json], cycles: int | None, listing: str) -> Sequence[Report]:
    """`facts` are the keys of `run --json`, `listing` is that of the program."""
    tables = [_bytes(facts, cycles), None if cycles is None else _waits(facts), _loop(listing)]
    return (Report(tables=tuple(table for table in tables if table is not None), bottleneck=_bottleneck(facts)),)


def _bottleneck(facts: Mapping[str, Json]) -> str:
    bound, used = facts.get("bound_by"), facts.get("loop_utilization")
    if not isinstance(bound, str):
        return ""
    return f"{bound}; in the loop, {used:.1%} of the peak" if isinstance(used, float) else bound


def _bytes(facts: Mapping[str, Json], cycles: int | None) -> Table | None:
    found = cast("Mapping[str, int]", facts.get("bytes") or {})
    rows = [
        (title, f"{found[level]:,}", "" if not cycles else f"{found[level] / cycles:.1f}")
        for level, title in _LEVELS.items()
        if found.get(level)
    ]
    return Table("Bytes by level", ("from and to", "bytes", "a cycle"), tuple(rows)) if rows else None


def _waits(facts: Mapping[str, Json]) -> Table | None:
    """Cycles of all minions in which the first thing that a hart or a unit waited for was this."""
    counters = cast("Mapping[str, int]", facts.get("counters") or {})
    rows = [(what, f"{counters[name]:,}") for name, what in _STALLS.items() if counters.get(name)]
    rows.sort(key=lambda row: -int(row[1].replace(",", "")))
    return Table("Waits, in cycles of all minions", ("for", "cycles"), tuple(rows)) if rows else None


def _loop(listing: str) -> Table | None:
    """The innermost loop with most multiply-adds, else with most vector instructions."""
    lines = [(line, found) for line in listing.splitlines() if (found := _LINE.match(line)) is not None]
    loops = list(_innermost([(int(found[1], 16), found[2], found[3]) for _, found in lines]))
    if not loops:
        return None

    def weight(loop: range) -> tuple[int, int]:
        text = [lines[n][0] for n in loop]
        return sum("tensor_fma" in line for line in text), sum(".ps" in line or ".pi" in line for line in text)

    best = max(loops, key=weight)
    if weight(best) == (0, 0):
        return None
    shown = [lines[n][0] for n in best[:_LONGEST]]
    rest = [f"... {len(best) - _LONGEST} more lines: `polyloom show`"] if len(best) > _LONGEST else []
    return Table(
        "The loop in which the work is done",
        ("address     word      instruction",),
        tuple((line,) for line in (*shown, *rest)),
    )


def _innermost(code: Sequence[tuple[int, str, str]]) -> Iterator[range]:
    """The lines of each loop that has no other in it: a branch backwards ends one."""
    place = {address: n for n, (address, _, _) in enumerate(code)}
    ends = list[range]()
    for n, (address, mnemonic, operands) in enumerate(code):
        offset = _TARGET.search(operands.split("#")[0].strip()) if mnemonic[0] in "bj" else None
        first = place.get(address + int(offset[1])) if offset is not None else None
        if first is not None:
            ends.append(range(first, n + 1))
    for loop in ends:
        if not any(other is not loop and other.start >= loop.start and other.stop <= loop.stop for other in ends):
            yield loop
