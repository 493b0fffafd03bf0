# SPDX-License-Identifier: Apache-2.0
"""Quantised inference in one kernel, an iteration per cycle on `wide`: a matrix product of bytes with sums of 32 bits,
bias, a rounding shift, a zero point and a clamp; and the same for a convolution of each channel by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import polyloom as pl

N, M, K = pl.sizes("N M K")
PRODUCT = """void product(int n, int m, int k, signed char a[n][k], signed char b[k][m], int bias[m],
             signed char c[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      int sum = bias[j];
      for (int l = 0; l < k; l++) sum += a[i][l] * b[l][j];
      sum = ((sum + 64) >> 7) + 3;
      sum = sum < -128 ? -128 : sum;
      c[i][j] = sum > 127 ? 127 : sum;
    }
}
"""
DEPTHWISE = """void depthwise(int n, int h, int w, unsigned char x[n][h + 2][w + 2], signed char f[n][3][3],
               int bias[n], unsigned char y[n][h][w]) {
  for (int c = 0; c < n; c++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        int sum = bias[c];
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++) sum += x[c][i + r][j + s] * f[c][r][s];
        sum = ((sum + 64) >> 7) + 128;
        if (sum < 0) sum = 0;
        if (sum > 255) sum = 255;
        y[c][i][j] = sum;
      }
}
"""


@pytest.mark.parametrize(
    ("text", "sizes"),
    [(PRODUCT, {"n": 6, "m": 5, "k": 4}), (DEPTHWISE, {"n": 2, "h": 4, "w": 4})],
    ids=["product", "depthwise"],
)
def test_an_iteration_per_cycle(text: str, sizes: dict[str, int], tmp_path: Path) -> None:
    path = tmp_path / "kernel.c"
    path.write_text(text, encoding="utf-8")
    made = pl.compile(path, "tcpa").instantiate(pes=(2, 2), **sizes)
    result = made.run(seed=1)
    assert result.verified
    assert result.data["initiation_interval"] == 1


@pl.kernel
def product(a: pl.i8[N, K], b: pl.i8[K, M], bias: pl.i32[M], c: pl.i8[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            total = bias[j]
            for k in range(K):
                total += pl.to_i32(a[i, k]) * pl.to_i32(b[k, j])
            c[i, j] = pl.sat8(((total + 64) >> 7) + 3)


def test_in_python() -> None:
    made = pl.compile(product, "tcpa").instantiate(N=6, M=5, K=4, pes=(2, 2))
    result = made.run(seed=1)
    assert result.verified
    assert result.data["initiation_interval"] == 1
