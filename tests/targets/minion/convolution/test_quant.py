# SPDX-License-Identifier: Apache-2.0
"""What becomes of a convolution's sums before they are stored: one TensorQuant per tile, equal to the oracle and to
NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.targets.minion.gemm.test_waits import waits_that_no_one_needs

import polyloom as pl

KERNEL = """import polyloom as pl

H, W, C, M = pl.sizes("H W C M")


@pl.kernel
def conv(
    x: pl.{image}[H, W, C], k: pl.i8[3, 3, C, M], bias: pl.i32[M], scale: pl.f32[M], y: pl.{result}[{shape}]
) -> None:
    for h in range(H):
        for w in range(W):
            for m in range(M):
                s = {begin}
                for r in range(3):
                    for t in range(3):
                        if h + r >= 1 and h + r <= H and w + t >= 1 and w + t <= W:
                            for c in range(C):
                                s += pl.to_i32(x[h + r - 1, w + t - 1, c]) * pl.to_i32(k[r, t, c, m])
{chain}
"""
SCALED = "pl.round_i32(pl.to_f32({s}) * scale[m])"
FORMS = {
    "bias first": ("u8", "i8", "H, W, M", "bias[m]", [f"y[h, w, m] = pl.sat8(max({SCALED.format(s='s')}, 0))"]),
    "bias last": ("i8", "u8", "H, W, M", "0", [f"y[h, w, m] = pl.satu8({SCALED.format(s='s + bias[m]')})"]),
    "statements": (
        "i8",
        "i8",
        "H, W, M",
        "0",
        ["s = bias[m] + s", f"q = {SCALED.format(s='s')}", "q = max(q, 0)", "y[h, w, m] = pl.sat8(q)"],
    ),
    "floats, channels first": ("i8", "f32", "M, H, W", "bias[m]", ["y[m, h, w] = pl.to_f32(s) * scale[m]"]),
    "sums": ("i8", "i32", "H, W, M", "0", ["y[h, w, m] = max(s + bias[m], 0)"]),
}
LAYER = """parameter H >= 1, W >= 1, C >= 1, M >= 1
input x[H, W, C]: i8, k[C, M]: i8, scale[M]: f32
output y[H, W, M]: i8

for 0 <= h < H, 0 <= w < W, 0 <= m < M, 0 <= c < C do
  p[h, w, m, c] = to_i32(x[h, w, c]) * to_i32(k[c, m])
  s[h, w, m, c] = p[h, w, m, c]                       if c = 0
  s[h, w, m, c] = s[h, w, m, c-1] + p[h, w, m, c]     if c >= 1
  y[h, w, m] = sat8(round_i32(to_f32(s[h, w, m, c]) * scale[m])) if c = C - 1
"""


def kernel(tmp_path: Path, form: str) -> str:
    image, result, shape, begin, chain = FORMS[form]
    path = tmp_path / "conv.py"
    lines = "\n".join(f"{' ' * 16}{line}" for line in chain)
    path.write_text(KERNEL.format(image=image, result=result, shape=shape, begin=begin, chain=lines))
    return f"{path}:conv"


def arrays(form: str, h: int, w: int, c: int, m: int) -> dict[str, Any]:
    rng = np.random.default_rng(h)
    x = rng.integers(0, 256, (h, w, c)).astype(FORMS[form][0].replace("i8", "int8").replace("u8", "uint8"))
    k = rng.integers(-128, 128, (3, 3, c, m)).astype(np.int8)
    bias = rng.integers(-9999, 9999, m).astype(np.int32)
    made: dict[str, Any] = {"x": x, "k": k, "bias": bias, "H": h, "W": w, "C": c, "M": m}
    # What a function does not read is no input.
    return made if form == "sums" else {**made, "scale": np.full(m, 2.0**-11, np.float32)}


def numpy_sums(given: dict[str, Any]) -> Any:
    """[h, w, m], the bias included."""
    x, k = given["x"].astype(np.int64), given["k"].astype(np.int64)
    padded = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    h, w, _ = x.shape
    taps = [padded[r : r + h, t : t + w] @ k[r, t] for r in range(3) for t in range(3)]
    return np.sum(taps, axis=0) + given["bias"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("sizes", "minions"), [((2, 3, 5, 7), 1), ((3, 18, 70, 20), 5)])
def test_forms(form: str, sizes: tuple[int, int, int, int], minions: int, tmp_path: Path) -> None:
    given = arrays(form, *sizes)
    result = pl.compile(kernel(tmp_path, form), on=f"minion:{minions}").run(**given)
    assert result.verified
    assert (result.data["phases"], result.data["hazards"]) == (["convolution"], [])
    h, w, _, m = sizes
    sums = numpy_sums(given)
    scaled = np.rint(sums / 2048)
    expected = {
        "bias first": np.clip(scaled, 0, 127),
        "bias last": np.clip(scaled, 0, 255),
        "statements": np.clip(scaled, 0, 127),
        "floats, channels first": (sums / 2048).transpose(2, 0, 1),
        "sums": np.maximum(sums, 0),
    }[form]
    assert np.array_equal(np.asarray(result.outputs["y"]), expected)
    counters = cast("dict[str, int]", result.data["tensor_operations"])
    assert counters["tensor_quant"] >= h * -(-w // 16) * -(-m // 16)


def test_equations_without_a_window(tmp_path: Path) -> None:
    path = tmp_path / "layer.pla"
    path.write_text(LAYER)
    result = pl.compile(str(path), on="minion:3").run(H=3, W=5, C=40, M=20)
    assert result.verified
    assert cast("dict[str, int]", result.data["tensor_operations"])["tensor_quant"] > 0


def test_bytes_of_pixels_are_not_turned_over(tmp_path: Path) -> None:
    """Loads transpose words only: such a function becomes loops."""
    text = Path(kernel(tmp_path, "sums").split(":")[0]).read_text()
    text = (
        text.replace("range(3)", "range(1)")
        .replace("3, 3, C, M", "1, 1, C, M")
        .replace("i32[H, W, M]", "i8[M, H, W]")
        .replace("y[h, w, m] = max(s + bias[m], 0)", "y[m, h, w] = pl.sat8(s)")
    )
    path = tmp_path / "turned.py"
    path.write_text(text)
    result = pl.compile(f"{path}:conv", on="minion:2").run(H=2, W=3, C=2, M=2)
    assert (result.verified, result.data["phases"]) == (True, ["simd"])


@pytest.mark.parametrize("form", ["bias first", "floats, channels first"])
def test_every_wait_is_needed(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pl.compile(kernel(tmp_path, form), on="minion:2")
    assert waits_that_no_one_needs(monkeypatch, [compiled], arrays(form, 2, 18, 20, 20)) == []
