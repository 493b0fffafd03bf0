# SPDX-License-Identifier: Apache-2.0
"""What Python has several ways to write; test_plain.py compares each kernel with its nest."""

from __future__ import annotations

import polyloom as pl

N, M = pl.sizes("N M")
BITS = 3


@pl.kernel
def targets(a: pl.i32[N], b: pl.i32[N]) -> None:
    for i in range(N):
        a[i] = b[i] = 7


@pl.kernel
def continues(a: pl.i32[N], b: pl.i32[N]) -> None:
    for i in range(N):
        if a[i] < 0:
            b[i] = 1
            continue
        if i == 2:
            continue
        b[i] = 3
        if a[i] == 0:
            continue
        b[i] += a[i]


@pl.kernel
def steps(a: pl.i32[3 * N + 1], b: pl.i32[3 * N + 1]) -> None:
    for i in range(0, 3 * N + 1, 3):
        a[i] = i
    for i in range(3 * N, -1, -2):
        b[i] = i
    for i in range(1, N, 2):
        a[i] -= i


@pl.kernel
def whiles(a: pl.i32[N], b: pl.i32[2 * N]) -> None:
    i = 0
    while i < N:
        a[i] = i
        i += 2
    j = 2 * N - 1
    while j >= 0:
        b[j] += 1
        j -= 1


@pl.kernel
def counters(a: pl.i32[4 * N], b: pl.i32[N]) -> None:
    at = 1
    for i in range(N):
        k = at
        a[k] = b[i]
        k = k + 1
        a[k] = -b[i]
        at += 3
    at = at - 3 * N
    a[at] += 100


@pl.kernel
def counters_outside(a: pl.i32[N, M], b: pl.i32[N * 3]) -> None:
    row = 0
    for i in range(N):
        column = 0
        for j in range(M):
            if column < 5:
                a[i, j] += b[row] * j
            column += 2
        row += 3


@pl.kernel
def again(a: pl.i32[N], b: pl.i32[M]) -> None:
    for i in range(N):
        a[i] += i
    i = 3
    for j in range(M):
        b[j] *= i
    for i in range(M):
        b[i] -= i


@pl.kernel
def remainders(a: pl.i32[12], b: pl.i32[12], c: pl.i32[12]) -> None:
    for i in range(12):
        a[i] = b[(i + 11) % 12] - b[(i + 1) % 12] + b[(i - 1) % 12]
    for i in range(-3, 9):
        c[i + 3] = b[i % 5]
    for i in range(12):
        c[i] += b[i // 3 * 3] + b[i % 4] + b[(i - 2) // 3 + 1]


@pl.kernel
def flattened(a: pl.i32[4 * N], b: pl.i32[N], c: pl.i32[4]) -> None:
    for t in range(4 * N):
        a[t] = b[t // 4] * c[t % 4]


@pl.kernel
def clamps(a: pl.i32[N], b: pl.i32[N]) -> None:
    for i in range(N):
        for d in range(-2, 3):
            a[i] += b[min(max(i + d, 0), N - 1)]
        a[max(i - 1, 0)] -= 1


@pl.kernel
def least_sizes(a: pl.i32[N], b: pl.i32[1]) -> None:
    b[0] = a[0]
    for i in range(1, N):
        b[0] = max(b[0], a[i])


@pl.kernel
def constant_powers(a: pl.u32[N], x: pl.f32[N]) -> None:
    for i in range(min(N, 2**BITS)):
        a[i] = a[i] % 2 + 2**31 + BITS**2
        x[i] = x[i] * 2**10
