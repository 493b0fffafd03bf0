# SPDX-License-Identifier: Apache-2.0
"""The drawn cycle of dependences is the one that the reason names, and its arithmetic gives the bound."""

from __future__ import annotations

import pytest
from tests.report.conftest import ROOT

import polyloom as pl
from polyloom.report.parts.bound import bound
from polyloom.targets.report import Circuit, Report
from polyloom.targets.tcpa.run.grid_drawing import parse_circuit


@pytest.mark.parametrize(
    ("reason", "operations"),
    [
        ("1 unit {add} for 3 operations and S2 -> S3 -> S2 (latency 2, distance 1)", ("S2", "S3")),
        ("S2.1 -> S2.1 (latency 3, distance 1)", ("S2.1",)),
        ("a -> b ~> c -> a (latency 19, distance 2; ~> a register keeps the value)", ("a", "b", "c")),
        ("nothing: an iteration starts in every cycle", None),
    ],
)
def test_it_is_read_from_the_reason(reason: str, operations: tuple[str, ...] | None) -> None:
    found = parse_circuit(reason)
    assert (found.operations if found is not None else None) == operations


def test_it_is_drawn_with_its_bound() -> None:
    drawn = bound(Report(bound="a -> b -> a", circuit=Circuit(("a", "b"), 5, 2)))
    assert drawn.count('class="box"') == 2
    assert "5 cycles around, 2 iterations later: at least 3 cycles per iteration." in drawn
    many = Circuit(tuple(f"S{n}" for n in range(30)), 30, 1)
    assert bound(Report(bound="long", circuit=many)).count('class="box"') == 7


def test_the_drawn_bound_is_that_of_the_schedule() -> None:
    made = pl.compile(ROOT / "examples" / "kernels" / "lcs.py", on="tcpa:2x2").run(N=4, M=4)
    (view,) = made.views
    assert view.circuit is not None
    assert set(view.circuit.operations) <= {o.name for o in view.operations}
    bound = -(-view.circuit.latency // view.circuit.distance)
    assert made.data["minimum_initiation_interval"] == bound
