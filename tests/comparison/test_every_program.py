# SPDX-License-Identifier: Apache-2.0
"""`make compare`: README's table is what the goal writes, a failure stops nothing else, counts and reasons end it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.comparison import every_program
from tests.comparison.every_program import MARK, README, cells, head, is_verified, main, readme_row, written

from polyloom.cli.bench.comparison import Listed, places, programs, row
from polyloom.report.markdown import table

LISTED = {each.name: each for each in programs()}
TARGETS = {"tcpa:8x8": 41, "belt:silver": 42, "riscv:rv64gc": 42, "minion:32": 40, "tensix:wormhole": 32}
"""Verified cells of 42 programs that each machine has at least."""


def readme_cells() -> list[list[str]]:
    lines = README.read_text(encoding="utf-8").partition(MARK)[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|--")]


def test_readme_has_every_program_and_links_every_page() -> None:
    heads, *rows = readme_cells()
    assert heads == ["program", *map(head, places())]
    assert [line[0] for line in rows] == [f"[{each.name}](examples/{each.file})" for each in LISTED.values()]
    missing = 42 - len(rows)
    for number, on in enumerate(places(), 1):
        assert sum(is_verified(line[number]) for line in rows) >= TARGETS[on] - missing, on


def test_a_row_of_readme_is_made_again() -> None:
    listed = LISTED["hard_swish"]
    again = list(readme_row(listed, cells(listed)).values())
    assert next(line for line in readme_cells() if line[0] == again[0]) == again
    assert list(row(listed).values())[3:] == again[1:]


def test_failures_stop_nothing_and_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bad.c"
    path.write_text("int f(int n) { return n", encoding="utf-8")
    bad = Listed("bad", str(path), {"n": 4})
    assert main([], lambda: [bad]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1 : 1 + len(places())] == [f"{on}: 0 of 1 verified" for on in places()]
    assert all(line.startswith("bad on ") and " PL" in line for line in lines[1 + len(places()) :])


def test_an_internal_error_is_a_failed_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(listed: Listed, on: list[str], progress: object = None) -> None:
        del listed, on, progress
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(every_program, "compare_places", broken)
    assert set(cells(LISTED["fir"]).values()) == {("failed", "ZeroDivisionError: oh")}
    assert main([], lambda: [LISTED["fir"]]) == 4


def test_the_table_takes_the_place_of_the_old_one() -> None:
    page = f"before\n{MARK}| a |\n|---|\n| 1 |\n\nbehind\n"
    assert written(page, table([{"b": 2}])) == f"before\n{MARK}| b   |\n|-----|\n| 2   |\n\nbehind\n"
