# SPDX-License-Identifier: Apache-2.0
"""A sweep in a notebook, and as the table of another package."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import polyloom as pl
from polyloom.cli.examples import folder
from polyloom.exploration.row import Row
from polyloom.exploration.sweep import Sweep
from polyloom.report.notebook import Embedded

FIR = str(folder() / "fir.pla")


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    return pl.explore(FIR, "tcpa:wide", sweep={"N": [16, 64], "pes": ["1x1", "1x4", "99999x1"]}, T=4)


def html_of(shown: Sweep) -> str:
    return shown._repr_mimebundle_()["text/html"]  # pyright: ignore[reportPrivateUsage]  # the name is a convention of notebooks


def test_a_notebook_gets_the_front(sweep: Sweep) -> None:
    html = html_of(sweep)
    assert html.count("<tr>") == 1 + len(sweep.front()) + 1
    assert "6 points, 4 verified, 2 without a result (PL0505)" in html
    assert "<script" not in html
    assert isinstance(sweep.show(), Embedded)
    assert sweep.show().page == sweep.page()
    assert sweep.report().startswith(f"{FIR}: 6 points")


def test_a_notebook_gets_no_more_than_it_can_take() -> None:
    point = {"on": "tcpa:wide", "a name as long as nobody has one": "<&>" * 20}
    rows = tuple(Row({**point, "elements": n}, "predict", cycles=10_000 - n, exact=True) for n in range(1, 5000))
    html = html_of(Sweep("many.py", rows, ("cycles", "elements"), ()))
    assert len(html.encode()) <= 30_000
    shown = html.count("<tr>") - 2
    assert f"<p>{4999 - shown} more rows are on the page: <code>.show()</code></p>" in html


def test_a_sweep_without_a_result_is_shown() -> None:
    html = html_of(pl.explore(FIR, "tcpa:wide", sweep={"pes": "99999x1"}, N=16, T=4, level="predict"))
    assert "1 point, 1 without a result (PL0505)" in html


def test_pandas(sweep: Sweep) -> None:
    frame: Any = sweep.to_pandas()
    assert list(frame.columns) == list(sweep.columns)
    assert list(frame["N"]) == [row.point["N"] for row in sweep]
    assert frame["cycles"].max() == max(row.cycles or 0 for row in sweep)


def test_polars(sweep: Sweep) -> None:
    frame: Any = sweep.to_polars()
    assert frame.columns == list(sweep.columns)
    assert frame["cycles"].to_list() == [row.cycles for row in sweep]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_package_that_is_not_there(name: str, sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"{name} is not installed: `pip install {name}`, or take"):
        getattr(sweep, f"to_{name}")()
