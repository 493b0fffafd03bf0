# SPDX-License-Identifier: Apache-2.0
"""Values of loops as numbers: a tile reads them from arrays that the host lays out, in phases of vector code, in stages
of loops, and beside integers. What comes out has the source's bits, or is within its bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options as Reading
from polyloom.ir.arrays.program import Form, Store
from polyloom.targets.subject import Written
from polyloom.targets.tensix.map.loops.form import FORM
from polyloom.targets.tensix.map.phases.compile import arrange_content
from polyloom.targets.tensix.map.phases.vector_nest import vectorize
from polyloom.targets.tensix.options import Options

N, M = pl.sizes("N M")


@pl.kernel
def running(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(1, N):
        y[i] = y[i - 1] * 0.5 + i * x[i]


@pl.kernel
def stencil(x: pl.f32[N], y: pl.f32[N]) -> None:
    for t in range(3):
        for i in range(1, N - 1):
            y[i] = (x[i - 1] + x[i + 1]) * 0.5 + (N - i) * x[i]
        for i in range(1, N - 1):
            x[i] = y[i] - t


@pl.kernel
def places(x: pl.i32[N, M], k: pl.i32, y: pl.i32[N, M]) -> None:
    for i in range(1, N):
        for j in range(M):
            y[i, j] = y[i - 1, j] + ((5000 * i - j) if j < k else x[i, j])


@pl.kernel
def largest(A: pl.i32[N, M], best: pl.i32[N], at: pl.i32[N]) -> None:
    for i in range(N):
        best[i] = A[i, 0]
        at[i] = 0
        for j in range(1, M):
            at[i] = j if A[i, j] > best[i] else at[i]
            best[i] = max(best[i], A[i, j])


@pl.kernel
def argmax(x: pl.f32[N, M], y: pl.i32[N]) -> None:
    y[:] = np.argmax(x, axis=1)


@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        (running, {"N": 21}),
        (running, {"N": 1}),
        (stencil, {"N": 70}),
        (places, {"N": 4, "M": 37}),
        (largest, {"N": 5, "M": 9}),
        (argmax, {"N": 3, "M": 12}),
    ],
)
def test_phases_compute_with_values_of_loops(kernel: Any, sizes: dict[str, int]) -> None:
    ran = pl.compile(kernel, on="tensix").run(sizes)
    stages: Any = ran.data["stages"]
    assert ran.verified and stages[0]["what"] == "phases"


@pl.kernel
def scaled(x: pl.f32[N, M], k: pl.f32, y: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            y[i, j] = (2 * i + 3 * j) * x[i, j] if j < k else i


@pl.kernel
def numbered(y: pl.i32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            y[i, j] = 1000 * i - j


@pytest.mark.parametrize("kernel", [scaled, numbered])
def test_formulas_of_values_of_loops_are_stages(kernel: Any) -> None:
    ran = pl.compile(kernel, on="tensix").run(N=40, M=33)
    stages: Any = ran.data["stages"]
    assert ran.verified and stages[0]["what"] == "element-wise"


def test_values_of_loops_are_rounded_in_16_bits() -> None:
    ran = pl.compile(scaled, on="tensix", format="bf16").run(N=40, M=33)
    assert ran.verified and ran.data["format"] == "bf16"


def c_kernel(folder: Path, body: str, parameters: str) -> Any:
    file = folder / "f.c"
    file.write_text(f"void f({parameters}) {{ {body} }}\n")
    return pl.compile(str(file), on="tensix")


def test_integers_of_loops_are_converted(tmp_path: Path) -> None:
    """Sizes tell that floats hold the products, and how large they are."""
    body = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = (float)(i * j - 3) / n;"
    compiled = c_kernel(tmp_path, body, "int n, int m, float A[n][m]")
    ran = compiled.run(n=6, m=20)
    i, j = np.indices((6, 20))
    assert ran.verified
    np.testing.assert_array_equal(ran.outputs["A"], ((i * j - 3).astype(np.float32) / np.float32(6)))


def test_integers_that_floats_do_not_hold_are_refused(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) A[i] = (float)(i * 500 * i);"
    compiled = c_kernel(tmp_path, body, "int n, float A[n]")
    assert compiled.run(n=20).verified
    with pytest.raises(PolyloomError) as error:
        compiled.run(n=400)
    assert error.value.code == "PL1232" and "exact up to 2^24" in str(error.value)


def test_values_beside_narrow_integers_are_compared(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) y[i] = i < k[i] ? x[i] : (float)i;"
    compiled = c_kernel(tmp_path, body, "int n, const float x[n], const short k[n], float y[n]")
    assert compiled.run(n=50).verified


@pl.kernel
def rounded(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(1, N):
        y[i] = y[i - 1] + 30000001 * i * x[i]


def test_values_above_2_24_are_those_of_the_type() -> None:
    """A value of a loop is rounded once, as in the source: 30000001 * 3 is no float."""
    ran = pl.compile(rounded, on="tensix").run({"N": 5}, x=np.ones(5, np.float32), y=np.zeros(5, np.float32))
    assert ran.verified
    np.testing.assert_array_equal(ran.outputs["y"][1:3], np.array([30000001, 30000001 + 60000002], np.float32))


def laid_out(kernel: Any, **sizes: int) -> dict[str, list[int]]:
    """Arrays of values of loops, by name."""
    content: Any = FORM.load(Written(kernel, Reading()), None, Options()).content
    found = vectorize(arrange_content(content, sizes)).indices
    assert found is not None
    made = dict[str, list[int]]()
    for store in found.body:
        assert isinstance(store, Store) and isinstance(store.value, Form)
        count = store.target.shape[0].constant
        made[store.target.name] = [store.value.value.evaluate({"$0": n}) for n in range(count)]
    return made


def test_lanes_are_neighbours_in_their_array() -> None:
    """5000 i - j descends along the lanes of j; forms of one difference whose values overlap share an array."""
    assert sorted(laid_out(stencil, N=9).values()) == [[0, 1, 2], [8, 7, 6, 5, 4, 3, 2]]
    assert sorted(laid_out(places, N=3, M=4).values()) == [[0, -1, -2, -3], [0, 1, 2, 3], [5000, 10000]]
