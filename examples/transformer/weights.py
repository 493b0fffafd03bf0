# SPDX-License-Identifier: Apache-2.0
"""Inputs of a transformer layer: random weights, activations of unit variance, and the angles of rotary embeddings."""

from __future__ import annotations

import numpy as np

Arrays = dict[str, np.ndarray]
WEIGHTS = ("norm1", "wq", "wk", "wv", "wo", "norm2", "gate", "up", "down")
SCALES = {"wq": "sq", "wk": "sk", "wv": "sv", "wo": "so", "gate": "sg", "up": "su", "down": "sd"}
"""Names of the scales of int8 weights."""


def rotary_tables(start: int, tokens: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines, [token, half a head], from `start` on: pair i turns by position / 10000^(2i/width)."""
    angles = np.arange(start, start + tokens)[:, None] / 10000.0 ** (np.arange(0, width, 2) / width)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def layer_inputs(tokens: int, channels: int, heads: int, hidden: int, seed: int = 0) -> Arrays:
    """Activations, tables and weights by the names of the layer's arguments, f32."""
    random = np.random.default_rng(seed)

    def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    x = normal(tokens, channels)
    cos, sin = rotary_tables(0, tokens, channels // heads)
    square = {name: normal(channels, channels, scale=channels**-0.5) for name in ("wq", "wk", "wv", "wo")}
    wide = {name: normal(channels, hidden, scale=channels**-0.5) for name in ("gate", "up")}
    norms = {name: 1 + normal(channels, scale=0.1) for name in ("norm1", "norm2")}
    down = normal(hidden, channels, scale=hidden**-0.5)
    return {"x": x, "cos": cos, "sin": sin, **norms, **square, **wide, "down": down}


def quantized(data: Arrays) -> Arrays:
    """The inputs with matrices in int8, and a scale per column of each: the largest magnitude of a column is 127."""
    found = dict(data)
    for name, scale in SCALES.items():
        found[scale] = np.abs(data[name]).max(axis=0) / np.float32(127)
        found[name] = np.rint(data[name] / found[scale]).astype(np.int8)
    return found
