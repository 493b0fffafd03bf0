# SPDX-License-Identifier: Apache-2.0
"""What people look at after a run: the loops, the torus of the one with most passes, and the operations in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from polyloom.targets.belt import belt_file, facts
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.model import Run
from polyloom.targets.belt.program import Bundle, Issue, Note, Program, in_order
from polyloom.targets.report import Pressure, Report, Reservation, Table
from polyloom.targets.target import Execution
from polyloom.targets.target import Program as Made
from polyloom.targets.trace import Span, Trace

_COLUMNS: Final = (
    *("line", "pipelined", "initiation_interval", "resource_bound", "recurrence_bound", "stages", "drops"),
    *("belt_high_water", "spills", "fills", "recurs", "rounds", "scratch_bytes", "stations", "lanes", "passes"),
)


def report(program: Made, execution: Execution) -> Sequence[Report]:
    file = belt_file.read(program.data)
    run: Run = execution.detail
    found = facts.loops(file.program, run)
    rows = tuple(tuple("–" if loop[key] is None else str(loop[key]) for key in _COLUMNS) for loop in found)
    tables = (Table("loops", tuple(c.replace("_", " ") for c in _COLUMNS), rows),)
    first = facts.main_loop(found)
    if not first:
        return (Report(tables),)
    bundles = _bundles(file.program, first)
    slots = tuple(str(slot) for slot, _ in file.machine.slots)
    return (
        Report(tables, tuple(_pressure(bundles, slots)), _torus(bundles, slots), bottleneck=str(first["bound_by"])),
    )


def _bundles(program: Program, loop: facts.Facts) -> tuple[Bundle, ...]:
    """One pass."""
    routine = next(r for r in program.routines if r.name == loop["routine"])
    first, interval = loop["first_bundle"], loop["initiation_interval"]
    assert isinstance(first, int) and isinstance(interval, int)
    return routine.bundles[first : first + interval]


def _pressure(bundles: Sequence[Bundle], slots: Sequence[str]) -> Iterator[Pressure]:
    used = Counter(str(issue.slot) for bundle in bundles for issue in bundle.issues)
    for slot in slots:
        if used[slot]:
            yield Pressure(slot, used[slot], len(bundles))


def _torus(bundles: Sequence[Bundle], slots: Sequence[str]) -> Reservation:
    """Rows of the slice by slots."""
    used = [slot for slot in slots if any(str(i.slot) == slot for b in bundles for i in b.issues)]
    return Reservation(tuple(used), tuple(tuple(_in(bundle, slot) for slot in used) for bundle in bundles))


def _in(bundle: Bundle, slot: str) -> str:
    issues, notes = in_order(bundle)
    for n, issue in enumerate(issues):
        if str(issue.slot) == slot:
            return _shown(issue, notes[n] if notes else Note())
    return ""


def _shown(issue: Issue, note: Note) -> str:
    named = f" {' '.join(note.results)}" if note.results else ""
    return issue.name + named + ("" if note.stage is None else f" [{note.stage}]")


def trace(data: bytes, run: Run) -> Trace:
    """A lane per slot; a span for as long as the operation's result takes."""
    machine = belt_file.read(data).machine
    spans: list[Span] = []
    for event in run.events:
        operation = OPS[event.op]
        cycles = max(1, machine.latency(operation))
        value = ", ".join("None" if lane is None else str(lane) for lane in event.value)
        spans.append(Span(event.routine, event.slot, event.op, event.cycle - 1, cycles, (("value", value),)))
    return Trace(tuple(spans))
