# SPDX-License-Identifier: Apache-2.0
"""The solver against enumeration of all schedules, and its messages."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest
from hypothesis import given, settings
from tests.modulo.guarded.brute import Operation, Unit, cost, guarded, is_valid, problems, schedules

from polyloom.diagnostics import PolyloomError
from polyloom.modulo import problem as modulo
from polyloom.modulo.cp_sat import cp_model
from polyloom.modulo.guards import solve as solve_module
from polyloom.modulo.guards.problem import Guarded, Short
from polyloom.modulo.guards.solve import search, solve
from polyloom.modulo.problem import Choice, Dependence, Resource, Use

BITS = guarded(
    # The running example of the paper: x = input or the shifted x of before, y = x >> 1, z = x & 1, on two generic
    # units.
    tuple(Operation(f"S{n}", (0, 1), (1, 1)) for n in (1, 2, 3, 4)),
    (Unit("alu0"), Unit("alu1")),
    (Dependence(0, 2, 0), Dependence(1, 2, 0), Dependence(0, 3, 0), Dependence(1, 3, 0), Dependence(2, 1, 1)),
    aligned=((0, 1),),
    exclusive=frozenset({(0, 1)}),
    short=(Short(0, 2), Short(1, 2), Short(0, 3), Short(1, 3)),
    spans=(((2, 1),),),
)


@settings(max_examples=40)
@given(problems(3))
def test_the_interval_is_minimal_and_the_schedule_the_best(problem: Guarded) -> None:
    try:
        solution = solve(problem)
    except PolyloomError as error:
        assert error.diagnostics[0].code in ("PL0452", "PL0453")
        assert not any(next(schedules(problem, pi, 10), None) for pi in range(1, 11))
        return
    pi, found = solution.initiation_interval, (solution.start, solution.unit)
    assert solution.proved
    assert solution.minimum <= pi
    assert min(solution.start) == 0
    assert is_valid(problem, pi, found)
    assert not any(next(schedules(problem, less, 10), None) for less in range(1, pi))
    assert cost(problem, pi, found) <= min(cost(problem, pi, other) for other in schedules(problem, pi, 10))


@settings(max_examples=15)
@given(problems(5))
def test_the_same_problem_has_the_same_answer(problem: Guarded) -> None:
    try:
        once = solve(problem)
        search.cache_clear()
        assert solve(problem) == once
    except PolyloomError as error:
        assert error.exit_code == 3


def test_the_running_example_of_the_paper() -> None:
    solution = solve(BITS)
    assert (solution.initiation_interval, solution.minimum, solution.proved) == (2, 2, True)
    assert (
        solution.bound_by
        == "2 units {alu0, alu1} for 3 operations S1, S3, S4 and S2 -> S3 -> S2 (latency 2, distance 1)"
    )
    assert solution.start == (0, 0, 1, 1)


def test_reasons() -> None:
    single = guarded((Operation("a", (0,), (3,)),), (Unit("add0"),))
    assert solve(single).bound_by == "nothing: an iteration starts in every cycle"
    assert solve(single, at_least=3).bound_by == "an initiation interval of at least 3 was asked for"
    # At pi = 2 the recurrence leaves no slack, so c starts two cycles after a, in its slot of their common unit.
    operations = Operation("a", (0,), (1,)), Operation("b", (1,), (1,)), Operation("c", (0,), (2,))
    jammed = solve(
        guarded(operations, (Unit("u"), Unit("v")), (Dependence(0, 1, 0), Dependence(1, 2, 0), Dependence(2, 0, 2)))
    )
    assert (jammed.initiation_interval, jammed.minimum, jammed.proved) == (3, 2, True)
    assert jammed.bound_by == (
        "units and recurrences together: at 2 no schedule exists; 1 unit {u} for 2 operations a, c; a -> b -> c -> a "
        "(latency 4, distance 2)"
    )


def test_malformed_and_unsolvable_problems_are_refused() -> None:
    def message(problem: Guarded, limit: int | None = None) -> str:
        with pytest.raises(PolyloomError) as caught:
            solve(problem, limit=limit)
        return str(caught.value)

    one = guarded((Operation("a", (0,), (2,)),), (Unit("u"),), (Dependence(0, 0, 1),))

    def but(**changes: object) -> Guarded:
        return replace(one, problem=replace(one.problem, **changes))

    def choices(*found: Choice) -> Guarded:
        return but(operations=(modulo.Operation("a", found),))

    assert message(choices()).startswith("error[PL0451]: no unit executes operation a")
    assert message(choices(Choice((Use(1),)))).startswith("error[PL0450]")
    assert message(choices(Choice())).startswith("error[PL0450]")
    assert message(choices(Choice((Use(0),)), Choice((Use(0),), 2))).startswith("error[PL0450]")
    assert message(choices(Choice((Use(0),), 0))).startswith("error[PL0450]")
    assert message(but(dependences=(Dependence(0, 1, 0),))).startswith("error[PL0450]")
    assert message(but(dependences=(Dependence(0, 0, -1),))).startswith("error[PL0450]")
    assert message(but(dependences=(Dependence(0, 0, 1, delay=1),))).startswith("error[PL0450]")
    assert message(but(resources=(Resource("u", 2),))).startswith("error[PL0450]")
    assert message(one, limit=1) == (
        "error[PL0453]: no schedule with an initiation interval of at most 1\n"
        "note: no initiation interval below 1: 1 unit {u} for 1 operation a\n"
        "note: no initiation interval below 2: a -> a (latency 2, distance 1)\n"
        "help: allow a larger one (at least 2), or add units to the machine"
    )
    rivals = guarded((Operation("a", (0,), (1,)), Operation("b", (0,), (1,))), (Unit("u"),), aligned=((0, 1),))
    assert message(rivals).startswith("error[PL0453]: the operations have no schedule at any initiation interval")


def test_a_search_that_is_given_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether there is a schedule is then not known, and a larger limit alone is no advice."""
    monkeypatch.setattr(solve_module, "PLACES", 0)
    two = guarded((Operation("a", (0,), (1,)), Operation("b", (0,), (1,))), (Unit("u"),))
    split = "split the function into smaller ones that pass values in arrays, or choose a machine with more units"
    for limit, most, help in ((None, 2, split), (3, 3, f"allow a larger one (at least 4), or {split}")):
        with pytest.raises(PolyloomError) as caught:
            solve(two, limit=limit)
        found = caught.value.diagnostics[0]
        begin = "the search was given up: no schedule with an initiation interval of at most"
        assert (found.code, found.message, found.help) == ("PL0453", f"{begin} {most} was found", help)
        assert found.notes[0].startswith("whether there is one is not known")


def test_no_operations() -> None:
    assert solve(guarded((), ())).initiation_interval == 1


def test_a_search_leaves_interrupts_to_python() -> None:
    """The solver's own handler would end the search with what it has, and the process at the next interrupt."""
    search.cache_clear()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        solve(BITS)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_intervals_grow_by_a_part_where_the_search_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def give_up(problem: Guarded, pi: int, effort: float) -> tuple[cp_model.CpSolverStatus, None]:
        tried.append(pi)
        return cp_model.UNKNOWN, None

    monkeypatch.setattr("polyloom.modulo.guards.solve.search", give_up)
    problem = guarded((Operation("a", (0,), (1,)),), (Unit("u"),))
    with pytest.raises(PolyloomError, match="the search was given up"):
        solve(problem, at_least=32, limit=51)
    assert tried == [32, 34, 36, 38, 40, 42, 44, 46, 48, 51]
