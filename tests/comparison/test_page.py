# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: its table, the roofline by numbers, and lines that are linked; then in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.report.browser import Browser
from tests.report.conftest import chrome
from tests.report.contrasts import CONTRASTS

import polyloom as pl
from polyloom.cli.bench.polybench import path
from polyloom.report.comparison.columns import COLUMNS, columns, format_figure, outcome
from polyloom.report.comparison.roofline import Point, points, roofline

__all__ = ["chrome"]
PLACES = "tcpa:unit:2x2,riscv,riscv:rv32i,belt,minion:4"


@pytest.fixture(scope="module")
def made() -> pl.Comparison:
    return pl.compare(path("matvec"), N=8, M=8, on=PLACES)


@pytest.fixture(scope="module")
def page(made: pl.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("comparison") / "page.html"
    found.write_text(made.page(), encoding="utf-8")
    return found


def row(**known: Any) -> dict[str, Any]:
    """A row of which little is known."""
    keys = ("verified", "verdict", "why", "refused", "cycles", "time", "work", "issued", "units", "work_per_cycle")
    keys += ("share_of_unit_bound", "unit_cycles_per_operation", "moved_bytes", "compulsory_bytes", "code_bytes")
    keys += (
        "bound_by",
        "stated_seconds",
        "stated_picojoules",
        "whole_time",
        "energy_shares",
        "area",
        "area_unit",
        "work_per_byte",
        "boundary_bytes_per_cycle",
        "share_of_memory_bound",
    )
    return {"on": "x", **dict.fromkeys(keys), "loop": [], **known}


def test_what_is_not_known_is_a_dash_and_never_0() -> None:
    assert [cell(row()) for name, cell in COLUMNS.items() if name not in ("on", "verdict")] == [None] * 13
    known = row(cycles=0, moved_bytes=0)
    assert (COLUMNS["cycles"](known), COLUMNS["bytes moved"](known)) == ("0", "0")
    data = {"rows": [row()], "compulsory_bytes": None}
    assert "time by your clock" not in columns(data)
    assert "time by your clock" in columns({**data, "rows": [row(stated_seconds=1e-6)]})
    assert [format_figure(v) for v in (0.97581, 16.396, 1234.6)] == ["0.976", "16.4", "1,235"]


def test_verdicts() -> None:
    assert outcome(row(verdict="equal bits")) == "equal bits"
    assert outcome(row(verdict="within", error=0.00125, bound=0.5)) == "within 0.00125 (bound 0.5)"
    assert outcome(row(verdict="within", error=1, bound=None)) == "within 1 (no bound known)"
    assert outcome(row(verdict="differs")) == "differs"
    assert outcome(row()) == "not compared"
    assert outcome(row(refused={"code": "PL0930", "message": "", "help": None})) == "refused: PL0930"


def test_each_machine_has_its_own_ceiling() -> None:
    fast = Point(1, "fast", 2.0, 10.0, 100.0, 8.0)
    assert (fast.ceiling(2), fast.ceiling(100)) == (16, 100)
    assert Point(2, "without", 2.0, 10.0, 64.0, None).ceiling(0.001) == 64
    drawn = roofline([fast], 4.0)
    assert "62% of its own ceiling" in drawn and "compulsory bytes" in drawn
    assert roofline([], 4.0) == ""
    known = row(work_per_byte=1.0, work_per_cycle=2.0, units=4)
    assert [p.number for p in points([row(), known, row(work_per_byte=1.0)])] == [2]


def test_the_page_has_every_row_and_nothing_from_elsewhere(made: pl.Comparison) -> None:
    text = made.page()
    assert len(text) < 200_000 and not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    for place in PLACES.split(","):
        assert f" {place}</th>" in text
    assert "refused: PL0930" in text and "Not drawn, without time or without counted bytes: riscv, riscv:rv32i." in text


def test_lines_of_the_source_are_linked_with_every_machine(made: pl.Comparison) -> None:
    """The statement of the inner loop lights up in all tabs."""
    data: Any = made.data
    lines = {each["on"]: {line["line"] for line in each["loop"]} for each in data["rows"] if each["loop"]}
    (number,) = [n for n, line in enumerate(made.task.text.splitlines(), 1) if "+=" in line]
    assert [on for on, found in lines.items() if number in found] == list(lines)
    assert len(lines) >= 3
    assert made.page().count(f'data-l="s0.{number}"') > len(lines)


def test_a_notebook_shows_the_table(made: pl.Comparison) -> None:
    shown = made._repr_mimebundle_()  # pyright: ignore[reportPrivateUsage]  # what notebooks call
    assert shown["text/plain"] == repr(made)
    assert "refused: PL0930" in shown["text/html"] and "<script" not in shown["text/html"]
    assert len(shown["text/html"]) <= 30_000
    assert "srcdoc" in made.show()._repr_mimebundle_()["text/html"]  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(("width", "dark"), [(1200, True), (420, False)])
def test_in_a_browser_it_fits_asks_for_nothing_and_can_be_read(
    chrome: Browser, page: Path, width: int, dark: bool
) -> None:
    chrome.open(page, width, dark=dark)
    assert (chrome.requests, chrome.errors) == ([], [])
    assert chrome.run("document.documentElement.scrollWidth") == width
    assert chrome.run("document.querySelectorAll('.grid tbody tr').length") == 5
    assert chrome.run(CONTRASTS)[0][0] >= 4.5
    chrome.run("document.querySelectorAll('[role=tab]')[1].click()")
    shown = "[...document.querySelectorAll('[data-tab]')].filter((e) => !e.hidden).map((e) => e.dataset.tab)"
    assert chrome.run(shown) == ["riscv"]
