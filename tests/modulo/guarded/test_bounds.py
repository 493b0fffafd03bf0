# SPDX-License-Identifier: Apache-2.0
"""The bounds' values against enumeration, and their explanations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from tests.modulo.guarded.brute import Operation, Unit, guarded, problems, schedules

from polyloom.diagnostics import PolyloomError
from polyloom.modulo.guards.bounds import recurrence_minimum, resource_minimum
from polyloom.modulo.guards.problem import Guarded, Short
from polyloom.modulo.problem import Dependence, Problem


def alu(name: str, latency: int = 1) -> Operation:
    return Operation(name, (0, 1), (latency, latency))


ALUS = (Unit("alu0"), Unit("alu1"))


@settings(max_examples=60)
@given(problems())
def test_resource_minimum_is_the_first_interval_that_packs(problem: Guarded) -> None:
    bare = Guarded(Problem(problem.operations, problem.units), exclusive=problem.exclusive)
    value = resource_minimum(problem).value
    assert next(pi for pi in range(1, 20) if next(schedules(bare, pi, pi), None)) == value


@settings(max_examples=60)
@given(problems(3))
def test_recurrence_minimum_is_the_first_interval_without_units(problem: Guarded) -> None:
    # Every operation alone on a pipelined unit: only dependences, alignment and short lives are left.
    alone = tuple(Operation(o.name, (n,), problem.unit_latencies(n)[:1]) for n, o in enumerate(problem.operations))
    names = tuple(Unit(o.name) for o in problem.operations)
    free = replace(problem, problem=replace(guarded(alone, names).problem, dependences=problem.dependences))
    try:
        value = recurrence_minimum(free).value
    except PolyloomError as error:
        assert error.diagnostics[0].code == "PL0452"
        assert not any(next(schedules(free, pi, 10), None) for pi in (1, 5, 9))
        return
    assert next(pi for pi in range(1, 20) if next(schedules(free, pi, 10), None)) == value


def test_resources_name_units_and_operations() -> None:
    shared = guarded((alu("S1"), alu("S2"), alu("S3"), alu("S4")), ALUS, exclusive=frozenset({(0, 1)}))
    assert resource_minimum(shared).value == 2
    assert resource_minimum(shared).reason == "2 units {alu0, alu1} for 3 operations S1, S3, S4"
    divider = guarded((Operation("q", (0,), (12,)),), (Unit("div0", pipelined=False),))
    assert resource_minimum(divider).reason == "1 unit {div0} for 1 operation q (blocks 12 cycles)"


def test_a_packing_tighter_than_every_clique_is_explained_by_a_core() -> None:
    # The exclusions form a ring of five: no three operations are pairwise in conflict, yet two units do not suffice.
    ring = frozenset((i, (i + 1) % 5) for i in range(5))
    bound = resource_minimum(guarded(tuple(alu(f"S{i}") for i in range(5)), ALUS, exclusive=ring))
    assert (bound.value, bound.reason) == (2, "2 units {alu0, alu1} for 5 operations S0, S1, S2, S3, S4")


def test_recurrences_name_the_cycle() -> None:
    accumulate = guarded((alu("Y", 4),), ALUS, (Dependence(0, 0, 1),))
    assert recurrence_minimum(accumulate).reason == "Y -> Y (latency 4, distance 1)"
    halves = guarded((alu("a", 3), alu("b", 4)), ALUS, (Dependence(0, 1, 0), Dependence(1, 0, 2)))
    assert recurrence_minimum(halves).value == 4
    assert recurrence_minimum(halves).reason == "a -> b -> a (latency 7, distance 2)"
    merged = guarded(
        (alu("a"), alu("b"), alu("c", 2)), ALUS, (Dependence(0, 2, 0), Dependence(2, 1, 1)), aligned=((0, 1),)
    )
    assert recurrence_minimum(merged).reason == "a -> c -> b = a (latency 3, distance 1)"
    chain = (Dependence(0, 1, 0), Dependence(1, 2, 0), Dependence(0, 2, 0))
    kept = guarded((alu("a"), alu("b", 3), alu("c")), ALUS, chain, short=(Short(0, 2),))
    assert recurrence_minimum(kept).value == 4
    assert (
        recurrence_minimum(kept).reason
        == "a -> b -> c ~> a (latency 4, distance 1; ~> a register keeps the value for less than one interval)"
    )
    assert recurrence_minimum(guarded((alu("a"),), ALUS)).reason == "no recurrence"


def test_a_cycle_within_one_iteration_is_refused() -> None:
    with pytest.raises(PolyloomError) as caught:
        recurrence_minimum(guarded((alu("a"), alu("b")), ALUS, (Dependence(0, 1, 0),), aligned=((0, 1),)))
    assert caught.value.exit_code == 3
    assert str(caught.value) == (
        "error[PL0452]: operations wait for each other within one iteration: a -> b = a\nhelp: let at least one of "
        "these values come from an earlier iteration"
    )
