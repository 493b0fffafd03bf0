# SPDX-License-Identifier: Apache-2.0
"""Integers on a tile: products, shifts, order and division by powers of two, of which the unit has no instruction, and
narrow types, which lie in L1 as INT32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polyloom as pl
from polyloom.targets.tensix.map.loops.integers.operations import LEFT, PRODUCT, RIGHT, integer_operation
from polyloom.targets.tensix.map.loops.lanes import Computed

ENDS = np.array([0, 1, 2, -1, -2, 2**31 - 1, -(2**31), 2047, 2048, -2048, 1 << 22, 3 << 21], np.int64)
TEXT = """void mixed(int n, signed char a[n], unsigned short b[n], int c[n], unsigned d[n], short y[n], int z[n],
           unsigned w[n]) {
  for (int i = 0; i < n; i++) {
    y[i] = a[i] * b[i] + (c[i] >> (a[i] & 31));
    z[i] = c[i] < (int)d[i] ? c[i] / 8 : c[i] % 16;
    w[i] = (d[i] >> 3) + (d[i] < (unsigned)c[i]) + (d[i] << (a[i] & 7));
  }
}
"""


@pytest.mark.parametrize("name", [PRODUCT, LEFT, RIGHT])
def test_programs_of_operations(name: str) -> None:
    random = np.random.default_rng(1)
    a = np.concatenate([np.repeat(ENDS, len(ENDS)), random.integers(-(2**31), 2**31, 4080)])
    b = np.concatenate([np.tile(ENDS, len(ENDS)), random.integers(-(2**31), 2**31, 4080)])
    words = [x[: len(a) // 32 * 32].astype(np.int32).view(np.uint32).reshape(-1, 32) for x in (a, b)]
    found = integer_operation(Computed(words[0].shape), name, *words)
    x, y = (each.view(np.int32) for each in words)
    expected = {PRODUCT: lambda: x * y, LEFT: lambda: x << (y & 31), RIGHT: lambda: x >> (y & 31)}[name]()
    assert np.array_equal(np.asarray(found).view(np.int32), expected)


def test_narrow_types_and_all_operations(tmp_path: Path) -> None:
    path = tmp_path / "mixed.c"
    path.write_text(TEXT, encoding="utf-8")
    random = np.random.default_rng(2)
    given = {
        "n": 40,
        "a": random.integers(-128, 128, 40).astype(np.int8),
        "b": random.integers(0, 1 << 16, 40).astype(np.uint16),
        "c": random.integers(-(2**31) + 1, 2**31, 40).astype(np.int32),
        # Sign and magnitude have no -2**31.
        "d": random.integers(0, 1 << 32, 40).astype(np.uint32),
    }
    result = pl.compile(path, on="tensix").run(given)
    assert result.verified and [result.outputs[name].dtype for name in "yzw"] == [np.int16, np.int32, np.uint32]


def test_functions_of_the_library_are_the_unit_s_own(tmp_path: Path) -> None:
    path = tmp_path / "soft.c"
    path.write_text(
        "#include <math.h>\nvoid soft(int n, const float x[n], float y[n]) {\n  float sum = 0.0f;\n"
        "  for (int i = 0; i < n; i++) { y[i] = expf(x[i]); sum += y[i]; }\n"
        "  for (int i = 1; i < n; i++) y[i] = y[i - 1] + logf(y[i]) / sum;\n}\n",
        encoding="utf-8",
    )
    result = pl.compile(path, on="tensix").run(n=12, x=np.linspace(-3, 3, 12, dtype=np.float32))
    assert result.verified and 0 < float(str(result.data["bound"])) < 1e-3
