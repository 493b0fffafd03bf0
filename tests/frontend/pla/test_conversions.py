# SPDX-License-Identifier: Apache-2.0
"""Conversions, and the element types that are only converted: their meaning in equations and in Python kernels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import parse
from polyloom.ir.interpret import interpret
from polyloom.ir.numbers import NUMPY
from polyloom.ir.semantics import apply

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

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


INTEGRAL = ("i8", "i16", "i32", "u8", "u16", "u32")
MACHINES = {
    "tcpa:unit:1x1": ("f32", "f64"),
    "riscv:rv64gc": ("f32", "f64"),
    "riscv:rv32gc": ("f32", "f64"),
    "riscv:rv64gc_zicond_zbb": ("f32", "f64"),
    "belt:gold": ("f32", "f64"),
    "belt:tin": ("f32", "f64"),
    "minion:1": ("f32",),
}
"""The types of floats that a machine has."""
TRUNCATED = """
import polyloom as pl
N = pl.size("N")
@pl.kernel
def truncated(x: pl.{source}[N], y: pl.{to}[N]) -> None:
    for i in range(N):
        y[i] = pl.{to}(x[i])
"""


def truncated(value: float, least: int, most: int) -> int:
    """The rule: toward zero, the nearest number of the type, 0 for a NaN."""
    return 0 if math.isnan(value) else most if value >= most else least if value <= least else int(value)


def floats(source: str) -> Any:
    """Not numbers, what is next to the limits of every type, and random bits."""
    limits = [float(limit) for to in INTEGRAL for limit in (np.iinfo(NUMPY[to]).min, np.iinfo(NUMPY[to]).max)]
    near = [limit + by for limit in (*limits, 0.0) for by in (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)]
    beyond = [np.nan, -np.nan, np.inf, -np.inf, 256.0, 3.4e38, -3.4e38, -0.0, 1e-40]
    kind = np.dtype(NUMPY[source])  # pyright: ignore[reportArgumentType]: a type's name
    made = np.array([*beyond, *near, *(2 * limit for limit in limits)], kind)
    neighbours = [np.nextafter(made[len(beyond) :], to, dtype=kind) for to in (kind.type(np.inf), kind.type(-np.inf))]
    random = np.random.default_rng(3).integers(0, 1 << 8 * kind.itemsize, 64, np.uint64).astype(f"u{kind.itemsize}")
    return np.concatenate([made, *neighbours, random.view(kind)])


@pytest.mark.parametrize(
    ("on", "to"), [(on, to) for on in MACHINES for to in INTEGRAL if (on, to) != ("minion:1", "u32")]
)
def test_a_float_beyond_an_integer_saturates_on_every_machine(on: str, to: str, tmp_path: Path) -> None:
    """Equal to the rule, and, since the run compares, to the interpreter and to the function itself."""
    limits = np.iinfo(NUMPY[to])  # pyright: ignore[reportArgumentType]: a type's name
    for source in MACHINES[on]:
        file = tmp_path / f"{source}_{to}.py"
        file.write_text(TRUNCATED.format(source=source, to=to))
        x = floats(source)
        with np.errstate(all="ignore"):
            result = pl.compile(str(file), on=on).run({"x": x}, N=len(x))
        expected = [truncated(float(value), limits.min, limits.max) for value in x]
        assert result.outputs["y"].tolist() == expected
        assert result.verdict == "equal bits"


def test_no_arithmetic_on_stored_types() -> None:
    with pytest.raises(PolyloomError) as error:
        parse(TEXT.replace("a[N]: u8", "a[N]: f16").replace("to_i32(a[i])", "to_i32(a[i] + a[i])"), "text")
    assert error.value.code == "PL0208"
