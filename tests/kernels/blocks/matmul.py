# SPDX-License-Identifier: Apache-2.0
"""C += A B, each sum in a local: of blocks of k, a value of it crosses from one to the next."""

import polyloom as pl

N, M, K = pl.sizes("N M K")


@pl.kernel
def matmul(A: pl.i32[N, K], B: pl.i32[K, M], C: pl.i32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            total = C[i, j]
            for k in range(K):
                total += A[i, k] * B[k, j]
            C[i, j] = total
