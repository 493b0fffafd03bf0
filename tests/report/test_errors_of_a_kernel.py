# SPDX-License-Identifier: Apache-2.0
"""The page of `polyloom sweep` in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.browser import Browser
from tests.report.conftest import ROOT
from tests.report.test_page import CONTRASTS

from polyloom.cli import main


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep") / "page.html"
    words = ["--function", "exponential", "--reference", "exp", "--domain=-8:90", "--report", str(path)]
    assert main(["sweep", str(ROOT / "examples" / "sfpi" / "exp.h"), *words]) == 0
    return path


@pytest.mark.parametrize(("width", "dark"), [(1200, True), (420, False)])
def test_it_fits_and_can_be_read(chrome: Browser, made: Path, width: int, dark: bool) -> None:
    chrome.open(made, width, dark=dark)
    assert (chrome.requests, chrome.errors) == ([], [])
    assert chrome.run("document.documentElement.scrollWidth") == width
    assert chrome.run(CONTRASTS)[0][0] >= 4.5
    told = chrome.run("[...document.querySelectorAll('.grid tr')].map((each) => each.innerText)")
    assert any(line.startswith("64 to 127 ulp") for line in told)
    assert chrome.run("document.querySelectorAll('rect.wrong').length") > 0
