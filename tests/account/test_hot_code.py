# SPDX-License-Identifier: Apache-2.0
"""Machine's code of the hottest source loop: found by counted cycles on its lines, also where the machine spends more
in another loop, or has none left of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.account.test_pages import shown_lines

import polyloom as pl
from polyloom.ir.ssa import Place
from polyloom.report import run_text
from polyloom.riscv.source_lines import Lines
from polyloom.riscv.timing.listing_loops import hottest_loop
from polyloom.targets.account import Account, Row
from polyloom.targets.belt.words.program import Routine
from polyloom.targets.costs import Line

# Two loops of line 3, one of line 6 that the first of them contains, and straight code of line 9.
_LISTING = """
     0: 00000013  addi a0, a0, 1
     4: 00000013  addi a1, a1, 1
     8: 00000063  bne a1, a2, -4
     c: 00000063  bne a0, a2, -12
    10: 00000013  addi a3, a3, 1
    14: 00000063  bne a3, a4, -4
    18: 00000013  addi a5, a5, 1
"""
_PLACES = Lines((0, 4, 12, 24), tuple(Place("k.c", line) for line in (3, 6, 3, 9)))


@pytest.mark.parametrize(
    ("cycles", "hot", "shown"),
    [
        # The inner loop takes more, and is of another line.
        ({0: 5, 4: 90, 8: 90, 12: 5, 16: 4, 20: 4}, {3}, [0, 12]),
        ({0: 5, 4: 90, 8: 90, 12: 5, 16: 4, 20: 9}, {3}, [16, 20]),
        ({0: 5, 4: 9, 8: 9, 12: 5}, {6}, [4, 8]),
        # Written out whole, or never run.
        ({0: 5, 24: 1}, {9}, [24]),
        ({0: 5}, {9}, []),
        ({}, {3}, []),
        ({0: 5}, set[int](), []),
    ],
)
def test_the_loop_of_a_listing_has_most_cycles_on_the_lines(
    cycles: dict[int, int], hot: set[int], shown: list[int]
) -> None:
    assert [address for address, _ in hottest_loop(_LISTING, cycles, _PLACES, hot)] == shown


def test_without_lines_all_code_counts() -> None:
    assert [address for address, _ in hottest_loop(_LISTING, {16: 1, 20: 1}, Lines(), {0})] == [16, 20]


def test_hot_lines_are_those_of_the_hottest_loop() -> None:
    found = Account(
        1, 60, tuple(Row("work", "", line, "", "hart", n) for line, n in ((3, 10), (4, 15), (7, 20), (0, 15)))
    )
    loops = found.with_loops({3: "i", 4: "i", 7: "k"})
    assert (loops.hottest, loops.hottest_loop, loops.hot_lines) == (7, "i", {3, 4})
    # Without loops, the hottest line; without lines, all code.
    assert (found.hottest_loop, found.hot_lines) == ("", {7})
    assert Account(1, 1, (Row("work", "", 0, "", "hart", 1),)).hot_lines == {0}


_TWO_LOOPS = """import polyloom as pl

N = pl.size("N")


@pl.kernel
def two(a: pl.f32[N], b: pl.f32[N], c: pl.f32[4]) -> None:
    for i in range(N):
        b[i] = a[i] * pl.f32(2.0)
    for k in range(4):
        c[k] = (c[k] + pl.f32(1.0)) / (c[k] * c[k] + pl.f32(3.0)) / (c[k] + pl.f32(2.0))
"""


@pytest.mark.parametrize("on", ["belt:gold", "riscv:inorder"])
def test_the_code_follows_the_counts(tmp_path: Path, on: str) -> None:
    """Which of two loops is hotter depends on the size, and so does what is shown."""
    path = tmp_path / "two.py"
    path.write_text(_TWO_LOOPS, encoding="utf-8")
    compiled = pl.compile(str(path), on=on).prepare_instance({}, {})
    for size, loop, lines in ((2, "k (lines 10 to 11)", {10, 11}), (400, "i (lines 8 to 9)", {8, 9})):
        result = compiled.measure({"N": size}, account=True, fill="random")
        assert result.account is not None and result.account.hottest_loop == loop
        shown = shown_lines(result.page())
        assert shown and shown <= lines


def test_the_belt_hashes_no_routine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash of a routine is one of all its bundles: with one per slot and bundle, the large transformer layer took
    minutes to account for."""
    path = tmp_path / "two.py"
    path.write_text(_TWO_LOOPS, encoding="utf-8")
    hashed = list[Routine]()

    def note_hash(routine: Routine) -> int:
        hashed.append(routine)
        return 0

    monkeypatch.setattr(Routine, "__hash__", note_hash)
    result = pl.compile(str(path), on="belt:gold").prepare_instance({}, {}).measure({"N": 20}, account=True)
    assert shown_lines(result.page())
    assert not hashed


def test_a_text_shows_a_part_of_a_long_loop() -> None:
    shown = run_text.loop([Line("add", 3), *[Line("fence", 3, "orders stores")] * 60]).split("\n")
    assert [line.split() for line in shown[:4]] == [
        ["Hottest", "loop"],
        ["code", "line", "why", "it", "was", "added"],
        ["add", "3"],
        ["fence", "3", "orders", "stores"],
    ]
    assert shown[-1].split("  ")[1] == "and 13 more lines: `polyloom show` lists a compiled file"
    assert run_text.loop([]) == ""
