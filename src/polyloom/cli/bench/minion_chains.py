# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench minion`: stage fusion. Two products, of which the second one reads the first one's result, as one
loop, and as two programs one after another; in the second row pairs of minions share sums, which are broadcast. And
what compiled convolutions reach, and how much faster they are than the same loops with packed SIMD, where `--fp strict`
keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from polyloom.cli.bench.minion_tables.sources import compile_source, run_random

_SOURCE: Final = """
import polyloom as pl

N, K, R, M = pl.sizes("N K R M")


@pl.kernel
def chain(A: pl.f32[N, K], U: pl.f32[K, R], V: pl.f32[R, M], T: pl.f32[N, R], D: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(R):
            T[i, j] = 0.0
            for k in range(K):
                T[i, j] += A[i, k] * U[k, j]
    for i in range(N):
        for j in range(M):
            D[i, j] = 0.0
            for k in range(R):
                D[i, j] += T[i, k] * V[k, j]


@pl.kernel
def product(T: pl.f32[N, R], V: pl.f32[R, M], D: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            D[i, j] = 0.0
            for k in range(R):
                D[i, j] += T[i, k] * V[k, j]
"""
_R: Final = 16


@dataclass(frozen=True, slots=True)
class _Case:
    n: int
    k: int
    m: int
    minions: int
    fp: str


_CASES: Final = (_Case(1024, 64, 16, 64, "contract"), _Case(2048, 64, 32, 256, "reassociate"))


def rows() -> Iterator[dict[str, object]]:
    """From DRAM to DRAM."""
    for case in _CASES:
        yield from _rows(case)


def _rows(c: _Case) -> list[dict[str, object]]:
    # In one program the intermediate stays in the minions' scratchpads; two programs write it to memory and read it
    # back.
    joined = _cycles(c, "chain", {"N": c.n, "K": c.k, "R": _R, "M": c.m})
    first = _cycles(c, "product", {"N": c.n, "R": c.k, "M": _R})
    second = _cycles(c, "product", {"N": c.n, "R": _R, "M": c.m})
    what = f"f32 {c.n} x {c.k} x {_R}, then x {_R} x {c.m}, {c.minions} minions"
    return [
        {"what": f"{what}, one loop", "model": joined, "unit": "cycles"},
        {"what": f"{what}, two programs", "model": first + second, "unit": "cycles"},
    ]


def _cycles(c: _Case, name: str, sizes: dict[str, int]) -> int:
    made = run_random(compile_source(_SOURCE, f"chain.py:{name}", c.minions, sizes, fp=c.fp), sizes)
    assert made.cycles is not None, "it runs in time"
    return made.cycles


# --- convolutions ---

_SHIRE: Final = 32
_CONVOLUTION: Final = """
import polyloom as pl

H, W, C, M = pl.sizes("H W C M")


@pl.kernel
def conv(x: pl.f32[H, W, C], k: pl.f32[3, 3, C, M], y: pl.f32[H, W, M]) -> None:
    for h in range(H):
        for w in range(W):
            for m in range(M):
                y[h, w, m] = 0.0
                for r in range(3):
                    for s in range(3):
                        if h + r >= 1 and h + r <= H and w + s >= 1 and w + s <= W:
                            for c in range(C):
                                y[h, w, m] += x[h + r - 1, w + s - 1, c] * k[r, s, c, m]
"""


def convolution_rows() -> Iterator[dict[str, object]]:
    """A padded convolution on one shire, from DRAM to DRAM."""
    what = f"f32 convolution 3 x 3, padded, {_SHIRE} minions"
    used = _run_convolution(56, 64, "contract").facts["utilization"]
    yield {"what": f"{what}, 56 x 56 x 64 to 64", "model": round(used, 3), "unit": "utilization"}
    tensor, loops = (_run_convolution(14, 32, fp).cycles for fp in ("contract", "strict"))
    yield {"what": f"{what}, 14 x 14 x 32 to 32", "model": round(loops / tensor, 1), "unit": "times as fast as loops"}


def _run_convolution(pixels: int, channels: int, fp: str) -> Any:
    sizes = {"H": pixels, "W": pixels, "C": channels, "M": channels}
    return run_random(compile_source(_CONVOLUTION, "conv.py:conv", _SHIRE, sizes, fp=fp), sizes)
