# SPDX-License-Identifier: Apache-2.0
"""What happened in a run, and when: spans and instants on lanes, and arrows between them.

A lane belongs to a group (a unit to its element). Spans of one unit may overlap, because it is pipelined; `apart` gives
each of them a lane where nothing else is at that time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyloom.targets.activity import Activity


@dataclass(frozen=True, slots=True)
class Span:
    """Something that `lane` (such as a unit) of `group` (such as an element) did from cycle `start` for `cycles`
    cycles. `arguments` are shown beside it: names and values. `operation` is its number in `Report.operations` of its
    phase."""

    group: str
    lane: str
    name: str
    start: int
    cycles: int
    arguments: tuple[tuple[str, str], ...] = ()
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class Instant:
    """Something without a duration, such as a fault or a barrier that opens."""

    group: str
    lane: str
    name: str
    at: int
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    """A value in flight: it leaves the span that begins at `start` on the lane `source`, and arrives at the one that
    begins at `end` on the lane `target`. Lanes are pairs of group and lane."""

    name: str
    source: tuple[str, str]
    start: int
    target: tuple[str, str]
    end: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything on one clock; `cycle 0` is the start of the run. `activity` is what was busy when, of a target for
    which that is not the starts of all spans."""

    spans: tuple[Span, ...] = ()
    instants: tuple[Instant, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    activity: Activity | None = None


def apart(spans: Iterable[Span]) -> list[tuple[Span, int]]:
    """Every span with the number of its sub-lane, such that no two spans of one sub-lane overlap, in the order of their
    starts.

    A span takes the lowest sub-lane that is free, so that a unit of latency L which starts an operation every cycle has
    L of them, one per stage, and no more than L: at no time do more spans overlap (interval graphs are perfect)."""
    found: list[tuple[Span, int]] = []
    free: dict[tuple[str, str], list[int]] = {}
    busy: dict[tuple[str, str], list[tuple[int, int]]] = {}
    opened: dict[tuple[str, str], int] = {}
    for span in sorted(spans, key=lambda s: s.start):
        lane = span.group, span.lane
        ready, running = free.setdefault(lane, []), busy.setdefault(lane, [])
        while running and running[0][0] <= span.start:
            heappush(ready, heappop(running)[1])
        if ready:
            number = heappop(ready)
        else:
            number = opened[lane] = opened.get(lane, 0) + 1
        heappush(running, (span.start + max(span.cycles, 1), number))
        found.append((span, number))
    return found


def later(trace: Trace, cycles: int) -> Trace:
    """The same, `cycles` later."""
    return Trace(
        tuple(replace(s, start=s.start + cycles) for s in trace.spans),
        tuple(replace(i, at=i.at + cycles) for i in trace.instants),
        tuple(replace(a, start=a.start + cycles, end=a.end + cycles) for a in trace.arrows),
    )
