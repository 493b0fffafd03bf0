# SPDX-License-Identifier: Apache-2.0
"""Loops by `best` are never worse than by `exact` or `torus`, and their mean interval is near its bound."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

from polyloom import api
from polyloom.cli.bench.belt import interval_ratio
from polyloom.cli.bench.hexagon import compiled_facts
from polyloom.cli.bench.loops import loops

FIR5 = """#include <stdint.h>
void fir5(int n, const int16_t x[restrict n + 4], const int16_t h[restrict 5], int32_t y[restrict n]) {
  for (int i = 0; i < n; i++) {
    int32_t s = 0;
    for (int k = 0; k < 5; k++) s += x[i + k] * h[k];
    y[i] = s >> 3;
  }
}
"""


def test_fir5(tmp_path: Any) -> None:
    path = tmp_path / "fir5.c"
    path.write_text(FIR5, encoding="utf-8")
    made: Any = api.compile(str(path), "belt:silver")
    assert made.target.made(made.data)["initiation_interval"] == 3
    assert made.run(n=20).verified


@pytest.mark.parametrize("member", ["silver", pytest.param("copper", marks=pytest.mark.long)])
def test_the_better_one_is_kept(member: str) -> None:
    for loop in tuple(loops())[::8]:
        found = [
            [f["initiation_interval"] for f in compiled_facts(loop, f"belt:{member}", solver=solver)["loops"]]
            for solver in ("best", "exact", "torus")
        ]
        for best, exact, torus in zip(*found, strict=True):
            assert best is not None and best == min(x for x in (exact, torus) if x is not None), loop.name


@pytest.mark.parametrize(
    ("member", "most", "step"),
    [
        ("silver", 1.06, 4),
        *(pytest.param(member, most, 1, marks=pytest.mark.long) for member, most in (("silver", 1.06), ("gold", 1.03))),
    ],
)
def test_the_mean_interval_over_its_bound(member: str, most: float, step: int) -> None:
    some = tuple(loops())[::step]
    facts = [f for loop in some for f in compiled_facts(loop, f"belt:{member}")["loops"] if f["pipelined"]]
    assert len(facts) >= len(some)
    assert fmean(map(interval_ratio, facts)) <= most


def test_nested_choices_share_no_predicate() -> None:
    """Five grades in one sum: as predicates of a hyperblock they took an iteration every 5 cycles."""
    grades = next(loop for loop in loops() if loop.name == "grades")
    assert compiled_facts(grades, "belt:silver")["initiation_interval"] <= 4
