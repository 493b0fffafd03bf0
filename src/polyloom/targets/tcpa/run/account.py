# SPDX-License-Identifier: Apache-2.0
"""Cycle account of one configuration on the array, from how often the model executed each instruction of its words.

An element starts an iteration every interval (modulo schedule; Rau 1994), so that an element which starts fewer of them
than the fullest one has a partial tile, and what is outside of all iterations fills and drains the pipeline. A slot in
which nothing issues is lost to a unit that issues in every slot of the interval or, if there is none, to the dependence
that leaves no slack in the schedule that the words obey.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polyloom.targets.account import CATEGORIES, Account, Category, Row, merge_rows, spread
from polyloom.targets.account_timeline import Parts
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run.account_folds.account_lines import Slots, Tiles, critical_edge
from polyloom.targets.tcpa.run.account_folds.account_parts import ClassTotals, HeldUnits, class_parts
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.event_resolution import Known
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, decode_opcode
from polyloom.targets.tcpa.words.operation_texts import nodes_by_slot

Executed = Sequence[Sequence[Sequence[int]]]
"""Executions by class, unit and instruction, of one element."""


@dataclass(frozen=True, slots=True)
class _Class:
    """Class of elements: where they are, how often a unit issued what in which slot, and how many iterations each
    started.
    """

    number: int
    tiles: Tiles
    issues: Mapping[tuple[int, int, int], int]
    """Of one element, by unit, slot and opcode."""

    @property
    def name(self) -> str:
        return f"P{self.number + 1}"

    @property
    def elements(self) -> int:
        return len(self.tiles.places)

    @property
    def iterations(self) -> int:
        """At least the issues of each slot, as an iteration has one at most."""
        by_slot = Counter[tuple[int, int]]()
        for (unit, slot, _), times in self.issues.items():
            by_slot[unit, slot] += times
        return max(by_slot.values(), default=0)

    def fullest_unit(self, interval: int) -> int | None:
        """Unit that issues in every slot of the interval, of several the one that issues most."""
        used = Counter(unit for unit, _ in {(unit, slot) for unit, slot, _ in self.issues})
        by_unit = Counter[int]()
        for (unit, _, _), times in self.issues.items():
            by_unit[unit] += times if used[unit] == interval else 0
        best = max(by_unit, key=lambda unit: by_unit[unit], default=-1)
        return best if by_unit[best] else None


def account_words(
    concrete: Concrete,
    known: Known | None,
    executed: Executed,
    machine: Machine,
    cycles: int,
    elements: int,
    told: tuple[int, bytes] = (0, b""),
) -> tuple[Account, Parts | None]:
    """Account of a run of so many cycles, on a region of so many elements, of which the configuration may use fewer,
    and its parts where the model has `told` when units were held.
    """
    names, interval = [unit.name for unit in machine.units], concrete.initiation_interval
    classes = list(_classes(concrete, known, executed))
    most = max((own.iterations for own in classes), default=0)
    slots = Slots() if known is None else nodes_by_slot(known.symbolic, known.schedule, interval)
    reasons = [_reason(own, machine, slots) for own in classes]
    totals = [_class_totals(own, why[0], most, cycles, machine) for own, why in zip(classes, reasons, strict=True)]
    rows = [
        row
        for own, why, total in zip(classes, reasons, totals, strict=True)
        for row in _class_rows(own, why, total, cycles, machine, slots)
    ]
    unused = elements - sum(own.elements for own in classes)
    rows += [Row("imbalance", "elements without work", 0, "", name, unused * cycles) for name in names]
    made = Account(elements * len(names), cycles, merge_rows(rows))
    held = HeldUnits.read(told, len(concrete.classes), len(names))
    if held is None or not cycles:
        return made, None
    corner, numbers = (concrete.rows - 1, concrete.columns - 1), [own.number for own in classes]
    parts = class_parts(held, totals, numbers, most, interval, concrete.controller, corner, cycles)
    parts.counts[:, CATEGORIES.index("imbalance")] += np.diff(parts.ends, prepend=0) * unused * len(names)
    return made, parts


def _classes(concrete: Concrete, known: Known | None, executed: Executed) -> Iterator[_Class]:
    places = dict[int, list[tuple[int, int]]]()
    for r, row in enumerate(concrete.element_class):
        for c, number in enumerate(row):
            if number >= 0:
                places.setdefault(number, []).append((r, c))
    for number, own in sorted(places.items()):
        issues = Counter[tuple[int, int, int]]()
        # The model's last count of a unit stands for what is beyond its program.
        for unit, program in enumerate(concrete.classes[number].programs):
            for at, instruction in enumerate(program):
                # A program unrolls overlapped iterations: places that differ by intervals are one slot (Rau 1994).
                if instruction.opcode != OPCODE_NOP and executed[number][unit][at]:
                    issues[unit, at % concrete.initiation_interval, instruction.opcode] += executed[number][unit][at]
        yield _Class(number, Tiles(concrete, known, tuple(own)), issues)


def _class_totals(own: _Class, why: Category, most: int, cycles: int, machine: Machine) -> ClassTotals:
    """Totals by unit, of all elements of a class."""
    interval, count = own.tiles.concrete.initiation_interval, own.elements
    held = [0] * len(machine.units)
    for (unit, _, opcode), times in own.issues.items():
        held[unit] += times * _held_cycles(machine, unit, opcode)
    # What is issued last may be held beyond the end of the run, which does not count.
    work = [min(cycles, n) * count for n in held]
    idle = [cycles * count - n for n in work]
    missing = [min(n, (most - own.iterations) * interval * count) for n in idle]
    begun = own.iterations * interval * count
    waiting = [min(i - m, max(0, begun - w)) for i, m, w in zip(idle, missing, work, strict=True)]
    return ClassTotals(own.tiles.places, own.iterations, why, work, waiting, missing)


def _held_cycles(machine: Machine, unit: int, opcode: int) -> int:
    """Cycles for which an operation holds its unit: its latency where the unit is not pipelined."""
    found = machine.units[unit]
    return 1 if found.pipelined else found.latencies[decode_opcode(opcode)]


def _class_rows(
    own: _Class, reason: tuple[Category, str, int], totals: ClassTotals, cycles: int, machine: Machine, slots: Slots
) -> Iterator[Row]:
    """Rows of all elements of a class."""
    why, detail, line = reason
    for number, unit in enumerate(machine.units):
        name, work = f"{own.name} {unit.name}", 0
        for (at, slot, opcode), times in own.issues.items():
            if at != number:
                continue
            operation = decode_opcode(opcode)
            row = Row("work", " ".join(operation), 0, "", name, 0)
            held = times * _held_cycles(machine, number, opcode)
            issued = min(held * own.elements, totals.work[number] - work)
            work += issued
            yield from spread(issued, own.tiles.weigh(row, slots.get((at, slot, opcode), ())))
        missing, waiting = totals.missing[number], totals.waiting[number]
        rest = cycles * own.elements - work - missing - waiting
        yield Row("imbalance", "partial tiles", 0, "", name, missing)
        yield Row(why, detail, line, "", name, waiting)
        yield Row("fill and drain", "start and end of elements", 0, "", name, rest)


def _reason(own: _Class, machine: Machine, slots: Slots) -> tuple[Category, str, int]:
    """Class, detail and line of slots in which nothing issues although an iteration is under way."""
    full = own.fullest_unit(own.tiles.concrete.initiation_interval)
    if full is None:
        return ("dependence", *critical_edge(own.tiles.concrete, own.tiles.known))
    # The line that keeps the unit fullest is the one to change.
    lines = Counter[int]()
    for (unit, slot, opcode), times in own.issues.items():
        if unit == full:
            weighed = own.tiles.weigh(_BLANK, slots.get((unit, slot, opcode), ()))
            for row in spread(times, weighed):
                lines[row.line] += row.unit_cycles
    return "full unit", machine.units[full].name, max(lines, key=lambda line: lines[line])


_BLANK = Row("work", "", 0, "", "", 0)
