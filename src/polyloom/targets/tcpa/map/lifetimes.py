# SPDX-License-Identifier: Apache-2.0
"""Lifetimes of values within an iteration, cut by copies into a schedule.

A general register holds a value for less than one initiation interval, since the next iteration writes it again. A
longer life takes a feedback FIFO for each reader (the array paper, section 5.3); modulo variable expansion would need
programs that depend on the iteration modulo k. Where FIFOs are short, copies hand the value on from register to
register, each within one interval, in slots that are free (Lam, "Software pipelining", 1988, section 2.3, has both).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Equation, Reference, Variable
from polyloom.ir.rdg import Graph
from polyloom.sets import Affine, Condition
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.dependence_graph import build_graph
from polyloom.targets.tcpa.words.symbolic import Schedule


@dataclass(frozen=True, slots=True)
class _Copy:
    """A move of `source` to `name`, issued at `start`; `readers` are the equations that need it, later copies' too."""

    name: str
    source: str
    dtype: ElementType
    readers: tuple[int, ...]
    start: int
    unit: int
    latency: int

    @property
    def ready(self) -> int:
        return self.start + self.latency


def insert_copies(graph: Graph, machine: Machine, schedule: Schedule) -> tuple[Graph, Schedule] | None:
    """Lifetime splitting: the graph and the schedule with copies of all values that live longer than an interval; None
    where a move finds no free slot, where there are no such values, and where operations are rare.
    """
    if schedule.apart:  # other operations would be rare ones
        return None
    table = _Table(graph, machine, schedule)
    readers: dict[int, str] = {}
    for variable in graph.program.variables:
        long = {
            n: t for n in graph.variable_uses(variable.name) if (t := _find_late_read(graph, schedule, n)) is not None
        }
        if not table.add_chain(variable, long, readers):
            return None
    if not table.copies:
        return None
    made = schedule.tau, schedule.unit, schedule.latency
    added = tuple(zip(*((c.start, c.unit, c.latency) for c in table.copies), strict=True))
    tau, unit, latency = (a + b for a, b in zip(made, added, strict=True))
    # Copies are appended, so that equation numbers of the old schedule stay valid.
    return _apply_copies(graph, table.copies, readers), replace(schedule, tau=tau, unit=unit, latency=latency)


def _find_late_read(graph: Graph, schedule: Schedule, use: int) -> int | None:
    """Cycle in which a use in the iteration itself reads its value, if that lives for an interval or longer; else
    None."""
    found = graph.uses[use]
    if not found.is_local or not found.writers:
        return None
    read, writer = schedule.tau[found.consumer], found.writers[0].node
    life = read - schedule.tau[writer] - schedule.latency[writer]
    return read if life >= schedule.initiation_interval else None


@dataclass(slots=True)
class _Table:
    """Modulo reservation table of a schedule (Lam 1988), into which copies are put."""

    graph: Graph
    machine: Machine
    schedule: Schedule
    copies: list[_Copy] = field(default_factory=list[_Copy])

    def add_chain(self, variable: Variable, long: dict[int, int], readers: dict[int, str]) -> bool:
        """Copies of one variable for the uses of `long`, by their cycles, each read by the uses of the next interval;
        False if there is no slot. `readers` is told which copy each use reads."""
        period = self.schedule.initiation_interval
        name, number = variable.name, 0
        if not long:
            return True
        writer = self.graph.uses[next(iter(long))].writers[0].node
        ready = self.schedule.tau[writer] + self.schedule.latency[writer]
        waiting: dict[int, int] = dict(long)
        while waiting:
            number += 1
            consumers = tuple(self.graph.uses[n].consumer for n in waiting)
            held, needed = f"{variable.name}.held{number}", min(waiting.values())
            copy = self._find_slot(held, name, variable.dtype, consumers, ready, needed)
            if copy is None:
                return False
            self.copies.append(copy)
            # The copy's own register is written again one interval later, by the next iteration's copy.
            served = [n for n, read in waiting.items() if read - copy.ready < period]
            readers.update(dict.fromkeys(served, copy.name))
            waiting = {n: read for n, read in waiting.items() if n not in served}
            name, ready = copy.name, copy.ready
        return True

    def _find_slot(
        self, name: str, source: str, dtype: ElementType, readers: tuple[int, ...], ready: int, needed: int
    ) -> _Copy | None:
        """Slot of a copy: the latest move within the interval after `ready` whose result is there when it is needed
        first.
        """
        # The latest start makes the copy's own value live longest, so that fewest copies follow.
        for start in range(ready + self.schedule.initiation_interval - 1, ready - 1, -1):
            for unit in self.machine.find_units("move", dtype):
                latency = self.machine.units[unit].latencies["move", dtype]
                if start + latency <= needed and self._is_free(unit, start, readers):
                    return _Copy(name, source, dtype, readers, start, unit, latency)
        return None

    def _is_free(self, unit: int, start: int, readers: tuple[int, ...]) -> bool:
        """Whether what is in this slot starts in the same cycle and never executes together with any reader."""
        period = self.schedule.initiation_interval
        starts = enumerate(zip(self.schedule.unit, self.schedule.tau, strict=True))
        others: list[tuple[tuple[int, ...], int]] = [((v,), tau) for v, (u, tau) in starts if u == unit]
        others += [(c.readers, c.start) for c in self.copies if c.unit == unit]
        return all(
            (start - other) % period
            or (start == other and all(self.graph.is_exclusive_pair(v, w) for v in nodes for w in readers))
            for nodes, other in others
        )


def _apply_copies(graph: Graph, copies: list[_Copy], readers: dict[int, str]) -> Graph:
    """The graph whose uses read the copies that `readers` names."""
    program, equations = graph.program, list(graph.equations)
    here = tuple(map(Affine.symbol, program.dimensions))
    for n, name in readers.items():
        use = graph.uses[n]
        operands = list(equations[use.consumer].operands)
        operands[use.position] = Reference(name, here)
        equations[use.consumer] = replace(equations[use.consumer], operands=tuple(operands))
    for copy in copies:
        pieces = dict.fromkeys(p for v in copy.readers for p in graph.equations[v].condition.pieces)
        reason = f"holds {copy.source} for longer than one interval, as feedback registers are short"
        span = graph.equations[copy.readers[0]].span
        target, source = Reference(copy.name, here), Reference(copy.source, here)
        condition = Condition(tuple(pieces))
        equations.append(Equation(copy.name, target, "move", copy.dtype, (source,), condition, span, reason))
    variables = (*program.variables, *(Variable(c.name, c.dtype) for c in copies))
    return build_graph(replace(program, variables=variables, equations=tuple(equations)))
