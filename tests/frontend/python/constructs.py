# SPDX-License-Identifier: Apache-2.0
"""Every construct of kernels, for type checkers; `test_interface.py` runs one over it, and compiles it."""

from __future__ import annotations

import math

import polyloom as pl

N, M = pl.sizes("N M")
T = pl.sizes("T")
GAP = 2
WEIGHT = 0.25


@pl.kernel
def constructs(
    A: pl.f32[N, M + 1], x: pl.f32[N], b: pl.i32[N], c: pl.i8[N], d: pl.i16[2 * N], alpha: pl.f32, n: int
) -> None:
    assert N >= 1 and M >= 1
    total = 0.0
    count = 0
    for _t in range(T):
        for i in range(max(0, n - 2), min(N, n)):
            for j in range(M - 1, -1, -1):
                A[i, j] += alpha * x[i] * 0.5 - x[i] / 3
                total += A[i, j]
            x[i] = math.sqrt(abs(x[i])) if total > 0 else pl.sqrt(total)
            if i == 0 or (i < N - 1 and not x[i] > WEIGHT):
                x[i] = max(x[i], 0.1, alpha) * i
            elif b[i] != 0:
                count += 1
                b[i] = max(0, b[i] + (3 if c[i] == c[0] else -3), b[0] - GAP)
            else:
                b[i] = x[i] < alpha <= 1
        for i in reversed(range(N)):
            k = 2 * i + 1
            d[k] = ~d[k] & (d[k - 1] >> 3) | -d[k] ^ 7 << 1
            d[k] %= 7
            b[i] = b[i] // 3 % 5 + min(b[i], i) + N - count
            c[i] = pl.i8(3) + c[i]
            x[i] = A[i][0] + pl.f32(0.1) + k
