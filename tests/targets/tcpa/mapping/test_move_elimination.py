# SPDX-License-Identifier: Apache-2.0
"""Moves go where units of moves bound the interval, and nowhere else; results keep their bits."""

from __future__ import annotations

from pathlib import Path

import pytest

import polyloom as pl
from polyloom.frontend.pla import parse
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.map.dependence_graph import build_graph
from polyloom.targets.tcpa.map.move_elimination import eliminate_moves
from polyloom.targets.tcpa.words import symbolic_file
from polyloom.targets.tcpa.words.phases import stages

KERNELS = Path(__file__).parents[4] / "examples" / "kernels"
SUMS = """parameter N >= 1, M >= 1
input s: i32, a[N, M]: i32
output y[N]: i32
for 0 <= i < N and 0 <= j < M do
  c[i, j] = s[] if i = 0 and j = 0
  c[i, j] = c[i-1, j] if i >= 1 and j = 0
  c[i, j] = c[i, j-1] if j >= 1
  P: p[i, j] = a[i, j] * c[i, j]
  F: t[i, j] = p[i, j] + 1 if j = 0
  T: t[i, j] = t[i, j-1] + p[i, j] if j >= 1
  y[i] = t[i, j] if j = M - 1
"""


def moves(text: str, machine: str) -> list[str]:
    graph = eliminate_moves(build_graph(parse(text, "sums.pla")), machine_file.load(machine))
    return [str(e.target.name) for e in graph.equations if e.operation == "move"]


def test_an_output_is_computed_where_its_value_is() -> None:
    """A part of each writer is that of the output; the parts of one equation share its instruction."""
    graph = eliminate_moves(build_graph(parse(SUMS, "sums.pla")), machine_file.load("generic"))
    outputs = [(e.name, e.operation) for e in graph.equations if e.target.name == "y"]
    assert outputs == [("F.1", "add"), ("T.1", "add")]
    assert moves(SUMS, "generic") == ["c", "c", "c"]


def test_a_value_that_others_read_keeps_its_move() -> None:
    assert "y" in moves(SUMS.replace("if j = M - 1", "if j = 0"), "generic")


@pytest.mark.parametrize("machine", ["wide", "unit"])
def test_moves_that_bound_nothing_stay(machine: str) -> None:
    assert "y" in moves(SUMS, machine)


@pytest.mark.parametrize(("kernel", "intervals"), [("gemm", [4]), ("mm2", [4, 6]), ("atax", [3, 3]), ("syrk", [4])])
def test_a_product_of_what_is_handed_on_is_handed_on(kernel: str, intervals: list[int]) -> None:
    """`alpha * A[i, k]` is computed once and handed on along j, in the place of both; alpha is read at the border."""
    compiled = pl.compile(KERNELS / f"{kernel}.py", on="tcpa:generic")
    files = map(symbolic_file.decode, stages.phase_files(compiled.data))
    assert [file.schedules[0].initiation_interval for file in files] == intervals
    sizes = dict.fromkeys(compiled.parameters, 7)
    assert compiled.instantiate(sizes, pes=(2, 3)).run().verdict == "equal bits"
