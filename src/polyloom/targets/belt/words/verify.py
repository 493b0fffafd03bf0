# SPDX-License-Identifier: Apache-2.0
"""Machine code verifier: rules that a program must obey on its member, re-derived from its words (docs/targets/belt.md,
Time to Members): `verify` gives every finding.

Words alone tell slots, positions, drops, stations, scratch, control and widths: every state in which a bundle may begin
is followed (`walk`), a loop until nothing new comes round its back arc. Where the notes of a listing tell the stages of
operations, two rules of first and last passes are checked besides: windows of stores and calls around leaves
(docs/targets/belt.md, Loops), and that operations of later stages do nothing in passes that come before their first
iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from polyloom.diagnostics import INPUT, Diagnostic
from polyloom.targets.belt import machine as machines
from polyloom.targets.belt.isa import OPS, predicate_count
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.words.program import Bundle, Issue, Note, Program, Routine, sort_by_slot
from polyloom.targets.belt.words.walk import Found, Seen, State, count_text, make_walker

_MOST_STATES = 10_000
"""Of a routine: hostile words may have more than anybody waits for. A long one, such as a layer whose operations are
scheduled one after another, may have `_STATES_OF_BUNDLE` for each of its bundles.
"""
_STATES_OF_BUNDLE = 4
_HELP = {
    "PL1009": "compile the function again: nobody but a compiler's author should see this",
    "PL1010": "each slot takes one operation per bundle, of a unit that it has; docs/targets/belt.md lists them",
    "PL1011": "compile the function for this member, which replaces what it lacks",
    "PL1012": "count again what has dropped since: b0 is the operand that dropped last",
    "PL1013": "write the number of operands that drop in the bundle once the loop is running",
    "PL1014": "let fewer loads be under way, or let them take less long",
    "PL1015": "let a scratchf allocate the bytes; a fill comes two bundles after its spill",
    "PL1016": "enter the first bundle of a pass with inner, leave it with leave, and end every path with a transfer",
    "PL1017": "state the width of the operand, and give a list as many operands as its taker has",
    "PL1018": "let what the operation reads be None until its first iteration, or move it to stage 0",
    "PL1019": "move the store or call into the interval around the leave, or guard its address by a pick",
    "PL1020": "write a delay that the member has",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """Observations in a routine, by bundle: the most operands on the belt afterwards, and the most loads under way in
    it."""

    lengths: dict[int, int] = field(default_factory=dict[int, int])
    stations: dict[int, int] = field(default_factory=dict[int, int])


def verify(program: Program) -> list[Diagnostic]:
    """Every finding in a program, in the order of the bundles."""
    machine = machines.read(program.description, program.member)
    return [d for routine in program.routines for d in check_routine(program, routine, machine)[0]]


def check_routine(program: Program, routine: Routine, machine: Machine) -> tuple[list[Diagnostic], Facts]:
    """Findings in a routine, and what else was seen."""
    # A dictionary as an ordered set: a loop's bundles are seen in many states, and repeat their findings.
    found: dict[tuple[int, Found], None] = {}
    for n, bundle in enumerate(routine.bundles):
        found.update(((n, f), None) for f in (*_check_slots(bundle, machine), *_check_delays(bundle, machine)))
    facts = Facts()
    found.update((f, None) for f in _walk_states(program, routine, machine, facts))
    for loop in routine.loops:
        found.update((f, None) for f in _check_windows(routine, *loop))
    ordered = sorted(found, key=lambda f: f[0])
    return [_diagnostic(routine, n, f) for n, f in ordered], facts


def _diagnostic(routine: Routine, at: int, found: Found) -> Diagnostic:
    issue = f", {found.issue.slot} {found.issue.name}" if found.issue else ""
    notes = _origins(routine.bundles[at], found.issue) if found.issue else ()
    message = f"{routine.name}, bundle {at}{issue}: {found.message}"
    return Diagnostic(found.code, message, INPUT, None, notes, _HELP[found.code])


def _origins(bundle: Bundle, issue: Issue) -> tuple[str, ...]:
    """Source places of an operation, as notes of a message."""
    places = [note.place for made, note in zip(bundle.issues, bundle.notes, strict=False) if made == issue]
    return tuple(f"from {place.words()}" for place in places[:1] if place.words())


def _check_slots(bundle: Bundle, machine: Machine) -> Iterator[Found]:
    """Rule: an operation stands in a slot of its unit, one per slot, and the member has it; one conform and one
    scratchf per bundle."""
    slots = [issue.slot for issue in bundle.issues]
    for issue in bundle.issues:
        if issue.slot not in machine.issue_slots(OPS[issue.name]):
            yield Found("PL1010", f"{machine.name} does not execute it in {issue.slot}", issue)
        if slots.count(issue.slot) > 1:
            yield Found("PL1010", f"{issue.slot} has {slots.count(issue.slot)} operations", issue)
        if not machine.supports(issue.name, issue.width or "w"):
            yield Found("PL1011", f"{machine.name} does not have it", issue)
    units = [OPS[issue.name].unit for issue in bundle.issues]
    # Two of them would both give the whole belt, or all of scratch, another form.
    if units.count("conform") > 1 or sum(issue.name == "scratchf" for issue in bundle.issues) > 1:
        yield Found("PL1010", "a bundle has one conform, and one scratchf, at most")


def _check_delays(bundle: Bundle, machine: Machine) -> Iterator[Found]:
    """Rule: the delay of a load is in the member's range."""
    least, most = machine.load
    for issue in bundle.issues:
        if OPS[issue.name].latency == "load" and not least <= issue.delay <= most:
            yield Found("PL1020", f"its delay is {issue.delay}, {machine.name} has {least} to {most}", issue)


