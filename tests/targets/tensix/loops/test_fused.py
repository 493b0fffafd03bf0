# SPDX-License-Identifier: Apache-2.0
"""Formulas of sums, computed in Dst behind the product: which are, and bits of the tile's arithmetic."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from tests.targets.tensix.loops.stages import kernels

import polyloom as pl
from polyloom.targets.tensix.map.loops.fused.choose import array_address, sum_places
from polyloom.targets.tensix.words.arrays.note import FUSED

GEMM = Path(__file__).parents[4] / "examples" / "kernels" / "gemm.py"
N, M, K, L = pl.sizes("N M K L")


@pl.kernel
def scaled(A: pl.f32[N, K], B: pl.f32[K, M], s: pl.f32, C: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            total = 0.0
            for k in range(K):
                total += A[i, k] * B[k, j]
            C[i, j] = max(total * s, 0.0)


@pl.kernel
def gated(
    A: pl.f32[N, K], B: pl.f32[K, M], bias: pl.f32[M], gate: pl.f32[N, M], rest: pl.f32[N, M], C: pl.f32[N, M]
) -> None:
    for i in range(N):
        for j in range(M):
            total = 0.0
            for k in range(K):
                total += A[i, k] * B[k, j]
            C[i, j] = (total + bias[j]) * gate[i, j] + rest[i, j]


@pl.kernel
def activated(A: pl.f32[N, K], B: pl.f32[K, M], bias: pl.f32[M], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            total = 0.0
            for k in range(K):
                total += A[i, k] * B[k, j]
            C[i, j] = pl.exp(min(total + bias[j], 4.0))  # pyright: ignore[reportArgumentType]: kernels may


@pl.kernel
def shown(A: pl.f32[N, K], B: pl.f32[K, M], S: pl.f32[N, M], C: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            S[i, j] = 0.0
            for k in range(K):
                S[i, j] += A[i, k] * B[k, j]
            C[i, j] = S[i, j] * 0.5


def stages(result: pl.Result) -> list[str]:
    return [stage["what"] for stage in cast("list[Any]", result.data["stages"])]


@pytest.mark.parametrize("format", ["bf16", "fp16"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (70, 33, 200), (160, 96, 32)])
def test_alpha_and_beta(format: Any, sizes: tuple[int, int, int]) -> None:
    """Columns of one block, of odd and of even numbers of blocks; sums of one tile, and of more."""
    result = pl.compile(GEMM, on="tensix", format=format).run(dict(zip(("NI", "NJ", "NK"), sizes, strict=True)))
    assert result.verified and stages(result) == [FUSED]


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (scaled, {"format": "tf32"}),
        (scaled, {"format": "bf16", "fidelity": 1}),
        (gated, {"format": "bf16"}),
        (activated, {"format": "bf16"}),
        (kernels.layer, {"format": "fp16"}),
        (kernels.quantised, {}),
    ],
)
def test_formulas(kernel: Any, options: Any) -> None:
    """Relu without arrays, three arrays, more words than the replay buffer has, bias, integers."""
    result = pl.compile(kernel, on="tensix", **options).run(N=100, M=40, K=70)
    assert result.verified and stages(result) == [FUSED]


def test_layers_are_two_fused_products() -> None:
    result = pl.compile(kernels.layers, on="tensix", format="bf16").run(N=70, M=40, K=33, L=50)
    assert result.verified and stages(result) == [FUSED, FUSED]


@pytest.mark.parametrize(
    ("kernel", "options"),
    [(kernels.layer, {}), (kernels.layer, {"format": "bf16", "dest": 16}), (shown, {"format": "bf16"})],
)
def test_what_stays_apart(kernel: Any, options: Any) -> None:
    """Arrays of 32 bits, sums of 16, sums that are an output."""
    result = pl.compile(kernel, on="tensix", **options).run(N=40, M=40, K=40)
    assert result.verified and stages(result) == ["product", "element-wise"]


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("arrays", range(4))
def test_sums_and_arrays_share_dst(arrays: int, width: int) -> None:
    places = sum_places(arrays, width)
    assert places >= 2 and places % 2 == 0
    rows = [(128 * n, 128 * n + 128) for n in range(places)]  # of 16 bits
    scale = width // 2
    for number in range(arrays):
        first = array_address(number, places, width)
        rows += [(scale * (first + 64 * n), scale * (first + 64 * n + 64)) for n in range(places)]
    assert all(end <= start for (_, end), (start, _) in pairwise(rows)) and rows[-1][1] <= 1024
