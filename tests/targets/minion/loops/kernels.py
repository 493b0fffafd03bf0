# SPDX-License-Identifier: Apache-2.0
"""Loops for minions: each has something that another has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

import polyloom as pl
from polyloom.targets.minion.map.frame import Part
from polyloom.targets.minion.map.simd import spmd_program

N, M, K = pl.sizes("N M K")


@pl.kernel
def quotients(a: pl.f32[N, M], b: pl.f32[N, M], c: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            c[i, j] = a[i, j] / b[i, j] + pl.sqrt(abs(a[i, j]))


@pl.kernel
def quantised(a: pl.u8[N, M], w: pl.i8[M], s: pl.f32, c: pl.i8[N]) -> None:
    for i in range(N):
        t = pl.i32(0)
        for j in range(M):
            t += pl.to_i32(a[i, j]) * pl.to_i32(w[j])
        c[i] = pl.sat8(pl.round_i32(pl.to_f32(t) * s) + 3)


@pl.kernel
def halves(a: pl.f16[N, M], b: pl.f16[N, M], c: pl.f16[N, M], u: pl.u8[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            t = pl.to_f32(a[i, j]) * 0.5 + pl.to_f32(b[i, j])
            c[i, j] = pl.to_f16(t)
            u[i, j] = pl.satu8(pl.round_i32(t * 10.0))


@pl.kernel
def narrow(a: pl.i16[N], b: pl.i16[N], c: pl.i16[N], d: pl.i8[N], e: pl.i8[N]) -> None:
    for i in range(N):
        c[i] = (a[i] * b[i] - (a[i] << 3)) ^ (b[i] >> 2)
        e[i] = -abs(d[i] * d[i]) + 100


@pl.kernel
def unsigned(a: pl.u8[N], b: pl.u8[N], c: pl.u8[N], d: pl.u16[N], e: pl.u16[N]) -> None:
    for i in range(N):
        c[i] = (a[i] * b[i] - (a[i] << 3)) ^ (b[i] >> 2)
        e[i] = max(d[i] * d[i] - 100, d[i] >> 1) // (d[i] | 1)


@pl.kernel
def divided(a: pl.i32[N], b: pl.i32[N], c: pl.i32[N], d: pl.i32[N]) -> None:
    for i in range(N):
        c[i] = a[i] // (b[i] * 2 + 1)
        d[i] = a[i] % (b[i] * 2 + 1)


@pl.kernel
def border(a: pl.f32[N, M], b: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            if j >= 1 and j <= M - 2:
                b[i, j] = (a[i, j - 1] + a[i, j] + a[i, j + 1]) * 0.25
            else:
                b[i, j] = a[i, j]


@pl.kernel
def triangle(a: pl.f32[N, N], b: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(i + 1):
            b[i, j] = a[j, i] + a[i, j]
        for j in range(i + 1, N):
            b[i, j] = max(a[i, j], a[j, i])


@pl.kernel
def transposed(a: pl.f32[N, M], b: pl.f32[M, N], c: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            b[j, i] = a[i, j] * 2.0
    for i in range(N):
        for j in range(M):
            c[i, j] = b[j, i] + a[i, j]


@pl.kernel
def relaxed(a: pl.f32[N], b: pl.f32[N], c: pl.i32[M]) -> None:
    for t in range(M):
        for i in range(1, N - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.33333334
        for i in range(1, N - 1):
            a[i] = b[i]
        c[t] = t * 2 - 1


@pl.kernel
def product(a: pl.f32[N, M], b: pl.f32[M, N], c: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            t = 0.0
            for k in reversed(range(M)):
                t += a[i, k] * b[k, j]
            c[i, j] = t if t > 0.0 else -t


@pl.kernel
def chosen(a: pl.i32[N], b: pl.f32[N], c: pl.i32[N], d: pl.f32[N]) -> None:
    for i in range(N):
        c[i] = a[i] if a[i] != 3 else i
        d[i] = b[i] if b[i] <= 0.5 else (1.5 if a[i] == 2 else i)


@pl.kernel
def prefix(a: pl.i32[N], b: pl.i32[N]) -> None:
    b[0] = a[0]
    for i in range(1, N):
        b[i] = b[i - 1] + a[i]


@pl.kernel
def sums(a: pl.i32[N, M], b: pl.i32[2]) -> None:
    b[0] = 0
    b[1] = -1000
    for i in range(N):
        for j in range(M):
            b[0] += a[i, j]
            b[1] = max(b[1], a[i, j])


@pl.kernel
def dot(a: pl.f32[N], b: pl.f32[N], c: pl.f32[1]) -> None:
    c[0] = 0.0
    for i in range(N):
        c[0] += a[i] * b[i]


@pl.kernel
def operations(a: pl.f32[N], b: pl.f32[N], c: pl.f32[N, 12], d: pl.i32[N, 4]) -> None:
    for i in range(N):
        c[i, 0] = a[i] + b[i]
        c[i, 1] = a[i] - b[i]
        c[i, 2] = a[i] * b[i]
        c[i, 3] = min(a[i], b[i])
        c[i, 4] = max(a[i], b[i])
        c[i, 5] = abs(a[i])
        c[i, 6] = -a[i]
        c[i, 7] = a[i] * b[i] + a[i]
        c[i, 8] = a[i] - a[i] * b[i]
        c[i, 9] = a[i] * b[i] - b[i]
        c[i, 10] = pl.to_f32(pl.to_f16(a[i]))
        c[i, 11] = a[i] if a[i] < b[i] else b[i]
        d[i, 0] = pl.to_i32(a[i])
        d[i, 1] = 1 if a[i] == b[i] else 0
        d[i, 2] = 1 if a[i] != b[i] else 0
        d[i, 3] = 1 if a[i] >= b[i] else 0


@pl.kernel
def layer(a: pl.f32[N, K], b: pl.f32[K, M], c: pl.f32[N, M], d: pl.f32[N, M], s: pl.f32[N]) -> None:
    for i in range(N):
        for j in range(M):
            c[i, j] = 0.0
            for k in range(K):
                c[i, j] += a[i, k] * b[k, j]
    for i in range(N):
        for j in range(M):
            d[i, j] = max(c[i, j], 0.0) / 3.0
    for i in range(N):
        s[i] = 0.0
        for j in range(M):
            s[i] += d[i, j]


ALL = (
    quotients,
    quantised,
    halves,
    narrow,
    unsigned,
    divided,
    border,
    triangle,
    transposed,
    relaxed,
    product,
    chosen,
    prefix,
    sums,
    dot,
)


def without_eviction(monkeypatch: pytest.MonkeyPatch, left_out: int | None) -> Callable[[], int]:
    """Programs lack the eviction of this number; the function tells how many the last one has."""
    counts: list[int] = []
    parts = spmd_program.program_parts

    def changed(*given: object, **named: object) -> Sequence[Part]:
        number, made = 0, list[Part]()
        for part in parts(*given, **named):  # type: ignore[arg-type]
            lines: list[str] = []
            for line in part.lines:
                if f"csrrw x0, {spmd_program.EVICT_VA}" in line:
                    number += 1
                    if number - 1 == left_out:
                        continue
                lines.append(line)
            made.append(replace(part, lines=tuple(lines)))
        counts.append(number)
        return made

    monkeypatch.setattr(spmd_program, "program_parts", changed)
    return lambda: counts[-1]
