# SPDX-License-Identifier: Apache-2.0
"""Register demand: what an element needs at the least, whatever the schedule (the array paper, sections 5.3 and 5.4).

A value that other iterations read at a distance d takes a feedback FIFO, and for each neighbour that d reaches under an
allocation an output register, a channel and an input register. These counts follow from the dependences alone, so that
a mapping that cannot fit is refused, or divided, before anything is solved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from polyloom.diagnostics import PolyloomError, Span, infeasible
from polyloom.ir.pla import Equation, Program, Reference
from polyloom.ir.rdg import Graph
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.allocate import Allocation, list_allocations

Distance = tuple[int, ...]
NAMED = 6
"""Variables that an error names, those that take most registers."""


@dataclass(frozen=True, slots=True)
class Demand:
    """Lower bounds under one allocation. `by_variable` counts feedback registers, `sent` values to neighbours."""

    by_variable: Counter[str]
    sent: Counter[str]
    writing: int
    """Equations that write outputs, each of which has a register of its own."""
    side: int
    """Channels of the busiest side in one direction."""

    @property
    def total(self) -> int:
        return self.by_variable.total() + self.sent.total()

    def shortage(self, machine: Machine) -> int:
        """By how many registers and channels the machine is too small, in all."""
        pairs = (
            (self.by_variable.total(), machine.feedback_registers),
            (self.sent.total(), machine.input_registers),
            # Border outputs and neighbours share the output registers od (section 5.3), inputs come on registers of
            # their own.
            (self.sent.total() + self.writing, machine.output_registers),
            (self.side, machine.channels),
        )
        return sum(max(0, need - have) for need, have in pairs if have is not None)


def distant_reads(program: Program) -> list[tuple[str, Distance]]:
    """Loop-carried operands: the variable and the distance of every operand that another iteration computes, by the
    text of the equations.
    """
    names = {v.name for v in program.variables}
    operands = (o for e in program.equations for o in e.operands if isinstance(o, Reference) and o.name in names)
    return [(o.name, d) for o in operands if any(d := program.distance(o))]


def compute_demand(read: Iterable[tuple[str, Distance]], writing: int, allocation: Allocation) -> Demand:
    """Lower bound of registers that `read`, pairs of a variable and a distance, needs under `allocation` (processor
    displacements Delta(d); the array paper, section 5.1).
    """
    by_variable, sent, sides = Counter[str](), Counter[str](), Counter[tuple[int, int]]()
    for variable, distance in read:
        by_variable[variable] += 1
        mapped = [distance[m] for m in (allocation.rows, allocation.columns) if m is not None]
        # Each non-empty subset of the mapped dimensions in which the distance is not zero is a neighbour.
        reached = 2 ** sum(map(bool, mapped)) - 1
        sent[variable] += reached
        for axis, step in enumerate(mapped):
            if step:
                # Half of all subsets have this dimension in them.
                sides[axis, 1 if step > 0 else -1] += (reached + 1) // 2
    return Demand(by_variable, +sent, writing, max(sides.values(), default=0))


def shortage(program: Program, machine: Machine, *, planar: bool = False) -> int:
    """The least shortage over all allocations, or over those of two dimensions; 0 where some mapping may fit."""
    return _best_allocation(program, sorted(set(distant_reads(program))), machine, planar)[0]


def greatest_demand(program: Program, machine: Machine) -> tuple[int, int]:
    """The shortage, and all registers, of the best allocation of two dimensions where no two operands share one."""
    short, best = _best_allocation(program, distant_reads(program), machine, True)
    return short, best.total


def check_demand(graph: Graph, machine: Machine) -> None:
    """Early register check: PL0404, PL0405, PL0406 or PL0462 if every mapping needs more registers or channels than
    there are (the array paper, section 5.3).
    """
    read = sorted({(use.variable, use.distance) for use in graph.uses if not use.is_local})
    short, least = _best_allocation(graph.program, read, machine, False)
    if short:
        raise next(_shortage_errors(least, machine))


def check_outputs(program: Program, machine: Machine) -> None:
    """PL0406 if every mapping needs more output registers than there are: each equation that writes an output has a
    register of its own."""
    writing = _output_equations(program)
    note = f"one for each equation that writes an output: {_list_largest(Counter(e.target.name for e in writing))}"
    span = next((e.span for e in writing[machine.output_registers or 0 :]), None)
    check_capacity(
        "PL0406", "output_registers", "output register", machine.output_registers, len(writing), note, span=span
    )


def check_capacity(
    code: str, field: str, noun: str, have: int | None, need: int, *notes: str, span: Span | None = None
) -> None:
    """Capacity check: raises the error `code` if the machine has fewer than `need` of `field`."""
    if have is not None and need > have:
        raise capacity_error(code, field, noun, have, need, *notes, span=span)


def capacity_error(
    code: str, field: str, noun: str, have: int, need: int, *notes: str, span: Span | None = None
) -> PolyloomError:
    """The error of a mapping that needs `need` of what the machine has `have` of."""
    return infeasible(
        code,
        f"the mapping needs {need} {noun}{'' if need == 1 else 's'}, the machine has {have}",
        span=span,
        notes=notes,
        help=f"set {field} = {need} or more in the machine description ({need - have} more)",
    )


def _best_allocation(
    program: Program, read: Sequence[tuple[str, Distance]], machine: Machine, planar: bool
) -> tuple[int, Demand]:
    """The least shortage and its demand; of equals the first, and pairs of dimensions come first."""
    writing = len(_output_equations(program))
    spaces = list_allocations(len(program.dimensions))
    pairs = [a for a in spaces if a.rows is not None and a.columns is not None]
    # Without a pair of dimensions in the program, planar demands are those of lines: `and` gives the empty list.
    found = (compute_demand(read, writing, space) for space in (planar and pairs) or spaces)
    return min(((d.shortage(machine), d) for d in found), key=lambda pair: (pair[0], planar and pair[1].total))


def _output_equations(program: Program) -> list[Equation]:
    outputs = {a.name for a in program.outputs}
    return [e for e in program.equations if e.target.name in outputs]


def _shortage_errors(least: Demand, machine: Machine) -> Iterator[PolyloomError]:
    feedback = f"one for each distance at which other iterations read a value: {_list_largest(least.by_variable)}"
    sent = f"one for each neighbour that such a distance reaches: {_list_largest(least.sent)}"
    outputs = f"{sent}; and one for each equation that writes an output, {least.writing}"
    rows = (
        ("PL0404", "feedback_registers", "feedback register", least.by_variable.total(), feedback),
        ("PL0405", "input_registers", "input register", least.sent.total(), sent),
        ("PL0406", "output_registers", "output register", least.sent.total() + least.writing, outputs),
        ("PL0462", "channels", "channel", least.side, sent),
    )
    for code, field, noun, need, note in rows:
        have: int | None = getattr(machine, field)
        if have is not None and need > have:
            yield capacity_error(code, field, noun, have, need, note)


def _list_largest(counts: Counter[str]) -> str:
    """Those that count most, and how many others there are."""
    named = [f"{variable} {count}" for variable, count in counts.most_common(NAMED)]
    return ", ".join(named + ([f"{len(counts) - NAMED} more variables"] if len(counts) > NAMED else []))
