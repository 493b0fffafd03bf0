# SPDX-License-Identifier: Apache-2.0
"""Pages of machines that are no arrays: through the same parts, and the inner loop where there is no schedule."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.page.browser import Browser
from tests.page.conftest import ROOT
from tests.page.test_page import CONTRASTS, middle, text

import polyloom as pl

DOT = str(ROOT / "examples" / "dot.c")


@pytest.mark.parametrize("on", ["belt:silver", "riscv:rv64gc_zicond"])
def test_a_page_of_another_machine(chrome: Browser, tmp_path: Path, on: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(pl.compile(DOT, on=on).run(n=50).page(), encoding="utf-8")
    for width, dark in ((1200, True), (420, False)):
        chrome.open(page, width, dark=dark)
        assert (chrome.requests, chrome.errors) == ([], [])
        assert chrome.run("document.documentElement.scrollWidth") == width
        assert text(chrome, "h1").startswith("dot n=50")
        assert chrome.run(CONTRASTS)[0][0] >= 4.5
    loop = chrome.run("[...document.querySelectorAll('.code li')].map((each) => each.textContent)")
    assert any("mul" in line for line in loop)


def test_lines_of_a_loop_are_linked(chrome: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(pl.compile(DOT, on="belt:silver").run(n=50).page(), encoding="utf-8")
    chrome.open(page, 1200)
    chrome.point(*middle(chrome, ".code li[tabindex]"))
    assert text(chrome, ".source:not(.code) li.lit code").strip() == "sum += a[i] * b[i];"
    assert chrome.run("document.querySelectorAll('.code li.lit').length") == 4
