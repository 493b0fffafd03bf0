# SPDX-License-Identifier: Apache-2.0
"""Trains a model of one layer on the characters of a text, by NumPy alone: `python train.py TEXT MODEL.npz`.

The model is an embedding, the layer of layer.py with 16 channels in 2 heads, a norm, and a product that gives scores of
characters. Gradients are written out (reverse-mode differentiation); the optimizer is Adam (Kingma and Ba, 2015).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from weights import Arrays, layer_inputs, rotary_tables

CHANNELS, HEADS, HIDDEN = 16, 2, 32
CONTEXT, BATCH, STEPS = 32, 32, 1500
_NAMES = ("norm1", "wq", "wk", "wv", "wo", "norm2", "gate", "up", "down")


def characters(text: str) -> str:
    """The characters that a model knows, in order."""
    return "".join(sorted(set(text)))


def initial_model(count: int) -> Arrays:
    """Random parameters for `count` characters."""
    random = np.random.default_rng(0)
    made = layer_inputs(1, CHANNELS, HEADS, HIDDEN)
    embedding = random.standard_normal((count, CHANNELS)).astype(np.float32)
    scores = (random.standard_normal((CHANNELS, count)) * CHANNELS**-0.5).astype(np.float32)
    norm = np.ones(CHANNELS, np.float32)
    return {"embedding": embedding, **{n: made[n] for n in _NAMES}, "norm3": norm, "scores": scores}


def norm(x: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normalized activations, and what each was divided by."""
    root = np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5)
    return x / root * gain, root


def norm_gradient(dy: np.ndarray, x: np.ndarray, root: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the input and of the gain."""
    unit, dunit = x / root, dy * gain
    inner = (dunit * unit).mean(axis=-1, keepdims=True)
    return (dunit - unit * inner) / root, (dy * unit).sum(axis=(0, 1))


def turn(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Rotary embedding of [batch, token, head, channel]; with -sin, its transpose."""
    even, odd, c, s = x[..., 0::2], x[..., 1::2], cos[:, None], sin[:, None]
    return np.stack([even * c - odd * s, even * s + odd * c], axis=-1).reshape(x.shape)


def loss_and_gradients(model: Arrays, inputs: np.ndarray, targets: np.ndarray) -> tuple[float, Arrays]:
    """Mean cross entropy of the next character, and its gradients; inputs and targets are [batch, token]."""
    m, (batch, tokens), width = model, inputs.shape, CHANNELS // HEADS
    split, joined = (batch, tokens, HEADS, width), (batch, tokens, CHANNELS)
    cos, sin = rotary_tables(0, tokens, width)
    x0 = m["embedding"][inputs]
    h1, r1 = norm(x0, m["norm1"])
    q = turn((h1 @ m["wq"]).reshape(split), cos, sin)
    k = turn((h1 @ m["wk"]).reshape(split), cos, sin)
    v = (h1 @ m["wv"]).reshape(split)
    scale = np.float32(width**-0.5)
    s = np.einsum("bihd,bjhd->bhij", q, k) * scale + np.triu(np.full((tokens, tokens), -1e9, np.float32), 1)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    o = np.einsum("bhij,bjhd->bihd", p, v).reshape(joined)
    x1 = x0 + o @ m["wo"]
    h2, r2 = norm(x1, m["norm2"])
    a, u = h2 @ m["gate"], h2 @ m["up"]
    gate = 1 / (1 + np.exp(-a))
    x2 = x1 + (a * gate * u) @ m["down"]
    h3, r3 = norm(x2, m["norm3"])
    z = h3 @ m["scores"]
    z = np.exp(z - z.max(axis=-1, keepdims=True))
    z /= z.sum(axis=-1, keepdims=True)
    at = (*np.indices(targets.shape), targets)
    loss = float(-np.log(z[at] + 1e-9).mean())

    def weight(x: np.ndarray, dy: np.ndarray) -> np.ndarray:
        return x.reshape(-1, x.shape[-1]).T @ dy.reshape(-1, dy.shape[-1])

    z[at] -= 1
    z /= np.float32(targets.size)
    found = {"scores": weight(h3, z)}
    dx2, found["norm3"] = norm_gradient(z @ m["scores"].T, x2, r3, m["norm3"])
    found["down"] = weight(a * gate * u, dx2)
    dy = dx2 @ m["down"].T
    da, du = dy * u * gate * (1 + a * (1 - gate)), dy * a * gate
    found |= {"gate": weight(h2, da), "up": weight(h2, du)}
    dx1, found["norm2"] = norm_gradient(da @ m["gate"].T + du @ m["up"].T, x1, r2, m["norm2"])
    dx1 += dx2
    found["wo"] = weight(o, dx1)
    do = (dx1 @ m["wo"].T).reshape(split)
    dv, dp = np.einsum("bhij,bihd->bjhd", p, do).reshape(joined), np.einsum("bihd,bjhd->bhij", do, v)
    ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) * scale
    dq = turn(np.einsum("bhij,bjhd->bihd", ds, k), cos, -sin).reshape(joined)
    dk = turn(np.einsum("bhij,bihd->bjhd", ds, q), cos, -sin).reshape(joined)
    found |= {"wq": weight(h1, dq), "wk": weight(h1, dk), "wv": weight(h1, dv)}
    dh1 = dq @ m["wq"].T + dk @ m["wk"].T + dv @ m["wv"].T
    dx0, found["norm1"] = norm_gradient(dh1, x0, r1, m["norm1"])
    found["embedding"] = np.zeros_like(m["embedding"])
    np.add.at(found["embedding"], inputs, dx0 + dx1)
    return loss, found


def train(text: str, steps: int = STEPS) -> tuple[Arrays, list[float]]:
    """A model of the text, and the loss of each step."""
    known = characters(text)
    data = np.array([known.index(c) for c in text])
    model, random = initial_model(len(known)), np.random.default_rng(1)
    first = {name: np.zeros_like(value) for name, value in model.items()}
    second = {name: np.zeros_like(value) for name, value in model.items()}
    losses = list[float]()
    for step in range(1, steps + 1):
        begin = random.integers(0, len(data) - CONTEXT - 1, BATCH)
        chosen = data[begin[:, None] + np.arange(CONTEXT + 1)]
        loss, gradients = loss_and_gradients(model, chosen[:, :-1], chosen[:, 1:])
        losses.append(loss)
        rate = 0.01 * min(1.0, 2 * (1 - step / (steps + 1)))
        for name, gradient in gradients.items():
            first[name] = 0.9 * first[name] + 0.1 * gradient
            second[name] = 0.99 * second[name] + 0.01 * gradient * gradient
            move = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.99**step)) + 1e-8)
            model[name] = (model[name] - rate * move).astype(np.float32)
    return model, losses


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    model, losses = train(text)
    arrays: dict[str, Any] = {"characters": characters(text), **model}
    np.savez(sys.argv[2], **arrays)
    print(f"loss {losses[0]:.2f} -> {np.mean(losses[-50:]):.2f} after {len(losses)} steps")
