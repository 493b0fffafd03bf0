# SPDX-License-Identifier: Apache-2.0
"""Trace of a run: spans and instants on lanes, and arrows between them.

A lane belongs to a group (a unit to its element). Spans of one unit may overlap, because it is pipelined;
`assign_sub_lanes` gives each of them a lane where nothing else is at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from typing import TypeVar, cast, overload

import numpy as np

from polyloom.targets.activity import (
    LARGEST,
    Activity,
    Columns,
    Group,
    column_activity,
    held_activity,
    merge_columns,
    natural_key,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Span:
    """Span: something that `lane` (such as a unit) of `group` (such as an element) did from cycle `start` for `cycles`
    cycles. `arguments` are shown beside it: names and values. `operation` is its number in `Report.operations` of the
    report number `phase`.
    """

    group: str
    lane: str
    name: str
    start: int
    cycles: int
    arguments: tuple[tuple[str, str], ...] = ()
    # By number rather than by reference, as traces are sent to other processes and written to pages.
    operation: int | None = None
    phase: int = 0


@dataclass(frozen=True, slots=True)
class Instant:
    """Event without a duration, such as a fault or a barrier that opens."""

    group: str
    lane: str
    name: str
    at: int
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    """Value in flight: it leaves the span that begins at `start` on the lane `source`, and arrives at the one that
    begins at `end` on the lane `target`. Lanes are pairs of group and lane.
    """

    name: str
    source: tuple[str, str]
    start: int
    target: tuple[str, str]
    end: int


class Deferred(Sequence[T]):
    """Lazy sequence that is made when somebody looks at its items; `length` is known before, if it is given. A long run
    has millions of spans, and most users look at none of them.
    """

    def __init__(self, make: Callable[[], Iterable[T]], length: int | None = None) -> None:
        self._make, self._length = make, length

    @cached_property
    def _items(self) -> tuple[T, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._items) if self._length is None else self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._items[index]

    def __eq__(self, other: object) -> bool:
        # Frozen dataclasses compare their fields, and a trace that was unpickled has tuples in these places.
        if not isinstance(other, tuple | Deferred):
            return NotImplemented
        items = cast("Sequence[object]", other)
        return len(self) == len(items) and self._items == tuple(items)

    def __hash__(self) -> int:
        return hash(self._items)

    def __reduce__(self) -> tuple[type[tuple[T, ...]], tuple[tuple[T, ...]]]:
        """Pickled as what it is made of."""
        return tuple, (self._items,)


@dataclass(frozen=True, slots=True)
class Trace:
    """Trace on one clock; cycle 0 is the start of the run. `columns` are the starts of all spans as arrays, or
    `activity` what they are drawn as, of a target that has them so; `holds` says that lanes are busy for as long as
    their spans last. `notice` says what is missing.
    """

    spans: Sequence[Span] = ()
    instants: Sequence[Instant] = ()
    arrows: Sequence[Arrow] = ()
    columns: Columns | None = None
    holds: bool = False
    activity: Activity | None = None
    notice: str = ""


def assign_sub_lanes(spans: Iterable[Span]) -> list[tuple[Span, int]]:
    """Interval graph coloring: every span with the number of its sub-lane, such that no two spans of one sub-lane
    overlap, in the order of their starts (left-edge algorithm; Hashimoto and Stevens 1971).

    A span takes the lowest sub-lane that is free, so that a unit of latency L which starts an operation every cycle has
    L of them, one per stage, and no more than L: at no time do more spans overlap (interval graphs are perfect;
    Golumbic 1980).
    """
    found: list[tuple[Span, int]] = []
    free: dict[tuple[str, str], list[int]] = {}
    busy: dict[tuple[str, str], list[tuple[int, int]]] = {}
    opened: dict[tuple[str, str], int] = {}
    for span in sorted(spans, key=lambda s: s.start):
        lane = span.group, span.lane
        ready, running = free.setdefault(lane, []), busy.setdefault(lane, [])
        # A heap by end: all that have ended give their sub-lanes back.
        while running and running[0][0] <= span.start:
            heappush(ready, heappop(running)[1])
        if ready:
            number = heappop(ready)
        else:
            # All sub-lanes are taken, so that as many spans overlap here as there will be sub-lanes.
            number = opened[lane] = opened.get(lane, 0) + 1
        # A span of no length still takes its start, or two of them would hide each other.
        heappush(running, (span.start + max(span.cycles, 1), number))
        found.append((span, number))
    return found


def traces_side_by_side(traces: Sequence[Trace], names: Sequence[str], phases: Sequence[int]) -> Trace:
    """Trace of programs that ran at once: groups have the program's name in front; each has so many phases, which are
    counted through all.
    """
    # A span names its phase's report by number, and all reports stand in one list afterwards.
    firsts = [sum(phases[:n]) for n in range(len(phases))]
    return join_traces([_prefix_names(*each) for each in zip(traces, names, firsts, strict=True)])


def _prefix_names(trace: Trace, name: str, first: int) -> Trace:
    """Trace with a program's name in front of its groups, and phases that count from `first`."""

    def lane(of: tuple[str, str]) -> tuple[str, str]:
        return f"{name} {of[0]}", of[1]

    spans = trace.spans
    columns = trace.columns
    if columns is not None:
        columns = replace(columns, groups=tuple(replace(g, name=f"{name} {g.name}") for g in columns.groups))
    return Trace(
        Deferred(lambda: (replace(s, group=f"{name} {s.group}", phase=s.phase + first) for s in spans), len(spans)),
        tuple(replace(i, group=f"{name} {i.group}") for i in trace.instants),
        Deferred(lambda: (replace(a, source=lane(a.source), target=lane(a.target)) for a in trace.arrows)),
        columns,
        trace.holds,
        notice=trace.notice and f"{name} {trace.notice}",
    )


