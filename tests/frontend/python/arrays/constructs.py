# SPDX-License-Identifier: Apache-2.0
"""Everyday constructs of NumPy, one kernel for each, as people write them."""

# What NumPy gives is stored to arguments that a type checker takes for elements.
# pyright: reportAssignmentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl

N, M, K, T = pl.sizes("N M K T")
WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)
TAPS = (1.0, -2.0, 1.0)


@pl.kernel
def slices(x: pl.f32[N], y: pl.f32[N]) -> None:
    y[1:-1] = 0.5 * (x[:-2] + x[2:])
    y[0], y[-1] = x[0], x[-1]


@pl.kernel
def strides(x: pl.f32[2 * N], y: pl.f32[N], z: pl.f32[N]) -> None:
    y[:] = x[::2]
    z[:] = x[1::2]


@pl.kernel
def odd_strides(x: pl.f32[N], y: pl.f32[N]) -> None:
    y[:] = 0
    y[::2] = x[::-2]


@pl.kernel
def negative_steps(x: pl.f32[N], y: pl.f32[N]) -> None:
    y[:] = x[::-1]


@pl.kernel
def ellipsis(x: pl.f32[N, M], y: pl.f32[N]) -> None:
    y[...] = x[..., 0]


@pl.kernel
def new_axes(x: pl.f32[N], y: pl.f32[M], z: pl.f32[N, M]) -> None:
    z[:] = x[:, None] * y[None, :]


@pl.kernel
def whole_statements(x: pl.f32[N, M], y: pl.f32[N, M], a: pl.f32) -> None:
    y[:] = a * x + y


@pl.kernel
def augmented(x: pl.f32[N, M], y: pl.f32[N, M]) -> None:
    y += x
    y[0] *= 2.0
    y[:, 1:] -= x[:, :-1]


@pl.kernel
def broadcasting(x: pl.f32[N, M], row: pl.f32[M], column: pl.f32[N, 1]) -> None:
    x[:] = (x - row) / column


@pl.kernel
def matrix_product(a: pl.f32[N, K], b: pl.f32[K, M], c: pl.f32[N, M]) -> None:
    c[:] = a @ b


@pl.kernel
def matrix_vector(a: pl.f32[N, K], x: pl.f32[K], y: pl.f32[N]) -> None:
    y[:] = np.dot(a, x)


@pl.kernel
def dot_of_vectors(x: pl.f32[N], y: pl.f32[N]) -> Any:
    return np.dot(x, y)


@pl.kernel
def batches(a: pl.f32[T, N, K], b: pl.f32[T, K, M]) -> Any:
    return np.matmul(a, b)


@pl.kernel
def outer_product(a: pl.f32[N, M], x: pl.f32[N], y: pl.f32[M]) -> None:
    a += np.outer(x, y)


@pl.kernel
def einsum(a: pl.f32[N, K], b: pl.f32[K, M], x: pl.f32[M]) -> Any:
    return np.einsum("ik,kj,j->i", a, b, x)


@pl.kernel
def sums(x: pl.f32[N, M], r: pl.f32[N], c: pl.f32[M]) -> Any:
    r[:] = x.sum(axis=1)
    c[:] = np.sum(x, axis=0)
    return x.sum()


@pl.kernel
def product_of_elements(x: pl.f32[N]) -> Any:
    return np.prod(x)


@pl.kernel
def maxima(x: pl.f32[N, M], y: pl.f32[N], z: pl.f32[M]) -> None:
    y[:] = x.max(axis=1)
    z[:] = np.min(x, axis=0)


@pl.kernel
def means(x: pl.f32[N, M]) -> Any:
    return x - x.mean(axis=0, keepdims=True)


@pl.kernel
def deviations(x: pl.f32[N, M]) -> Any:
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)


@pl.kernel
def any_and_all(x: pl.f32[N, M], y: pl.bool[N], z: pl.bool[M]) -> None:
    y[:] = np.any(x > 1.5, axis=1)
    z[:] = (x < 1.9).all(axis=0)


@pl.kernel
def inside(x: pl.f32[N, M], y: pl.bool[N, M]) -> Any:
    y[:] = (x > -0.5) & (x < 0.5) | ~y
    return np.where(y, x, 0)


@pl.kernel
def places_of_maxima(x: pl.f32[N, M], y: pl.i32[N]) -> None:
    y[:] = np.argmax(x, axis=1)


