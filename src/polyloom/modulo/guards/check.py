# SPDX-License-Identifier: Apache-2.0
"""Verifier of guarded modulo schedules: every constraint of the problem, read off the definitions of `guarded.problem`
(the array paper, section 5.2), without a solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError
from polyloom.modulo.guards.problem import Guarded, Solution, result_cycle


def check(problem: Guarded, solution: Solution) -> None:
    """Raise PL0455 (internal) when `solution` violates a constraint of `problem`."""
    if found := violations(problem, solution):
        raise PolyloomError(
            Diagnostic("PL0455", f"the scheduler made a faulty schedule: {found[0]}", INTERNAL, notes=found[1:])
        )


def violations(problem: Guarded, solution: Solution) -> tuple[str, ...]:
    """One sentence for each constraint that `solution` violates; a schedule of the user's is judged by them too."""
    if malformed := tuple(_shape_violations(problem, solution)):
        return malformed
    return (
        *_dependence_violations(problem, solution),
        *_alignment_violations(problem, solution),
        *_lifetime_violations(problem, solution),
        *_unit_violations(problem, solution),
    )


def _shape_violations(problem: Guarded, solution: Solution) -> Iterator[str]:
    if solution.initiation_interval < 1:
        yield f"the initiation interval is {solution.initiation_interval}"
    if not len(problem.operations) == len(solution.start) == len(solution.unit):
        yield (
            f"{len(problem.operations)} operations have {len(solution.start)} start offsets and "
            f"{len(solution.unit)} units"
        )
        return
    for v, (operation, start, unit) in enumerate(zip(problem.operations, solution.start, solution.unit, strict=True)):
        if start < 0:
            yield f"{operation.name} starts at {start}"
        if unit not in problem.executing_units(v):
            name = problem.units[unit].name if unit in range(len(problem.units)) else f"number {unit}"
            yield f"{operation.name} cannot run on unit {name}"


def _dependence_violations(problem: Guarded, solution: Solution) -> Iterator[str]:
    for d in problem.dependences:
        due = solution.start[d.sink] + solution.initiation_interval * d.distance
        if due < result_cycle(problem, solution, d.source):
            names = problem.operations[d.source].name, problem.operations[d.sink].name
            yield (
                f"{names[1]} reads {names[0]} (distance {d.distance}) in cycle {due}, before it is ready in "
                f"{result_cycle(problem, solution, d.source)}"
            )


def _alignment_violations(problem: Guarded, solution: Solution) -> Iterator[str]:
    for group in problem.aligned:
        if len({result_cycle(problem, solution, v) for v in group}) > 1:
            yield f"{', '.join(problem.operations[v].name for v in group)} are not ready in the same cycle"


def _lifetime_violations(problem: Guarded, solution: Solution) -> Iterator[str]:
    for s in problem.short:
        life = solution.start[s.sink] - result_cycle(problem, solution, s.source)
        # After pi cycles the next iteration writes the same register.
        if life > solution.initiation_interval - 1:
            yield (
                f"{problem.operations[s.sink].name} reads {problem.operations[s.source].name} {life} cycles after "
                "it is ready: it is overwritten by then"
            )


def _unit_violations(problem: Guarded, solution: Solution) -> Iterator[str]:
    """Unit rule: two operations hold a cell of the modulo reservation table together only if they exclude each other
    and start together.
    """
    pi = solution.initiation_interval
    # Pair by pair and from starts alone, without the solver's literals for cells: a fault in these cannot hide itself.
    for i, j in combinations(range(len(problem.operations)), 2):
        unit = solution.unit[i]
        if unit != solution.unit[j] or (problem.are_exclusive(i, j) and solution.start[i] == solution.start[j]):
            continue
        gap = (solution.start[j] - solution.start[i]) % pi
        # On the circle of pi slots: j starts within what i holds, or i within what j holds.
        if gap < problem.occupancy(i, unit) or pi - gap < problem.occupancy(j, unit) or gap == 0:
            yield (
                f"{problem.operations[i].name} and {problem.operations[j].name} collide on unit "
                f"{problem.units[unit].name}"
            )
    for v, unit in enumerate(solution.unit):
        if problem.occupancy(v, unit) > pi:
            yield (
                f"{problem.operations[v].name} holds unit {problem.units[unit].name} longer than the initiation "
                "interval"
            )
