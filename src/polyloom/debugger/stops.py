# SPDX-License-Identifier: Apache-2.0
"""Breakpoints and watchpoints: where a run stops. Lines, iterations, units, addresses and operations, each with a
condition where one is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from polyloom.debugger.condition import Condition, read_condition
from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.stepping.history import Entry
from polyloom.stepping.session import Session

_ITERATION: Final = re.compile(r"[A-Za-z_]\w*=-?\d+(?:[ ,]+[A-Za-z_]\w*=-?\d+)*")
_LINE: Final = re.compile(r"(?:(?P<file>[^:]+):)?(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Breakpoint: `meets` tells whether an event is meant; one that is `entered` stops at the first event of several
    that follow each other in a unit.
    """

    number: int
    text: str
    meets: Callable[[Entry], bool]
    condition: Condition | None = None
    entered: bool = False


@dataclass(slots=True)  # the stops of a session change
class Stops:
    """Breakpoints and watchpoints of a session, by number from 1 on."""

    points: dict[int, Breakpoint] = field(default_factory=dict[int, Breakpoint])
    watched: dict[int, tuple[Condition, Any]] = field(default_factory=dict[int, tuple[Condition, Any]])
    inside: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    count: int = 0

    def stop_reason(self, session: Session) -> str:
        """Why the run stops after the last step; empty where it goes on."""
        found = [self._point(point, session) for point in self.points.values()]
        found += [self._watch(number, session) for number in self.watched]
        return "\n".join(text for text in found if text)

    def move(self, session: Session) -> None:
        """New position, by no single step: whether a unit is inside a line is known again after the next one."""
        self.inside.clear()
        self.read_watched(session)

    def read_watched(self, session: Session) -> None:
        """Watched values are those of now: a change on the way here stops nothing later."""
        self.watched = {n: (condition, condition.value(session)) for n, (condition, _) in self.watched.items()}

    def _point(self, point: Breakpoint, session: Session) -> str:
        hit: Entry | None = None
        for entry in session.last:
            # Units are apart: one may be in the line while another enters it.
            key = point.number, entry.event.unit
            is_met = point.meets(entry)
            if is_met and not (point.entered and key in self.inside):
                # The loop goes on behind a hit, because what other units are inside of is noted, too.
                hit = hit or entry
            (self.inside.add if is_met else self.inside.discard)(key)
        if hit is None or (point.condition is not None and not point.condition.holds(session)):
            return ""
        return f"breakpoint {point.number}: {point.text}"

    def _watch(self, number: int, session: Session) -> str:
        condition, before = self.watched[number]
        now = condition.value(session)
        self.watched[number] = condition, now
        # A NaN that stays a NaN is no change, though it is unequal to itself.
        if np.array_equal(now, before, equal_nan=True):
            return ""
        return f"watchpoint {number}: {condition.text} was {before} and is {now}"


def read_breakpoint(text: str, number: int, session: Session) -> tuple[Breakpoint, str]:
    """Breakpoint of a text, and what is to be said of it. Errors: PL1504 for a place that is not in the program, PL1502
    and PL1503 for the condition.
    """
    where, _, written = text.partition(" if ")
    condition = read_condition(written, session) if written else None
    where = where.strip()
    meets, shown, note, entered = _place(where, session)
    return Breakpoint(number, shown, meets, condition, entered), note


def _place(where: str, session: Session) -> tuple[Callable[[Entry], bool], str, str, bool]:
    if where.startswith("*"):
        return _address(where, session)
    if _ITERATION.fullmatch(where):
        return _iteration(where, session)
    if where.startswith("unit "):
        return _unit(where.removeprefix("unit ").strip(), session)
    if (found := _LINE.fullmatch(where)) is not None:
        return _line(found["file"], int(found["line"]), session)
    return _operation(where, session)


def _address(where: str, session: Session) -> tuple[Callable[[Entry], bool], str, str, bool]:
    try:
        address = int(where[1:], 0)
    except ValueError:
        raise _place_error(where, "write an address as in `break *0x10078`") from None
    known = [code.address for code in session.machine.code()]
    if address not in known:
        here = [at for at in known if at >= address]
        help = f"the next one with code is {min(here):#x}" if here and min(here) >= 0 else "its code has no addresses"
        raise input_error("PL1504", f"no code is at {address:#x}", help=help)
    return (lambda entry: entry.event.address == address), f"*{address:#x}", "", False


def _iteration(where: str, session: Session) -> tuple[Callable[[Entry], bool], str, str, bool]:
    wanted = {name: int(value) for name, value in (pair.split("=") for pair in re.split(r"[ ,]+", where))}
    loops = session.loops
    for name in wanted:
        if name not in loops:
            help = nearest(name, loops, "loop") if loops else "this program tells no iterations"
            raise input_error("PL1504", f"there is no loop `{name}`", help=help)
    shown = " ".join(f"{name}={value}" for name, value in wanted.items())

    def meets(entry: Entry) -> bool:
        known = dict(entry.event.iteration)
        return all(known.get(name) == value for name, value in wanted.items())

    return meets, shown, "", True


def _unit(name: str, session: Session) -> tuple[Callable[[Entry], bool], str, str, bool]:
    known = session.units
    if not any(name in unit for unit in known):
        help = f"units are {', '.join(known)}"
        raise input_error("PL1504", f"there is no unit `{name}`", help=help)
    return (lambda entry: name in entry.event.unit), f"unit {name}", "", False


def _line(file: str | None, line: int, session: Session) -> tuple[Callable[[Entry], bool], str, str, bool]:
    """Lines without code stand for the next one that has some, as in other debuggers; the note says so."""
    places = [code.place for code in session.machine.code() if code.place is not None and code.place.line]
    if not places:
        help = "break at an address or an operation: `info code` lists them"
        raise input_error("PL1505", "the program tells no lines of a source", help=help)
    lines = {place.line for place in places if file is None or place.file.endswith(file)}
    if not lines:
        files = ", ".join(sorted({place.file for place in places}))
        raise input_error("PL1504", f"no code is from the file '{file}'", help=f"files with code are {files}")
    later = [known for known in lines if known >= line]
    if not later:
        raise input_error("PL1504", f"line {line} has no code, nor has one behind it", help=f"write {max(lines)}")
    # GDB does the same with lines that have no code.
    taken = min(later)
    note = "" if taken == line else f"line {line} has no code; the next one that has some is {taken}"

    def meets(entry: Entry) -> bool:
        place = entry.event.place
        return place is not None and place.line == taken and (file is None or place.file.endswith(file))

    return meets, f"line {taken}", note, True


def _operation(name: str, session: Session) -> tuple[Callable[[Entry], bool], str, str, bool]:
    words = {word for code in session.machine.code() for word in code.text.replace(",", " ").split()[:1]}
    # A machine that lists no code cannot say which names there are.
    if name not in words and not session.machine.code():
        words = {name}
    if name not in words:
        raise _place_error(name, nearest(name, sorted(words), "operation"))
    return (lambda entry: name in (entry.event.operation, *entry.event.text.split()[:2])), name, "", False


def _place_error(where: str, help: str | None) -> PolyloomError:
    return input_error("PL1504", f"'{where}' is no place in the program", help=help)
