# SPDX-License-Identifier: Apache-2.0
"""What names stand for in loops, branches and calls."""

# pyright: basic, reportAttributeAccessIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false, reportIndexIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def carried_number(x: pl.f32[N], y: pl.f32[N]) -> Any:
    s = 0.0
    for i, v in enumerate(x):
        s = s * 0.5 + v
        y[i] = s
    return s


@pl.kernel
def swapped_numbers(x: pl.f32[N]) -> Any:
    assert N >= 2
    u, v = x[0], x[1]
    for _ in range(M):
        u, v = v, u + v
    return u, v


@pl.kernel
def chosen_number(x: pl.f32[N], a: pl.f32) -> Any:
    assert N >= 2
    t = x[0]
    if a > 1.5:
        t = x[1]
    elif a > 1.2:
        t = t * a
    return x + t


@pl.kernel
def early_return(x: pl.f32[N], a: pl.f32) -> Any:
    if a > 1.5:
        return x * 2.0
    y = x + 1.0
    return y * a


@pl.kernel
def carried_array(x: pl.f32[N], y: pl.f32[M]) -> Any:
    total = np.zeros_like(y)
    for i in range(N):
        total = total + x[i] * y
    return total


@pl.kernel
def last_turn(x: pl.f32[N]) -> Any:
    assert N >= 1
    last = 0.0
    for i in range(N):
        last = x[i] * 2.0
    return last


@pl.kernel
def rows_of_a_loop(a: pl.f32[N, M]) -> None:
    for row in a:
        row += 1.0
        row[0] *= 2.0


def scale_in_place(v: Any, by: Any = 2.0) -> None:
    v *= by
    v[0] = 0.0


@pl.kernel
def helper_in_place(a: pl.f32[N, M]) -> None:
    scale_in_place(a[0])
    scale_in_place(a[:, 1], by=3.0)


@pl.kernel
def inner_functions(x: pl.f32[N]) -> Any:
    k = 3.0

    def f(v: Any) -> Any:
        return v * k

    g = lambda v, w=1.0: f(v) + w  # noqa: E731
    return g(x) + g(x[0], w=k)


@pl.kernel
def parity(x: pl.f32[N]) -> None:
    for i in range(N):
        if i % 2 == 0:
            x[i] = 0.0


@pl.kernel
def copies_of_values(x: pl.f32[N]) -> Any:
    first = x[0]
    old = x + 0.0
    view = x[1:]
    x *= 2.0
    return first, old, view


@pl.kernel
def triangular(a: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(i):
            a[i, j] = a[j, i] + np.sum(a[i, :j])


@pl.kernel
def backwards(x: pl.f32[N]) -> None:
    for i in range(N - 2, -1, -1):
        x[i] += x[i + 1]
    for i in reversed(range(1, N)):
        x[i] -= x[i - 1]


@pl.kernel
def every_other(x: pl.f32[N]) -> None:
    for i in range(0, N, 2):
        x[i] *= 2.0
    for i in range(N - 1, 0, -3):
        x[i] += 1.0


@pl.kernel
def nested_tests(x: pl.f32[N], a: pl.f32) -> None:
    for i in range(N):
        if i > 0 and x[i - 1] > 1.5:
            if a > 1.5:
                x[i] = x[i - 1]
            else:
                x[i] += a
        elif x[i] > 1.5 or i == N - 1:
            x[i] = 0.0


@pl.kernel
def guarded_division(c: pl.i32[N], d: pl.i32[N]) -> None:
    for i in range(N):
        c[i] = c[i] // d[i] if d[i] != 0 else -1
        if d[i] > 0:
            c[i] += 7 % d[i]
    c[:] += 1


@pl.kernel
def first_large(x: pl.f32[N], y: pl.f32[N]) -> Any:
    total = np.float32(0.0)
    for i in range(N):
        if x[i] > 1.8:
            y[i] = -1.0
            break
        y[i] = x[i] * 2.0
        total += x[i]
    return total


@pl.kernel
def rows_until(x: pl.f32[N, M], y: pl.f32[M]) -> Any:
    for _t in range(3):
        for row in x:
            if np.sum(row) > 12.0:
                if row[0] > 3.0:
                    row -= 1.0
                    break
                row *= 0.5
            else:
                y *= 0.5
            row += y
        y *= 1.5
    return y * 2.0
