# SPDX-License-Identifier: Apache-2.0
"""Trace files of a run: Chrome JSON (the Trace Event Format), which Perfetto opens (each group is a process, each
lane a thread, a cycle a microsecond), and VCD waves (IEEE 1364-2005).

No two spans of a thread overlap: the spans of a pipelined unit are spread over as many threads as it has operations in
flight.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence

from polyloom.targets.trace import Arrow, Instant, Span, Trace, assign_sub_lanes

Object = dict[str, object]


def perfetto(trace: Trace) -> bytes:
    """Chrome trace (the Trace Event Format): complete events, instants, and flow events for arrows, as one JSON
    object.
    """
    spans = assign_sub_lanes(trace.spans)
    deep = _depths(spans)
    rows = _Threads(deep)
    # Before the names: threads are numbered as they appear in events.
    events = [rows.span(span, number) for span, number in spans]
    events += [rows.instant(instant) for instant in trace.instants]
    events += [event for number, arrow in enumerate(trace.arrows) for event in rows.arrow(arrow, number, spans)]
    whole = {"displayTimeUnit": "ns", "traceEvents": [*rows.names(), *events], **_notice_data(trace)}
    return json.dumps(whole, separators=(",", ":")).encode()


def _notice_data(trace: Trace) -> Object:
    return {"otherData": {"notice": trace.notice}} if trace.notice else {}


def compress_trace(made: bytes) -> bytes:
    """Compressed as Perfetto opens it: events repeat sources, statements and reasons, so that a tenth is left and less.
    Equal traces have equal bytes."""
    return gzip.compress(made, 6, mtime=0)


def _depths(spans: Sequence[tuple[Span, int]]) -> dict[tuple[str, str], int]:
    """How many threads each lane needs."""
    found: dict[tuple[str, str], int] = {}
    for span, number in spans:
        lane = span.group, span.lane
        found[lane] = max(found.get(lane, 0), number)
    return found


class _Threads:
    """Processes and threads by group and lane, numbered as they appear."""

    def __init__(self, depths: dict[tuple[str, str], int]) -> None:
        self.depths = depths
        self.groups: dict[str, int] = {}
        self.threads: dict[tuple[str, str], int] = {}
        self.at: dict[tuple[str, str, int], int] | None = None

    def place(self, group: str, lane: str, number: int = 1) -> Object:
        name = f"{lane} {number}" if self.depths.get((group, lane), 1) > 1 else lane
        pid = self.groups.setdefault(group, len(self.groups))
        return {"pid": pid, "tid": self.threads.setdefault((group, name), len(self.threads))}

    def names(self) -> Iterator[Object]:
        for group, pid in self.groups.items():
            yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": group}}
        for (group, lane), tid in self.threads.items():
            yield {"ph": "M", "name": "thread_name", "pid": self.groups[group], "tid": tid, "args": {"name": lane}}

    def span(self, span: Span, number: int) -> Object:
        place = self.place(span.group, span.lane, number)
        return {
            "ph": "X",
            "name": span.name,
            **place,
            "ts": span.start,
            "dur": span.cycles,
            **_arguments(span.arguments),
        }

    def instant(self, instant: Instant) -> Object:
        place = self.place(instant.group, instant.lane)
        return {"ph": "i", "s": "t", "name": instant.name, **place, "ts": instant.at, **_arguments(instant.arguments)}

    def arrow(self, arrow: Arrow, number: int, spans: Sequence[tuple[Span, int]]) -> Iterator[Object]:
        """It binds to the spans that begin where it leaves and arrives."""
        if self.at is None:
            self.at = {(s.group, s.lane, s.start): n for s, n in spans}
        for phase, lane, time in (("s", arrow.source, arrow.start), ("f", arrow.target, arrow.end)):
            place = self.place(*lane, self.at.get((*lane, time), 1))
            ending: Object = {"bp": "e"} if phase == "f" else {}
            yield {"ph": phase, "id": number, "cat": "value", "name": arrow.name, **place, "ts": time, **ending}


def _arguments(pairs: Sequence[tuple[str, str]]) -> Object:
    return {"args": dict(pairs)} if pairs else {}


def vcd(trace: Trace) -> bytes:
    """Value change dump (IEEE 1364-2005): a string variable per unit, which names what it issued in that cycle, or
    nothing.
    """
    spans = trace.spans
    lanes = {lane: _identifier(n) for n, lane in enumerate(dict.fromkeys((s.group, s.lane) for s in spans))}
    lines = [f"$comment {trace.notice} $end"] if trace.notice else []
    lines += ["$timescale 1 ns $end", "$scope module array $end"]
    for group in dict.fromkeys(g for g, _ in lanes):
        lines.append(f"$scope module {_word(group)} $end")
        lines += [f"$var string 1 {i} {_word(lane)} $end" for (g, lane), i in lanes.items() if g == group]
        lines.append("$upscope $end")
    lines += ["$upscope $end", "$enddefinitions $end", *_changes(spans, lanes)]
    return ("\n".join(lines) + "\n").encode()


def _changes(spans: Iterable[Span], lanes: dict[tuple[str, str], str]) -> Iterable[str]:
    """Values at each cycle with a change: a unit's operation, and nothing after it unless it issues again."""
    values: dict[int, dict[str, str]] = {}
    for span in spans:
        identifier = lanes[span.group, span.lane]
        values.setdefault(span.start, {})[identifier] = _word(span.name)
        # Not over an operation that starts in that cycle: spans may come in any order.
        values.setdefault(span.start + 1, {}).setdefault(identifier, "")
    for cycle in sorted(values):
        yield f"#{cycle}"
        yield from (f"s{value} {identifier}" for identifier, value in values[cycle].items())


def _identifier(number: int) -> str:
    """A short name of printable characters, base 94."""
    digits = chr(33 + number % 94)
    return digits if number < 94 else _identifier(number // 94 - 1) + digits


def _word(text: str) -> str:
    return text.replace("element (", "pe_").replace(", ", "_").replace(")", "").replace(" ", "")
