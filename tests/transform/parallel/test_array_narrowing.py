# SPDX-License-Identifier: Apache-2.0
"""Narrowing of arrays: words that hold widened bytes are stored as bytes where products alone read them; results stay
the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom.frontend.c import load
from polyloom.frontend.source import Options
from polyloom.ir.nest_interpret import interpret
from polyloom.transform.parallel.restructuring.array_narrowing import narrow_arrays

HEAD = """void f(int N, const signed char x[N], const unsigned char y[N], const signed char w[N][N],
       int c[N], int d[N]) {
  int t[N];
"""
BYTES = "  for (int i = 0; i < N; i++) t[i] = x[i];\n"
WORD = "  t[2] = 1000;\n"
OTHERS = "  for (int i = 3; i < N; i++) t[i] = y[i];\n"
LOOP = "  for (int i = 0; i < N; i++) d[i] = t[i] + 1;\n"
PRODUCT = """  for (int j = 0; j < N; j++) {
    c[j] = 0;
    for (int k = 0; k < N; k++) c[j] += t[k] * w[k][j];
  }
"""
CASES = {
    "a factor alone": (BYTES + PRODUCT, "i8"),
    "also read by another loop": (BYTES + PRODUCT + LOOP, "i32"),
    "also written as a word": (BYTES + WORD + PRODUCT, "i32"),
    "also written from other bytes": (BYTES + OTHERS + PRODUCT, "i32"),
    "also added": (BYTES + PRODUCT.replace("t[k] *", "t[k] + t[k] *"), "i32"),
}


@pytest.mark.parametrize("name", CASES)
def test_values_stay(name: str, tmp_path: Path) -> None:
    text, dtype = CASES[name]
    file = tmp_path / "f.c"
    file.write_text(f"{HEAD}{text}}}\n")
    nest, _ = load(str(file), Options())
    made = narrow_arrays(nest)
    assert made["t"].dtype == dtype
    random = np.random.default_rng(0)
    given = {
        "x": np.array([-128, -7, 0, 3, 126, 127, -1], np.int8),
        "y": np.array([255, 254, 128, 127, 2, 1, 0], np.uint8),
        "w": random.integers(-128, 128, (7, 7)).astype(np.int8),
        **{name: np.zeros(7, np.int32) for name in "cd"},
    }
    found, wanted = (interpret(each, {"N": 7}, given) for each in (made, nest))
    assert all(np.array_equal(found[n], wanted[n]) for n in wanted)
