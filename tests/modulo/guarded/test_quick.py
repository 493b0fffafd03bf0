# SPDX-License-Identifier: Apache-2.0
"""Quick schedules: what they find is valid, and an operation without a place gets one in a later try."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.modulo.guarded.brute import Operation, Unit, guarded, is_valid, problems

from polyloom.modulo.guards import quick
from polyloom.modulo.guards.problem import Guarded
from polyloom.modulo.problem import Dependence


@given(problems(), st.integers(1, 6))
def test_what_is_found_is_valid(problem: Guarded, pi: int) -> None:
    found = quick.schedule_by_slack(problem, pi)
    assert found is None or is_valid(problem, pi, found)


def test_who_found_no_place_chooses_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """One unit, always busy: b and c, placed first with d between them, leave no three cycles in a row for a."""
    operations = (
        Operation("b", (0,), (1,)),
        Operation("d", (1,), (1,)),
        Operation("c", (0,), (1,)),
        Operation("a", (0,), (3,)),
    )
    units = Unit("u", pipelined=False), Unit("v", pipelined=False)
    problem = guarded(operations, units, (Dependence(0, 1, 0), Dependence(1, 2, 0)))
    found = quick.schedule_by_slack(problem, 5)
    assert found is not None
    assert is_valid(problem, 5, found)
    monkeypatch.setattr(quick, "TRIES", 1)
    assert quick.schedule_by_slack(problem, 5) is None


def test_values_flow_forward_where_nothing_is_bounded_above() -> None:
    """Products of one unit that one operation uses: at its lower bound it would leave no time for them."""
    count = 30
    products = tuple(Operation(f"p{n}", (0,), (1,)) for n in range(count))
    uses = tuple(Dependence(n, count, 0) for n in range(count))
    problem = guarded((*products, Operation("sink", (1,), (1,))), (Unit("multiplier"), Unit("adder")), uses)
    found = quick.schedule_by_slack(problem, count)
    assert found is not None
    assert is_valid(problem, count, found)
