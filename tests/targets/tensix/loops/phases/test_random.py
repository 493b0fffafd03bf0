# SPDX-License-Identifier: Apache-2.0
"""Random nests as phases of vector code: shifted, triangular and backward loops over matrices and vectors, of floats
and integers; bits equal the tile's arithmetic, and the program is within its bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import polyloom as pl

ELEMENTS = (
    "A[i][j]",
    "A[i + 1][j]",
    "A[i][j + 1]",
    "A[i - 1][j - 1]",
    "B[j][i]",
    "B[i][0]",
    "B[2][j]",
    "v[j]",
    "v[i]",
    "s",
)
TARGETS = ("A[i][j]", "B[i][j]", "v[j]", "C[j][i]", "C[i][j + 1]")
BOUNDS = (("1", "m - 1"), ("1", "i + 1"), ("i", "m - 1"), ("2", "m - 2"))


@st.composite
def statements(draw: st.DrawFn, kind: str) -> str:
    read = st.sampled_from(ELEMENTS)
    value = f"{draw(read)} {draw(st.sampled_from('+-*'))} {draw(read)} + {draw(read)}"
    low, high = draw(st.sampled_from(BOUNDS))
    return f"for (int j = {low}; j < {high}; j++) {draw(st.sampled_from(TARGETS))} = {value};"


@st.composite
def nests(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["float", "float", "int"]))
    body = draw(st.lists(statements(kind), min_size=1, max_size=3))
    i = draw(st.sampled_from(["int i = 1; i < m - 1; i++", "int i = m - 2; i >= 1; i--"]))
    arrays = f"{kind} A[m][m], {kind} B[m][m], {kind} C[m][m], {kind} v[m], {kind} s"
    return f"void nest(int m, {arrays}) {{ for ({i}) {{ {' '.join(body)} }} }}\n"


@settings(max_examples=5, deadline=None, phases=[Phase.explicit, Phase.generate])  # shrinking runs the tile for minutes
@given(nests(), st.integers(0, 100))
def test_random_nests(tmp_path_factory: pytest.TempPathFactory, text: str, seed: int) -> None:
    file: Path = tmp_path_factory.mktemp("nest") / "nest.c"
    file.write_text(text)
    assert pl.compile(file, on="tensix").run({"m": 7}, seed=seed).verified
