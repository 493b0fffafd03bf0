# SPDX-License-Identifier: Apache-2.0
"""The modulo-scheduling problem and its answer (Rau and Glaeser; the paper, section 5.2).

Every operation starts once an initiation interval pi, at `start + pi * n` for iteration n, on one of its allowed units.
`ready = start + latency` is the first cycle that sees its result. A pipelined unit is occupied for the cycle of the start,
a blocking one for `latency` cycles; both modulo pi, so no occupancy may exceed pi. Operations are named by their index.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.diagnostics import infeasible, input_error


@dataclass(frozen=True, slots=True)
class Unit:
    """A functional unit; one that is not pipelined starts nothing while an operation is under way."""

    name: str
    pipelined: bool = True


@dataclass(frozen=True, slots=True)
class Operation:
    """`latencies[k]` (cycles, at least 1) is the latency on unit `units[k]`."""

    name: str
    units: tuple[int, ...]
    latencies: tuple[int, ...]

    def latency(self, unit: int) -> int:
        return self.latencies[self.units.index(unit)]


@dataclass(frozen=True, slots=True)
class Dependence:
    """`start(sink) + pi * distance >= ready(source)`, distance (in iterations) at least 0."""

    source: int
    sink: int
    distance: int


@dataclass(frozen=True, slots=True)
class Short:
    """`start(sink) - ready(source) <= pi - 1`: the value of source must fit one general register."""

    source: int
    sink: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Operations to schedule.

    `aligned`: operations of one group have equal ready offsets. `exclusive`: pairs, in any order, that never execute in the
    same iteration; they may occupy a unit together, but only with equal start offsets. `spans`: groups of (source, sink);
    the sum over the groups of the maximum of ready(source) - start(sink) is minimized first.
    """

    operations: tuple[Operation, ...]
    units: tuple[Unit, ...]
    dependences: tuple[Dependence, ...] = ()
    aligned: tuple[tuple[int, ...], ...] = ()
    exclusive: frozenset[tuple[int, int]] = frozenset()
    short: tuple[Short, ...] = ()
    spans: tuple[tuple[tuple[int, int], ...], ...] = ()

    def are_exclusive(self, one: int, other: int) -> bool:
        return (one, other) in self.exclusive or (other, one) in self.exclusive

    def places(self, pi: int) -> int:
        """How many (operation, unit, slot) an exact search at initiation interval `pi` chooses from."""
        return pi * sum(len(o.units) for o in self.operations)

    def occupancy(self, operation: int, unit: int) -> int:
        """Cycles for which `operation` holds `unit`."""
        return 1 if self.units[unit].pipelined else self.operations[operation].latency(unit)


@dataclass(frozen=True, slots=True)
class Solution:
    """A modulo schedule. The least start is 0; `unit[v]` indexes `Problem.units`.

    `minimum` = max(ResMII, RecMII). `proved`: no smaller initiation interval (that the caller admits) has a schedule.
    `bound_by` says in the problem's names what keeps the initiation interval from being smaller.
    """

    initiation_interval: int
    start: tuple[int, ...]
    unit: tuple[int, ...]
    minimum: int
    proved: bool
    bound_by: str


def ready(problem: Problem, solution: Solution, operation: int) -> int:
    """The first cycle (of iteration 0) that sees the result."""
    return solution.start[operation] + problem.operations[operation].latency(solution.unit[operation])


def validate(problem: Problem) -> None:
    """Refuse a malformed problem (PL0450, exit 1) and an operation without a unit (PL0451, exit 3)."""
    for operation in problem.operations:
        if len(operation.units) != len(operation.latencies) or len(set(operation.units)) != len(operation.units):
            raise input_error("PL0450", f"operation {operation.name} needs one latency for each of its distinct units")
        if any(u not in range(len(problem.units)) for u in operation.units):
            raise input_error("PL0450", f"operation {operation.name} names a unit that does not exist")
        if min(operation.latencies, default=1) < 1:
            raise input_error("PL0450", f"operation {operation.name} has a latency below 1")
        if not operation.units:
            help = "add a unit that executes it to the machine, or write the loop without it"
            raise infeasible("PL0451", f"no unit executes operation {operation.name}", help=help)
    mentioned = {v for d in problem.dependences for v in (d.source, d.sink)} | {v for s in problem.short for v in (s.source, s.sink)}
    mentioned |= {v for group in problem.aligned for v in group} | {v for pair in problem.exclusive for v in pair}
    mentioned |= {v for group in problem.spans for pair in group for v in pair}
    if not mentioned <= set(range(len(problem.operations))):
        raise input_error("PL0450", "a constraint names an operation that does not exist")
    if any(d.distance < 0 for d in problem.dependences):
        raise input_error("PL0450", "a dependence has a negative distance", help="order the iterations so that every value is produced before its use")
