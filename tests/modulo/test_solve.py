# SPDX-License-Identifier: Apache-2.0
"""The solvers against enumeration of all schedules, and what they say."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from random import Random
from time import thread_time

import pytest
from hypothesis import given, settings
from tests.modulo.brute import is_valid, problems, schedules

from polyloom.cli.bench import modulo_graphs
from polyloom.diagnostics import PolyloomError
from polyloom.modulo.exact import decide
from polyloom.modulo.placement import Case
from polyloom.modulo.problem import (
    Capacity,
    Choice,
    Dependence,
    Hold,
    Operation,
    Problem,
    Resource,
    Solution,
    Use,
    validate,
)
from polyloom.modulo.solve import EXACT, ITERATIVE, SOLVERS, TORUS, Solver, solve


def on(name: str, *resources: int, latency: int = 1, busy: int = 1) -> Operation:
    return Operation(name, tuple(Choice((Use(r, busy),), latency) for r in resources))


UNIT = (Resource("u"),)
ALIGNED = Problem(
    # a and b must start in the same cycle, on one unit.
    (on("a", 0), on("b", 0)),
    UNIT,
    (Dependence(0, 1, delay=-1), Dependence(1, 0, delay=-1)),
)
JAMMED = Problem(
    # At 2 the recurrence leaves no slack, so c starts two cycles after a, in its row of their common unit.
    (on("a", 0), on("b", 1), on("c", 0, latency=2)),
    (Resource("u"), Resource("v")),
    (Dependence(0, 1), Dependence(1, 2), Dependence(2, 0, 2)),
)


def attempt(problem: Problem, solver: Solver) -> Solution | str:
    try:
        return solve(problem, solver)
    except PolyloomError as error:
        assert error.exit_code == 3
        return error.code


@settings(max_examples=60)
@given(problems(3))
def test_every_schedule_holds_and_the_exact_one_is_minimal(problem: Problem) -> None:
    exact = attempt(problem, EXACT)
    if isinstance(exact, str):
        assert exact in ("PL0985", "PL0986", "PL0987", "PL0988")
        assert not any(next(schedules(problem, interval, 8), None) for interval in (1, 2, 4, 9))
    else:
        assert exact.proved
        assert not any(next(schedules(problem, less, 8), None) for less in range(1, exact.schedule.interval))
    for solver in SOLVERS.values():
        found = attempt(problem, solver)
        if isinstance(found, str):
            assert found == exact or (solver is not EXACT and found == "PL0989")
            continue
        assert isinstance(exact, Solution)
        assert is_valid(problem, found.schedule)
        assert min(found.schedule.start) == 0
        assert found.schedule.interval >= exact.schedule.interval >= found.minimum
        assert found.minimum >= max(found.resource.value, found.recurrence.value)


@settings(max_examples=30)
@given(problems(3))
def test_each_interval_is_decided_right(problem: Problem) -> None:
    try:
        validate(problem)
    except PolyloomError:
        return
    for interval in (1, 2, 3, 5):
        decision = decide(Case(problem), interval, 1.0)
        assert decision.is_infeasible != (decision.schedule is not None)
        if decision.schedule is not None:
            assert decision.schedule.interval == interval
            assert is_valid(problem, decision.schedule)
        else:
            assert next(schedules(problem, interval, 7), None) is None


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_the_same_problem_has_the_same_answer(solver: Solver) -> None:
    for seed in range(4):
        for family in (modulo_graphs.sparse, modulo_graphs.tight):
            assert solve(family(seed), solver, effort=1) == solve(family(seed), solver, effort=1)


@pytest.mark.parametrize("family", [modulo_graphs.sparse, modulo_graphs.tight])
def test_solvers_are_as_good_as_they_are_said_to_be(family: type) -> None:
    """A small sample of `polyloom bench modulo`; a check of every schedule is part of solving."""
    made = [family(seed) for seed in range(20)]
    assert all(modulo_graphs.LEAST <= len(p.operations) <= modulo_graphs.MOST for p in made)
    exact = [solve(p, EXACT) for p in made]
    assert sum(s.proved for s in exact) >= 19
    for solver, share in ((ITERATIVE, 17), (TORUS, 0)):
        found = [solve(p, solver).schedule.interval for p in made]
        assert all(f >= e.schedule.interval for f, e in zip(found, exact, strict=True))
        assert sum(f == e.schedule.interval for f, e in zip(found, exact, strict=True)) >= share


def test_thousands_of_operations_take_seconds() -> None:
    problem = modulo_graphs.sparse(7, 2500, 6000)
    assert len(problem.operations) == 2500
    assert len(problem.dependences) == 6000
    start = thread_time()
    solution = solve(problem, ITERATIVE)
    assert thread_time() - start < 10
    assert solution.proved


def test_a_circuit_of_a_thousand_operations() -> None:
    random = Random(3)
    operations = tuple(on(f"n{v}", random.randrange(2), latency=random.randint(1, 4)) for v in range(1200))
    ring = tuple(Dependence(v, (v + 1) % 1200, int(v == 1199) * 5) for v in range(1200))
    solution = solve(Problem(operations, (Resource("a", 3), Resource("b", 3)), ring), ITERATIVE)
    assert solution.minimum <= solution.schedule.interval <= solution.minimum + 2


def test_reasons() -> None:
    single = Problem((on("a", 0, latency=3),), UNIT)
    assert solve(single).bound_by == "nothing: an iteration starts in every cycle"
    assert solve(single, at_least=3).bound_by == "an interval of at least 3 was asked for"
    two = solve(Problem((on("a", 0, latency=0), on("b", 0)), UNIT, (Dependence(0, 1, delay=1), Dependence(1, 0, 1))))
    assert two.bound_by == "u: 2 rows for 2 operations, 1 at a time (a, b) and a -> b -> a (latency 2, distance 1)"
    jammed = solve(JAMMED)
    assert (jammed.schedule.interval, jammed.minimum, jammed.proved) == (3, 3, True)
    assert (jammed.resource.value, jammed.recurrence.value) == (2, 2)
    assert jammed.bound_by == (
        "resources and circuits together: a search found that no interval below 3 has a schedule;"
        " 2 by u: 2 rows for 2 operations, 1 at a time (a, c); 2 by a -> b -> c -> a (latency 4, distance 2)"
    )
    alone = solve(JAMMED, ITERATIVE)
    assert (alone.schedule.interval, alone.minimum, alone.proved) == (3, 2, False)
    assert alone.bound_by.startswith("the solver: intervals from 2 on are not excluded; 2 by u")
    assert solve(JAMMED, feasible=True) == replace(alone, solver="exact")
    assert solve(JAMMED, effort=0).minimum == 2


def test_busy_beyond_the_interval_counts_a_row_repeatedly() -> None:
    long = Problem((on("a", 0, busy=7),), (Resource("d", 3),))
    assert solve(long).schedule.interval == 3
    assert solve(replace(long, resources=(Resource("d", 4),))).schedule.interval == 2
    assert solve(replace(long, resources=(Resource("d", None),))).schedule.interval == 1


def test_a_load_chooses_its_latency() -> None:
    # The load may be issued long before the store whose value it reads; it then waits in one of two stations.
    operations = (
        Operation("load", (Choice((Use(0),), 3, 20),)),
        Operation("store", (Choice((Use(0),)),)),
        on("work", 1, latency=9),
    )
    dependences = (
        Dependence(0, 2, distance=1),
        Dependence(2, 1),
        Dependence(1, 0, 1, delay=1, latency=1, to_result=True),
    )
    stations = Capacity("stations", 2, (Hold(0),))
    problem = Problem(operations, (Resource("port"), Resource("unit")), dependences, (stations,))
    solution = solve(problem)
    assert solution.proved
    assert is_valid(problem, solution.schedule)
    assert solution.schedule.latency[0] <= 2 * solution.schedule.interval
    fixed = solve(replace(problem, operations=(Operation("load", (Choice((Use(0),), 20),)), *operations[1:])))
    assert fixed.schedule.interval > solution.schedule.interval


def test_choices_of_different_latency() -> None:
    # Two results a round trip must be quick, which only one unit offers; the third takes the slow one.
    quick = Operation("q", (Choice((Use(1),), 4), Choice((Use(0),), 1)))
    problem = Problem(
        (quick, quick, quick), (Resource("fast"), Resource("slow")), (Dependence(0, 1), Dependence(1, 0, 1))
    )
    solution = solve(problem)
    assert (solution.schedule.interval, solution.schedule.choice) == (2, (1, 1, 0))


def test_deadlines_may_leave_no_schedule() -> None:
    with pytest.raises(PolyloomError, match="the operations have no schedule at any interval") as caught:
        solve(ALIGNED)
    assert (caught.value.code, caught.value.exit_code) == ("PL0988", 3)
    with pytest.raises(PolyloomError, match="take the solver 'exact'") as caught:
        solve(ALIGNED, TORUS)
    assert (caught.value.code, caught.value.exit_code) == ("PL0989", 3)
    two = replace(ALIGNED, resources=(Resource("u", 2),))
    assert all(solve(two, solver).schedule.interval == 1 for solver in SOLVERS.values())


def test_limits_on_the_interval() -> None:
    assert solve(JAMMED, at_least=5).schedule.interval == 5
    with pytest.raises(PolyloomError) as caught:
        solve(JAMMED, limit=2)
    assert caught.value.code == "PL0988"
    assert "no schedule with an interval of at most 2" in str(caught.value)
    with pytest.raises(PolyloomError) as caught:
        solve(Problem((on("a", 0, busy=10**6),) * 17, UNIT))
    assert caught.value.code == "PL0989"


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (Problem(()), "there is no operation"),
        (Problem((Operation("a", ()),)), "operation a has no choice"),
        (Problem((on("a", 1),), UNIT), "names a resource that does not exist"),
        (Problem((on("a", 0, busy=-1),), UNIT), "holds a resource for less than 0"),
        (Problem((Operation("a", (Choice((), -1),)),)), "has a latency below 0"),
        (Problem((Operation("a", (Choice((), 3, 2),)),)), "has a latency below 0"),
        (Problem((on("a", 0),), UNIT, (Dependence(0, 1),)), "names an operation that does not exist"),
        (Problem((on("a", 0),), UNIT, (Dependence(0, 0, -1),)), "distance below 0"),
        (Problem((on("a", 0),), UNIT, (Dependence(0, 0, 1, delay=10**7),)), "beyond 1000000"),
        (Problem((on("a", 0),), UNIT, (), (Capacity("c", 1, (Hold(1),)),)), "the capacity c names"),
        (Problem((on("a", 0),), UNIT, (), (Capacity("c", 1, (Hold(0, -1),)),)), "the capacity c is held"),
    ],
)
def test_malformed_problems_are_refused(problem: Problem, message: str) -> None:
    with pytest.raises(PolyloomError, match=message) as caught:
        solve(problem)
    assert (caught.value.code, caught.value.exit_code) == ("PL0450", 1)


def test_an_operation_that_nothing_executes() -> None:
    problem = Problem(
        (on("a", 0), Operation("b", (Choice((Use(1),)), Choice((Use(0), Use(0)))))),
        (Resource("u"), Resource("none", 0)),
    )
    with pytest.raises(PolyloomError, match="nothing can execute b: the limits are none: 0, u: 1") as caught:
        solve(problem)
    assert (caught.value.code, caught.value.exit_code) == ("PL0986", 3)


def test_a_schedule_at_the_bound_does_not_load_the_search() -> None:
    program = (
        "import sys\nfrom polyloom.modulo.problem import *\nfrom polyloom.modulo.solve import solve\n"
        "solve(Problem((Operation('a', (Choice((Use(0),)),)),), (Resource('u'),)))\nassert 'ortools' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
