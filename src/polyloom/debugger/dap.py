# SPDX-License-Identifier: Apache-2.0
"""Debug adapter: editors step through kernels, forwards and back (Microsoft, "Debug Adapter Protocol", 1.70).

The program is that of the command line, or `program` of the request `launch`. `next` goes to another line or iteration,
`stepIn` by a cycle, `stepOut` out of the innermost loop; each of them follows the unit of the thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os.path import abspath, basename
from queue import Empty
from time import perf_counter
from typing import Any, Final, cast

from polyloom.debugger.commands import Debugger
from polyloom.debugger.dap_messages import Channel, Message
from polyloom.debugger.dap_views import Views
from polyloom.debugger.reverse import line_key, reverse_run, step_back_by_line
from polyloom.debugger.stops import read_breakpoint
from polyloom.diagnostics import PolyloomError
from polyloom.stepping.history import Entry

_CAPABILITIES: Final = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsSteppingGranularity": True,
    "supportsTerminateRequest": True,
}
_PATIENCE: Final = 0.02
"""Seconds between two looks for requests while the program runs."""
Launch = Callable[[Mapping[str, Any]], Debugger]
"""Debugger for the arguments of `launch`."""


@dataclass(slots=True)  # a connection
class Adapter:
    """Adapter of one connection."""

    channel: Channel
    launch: Launch
    program: str | None = None
    of: Debugger | None = None
    views: Views | None = None
    is_closed: bool = False
    is_paused: bool = False
    stops_at_entry: bool = True
    # What runs next, behind the response to the request that asked for it.
    resume: Callable[[], None] | None = None
    breakpoints: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def serve(self) -> None:
        """Requests until the editor leaves."""
        while not self.is_closed:
            message = self.channel.requests.get()
            if message is None:
                return
            self.answer(message)
            while (resume := self.resume) is not None:
                self.resume = None
                try:
                    resume()
                except PolyloomError as error:
                    # Such as a condition with an index that is outside by now: the session goes on.
                    self.report_stop("exception", "\n".join(d.message for d in error.diagnostics))

    def answer(self, request: Message) -> None:
        """Response to a request; one that is refused says why."""
        command, arguments = str(request.get("command", "")), cast(Message, request.get("arguments") or {})
        told = {"request_seq": request.get("seq", 0), "command": command}
        act = _REQUESTS.get(command)
        try:
            if act is None:
                raise ValueError(f"there is no request `{command}`")
            body = act(self, arguments)
        except PolyloomError as error:
            self._refuse(told, str(error))
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            # Arguments that are none: the editor is told, and the session goes on.
            self._refuse(told, f"{type(error).__name__}: {error}")
        else:
            self.channel.send("response", {**told, "success": True, "body": body or {}})
            if command == "launch":
                self.channel.send("event", {"event": "initialized"})

    def _refuse(self, told: Mapping[str, Any], why: str) -> None:
        error = {"id": 1, "format": why.replace("{", "("), "showUser": True}
        self.channel.send("response", {**told, "success": False, "message": why, "body": {"error": error}})

    @property
    def debugger(self) -> Debugger:
        """The debugger. Errors: ValueError before `launch`."""
        if self.of is None:
            raise ValueError("nothing has been launched")
        return self.of

    @property
    def current_views(self) -> Views:
        """Views of the stopped session. Errors: ValueError before `launch`."""
        if self.views is None:
            raise ValueError("nothing has been launched")
        return self.views

    def require(self) -> None:
        """Check that a program has been launched. Errors: ValueError."""
        if self.of is None:
            raise ValueError("nothing has been launched")

    def open(self, arguments: Mapping[str, Any]) -> None:
        self.of = self.launch(arguments)
        self.views = Views(self.of.session)
        if program := arguments.get("program") or self.program:
            self.views.paths[basename(str(program))] = abspath(str(program))
        self.stops_at_entry = bool(arguments.get("stopOnEntry", True))

    def run(self, stops: Callable[[tuple[Entry, ...]], bool], reason: str = "step") -> None:
        """Steps until `stops` says so, a breakpoint is met, the editor interrupts, or nothing is left."""
        of, asked = self.debugger, perf_counter()
        self.is_paused = False
        while not of.session.is_at_end and not self.is_closed:
            entries = of.step()
            self.print()
            if hit := of.stops.stop_reason(of.session):
                self.report_stop("breakpoint", hit)
                return
            if stops(entries):
                self.report_stop(reason)
                return
            if perf_counter() - asked > _PATIENCE:
                self._look_for_requests()
                asked = perf_counter()
            if self.is_paused:
                self.report_stop("pause")
                return
        self._end()

    def _end(self) -> None:
        if self.is_closed:
            return
        fault = self.debugger.session.fault
        if fault is not None:
            # One can go back from a fault: the session goes on.
            self.report_stop("exception", "\n".join(d.message for d in fault.diagnostics))
            return
        self.channel.send("event", {"event": "exited", "body": {"exitCode": 0}})
        self.channel.send("event", {"event": "terminated"})

    def _look_for_requests(self) -> None:
        """Requests that came while the program runs: breakpoints are set at once."""
        while True:
            try:
                message = self.channel.requests.get_nowait()
            except Empty:
                return
            if message is None:
                self.is_closed = True
                return
            self.answer(message)

    def report_stop(self, reason: str, text: str = "") -> None:
        """Tells that the session has stopped, and where."""
        self.current_views.clear()
        last = self.debugger.session.last
        thread = self.current_views.thread_number(last[0].event.unit) if last else 1
        body = {"reason": reason, "threadId": thread, "allThreadsStopped": True, **({"text": text} if text else {})}
        self.channel.send("event", {"event": "stopped", "body": body})

    def print(self) -> None:
        """What the source prints, as output of the program."""
        for line in self.debugger.printed:
            self.channel.send("event", {"event": "output", "body": {"category": "stdout", "output": f"{line}\n"}})
        self.debugger.printed.clear()

    def move(self, action: Callable[[], object], reason: str = "step") -> None:
        """Another position at once, such as an earlier one."""
        action()
        self.report_stop(reason)


def _finish_configuration(adapter: Adapter, arguments: Message) -> None:
    del arguments
    adapter.require()
    adapter.resume = (
        (lambda: adapter.report_stop("entry")) if adapter.stops_at_entry else (lambda: adapter.run(lambda _: False))
    )


def _set_breakpoints(adapter: Adapter, arguments: Message) -> Message:
    """Breakpoints of a file, which replace those before. A line without code stands for the next one that has some."""
    of, path = adapter.debugger, str(arguments["source"].get("path") or arguments["source"].get("name"))
    adapter.current_views.paths[basename(path)] = path
    for number in adapter.breakpoints.pop(path, []):
        of.stops.points.pop(number, None)
    numbers, told = adapter.breakpoints.setdefault(path, []), list[Message]()
    for wanted in arguments.get("breakpoints", []):
        condition = f" if {wanted['condition']}" if wanted.get("condition") else ""
        try:
            point, note = read_breakpoint(
                f"{basename(path)}:{int(wanted['line'])}{condition}", of.stops.count + 1, of.session
            )
        except PolyloomError as error:
            told.append({"verified": False, "message": error.diagnostics[0].message, "line": wanted["line"]})
            continue
        of.stops.count += 1
        of.stops.points[point.number] = point
        numbers.append(point.number)
        line = int(point.text.rpartition(" ")[2])
        told.append({"id": point.number, "verified": True, "line": line, **({"message": note} if note else {})})
    return {"breakpoints": told}


def _step_line(adapter: Adapter, arguments: Message) -> None:
    if arguments.get("granularity") == "instruction":
        _step_cycle(adapter, arguments)
        return
    first = _followed_operation(adapter, arguments)

    def stops(entries: tuple[Entry, ...]) -> bool:
        own = [e for e in entries if line_key(e) is not None and (first is None or e.event.unit == first.event.unit)]
        return any(first is None or line_key(e) != line_key(first) for e in own)

    adapter.resume = lambda: adapter.run(stops)


def _step_cycle(adapter: Adapter, arguments: Message) -> None:
    del arguments
    adapter.require()
    adapter.resume = lambda: adapter.run(lambda _: True)


def _leave_loop(adapter: Adapter, arguments: Message) -> None:
    """Out of the innermost loop; where no iterations are told, to another line."""
    first = _followed_operation(adapter, arguments)
    if first is None or not first.event.iteration:
        _step_line(adapter, arguments)
        return
    outer = first.event.iteration[:-1]

    def stops(entries: tuple[Entry, ...]) -> bool:
        own = [e for e in entries if e.event.unit == first.event.unit and e.event.iteration]
        return any(e.event.iteration[: len(outer)] != outer for e in own)

    adapter.resume = lambda: adapter.run(stops)


def _followed_operation(adapter: Adapter, arguments: Message) -> Entry | None:
    """Operation of the thread in the last step, whose unit is followed."""
    of, thread = adapter.debugger, arguments.get("threadId", 1)
    placed = [entry for entry in of.session.last if line_key(entry) is not None]
    own = [entry for entry in placed if adapter.current_views.thread_number(entry.event.unit) == thread]
    return next(iter(own or placed), None)


def _reverse_line(adapter: Adapter, arguments: Message) -> None:
    of = adapter.debugger

    def step_position() -> None:
        of.session.seek(max(0, of.session.position - 1))
        of.stops.move(of.session)

    is_instruction = arguments.get("granularity") == "instruction"
    action = step_position if is_instruction else lambda: step_back_by_line(of.session, of.stops)
    adapter.resume = lambda: adapter.move(action)


def _reverse(adapter: Adapter, arguments: Message) -> None:
    del arguments
    of = adapter.debugger

    def seek_breakpoint() -> None:
        reason = reverse_run(of.session, of.stops)
        adapter.report_stop("breakpoint" if reason else "entry", reason)

    adapter.resume = seek_breakpoint


def _pause(adapter: Adapter, arguments: Message) -> None:
    del arguments
    adapter.is_paused = True


def _continue(adapter: Adapter, arguments: Message) -> Message:
    del arguments
    adapter.require()
    adapter.resume = lambda: adapter.run(lambda _: False)
    return {"allThreadsContinued": True}


def _evaluate(adapter: Adapter, arguments: Message) -> Message:
    """Value of an expression; in the console, any command of the debugger."""
    of, text = adapter.debugger, str(arguments["expression"])
    if arguments.get("context") != "repl":
        found = adapter.current_views.evaluate(text)
        return {"result": found["value"], "variablesReference": found["variablesReference"]}
    before = of.session.position
    answer = "\n".join(of.execute(text))
    if of.session.position != before:
        adapter.resume = lambda: adapter.report_stop("step")
    return {"result": answer, "variablesReference": 0}


def _disconnect(adapter: Adapter, arguments: Message) -> None:
    del arguments
    adapter.is_closed = True


def _frames(adapter: Adapter, arguments: Message) -> Message:
    found = adapter.current_views.frames(int(arguments["threadId"]))
    return {"stackFrames": found, "totalFrames": len(found)}


def _variables(adapter: Adapter, arguments: Message) -> Message:
    window = int(arguments.get("start") or 0), int(arguments.get("count") or 0)
    return {"variables": adapter.current_views.variables(int(arguments["variablesReference"]), *window)}


_REQUESTS: Final[Mapping[str, Callable[[Adapter, Message], Message | None]]] = {
    "initialize": lambda adapter, arguments: dict(_CAPABILITIES),
    "launch": Adapter.open,
    "setBreakpoints": _set_breakpoints,
    "setExceptionBreakpoints": lambda adapter, arguments: {"breakpoints": []},
    "configurationDone": _finish_configuration,
    "threads": lambda adapter, arguments: {"threads": adapter.current_views.threads()},
    "stackTrace": _frames,
    "scopes": lambda adapter, arguments: {"scopes": adapter.current_views.scopes(int(arguments["frameId"]))},
    "variables": _variables,
    "evaluate": _evaluate,
    "continue": _continue,
    "next": _step_line,
    "stepIn": _step_cycle,
    "stepOut": _leave_loop,
    "stepBack": _reverse_line,
    "reverseContinue": _reverse,
    "pause": _pause,
    "terminate": _disconnect,
    "disconnect": _disconnect,
}
