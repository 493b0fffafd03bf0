# SPDX-License-Identifier: Apache-2.0
"""Debugging session: a run with positions that one can go back to, and the data flow of its events.

A position is a number of steps. Going back restores the nearest snapshot before it and steps again, which gives the
same events, since models are deterministic (replay as in Boothe, "Efficient algorithms for bidirectional debugging",
2000). Snapshots are taken every `period` positions; where they would take more than their share of `limit` bytes, every
second one is dropped and the period doubles, so that they stay spread over the whole run. The rest of the limit is for
what is known of events (`history.py`); what that forgets is found by a replay.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.stepping.history import UNKNOWN, Entry, History, Source
from polyloom.stepping.prints import Printed
from polyloom.stepping.reference import Cursor, Reference
from polyloom.targets.stepper import Event, Operand, Snapshot, Stepper

LIMIT: Final = 256 << 20
"""Bytes of snapshots and history together, half of it each."""
# A step back at the start of a run repeats fewer steps than these.
_PERIOD: Final = 16


@dataclass(frozen=True, slots=True)
class _Saved:
    position: int
    events: int
    machine: Snapshot
    cursor: Cursor | None

    @property
    def bytes(self) -> int:
        return self.machine.bytes + (0 if self.cursor is None else self.cursor.bytes)


class Session:
    """Run under a debugger. `source` is what the source stores and prints, where it is known."""

    def __init__(self, machine: Stepper, source: Source | None = None, limit: int = LIMIT) -> None:
        self.machine: Final = machine
        self.source: Final = source or Source()
        self.position = 0
        self.fault: PolyloomError | None = None
        self.last: tuple[Entry, ...] = ()
        self._limit = limit // 2
        self.period = _PERIOD
        self._history = History(limit - self._limit, self.source, self.source.open_cursor())
        # Keys that no event before this number writes: inputs are asked for again and again.
        self._unwritten = dict[Hashable, int]()
        self._units = dict[str, None]()
        self._snapshots = [self._snapshot()]

    @property
    def reference(self) -> Reference | None:
        """What the source stores."""
        return self.source.reference

    @property
    def remaining_prints(self) -> tuple[Printed, ...]:
        """Prints of which the run has made no cycle known."""
        cursor, timeline = self._history.cursor, self.source.timeline
        return () if cursor is None or timeline is None else tuple(timeline.list_remaining(cursor))

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left to do, or a fault has ended the run."""
        return self.machine.is_at_end or self.fault is not None

    @property
    def cycle(self) -> int:
        return self.machine.cycle

    @property
    def events(self) -> int:
        """Events so far."""
        return self._history.events

    @property
    def match_count(self) -> int:
        """Values of the reference that have had a counterpart."""
        return 0 if self._history.cursor is None else self._history.cursor.count

    @property
    def snapshots(self) -> int:
        return len(self._snapshots)

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of iterations: those that the machine tells, and those of the reference."""
        known = self.reference.loops if self.reference else ()
        return tuple(dict.fromkeys((*self.machine.loops(), *known)))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of which registers are shown, and those that have executed something."""
        return tuple(dict.fromkeys((*self.machine.registers(), *self._units)))

    @property
    def snapshot_bytes(self) -> int:
        return sum(snapshot.bytes for snapshot in self._snapshots)

    @property
    def history_bytes(self) -> int:
        """Of events and writers that are kept."""
        return self._history.bytes

    def writer(self, name: str) -> Entry | None:
        """Last event that has written what is called `name`."""
        key = ("name", name)
        number = self._history.writer(key)
        if number == UNKNOWN:
            number = self._find_writers({key}, self.events).get(key)
        return None if number is None else self.event(number)

    def sources(self, entry: Entry) -> Sequence[tuple[Operand, int | None]]:
        """Operands of an event, each with the number of the event that made it."""
        pairs = list(zip(entry.event.reads, entry.sources, strict=True))
        unknown = {operand.key for operand, number in pairs if number == UNKNOWN}
        found = self._find_writers(unknown, entry.number) if unknown else {}
        return [
            self._resolve(operand, found.get(operand.key)) if number == UNKNOWN else (operand, number)
            for operand, number in pairs
        ]

    def _resolve(self, operand: Operand, number: int | None) -> tuple[Operand, int | None]:
        """Operand with its value, which the event with this number has left."""
        if number is None or operand.value:
            return operand, number
        made = next((w.value for w in self.event(number).event.writes if w.key == operand.key), "")
        return replace(operand, value=made), number

    def step(self) -> tuple[Entry, ...]:
        """Next cycle in which something happens; a fault is kept in `fault`, and ends the run."""
        if self.is_at_end:
            return ()
        try:
            events = self.machine.step()
        except PolyloomError as error:
            self.fault, self.last = error, ()
            return ()
        self.position += 1
        self.last = tuple(self._record(event) for event in events)
        # A replay passes positions of snapshots that are still there.
        if self.position % self.period == 0 and self.position > self._snapshots[-1].position:
            self._snapshots.append(self._snapshot())
            self._drop_snapshots()
        return self.last

    def seek(self, position: int) -> None:
        """Go to a position, before the present one or behind it; the end where there are not so many."""
        # A fault may have left the machine in the middle of a cycle: only a snapshot is a state to go on from.
        if position < self.position or self.fault is not None:
            self._restore(self._nearest_snapshot(position))
        while self.position < position and not self.is_at_end:
            self.step()

    def seek_earlier_position(self, find: Callable[[bool], int | None]) -> bool:
        """Go to the last earlier position that `find` gives, the start where it gives none; whether there was one.

        `find` is asked at each position between two snapshots in order of time, with True at the first of them, whose
        own step it has not seen. The whole run is repeated once at most.
        """
        start = end = self.position
        while end:
            self._restore(self._nearest_snapshot(end - 1))
            begin, found = self.position, None
            find(True)
            while self.position < end and not self.is_at_end:
                self.step()
                at = find(False)
                found = at if at is not None and at < start else found
            if found is not None:
                self.seek(found)
                return True
            end = begin
        self.seek(0)
        return False

    def event(self, number: int) -> Entry:
        """Event by its number; one that is no longer kept is made again."""
        if (found := self._history.find(number)) is not None:
            return found
        snapshot = next(each for each in reversed(self._snapshots) if each.events <= number)
        with self._excursion():
            made = [entry for entries in self._replay(snapshot, number + 1) for entry in entries]
        # Those around it are asked for next: a chain goes back in small steps.
        for entry in made:
            self._history.keep(entry)
        return next(entry for entry in made if entry.number == number)

    def previous(self, unit: str, number: int) -> Entry | None:
        """Last event of a unit before that number."""
        return next(self._find_events(number, lambda entry: entry.event.unit == unit), None)

    def find_last_event(self, meets: Callable[[Entry], bool]) -> Entry | None:
        """Last event so far that is meant."""
        return next(self._find_events(self.events, meets), None)

    def _find_writers(self, keys: set[Hashable], before: int) -> dict[Hashable, int]:
        """Last events before a number that write these keys."""
        wanted = {key for key in keys if self._unwritten.get(key, 0) < before}
        found = dict[Hashable, int]()

        def writes(entry: Entry) -> bool:
            written = {key for w in entry.event.writes for key in (w.key, ("name", w.name))} & wanted
            for key in written:
                found[key] = entry.number
            wanted.difference_update(written)
            return bool(written)

        for entry in self._find_events(before, writes):
            self._history.keep(entry)
            if not wanted:
                break
        self._unwritten |= dict.fromkeys(wanted, before)
        return found

    def _find_events(self, before: int, meets: Callable[[Entry], bool]) -> Iterator[Entry]:
        """Events before a number, the latest first, that are meant: interval after interval is replayed."""
        end = before
        for snapshot in reversed(self._snapshots):
            if snapshot.events < end:
                with self._excursion():
                    made = [e for entries in self._replay(snapshot, end) for e in entries if e.number < end]
                yield from (entry for entry in reversed(made) if meets(entry))
                end = snapshot.events

    @contextmanager
    def _excursion(self) -> Generator[None]:
        """A replay, behind which the machine is as it was."""
        saved, fault = self.machine.save(), self.fault
        try:
            yield
        finally:
            self.machine.restore(saved)
            # The step that failed changed no position: it is not repeated.
            self.fault = fault

    def _replay(self, snapshot: _Saved, end: int) -> Iterator[tuple[Entry, ...]]:
        """Steps behind a snapshot again, until event `end` would be next."""
        cursor = None if snapshot.cursor is None else snapshot.cursor.copy()
        history = History(self._limit, self.source, cursor, snapshot.events)
        self.machine.restore(snapshot.machine)
        position = snapshot.position
        while history.events < end:
            position += 1
            yield tuple(history.record(event, position) for event in self.machine.step())

    def _record(self, event: Event) -> Entry:
        self._units[event.unit] = None
        return self._history.record(event, self.position)

    def _snapshot(self) -> _Saved:
        cursor = self._history.cursor
        # A copy, as the run goes on to change it.
        return _Saved(self.position, self.events, self.machine.save(), None if cursor is None else cursor.copy())

    def _drop_snapshots(self) -> None:
        """Drops every second snapshot, the first never, until the rest fits."""
        while self.snapshot_bytes > self._limit and len(self._snapshots) > 1:
            self.period *= 2
            # The start stays: going back must always be possible.
            self._snapshots = self._snapshots[::2]

    def _nearest_snapshot(self, position: int) -> _Saved:
        """Last snapshot that is not behind a position; the first, of position 0, is never dropped."""
        places = [snapshot.position for snapshot in self._snapshots]
        return self._snapshots[max(0, bisect_right(places, position) - 1)]

    def _restore(self, snapshot: _Saved) -> None:
        self.machine.restore(snapshot.machine)
        self.position, self.fault, self.last = snapshot.position, None, ()
        self._history.undo(snapshot.events, None if snapshot.cursor is None else snapshot.cursor.copy())
