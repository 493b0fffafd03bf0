# SPDX-License-Identifier: Apache-2.0
"""Conversions, and the element types that are only converted: their meaning in equations and in Python kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import parse
from polyloom.ir.interpret import interpret
from polyloom.ir.semantics import apply

TEXT = """
parameter N >= 1
input a[N]: u8, w[N]: i8, h[N]: f16
output y[N]: u8, z[N]: f16
for 0 <= i < N do
  y[i] = satu8(round_i32(to_f32(to_i32(a[i]) * to_i32(w[i])) * 0.25))
  z[i] = to_f16(to_f32(h[i]) * 2.0)
"""
N = pl.size("N")


@pl.kernel
def quantised(a: pl.u8[N], w: pl.i8[N], s: pl.f32, y: pl.i8[N]) -> None:
    for i in range(N):
        t = pl.to_i32(a[i]) * pl.to_i32(w[i]) + 3
        y[i] = pl.sat8(pl.round_i32(pl.to_f32(t) * s))


def test_equations() -> None:
    inputs = {
        "a": np.array([0, 255, 7, 9], np.uint8),
        "w": np.array([1, -2, 3, 127], np.int8),
        "h": np.array([1, 2, 3, 40000], np.float16),
    }
    found = interpret(parse(TEXT, "text"), {"N": 4}, inputs)
    assert (found["y"].dtype, found["y"].tolist()) == (np.uint8, [0, 0, 5, 255])
    assert (found["z"].dtype, found["z"].tolist()) == (np.float16, [2.0, 4.0, 6.0, np.inf])


def test_kernel() -> None:
    a, w, y = np.array([0, 255, 7, 9], np.uint8), np.array([1, -2, 3, 127], np.int8), np.zeros(4, np.int8)
    inputs: dict[str, Any] = {"a": a, "w": w, "s": np.float32(0.3), "y": y}
    assert quantised.reference({"N": 4}, inputs)["y"].tolist() == [1, -128, 7, 127]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 0), (1.5, 2), (-2.5, -2), (3e9, 2**31 - 1), (-3e9, -(2**31)), (np.nan, 2**31 - 1), (np.inf, 2**31 - 1)],
)
def test_rounding_to_integers(value: float, expected: int) -> None:
    assert int(apply("round_i32", "f32", [np.array([value], np.float32)])[0]) == expected


@pytest.mark.parametrize(("value", "low", "high"), [(-129, -128, 0), (127, 127, 127), (128, 127, 128), (256, 127, 255)])
def test_saturation(value: int, low: int, high: int) -> None:
    operand = [np.array([value], np.int32)]
    assert (int(apply("sat8", "i32", operand)[0]), int(apply("satu8", "i32", operand)[0])) == (low, high)


def test_no_arithmetic_on_stored_types() -> None:
    with pytest.raises(PolyloomError) as error:
        parse(TEXT.replace("a[N]: u8", "a[N]: f16").replace("to_i32(a[i])", "to_i32(a[i] + a[i])"), "text")
    assert error.value.code == "PL0208"
