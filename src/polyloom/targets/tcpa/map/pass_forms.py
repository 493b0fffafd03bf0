# SPDX-License-Identifier: Apache-2.0
"""Forms between the passes of the mapping: how each intermediate result prints, and the rules that its verifier
checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.ir import pla_verify, rdg
from polyloom.ir.pla_text import print_program
from polyloom.ir.rdg import Graph
from polyloom.passes import Form
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.allocate import Allocation, Order
from polyloom.targets.tcpa.map.schedule import Scheduled
from polyloom.targets.tcpa.words import listing, symbolic_file
from polyloom.targets.tcpa.words.symbolic import Candidate, Schedule, Symbolic


@dataclass(frozen=True, slots=True)
class Choices:
    """A graph with the schedules that its candidates may have, and the allocations and scan orders that are allowed."""

    graph: Graph
    machine: Machine
    spaces: tuple[Allocation, ...]
    scans: tuple[Order, ...]
    schedules: tuple[Scheduled, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """The candidates worth keeping, with registers and routes."""

    graph: Graph
    machine: Machine
    schedules: tuple[Scheduled, ...]
    candidates: tuple[Candidate, ...]


def _check(faults: Iterator[str]) -> None:
    if found := tuple(faults):
        raise PolyloomError(*(Diagnostic("PL0979", fault) for fault in found))


def _graph(graph: Graph) -> Iterator[str]:
    """Rules of the reduced dependence graph (the array paper, section 4): uses are operands of equations of the graph,
    written by equations of their variable.
    """
    pla_verify.verify(graph.program)
    pla_verify.check_origins(graph.program)
    equations = graph.equations
    for use in graph.uses:
        if use.consumer not in range(len(equations)) or use.position not in range(
            len(equations[use.consumer].operands)
        ):
            yield f"a use of {use.variable} is no operand: number {use.position} of equation {use.consumer}"
        elif len(use.distance) != len(graph.program.dimensions):
            yield f"{equations[use.consumer].name} reads {use.variable} at a distance of {len(use.distance)} dimensions"
        for writer in use.writers:
            if writer.node not in range(len(equations)) or equations[writer.node].target.name != use.variable:
                yield f"a use of {use.variable} is written by equation {writer.node}, which defines something else"


def _schedules(graph: Graph, machine: Machine, schedules: tuple[Scheduled, ...]) -> Iterator[str]:
    """Schedule rules: each equation has a start and a unit that executes it, in that unit's latency (the array paper,
    section 5.2); the solver's answers are checked on their own.
    """
    for number, scheduled in enumerate(schedules):
        found = scheduled.schedule
        if not len(graph.equations) == len(found.tau) == len(found.unit) == len(found.latency):
            yield f"schedule {number} has {len(found.tau)} starts for {len(graph.equations)} equations"
            continue
        for equation, tau, unit, latency in zip(graph.equations, found.tau, found.unit, found.latency, strict=True):
            able = (
                unit in range(len(machine.units))
                and machine.units[unit].latencies.get((equation.operation, equation.dtype)) == latency
            )
            if tau < 0 or not able:
                yield f"schedule {number} has {equation.name} at {tau} in unit {unit} with latency {latency}"


def _candidates(mapped: Mapped) -> Iterator[str]:
    """Candidate rules: a candidate has one of the schedules, and its scan order is a permutation of all dimensions (the
    array paper, section 5.1).
    """
    for number, candidate in enumerate(mapped.candidates):
        if candidate.schedule not in range(len(mapped.schedules)):
            yield f"candidate {number} has the schedule {candidate.schedule}, of {len(mapped.schedules)}"
        if sorted(candidate.order) != list(range(len(mapped.graph.program.dimensions))):
            yield f"candidate {number} scans {candidate.order}"


def _show_schedules(choices: Choices) -> str:
    names = choices.graph.program.dimensions
    lines: list[str] = []
    for number, scheduled in enumerate(choices.schedules):
        inner = ", ".join(names[m] for m in sorted(scheduled.innermost)) or "any"
        safe = ", valid for tiles of any size" if scheduled.safe else ""
        lines.append(
            f"schedule {number}: initiation interval {scheduled.schedule.initiation_interval}; innermost {inner}{safe}"
        )
        lines += _rows(choices.graph, choices.machine, scheduled.schedule)
    return "\n".join(lines)


def _rows(graph: Graph, machine: Machine, schedule: Schedule) -> Iterator[str]:
    """One equation per line, in the order of starts."""
    rows = zip(schedule.tau, schedule.unit, schedule.latency, graph.equations, strict=True)
    for tau, unit, latency, equation in sorted(rows, key=lambda row: (row[0], row[1], row[3].name)):
        yield f"  {tau:>4} {machine.units[unit].name:<8} {equation.name}: {equation.operation}, latency {latency}"


def _show_candidates(mapped: Mapped) -> str:
    names = mapped.graph.program.dimensions
    lines: list[str] = []
    for number, c in enumerate(mapped.candidates):
        places = [f"{axis} = {names[m]}" for axis, m in (("rows", c.rows), ("columns", c.columns)) if m is not None]
        scan = ", ".join(names[m] + (" downwards" if c.reflected[m] else "") for m in c.order)
        lines.append(
            f"candidate {number}: {', '.join(places) or 'one element'}; scan {scan} (innermost first); schedule "
            f"{c.schedule}"
        )
        lines += [f"  route {n}, displacement {route.displacement}" for n, route in enumerate(c.routes)]
        lines.append(f"  registers: input {list(c.input_registers)}, output {list(c.output_registers)}")
    return "\n".join(lines)


def _check_symbolic(symbolic: Symbolic) -> None:
    """Round trip: what is written reads back as it is."""
    data = symbolic_file.encode(symbolic)
    # Texts are compared, not objects: what the file does not hold, such as spans, is not part of the form.
    again = symbolic_file.encode(symbolic_file.decode(data))
    _check(iter(() if again == data else ("the symbolic configuration does not read back as it was written",)))


EQUATIONS: Final = Form(print_program, pla_verify.verify)
GRAPH: Final = Form(rdg.print_graph, lambda graph: _check(_graph(graph)))
SCHEDULES: Final = Form(_show_schedules, lambda of: _check(_schedules(of.graph, of.machine, of.schedules)))
CANDIDATES: Final = Form(_show_candidates, lambda of: _check(_candidates(of)))
SYMBOLIC: Final = Form(listing.show_symbolic, _check_symbolic)
