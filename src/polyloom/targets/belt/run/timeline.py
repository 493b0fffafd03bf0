# SPDX-License-Identifier: Apache-2.0
"""Timeline drawings of pipelined loops: the torus, rows by slots, and the belt, a line for the life of each result.

Both follow from the words: passes are stepped through (`walk`) until the belt repeats itself, and the results of one
pass are followed to their last readers. Names and stages are those of the notes, where there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from polyloom.targets.belt import machine as machines
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.words.program import Bundle, Issue, Note, Program, Routine, sort_by_slot
from polyloom.targets.belt.words.walk import State, count_text, make_walker

_COLUMN = 100
"""Bundles that a line of life shows at most."""
_KEY = "x issue, - under way, D drop, = on the belt, r read, S spilled; bundles are counted from the pass of the issue"
Tag = tuple[int, ...]


@dataclass(slots=True)
class _Life:
    """Lifetime of a result: bundles, counted from the first one of its pass. `furthest` is the greatest position
    read."""

    issue: Issue
    name: str
    stage: int | None
    issued: int
    dropped: int | None = None
    reads: list[int] = field(default_factory=list[int])
    spilled: list[int] = field(default_factory=list[int])
    furthest: int = -1


def timeline(program: Program) -> str:
    """Drawings of every loop, in the order of the code."""
    machine = machines.read(program.description, program.member)
    parts = [
        _draw_loop(program, routine, machine, first, bundles)
        for routine in program.routines
        for first, bundles in routine.loops
    ]
    return "\n\n".join(parts or ["no loop is pipelined"]) + "\n"


def _draw_loop(program: Program, routine: Routine, machine: Machine, first: int, interval: int) -> str:
    """Drawing of a loop: the torus, then the lives of its results."""
    rows = routine.bundles[first : first + interval]
    drops = sum(bundle.drops for bundle in rows)
    stages = [note.stage for bundle in rows for note in bundle.notes if note.stage is not None]
    known = f", {count_text(max(stages) + 1, 'stage')}" if stages else ""
    size = f"{count_text(interval, 'row')}{known}, {count_text(drops, 'drop')} per pass"
    head = f"{routine.name}, bundles {first} to {first + interval - 1}: {size}, {machine.name} holds {machine.belt}"
    lives = _follow_lives(program, routine, machine, first, interval)
    return "\n".join((head, "", *_torus_table(rows), "", *_belt_table(lives, interval), "", _KEY))


def _torus_table(rows: Sequence[Bundle]) -> list[str]:
    """Lines of the torus, a table of rows by slots."""
    slots = sorted({issue.slot for bundle in rows for issue in bundle.issues}, key=lambda slot: slot.order)
    table = [["row", *map(str, slots)]]
    for n, bundle in enumerate(rows):
        cells = {issue.slot: _cell(issue, note) for issue, note in _annotated_issues(bundle)}
        table.append([f"{n}{' rotate' if bundle.rotate else ''}", *(cells.get(slot, ".") for slot in slots)])
    return _align_table(table)


def _cell(issue: Issue, note: Note) -> str:
    stage = "" if note.stage is None else f" s{note.stage}"
    named = f" %{note.results[0]}" if note.results else ""
    return f"{issue.name}{named}{stage}"


def _annotated_issues(bundle: Bundle) -> Iterable[tuple[Issue, Note]]:
    issues, notes = sort_by_slot(bundle)
    return zip(issues, notes or (Note(),) * len(issues), strict=True)


def _align_table(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table]


def _belt_table(lives: Sequence[_Life], interval: int) -> list[str]:
    """Lines of the belt: one per result, with its producer, the furthest position read, and its life."""
    # A value can be read far behind its drop; the line is cut where it would no longer fit on a page.
    end = min(max((max((life.dropped or 0, *life.reads)) for life in lives), default=0) + 1, _COLUMN)
    ruler = "".join("|" if n % interval == 0 else " " for n in range(end))
    table = [["result", "from", "furthest", ruler]]
    for life in sorted(lives, key=lambda life: (life.issued, life.issue.slot.order)):
        furthest = f"b{life.furthest}" if life.reads else "unread"
        note = " spilled" if life.spilled else " filled" if OPS[life.issue.name].unit == "fill" else ""
        table.append([life.name, f"{life.issue.slot} {life.issue.name}", furthest, _life_line(life, end) + note])
    return _align_table(table)


def _life_line(life: _Life, end: int) -> str:
    """Line of a life, one character per bundle."""
    last = max((life.dropped or 0, *life.reads))
    text = ""
    for n in range(min(last + 1, end)):
        # What happens in one bundle shows as the rarest of it: a spill, the drop, a read.
        if n in life.spilled:
            text += "S"
        elif n == life.dropped:
            text += "D"
        elif n in life.reads:
            text += "r"
        elif n == life.issued:
            text += "x"
        elif n > life.issued:
            text += "=" if life.dropped is not None and n > life.dropped else "-"
        else:
            text += " "
    return text


def _follow_lives(program: Program, routine: Routine, machine: Machine, first: int, interval: int) -> list[_Life]:
    """Lifetimes of the results of a pass in the steady state."""
    state = entry_state(program, routine, machine, first)
    drops = sum(bundle.drops for bundle in routine.bundles[first : first + interval])
    longest = max(machine.load[1], *(max(by.values()) for by in machine.latencies.values()))
    # So many passes until nothing of before the loop is under way or on the belt.
    settled = longest // interval + machine.belt // max(drops, 1) + 2
    lives: dict[Tag, _Life] = {}
    if state is None:
        return []
    steps = make_walker(program, routine, machine, 2 * settled, tags=True)
    at = first
    for time in range(2 * settled * interval):
        seen = steps.step(at, state)
        now = time - settled * interval
        if time // interval == settled:
            lives |= _new_lives(routine.bundles[at], at, settled, now)
        for item in seen.dropped:
            if item.tag in lives:
                lives[item.tag].dropped = now
        for issue, items in seen.operands.items():
            for operand, item in zip(issue.operands, items, strict=True):
                if item.tag in lives:
                    _record_read(lives[item.tag], issue, getattr(operand, "position", 0), now)
        # Of several ways on, the one that stays in the loop.
        staying = [(n, s) for n, s in seen.next if len(s.scopes) == len(state.scopes)]
        if not staying:
            break
        at, state = staying[-1]
    return list(lives.values())


def _new_lives(bundle: Bundle, at: int, passes: int, now: int) -> dict[Tag, _Life]:
    """Lives of the results that a bundle issues."""
    found: dict[Tag, _Life] = {}
    for issue, note in _annotated_issues(bundle):
        names = (*(f"%{name}" for name in note.results), "", "")
        results = max(OPS[issue.name].results, len(note.results))
        for number in range(results):
            # As `walk` tags results: pass, bundle, operation, number of the result.
            tag = (passes, at, bundle.issues.index(issue), number)
            found[tag] = _Life(issue, names[number] or f"{issue.slot}", note.stage, now)
    return found


def _record_read(life: _Life, issue: Issue, position: int, now: int) -> None:
    life.reads.append(now)
    life.furthest = max(life.furthest, position)
    if OPS[issue.name].unit == "spill":
        life.spilled.append(now)


def entry_state(program: Program, routine: Routine, machine: Machine, first: int) -> State | None:
    """State in which an inner has just entered the loop; None where none does."""
    steps = make_walker(program, routine, machine)
    work, known = [(0, steps.entry())], set[tuple[int, State]]()
    while work:
        at, state = work.pop()
        if at == first and len(state.scopes) > 1:
            return state
        if at < 0 or (at, state) in known:
            continue
        known.add((at, state))
        work += steps.step(at, state).next
    return None
