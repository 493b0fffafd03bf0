# SPDX-License-Identifier: Apache-2.0
"""A transformer layer in three spellings: each is within f32's error of the others, and every machine gives its bits.

The smallest configuration has 16 channels in 2 heads. One compiled layer serves both uses: a prompt of several tokens,
and the token behind it with a cache.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.frontend import Options

FOLDER = Path(__file__).parents[2] / "examples" / "transformer"
sys.path.insert(0, str(FOLDER))
from examples.transformer.layer import layer16, quantized16  # noqa: E402 (the folder is on the path for what the scripts import)
from examples.transformer.weights import layer_inputs, quantized  # noqa: E402

TOKENS, CHANNELS, HEADS, HIDDEN = 4, 16, 2, 32
TOLERANCE = 1e-5
"""Of an f32 result, relative to its largest element."""
HALF = 2e-2
"""The same of bf16."""
Arrays = dict[str, Any]


def inputs(first: int, last: int, keys: np.ndarray | None = None, values: np.ndarray | None = None) -> Arrays:
    """Arguments for the tokens from `first` to `last`, behind a cache of the tokens before."""
    made = layer_inputs(TOKENS + 1, CHANNELS, HEADS, HIDDEN)
    cache = np.zeros((2, last, CHANNELS), np.float32)
    for n, known in enumerate((keys, values)):
        if known is not None:
            cache[n, :first] = known
    return {**made, **{n: made[n][first:last] for n in ("x", "cos", "sin")}, "keys": cache[0], "values": cache[1]}


def prompt() -> tuple[Arrays, np.ndarray]:
    """Arguments of a prompt, and what NumPy gives; the cache is then that of the prompt."""
    given = inputs(0, TOKENS)
    return given, layer16(**{**given, "keys": given["keys"].copy(), "values": given["values"].copy()})


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def run_both(on: str, tolerance: float = TOLERANCE, **options: Any) -> list[bytes]:
    """Results of a prompt and of the token behind it, verified, and as near to NumPy's as the arithmetic allows."""
    compiled, found = pl.compile(layer16, on=on, **options), list[bytes]()
    given, expected = prompt()
    first = compiled.run(S=0, T=TOKENS, **given)
    later = inputs(TOKENS, TOKENS + 1, first.outputs["keys"], first.outputs["values"])
    second = compiled.run(S=TOKENS, T=1, **later)
    wanted = layer16(**{**later, "keys": later["keys"].copy(), "values": later["values"].copy()})
    for run, reference in ((first, expected), (second, wanted)):
        assert run.verified
        assert relative_error(run.outputs["result"], reference) <= tolerance
        found.append(run.outputs["result"].tobytes())
    return found


def test_a_token_behind_a_cache_is_the_last_of_a_longer_prompt() -> None:
    whole = layer16(**inputs(0, TOKENS + 1))
    given, _ = prompt()
    filled = {**given, "keys": given["keys"].copy(), "values": given["values"].copy()}
    layer16(**filled)
    last = layer16(**inputs(TOKENS, TOKENS + 1, filled["keys"], filled["values"]))
    assert relative_error(last[0], whole[-1]) <= TOLERANCE


def test_riscv_gives_the_layer() -> None:
    run_both("riscv")


@pytest.mark.long
@pytest.mark.parametrize("on", ["belt:gold", "tcpa:4x4"])
def test_bits_are_those_of_riscv(on: str) -> None:
    assert run_both(on) == run_both("riscv")


def test_a_tile_is_within_the_error_of_bf16() -> None:
    given, expected = prompt()
    run = pl.compile(layer16, on="tensix", format="bf16").run(S=0, T=TOKENS, **given)
    assert run.verified and relative_error(run.outputs["result"], expected) <= HALF


@pytest.mark.long
def test_int8_has_the_bits_of_riscv_on_the_belt() -> None:
    """The layer has more arguments than the belt has positions: the rest lies in memory."""
    results = list[bytes]()
    for on in ("riscv", "belt:gold"):
        compiled = pl.compile(quantized16, on=on)
        for past in (0, TOKENS):
            given, expected = prefilled(past, is_quantized=True)
            run = compiled.run(S=past, T=len(expected), **given)
            assert run.verified and relative_error(run.outputs["result"], expected) <= TOLERANCE
            results.append(run.outputs["result"].tobytes())
    assert results[:2] == results[2:]


