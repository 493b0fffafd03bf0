# SPDX-License-Identifier: Apache-2.0
"""A transformer layer as whole arrays: the decoder block of Llama models, for T tokens behind the S of a cache.

A prompt has S = 0, and decoding has T = 1. Pre-normalization by root mean squares (Zhang and Sennrich, 2019), rotary
position embedding of neighbouring channels (Su et al., 2021), causal attention of several heads (Vaswani et al., 2017),
and a feed-forward network gated by SiLU, SwiGLU (Shazeer, 2020). Activations are [token, channel], weights [in, out].
"""

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl

S, T = pl.sizes("S T")


def rms_norm(x: Any, gain: Any) -> Any:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * gain


def rotate(x: Any, cos: Any, sin: Any) -> Any:
    """Rotary embedding: the pair of channels 2i and 2i + 1 of each head is turned by the angle of its token and i."""
    even, odd, cos, sin = x[..., 0::2], x[..., 1::2], cos[:, None], sin[:, None]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x: Any) -> Any:
    return x / (1.0 + np.exp(-x))


def attention(q: Any, k: Any, v: Any) -> Any:
    """Causal attention of all heads: q is [token, head, channel] of the last tokens, k and v are of all."""
    last: int = q.shape[0]
    past: int = k.shape[0] - q.shape[0]
    scores = np.einsum("ihd,jhd->hij", q, k) / np.float32(q.shape[2] ** 0.5)
    scores = np.where(np.arange(last)[:, None] + past >= np.arange(last + past), scores, np.float32(-np.inf))
    return np.einsum("hij,jhd->ihd", softmax(scores), v)


def quantized_product(x: Any, weights: Any) -> Any:
    """A product in int8: rows of x are scaled to 127 at run time, columns of the weights were (Jacob et al., 2018)."""
    matrix, scale = weights
    step = np.abs(x).max(axis=-1, keepdims=True) / np.float32(127)
    rounded = np.rint(x / step).astype(np.int8)
    return np.matmul(rounded.astype(np.int32), matrix.astype(np.int32)).astype(np.float32) * step * scale


