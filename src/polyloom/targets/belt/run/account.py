# SPDX-License-Identifier: Apache-2.0
"""Cycle account of a run on the belt: issue slots times bundles, from how often the model executed each bundle.

A slot that issues nothing in a pass of a loop is lost to the slots that need every bundle of the pass (ResMII; Rau
1994) or, if there are none, to a dependence edge without slack. Outside of loops slots are empty because the code
before and after loops is short.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

import numpy as np

from polyloom.targets.account import CATEGORIES, Account, Category, Row, merge_rows
from polyloom.targets.account_advice import advise
from polyloom.targets.account_timeline import Parts, fold_timeline, snapshot_parts
from polyloom.targets.belt.isa import OPS, Unit
from polyloom.targets.belt.machine import Machine, Slot
from polyloom.targets.belt.run.model import Run
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.program import Bundle, Issue, Note, Routine, sort_by_slot
from polyloom.targets.target import Execution, Program

_CATEGORIES: Final[Mapping[Unit, Category]] = {"control": "front", "spill": "memory", "fill": "memory"}
"""Classes of issues by their unit; of all others they are work. Loads and stores are work: what they wait for shows as
empty slots, because a load's delay is part of the schedule."""


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why slots of a bundle are empty."""

    category: Category
    detail: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class _Edge:
    """Dependence edge without slack: its reader issues in the bundle in which the value arrives."""

    latency: int
    text: str
    line: int


_OUTSIDE: Final = _Reason("fill and drain", "code before and after loops")
_Noted = tuple[tuple[Issue, Note], ...]
"""A bundle's operations in the order of its slots, each with its note."""


def account(program: Program, execution: Execution) -> Account:
    """Account of a file that ran; its units are the slots that a word can name, without those of free loops."""
    file, run = belt_file.read(program.data), execution.detail
    assert isinstance(run, Run)
    slots = tuple(slot for slot, _ in file.machine.slots)
    # Snapshots have the bundles of all routines one after another.
    firsts = dict(zip(run.executed, accumulate(map(len, run.executed.values()), initial=0), strict=False))
    bundles = [(firsts[routine.name] + number, row) for routine, number, row in bundle_rows(file, run)]
    made = Account(len(slots), run.cycles, merge_rows(row for _, row in bundles))
    # A run that was not asked for an account has no snapshots.
    timeline = fold_timeline(_parts(run, bundles)) if run.step else None
    return replace(made, advice=advise(made), timeline=timeline)


def bundle_rows(file: belt_file.File, run: Run) -> Iterator[tuple[Routine, int, Row]]:
    """Rows of all bundles that were executed: the routine, the number of the bundle in it, and a row of each slot."""
    slots = tuple(slot for slot, _ in file.machine.slots)
    for routine in file.program.routines:
        if routine.name in run.executed:
            for number, row in _routine_rows(routine, run.executed[routine.name], slots, file.machine):
                yield routine, number, row


def _parts(run: Run, bundles: Sequence[tuple[int, Row]]) -> Parts:
    """Parts between snapshots: a bundle has slots of each class, as often as it is executed."""
    executed = np.concatenate([np.array(own, np.int64) for own in run.executed.values()])
    table = np.zeros((len(executed), len(CATEGORIES)), np.int64)
    for number, row in bundles:
        table[number, CATEGORIES.index(row.category)] += 1
    return snapshot_parts(run.step, run.over_time, executed, run.cycles, table)


def _routine_rows(
    routine: Routine, executed: Sequence[int], slots: Sequence[Slot], machine: Machine
) -> Iterator[tuple[int, Row]]:
    """Number of the bundle, and a row of each slot."""
    entered = executed[0] if executed else 0
    # Sorted once: windows of open code overlap.
    bundles = [_issue_notes(bundle) for bundle in routine.bundles]
    reasons = dict(_loop_reasons(routine, bundles, machine))
    for number, (bundle, times) in enumerate(zip(bundles, executed, strict=False)):
        if not times:
            continue
        taken = set[Slot]()
        for issue, note in bundle:
            # Steps of a free loop take no slot that could do anything else.
            if issue.slot in slots:
                taken.add(issue.slot)
                category = _category(OPS[issue.name].unit)
                yield number, Row(category, issue.name, note.place.line, "", str(issue.slot), times)
        # A bundle that ran more often than its routine is in a loop, though in none that is pipelined.
        open_loop = times > entered and number not in reasons
        why = _edge_reason(_window(bundles, number), machine) if open_loop else reasons.get(number, _OUTSIDE)
        for slot in slots:
            if slot not in taken:
                yield number, Row(why.category, why.detail, why.line, "", str(slot), times)


