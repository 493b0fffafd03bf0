# SPDX-License-Identifier: Apache-2.0
"""Operations under conditions, and their schedule (the paper, section 5.2).

Every choice of an operation is one *unit*, a resource of limit 1, which it holds for `busy` cycles: one on a
pipelined unit, its latency on a blocking one; both modulo pi, the initiation interval, so no occupancy may exceed pi.
`ready = start + latency` is the first cycle that sees the result. Operations and units are named by their index.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.diagnostics import infeasible, input_error
from polyloom.modulo.problem import Choice, Dependence, Operation, Problem, Resource, Use


def operation(name: str, units: tuple[int, ...], latencies: tuple[int, ...], pipelined: tuple[bool, ...]) -> Operation:
    """An operation with one latency (cycles, at least 1) for each of its units; `pipelined` tells of every unit there
    is.
    """
    # A pipelined unit takes an operation in every cycle; another one is busy until the result is there.
    uses = ((Use(u, 1 if pipelined[u] else latency),) for u, latency in zip(units, latencies, strict=True))
    return Operation(name, tuple(Choice(use, latency) for use, latency in zip(uses, latencies, strict=True)))


@dataclass(frozen=True, slots=True)
class Short:
    """`start(sink) - ready(source) <= pi - 1`: the value of source must fit one general register."""

    source: int
    sink: int


@dataclass(frozen=True, slots=True)
class Guarded:
    """A problem without capacities, and what conditions add.

    `aligned`: operations of one group have equal ready offsets. `exclusive`: pairs, in any order, that never execute
    in the same iteration; they may occupy a unit together, but only with equal start offsets. `spans`: groups of
    (source, sink); the sum over the groups of the maximum of ready(source) - start(sink) is minimized first.
    """

    problem: Problem
    aligned: tuple[tuple[int, ...], ...] = ()
    exclusive: frozenset[tuple[int, int]] = frozenset()
    short: tuple[Short, ...] = ()
    spans: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def operations(self) -> tuple[Operation, ...]:
        return self.problem.operations

    @property
    def units(self) -> tuple[Resource, ...]:
        return self.problem.resources

    @property
    def dependences(self) -> tuple[Dependence, ...]:
        return self.problem.dependences

    def executing_units(self, operation: int) -> tuple[int, ...]:
        return tuple(c.uses[0].resource for c in self.operations[operation].choices)

    def unit_latencies(self, operation: int) -> tuple[int, ...]:
        return tuple(c.latency for c in self.operations[operation].choices)

    def latency(self, operation: int, unit: int) -> int:
        return self.unit_latencies(operation)[self.executing_units(operation).index(unit)]

    def are_exclusive(self, one: int, other: int) -> bool:
        return (one, other) in self.exclusive or (other, one) in self.exclusive

    def places(self, pi: int) -> int:
        """How many (operation, unit, slot) an exact search at initiation interval `pi` chooses from."""
        # The size of the exact model, by which the search decides whether it is worth building.
        return pi * sum(len(o.choices) for o in self.operations)

    def occupancy(self, operation: int, unit: int) -> int:
        """Cycles for which `operation` holds `unit`."""
        return self.operations[operation].choices[self.executing_units(operation).index(unit)].uses[0].busy


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


def result_cycle(problem: Guarded, solution: Solution, operation: int) -> int:
    """Ready offset: the first cycle (of iteration 0) that sees the result."""
    return solution.start[operation] + problem.latency(operation, solution.unit[operation])


def validate(problem: Guarded) -> None:
    """Refuse a malformed problem (PL0450, exit 1) and an operation without a unit (PL0451, exit 3)."""
    if problem.problem.capacities or any(unit.limit != 1 for unit in problem.units):
        raise input_error("PL0450", "operations under conditions run on units of limit 1, without capacities")
    for v, operation in enumerate(problem.operations):
        _validate_operation(problem, v, operation)
    mentioned = {v for d in problem.dependences for v in (d.source, d.sink)} | {
        v for s in problem.short for v in (s.source, s.sink)
    }
    mentioned |= {v for group in problem.aligned for v in group} | {v for pair in problem.exclusive for v in pair}
    mentioned |= {v for group in problem.spans for pair in group for v in pair}
    if not mentioned <= set(range(len(problem.operations))):
        raise input_error("PL0450", "a constraint names an operation that does not exist")
    if any(d.distance < 0 for d in problem.dependences):
        raise input_error(
            "PL0450",
            "a dependence has a negative distance",
            help="order the iterations so that every value is produced before its use",
        )
    # Its recurrences and its bounds count latencies of units; what the general scheduler knows besides has no meaning
    # here.
    if any(d.delay or d.latency is not None or d.to_result for d in problem.dependences):
        raise input_error("PL0450", "a dependence of operations under conditions lasts as long as its source")


def _validate_operation(problem: Guarded, v: int, operation: Operation) -> None:
    if any(len(c.uses) != 1 or c.most is not None for c in operation.choices) or len(
        set(problem.executing_units(v))
    ) != len(operation.choices):
        raise input_error("PL0450", f"operation {operation.name} needs one latency for each of its distinct units")
    if any(u not in range(len(problem.units)) for u in problem.executing_units(v)):
        raise input_error("PL0450", f"operation {operation.name} names a unit that does not exist")
    if min(problem.unit_latencies(v), default=1) < 1:
        raise input_error("PL0450", f"operation {operation.name} has a latency below 1")
    if not operation.choices:
        help = "add a unit that executes it to the machine, or write the loop without it"
        raise infeasible("PL0451", f"no unit executes operation {operation.name}", help=help)
