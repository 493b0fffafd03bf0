# SPDX-License-Identifier: Apache-2.0
"""Products on a grid of tiles: results in the tile's arithmetic, sizes and grids of any shape, what is refused, what
links and channels carry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden

import polyloom as pl
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.map.spread.channels import place_pieces, row_channels
from polyloom.targets.tensix.map.spread.shape import Shape, place_spread, split_packets
from polyloom.targets.tensix.place import describe, place
from polyloom.targets.tensix.run.spread import binding_shares, execute_spread, read_result
from polyloom.targets.tensix.run.stages import Limits
from polyloom.targets.tensix.words.arrays import spread_note
from polyloom.targets.tensix.words.arrays.area import DATA, END
from polyloom.targets.tensix.words.arrays.formats import FORMATS, dst_result_format

EXAMPLES = Path(__file__).parents[5] / "examples"
MATMUL = str(EXAMPLES / "matmul.pla")
TRANSPOSED = """parameter N >= 0, M >= 0, K >= 0
input A[K, N]: i32, B[M, K]: i32
output C[M, N]: i32
for 0 <= i < N, 0 <= j < M, 0 <= k < K do
  c[i, j, k] = A[k, i] * B[j, k]                 if k = 0
  c[i, j, k] = A[k, i] * B[j, k] + c[i, j, k-1]  if k >= 1
  C[j, i] = c[i, j, k]                           if k = K - 1
"""


def run(grid: str, n: int, m: int, k: int, source: str = MATMUL, **more: Any) -> pl.Result:
    """A run that equals the tile's arithmetic in every bit, or raises."""
    return pl.compile(source, on=f"tensix:wormhole:{grid}", **more).run({"N": n, "M": m, "K": k})


