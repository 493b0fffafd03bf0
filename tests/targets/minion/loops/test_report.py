# SPDX-License-Identifier: Apache-2.0
"""What a run on minions shows: its bytes, its waits, what bounds it, and the loop that does the work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polyloom as pl

ROOT = Path(__file__).resolve().parents[4]


def test_a_product_shows_its_loop_and_what_bounds_it() -> None:
    instance = pl.compile(ROOT / "examples/matmul.pla", on="minion:2").prepare_instance({"N": 32, "M": 32, "K": 48})
    text = instance.measure({}, account=True, fill="random").report()
    loop = text.partition("Hottest loop")[2].partition("\n\n")[0]
    assert [line.split("# ")[1].split(" ")[0] for line in loop.splitlines() if "# tensor" in line] == [
        "tensor_load",
        "tensor_load_b",
        "tensor_wait",
        "tensor_fma",
    ]
    assert "Bytes by level" in text and "DRAM" in text
    assert "Waits, in cycles of all minions" in text
    busy = "; ".join(line.strip() for line in text.partition("Busy\n")[2].partition("\n\n")[0].splitlines()[1:])
    assert re.fullmatch(r"tensor units \d+ % busy(, [A-Za-z ]+ \d+ %)*; fill \d+ %; drain \d+ %.*peak", busy)


MIXED = """
import polyloom as pl

N = pl.sizes("N")


@pl.kernel
def mixed(a: pl.i8[N, N], b: pl.i8[N, N], x: pl.f32[N, N], y: pl.f32[N, N], c: pl.i32[N, N], z: pl.f32[N, N]):
    for i in range(N):
        for j in range(N):
            c[i, j] = 0
            for k in range(N):
                c[i, j] += pl.to_i32(a[i, k]) * pl.to_i32(b[k, j])
    for i in range(N):
        for j in range(N):
            z[i, j] = 0.0
            for k in range(N):
                z[i, j] += x[i, k] * y[k, j]
"""


def test_products_of_several_types_count_by_their_peaks(tmp_path: Path) -> None:
    """An int8 multiply-add is an eighth of one of fp32: counted alike, utilizations would exceed what is possible."""
    (tmp_path / "mixed.py").write_text(MIXED, encoding="utf-8")
    facts = pl.compile(tmp_path / "mixed.py", on="minion:4").run(N=32).data
    assert facts["phases"] == ["product", "product"]
    cycles = 32**3 * (1 / 64 + 1 / 8) / 4
    utilization, taken = facts["utilization"], facts["cycles"]
    assert isinstance(utilization, float) and isinstance(taken, int)
    assert utilization * taken == pytest.approx(cycles)


def test_without_time_there_are_no_waits_and_nothing_busy() -> None:
    text = pl.compile(ROOT / "examples/axpy.pla", on="minion:2").run(N=40, functional=True).report()
    assert "# axpy.pla:12" in text and "Busy" not in text and "Waits" not in text
