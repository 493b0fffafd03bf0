# SPDX-License-Identifier: Apache-2.0
"""The site is built without a warning, asks for nothing beyond its own files, and is searched offline."""

from __future__ import annotations

import re
from pathlib import Path
from time import monotonic, sleep

import pytest
from tests.report.browser import Browser

import polyloom
from polyloom.cli.explain import code_address, known_codes

ROOT = Path(__file__).parents[2]
_LOADED = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="([^"]+)"|<link[^>]*rel="stylesheet"[^>]*href="([^"]+)"')


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    loaded = {(page.name, a or b) for page in pages for a, b in _LOADED.findall(page.read_text(encoding="utf-8"))}
    assert len(loaded) > len(pages)
    assert [found for found in loaded if re.match(r"(?:https?:)?//", found[1])] == []


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (420, True)])
def test_a_page_reads_well(site: Path, chrome: Browser, width: int, dark: bool) -> None:
    chrome.open(site / "index.html", width, dark=dark)
    assert chrome.run("document.querySelector('h1').textContent").startswith("Polyloom")
    assert chrome.run("document.documentElement.scrollWidth <= innerWidth")
    assert [r for r in chrome.requests if not r.startswith(("file:", "data:"))] == []
    assert chrome.errors == []


def test_pictures_follow_the_theme_and_fit(site: Path, chrome: Browser) -> None:
    """Inside a picture, the scheme that it prefers is the one of its element; on a telephone it scrolls by itself."""
    chrome.open(site / "schedule.html", 420)
    for theme in ("dark", "light"):
        chrome.run(f"document.body.dataset.theme = '{theme}'")
        assert chrome.run("getComputedStyle(document.querySelector('article img')).colorScheme") == theme
    assert chrome.run("document.querySelector('article img').clientWidth") >= 560
    assert chrome.run("document.documentElement.scrollWidth <= innerWidth")


def test_search_works_from_a_file(site: Path, chrome: Browser) -> None:
    chrome.open(site / "search.html", 1200, query="?q=initiation")
    end = monotonic() + 60
    while not (found := chrome.run("[...document.querySelectorAll('#search-results li a')].map(a => a.href).join()")):
        assert monotonic() < end, "nothing was found"
        sleep(0.2)
    assert "schedule.html" in found
    assert [r for r in chrome.requests if not r.startswith(("file:", "data:"))] == []


def test_every_error_code_has_an_address(site: Path) -> None:
    """The page is made of the catalogues by the build; `polyloom explain` prints the addresses."""
    page = (site / "errors.html").read_text(encoding="utf-8")
    anchors = {
        code: code_address(code, title).partition("errors.html#")[2] for code, (title, _) in known_codes().items()
    }
    assert len(anchors) > 390
    assert [code for code, anchor in anchors.items() if f'id="{anchor}"' not in page] == []
    assert "Operators are spelled out" in page


def test_every_public_name_has_an_executed_example() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert [name for name in polyloom.__all__ if not re.search(rf"\bpl\.{name}\b", code)] == []
    headings = " ".join(re.findall(r"^## (.*)$", page, re.MULTILINE))
    types = {"i8", "i16", "i32", "u8", "u16", "u32", "bool", "f16", "f32", "f64"}
    objects = {n for n in polyloom.__all__ if n not in types and callable(getattr(polyloom, n)) and n[0].isupper()}
    assert [name for name in objects if name not in headings] == []
