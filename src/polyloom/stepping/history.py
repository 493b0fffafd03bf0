# SPDX-License-Identifier: Apache-2.0
"""History of a session: the last events and who wrote each value last, within a limit of bytes.

What is forgotten is found again by a replay from snapshots (`session.py`). An operand whose writer is neither known nor
certainly absent has the source `UNKNOWN`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Final

from polyloom.stepping.prints import Printed, Timeline
from polyloom.stepping.reference import Cursor, Match, Reference
from polyloom.targets.stepper import Event, Operand

UNKNOWN: Final = -1
"""Source of an operand whose writer is forgotten: a replay finds it."""
_KEPT: Final = 20_000
"""Events that are kept at most."""
# As Python's objects take them, by `tracemalloc` on the array and on RISC-V.
_KEY_BYTES: Final = 500
_EVENT_BYTES: Final = 800
_OPERAND_BYTES: Final = 350


@dataclass(frozen=True, slots=True)
class Entry:
    """Event of a session: its number from 0 on, the position whose step made it, the numbers of the events that made
    its operands (None: an input, or a constant), and what the reference says of its values.
    """

    number: int
    position: int
    event: Event
    sources: tuple[int | None, ...]
    matches: tuple[Match, ...] = ()
    prints: tuple[Printed, ...] = ()

    @property
    def wrong(self) -> Match | None:
        """The first stored value that differs from the reference."""
        return next((match for match in self.matches if match.is_wrong and not match.is_inside), None)

    @property
    def bytes(self) -> int:
        event = self.event
        return _EVENT_BYTES + _OPERAND_BYTES * (len(event.reads) + len(event.writes) + len(event.stores))


@dataclass(frozen=True, slots=True)
class Source:
    """What is known of the source: the values that it stores, and what it prints."""

    reference: Reference | None = None
    timeline: Timeline | None = None

    def open_cursor(self) -> Cursor | None:
        """Cursor at the start of a run; prints may be followed beside values that only end as the machine's do."""
        known = self.reference if self.timeline is None else self.timeline.reference
        return None if known is None else known.open_cursor()

    def follow(self, event: Event, cursor: Cursor | None) -> tuple[tuple[Match, ...], tuple[Printed, ...]]:
        """What the source says of an event's values, and what it prints there."""
        if cursor is None:
            return (), ()
        matches = () if self.reference is None else self.reference.match(event, cursor)
        return matches, () if self.timeline is None else self.timeline.follow(event, matches, cursor)


class History:
    """Events from number `events` on, of which the last ones are kept. `limit` is in bytes: half of it for events, half
    for writers.
    """

    def __init__(self, limit: int, source: Source, cursor: Cursor | None, events: int = 0) -> None:
        self._limit = limit // 2
        self._source, self.cursor = source, cursor
        self.events = events
        # A history that begins in the middle of a run does not know what was written before.
        self._is_partial = events > 0
        self._log = OrderedDict[int, Entry]()
        self._log_bytes = 0
        # In the order of writing, so that the oldest writers are forgotten, and the newest undone.
        self._writers = OrderedDict[Hashable, tuple[int, str]]()

    @property
    def bytes(self) -> int:
        return self._log_bytes + len(self._writers) * _KEY_BYTES

    def find(self, number: int) -> Entry | None:
        """Event by its number, where it is kept."""
        return self._log.get(number)

    def writer(self, key: Hashable) -> int | None:
        """Number of the last event that wrote a key; `UNKNOWN` where it is forgotten, None where there is none."""
        if (found := self._writers.get(key)) is not None:
            return found[0]
        return UNKNOWN if self._is_partial else None

    def record(self, event: Event, position: int) -> Entry:
        """Entry of the next event."""
        number = self.events
        self.events += 1
        # Operands are looked up before results are entered: an instruction may read the register that it writes.
        known = [None if operand.key is None else self.writer(operand.key) for operand in event.reads]
        reads = tuple(self._with_value(operand) for operand in event.reads)
        matches, prints = self._source.follow(event, self.cursor)
        # What the machine does not tell, the reference may: of which iteration a stored value is.
        iteration = event.iteration or next((m.instance.iteration for m in matches if m.instance), ())
        entry = Entry(number, position, replace(event, reads=reads, iteration=iteration), tuple(known), matches, prints)
        for operand in event.writes:
            # Names are what people ask for; several keys may share one.
            for key in (operand.key, ("name", operand.name)):
                if key is not None:
                    self._writers[key] = number, operand.value
                    self._writers.move_to_end(key)
        while len(self._writers) * _KEY_BYTES > self._limit:
            self._writers.popitem(last=False)
            self._is_partial = True
        self.keep(entry)
        return entry

    def keep(self, entry: Entry) -> None:
        """Keeps an event, at the cost of the oldest."""
        if entry.number in self._log:
            return
        self._log[entry.number] = entry
        self._log_bytes += entry.bytes
        # The newest stays, however large it is: it is what people look at.
        while len(self._log) > 1 and (len(self._log) > _KEPT or self._log_bytes > self._limit):
            self._log_bytes -= self._log.popitem(last=False)[1].bytes

    def undo(self, events: int, cursor: Cursor | None) -> None:
        """Goes back to `events` events; older writers of what was written since are forgotten."""
        self.events, self.cursor = events, cursor
        while self._writers and next(reversed(self._writers.values()))[0] >= events:
            self._writers.popitem()
            self._is_partial = True
        if not events:
            # At the start nothing is written: nothing can be forgotten either.
            self._is_partial = False
        # Events of a later time happen again, with the same numbers.
        for number in [number for number in self._log if number >= events]:
            self._log_bytes -= self._log.pop(number).bytes

    def _with_value(self, operand: Operand) -> Operand:
        """Operand with the value that its writer has left, where the machine did not tell one."""
        if operand.value or operand.key is None or (writer := self._writers.get(operand.key)) is None:
            return operand
        return replace(operand, value=writer[1])
