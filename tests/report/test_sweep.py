# SPDX-License-Identifier: Apache-2.0
"""The page of a sweep in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.browser import Browser
from tests.report.contrasts import CONTRASTS

import polyloom as pl
from polyloom.cli.examples import folder
from polyloom.exploration.page import page


@pytest.fixture(scope="module")
def sweep() -> pl.Sweep:
    source = folder() / "fir.pla"
    return pl.explore(source, "tcpa:wide", sweep={"N": [16, 64], "pes": ["1x1", "1x2", "1x4", "99999x1"]}, T=4)


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (420, True)])
def test_it_fits_and_can_be_read(chrome: Browser, sweep: pl.Sweep, tmp_path: Path, width: int, dark: bool) -> None:
    path = tmp_path / "sweep.html"
    path.write_text(page(sweep), encoding="utf-8")
    chrome.open(path, width, dark=dark)
    assert (chrome.requests, chrome.errors) == ([], [])
    assert chrome.run("document.documentElement.scrollWidth") == width
    assert chrome.run(CONTRASTS)[0][0] >= 4.5
    front = sweep.front()
    assert chrome.run("document.querySelectorAll('svg circle:not(.off)').length") == len(front)
    cycles = {
        int(text.split()[0])
        for text in chrome.run("[...document.querySelectorAll('title')].slice(1).map((e) => e.textContent)")
    }
    assert cycles == {row.cycles for row in front}
    chrome.run("document.querySelector('summary').click()")
    chrome.settle()
    rows = "document.querySelectorAll('details tbody tr')"
    assert chrome.run(f"{rows}.length") == len(sweep) == 8
    assert "PL0505" in chrome.run(f"{rows}[3].textContent")
