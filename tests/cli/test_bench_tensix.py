# SPDX-License-Identifier: Apache-2.0
"""The programs of `polyloom bench tensix` do what the table says; what a tile takes for products is tested, speeds are
measured."""

from __future__ import annotations

from importlib.util import find_spec
from typing import cast

import numpy as np
import pytest

from polyloom.cli.bench import tensix
from polyloom.cli.bench import tensix_programs as programs
from polyloom.targets.tensix.run.tile import Tile


def test_the_kernel_is_a_sigmoid() -> None:
    x = np.linspace(-150, 150, 64 * 16).astype(np.float32).reshape(64, 16)
    bits = x.view(np.uint32) >> 16
    tile = Tile()
    tile.dst[:64], tile.dst_valid[:64] = bits & 0x8000 | (bits & 0x7F) << 8 | bits >> 7 & 0xFF, 1
    tile.push("t1", programs.words(programs.SIGMOID_CONSTANTS + programs.SIGMOID * 32))
    assert not tile.run().hazards
    found = tile.dst[:64].astype(np.uint32)
    made = (found & 0x8000 | (found & 0xFF) << 7 | found >> 8 & 0x7F) << 16
    given = (bits << 16).view(np.float32).astype(np.float64)
    wanted = 1 / (1 + np.exp(-given))
    kept = wanted > 2.0**-120
    assert np.abs(made.view(np.float32) / wanted - 1)[kept].max() < 2.0**-6
    assert np.abs(made.view(np.float32) - wanted)[~kept].max() < 2.0**-120


@pytest.mark.parametrize("phases", [1, 4])
def test_a_product_takes_sixteen_cycles_per_phase(phases: int) -> None:
    assert tensix.product(phases, 1) == (16 * phases, 16 * phases)


def test_unpackers_keep_up_with_four_phases() -> None:
    instructions, cycles = tensix.product(4, 32)
    assert instructions == 16 * 4 * 32 and instructions / cycles >= 0.9


@pytest.mark.parametrize("pushing", [False, True], ids=["integers", "pushing"])
def test_all_cores_are_busy(pushing: bool) -> None:
    tile = tensix.busy_tile(pushing=pushing)
    tile.run(5_000)
    assert all(tile.native.retired(core) >= 4_900 for core in range(5))


@pytest.mark.skipif(find_spec("framework") is None, reason="wolfpine is not installed")
def test_the_peer_takes_the_same_words() -> None:
    vector, matrix = (measure.theirs for measure in tensix.measures()[:2])
    assert vector is not None and vector() > 0
    assert matrix is not None and matrix() > 0


def test_a_product_on_a_grid_is_compared_with_one_tile() -> None:
    """Both results are NumPy's; the table of 64 tiles has the same rows."""
    rows = {str(row["what"]): row for row in tensix.grid_rows(4, 2, 2)}
    one, many = (rows[f"128^3 product in bf16, fidelity 2: {on}"]["polyloom"] for on in ("one tile", "2 x 2 tiles"))
    assert isinstance(one, int) and isinstance(many, int) and one > many
    assert sum("which binds" in what for what in rows) == 1
    assert rows["cycles of a grid of 64 tiles, one busy"]["asked"] == 1_000_000


def test_what_a_formula_adds_to_a_product_is_hidden_behind_it() -> None:
    assert 0 < cast(float, tensix.epilogue("gemm", "bf16", 200)["polyloom"]) <= 8


def test_rows_of_large_products_say_where_arrays_lie() -> None:
    row = tensix.busy_product(256, 96)
    assert row["what"] == "matrix unit busy, product of 256x256x256 in bf16" and cast(float, row["polyloom"]) >= 96
