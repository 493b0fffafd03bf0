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

from polyloom.targets.account import Account, Category, Row, merge_rows, spread
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run.account_lines import Slots, critical_edge, weigh_nodes
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.event_resolution import Known
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, decode_opcode
from polyloom.targets.tcpa.words.operation_texts import nodes_by_slot

Executed = Sequence[Sequence[Sequence[int]]]
"""Executions by class, unit and instruction, of one element."""


@dataclass(frozen=True, slots=True)
class _Class:
    """Class of elements: how many have its program, how often a unit issued what in which slot, and how many iterations
    it started.
    """

    name: str
    elements: int
    issues: Mapping[tuple[int, int, int], int]
    """By unit, slot and opcode."""

    @property
    def iterations(self) -> int:
        """At least the issues of each slot, as an iteration has one at most."""
        by_slot = Counter[tuple[int, int]]()
        for (unit, slot, _), times in self.issues.items():
            by_slot[unit, slot] += times
        return max(by_slot.values(), default=0)

    def full_units(self, interval: int) -> list[int]:
        """Units that issue in every slot of the interval."""
        used = Counter(unit for unit, _ in {(unit, slot) for unit, slot, _ in self.issues})
        return [unit for unit, slots in used.items() if slots == interval]


def account_words(
    concrete: Concrete, machine: Machine, known: Known | None, executed: Executed, cycles: int, elements: int
) -> Account:
    """Account of a run of so many cycles, on a region of so many elements, of which the configuration may use fewer."""
    names, interval = [unit.name for unit in machine.units], concrete.initiation_interval
    classes = list(_classes(concrete, executed))
    most = max((own.iterations for own in classes), default=0)
    slots = Slots() if known is None else nodes_by_slot(known.symbolic, known.schedule, interval)
    rows = [row for own in classes for row in _class_rows(own, most, cycles, machine, concrete, known, slots)]
    unused = elements - sum(own.elements for own in classes)
    rows += [Row("imbalance", "elements without work", 0, "", name, unused * cycles) for name in names]
    return Account(elements * len(names), cycles, merge_rows(rows))


def _classes(concrete: Concrete, executed: Executed) -> Iterator[_Class]:
    counts = Counter(number for row in concrete.element_class for number in row if number >= 0)
    for number, elements in sorted(counts.items()):
        issues = Counter[tuple[int, int, int]]()
        # The model's last count of a unit stands for what is beyond its program.
        for unit, program in enumerate(concrete.classes[number].programs):
            for at, instruction in enumerate(program):
                if instruction.opcode != OPCODE_NOP and executed[number][unit][at]:
                    issues[unit, at % concrete.initiation_interval, instruction.opcode] += executed[number][unit][at]
        yield _Class(f"P{number + 1}", elements, issues)


def _class_rows(
    own: _Class, most: int, cycles: int, machine: Machine, concrete: Concrete, known: Known | None, slots: Slots
) -> Iterator[Row]:
    """Rows of all elements of a class."""
    interval = concrete.initiation_interval
    why, detail, line = _reason(own, concrete, machine, known, slots)
    for number, unit in enumerate(machine.units):
        name, work = f"{own.name} {unit.name}", 0
        for (at, slot, opcode), times in own.issues.items():
            if at != number:
                continue
            operation = decode_opcode(opcode)
            # A unit that is not pipelined is held for its latency.
            held = 1 if unit.pipelined else unit.latencies[operation]
            row = Row("work", " ".join(operation), 0, "", name, 0)
            issued = min(times * held * own.elements, cycles * own.elements - work)
            work += issued
            yield from spread(issued, weigh_nodes(row, slots.get((at, slot, opcode), ()), concrete, known))
        idle = cycles * own.elements - work
        missing = min(idle, (most - own.iterations) * interval * own.elements)
        waiting = min(idle - missing, max(0, own.iterations * interval * own.elements - work))
        yield Row("imbalance", "partial tiles", 0, "", name, missing)
        yield Row(why, detail, line, "", name, waiting)
        yield Row("fill and drain", "start and end of elements", 0, "", name, idle - missing - waiting)


def _reason(
    own: _Class, concrete: Concrete, machine: Machine, known: Known | None, slots: Slots
) -> tuple[Category, str, int]:
    """Class, detail and line of slots in which nothing issues although an iteration is under way."""
    if full := own.full_units(concrete.initiation_interval):
        # The line that keeps the unit fullest is the one to change.
        issues = {key: times for key, times in own.issues.items() if key[0] == full[0]}
        nodes = slots.get(max(issues, key=lambda key: issues[key]), ())
        line = next((row.line for row, _ in weigh_nodes(_BLANK, nodes, concrete, known)), 0)
        return "full unit", machine.units[full[0]].name, line
    return ("dependence", *critical_edge(concrete, known))


_BLANK = Row("work", "", 0, "", "", 0)
