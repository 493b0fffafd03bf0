# SPDX-License-Identifier: Apache-2.0
"""Verifier of modulo schedules: every constraint of the problem, read off the definitions of `problem` (Rau 1994),
without a solver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError
from polyloom.modulo.problem import Problem, Schedule


def check(problem: Problem, schedule: Schedule) -> None:
    """Raise PL0455 (internal) when `schedule` violates a constraint of `problem`."""
    if found := violations(problem, schedule):
        raise PolyloomError(
            Diagnostic("PL0455", f"the scheduler made a faulty schedule: {found[0]}", INTERNAL, notes=found[1:])
        )


def violations(problem: Problem, schedule: Schedule) -> tuple[str, ...]:
    """One sentence for each constraint that `schedule` violates."""
    # The other rules index by these numbers, and would fail instead of explaining.
    if malformed := tuple(_shape_violations(problem, schedule)):
        return malformed
    return (
        *_dependence_violations(problem, schedule),
        *_resource_violations(problem, schedule),
        *_capacity_violations(problem, schedule),
    )


def _shape_violations(problem: Problem, schedule: Schedule) -> Iterator[str]:
    if schedule.interval < 1:
        yield f"the initiation interval is {schedule.interval}"
    sizes = [len(schedule.start), len(schedule.choice), len(schedule.latency)]
    if any(size != len(problem.operations) for size in sizes):
        yield (
            f"{len(problem.operations)} operations have {sizes[0]} starts, {sizes[1]} choices and {sizes[2]} latencies"
        )
        return
    for v, operation in enumerate(problem.operations):
        if schedule.start[v] < 0:
            yield f"{operation.name} starts at {schedule.start[v]}"
        if schedule.choice[v] not in range(len(operation.choices)):
            yield f"{operation.name} has no choice {schedule.choice[v]}"
            continue
        choice = operation.choices[schedule.choice[v]]
        # The schedule's own latency is checked against the range; the rules below then use it as it is.
        least, most = choice.latency, choice.latency if choice.most is None else choice.most
        if not least <= schedule.latency[v] <= most:
            yield f"{operation.name} has latency {schedule.latency[v]}, which is not in {least} to {most}"


def _dependence_violations(problem: Problem, schedule: Schedule) -> Iterator[str]:
    """Dependence rule: start(sink) + II * distance >= start(source) + latency + delay (Rau and Glaeser 1981)."""
    for d in problem.dependences:
        latency = schedule.latency[d.source] if d.latency is None else d.latency
        ready = schedule.start[d.source] + latency + d.delay
        reads = (
            schedule.start[d.sink] + (schedule.latency[d.sink] if d.to_result else 0) + schedule.interval * d.distance
        )
        if reads < ready:
            names = problem.operations[d.sink].name, problem.operations[d.source].name
            yield f"{names[0]} follows {names[1]} (distance {d.distance}) in cycle {reads}, before {ready}"


def _resource_violations(problem: Problem, schedule: Schedule) -> Iterator[str]:
    """Modulo reservation table rule: no row holds a resource more often than its limit (Lam 1988)."""
    for number, resource in enumerate(problem.resources):
        if resource.limit is None:
            continue
        for row, times in _row_occupancy(problem, schedule, number):
            if times > resource.limit:
                yield f"{resource.name} is held {times} times in row {row}, and has a limit of {resource.limit}"


def _row_occupancy(problem: Problem, schedule: Schedule, resource: int) -> Iterator[tuple[int, int]]:
    """Occupancy of a resource in row 0 and in each row in which it may change: (row, times held), rows ascending."""
    interval, held = schedule.interval, 0
    changes: Counter[int] = Counter({0: 0})
    for v, operation in enumerate(problem.operations):
        for use in operation.choices[schedule.choice[v]].uses:
            if use.resource != resource:
                continue
            # All rows as often as the interval fits; the cycles that are left, from the row of the start on, once more.
            held += use.busy // interval
            first = schedule.start[v] % interval
            after = first + use.busy % interval
            changes[first] += 1
            changes[after % interval] -= 1
            held += after >= interval
    for row in sorted(changes):
        held += changes[row]
        yield row, held


def _capacity_violations(problem: Problem, schedule: Schedule) -> Iterator[str]:
    """Capacity rule: the sum of ceil(busy / II) over the holds is at most the limit."""
    for capacity in problem.capacities:
        busy = [schedule.latency[h.operation] if h.busy is None else h.busy for h in capacity.holds]
        places = sum(-(-cycles // schedule.interval) for cycles in busy)
        if places > capacity.limit:
            yield f"{places} places of {capacity.name} are held, and there are {capacity.limit}"
