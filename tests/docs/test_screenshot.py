# SPDX-License-Identifier: Apache-2.0
"""The picture of a run's page in README.md is the page of today; `--update-golden` takes it again.

A browser draws text a little differently from version to version: the two are compared by their size and by the mean
difference of their pixels.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from tests.report.browser import Browser
from tests.report.conftest import chrome, gemm, gemm_page

__all__ = ["chrome", "gemm", "gemm_page"]
_PATH = Path(__file__).parents[2] / "docs" / "pictures" / "report.webp"
_WIDTH, _HEIGHT = 1080, 790
_MOST = 0.015
"""Of the range of a pixel: the same page is at 0.002, in another font without serifs at 0.013, without its source at
0.019."""
_PREPARE = """
[...document.querySelectorAll(".cards div")].find(c => c.textContent.startsWith("time")).remove();
[...document.querySelectorAll(".op")].find(o => o.textContent.startsWith("S2.1")).focus({preventScroll: true});
"""
_COMPARE = """
Promise.all(%s.map(async url => {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  return pen.getImageData(0, 0, image.width, image.height);
})).then(([a, b]) => a.width !== b.width || a.height !== b.height ? 1 :
  a.data.reduce((sum, v, n) => sum + Math.abs(v - b.data[n]), 0) / a.data.length / 255)
"""


def taken(chrome: Browser, page: Path) -> bytes:
    """The top of the page, without times, with an operation and its line lit."""
    chrome.open(page, _WIDTH, _HEIGHT)
    chrome.run(_PREPARE)
    chrome.settle()
    return b64decode(chrome.call("Page.captureScreenshot", format="webp", quality=80)["data"])


def distance(chrome: Browser, one: bytes, other: bytes) -> float:
    urls = [f"data:image/webp;base64,{b64encode(data).decode()}" for data in (one, other)]
    return chrome.run(_COMPARE % json.dumps(urls))


def test_the_screenshot_is_the_page_of_today(chrome: Browser, gemm_page: Path, request: pytest.FixtureRequest) -> None:
    found = taken(chrome, gemm_page)
    if request.config.getoption("--update-golden"):
        _PATH.write_bytes(found)
    assert distance(chrome, found, _PATH.read_bytes()) <= _MOST


def test_another_page_is_noticed(chrome: Browser, gemm_page: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.html"
    other.write_text(gemm_page.read_text(encoding="utf-8").replace("S2", "T4").replace("1192", "1193"))
    chrome.open(other, _WIDTH, _HEIGHT)
    chrome.run("document.querySelector('.source').remove()")
    changed = b64decode(chrome.call("Page.captureScreenshot", format="webp", quality=80)["data"])
    assert distance(chrome, changed, _PATH.read_bytes()) > _MOST
