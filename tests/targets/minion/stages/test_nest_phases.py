# SPDX-License-Identifier: Apache-2.0
"""Nests with reductions between products: products of heads on groups of minions, fused loops between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyloom as pl

T = pl.sizes("T")


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
