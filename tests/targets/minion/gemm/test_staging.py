# SPDX-License-Identifier: Apache-2.0
"""Staged products on whole shires: the first chunk from L2, loads of the left factor ahead, packing in the loop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import polyloom as pl
from polyloom.targets.minion import compile as compiling
from polyloom.targets.minion.map.assembly import executable
from polyloom.targets.minion.map.frame import Part
from polyloom.targets.minion.map.product import compile as product
from polyloom.targets.minion.map.product.staging.operand_staging import staged_loop
from polyloom.targets.minion.map.product.staging.ring import Stage
from polyloom.targets.minion.words.note import Note

HALVES = """parameter N >= 0, M >= 0, K >= 0
input A[N, K]: f16, B[K, M]: f16
output C[N, M]: f32

for 0 <= i < N, 0 <= j < M, 0 <= k < K do
  c[i, j, k] = to_f32(A[i, k]) * to_f32(B[k, j]) if k = 0
  c[i, j, k] = c[i, j, k-1] + to_f32(A[i, k]) * to_f32(B[k, j]) if k >= 1
  C[i, j] = c[i, j, k] if k = K - 1
"""
BYTES = HALVES.replace("f16", "i8").replace("f32", "i32")
WORDS = HALVES.replace("f16", "f32").replace("to_f32", "")
TRANSPOSED = WORDS.replace("A[N, K]", "A[K, N]").replace("A[i, k]", "A[k, i]")


def compiled(tmp_path: Path, source: str, minions: int = 32) -> pl.Compiled:
    path = tmp_path / "product.pla"
    path.write_text(source)
    return pl.compile(str(path), on=f"minion:{minions}")


@pytest.mark.parametrize(
    ("source", "minions", "sizes"),
    [
        (WORDS, 32, (64, 128, 128)),
        (WORDS, 64, (128, 256, 144)),
        (TRANSPOSED, 32, (64, 256, 128)),
        (HALVES, 32, (128, 128, 256)),
        (HALVES, 64, (128, 128, 320)),
        (BYTES, 64, (128, 128, 512)),
        (BYTES, 32, (64, 128, 512)),
    ],
)
def test_whole_shires(tmp_path: Path, source: str, minions: int, sizes: tuple[int, int, int]) -> None:
    """Rounds of blocks by rows and columns, on one shire and on two: results are compared, and hazards end the run."""
    result = compiled(tmp_path, source, minions).run(N=sizes[0], M=sizes[1], K=sizes[2])
    assert result.data["hazards"] == []


def test_no_packing_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves on a whole shire are packed in the loop, and on a part of one before it."""
    reasons = list[str]()

    def note_reasons(parts: list[Part], note: Note) -> bytes:
        reasons.extend(part.place.reason for part in parts)
        return executable(parts, note)

    monkeypatch.setattr(compiling, "executable", note_reasons)
    packs = "packs a factor into the order of the tensor unit"
    for minions, before in ((32, False), (16, True)):
        reasons.clear()
        kernel = replace(compiled(tmp_path, HALVES, minions), _made={})
        kernel.prepare_instance({"N": 64, "M": 128, "K": 256})
        assert (packs in reasons) is before


def test_bytes_are_packed_where_it_takes_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packing in the loop makes each step longer, and packing in front of it the start: few steps are packed there."""
    packs = list[bool]()

    def note_packing(stage: Stage, prefix: str) -> list[str]:
        packs.append(stage.packs)
        return staged_loop(stage, prefix)

    monkeypatch.setattr(product, "staged_loop", note_packing)
    for depth in (512, 4096):
        kernel = replace(compiled(tmp_path, BYTES, 1024), _made={})
        kernel.prepare_instance({"N": 512, "M": 512, "K": depth})
    assert packs == [True, False]


def test_two_products_that_pack(tmp_path: Path) -> None:
    """A barrier behind a loop that packs: its credits are in no counter that the loop takes from."""
    path = tmp_path / "two.py"
    path.write_text(
        "import polyloom as pl\n\nN, M, K = pl.sizes('N M K')\n\n\n@pl.kernel\n"
        "def two(A: pl.f16[N, K], B: pl.f16[K, M], C: pl.f32[N, M], D: pl.f32[N, M], S: pl.f32[M, M]):\n"
        "    for i in range(N):\n        for j in range(M):\n            C[i, j] = 0.0\n"
        "            for k in range(K):\n                C[i, j] += pl.to_f32(A[i, k]) * pl.to_f32(B[k, j])\n"
        "    for i in range(N):\n        for j in range(M):\n            D[i, j] = 0.0\n"
        "            for k in range(M):\n                D[i, j] += C[i, k] * S[k, j]\n"
    )
    result = pl.compile(str(path), on="minion:64").run(N=128, M=128, K=256)
    assert result.data["hazards"] == []
    assert result.data["phases"] == ["product", "product"]


def test_the_last_tile_of_an_array_between_phases_ends_within_the_scratchpad() -> None:
    """Tiles of 12 rows are loaded in pieces of 8, so that the last one reads behind its array."""
    gemm = Path(__file__).parents[4] / "examples" / "kernels" / "gemm.py"
    result = pl.compile(gemm, on="minion:32").run(NI=192, NJ=192, NK=192)
    assert result.verdict == "equal bits"