def block(
    x: Any, cos: Any, sin: Any, norm1: Any, wq: Any, wk: Any, wv: Any, wo: Any,
    norm2: Any, gate: Any, up: Any, down: Any, keys: Any, values: Any, heads: int, product: Any = np.matmul,
) -> Any:  # fmt: skip
    """The layer: x is [token, channel], cos and sin are [token, half a head]; the caches are [all tokens, channel].
    `product` multiplies by weights."""
    tokens, channels = x.shape
    assert tokens >= 1
    past = keys.shape[0] - tokens
    split = (tokens, heads, channels // heads)
    h = rms_norm(x, norm1)
    q = rotate(product(h, wq).reshape(split), cos, sin).reshape(split)
    keys[past:] = rotate(product(h, wk).reshape(split), cos, sin).reshape(tokens, channels)
    values[past:] = product(h, wv)
    heads_of_all = (keys.shape[0], heads, channels // heads)
    o = attention(q, keys.reshape(heads_of_all), values.reshape(heads_of_all))
    x = x + product(o.reshape(tokens, channels), wo)
    h = rms_norm(x, norm2)
    return x + product(silu(product(h, gate)) * product(h, up), down)


@pl.kernel
def layer16(
    x: pl.f32[T, 16], cos: pl.f32[T, 4], sin: pl.f32[T, 4], norm1: pl.f32[16],
    wq: pl.f32[16, 16], wk: pl.f32[16, 16], wv: pl.f32[16, 16], wo: pl.f32[16, 16],
    norm2: pl.f32[16], gate: pl.f32[16, 32], up: pl.f32[16, 32], down: pl.f32[32, 16],
    keys: pl.f32[S + T, 16], values: pl.f32[S + T, 16],
) -> Any:  # fmt: skip
    """16 channels in 2 heads."""
    return block(x, cos, sin, norm1, wq, wk, wv, wo, norm2, gate, up, down, keys, values, 2)


@pl.kernel
def layer64(
    x: pl.f32[T, 64], cos: pl.f32[T, 8], sin: pl.f32[T, 8], norm1: pl.f32[64],
    wq: pl.f32[64, 64], wk: pl.f32[64, 64], wv: pl.f32[64, 64], wo: pl.f32[64, 64],
    norm2: pl.f32[64], gate: pl.f32[64, 192], up: pl.f32[64, 192], down: pl.f32[192, 64],
    keys: pl.f32[S + T, 64], values: pl.f32[S + T, 64],
) -> Any:  # fmt: skip
    """64 channels in 4 heads."""
    return block(x, cos, sin, norm1, wq, wk, wv, wo, norm2, gate, up, down, keys, values, 4)


@pl.kernel
def layer256(
    x: pl.f32[T, 256], cos: pl.f32[T, 16], sin: pl.f32[T, 16], norm1: pl.f32[256],
    wq: pl.f32[256, 256], wk: pl.f32[256, 256], wv: pl.f32[256, 256], wo: pl.f32[256, 256],
    norm2: pl.f32[256], gate: pl.f32[256, 768], up: pl.f32[256, 768], down: pl.f32[768, 256],
    keys: pl.f32[S + T, 256], values: pl.f32[S + T, 256],
) -> Any:  # fmt: skip
    """256 channels in 8 heads."""
    return block(x, cos, sin, norm1, wq, wk, wv, wo, norm2, gate, up, down, keys, values, 8)


@pl.kernel
def quantized16(
    x: pl.f32[T, 16], cos: pl.f32[T, 4], sin: pl.f32[T, 4], norm1: pl.f32[16],
    wq: pl.i8[16, 16], wk: pl.i8[16, 16], wv: pl.i8[16, 16], wo: pl.i8[16, 16],
    norm2: pl.f32[16], gate: pl.i8[16, 32], up: pl.i8[16, 32], down: pl.i8[32, 16],
    sq: pl.f32[16], sk: pl.f32[16], sv: pl.f32[16], so: pl.f32[16],
    sg: pl.f32[32], su: pl.f32[32], sd: pl.f32[16],
    keys: pl.f32[S + T, 16], values: pl.f32[S + T, 16],
) -> Any:  # fmt: skip
    """16 channels in 2 heads, with weights in int8 and a scale per column."""
    q, k, v, o = (wq, sq), (wk, sk), (wv, sv), (wo, so)
    ffn = (gate, sg), (up, su), (down, sd)
    return block(x, cos, sin, norm1, q, k, v, o, norm2, *ffn, keys, values, 2, quantized_product)


@pl.kernel
def quantized64(
    x: pl.f32[T, 64], cos: pl.f32[T, 8], sin: pl.f32[T, 8], norm1: pl.f32[64],
    wq: pl.i8[64, 64], wk: pl.i8[64, 64], wv: pl.i8[64, 64], wo: pl.i8[64, 64],
    norm2: pl.f32[64], gate: pl.i8[64, 192], up: pl.i8[64, 192], down: pl.i8[192, 64],
    sq: pl.f32[64], sk: pl.f32[64], sv: pl.f32[64], so: pl.f32[64],
    sg: pl.f32[192], su: pl.f32[192], sd: pl.f32[64],
    keys: pl.f32[S + T, 64], values: pl.f32[S + T, 64],
) -> Any:  # fmt: skip
    """64 channels in 4 heads, with weights in int8 and a scale per column."""
    q, k, v, o = (wq, sq), (wk, sk), (wv, sv), (wo, so)
    ffn = (gate, sg), (up, su), (down, sd)
    return block(x, cos, sin, norm1, q, k, v, o, norm2, *ffn, keys, values, 4, quantized_product)


@pl.kernel
def quantized256(
    x: pl.f32[T, 256], cos: pl.f32[T, 16], sin: pl.f32[T, 16], norm1: pl.f32[256],
    wq: pl.i8[256, 256], wk: pl.i8[256, 256], wv: pl.i8[256, 256], wo: pl.i8[256, 256],
    norm2: pl.f32[256], gate: pl.i8[256, 768], up: pl.i8[256, 768], down: pl.i8[768, 256],
    sq: pl.f32[256], sk: pl.f32[256], sv: pl.f32[256], so: pl.f32[256],
    sg: pl.f32[768], su: pl.f32[768], sd: pl.f32[256],
    keys: pl.f32[S + T, 256], values: pl.f32[S + T, 256],
) -> Any:  # fmt: skip
    """256 channels in 8 heads, with weights in int8 and a scale per column."""
    q, k, v, o = (wq, sq), (wk, sk), (wv, sv), (wo, so)
    ffn = (gate, sg), (up, su), (down, sd)
    return block(x, cos, sin, norm1, q, k, v, o, norm2, *ffn, keys, values, 8, quantized_product)
