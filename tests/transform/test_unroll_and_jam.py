# SPDX-License-Identifier: Apache-2.0
"""Unroll-and-jam, and the shift of an epilogue: the equations mean what they meant, whatever the extents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyloom.frontend.pla import parse
from polyloom.ir import pla_verify
from polyloom.ir.interpret import interpret
from polyloom.ir.pla import Program
from polyloom.transform.pla.loop_shifting import shift_epilogue
from polyloom.transform.pla.unroll_and_jam import unroll_and_jam

PRODUCT = """parameter N >= 1, M >= 1, K >= 1
input a[N, K]: f32, b[K, M]: f32, x[N, M]: f32
output y[N, M]: f32
for 0 <= i < N and 0 <= j < M and 0 <= k < K do
  u[i, j, k] = a[i, k] if j = 0
  u[i, j, k] = u[i, j - 1, k] if j >= 1
  v[i, j, k] = b[k, j] if i = 0
  v[i, j, k] = v[i - 1, j, k] if i >= 1
  p[i, j, k] = u[i, j, k] * v[i, j, k]
  s[i, j, k] = 0.0 + p[i, j, k] if k = 0
  s[i, j, k] = s[i, j, k - 1] + p[i, j, k] if k >= 1
  r[i, j, k] = x[i, j] + s[i, j, k] if k = K - 1
  y[i, j] = r[i, j, k] if k = K - 1
"""
STENCIL = """parameter N >= 1, M >= 1, K >= 1
input a[N, M]: f32
output y[N, M]: f32
for 0 <= i < N and 0 <= j < M do
  s[i, j] = a[i, j] if i = 0
  s[i, j] = s[i - 1, j] + a[i, j] if i >= 1 and j < 2
  s[i, j] = s[i - 1, j - 2] * a[i, j] if i >= 1 and 2 <= j < M - 1
  s[i, j] = s[i - 1, j] + s[i, j - 1] if i >= 1 and j = M - 1 and j >= 2
  y[i, j] = s[i, j]
"""
FACES = """parameter N >= 1, M >= 1, K >= 1
input a[N, M]: f32
output y[N]: f32
for 0 <= i < N and 0 <= j < M do
  s[i, j] = a[i, j] if j = M - 1
  s[i, j] = s[i, j + 1] + a[i, j] if j < M - 1
  r[i, j] = s[i, j] * s[i, j] if j = 0
  q[i, j] = r[i, j] + s[i, j] if j = 0
  y[i] = q[i, j] if j = 0
"""


def outputs(program: Program, sizes: tuple[int, int, int]) -> bytes:
    n, m, k = sizes
    random, shapes = np.random.default_rng(n + m + k), {"a": (n, k), "b": (k, m), "x": (n, m)}
    shapes = {**shapes, "a": (n, m)} if len(program.inputs) == 1 else shapes
    arrays = {a.name: random.standard_normal(shapes[a.name]).astype(np.float32) for a in program.inputs}
    return interpret(program, dict(zip("NMK", sizes, strict=True)), arrays)["y"].tobytes()


extents = st.tuples(*(st.integers(1, 4) for _ in range(3)))


@settings(max_examples=15)
@given(st.sampled_from([(PRODUCT, d) for d in "ijk"] + [(STENCIL, d) for d in "ij"]), st.integers(2, 3), extents)
def test_bits_stay(case: tuple[str, str], factor: int, sizes: tuple[int, int, int]) -> None:
    program = parse(case[0], "case.pla")
    made = unroll_and_jam(program, case[1], factor)
    pla_verify.verify(made)
    assert outputs(made, sizes) == outputs(program, sizes)


@pytest.mark.parametrize("factor", [2, 3])
def test_copies_without_iterations_leave_no_variables(factor: int) -> None:
    program = parse(FACES, "faces.pla")
    made = unroll_and_jam(program, "j", factor)
    pla_verify.verify(made)
    # Of what is computed on a constant face alone, the copy of that face is the only one.
    assert {"r", "q"} <= {v.name for v in made.variables}
    assert len(made.variables) == factor + 2
    assert all(outputs(made, (2, m, 1)) == outputs(program, (2, m, 1)) for m in range(1, 5))


@settings(max_examples=8)
@given(st.sampled_from("ij"), extents)
def test_bits_stay_with_a_shifted_epilogue(dimension: str, sizes: tuple[int, int, int]) -> None:
    program = parse(PRODUCT, "product.pla")
    shifted = shift_epilogue(program, "k")
    assert shifted is not None
    for made in (shifted, unroll_and_jam(shifted, dimension, 2)):
        pla_verify.verify(made)
        assert outputs(made, sizes) == outputs(program, sizes)


def test_what_copies_share_is_handed_on_once() -> None:
    made = unroll_and_jam(parse(PRODUCT, "product.pla"), "j", 2)
    # The element of `a` is that of both copies: neither has a move to the other.
    assert [e.target.name for e in made.equations if e.target.name.startswith("u")] == ["u", "u"]
    assert len(made.equations) == 2 * 9 - 2


@pytest.mark.parametrize("dimension", ["i", "j"])
def test_without_an_epilogue_nothing_is_shifted(dimension: str) -> None:
    assert shift_epilogue(parse(PRODUCT, "product.pla"), dimension) is None
