# SPDX-License-Identifier: Apache-2.0
"""Solve a problem: the bounds, a solver, the check of its schedule, and what keeps the interval from being smaller.

All solvers rise from the greatest bound. With small intervals attempts may fail; with a long one a schedule is open
code, which exists unless dependences set deadlines. `exact` takes the schedule of `iterative` and then decides every
interval below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.modulo import iterative, torus
from polyloom.modulo.bounds import recurrence_bound, resource_bound
from polyloom.modulo.check import check
from polyloom.modulo.placement import Case
from polyloom.modulo.problem import LowerBound, Problem, Schedule, Solution, validate

EFFORT: Final = 6.0
"""Deterministic work by default; a unit is about a second."""
_PLACEMENTS: Final = 100_000
"""Operations that attempts place in a unit of work."""
_LONGEST: Final = 1 << 24
"""No interval beyond is tried."""

Place = Callable[[Case, int], Schedule | None]


@dataclass(frozen=True, slots=True)
class Task:
    """Intervals from `low` to `high` are tried, none beyond a `limit` of the caller's; `effort` is deterministic
    work, `feasible`: stop at the first schedule.
    """

    case: Case
    low: int
    high: int
    effort: float
    feasible: bool
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A schedule, if one was found; no interval of the task below `minimum` has one, and with `never` none at all."""

    schedule: Schedule | None
    minimum: int
    never: bool = False


@dataclass(frozen=True, slots=True)
class Solver:
    name: str
    about: str
    run: Callable[[Task], Outcome]


def _search_intervals(place: Place, task: Task) -> Outcome:
    """Linear search over initiation intervals from `low` on; when the work is spent, twice the interval each time."""
    # Work is counted in placements, not seconds: the answer does not depend on the machine or its load.
    attempts = max(1, int(task.effort * _PLACEMENTS / len(task.case.problem.operations)))
    interval = task.low
    while interval <= task.high:
        if (found := place(task.case, interval)) is not None:
            return Outcome(found, task.low)
        attempts -= 1
        interval = interval + 1 if attempts > 0 or interval == task.high else min(2 * interval, task.high)
    return Outcome(None, task.low)


def _exact(task: Task) -> Outcome:
    """Exact search: the iterative schedule, then a decision for every interval below it (Eichenberger and Davidson
    1997).
    """
    outcome = _search_intervals(iterative.place, task)
    if task.feasible or (outcome.schedule is not None and outcome.schedule.interval == task.low):
        return outcome
    # OR-tools take half a second to load, and a schedule at the bound does not need them.
    from polyloom.modulo.exact import decide, decide_open_code

    if outcome.schedule is None:
        opened = decide_open_code(task.case, task.effort)
        if opened.schedule is None or (task.limit is not None and opened.schedule.interval > task.limit):
            return Outcome(None, task.low, opened.is_infeasible)
        outcome = Outcome(opened.schedule, task.low)
    assert outcome.schedule is not None
    high = outcome.schedule.interval - 1
    minimum, effort = task.low, task.effort
    for interval in range(task.low, high + 1):
        if effort <= 0:
            break
        # What an interval leaves of its share goes to those after it.
        decision = decide(task.case, interval, effort / min(4, high + 1 - interval))
        effort -= decision.effort
        if decision.schedule is not None:
            return Outcome(decision.schedule, minimum)
        # Only an unbroken run of refuted intervals raises the proved minimum.
        if decision.is_infeasible and minimum == interval:
            minimum = interval + 1
    return Outcome(outcome.schedule, minimum)


TORUS: Final = Solver(
    "torus", "greedy on a slice of the table that wraps round", lambda task: _search_intervals(torus.place, task)
)
ITERATIVE: Final = Solver(
    "iterative", "by heights, then circuits first, with eviction", lambda task: _search_intervals(iterative.place, task)
)
EXACT: Final = Solver("exact", "iterative, then a search of every interval below", _exact)
SOLVERS: Final = {s.name: s for s in (TORUS, ITERATIVE, EXACT)}