@pl.kernel
def cumulative_sums(x: pl.f32[N, M], y: pl.f32[N, M]) -> None:
    y[:] = np.cumsum(x, axis=1)
    np.cumsum(y, axis=0, out=y)


@pl.kernel
def counts(x: pl.f32[N], n: pl.i32[1]) -> None:
    n[0] = np.sum(x > 1.5)


@pl.kernel
def new_arrays(x: pl.f32[N], y: pl.f32[N]) -> None:
    t = np.zeros(N, np.float32)
    u = np.ones_like(x)
    v = np.full(N, 0.5, dtype=np.float32)
    w = np.empty_like(x)
    w[:] = u + v
    t += w * x
    y[:] = t


@pl.kernel
def steps(y: pl.f32[N], z: pl.i32[N]) -> None:
    y[:] = np.arange(N)
    z[:] = np.arange(N, dtype=np.int32) * 2 + 1
    y += np.linspace(0.0, 1.0, 5, dtype=np.float32)[2]


@pl.kernel
def copies(x: pl.f32[N]) -> Any:
    y = x.copy()
    x[:] = 0.0
    return y


@pl.kernel
def transposes(x: pl.f32[N, M], y: pl.f32[M, N]) -> None:
    y[:] = x.T
    y += np.transpose(x, (1, 0))


@pl.kernel
def reshapes(x: pl.f32[4 * N], y: pl.f32[N, 4], z: pl.f32[4 * N]) -> None:
    y[:] = x.reshape(N, 4)
    z[:] = (y * 2.0).reshape(-1)


@pl.kernel
def flips_and_rolls(x: pl.f32[N], y: pl.f32[N]) -> None:
    y[:] = np.flip(x) + np.roll(x, 1) + np.roll(x, -2)


@pl.kernel
def pads(x: pl.f32[N, M], y: pl.f32[N + 2, M + 3]) -> None:
    y[:] = np.pad(x, ((1, 1), (2, 1)))


@pl.kernel
def edges(x: pl.f32[N], y: pl.f32[N + 4]) -> None:
    y[:] = np.pad(x, 2, mode="edge")


@pl.kernel
def joined(x: pl.f32[N], y: pl.f32[M]) -> Any:
    return np.concatenate((x, y, x[:1]))


@pl.kernel
def stacks(x: pl.f32[N], y: pl.f32[N]) -> Any:
    return np.stack([x, y], axis=1), np.vstack((x, y)), np.hstack([x, y])


@pl.kernel
def where(x: pl.f32[N], y: pl.f32[N]) -> None:
    y[:] = np.where(x > 1.5, x, -x)


@pl.kernel
def clips(x: pl.f32[N], y: pl.f32[N]) -> None:
    y[:] = np.clip(x, 1.2, 1.8) + np.maximum(x, y) - np.minimum(x, 1.5)


@pl.kernel
def outer_extremes(x: pl.f32[N], y: pl.f32[M]) -> Any:
    return np.maximum(x[:, None], y) - np.minimum(x, y[:, None]).T


@pl.kernel
def element_wise(x: pl.f32[N], y: pl.f32[N]) -> None:
    y[:] = np.exp(-x) + np.log(x) + np.sqrt(x) + np.tanh(x) + np.sin(x) * np.cos(x)
    y += np.abs(x - 1.5) + np.sign(x - 1.5) + np.floor(x) + np.ceil(x)


@pl.kernel
def powers(x: pl.f32[N], y: pl.f32[N]) -> None:
    y[:] = x**2 + x**0.5 - x**3


@pl.kernel
def triangles(x: pl.f32[N, N], y: pl.f32[N, N]) -> None:
    y[:] = np.triu(x) - np.tril(x, -1)


@pl.kernel
def conversions(x: pl.f32[N], y: pl.i32[N], z: pl.f32[N]) -> None:
    y[:] = (x * 10.0).astype(np.int32)
    z[:] = y.astype(np.float32) / 10.0


@pl.kernel
def shapes(x: pl.f32[N, M], y: pl.f32[N]) -> None:
    n, m = x.shape
    for i in range(n):
        y[i] = x[i, m - 1] * len(x)


