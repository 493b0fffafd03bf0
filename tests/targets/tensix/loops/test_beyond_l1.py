# SPDX-License-Identifier: Apache-2.0
"""Products whose arrays lie in DRAM, alone and with a formula of their sums: bits of the tile's arithmetic, what the
report says, and notes of strangers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.targets.tensix.loops.programs import product, source
from tests.targets.tensix.loops.stages import kernels
from tests.targets.tensix.loops.test_hostile import changed

import polyloom as pl
from polyloom.riscv import symbols
from polyloom.targets.tensix.map.loops.fused import plan
from polyloom.targets.tensix.words.arrays import note

EXAMPLES = Path(__file__).parents[4] / "examples"
GEMM = EXAMPLES / "kernels" / "gemm.py"


@pytest.fixture
def small_l1(monkeypatch: pytest.MonkeyPatch) -> None:
    """L1 holds no arrays, however small."""

    def fits_nothing(*_: object) -> bool:
        return False

    monkeypatch.setattr(plan, "fits_l1", fits_nothing)


@pytest.mark.usefixtures("small_l1")
@pytest.mark.parametrize(
    ("element", "options", "sizes"),
    [
        ("f32", {"format": "tf32"}, (40, 33, 70)),
        ("f32", {"format": "bf16", "fidelity": 2}, (300, 33, 40)),
        ("f32", {"format": "fp16", "dest": 16}, (33, 70, 32)),
        ("i32", {}, (70, 33, 100)),
    ],
)
def test_streamed_products(element: str, options: Any, sizes: tuple[int, int, int]) -> None:
    values = dict(zip("NMK", sizes, strict=True))
    result = pl.compile(source(product(element)), on="tensix", **options).run(values, seed=33)
    assert result.verified and "port" in result.data
    assert result.data["tiles"] == [-(-n // 32) for n in sizes]


@pytest.mark.usefixtures("small_l1")
@pytest.mark.parametrize("sizes", [(32, 32, 32), (70, 100, 33), (200, 33, 64), (260, 70, 40)])
def test_streamed_formulas(sizes: tuple[int, int, int]) -> None:
    """Panels and columns of odd and even numbers, with blocks that do not fill a panel."""
    values: dict[str, int] = dict(zip(("NI", "NJ", "NK"), sizes, strict=True))
    result = pl.compile(GEMM, on="tensix", format="bf16", fidelity=2).run(values)
    assert result.verified and "port" in result.data
    assert [stage["what"] for stage in cast("list[Any]", result.data["stages"])] == [note.FUSED]


@pytest.mark.usefixtures("small_l1")
def test_streamed_layers() -> None:
    for kernel, format in ((kernels.layer, "fp16"), (kernels.layer, "tf32"), (kernels.quantised, "i8")):
        result = pl.compile(kernel, on="tensix", format=format).run(N=70, M=40, K=33)
        assert result.verified and "port" in result.data


def test_arrays_beyond_l1_are_streamed() -> None:
    """2.2 MB of tiles, where L1 has 1.4."""
    result = pl.compile(source(product()), on="tensix").run(N=700, M=32, K=700)
    assert result.verified
    data = cast("dict[str, Any]", result.data)
    near, far = data["port"]
    # Tiles of FP32 with their headers: the left factor, 22 x 22; a column of the right one for each panel.
    assert near["read"] == 22 * 22 * 4112 and near["written"] == 22 * 4112
    assert far["read"] % (22 * 4112) == 0 and far["written"] == 0
    shares = data["stages"][0]["shares"]
    assert {"matrix unit", "unpackers", "port"} <= {*shares} and [*shares.values()] == sorted(shares.values())[::-1]


@pytest.fixture(scope="module")
def streamed() -> bytes:
    return pl.compile(source(product()), on="tensix").prepare_instance({"N": 700, "M": 32, "K": 700}).data


@pytest.mark.parametrize("blocks", [[0, 22, 4128], [3, 22, 4128], [3, 22, 999968], [3, 22, 271393], [9, 99, 32]])
def test_blocks_that_are_none(streamed: bytes, blocks: list[int]) -> None:
    text = symbols.read_note(streamed)
    assert text is not None
    made = json.loads(text)
    assert note.decode(changed(streamed, {"areas": made["areas"]})) is not None
    made["areas"][0]["blocks"] = blocks
    assert note.decode(changed(streamed, {"areas": made["areas"]})) is None


def test_a_stream_has_programs_of_five_cores(streamed: bytes) -> None:
    assert {*symbols.read_tables(streamed).names.values()} == {"t0", "t1", "t2", "b", "nc"}
    assert np.frombuffer(streamed[:4], np.uint8).tolist() == [127, 69, 76, 70]
