# SPDX-License-Identifier: Apache-2.0
"""Every program of the comparison (one list: kernels at the bounds of `bench polybench`, ten functions in the manner of
libraries, the layer of a transformer) on every target, on its example's place: verified, or refused with its code.

A cell is the run's cycles, of targets without time its instructions, where its outputs equal the source's bits. Behind
`≈` they have other bits for a reason that the target gives, and are within its bound. Else the cell is `differs`, or
the code of the refusal.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from polyloom.cli import examples
from polyloom.cli.bench.polybench import REASSOCIATED, SIZES
from polyloom.comparison.pipeline import compare
from polyloom.comparison.result import Comparison
from polyloom.comparison.rows import Row
from polyloom.frontend.source import Options
from polyloom.targets.account_advice import binding_loss
from polyloom.targets.entry import entries
from polyloom.targets.subject import Progress

WITHIN: Final = "≈ "
_TOKENS: Final = 64
_LAYERS: Final = {64: (4, 192), 256: (8, 768)}
"""Heads and hidden channels, by the channels of a layer."""
_KERNELS: Final = {"f32": "layer", "int8": "quantized"}
"""Names of kernels, by the type of their weights."""
_PLACES: Final = ("tcpa:4x4", "tcpa:16x16", "belt:gold", "riscv:rv64gc", "minion:32", "minion:1024", "tensix")
_TILE, _HALF = "tensix", "bf16"
Value = int | float


@dataclass(frozen=True, slots=True)
class Listed:
    """Program of examples/: its `file` there, the values of its sizes and scalars, and of several its `function`."""

    name: str
    file: str
    values: Mapping[str, Value]
    reassociate: bool = False
    function: str | None = None

    @property
    def path(self) -> str:
        found = str(examples.folder() / self.file)
        return found if self.function is None else f"{found}:{self.function}"


_LIBRARY: Final[Mapping[str, Mapping[str, Value]]] = {
    "fir_q15": {"n": 64, "taps": 16},
    "biquad_cascade": {"sections": 4, "n": 64},
    "fft_stage": {"groups": 8, "half": 16},
    "correlate": {"n": 48, "m": 24},
    "matvec_s8": {
        "rows": 32, "columns": 32, "input_offset": 128, "output_offset": -3, "multiplier": 1340000000, "shift": 7,
    },
    "depthwise_s8": {"height": 8, "width": 8, "channels": 8, "input_offset": 128, "output_offset": -3, "shift": 7},
    "softmax": {"rows": 16, "columns": 24},
    "average_pool_s8": {"height": 8, "width": 8, "channels": 8, "low": -128, "high": 127},
    "hard_swish": {"n": 1024},
    "layer_norm": {"rows": 16, "columns": 24, "epsilon": 0.00001},
}  # fmt: skip
_ALL: Final = (
    *(Listed(name, f"kernels/{name}.py", sizes, name in REASSOCIATED) for name, sizes in SIZES.items()),
    *(Listed(name, f"library/{name}.c", values) for name, values in _LIBRARY.items()),
    Listed("transformer", "transformer/layer.py", {"S": 0, "T": 64}, function="layer64"),
)


def programs() -> tuple[Listed, ...]:
    """Programs whose files there are."""
    return tuple(each for each in _ALL if (examples.folder() / each.file).is_file())


def rows() -> Iterator[dict[str, object]]:
    yield from map(row, programs())


def row(listed: Listed) -> dict[str, object]:
    """One program on all targets."""
    made = compare_places(listed, places())
    bounds = "x".join(map(str, listed.values.values()))
    return {
        "program": listed.name,
        "bounds": bounds,
        "work": made.work,
        **{each.on: outcome(each) for each in made.rows},
    }


def places() -> list[str]:
    """Example places of all targets."""
    return [entry.example for entry in entries().values()]


def compare_places(listed: Listed, on: Sequence[str], progress: Progress | None = None) -> Comparison:
    """Comparison of one program. Errors: those of reading it."""
    return compare(
        listed.path, listed.values, on=on, options=Options(reassociate=listed.reassociate), progress=progress
    )


def outcome(made: Row) -> str:
    """Cell of a row of a comparison."""
    if made.refused is not None:
        return made.refused.code
    count = made.cycles if made.cycles is not None else made.costs.issued
    if not made.verified or count is None:
        return str(made.verdict)
    return f"{'' if made.verdict == 'equal bits' else WITHIN}{count:,}"


def layer_rows() -> Iterator[dict[str, object]]:
    """A transformer layer of examples/transformer on every machine, in f32 and with weights in int8: a prompt of 64
    tokens, and the token behind it.

    Activations and weights are normal, of the scales that keep activations at unit variance (Glorot and Bengio, 2010),
    so that softmax and SiLU see the arguments that they see in trained models."""
    for channels in _LAYERS:
        for weights in _KERNELS:
            for past, tokens in ((0, _TOKENS), (_TOKENS, 1)):
                yield from _layer_rows(channels, weights, past, tokens)


def _layer_rows(channels: int, weights: str, past: int, tokens: int) -> Iterator[dict[str, object]]:
    """A layer for tokens behind a cache on every machine."""
    path, values = kernel_path(channels, weights), layer_values(channels, past, tokens, weights)
    name = f"{channels} channels, {weights}, {tokens} tokens behind {past}"
    # Each place by itself: its row is printed when it is known.
    for place in _PLACES:
        yield _layer_row(name, compare(path, values, on=place).rows[0])
    # A tile keeps twice as many numbers of 16 bits, and has another error then.
    made = compare(path, values, on=_TILE, own={"format": _HALF}, texts=True)
    yield _layer_row(name, made.rows[0], f" --format {_HALF}")


def kernel_path(channels: int, weights: str = "f32") -> str:
    """The kernel of whole arrays with so many channels, and weights in f32 or int8."""
    return f"{examples.folder() / 'transformer' / 'layer.py'}:{_KERNELS[weights]}{channels}"


def layer_values(channels: int, past: int, tokens: int, weights: str = "f32") -> dict[str, Any]:
    """Sizes and arrays of a layer for tokens behind a cache."""
    heads, hidden = _LAYERS[channels]
    made = runpy.run_path(str(examples.folder() / "transformer" / "weights.py"))
    values = made["layer_inputs"](past + tokens, channels, heads, hidden)
    values = made["quantized"](values) if weights == "int8" else values
    cut = {name: values[name][past:] for name in ("x", "cos", "sin")}
    cache = np.random.default_rng(1).standard_normal((2, past + tokens, channels)).astype(np.float32)
    return {"S": past, "T": tokens, **values, **cut, "keys": cache[0], "values": cache[1]}


def _layer_row(name: str, made: Row, options: str = "") -> dict[str, object]:
    return {
        "layer": name,
        "on": f"{made.on}{options}",
        "verdict": outcome(made),
        "cycles": made.cycles,
        "of unit bound": _percent(made.figures.share_of_unit_bound),
        "of memory bound": _percent(made.figures.share_of_memory_bound),
        "bound by": None if made.account is None else binding_loss(made.account),
    }


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.0%}"