@pl.kernel
def enumerated(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i, v in enumerate(x):
        y[i] = v * i


@pl.kernel
def zipped(x: pl.f32[N], y: pl.f32[N], z: pl.f32[N]) -> None:
    s = np.float32(0.0)
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        s = s + a * b
        z[i] = s


@pl.kernel
def tables(x: pl.f32[N + 2], y: pl.f32[N]) -> None:
    for k in range(3):
        y += WEIGHTS[k] * x[k : k + N]
    for k, w in enumerate(TAPS):
        y += w * x[k : k + N]


@pl.kernel
def ping_pong(x: pl.f32[N]) -> Any:
    a = x.copy()
    for _ in range(T):
        b = a.copy()
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a = b
    return a


def relu(v: Any, slope: Any = 0.0) -> Any:
    return np.where(v > 0, v, v * slope)


def dense(x: Any, w: Any, b: Any) -> Any:
    return relu(x @ w + b, slope=0.1)


@pl.kernel
def helpers(x: pl.f32[N, K], w: pl.f32[K, M], b: pl.f32[M]) -> Any:
    return dense(x, w, b=b)


@pl.kernel
def kernels_of_kernels(x: pl.f32[N], y: pl.f32[N]) -> None:
    where(x, y)
    y += x


@pl.kernel
def several_results(x: pl.f32[N]) -> Any:
    return x.min(), x.max(), x * 2.0


@pl.kernel
def masked_values(x: pl.f32[N], y: pl.f32[N], b: pl.i32[N], c: pl.i32[N]) -> None:
    large = x > 1.5
    y[large] = 2.0 * x[large] - np.sqrt(x[large])
    y[~large] += x[~large]  # pyright: ignore[reportDeprecated] (of arrays, it is elementwise)
    c[b != 0] = -7 // b[b != 0]
    c[b != 0] %= b[b != 0]


@pl.kernel
def masked_stores(x: pl.f32[N], y: pl.f32[N]) -> None:
    x[x > 1.5] = 0.0
    y[x == 0] += 1.0


@pl.kernel
def sums_of_generators(x: pl.f32[N], y: pl.f32[N]) -> Any:
    return sum(x[i] * y[i] for i in range(N))


@pl.kernel
def ranges_of_numpy(x: pl.f32[N]) -> None:
    for i in np.arange(1, N):
        x[i] += x[i - 1]


@pl.kernel
def branches(x: pl.f32[N], a: pl.f32) -> None:
    if a > 1.5:
        x[:] = x * a
    else:
        x -= a


@pl.kernel
def factors(a: pl.f32[N, N]) -> None:
    for k in range(N):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


@pl.kernel
def overlapping(x: pl.f32[N], y: pl.f32[N, N]) -> None:
    x[1:] = x[:-1]
    x[:-1] += x[1:]
    y[:] = y.T


@pl.kernel
def views_write_through(x: pl.f32[N, M]) -> None:
    inner = x[1:-1, 1:-1]
    inner *= 2.0
    inner[0, :] = 1.0


@pl.kernel
def softmax(x: pl.f32[N, M]) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pl.kernel
def repeated_lists(x: pl.f32[N]) -> Any:
    return x[:4] * np.array([0.25, 0.5] * 2, np.float32) + 2**3


@pl.kernel
def joined_sums(a: pl.f32[N, M], y: pl.f32[M]) -> Any:
    return np.concatenate((np.sum(a, axis=1), y)), (np.sum(y[:4]) if M >= 4 else 0.0)


EVERYDAY = [
    "slices",
    "strides",
    "negative_steps",
    "ellipsis",
    "new_axes",
    "whole_statements",
    "augmented",
    "broadcasting",
    "matrix_product",
    "matrix_vector",
    "dot_of_vectors",
    "batches",
    "outer_product",
    "einsum",
    "sums",
    "product_of_elements",
    "maxima",
    "means",
    "any_and_all",
    "places_of_maxima",
    "cumulative_sums",
    "new_arrays",
    "steps",
    "copies",
    "transposes",
    "reshapes",
    "flips_and_rolls",
    "pads",
    "joined",
    "stacks",
    "where",
    "clips",
    "element_wise",
    "powers",
    "triangles",
    "conversions",
    "shapes",
    "enumerated",
    "zipped",
    "tables",
    "helpers",
    "several_results",
    "masked_stores",
    "sums_of_generators",
    "softmax",
]
"""The 45 that are counted."""
