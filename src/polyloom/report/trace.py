# SPDX-License-Identifier: Apache-2.0
"""Traces of a run: Chrome JSON, which Perfetto opens (a process an element, a thread a unit, a microsecond a cycle), and VCD waves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from polyloom.targets.registry import Event


def perfetto(events: Sequence[Event]) -> bytes:
    """The JSON object format of the Chrome trace viewer; one complete event an operation."""
    groups = {g: n for n, g in enumerate(dict.fromkeys(e.group for e in events))}
    lanes = {lane: n for n, lane in enumerate(dict.fromkeys((e.group, e.lane) for e in events))}
    rows = [_metadata("process_name", group, pid, 0) for group, pid in groups.items()]
    rows += [_metadata("thread_name", lane, groups[group], tid) for (group, lane), tid in lanes.items()]
    rows += [_operation(e, groups[e.group], lanes[e.group, e.lane]) for e in events]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": rows}, separators=(",", ":")).encode()


def _metadata(what: str, name: str, pid: int, tid: int) -> dict[str, object]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}


def _operation(event: Event, pid: int, tid: int) -> dict[str, object]:
    return {"ph": "X", "name": event.name, "pid": pid, "tid": tid, "ts": event.start, "dur": event.cycles}


def vcd(events: Sequence[Event]) -> bytes:
    """IEEE 1364 value change dump: a string variable a unit, which names what it issued in that cycle; empty: nothing."""
    lanes = {lane: _identifier(n) for n, lane in enumerate(dict.fromkeys((e.group, e.lane) for e in events))}
    lines = ["$timescale 1 ns $end", "$scope module array $end"]
    for group in dict.fromkeys(g for g, _ in lanes):
        lines.append(f"$scope module {_word(group)} $end")
        lines += [f"$var string 1 {i} {_word(lane)} $end" for (g, lane), i in lanes.items() if g == group]
        lines.append("$upscope $end")
    lines += ["$upscope $end", "$enddefinitions $end", *_changes(events, lanes)]
    return ("\n".join(lines) + "\n").encode()


def _changes(events: Iterable[Event], lanes: dict[tuple[str, str], str]) -> Iterable[str]:
    """Values at each cycle with a change: a unit's operation, and nothing in the cycle after it unless it issues again."""
    values: dict[int, dict[str, str]] = {}
    for e in events:
        identifier = lanes[e.group, e.lane]
        values.setdefault(e.start, {})[identifier] = _word(e.name)
        values.setdefault(e.start + 1, {}).setdefault(identifier, "")
    for cycle in sorted(values):
        yield f"#{cycle}"
        yield from (f"s{value} {identifier}" for identifier, value in values[cycle].items())


def _identifier(number: int) -> str:
    """A short name of printable characters, base 94."""
    digits = chr(33 + number % 94)
    return digits if number < 94 else _identifier(number // 94 - 1) + digits


def _word(text: str) -> str:
    return text.replace("element (", "pe_").replace(", ", "_").replace(")", "").replace(" ", "")
