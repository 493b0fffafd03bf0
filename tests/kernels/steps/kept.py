# SPDX-License-Identifier: Apache-2.0
import polyloom as pl

N = pl.size("N")


@pl.kernel
def kept(A: pl.f32[N + 3, N], B: pl.f32[N + 3, N]) -> None:
    for i in range(-3, N):
        s = 0.0
        for j in range(N):
            s += A[i + 3, j]
        s = pl.sqrt(s)
        for j in range(N):
            B[i + 3, j] = A[i + 3, j] / s
