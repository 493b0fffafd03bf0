# SPDX-License-Identifier: Apache-2.0
"""Operations of Python kernels on belts, with and without floating point, and on a small RISC-V: a run compares them
with the kernel and with the interpreter of SSA form, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import polyloom as pl
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import FLOATS, ElementType

PLACES: Final = ("belt:silver", "belt:tin", "riscv:rv32gc")
TYPES: Final[tuple[ElementType, ...]] = ("i8", "i16", "i32", "u8", "u16", "u32", "f32", "f64")
KERNELS: Final = """import polyloom as pl
N = pl.size("N")


@pl.kernel
def operations(a: pl.{t}[N], b: pl.{t}[N], c: pl.{t}[N], y: pl.{t}[N], z: pl.i32[N]) -> None:
    for i in range(N):
        y[i] = {expression}
        z[i] = pl.i32(a[i]) if a[i] < b[i] and c[i] != a[i] or b[i] >= c[i] else i - 3


@pl.kernel
def conversions(a: pl.{t}[N], c: pl.{t}[N], h: pl.f16[N], g: pl.f16[N], w: pl.bool[N], x: pl.{n}[N]) -> None:
    for i in range(N):
        a[i] = pl.{t}(pl.to_f32(h[i]))
        g[i] = pl.to_f16(pl.f32(c[i]))
        w[i] = a[i] > c[i]
        x[i] = pl.{n}(c[i])
"""
INTEGER: Final = (
    "((a[i] + b[i] * c[i]) ^ (a[i] - (b[i] & c[i]))) + (a[i] // b[i]) - (c[i] % b[i]) + (a[i] << 3) - (c[i] >> 2)"
    " + min(a[i], c[i]) * max(b[i], a[i]) + abs(c[i])"
)
FLOAT: Final = (
    "(a[i] + b[i] * c[i]) - a[i] / b[i] + min(a[i], c[i]) * max(b[i], a[i]) + abs(c[i])"
    " + (pl.sqrt(a[i]) if a[i] > 0 else -b[i])"
)


# Belts take longest: by default each has every width of integers with one sign, which is not the other one's.
SELDOM: Final = {
    *((dtype, "belt:tin") for dtype in ("u8", "i16", "u32")),
    *((dtype, "belt:silver") for dtype in ("i8", "u16", "i32")),
}


@pytest.mark.parametrize(
    ("dtype", "on"),
    [
        pytest.param(dtype, on, marks=pytest.mark.long if (dtype, on) in SELDOM else ())
        for dtype in TYPES
        for on in PLACES
    ],
)
def test_operations_on_machines(dtype: ElementType, on: str, tmp_path: Path) -> None:
    path, other = tmp_path / "f.py", "u16" if dtype in FLOATS else "f64"
    is_float = dtype in FLOATS
    path.write_text(KERNELS.format(t=dtype, n=other, expression=FLOAT if is_float else INTEGER), encoding="utf-8")
    random, kind, size = np.random.default_rng(4), NUMPY[dtype], 24
    if is_float:
        a, b, c = (random.normal(0, 1e4, size).astype(kind) for _ in range(3))
        a[:6] = 0.0, -0.0, np.inf, -np.inf, np.nan, 70000.0
        c[3:8] = np.nan, 65520.0, 6e-8, -2.9e-8, 1.00048828125
    else:
        known = np.iinfo(kind)
        a, b, c = (random.integers(known.min, known.max, size, kind, endpoint=True) for _ in range(3))
        a[:2], b[:2] = (known.min, known.max), (kind.type(-1 if known.min else 1), 3)
        b[b == 0] = 5
    h = random.integers(0, 1 << 16, size, np.uint16).view(np.float16)
    given: dict[str, dict[str, Any]] = {"operations": {"a": a, "b": b, "c": c}, "conversions": {"c": c, "h": h}}
    for name, inputs in given.items():
        result = pl.compile(f"{path}:{name}", on=on).run(N=size, **inputs, fill="random")
        assert result.verified
        assert result.data["compared_with"] == ["interpreter", "source"]
