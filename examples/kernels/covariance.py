# SPDX-License-Identifier: Apache-2.0
"""The covariance matrix of M variables from N observations each: means, differences from them, and their products."""

from __future__ import annotations

import polyloom as pl

M, N = pl.sizes("M N")


@pl.kernel
def covariance(float_n: pl.f32, data: pl.f32[N, M], cov: pl.f32[M, M], mean: pl.f32[M]) -> None:
    for j in range(M):
        mean[j] = 0.0
        for i in range(N):
            mean[j] += data[i, j]
        mean[j] /= float_n
    for i in range(N):
        for j in range(M):
            data[i, j] -= mean[j]
    for i in range(M):
        for j in range(i, M):
            cov[i, j] = 0.0
            for k in range(N):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]
