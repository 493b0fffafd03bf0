# SPDX-License-Identifier: Apache-2.0
"""What a run on minions shows: its bytes, its waits, what bounds it, and the loop that does the work."""

from __future__ import annotations

from pathlib import Path

import polyloom as pl

ROOT = Path(__file__).resolve().parents[4]


def test_a_product_shows_its_loop_and_what_bounds_it() -> None:
    text = pl.compile(ROOT / "examples/matmul.pla", on="minion:2").run(N=32, M=32, K=48).report()
    loop = text.partition("The loop in which the work is done")[2].partition("\n\n")[0]
    assert [line.split("# ")[1].split(" ")[0] for line in loop.splitlines() if "# tensor" in line] == [
        "tensor_load",
        "tensor_load_b",
        "tensor_wait",
        "tensor_fma",
    ]
    assert "Bytes by level" in text and "DRAM" in text
    assert "Waits, in cycles of all minions" in text
    assert "Bottleneck: " in text and "of the peak" in text


def test_without_time_there_are_no_waits_and_no_bottleneck() -> None:
    text = pl.compile(ROOT / "examples/axpy.pla", on="minion:2").run(N=40, functional=True).report()
    assert "fsw.ps" in text and "Bottleneck" not in text and "Waits" not in text