def add_statements(trace: Trace, texts: Mapping[str, str]) -> Trace:
    """Trace whose spans that tell a source, `file:line`, and no statement tell the line, as far as `texts` have it."""
    lines = {
        f"{file}:{n}": " ".join(line.split())
        for file, text in texts.items()
        for n, line in enumerate(text.split("\n"), 1)
    }

    def add_statement(span: Span) -> Span:
        told = dict(span.arguments)
        if "statement" in told or (line := lines.get(told.get("source", ""))) is None:
            return span
        named = {"source": told.pop("source"), "statement": line, **told}
        return replace(span, arguments=tuple(named.items()))

    return replace(trace, spans=Deferred(lambda: map(add_statement, trace.spans), len(trace.spans))) if lines else trace


def join_traces(traces: Sequence[Trace]) -> Trace:
    """Trace of several parts on one clock, one after another."""
    if len(traces) == 1:
        return traces[0]
    return Trace(
        Deferred(lambda: (s for t in traces for s in t.spans), sum(len(t.spans) for t in traces)),
        tuple(i for t in traces for i in t.instants),
        Deferred(lambda: (a for t in traces for a in t.arrows)),
        merge_columns([t.columns for t in traces if t.columns is not None]),
        any(t.holds for t in traces),
        # Several parts often say the same, which is said once.
        notice="; ".join(dict.fromkeys(t.notice for t in traces if t.notice)),
    )


def span_activity(spans: Iterable[Span], *, holds: bool = False, largest: int = LARGEST) -> Activity:
    """Activity of the starts of spans, or where they hold their lanes, of all cycles that they last. Groups and lanes
    are in the order of their numbers.
    """
    taken: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for s in spans:
        taken.setdefault((s.group, s.lane), []).append((s.start, s.start + max(s.cycles, 1)))
    lanes: dict[str, list[str]] = {}
    for group, lane in sorted(taken, key=lambda pair: (natural_key(pair[0]), natural_key(pair[1]))):
        lanes.setdefault(group, []).append(lane)
    groups = tuple(Group(name, tuple(own)) for name, own in lanes.items())
    rows = [np.array(taken[g.name, lane], np.int64) for g in groups for lane in g.lanes]
    if holds:
        return held_activity(groups, rows, largest)
    # Starts need no ends, so that the cheaper way over columns does.
    numbers = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return column_activity(Columns(groups, numbers, np.concatenate([row[:, 0] for row in rows])), largest)


def trace_activity(trace: Trace) -> Activity | None:
    """Activity of a run: what was busy when; None where nothing happened. Columns are used before spans, which may not
    have been made yet.
    """
    if trace.activity is not None:
        return trace.activity
    if trace.columns is not None:
        return column_activity(trace.columns)
    return span_activity(trace.spans, holds=trace.holds) if trace.spans else None
