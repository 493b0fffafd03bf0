# SPDX-License-Identifier: Apache-2.0
"""Nests with reductions between products: products of heads on groups of minions, fused loops between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyloom as pl

S, T = pl.sizes("S T")


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pl.kernel
def attention(q: pl.f32[T, 2, 16], k: pl.f32[T, 32], v: pl.f32[T, 32]) -> Any:
    """Attention of two heads, whose keys and values are columns of one array."""
    heads = k.reshape((T, 2, 16)), v.reshape((T, 2, 16))
    return np.einsum("hij,jhd->ihd", _softmax(np.einsum("ihd,jhd->hij", q, heads[0])), heads[1])


@pytest.mark.parametrize("tokens", [1, 21])
def test_products_of_heads_are_phases(tokens: int) -> None:
    """One row, and rows that are no whole blocks: the machine's arithmetic is verified, and NumPy's is near."""
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((tokens, *s)).astype(np.float32) for s in ((2, 16), (32,), (32,)))
    run = pl.compile(attention, on="minion:8").run(T=tokens, q=q, k=k, v=v)
    assert run.verified
    scores = np.einsum("ihd,jhd->hij", q, k.reshape(-1, 2, 16)).astype(np.float64)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    wanted = np.einsum("hij,jhd->ihd", weights / weights.sum(axis=-1, keepdims=True), v.reshape(-1, 2, 16))
    assert np.abs(run.outputs["result"] - wanted).max() < 1e-5 * np.abs(wanted).max()
    assert run.data["phases"] == ["product", "simd", "product"]


@pl.kernel
def parts(
    a: pl.f32[20, 20], b: pl.f32[20, 20], c: pl.i8[20, 20], d: pl.i8[20, 20], e: pl.f32[20, 20], f: pl.f32[20, 20],
    g: pl.f32[20, 20], h: pl.i32[20, 20], x: pl.f32[20],
) -> None:  # fmt: skip
    for i in range(20):
        for j in range(17):  # a result that ends within a line, which its array goes on in
            e[i, j] = 0.0
            for k in range(20):
                e[i, j] += a[i, k] * b[k, j]
    for i in range(20):
        for j in range(20):  # factors that begin within a line
            f[i, j] = 0.0
            for k in range(3, 20):
                f[i, j] += a[i, k] * b[j, k]
    for i in range(20):
        for j in range(20):  # bytes behind the depth within a word
            h[i, j] = 0
            for k in range(18):
                h[i, j] += pl.to_i32(c[i, k]) * pl.to_i32(d[k, j])
    for i in range(20):
        x[i] = 0.0
        for j in range(20):
            x[i] = max(x[i], e[i, j])
    for i in range(20):
        for j in range(16):  # whole lines
            g[i, j] = 0.0
            for k in range(16, 20):
                g[i, j] += a[i, k] * b[k, j]
    for i in range(20):
        for j in range(16, 20):
            g[i, j] = 0.0
            for k in range(20):
                g[i, j] += a[k, i] * b[k, j]


def test_parts_that_are_no_whole_lines_are_loops() -> None:
    random = np.random.default_rng(0)
    given: dict[str, Any] = {name: random.integers(-3, 4, (20, 20)).astype(np.float32) for name in "abefg"}
    given |= {name: random.integers(-3, 4, (20, 20)).astype(np.int8) for name in "cd"}
    wide, a, b = {name: array.astype(np.int32) for name, array in given.items()}, given["a"], given["b"]
    run = pl.compile(parts, on="minion:2").run(**given, h=np.zeros((20, 20), np.int32), x=np.zeros(20, np.float32))
    assert run.data["phases"] == ["simd", "product", "product"]
    wanted = np.concatenate([(a @ b)[:, :17], given["e"][:, 17:]], axis=1)
    assert np.array_equal(run.outputs["e"], wanted)
    assert np.array_equal(run.outputs["f"], a[:, 3:] @ b[:, 3:].T)
    assert np.array_equal(run.outputs["h"], wide["c"][:, :18] @ wide["d"][:18])
    assert np.array_equal(run.outputs["g"], np.concatenate([a[:, 16:] @ b[16:, :16], a.T @ b[:, 16:]], axis=1))


@pl.kernel
def cached(h: pl.f32[T, 16], w: pl.f32[16, 16], k: pl.f32[S + T, 16]) -> Any:
    """The rows of a product stand behind the S rows of a cache."""
    assert S >= 0 and T >= 1
    k[S:] = h @ w
    return _softmax(h @ k.T) @ k


def test_rows_behind_those_of_a_cache_are_a_product() -> None:
    random = np.random.default_rng(0)
    h, w, k = (random.standard_normal(s).astype(np.float32) for s in ((5, 16), (16, 16), (8, 16)))
    run = pl.compile(cached, on="minion:2").run(S=3, T=5, h=h, w=w, k=k)
    assert run.verified
    assert run.data["phases"] == ["product", "product", "simd", "product"]


@pl.kernel
def quantized(x: pl.f32[T, 64], w: pl.i8[64, 64], v: pl.i8[64, 64], scale: pl.f32[64]) -> Any:
    """Two products of bytes, the left factor of each rounded at run time."""
    return _quantized_product(_quantized_product(x, w, scale), v, scale)


def _quantized_product(x: Any, w: Any, scale: Any) -> Any:
    step = np.abs(x).max(axis=-1, keepdims=True) / np.float32(127)
    rounded = np.rint(x / step).astype(np.int8)
    return np.matmul(rounded.astype(np.int32), w.astype(np.int32)).astype(np.float32) * step * scale


def test_products_of_bytes_that_are_rounded_at_run_time_go_to_tensor_units() -> None:
    random = np.random.default_rng(0)
    x, scale = random.standard_normal((5, 64)).astype(np.float32), random.random(64).astype(np.float32)
    w, v = random.integers(-128, 128, (2, 64, 64)).astype(np.int8)
    run = pl.compile(quantized, on="minion:2").run(T=5, x=x, w=w, v=v, scale=scale)
    assert run.verified
    assert run.data["phases"] == ["simd", "product", "simd", "product", "simd"]
    assert np.array_equal(run.outputs["result"], quantized(x=x, w=w, v=v, scale=scale))
