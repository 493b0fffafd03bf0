# SPDX-License-Identifier: Apache-2.0
"""Report of a run: the loops, the torus of the hottest one, and the operations in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.run import facts
from polyloom.targets.belt.run.hot_code import hottest_code
from polyloom.targets.belt.run.model import Event, Run
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.conasm import issue_text
from polyloom.targets.belt.words.program import Bundle, Issue, Note, Program, sort_by_slot
from polyloom.targets.provenance import place_provenance
from polyloom.targets.report import Operation, Pressure, Report, Reservation, Table
from polyloom.targets.target import Execution
from polyloom.targets.target import Program as Made
from polyloom.targets.trace import Deferred, Instant, Span, Trace

_COLUMNS: Final = (
    *("line", "pipelined", "initiation_interval", "resource_bound", "recurrence_bound", "stages", "drops"),
    *("belt_high_water", "spills", "fills", "recurs", "rounds", "scratch_bytes", "stations", "lanes", "passes"),
)


def report(program: Made, execution: Execution) -> Sequence[Report]:
    """Views of a run: tables, pressure per slot, reservation table (Rau 1994) and operations of the source's hottest
    loop; without an account, of the pipelined loop with most cycles."""
    file = belt_file.read(program.data)
    run: Run = execution.detail
    found = facts.loop_objects(file.program, run)
    rows = tuple(tuple("–" if loop[key] is None else str(loop[key]) for key in _COLUMNS) for loop in found)
    tables = (Table("loops", tuple(c.replace("_", " ") for c in _COLUMNS), rows),)
    hot = hottest_code(file, run, execution.hot_lines)
    # Open code is no loop of these, and has no schedule that repeats.
    own = [each for each in found if hot is None or (each["routine"], each["first_bundle"]) == (hot[0].name, hot[1])]
    first = facts.main_loop(own)
    if not first:
        return (Report(tables),)
    bundles = _loop_bundles(file.program, first)
    slots = tuple(str(slot) for slot, _ in file.machine.slots)
    operations = tuple(_operations(bundles))
    why = str(first["bound_by"])
    # An interval of 1 is bound by nothing, which is nothing to tell.
    bound = "" if why.startswith("nothing") else why
    return (
        Report(
            tables,
            tuple(_pressure(bundles, slots)),
            _reservation_table(bundles, slots),
            bound=bound,
            operations=operations,
        ),
    )


def _loop_bundles(program: Program, loop: facts.Facts) -> tuple[Bundle, ...]:
    """Bundles of one pass."""
    routine = next(r for r in program.routines if r.name == loop["routine"])
    first, interval = loop["first_bundle"], loop["initiation_interval"]
    assert isinstance(first, int) and isinstance(interval, int)
    return routine.bundles[first : first + interval]


def _pressure(bundles: Sequence[Bundle], slots: Sequence[str]) -> Iterator[Pressure]:
    used = Counter(str(issue.slot) for bundle in bundles for issue in bundle.issues)
    for slot in slots:
        if used[slot]:
            yield Pressure(slot, used[slot], len(bundles))


def _reservation_table(bundles: Sequence[Bundle], slots: Sequence[str]) -> Reservation:
    """Reservation table: rows of the slice by slots."""
    used = [slot for slot in slots if any(str(i.slot) == slot for b in bundles for i in b.issues)]
    return Reservation(tuple(used), tuple(tuple(_cell_text(bundle, slot) for slot in used) for bundle in bundles))


def _cell_text(bundle: Bundle, slot: str) -> str:
    issues, notes = sort_by_slot(bundle)
    for n, issue in enumerate(issues):
        if str(issue.slot) == slot:
            return _issue_label(issue, notes[n] if notes else Note())
    return ""


def _issue_label(issue: Issue, note: Note) -> str:
    named = f" {' '.join(note.results)}" if note.results else ""
    return issue.name + named + ("" if note.stage is None else f" [{note.stage}]")


def _operations(bundles: Sequence[Bundle]) -> Iterator[Operation]:
    """Operations of a pass, named as the torus shows them."""
    for row, bundle in enumerate(bundles):
        for issue, note in _annotated_issues(bundle):
            found = place_provenance(note.place)
            yield Operation(_issue_label(issue, note), str(issue.slot), row, issue_text(issue, note), found)


def _annotated_issues(bundle: Bundle) -> Iterator[tuple[Issue, Note]]:
    issues, notes = sort_by_slot(bundle)
    return zip(issues, notes or (Note(),) * len(issues), strict=True)


def trace(data: bytes, run: Run) -> Trace:
    """Trace of a run: a lane per slot; a span per operation, with where the operation comes from."""
    file = belt_file.read(data)
    notes = {
        (routine.name, n, str(issue.slot)): note
        for routine in file.program.routines
        for n, bundle in enumerate(routine.bundles)
        for issue, note in _annotated_issues(bundle)
    }
    # Made when they are read: many callers want the activity alone.
    spans = Deferred(lambda: _spans(file, run, notes), len(run.events))
    # All operations have spans: no notice is needed.
    if run.activity is None or len(spans) == run.noted:
        return Trace(spans, activity=run.activity)
    notice = f"the first {len(spans)} of {run.noted} operations have spans, up to cycle {run.noted_to}"
    first = run.activity.groups[0]
    end = Instant(first.name, first.lanes[0], "the trace ends here", run.noted_to, (("notice", notice),))
    return Trace(spans, (end,), activity=run.activity, notice=notice)


def _spans(file: belt_file.File, run: Run, notes: Mapping[tuple[str, int, str], Note]) -> Iterator[Span]:
    """Spans of events, each for as long as the operation's result takes."""
    for event, iteration in _assign_iterations(file.program, run.events, notes):
        # What drops in its own bundle still takes that one.
        cycles = max(1, file.machine.latency(OPS[event.op]))
        value = ", ".join("None" if lane is None else str(lane) for lane in event.value)
        told = {**_place_facts(notes.get((event.routine, event.bundle, event.slot), Note())), "iteration": iteration}
        known = tuple((key, text) for key, text in told.items() if text)
        yield Span(event.routine, event.slot, event.op, event.cycle - 1, cycles, (*known, ("value", value)))


def _place_facts(note: Note) -> Mapping[str, str]:
    found = place_provenance(note.place)
    return {} if found is None else found.told


def _assign_iterations(
    program: Program, events: Sequence[Event], notes: Mapping[tuple[str, int, str], Note]
) -> Iterator[tuple[Event, str]]:
    """Iterations of events: each event of a loop with the iteration that it is part of, from 0 on since the loop was
    entered: passes less stages."""
    loops = {r.name: r.loops for r in program.routines}
    inside: dict[str, tuple[int, int]] = {}
    passes: dict[tuple[str, int, str], int] = {}
    for event in events:
        here = next(((a, n) for a, n in loops.get(event.routine, ()) if a <= event.bundle < a + n), (-1, 0))
        if inside.get(event.routine) != here:
            inside[event.routine] = here
            # The loop was entered anew: its passes count from 0 again.
            passes = {key: count for key, count in passes.items() if key[0] != event.routine}
        place = event.routine, event.bundle, event.slot
        stage = notes[place].stage if place in notes else None
        if here[0] < 0 or stage is None:
            yield event, ""
            continue
        passes[place] = passes.get(place, -1) + 1
        iteration = passes[place] - stage
        yield event, str(iteration) if iteration >= 0 else ""
