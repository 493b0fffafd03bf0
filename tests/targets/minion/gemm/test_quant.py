# SPDX-License-Identifier: Apache-2.0
"""What becomes of sums before they are stored: one TensorQuant per block, equal to the oracle and to NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.targets.minion.gemm.test_waits import waits_that_no_one_needs, without_near

import polyloom as pl

__all__ = ("without_near",)

CHAINS = {
    "bytes": ("i8", "bias[M]: i32, scale[M]: f32", "sat8(max(round_i32(to_f32(c[i, j, k] + bias[j]) * scale[j]), 0))"),
    "unsigned": ("u8", "bias[N]: i32, scale[M]: f32", "satu8(round_i32(to_f32(c[i, j, k] + bias[i]) * scale[j]))"),
    "singles": ("f32", "bias[M]: i32, scale[N]: f32", "to_f32(bias[j] + c[i, j, k]) * scale[i]"),
    "sums": ("i32", "bias[M]: i32, scale[M]: f32", "max(c[i, j, k] + bias[j], 0)"),
}


def source(tmp_path: Path, chain: str) -> str:
    element, vectors, term = CHAINS[chain]
    product = "to_i32(A[i, k]) * to_i32(B[k, j])"
    path = tmp_path / f"{chain}.pla"
    path.write_text(
        f"parameter N >= 0, M >= 0, K >= 0\ninput A[N, K]: i8, B[K, M]: i8, {vectors}\noutput C[N, M]: {element}\n\n"
        f"for 0 <= i < N, 0 <= j < M, 0 <= k < K do\n  c[i, j, k] = {product} if k = 0\n"
        f"  c[i, j, k] = c[i, j, k-1] + {product} if k >= 1\n  C[i, j] = {term} if k = K - 1\n"
    )
    return str(path)


def ran(chain: str, sizes: tuple[int, int, int], on: str, tmp_path: Path, **options: Any) -> pl.Result:
    """On random arrays, in which bytes of the result differ."""
    n, m, k = sizes
    rng = np.random.default_rng(n)
    extents = {"N": n, "M": m}
    names = dict(word.split("[") for word in (v.split("]")[0] for v in CHAINS[chain][1].split(", ")))
    bias = rng.integers(-5000, 5000, extents[names["bias"]], np.int32)
    scale = rng.uniform(0.001, 0.01, extents[names["scale"]]).astype(np.float32)
    arrays = {"bias": bias, "scale": scale, "A": rng.integers(-128, 128, (n, k), np.int8)}
    arrays["B"] = rng.integers(-128, 128, (k, m), np.int8)
    arguments: dict[str, Any] = {**arrays, "N": n, "M": m, "K": k}
    result = pl.compile(source(tmp_path, chain), on=on, **options).run(**arguments)
    assert result.verified
    assert result.data["hazards"] == []
    counters = cast("dict[str, int]", result.data["counters"])
    assert counters["tensor_quant"] == -(-n // 16) * -(-m // 16)
    return result


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize(("n", "m", "k", "minions"), [(16, 16, 64, 1), (33, 50, 70, 3), (20, 100, 40, 32)])
def test_chains(chain: str, n: int, m: int, k: int, minions: int, tmp_path: Path) -> None:
    ran(chain, (n, m, k), f"minion:{minions}", tmp_path)


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("sizes", [(70, 90, 300), (128, 64, 512)])
@pytest.mark.usefixtures("without_near")
def test_staged(chain: str, sizes: tuple[int, int, int], tmp_path: Path) -> None:
    """The second harts bring tiles, cooperatively where the blocks are even; vectors come from DRAM."""
    result = ran(chain, sizes, "minion:8", tmp_path)
    assert cast("dict[str, int]", result.data["counters"])["tensor_load_l2"] > 0


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize(("sizes", "minions"), [((40, 50, 100), 2), ((128, 64, 64), 32)])
def test_resident(chain: str, sizes: tuple[int, int, int], minions: int, tmp_path: Path) -> None:
    ran(chain, sizes, f"minion:{minions}", tmp_path, resident=True)


def test_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of a group that has the sum quantizes the block and stores its rows; every wait is needed."""
    sizes: dict[str, Any] = {"N": 20, "M": 16, "K": 300}
    kernel = pl.compile(source(tmp_path, "bytes"), on="minion:4", split_k=4, broadcast=True)
    # Sixteen rows in four parts, and four in one.
    result = kernel.run(**sizes)
    assert cast("dict[str, int]", result.data["counters"])["tensor_quant"] == 5
    assert waits_that_no_one_needs(monkeypatch, [kernel], sizes) == []


def test_bytes_are_those_of_numpy(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-128, 128, shape, np.int8) for shape in ((30, 40), (40, 20)))
    bias, scale = rng.integers(-999, 999, 20, np.int32), np.full(20, 2.0**-8, np.float32)
    result = pl.compile(source(tmp_path, "bytes"), on="minion:4").run(
        N=30, M=20, K=40, A=a, B=b, bias=bias, scale=scale
    )
    sums = a.astype(np.int64) @ b.astype(np.int64) + bias
    expected = np.clip(np.maximum(np.rint(sums / 256), 0), -128, 127).astype(np.int8)
    assert np.array_equal(result.outputs["C"], expected)
    assert len(np.unique(expected)) > 10