def _walk_states(program: Program, routine: Routine, machine: Machine, facts: Facts) -> Iterator[tuple[int, Found]]:
    """Fixed point over all states of all bundles, with a work list: every finding that a state shows (Kildall 1973)."""
    if not routine.bundles:
        yield 0, Found("PL1016", "the routine has no bundle")
        return
    # Passes are counted up to the last stage: from then on every operation has begun, and passes look alike.
    stages = [note.stage or 0 for bundle in routine.bundles for note in bundle.notes]
    steps = make_walker(program, routine, machine, max(stages, default=0))
    # Depth first; the set of known states makes loops end.
    work, known = [(0, steps.entry())], set[tuple[int, State]]()
    arrived: dict[int, int] = {}
    recurs: dict[tuple[int, Issue], bool] = {}
    most = max(_MOST_STATES, _STATES_OF_BUNDLE * len(routine.bundles))
    while work and len(known) < most:
        at, state = work.pop()
        if at < 0 or (at, state) in known:
            continue
        known.add((at, state))
        seen = steps.step(at, state)
        facts.lengths[at] = max(facts.lengths.get(at, 0), seen.length)
        facts.stations[at] = max(facts.stations.get(at, 0), seen.stations)
        arrived[at] = max(arrived.get(at, 0), seen.arrived)
        yield from ((at, f) for f in (*seen.found, *_check_counts(routine, machine, at, state, seen)))
        yield from ((at, f) for f in _check_first_passes(routine.bundles[at], state, seen))
        _watch_recurs(recurs, at, seen)
        work += seen.next
    if work:
        yield 0, Found("PL1009", f"it has more than {most} states, not all were followed")
        return
    # Only after all states: the fullest pass decides what a bundle's drops are.
    yield from _check_steady_drops(routine, arrived)
    yield from (
        (n, Found("PL1018", "its initial value is never taken", i)) for (n, i), used in recurs.items() if not used
    )


def _check_counts(routine: Routine, machine: Machine, at: int, state: State, seen: Seen) -> Iterator[Found]:
    """Rule: operands that drop are those of the header, and loads under way are at most the stations."""
    drops = routine.bundles[at].drops
    # Inside a loop fewer may arrive: in the first passes Nones stand for results that nobody issued.
    if seen.arrived > drops or (seen.arrived < drops and len(state.scopes) == 1):
        yield _drops(seen.arrived, drops)
    if seen.stations > machine.stations:
        stations = count_text(machine.stations, "station")
        yield Found("PL1014", f"{count_text(seen.stations, 'load')} under way, but {machine.name} has {stations}")


def _drops(arrived: int, drops: int) -> Found:
    do = "drop" if arrived > 1 else "drops"
    return Found("PL1013", f"{count_text(arrived, 'operand')} {do}, but the header says {drops}")


def _check_steady_drops(routine: Routine, arrived: dict[int, int]) -> Iterator[tuple[int, Found]]:
    """Rule: what drops in the latest passes is what the header says."""
    for at, count in arrived.items():
        if count < routine.bundles[at].drops:
            yield at, _drops(count, routine.bundles[at].drops)


def _watch_recurs(recurs: dict[tuple[int, Issue], bool], at: int, seen: Seen) -> None:
    """Record whether a recur ever finds what may be None: else it has no business."""
    for issue, operands in seen.operands.items():
        if issue.name == "recur":
            recurs[at, issue] = recurs.get((at, issue), False) or operands[0].data != "some"


def _annotated_issues(bundle: Bundle) -> Iterable[tuple[Issue, Note]]:
    issues, notes = sort_by_slot(bundle)
    return zip(issues, notes, strict=False)


def _has_effect(issue: Issue) -> bool:
    """Whether None keeps the operation from doing what cannot be taken back (a realizing operation)."""
    return issue.name in ("store", "call", "calltr") or issue.name.startswith("leave")


def _check_first_passes(bundle: Bundle, state: State, seen: Seen) -> Iterator[Found]:
    """Rule: operations of later stages do nothing in a pass before their first iteration (docs/targets/belt.md,
    Loops)."""
    # Open code has no stages.
    if len(state.scopes) == 1:
        return
    for issue, note in _annotated_issues(bundle):
        if note.stage is None or note.stage <= state.passes or not _has_effect(issue):
            continue
        of = OPS[issue.name]
        decides = seen.operands[issue][: predicate_count(of)] if predicate_count(of) else seen.operands[issue]
        # A leave or call without a predicate always acts.
        if of.unit == "control" and not predicate_count(of):
            decides = ()
        if all(item.data == "some" for item in decides):
            yield Found("PL1018", f"it acts in pass {state.passes}, but is of stage {note.stage}", issue)


def _check_windows(routine: Routine, first: int, interval: int) -> Iterator[tuple[int, Found]]:
    """Rule: t_leave - II < t <= t_leave + II for every store and call of a pass with stages (docs/targets/belt.md,
    Loops).

    An operation before the test has been done for the iteration that leaves and for none after it; one behind the test
    for those before it only. Either way it is at most one pass from the leave.
    """
    times = [
        (row, note.stage * interval + row, issue)
        for row in range(interval)
        for issue, note in _annotated_issues(routine.bundles[first + row])
        if note.stage is not None and _has_effect(issue)
    ]
    leaves = [time for _, time, issue in times if issue.name.startswith("leave")]
    for row, time, issue in times:
        if issue.name.startswith("leave"):
            continue
        for leave in leaves:
            if not leave - interval < time <= leave + interval:
                message = f"it is {abs(time - leave)} bundles from a leave, the interval is {interval}"
                yield first + row, Found("PL1019", message, issue)
