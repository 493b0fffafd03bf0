# SPDX-License-Identifier: Apache-2.0
"""The bounds' values against enumeration, and their explanations."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.modulo.brute import problems, schedules

from polyloom.diagnostics import PolyloomError
from polyloom.modulo.bounds import circuit_members, recurrence_bound, resource_bound
from polyloom.modulo.graph import Arc
from polyloom.modulo.problem import Capacity, Choice, Dependence, Hold, Operation, Problem, Resource, Use, validate
from polyloom.modulo.recurrence import critical_circuit
from polyloom.modulo.solve import solve


def on(name: str, *resources: int, latency: int = 1, busy: int = 1) -> Operation:
    """An operation with a choice of resources."""
    return Operation(name, tuple(Choice((Use(r, busy),), latency) for r in resources))


UNITS = tuple(Resource(f"u{n}") for n in range(3))


@settings(max_examples=50)
@given(problems(3))
def test_no_bound_is_above_an_interval_that_has_a_schedule(problem: Problem) -> None:
    try:
        validate(problem)
        bound = max(resource_bound(problem).value, recurrence_bound(problem).value)
    except PolyloomError as error:
        assert error.exit_code == 3
        bound = 9
    assert not any(next(schedules(problem, interval, 8), None) for interval in range(1, min(bound, 9)))


@given(st.integers(0, 10**6))
def test_the_critical_circuit_has_the_greatest_ratio_of_all(seed: int) -> None:
    random = Random(seed)
    count = random.randint(1, 5)
    ends = [(random.randrange(count), random.randrange(count)) for _ in range(random.randint(1, 10))]
    arcs = [Arc(a, b, random.randint(-3, 5), random.randint(0, 2)) for a, b in ends]
    ratios = [
        (sum(a.weight for a in c), sum(a.distance for a in c)) for n in range(count) for c in _circuits(arcs, n, [])
    ]
    found = critical_circuit(count, arcs)
    if any(weight > 0 and distance == 0 for weight, distance in ratios):
        assert found is not None
        assert (found.weight > 0, found.distance) == (True, 0)
        return
    best = max((Fraction(weight, distance) for weight, distance in ratios if distance), default=Fraction(0))
    assert (found is not None) == (best > 0)
    if found is not None:
        assert Fraction(found.weight, found.distance) == best
        assert all(a.sink == b.source for a, b in zip(found.arcs, (*found.arcs[1:], found.arcs[0]), strict=True))
        assert found.arcs == tuple(arcs[n] for n in found.numbers)


def _circuits(arcs: list[Arc], first: int, trail: list[Arc]) -> list[list[Arc]]:
    """Simple circuits whose least point is `first`."""
    at = trail[-1].sink if trail else first
    found: list[list[Arc]] = []
    for arc in arcs:
        if arc.source != at:
            continue
        if arc.sink == first:
            found.append([*trail, arc])
        elif arc.sink > first and all(arc.sink != a.sink for a in trail):
            found += _circuits(arcs, first, [*trail, arc])
    return found


def test_choices_that_overlap_are_bounded_by_their_union() -> None:
    # Each unit alone would do with 2 rows; four operations share u0 and u1 with one that must have u0.
    operations = (on("a", 0), *(on(f"b{n}", 0, 1) for n in range(4)), on("c", 1, 2))
    bound = resource_bound(Problem(operations, UNITS))
    assert (bound.value, bound.members) == (3, (0, 1, 2, 3, 4))
    assert bound.reason == "u0, u1: 5 rows for 5 operations, 2 at a time (a, b0, b1, b2, b3)"


def test_busy_operations_and_several_at_once() -> None:
    divider = Problem((on("q", 0, busy=12, latency=12), on("r", 0, busy=3)), UNITS)
    assert resource_bound(divider).reason == "u0: 15 rows for 2 operations, 1 at a time (q (busy 12), r (busy 3))"
    # Busy beyond the interval: 7 cycles need 4 of two units' rows, 3 would count a row three times.
    assert resource_bound(Problem((on("q", 0, busy=7),), (Resource("d", 2),))).value == 4
    both = Problem((Operation("m", (Choice((Use(0), Use(1))),)), on("x", 1)), UNITS)
    assert resource_bound(both).reason == "u1: 2 rows for 2 operations, 1 at a time (m, x)"
    assert resource_bound(Problem((on("free", 0),), (Resource("any", None),))).reason == "no limited resource"


def test_capacities() -> None:
    loads = tuple(Operation(f"l{n}", (Choice((), 3, 20),)) for n in range(4))
    stations = Capacity("stations", 6, tuple(Hold(n) for n in range(4)))
    bound = resource_bound(Problem(loads, capacities=(stations,)))
    # 3 rows: one place each. 2 rows: two each, which are 8.
    assert (bound.value, bound.reason) == (3, "stations: 6 places for 4 operations that hold one for 12 cycles in all")
    few = Capacity("stations", 3, stations.holds)
    with pytest.raises(
        PolyloomError, match="no interval is long enough: 4 operations hold stations, of which there are 3"
    ) as caught:
        resource_bound(Problem(loads, capacities=(few,)))
    assert (caught.value.code, caught.value.exit_code) == ("PL0987", 3)


def test_recurrences_name_the_circuit() -> None:
    halves = Problem((on("a", 0, latency=3), on("b", 1, latency=4)), UNITS, (Dependence(0, 1), Dependence(1, 0, 2)))
    assert (recurrence_bound(halves).value, recurrence_bound(halves).reason) == (
        4,
        "a -> b -> a (latency 7, distance 2)",
    )
    itself = Problem((on("a", 0, latency=3),), UNITS, (Dependence(0, 0, 2, delay=2),))
    assert (recurrence_bound(itself).value, recurrence_bound(itself).reason) == (3, "a -> a (latency 5, distance 2)")
    assert recurrence_bound(Problem((on("a", 0),), UNITS)).reason == "no circuit of dependences that takes time"
    # The faster choice decides, and the longest latency where a result waits.
    quick = Operation("q", (Choice((Use(0),), 5), Choice((Use(1),), 2)))
    assert recurrence_bound(Problem((quick,), UNITS, (Dependence(0, 0, 1),))).value == 2
    load = Operation("l", (Choice((), 3, 7),))
    late = Problem(
        (load, on("s", 0, latency=4)),
        UNITS,
        (Dependence(0, 1, latency=0), Dependence(1, 0, 1, delay=10, to_result=True)),
    )
    assert recurrence_bound(late).reason == "l -> s -> l (latency 7, distance 1)"


def test_a_circuit_within_one_iteration_is_refused() -> None:
    loop = Problem(
        (on("a", 0), on("b", 1, latency=0)), UNITS, (Dependence(0, 1), Dependence(1, 0), Dependence(0, 0, 1))
    )
    with pytest.raises(PolyloomError) as caught:
        recurrence_bound(loop)
    assert (caught.value.code, caught.value.exit_code) == ("PL0985", 3)
    assert "a -> b -> a (latency 1, distance 0)" in str(caught.value)
    assert circuit_members(loop) == ("a", "b")
    # Without time it is no fault: both start in the same cycle.
    chained = Problem((on("a", 0, latency=0), on("b", 1, latency=0)), UNITS, (Dependence(0, 1), Dependence(1, 0)))
    assert solve(chained).schedule.start == (0, 0)


def test_one_circuit_of_thousands_is_found_fast() -> None:
    count = 2500
    random = Random(1)
    ring = [Arc(v, (v + 1) % count, random.randint(1, 9), int(v == count - 1)) for v in range(count)]
    chords = [
        Arc(a, b, random.randint(1, 9), random.randint(1, 3))
        for a, b in (random.sample(range(count), 2) for _ in range(3500))
    ]
    start = thread_time()
    found = critical_circuit(count, [*ring, *chords])
    assert found is not None
    assert found.weight >= found.distance * Fraction(sum(a.weight for a in ring))
    assert thread_time() - start < 5