@pytest.mark.parametrize(
    ("grid", "sizes", "options"),
    [
        ("1x1", (1, 1, 1), {}),
        ("1x1", (33, 70, 40), {"format": "bf16"}),
        ("2x2", (64, 64, 64), {"format": "bf16", "fidelity": 2}),
        ("2x3", (650, 40, 33), {"format": "bf16", "fidelity": 1}),
        ("3x2", (100, 150, 260), {"format": "fp16", "dest": 16}),
        ("10x8", (320, 256, 32), {"format": "bf16"}),
    ],
)
def test_products_equal_the_tiles_arithmetic(grid: str, sizes: tuple[int, int, int], options: dict[str, Any]) -> None:
    data: dict[str, Any] = {**run(grid, *sizes, **options).data}
    assert data["grid"] == [*map(int, grid.split("x"))]
    assert data["tiles"] == [-(-n // 32) for n in sizes]
    assert set(data["shares"]) == {"matrix unit", "unpackers", "DRAM", "NoC link"} and data["binds"] in data["shares"]


def test_integers_and_arrays_in_other_orders(tmp_path: Path) -> None:
    path = tmp_path / "transposed.pla"
    path.write_text(TRANSPOSED, encoding="utf-8")
    run("2x2", 70, 40, 100, str(path))


@settings(max_examples=6)
@given(
    st.integers(1, 4), st.integers(1, 4), st.integers(1, 90), st.integers(1, 200), st.integers(1, 300), st.booleans()
)
def test_any_sizes_on_any_grid(rows: int, columns: int, n: int, m: int, k: int, wide: bool) -> None:
    run(f"{rows}x{columns}", n, m, k, format="tf32" if wide else "bf16", fidelity=1 + k % 4)


def test_every_byte_is_read_from_dram_once() -> None:
    """Panels and columns are multicast: what leaves DRAM is each factor once, what enters is the result once."""
    made = pl.compile(MATMUL, on="tensix:wormhole:4x4", format="bf16", fidelity=2)
    instance = made.prepare_instance({"N": 1024, "M": 512, "K": 256})
    note = spread_note.decode(instance.data)
    assert note is not None
    random = np.random.default_rng(33)
    a, b = (random.integers(-8, 9, shape).astype(np.float32) for shape in ((1024, 256), (256, 512)))
    grid, outcome = execute_spread(instance.data, note, {"A": a, "B": b}, Limits())
    assert np.array_equal(read_result(grid, note), a @ b)
    read, written = (sum(c[n] for c in grid.channels()) for n in range(2))
    assert read == (32 * 8 + 8 * 16) * 2064 and written == 32 * 16 * 4112
    shares = binding_shares(grid, outcome.cycles)
    assert max(shares, key=lambda name: shares[name]) == "DRAM" and outcome.cycles < 30_000


def test_rows_have_channels_of_their_own() -> None:
    """Of the inner DRAM tiles one channel per row, of the outer ones half; few hops up."""
    found = row_channels(8)
    assert len({inner[0] for inner, _ in found}) == 8
    assert sorted(outer[0] for _, outer in found) == [0, 0, 1, 1, 2, 2, 3, 3]
    s = place_spread(Shape(64, 64, 64, FORMATS["bf16"], dst_result_format("bf16", 32), 32, 2), 8, 8, DATA, END)
    assert s is not None
    used = place_pieces(s).used
    assert max(used) < 1.05 * min(used)


@given(st.integers(0, 1 << 18).map(lambda n: 16 * n))
def test_packets_cover_their_bytes(size: int) -> None:
    parts = split_packets(size)
    assert sum(n for _, n in parts) == size and all(0 < n <= 8192 and at % 16 == 0 for at, n in parts)
    assert [at for at, _ in parts] == [sum(n for _, n in parts[:k]) for k in range(len(parts))]


def test_a_panel_that_does_not_fit_is_infeasible() -> None:
    with pytest.raises(PolyloomError) as caught:
        run("2x2", 512, 64, 4096, format="bf16")
    assert caught.value.code == "PL1233"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("other-program", [str(EXAMPLES / "axpy.pla"), "N=100", "--on", "tensix:wormhole:8x8"]),
        ("stages", [str(EXAMPLES / "kernels" / "gemm.py"), "NI=64", "NJ=64", "NK=64", "--on", "tensix:wormhole:8x8"]),
        ("kernel", [str(EXAMPLES / "sfpi" / "relu.cpp"), "--on", "tensix:wormhole:8x8"]),
        ("empty", [MATMUL, "N=0", "M=1", "K=1", "--on", "tensix:wormhole:2x2"]),
        ("no-grid", [MATMUL, "N=1", "M=1", "K=1", "--on", "tensix:wormhole:11x8"]),
        ("no-numbers", [MATMUL, "N=1", "M=1", "K=1", "--on", "tensix:wormhole:big"]),
        ("blackhole", [MATMUL, "N=1", "M=1", "K=1", "--on", "tensix:blackhole:2x2"]),
    ],
)
def test_refusals(name: str, arguments: list[str], golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", *arguments])
    text = capsys.readouterr().err.replace(str(EXAMPLES), "examples")
    golden(name, f"exit code {code}\n{text}")


def test_places_of_grids() -> None:
    assert str(place("wormhole:8x8")) == "wormhole:8x8" and place("wormhole:8x8").grid == (8, 8)
    assert place("wormhole").grid is None and place("").grid is None
    assert "tiles = [8, 8]\ndram_channels = 12\ndram_bytes_per_cycle = 22\n" in describe("wormhole:8x8")


def test_a_note_that_is_changed_is_no_note() -> None:
    """A file from strangers: pieces beyond a channel, tables beyond L1, grids that are none."""
    data = pl.compile(MATMUL, on="tensix:wormhole:1x2", format="bf16").prepare_instance({"N": 9, "M": 9, "K": 9}).data
    assert spread_note.decode(data) is not None
    for old, new in (
        (b'"grid":[1,2]', b'"grid":[2,1]'),
        (b'"panels":1', b'"panels":2'),
        (b'"slices":[0,1]', b'"slices":[0,9]'),
    ):
        assert old in data
        assert spread_note.decode(data.replace(old, new)) is None
