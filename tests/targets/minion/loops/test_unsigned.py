# SPDX-License-Identifier: Apache-2.0
"""Operations of u32 on lanes of i32: order, logical shifts, minima, and arrays of words without a sign."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import polyloom as pl

TEXT = """void unsigned_words(int n, unsigned a[n], unsigned b[n], unsigned y[n], int z[n]) {
  for (int i = 0; i < n; i++) {
    y[i] = (a[i] >> 3) + (a[i] >> (b[i] & 31)) * b[i];
    z[i] = (a[i] < b[i]) + (int)((a[i] > 4000000000u ? b[i] : a[i]) >> 31);
  }
}
"""


def test_words_without_a_sign(tmp_path: Path) -> None:
    path = tmp_path / "words.c"
    path.write_text(TEXT, encoding="utf-8")
    random = np.random.default_rng(3)
    given = {name: random.integers(0, 1 << 32, 40).astype(np.uint32) for name in "ab"}
    result = pl.compile(path, on="minion:2").run({"n": 40, **given})
    assert result.verified and result.outputs["y"].dtype == np.uint32
