# SPDX-License-Identifier: Apache-2.0
"""Debugging session: a run with positions that one can go back to, and the data flow of its events.

A position is a number of steps. Going back restores the nearest snapshot before it and steps again, which gives the
same events, since models are deterministic (replay as in Boothe, "Efficient algorithms for bidirectional debugging",
2000). Snapshots are taken every `period` positions; where they would take more than `limit` bytes, every second one is
dropped and the period doubles, so that they stay spread over the whole run.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.debugger.reference import Match, Reference
from polyloom.diagnostics import PolyloomError
from polyloom.targets.stepper import Event, Operand, Snapshot, Stepper

LIMIT: Final = 256 << 20
"""Bytes of all snapshots."""
# A step back at the start of a run repeats fewer steps than these.
_PERIOD: Final = 16
_KEPT: Final = 20_000
"""Events that are kept; older ones are made again by a replay."""
_KEY_BYTES: Final = 300
"""Of a key with its writer, as Python's objects."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Event of a session: its number from 0 on, the position whose step made it, the numbers of the events that made
    its operands (None: an input, or a constant), and what the reference says of its stored values.
    """

    number: int
    position: int
    event: Event
    sources: tuple[int | None, ...]
    matches: tuple[Match, ...] = ()

    @property
    def wrong(self) -> Match | None:
        """The first value that differs from the reference."""
        return next((match for match in self.matches if match.is_wrong), None)


@dataclass(frozen=True, slots=True)
class _Saved:
    position: int
    events: int
    machine: Snapshot
    writers: dict[Hashable, tuple[int, str]]
    cursor: dict[Hashable, int]

    @property
    def bytes(self) -> int:
        return self.machine.bytes + (len(self.writers) + len(self.cursor)) * _KEY_BYTES


class Session:
    """Run under a debugger. `reference` is what the source stores, where it is known."""

    def __init__(self, machine: Stepper, reference: Reference | None = None, limit: int = LIMIT) -> None:
        self.machine: Final = machine
        self.reference: Final = reference
        self.position = 0
        self.fault: PolyloomError | None = None
        self.last: tuple[Entry, ...] = ()
        self._limit = limit
        self.period = _PERIOD
        self._log = dict[int, Entry]()
        # 8 bytes for each event of the run: whatever is no longer kept is made again from its position.
        self._at = array("Q")
        self._writers = dict[Hashable, tuple[int, str]]()
        self._cursor = dict[Hashable, int]()
        self._units = dict[str, None]()
        self._snapshots = [self._snapshot()]

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
        return len(self._at)

    @property
    def match_count(self) -> int:
        """Values of the reference that have had a counterpart."""
        return sum(1 for key in self._cursor if isinstance(key, tuple) and key[:1] == ("instance",))

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

    def writer(self, name: str) -> Entry | None:
        """Last event that has written what is called `name`."""
        found = self._writers.get(("name", name))
        return None if found is None else self.event(found[0])

    @property
    def snapshot_bytes(self) -> int:
        return sum(snapshot.bytes for snapshot in self._snapshots)

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
        self._evict()
        # A replay passes positions of snapshots that are still there.
        if self.position % self.period == 0 and self.position > self._snapshots[-1].position:
            self._snapshots.append(self._snapshot())
            self._drop_snapshots()
        return self.last

    def seek(self, position: int) -> None:
        """Go to a position, before the present one or behind it; the end where there are not so many."""
        # A fault may have left the machine in the middle of a cycle: only a snapshot is a state to go on from.
        if position < self.position or self.fault is not None:
            self._restore(max(0, position))
        while self.position < position and not self.is_at_end:
            self.step()

    def event(self, number: int) -> Entry:
        """Event by its number; one that is no longer kept is made again."""
        if number not in self._log:
            here, fault = self.position, self.fault
            self.seek(self._at[number])
            found = self._log[number]
            self.seek(here)
            # The step that failed changed no position: it is not repeated.
            self.fault = fault
            return found
        return self._log[number]

    def _record(self, event: Event) -> Entry:
        number = len(self._at)
        self._units[event.unit] = None
        self._at.append(self.position)
        # Operands are looked up before results are entered: an instruction may read the register that it writes.
        known = [self._writers.get(operand.key) if operand.key is not None else None for operand in event.reads]
        reads = tuple(_with_value(operand, writer) for operand, writer in zip(event.reads, known, strict=True))
        matches = self.reference.match(event, self._cursor) if self.reference else ()
        # What the machine does not tell, the reference may: of which iteration a stored value is.
        iteration = event.iteration or next((m.instance.iteration for m in matches if m.instance), ())
        entry = Entry(
            number, self.position, replace(event, reads=reads, iteration=iteration),
            tuple(None if writer is None else writer[0] for writer in known), matches,
        )  # fmt: skip
        for operand in event.writes:
            if operand.key is not None:
                self._writers[operand.key] = number, operand.value
            # Names are what people ask for; several keys may share one.
            self._writers["name", operand.name] = number, operand.value
        self._log[number] = entry
        return entry

    def _evict(self) -> None:
        # A dictionary keeps the order of insertion: the first is the oldest.
        while len(self._log) > _KEPT:
            del self._log[next(iter(self._log))]

    def _snapshot(self) -> _Saved:
        saved = self.machine.save()
        # Copies, as the run goes on to change both.
        return _Saved(self.position, len(self._at), saved, dict(self._writers), dict(self._cursor))

    def _drop_snapshots(self) -> None:
        """Drops every second snapshot, the first never, until the rest fits."""
        while self.snapshot_bytes > self._limit and len(self._snapshots) > 1:
            self.period *= 2
            # The start stays: going back must always be possible.
            self._snapshots = self._snapshots[::2]

    def _restore(self, position: int) -> None:
        places = [snapshot.position for snapshot in self._snapshots]
        # The last one that is not behind the position; the first, of position 0, is never dropped.
        snapshot = self._snapshots[bisect_right(places, position) - 1]
        self.machine.restore(snapshot.machine)
        self.position, self.fault, self.last = snapshot.position, None, ()
        self._writers, self._cursor = dict(snapshot.writers), dict(snapshot.cursor)
        # Events behind the snapshot happen again, with the same numbers.
        for number in range(snapshot.events, len(self._at)):
            self._log.pop(number, None)
        del self._at[snapshot.events :]


def _with_value(operand: Operand, writer: tuple[int, str] | None) -> Operand:
    """Operand with the value that its writer has left, where the machine did not tell one."""
    return replace(operand, value=writer[1]) if writer is not None and not operand.value else operand


def sources(entry: Entry) -> Sequence[tuple[Operand, int | None]]:
    """Operands with the events that made them."""
    return list(zip(entry.event.reads, entry.sources, strict=True))