def _category(unit: Unit) -> Category:
    return _CATEGORIES.get(unit, "work")


def _issue_notes(bundle: Bundle) -> _Noted:
    issues, notes = sort_by_slot(bundle)
    return tuple(zip(issues, notes or (Note(),) * len(issues), strict=True))


def _loop_reasons(routine: Routine, noted: Sequence[_Noted], machine: Machine) -> Iterator[tuple[int, _Reason]]:
    """By bundle of a pipelined loop, why its slots are empty."""
    for first, count in routine.loops:
        bundles = noted[first : first + count]
        found = _binding_slots(bundles, machine) or _edge_reason(bundles, machine, count)
        yield from ((number, found) for number in range(first, first + count))


def _binding_slots(bundles: Sequence[_Noted], machine: Machine) -> _Reason | None:
    """Slots that take every bundle of a pass, because no fewer would do for what only they can execute (ResMII), the
    fullest first, with the line that they execute most.
    """
    issued = [(issue, note) for bundle in bundles for issue, note in bundle]
    units: list[Unit] = [OPS[issue.name].unit for issue, _ in issued]
    found = list[tuple[float, str, list[int]]]()
    for own in dict.fromkeys(machine.unit_slots(unit) for unit in units):
        # Also what has fewer slots to choose from: a branch takes one of the slots of loads.
        within = [
            note.place.line
            for (_, note), unit in zip(issued, units, strict=True)
            if set(machine.unit_slots(unit)) <= set(own)
        ]
        # The least interval for so many operations on so many slots (ResMII; Rau 1994).
        if own and -(-len(within) // len(own)) == len(bundles):
            named = ", ".join(dict.fromkeys(unit for unit in units if set(machine.unit_slots(unit)) <= set(own)))
            text = f"{named} in {', '.join(map(str, own))}, {len(within)} in {len(bundles)}"
            found.append((len(within) / len(own), text, within))
    if not found:
        return None
    _, text, lines = max(found, key=lambda each: each[0])
    return _Reason("full unit", text, max(lines, key=lines.count))


def _edge_reason(bundles: Sequence[_Noted], machine: Machine, interval: int = 0) -> _Reason:
    edges = list(_tight_edges(bundles, machine, interval))
    if not edges:
        return _Reason("dependence", "slots that no value waits for")
    edge = max(edges, key=lambda edge: edge.latency)
    return _Reason("dependence", edge.text, edge.line)


def _window(bundles: Sequence[_Noted], number: int) -> Sequence[_Noted]:
    """Bundles around one of open code, as far as values of other bundles can be waited for."""
    return bundles[max(0, number - _REACH) : number + _REACH]


_REACH: Final = 16


def _tight_edges(bundles: Sequence[_Noted], machine: Machine, interval: int) -> Iterator[_Edge]:
    """Edges whose reader issues as soon as the value is there; with an interval also around the loop. Names are debug
    information, latencies those of the member and delays those of the words.
    """
    made = dict[str, tuple[int, int, Issue]]()
    for row, bundle in enumerate(bundles):
        for issue, note in bundle:
            at = row + (note.stage or 0) * interval
            latency = max(issue.delay, machine.latency(OPS[issue.name], issue.width or "w"))
            made.update((name, (at, latency, issue)) for name in note.results if name)
    for row, bundle in enumerate(bundles):
        for issue, note in bundle:
            at = row + (note.stage or 0) * interval
            for name in note.operands:
                if name not in made:
                    continue
                start, latency, producer = made[name]
                late = at - start - latency
                # A negative difference of whole intervals: the value is that of an earlier pass.
                if late == 0 or (interval and late < 0 and late % interval == 0):
                    carried = ", carried by the loop" if late < 0 else ""
                    text = f"{producer.name} {name} to {issue.name}, {latency} bundles{carried}"
                    yield _Edge(latency, text, note.place.line)
