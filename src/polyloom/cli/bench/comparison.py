# SPDX-License-Identifier: Apache-2.0
"""Every kernel of examples/kernels on every target, on its example's place: verified, or refused with its code.

The bounds are those of `bench polybench`. A cell is the verdict: `equal bits` (those of the source), `within` (other
bits for a reason that the target gives, and its own oracles agree), `differs`, or the code of the refusal.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from polyloom.cli import examples
from polyloom.cli.bench.polybench import REASSOCIATED, SIZES, path
from polyloom.comparison.pipeline import compare
from polyloom.comparison.rows import Row
from polyloom.frontend.source import Options
from polyloom.targets.entry import entries

_TOKENS: Final = 64
_LAYERS: Final = {64: (4, 192), 256: (8, 768)}
"""Heads and hidden channels, by the channels of a layer."""
_PLACES: Final = ("tcpa:4x4", "tcpa:16x16", "belt:gold", "riscv:rv64gc", "minion:32", "minion:1024", "tensix")


def rows() -> Iterator[dict[str, object]]:
    yield from (row(kernel, sizes) for kernel, sizes in SIZES.items())


def row(kernel: str, sizes: Mapping[str, int]) -> dict[str, object]:
    """One kernel on all targets."""
    places = [entry.example for entry in entries().values()]
    made = compare(path(kernel), sizes, on=places, options=Options(reassociate=kernel in REASSOCIATED))
    return {
        "kernel": kernel,
        "bounds": "x".join(map(str, sizes.values())),
        "work": made.work,
        **{each.on: outcome(each) for each in made.rows},
    }


def outcome(made: Row) -> str:
    """Of a row of a comparison."""
    if made.refused is not None:
        return made.refused.code
    return str(made.verdict)


def layer_rows() -> Iterator[dict[str, object]]:
    """A transformer layer of examples/transformer on every machine: a prompt of 64 tokens, and the token behind it.

    Activations and weights are normal, of the scales that keep activations at unit variance (Glorot and Bengio, 2010),
    so that softmax and SiLU see the arguments that they see in trained models."""
    for channels in _LAYERS:
        for past, tokens in ((0, _TOKENS), (_TOKENS, 1)):
            made = compare(kernel_path(channels), layer_values(channels, past, tokens), on=_PLACES)
            yield from (_layer_row(channels, past, tokens, each) for each in made.rows)


def kernel_path(channels: int) -> str:
    """The kernel of whole arrays with so many channels."""
    return f"{examples.folder() / 'transformer' / 'layer.py'}:layer{channels}"


def layer_values(channels: int, past: int, tokens: int) -> dict[str, Any]:
    """Sizes and arrays of a layer for tokens behind a cache."""
    heads, hidden = _LAYERS[channels]
    made = runpy.run_path(str(examples.folder() / "transformer" / "weights.py"))
    values = made["layer_inputs"](past + tokens, channels, heads, hidden)
    cut = {name: values[name][past:] for name in ("x", "cos", "sin")}
    cache = np.random.default_rng(1).standard_normal((2, past + tokens, channels)).astype(np.float32)
    return {"S": past, "T": tokens, **values, **cut, "keys": cache[0], "values": cache[1]}


def _layer_row(channels: int, past: int, tokens: int, made: Row) -> dict[str, object]:
    share = made.figures.share_of_unit_bound
    return {
        "layer": f"{channels} channels, {tokens} tokens behind {past}",
        "on": made.on,
        "verdict": outcome(made),
        "cycles": made.cycles,
        "of unit bound": None if share is None else f"{share:.0%}",
        "bound by": made.costs.bound_by,
    }
