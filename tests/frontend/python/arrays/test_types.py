# SPDX-License-Identifier: Apache-2.0
"""Types of whole arrays are NumPy's (NEP 50): results of integers equal NumPy's exactly, and have its types where a
machine has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python import load_kernel
from polyloom.frontend.python.arrays.values import as_items
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir import nest_interpret

HEADER = """import numpy as np
import polyloom as pl

N = pl.size("N")


@pl.kernel
def f(a: pl.i8[N], b: pl.i16[N], c: pl.i32[N], d: pl.u8[N], e: pl.u32[N], m: pl.bool[N], x: pl.f32[N], z: pl.f64[N]):
    return """

EXPRESSIONS = (
    "a + b",
    "a * 2",
    "a + a",
    "d - d * 3",
    "a // 3",
    "b % 7",
    "c >> 2",
    "c << 3",
    "~d",
    "~m",
    "-a",
    "c & 12 | b",
    "c ^ b",
    "np.abs(b)",
    "c / 2",
    "c * x",
    "a * x",
    "x + 1",
    "x + 0.1",
    "x * z",
    "a + 0.5",
    "m + a",
    "m & (a > 0)",
    "m ^ (x > 0)",
    "m * m",
    "a < b",
    "a == d",
    "c > x",
    "b.max()",
    "a.min()",
    "np.minimum(a, b)",
    "np.maximum(c, 5)",
    "np.clip(c, -20, 20)",
    "np.where(m, a, b)",
    "np.where(m, 1.0, x)",
    "np.where(m, x, 0)",
    "c ** 2",
    "a.astype(np.int32) * 1000",
    "c.astype(np.int8)",
    "c.astype(np.float32)",
    "a.sum(dtype=np.int32)",
    "c.sum().astype(np.int32)",
    "np.sum(b).astype(np.int16)",
    "c.prod(dtype=np.int32)",
    "np.cumsum(b, dtype=np.int32)",
    "m.sum()",
    "np.argmax(c)",
    "np.argmin(x)",
    "c.mean()",
    "np.dot(a, a)",
    "np.dot(c, b)",
    "np.sign(c)",
    "np.any(m), np.all(m)",
    "np.arange(3)",
    "np.arange(N) * 0.5",
    "np.arange(N, dtype=np.float32) / N",
    "np.zeros(N) + x",
    "np.ones_like(d) + 255",
    "np.full(N, 7)",
    "np.full(N, 2.5)",
    "np.array([1, 2, 3], np.int16) * 2",
    "np.array([0.5, 1.5])",
    "np.sqrt(2.0) * x",
    "np.float32(0.1) * x",
    "2 * N + c",
    "e + 1",
    "e // 3",
    "np.concatenate((a, b))",
    "np.stack((d, e))",
    "len(x) * x",
    "float(N) * x",
    "x // 1 if False else x",
)


WIDE = ("np.arange(N) * c", "c.sum() + c.sum()", "c.sum() / 2", "c.sum() > 3", "x * c.sum()", "e.sum()", "np.cumsum(c)")
NANS = (
    "x.max()",
    "np.min(x)",
    "np.maximum(x, z)",
    "np.minimum(1.0, x)",
    "np.clip(x, -1, 1)",
    "x.argmax()",
    "x.argmin()",
)


def arrays(size: int) -> dict[str, Any]:
    generator = np.random.default_rng(3)
    kinds = {"a": np.int8, "b": np.int16, "c": np.int32, "d": np.uint8, "e": np.uint32}
    found: dict[str, Any] = {
        name: generator.integers(max(np.iinfo(k).min, -(2**20)), min(np.iinfo(k).max, 2**20), size, k)
        for name, k in kinds.items()
    }
    found["m"] = generator.integers(0, 2, size).astype(np.bool_)
    found["x"] = generator.integers(-8, 9, size).astype(np.float32) / np.float32(4)
    found["z"] = generator.integers(-8, 9, size) / 4
    return found


def kernel_of(expression: str, folder: Path) -> Kernel:
    path = folder / "f.py"
    path.write_text(HEADER + expression + "\n", encoding="utf-8")
    return load_kernel(str(path))


@pytest.mark.parametrize("expression", WIDE)
def test_what_needs_64_bits_is_refused(expression: str, tmp_path: Path) -> None:
    with pytest.raises(PolyloomError, match="64 bits in NumPy") as caught:
        assert kernel_of(expression, tmp_path).nest
    assert caught.value.code == "PL0139" and "dtype=" in (caught.value.diagnostics[0].help or "")


@pytest.mark.parametrize("expression", NANS)
@pytest.mark.parametrize("place", [0, 2, 5])
def test_nans_propagate(expression: str, place: int, tmp_path: Path) -> None:
    given = arrays(6)
    given["x"][place] = np.nan
    check(kernel_of(expression, tmp_path), given, expression)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_integers_equal_numpy(expression: str, tmp_path: Path) -> None:
    check(kernel_of(expression, tmp_path), arrays(6), expression)


def check(kernel: Kernel, given: dict[str, Any], expression: str) -> None:
    ordered = kernel.reference({"N": 6}, given)
    empty = {name: np.zeros_like(array) for name, array in ordered.items()}
    found = nest_interpret.interpret(kernel.nest, {"N": 6}, {**empty, **given})
    with np.errstate(all="ignore"):
        expected = as_items(kernel(**{name: array.copy() for name, array in given.items()}))
    for name, want in zip(kernel.arrays.results, expected, strict=True):
        got, wanted = found[name], np.asarray(want)
        assert np.array_equal(ordered[name], got, equal_nan=got.dtype.kind == "f")
        # Whole numbers of 64 bits that 32 bits hold are i32.
        assert got.dtype == wanted.dtype or (wanted.dtype == np.int64 and got.dtype in (np.int32, np.float64))
        same = wanted.astype(np.int32) if wanted.dtype == np.int64 and got.dtype == np.int32 else wanted
        assert np.array_equal(got.reshape(wanted.shape), same, equal_nan=got.dtype.kind == "f"), expression