def solve(
    problem: Problem,
    solver: Solver = EXACT,
    *,
    at_least: int = 1,
    limit: int | None = None,
    effort: float = EFFORT,
    feasible: bool = False,
) -> Solution:
    """A checked schedule with the least initiation interval from `at_least` to `limit` that the solver finds.

    `effort` is deterministic work, about seconds; with `feasible`, `exact` stops at the first schedule. Errors: those
    of `validate`, PL0985 and PL0987 of the bounds, PL0988 (no schedule, exit 3), PL0989 (none found, exit 3).
    """
    validate(problem)
    bounds = resource_bound(problem), recurrence_bound(problem)
    # MII = max(ResMII, RecMII): no smaller interval is tried (Rau 1994).
    low = max(at_least, *(b.value for b in bounds))
    if low > _LONGEST:
        help = "divide all latencies and busy times by a common factor"
        raise infeasible(
            "PL0989",
            f"an interval of {low} or more is longer than any that is tried, {_LONGEST}",
            notes=_notes(bounds),
            help=help,
        )
    high = min(_LONGEST, max(low, open_interval(problem))) if limit is None else limit
    outcome = solver.run(Task(Case(problem), low, high, effort, feasible, limit)) if low <= high else Outcome(None, low)
    if outcome.schedule is None:
        raise _infeasibility_error(bounds, solver, outcome, limit)
    # Whatever a solver gives is checked here, so that a faulty solver cannot give a wrong program.
    check(problem, outcome.schedule)
    schedule = outcome.schedule
    return Solution(
        schedule, outcome.minimum, *bounds, _reason(bounds, schedule.interval, outcome.minimum, at_least), solver.name
    )


def open_interval(problem: Problem) -> int:
    """Open-code interval in cycles: long enough that operations have time to run one after the other."""
    steps = [max(1, *(max(c.longest, *(u.busy for u in c.uses), 0) for c in o.choices)) for o in problem.operations]
    for d in problem.dependences:
        latency = max(c.longest for c in problem.operations[d.source].choices) if d.latency is None else d.latency
        # The source's step lasts until its result may be read: then each dependence holds in any sequential order.
        steps[d.source] = max(steps[d.source], latency + d.delay)
    return max([sum(steps), *(h.busy or 0 for c in problem.capacities for h in c.holds)])


def _reason(bounds: tuple[LowerBound, LowerBound], interval: int, minimum: int, at_least: int) -> str:
    if interval == 1:
        return "nothing: an iteration starts in every cycle"
    if binding := [b.reason for b in bounds if b.value == interval]:
        return " and ".join(binding)
    if interval == at_least:
        return f"an interval of at least {at_least} was asked for"
    if minimum == interval:
        what = f"resources and circuits together: a search found that no interval below {interval} has a schedule"
    else:
        what = f"the solver: intervals from {minimum} on are not excluded"
    return "; ".join([what, *(f"{b.value} by {b.reason}" for b in bounds if b.value > 1)])


def _notes(bounds: tuple[LowerBound, LowerBound]) -> tuple[str, ...]:
    return tuple(f"no interval below {b.value}: {b.reason}" for b in bounds)


def _infeasibility_error(
    bounds: tuple[LowerBound, LowerBound], solver: Solver, outcome: Outcome, limit: int | None
) -> PolyloomError:
    if outcome.never:
        help = "dependences of negative delay are deadlines: relax one, or raise the limit of a resource"
        return infeasible("PL0988", "the operations have no schedule at any interval", notes=_notes(bounds), help=help)
    if limit is not None:
        message = f"no schedule with an interval of at most {limit} was found by '{solver.name}'"
        return infeasible(
            "PL0988", message, notes=_notes(bounds), help="allow a longer interval, or raise the limit of a resource"
        )
    help = "take the solver 'exact'" if solver is not EXACT else "allow more work"
    return infeasible(
        "PL0989",
        f"no schedule was found by '{solver.name}', and none is known not to exist",
        notes=_notes(bounds),
        help=help,
    )