@pytest.mark.long
@pytest.mark.parametrize("past", [0, TOKENS])
def test_a_tile_gives_the_layer_in_int8(past: int) -> None:
    """Where activations are rounded otherwise, integers of a row differ by 1: by as much as quantization misses."""
    given, expected = prefilled(past, is_quantized=True)
    run = pl.compile(quantized16, on="tensix").run(S=past, T=len(expected), **given)
    assert run.verified and relative_error(run.outputs["result"], expected) <= HALF


@pytest.mark.long
def test_a_token_behind_a_cache_is_within_the_error_of_bf16() -> None:
    run_both("tensix", HALF, format="bf16")


@pytest.mark.long
def test_a_tile_is_within_the_error_of_f32_on_its_vector_unit() -> None:
    run_both("tensix", format="fp32")


@pytest.mark.long
def test_minions_are_within_the_error_of_f32() -> None:
    run_both("minion:32")


def prefilled(first: int, is_quantized: bool) -> tuple[Arrays, np.ndarray]:
    """Arguments of the tokens behind `first` others, whose cache is random, in int8 or not, and what NumPy gives."""
    cache = np.random.default_rng(1).standard_normal((2, first, CHANNELS)).astype(np.float32)
    given = inputs(first, first + (TOKENS if not first else 1), *cache)
    given, kernel = (quantized(given), quantized16) if is_quantized else (given, layer16)
    return given, kernel(**{**given, "keys": given["keys"].copy(), "values": given["values"].copy()})


@pytest.mark.long
@pytest.mark.parametrize("is_quantized", [False, True])
@pytest.mark.parametrize("past", [0, TOKENS])
@pytest.mark.parametrize("on", ["riscv", "minion:32", "tensix"])
def test_c_gives_the_layer(on: str, past: int, is_quantized: bool) -> None:
    given, expected = prefilled(past, is_quantized)
    names = {"cos": "cosine", "sin": "sine"}
    flat: Arrays = {names.get(n, n): a.ravel() if n[0] in "wgud" else a for n, a in given.items()}
    room: Arrays = {"att": np.zeros(len(given["keys"]), np.float32), "result": np.zeros_like(expected)}
    sizes = (f"DIM={CHANNELS}", f"HEADS={HEADS}", f"HIDDEN={HIDDEN}")
    name = "quantized" if is_quantized else "layer"
    compiled = pl.compile(str(FOLDER / f"{name}.c"), on=on, options=Options(function=name, defines=sizes))
    run = compiled.run(tokens=len(expected), start=past, **flat, **room)
    assert run.verified
    assert relative_error(run.outputs["result"], expected) <= TOLERANCE


@pytest.mark.long
@pytest.mark.parametrize("is_quantized", [False, True])
@pytest.mark.parametrize("past", [0, TOKENS])
@pytest.mark.parametrize(("on", "tolerance"), [("riscv", TOLERANCE), ("tensix", HALF)])
def test_onnx_gives_the_layer(on: str, tolerance: float, past: int, is_quantized: bool, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    from examples.transformer.write_onnx import layer_model  # needs the extra `onnx`

    given, expected = prefilled(past, is_quantized)
    (tmp_path / "layer.onnx").write_bytes(layer_model(given, HEADS, has_cache=past > 0).SerializeToString())
    model = pl.model(tmp_path / "layer.onnx")
    sizes: Arrays = {"T": len(expected), **({"S": past} if past else {})}
    activations: Arrays = {n: given[n][None] for n in ("x", "cos", "sin")}
    cache: Arrays = {
        f"past_{n}": given[n][:past].reshape(1, past, HEADS, -1).transpose(0, 2, 1, 3).copy()
        for n in ("keys", "values")
        if past
    }
    # Results that a tile stores in parts, some of which come from the cache, have to be given there.
    room: Arrays = {
        n: np.zeros((1, HEADS, past + len(expected), CHANNELS // HEADS), np.float32)
        for n in ("keys", "values")
        if past and on == "tensix"
    }
    run = pl.compile(model, on=on).run(**sizes, **activations, **cache, **room)
    assert run.verified
    assert relative_error(run.outputs["result"][0], expected) <= tolerance
