# SPDX-License-Identifier: Apache-2.0
"""What an editor shows of a stopped session: threads, frames, scopes and variables, under numbers that hold until the
session goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os.path import abspath, basename
from typing import Any, Final

import numpy as np

from polyloom.debugger.condition import read_condition
from polyloom.stepping.history import Entry
from polyloom.stepping.reference import shown_iteration
from polyloom.stepping.session import Session

_CHILDREN: Final = 1_000
"""Elements of an array that are listed at a time."""
Variable = dict[str, Any]


@dataclass(slots=True)  # numbers are given as they are asked for
class Views:
    """Views of a session. A thread is a unit with registers, such as a hart or an element of the array."""

    session: Session
    # Programs name their files without folders, and editors ask for whole paths.
    paths: dict[str, str] = field(default_factory=dict[str, str])
    _lists: list[Callable[[], Sequence[Variable]]] = field(default_factory=list[Callable[[], Sequence[Variable]]])
    _threads: dict[str, int] = field(default_factory=dict[str, int])

    def clear(self) -> None:
        """The session has moved: numbers of variables mean nothing any more."""
        self._lists.clear()

    def threads(self) -> list[Variable]:
        for name in (*self.session.machine.registers(), *([] if self._threads else ["machine"])):
            self._threads.setdefault(name, len(self._threads) + 1)
        return [{"id": number, "name": name} for name, number in self._threads.items()]

    def thread_number(self, unit: str) -> int:
        """Thread whose name begins that of a unit; the first for those of no thread."""
        found = [thread for thread in self.threads() if unit.startswith(thread["name"])]
        return max(found, key=lambda thread: len(thread["name"]))["id"] if found else 1

    def frames(self, thread: int) -> list[Variable]:
        """Frame of the last operation of a thread. A kernel calls nothing: there is one."""
        entry = self._find_operation(thread)
        if entry is None:
            return [{"id": thread, "name": "not started", "line": 0, "column": 0}]
        event = entry.event
        name = "  ".join(part for part in (event.text, shown_iteration(event.iteration)) if part)
        place = event.place
        if place is None or not place.line:
            return [{"id": thread, "name": name, "line": 0, "column": 0, **_address(entry)}]
        name_of_file = basename(place.file)
        source = {"name": name_of_file, "path": self.paths.get(name_of_file, abspath(place.file))}
        shown = {"id": thread, "name": name, "line": place.line, "column": place.column, "source": source}
        return [{**shown, **_address(entry)}]

    def _find_operation(self, thread: int) -> Entry | None:
        own = [entry for entry in self.session.last if self.thread_number(entry.event.unit) == thread]
        # An operation with a line says more than one of the machine's own.
        placed = [entry for entry in own if entry.event.place is not None and entry.event.place.line]
        if own:
            return (placed or own)[0]
        return self.session.find_last_event(lambda entry: self.thread_number(entry.event.unit) == thread)

    def scopes(self, thread: int) -> list[Variable]:
        name = next((name for name, number in self._threads.items() if number == thread), "")
        found = [
            ("Source", lambda: self._source(thread)),
            ("Registers", lambda: _texts(self.session.machine.registers().get(name, {}))),
            ("Operation", lambda: self._operation(thread)),
        ]
        return [
            {"name": title, "variablesReference": self._number(listed), "expensive": False} for title, listed in found
        ]

    def variables(self, number: int, start: int = 0, count: int = 0) -> Sequence[Variable]:
        """Variables under a number. Errors: KeyError for one that is none, or no more."""
        if not 0 < number <= len(self._lists):
            raise KeyError(number)
        return list(islice(self._lists[number - 1](), start, start + (count or _CHILDREN)))

    def value(self, name: str, value: Any) -> Variable:
        """Variable with a value; an array has its elements below."""
        array = np.asarray(value)
        if array.ndim == 0:
            return {"name": name, "value": str(value), "type": str(array.dtype), "variablesReference": 0}
        shown = f"{array.dtype}[{', '.join(map(str, array.shape))}]"
        below = self._number(lambda: [self.value(f"[{n}]", part) for n, part in enumerate(array[:_CHILDREN])])
        return {"name": name, "value": shown, "variablesReference": below, "indexedVariables": len(array)}

    def evaluate(self, expression: str) -> Variable:
        """Value of an expression of the source. Errors: PL1502, PL1503."""
        return self.value(expression, read_condition(expression, self.session).value(self.session))

    def _source(self, thread: int) -> list[Variable]:
        entry = self._find_operation(thread)
        loops = [] if entry is None else [self.value(name, value) for name, value in entry.event.iteration]
        return [*loops, *(self.value(name, array) for name, array in self.session.machine.arrays().items())]

    def _operation(self, thread: int) -> list[Variable]:
        """Operands and results of the last operation."""
        entry = self._find_operation(thread)
        if entry is None:
            return []
        operands = [(operand.name, operand.value) for operand, _ in self.session.sources(entry)]
        results = dict.fromkeys((f"= {operand.name}", operand.value) for operand in entry.event.writes)
        return [{"name": name, "value": value, "variablesReference": 0} for name, value in (*operands, *results)]

    def _number(self, listed: Callable[[], Sequence[Variable]]) -> int:
        self._lists.append(listed)
        return len(self._lists)


def _texts(held: Any) -> list[Variable]:
    return [{"name": name, "value": value, "variablesReference": 0} for name, value in held.items()]


def _address(entry: Entry) -> Variable:
    return {"instructionPointerReference": hex(entry.event.address)} if entry.event.address >= 0 else {}
