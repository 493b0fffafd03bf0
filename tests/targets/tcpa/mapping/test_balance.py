# SPDX-License-Identifier: Apache-2.0
"""Integer additions move to multipliers where that lowers the bound on the initiation interval, and nowhere else."""

from __future__ import annotations

import pytest

from polyloom.frontend.pla import parse
from polyloom.ir.pla import Constant, Equation
from polyloom.ir.rdg import Graph
from polyloom.modulo.guards.bounds import resource_minimum
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.map.dependence_graph import build_graph
from polyloom.targets.tcpa.map.schedule import build_problem, safe_distance
from polyloom.targets.tcpa.map.unit_balancing import balance_units

TEXT = """parameter N >= 1
input a[N]: i32, b[N]: i32
output y[N]: i32
for 0 <= i < N do
  p[i] = a[i] * b[i]
  s[i] = p[i] if i = 0
  S: s[i] = s[i-1] + p[i] if i >= 1
  R: r[i] = (s[i] + 64) shr 7
  Z: z[i] = r[i] + 3
  y[i] = z[i]
"""


def moved(text: str, machine: str) -> list[str]:
    """The equations that became a multiply-add by one."""
    before = build_graph(parse(text, "sums.pla"))
    after = balance_units(before, machine_file.load(machine))
    pairs = zip(before.equations, after.equations, strict=True)
    names = [old.name for old, new in pairs if old.operation != new.operation]
    assert all(e.operation == "madd" and e.operands[1] == Constant(1, "i32") for e in _named(after, names))
    return names


def _named(graph: Graph, names: list[str]) -> list[Equation]:
    return [e for e in graph.equations if e.name in names]


def test_one_addition_moves() -> None:
    graph, machine = build_graph(parse(TEXT, "sums.pla")), machine_file.load("wide")
    after = balance_units(graph, machine)
    assert resource_minimum(build_problem(graph, machine, safe_distance)).value == 2
    assert resource_minimum(build_problem(after, machine, safe_distance)).value == 1
    assert moved(TEXT, "wide") == ["R.1"]


@pytest.mark.parametrize("machine", ["paper", "generic"])
def test_units_that_do_both_gain_nothing(machine: str) -> None:
    assert not moved(TEXT, machine)


def test_what_fits_stays() -> None:
    assert not moved(TEXT.replace("r[i] + 3", "max(r[i], 3)"), "wide")


def test_what_no_multiplier_is_free_for_stays() -> None:
    assert not moved(TEXT.replace("y[i] = z[i]", "y[i] = z[i] + a[i]"), "wide")


def test_floats_stay() -> None:
    assert not moved(TEXT.replace("i32", "f32").replace(" shr 7", " * 0.5"), "wide")
