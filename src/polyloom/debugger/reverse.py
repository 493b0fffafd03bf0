# SPDX-License-Identifier: Apache-2.0
"""Running backwards: to the last earlier breakpoint or change, and by lines. Every part of the run is repeated once
(`Session.seek_earlier_position`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polyloom.debugger.stops import Breakpoint, Stops
from polyloom.stepping.history import Entry
from polyloom.stepping.session import Session


@dataclass(slots=True)  # of one run backwards
class _ReverseSearch:
    """Search of breakpoints and watchpoints between two snapshots; `inside` tells which units stand in a place."""

    session: Session
    stops: Stops
    inside: dict[tuple[int, str], bool] = field(default_factory=dict[tuple[int, str], bool])
    values: dict[int, Any] = field(default_factory=dict[int, Any])
    reasons: dict[int, str] = field(default_factory=dict[int, str])

    def find(self, is_first: bool) -> int | None:
        position, found = self.session.position, None
        if is_first:
            self.inside.clear()
        else:
            for point in self.stops.points.values():
                if self._hits(point):
                    found = self._note(position, f"breakpoint {point.number}: {point.text}")
        for number, (condition, _) in self.stops.watched.items():
            before, self.values[number] = self.values.get(number), condition.value(self.session)
            if not is_first and not np.array_equal(np.asarray(before), self.values[number], equal_nan=True):
                # Before the change: its value is the old one again.
                found = found or self._note(position - 1, f"watchpoint {number}: {condition.text} is {before}")
        return found

    def _note(self, position: int, reason: str) -> int:
        self.reasons[position] = reason
        return position

    def _hits(self, point: Breakpoint) -> bool:
        found = False
        for entry in self.session.last:
            key, is_met = (point.number, entry.event.unit), point.meets(entry)
            if is_met and not (point.entered and self._stood_in_place(point, entry, key)):
                found = found or point.condition is None or point.condition.holds(self.session)
            self.inside[key] = is_met
        return found

    def _stood_in_place(self, point: Breakpoint, entry: Entry, key: tuple[int, str]) -> bool:
        if key in self.inside:
            return self.inside[key]
        # Of a unit's first operation behind a snapshot the one before it is asked for.
        before = self.session.previous(entry.event.unit, entry.number)
        return before is not None and point.meets(before)


def reverse_run(session: Session, stops: Stops) -> str:
    """Back to the last earlier breakpoint, or to before the last change of what is watched; the reason, empty at the
    start.
    """
    search = _ReverseSearch(session, stops)
    session.seek_earlier_position(search.find)
    stops.move(session)
    return search.reasons.get(session.position, "")


def line_key(entry: Entry) -> Hashable:
    """Line and iteration of an event; None where it has no line."""
    return (entry.event.place.line, entry.event.iteration) if entry.event.place is not None else None


def step_back_by_line(session: Session, stops: Stops) -> None:
    """Back to the last operation of the unit with another line or iteration."""
    first = next((entry for entry in session.last if line_key(entry) is not None), None)

    def find(is_first: bool) -> int | None:
        own = [e for e in session.last if first is None or e.event.unit == first.event.unit]
        others = [e for e in own if line_key(e) is not None and (first is None or line_key(e) != line_key(first))]
        return session.position if others and not is_first else None

    session.seek_earlier_position(find)
    stops.move(session)
