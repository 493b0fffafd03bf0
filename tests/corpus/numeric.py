# SPDX-License-Identifier: Apache-2.0
"""Loops in Python over NumPy arrays: narrow, unsigned and double elements, names that are used again, subscripts with
`//` and `%`, steps of time around whole sweeps."""

from __future__ import annotations

import polyloom as pl

N, M, K, T = pl.sizes("N M K T")


@pl.kernel
def matmul_int8(a: pl.i8[N, K], b: pl.i8[K, M], c: pl.i32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            total: pl.i32 = 0
            for k in range(K):
                total += pl.i32(a[i, k]) * pl.i32(b[k, j])
            c[i, j] = total


@pl.kernel
def dense_int8(x: pl.i8[N, K], w: pl.i8[M, K], bias: pl.i32[M], zero: pl.i32, y: pl.i8[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            total = bias[j]
            for k in range(K):
                total += pl.i32(x[i, k]) * pl.i32(w[j, k])
            total = ((total + 32) >> 6) + zero
            y[i, j] = pl.i8(max(min(total, 127), -128))


@pl.kernel
def invert_u8(x: pl.u8[N], y: pl.u8[N]) -> None:
    for i in range(N):
        y[i] = 255 - x[i]


@pl.kernel
def gray_u8(rgb: pl.u8[N, M, 3], y: pl.u8[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            s = 77 * pl.u16(rgb[i, j, 0]) + 150 * pl.u16(rgb[i, j, 1]) + 29 * pl.u16(rgb[i, j, 2])
            y[i, j] = pl.u8(s >> 8)


@pl.kernel
def running_u32(x: pl.u32[N], y: pl.u32[N]) -> None:
    h = pl.u32(2166136261)
    for i in range(N):
        h = (h ^ x[i]) * 16777619
        y[i] = h >> 3


@pl.kernel
def divide_u32(x: pl.u32[N], d: pl.u32, q: pl.u32[N], r: pl.u32[N]) -> None:
    for i in range(N):
        q[i] = x[i] // max(d, 1)
        r[i] = x[i] % max(d, 1)


@pl.kernel
def larger_u16(a: pl.u16[N], b: pl.u16[N], y: pl.bool[N]) -> None:
    for i in range(N):
        y[i] = a[i] > b[i]


@pl.kernel
def select_masked(keep: pl.bool[N], a: pl.f32[N], b: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = a[i] if keep[i] else b[i]


@pl.kernel
def any_of_row(x: pl.bool[N, M], y: pl.bool[N]) -> None:
    for i in range(N):
        y[i] = False
        for j in range(M):
            y[i] = y[i] or x[i, j]


@pl.kernel
def axpy_f64(a: pl.f64, x: pl.f64[N], y: pl.f64[N]) -> None:
    for i in range(N):
        y[i] += a * x[i]


@pl.kernel
def jacobi_f64(a: pl.f64[N + 2], b: pl.f64[N + 2]) -> None:
    for _ in range(T):
        for i in range(1, N + 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, N + 1):
            a[i] = b[i]


@pl.kernel
def scaled_to_float(x: pl.i16[N], scale: pl.f32, y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = scale * pl.f32(x[i])


@pl.kernel
def rounded_to_int(x: pl.f32[N], y: pl.i32[N]) -> None:
    for i in range(N):
        y[i] = pl.i32(x[i] * 16.0)


@pl.kernel
def names_again(x: pl.i32[N], y: pl.i32[M], a: pl.i32[N], b: pl.i32[M]) -> None:
    for i in range(N):
        a[i] = x[i] + i
    i = 3
    for j in range(M):
        b[j] = y[j] * i


@pl.kernel
def offset_again(x: pl.i32[2 * N], y: pl.i32[N], z: pl.i32[N]) -> None:
    for i in range(N):
        k = 2 * i
        y[i] = x[k]
        k = k + 1
        z[i] = x[k]


@pl.kernel
def counted_along(x: pl.i32[3 * N], y: pl.i32[N]) -> None:
    at = 0
    for i in range(N):
        y[i] = x[at] - x[at + 1]
        at += 3


@pl.kernel
def every_second(x: pl.i32[2 * N], y: pl.i32[2 * N]) -> None:
    for i in range(0, 2 * N, 2):
        y[i] = x[i + 1]
        y[i + 1] = x[i]


@pl.kernel
def skipping(x: pl.i32[N], y: pl.i32[N]) -> None:
    for i in range(N):
        y[i] = 0
        if x[i] < 0:
            continue
        y[i] = 2 * x[i]


@pl.kernel
def nearest_twice(x: pl.f32[N], y: pl.f32[2 * N]) -> None:
    for i in range(2 * N):
        y[i] = x[i // 2]


@pl.kernel
def flattened_product(x: pl.i32[6], y: pl.i32[5], p: pl.i32[30]) -> None:
    for t in range(30):
        p[t] = x[t // 5] * y[t % 5]


@pl.kernel
def periodic(x: pl.f32[16], y: pl.f32[16]) -> None:
    for i in range(16):
        y[i] = x[(i + 1) % 16] - 2.0 * x[i] + x[(i - 1) % 16]


@pl.kernel
def clamped_difference(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = x[min(i + 1, N - 1)] - x[max(i - 1, 0)]


@pl.kernel
def chained(a: pl.f32[N], b: pl.f32[N]) -> None:
    for i in range(N):
        a[i] = b[i] = 1.0


@pl.kernel
def counting_while(x: pl.i32[N], y: pl.i32[N]) -> None:
    i = 0
    while i < N:
        y[i] = x[i] * x[i]
        i += 1


@pl.kernel
def floyd_warshall(d: pl.i32[N, N]) -> None:
    for k in range(N):
        for i in range(N):
            for j in range(N):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@pl.kernel
def relaxed_steps(a: pl.f32[N, M], x: pl.f32[M], y: pl.f32[N]) -> None:
    for _ in range(T):
        for i in range(N):
            y[i] = 0.0
            for j in range(M):
                y[i] += a[i, j] * x[j]
        for j in range(M):
            s = 0.0
            for i in range(N):
                s += a[i, j] * y[i]
            x[j] = 0.5 * x[j] + 0.125 * s


@pl.kernel
def smallest_backwards(x: pl.i32[N, M], y: pl.i32[N]) -> None:
    for i in range(N):
        y[i] = 1000000
        for j in reversed(range(M)):
            y[i] = min(y[i], x[i, j])


@pl.kernel
def tiled_sum(x: pl.i32[16, 16], y: pl.i32[16]) -> None:
    for i in range(16):
        y[i] = 0
    for ii in range(0, 16, 4):
        for jj in range(0, 16, 8):
            for i in range(ii, ii + 4):
                for j in range(jj, jj + 8):
                    y[i] += x[i, j]


@pl.kernel
def exponentials(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.exp(x[i])


@pl.kernel
def hyperbolic(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = pl.tanh(x[i]) + pl.floor(x[i])


@pl.kernel
def rare_division(L: pl.f32[N, N], b: pl.f32[N], x: pl.f32[N]) -> None:
    for i in range(N):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / (L[i, i] * L[i, i] + 1.0)
