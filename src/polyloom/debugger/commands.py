# SPDX-License-Identifier: Apache-2.0
"""Commands of a debugger, with the words that users of GDB expect: each line gives lines of text.

`step` goes to another line or iteration of the source, `stepi` by one cycle, `advance` to an operation; `until` and
`continue` run; `back` goes back. What is printed is of the present position: the step that led to it has been done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from polyloom.debugger.condition import read_condition
from polyloom.debugger.origin import LINES, describe_event, list_origin
from polyloom.debugger.reverse import line_key, reverse_run
from polyloom.debugger.show import list_code, list_registers, list_source, print_value
from polyloom.debugger.stops import Stops, read_breakpoint
from polyloom.debugger.wrong import Verdict, run_until_wrong
from polyloom.diagnostics import input_error, nearest
from polyloom.stepping.history import Entry
from polyloom.stepping.prints import print_line
from polyloom.stepping.session import Session

HELP: Final = (
    ("step [N]", "to another line or iteration of the source (s)"),
    ("stepi [N]", "by a cycle in which something happens (si, next)"),
    ("iterate [N]", "to another iteration"),
    ("advance OPERATION", "to an operation of that name, or mnemonic"),
    ("continue", "until a breakpoint, a watchpoint, a fault or the end (c)"),
    ("until CONDITION", "until it holds: C[1,2] != 0, i == 2, nan, fault, wrong"),
    ("break PLACE [if COND]", "at LINE, FILE:LINE, i=1,k=2, unit NAME, *ADDRESS or an operation (b)"),
    ("watch EXPRESSION", "stop where its value changes"),
    ("delete [N]", "remove a breakpoint or watchpoint, or all"),
    ("back [N]", "by so many cycles (reverse-stepi)"),
    ("reverse-continue", "back to the last earlier breakpoint or change (rc)"),
    ("start", "go back to the start (run)"),
    ("print EXPRESSION", "arrays, elements, scalars, loops, registers (p)"),
    ("origin VALUE [N]", "the operations that made an element, a register, an operation or event #N"),
    ("where", "cycle, operations, lines and iterations of the last step (bt)"),
    ("list [LINE]", "the source around a line (l)"),
    ("info WHAT", "registers [UNIT], breakpoints, arrays, code or snapshots"),
    ("until-wrong", "run beside the source, until a stored value differs"),
    ("quit", "leave (q)"),
)
"""Commands and what they do."""
# Abbreviations are those of GDB. Its `next` steps over calls, which a cycle has not: here it is `stepi`.
_SHORT: Final[Mapping[str, str]] = {
    "s": "step", "si": "stepi", "n": "stepi", "next": "stepi", "ni": "stepi", "c": "continue", "b": "break",
    "p": "print", "l": "list", "bt": "where", "backtrace": "where", "reverse-stepi": "back", "rsi": "back",
    "rc": "reverse-continue",
    "run": "start", "r": "start", "q": "quit", "exit": "quit", "i": "info", "u": "until", "h": "help", "d": "delete",
}  # fmt: skip


@dataclass(slots=True)  # a session changes
class Debugger:
    """Session with its stops and the texts of its sources; `verdict` is that of the last `until-wrong`."""

    session: Session
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    stops: Stops = field(default_factory=Stops)
    verdict: Verdict | None = None
    has_quit: bool = False
    printed: list[str] = field(default_factory=list[str])

    def execute(self, line: str) -> list[str]:
        """Lines that a command answers. Errors: PL1501 for a command that there is not, PL1502 to PL1505."""
        word, _, rest = line.strip().partition(" ")
        if not word:
            return []
        name = _SHORT.get(word, word)
        if name not in _COMMANDS:
            raise input_error("PL1501", f"there is no command '{word}'", help=nearest(word, list(_COMMANDS), "command"))
        self.printed.clear()
        answer = list(_COMMANDS[name](self, rest.strip()))
        return [*(f"print: {line}" for line in self.printed), *answer]

    def step(self) -> tuple[Entry, ...]:
        """Step of the session; what the source prints in it is shown before the answer of the command."""
        entries = self.session.step()
        self.printed += [print_line(printed) for entry in entries for printed in entry.prints]
        if self.session.is_at_end and entries:
            self.printed += [print_line(printed) for printed in self.session.remaining_prints]
        return entries

    def run(self, stops: Callable[[], str]) -> list[str]:
        """Steps until `stops` gives a reason, or a breakpoint does, or nothing is left."""
        session = self.session
        while not session.is_at_end:
            # At least one step is done: a run that stands at a breakpoint leaves it, as with `continue` of GDB.
            self.step()
            if reason := "\n".join(text for text in (stops(), self.stops.stop_reason(session)) if text):
                return [*reason.split("\n"), *self.describe_position()]
        return self.describe_position()

    def describe_position(self) -> list[str]:
        """Position: the operations of the last step, or how the run ended."""
        session = self.session
        head = f"cycle {session.cycle}, position {session.position}"
        if session.fault is not None:
            return [f"{head}: fault", *(d.render() for d in session.fault.diagnostics)]
        # The step that ends a program may have events: they are shown, and the end with them.
        if session.machine.is_at_end and not session.last:
            return [f"{head}: the program has ended"]
        return [head + (", the program has ended" if session.machine.is_at_end else ""), *self._events(session.last)]

    def _events(self, entries: Sequence[Entry]) -> list[str]:
        return [describe_event(entry, self.texts) for entry in entries]


def _count(text: str, least: int = 1) -> int:
    """Number of a command, 1 where none is given. Errors: PL1501."""
    if not text:
        return 1
    if not text.isdecimal() or int(text) < least:
        raise input_error("PL1501", f"'{text}' is no number of steps", help="write a number of at least 1, or none")
    return int(text)


def _stepi(of: Debugger, rest: str) -> list[str]:
    for _ in range(_count(rest)):
        of.step()
    of.stops.read_watched(of.session)
    return of.describe_position()


def _step_until_change(of: Debugger, rest: str, what: Callable[[Entry], Any]) -> list[str]:
    """Steps until `what` of the unit that was active first is another one."""
    for _ in range(_count(rest)):
        # Units run side by side: one of them is followed, the first that is active.
        first = next((e for e in of.session.last if what(e)), None)
        reason = False
        while not of.session.is_at_end and not reason:
            entries = of.step()
            own = [e for e in entries if what(e) and (first is None or e.event.unit == first.event.unit)]
            reason = any(first is None or what(e) != what(first) for e in own)
            # A breakpoint on the way ends the step, as in GDB.
            if hit := of.stops.stop_reason(of.session):
                return [*hit.split("\n"), *of.describe_position()]
    return of.describe_position()


def _step(of: Debugger, rest: str) -> list[str]:
    return _step_until_change(of, rest, line_key)


def _iterate(of: Debugger, rest: str) -> list[str]:
    if not of.session.loops:
        raise input_error("PL1505", "the program tells no iterations", help="step by `stepi`, or break at an address")
    return _step_until_change(of, rest, lambda e: e.event.iteration or None)


def _advance(of: Debugger, rest: str) -> list[str]:
    if not rest:
        raise input_error("PL1501", "`advance` has no operation", help="write its name or mnemonic, as in `advance S1`")
    # Number 0 belongs to no breakpoint: this one is gone after the run.
    point, note = read_breakpoint(rest, 0, of.session)

    def stops() -> str:
        hit = any(point.meets(entry) for entry in of.session.last)
        return f"at {point.text}" if hit else ""

    return [*([note] if note else []), *of.run(stops)]


def _run_to_condition(of: Debugger, rest: str) -> list[str]:
    condition = read_condition(rest, of.session)

    def stops() -> str:
        return f"`{condition.text}` holds" if condition.holds(of.session) else ""

    found = of.run(stops)
    # A fault ends the run itself: the condition is asked once more.
    return [stops(), *found] if of.session.fault is not None and stops() else found


def _continue(of: Debugger, rest: str) -> list[str]:
    if rest.startswith("until "):
        return _run_to_condition(of, rest.removeprefix("until "))
    return of.run(lambda: "")


def _break(of: Debugger, rest: str) -> list[str]:
    if not rest:
        return _breakpoints(of)
    # The count goes up behind this line: a text that is refused uses no number.
    point, note = read_breakpoint(rest, of.stops.count + 1, of.session)
    of.stops.count += 1
    of.stops.points[point.number] = point
    return [*([note] if note else []), f"breakpoint {point.number}: {point.text}"]


def _watch(of: Debugger, rest: str) -> list[str]:
    condition = read_condition(rest, of.session)
    of.stops.count += 1
    value = condition.value(of.session)
    of.stops.watched[of.stops.count] = condition, value
    return [f"watchpoint {of.stops.count}: {condition.text} is {value}"]


def _delete(of: Debugger, rest: str) -> list[str]:
    if not rest:
        of.stops.points.clear()
        of.stops.watched.clear()
        return []
    number = _count(rest)
    # Breakpoints and watchpoints have one sequence of numbers, so that a number has at most one of them.
    if of.stops.points.pop(number, None) is None and of.stops.watched.pop(number, None) is None:
        raise input_error("PL1501", f"there is no breakpoint {number}", help="`info breakpoints` lists them")
    return []


def _reverse_step(of: Debugger, rest: str) -> list[str]:
    of.session.seek(max(0, of.session.position - _count(rest)))
    of.stops.move(of.session)
    return of.describe_position()


def _reverse_continue(of: Debugger, rest: str) -> list[str]:
    del rest
    reason = reverse_run(of.session, of.stops)
    return [*(reason.split("\n") if reason else []), *of.describe_position()]


def _start(of: Debugger, rest: str) -> list[str]:
    del rest
    of.session.seek(0)
    of.stops.move(of.session)
    return of.describe_position()


def _print(of: Debugger, rest: str) -> list[str]:
    if not rest:
        raise input_error("PL1501", "`print` has no expression", help="write one, as in `print C[1,2]`")
    registers = {name: text for held in of.session.machine.registers().values() for name, text in held.items()}
    # An array hides a register of its name, which `info registers` still shows.
    if rest in registers and rest not in of.session.machine.arrays():
        return [
            f"{unit}: {rest} = {held[rest]}" for unit, held in of.session.machine.registers().items() if rest in held
        ]
    # Names of operations; elements and loops are expressions.
    if rest.isidentifier() and rest not in of.session.machine.arrays() and rest not in of.session.loops:
        written = of.session.writer(rest)
        if written is not None:
            return [describe_event(written, of.texts)]
    return print_value(rest, read_condition(rest, of.session).value(of.session))


def _origin(of: Debugger, rest: str) -> list[str]:
    words = rest.rsplit(" ", 1)
    # A last word of digits is a count: the last index of an element ends with a bracket.
    name, most = (words[0], int(words[1])) if len(words) == 2 and words[1].isdigit() else (rest, LINES)
    return list_origin(of.session, _find_value(of, name.strip()), of.texts, most)


def _find_value(of: Debugger, name: str) -> Entry:
    """Event that made a value. Errors: PL1507."""
    if name.startswith("#") and name[1:].isdigit() and int(name[1:]) < of.session.events:
        return of.session.event(int(name[1:]))
    # Machines write names of elements with a blank behind each comma.
    canonical = ", ".join(part.strip() for part in name.split(","))
    if (found := of.session.writer(canonical)) is not None:
        return found
    help = "write an element such as `C[1, 2]`, a register, an operation, or an event such as `#12`"
    raise input_error("PL1507", f"nothing has made a value `{name}` so far", help=help)


def _show_position(of: Debugger, rest: str) -> list[str]:
    del rest
    return of.describe_position()


def _list(of: Debugger, rest: str) -> list[str]:
    return list_source(of.session, of.texts, _count(rest) if rest else None)


def _breakpoints(of: Debugger) -> list[str]:
    points = [f"breakpoint {p.number}: {p.text}{f' if {p.condition.text}' if p.condition else ''}"
              for p in of.stops.points.values()]  # fmt: skip
    watched = [f"watchpoint {n}: {condition.text} is {value}" for n, (condition, value) in of.stops.watched.items()]
    return [*points, *watched] or ["no breakpoints"]


def _info(of: Debugger, rest: str) -> list[str]:
    what, _, unit = rest.partition(" ")
    session = of.session
    if what in ("registers", "r"):
        return list_registers(session, unit.strip())
    if what in ("breakpoints", "b"):
        return _breakpoints(of)
    if what == "arrays":
        found = session.machine.arrays().items()
        return [f"{name}: {np.asarray(a).dtype}{list(np.shape(a))}" for name, a in found] or ["no arrays"]
    if what == "code":
        return list_code(session, of.texts)
    if what == "snapshots":
        told = f"{session.snapshots} snapshots, {session.snapshot_bytes} bytes, one per {session.period} positions"
        return [told, f"history of events: {session.history_bytes} bytes"]
    known = ("registers", "breakpoints", "arrays", "code", "snapshots")
    raise input_error("PL1501", f"there is no `info {what}`", help=nearest(what, known, "subject"))


def _find_first_wrong(of: Debugger, rest: str) -> Iterator[str]:
    del rest
    if of.session.reference is None:
        help = "give the source instead of a file that was made of it"
        raise input_error("PL1508", "there is no source to compare with", help=help)
    of.verdict = run_until_wrong(of.session)
    if of.session.fault is not None:
        yield from of.describe_position()
    yield from of.verdict.lines(of.session, of.texts)


def _quit(of: Debugger, rest: str) -> list[str]:
    del rest
    of.has_quit = True
    return []


def _help(of: Debugger, rest: str) -> list[str]:
    del of, rest
    return [f"{command:24}{what}" for command, what in HELP]


_COMMANDS: Final[Mapping[str, Callable[[Debugger, str], Sequence[str] | Iterator[str]]]] = {
    "step": _step,
    "stepi": _stepi,
    "iterate": _iterate,
    "advance": _advance,
    "continue": _continue,
    "until": _run_to_condition,
    "break": _break,
    "watch": _watch,
    "delete": _delete,
    "back": _reverse_step,
    "reverse-continue": _reverse_continue,
    "start": _start,
    "print": _print,
    "origin": _origin,
    "where": _show_position,
    "list": _list,
    "info": _info,
    "until-wrong": _find_first_wrong,
    "quit": _quit,
    "help": _help,
}
