# SPDX-License-Identifier: Apache-2.0
"""A transformer layer of examples/transformer on every machine: a prompt of 64 tokens, and the token behind it.

A row is one use on one place: the verdict, cycles, work per cycle, the share of the units' bound, and what binds by the
target's own account. Activations and weights are normal, of the scales that keep activations at unit variance (Glorot
and Bengio, 2010), so that softmax and SiLU see the arguments that they see in trained models.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from polyloom.cli import examples
from polyloom.comparison.pipeline import compare
from polyloom.comparison.rows import Row

TOKENS: Final = 64
LAYERS: Final = {64: (4, 192), 256: (8, 768)}
"""Heads and hidden channels, by the channels of a layer."""
PLACES: Final = ("tcpa:4x4", "tcpa:16x16", "belt:gold", "riscv:rv64gc", "minion:32", "minion:1024", "tensix")


def rows() -> Iterator[dict[str, object]]:
    for channels in LAYERS:
        for past, tokens in ((0, TOKENS), (TOKENS, 1)):
            made = compare(kernel_path(channels), layer_values(channels, past, tokens), on=PLACES)
            yield from (_row(channels, past, tokens, each) for each in made.rows)


def kernel_path(channels: int) -> str:
    """The kernel of whole arrays with so many channels."""
    return f"{examples.folder() / 'transformer' / 'layer.py'}:layer{channels}"


def layer_values(channels: int, past: int, tokens: int) -> dict[str, Any]:
    """Sizes and arrays of a layer for tokens behind a cache."""
    heads, hidden = LAYERS[channels]
    made = runpy.run_path(str(examples.folder() / "transformer" / "weights.py"))
    values = made["layer_inputs"](past + tokens, channels, heads, hidden)
    cut = {name: values[name][past:] for name in ("x", "cos", "sin")}
    cache = np.random.default_rng(1).standard_normal((2, past + tokens, channels)).astype(np.float32)
    return {"S": past, "T": tokens, **values, **cut, "keys": cache[0], "values": cache[1]}


def _row(channels: int, past: int, tokens: int, made: Row) -> dict[str, object]:
    outcome = made.refused.code if made.refused is not None else str(made.verdict)
    share = made.figures.share_of_unit_bound
    return {
        "layer": f"{channels} channels, {tokens} tokens behind {past}",
        "on": made.on,
        "verdict": outcome,
        "cycles": made.cycles,
        "of unit bound": None if share is None else f"{share:.0%}",
        "bound by": made.costs.bound_by,
    }
