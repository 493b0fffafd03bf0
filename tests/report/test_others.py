# SPDX-License-Identifier: Apache-2.0
"""Pages of machines that are no arrays: through the same parts, and the inner loop where there is no schedule."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.browser import Browser
from tests.report.conftest import ROOT
from tests.report.contrasts import CONTRASTS
from tests.report.test_page import middle, text

import polyloom as pl

DOT = str(ROOT / "examples" / "dot.c")
GEMM = str(ROOT / "examples" / "kernels" / "gemm.py")
PRODUCT = str(ROOT / "examples" / "matmul.pla")
SUM = "c[i, j, k] = madd(a[i, j, k], b[i, j, k], c[i, j, k-1]) if k >= 1"
LINKED = {
    "belt:silver": (GEMM, {"NI": 3, "NJ": 4, "NK": 5}, "C[i, j] += alpha * A[i, k] * B[k, j]"),
    "minion:2": (PRODUCT, {"N": 32, "M": 32, "K": 64}, SUM),
    "tensix": (
        PRODUCT,
        {"N": 32, "M": 32, "K": 32},
        "c[i, j, k] = madd(a[i, j, k], b[i, j, k], c[i, j, k-1]) if k >= 1",
    ),
    "tensix:wormhole": (GEMM, {"NI": 3, "NJ": 4, "NK": 5}, "C[i, j] += alpha * A[i, k] * B[k, j]"),
    "riscv:rv64gc": (GEMM, {"NI": 3, "NJ": 4, "NK": 5}, "C[i, j] += alpha * A[i, k] * B[k, j]"),
}


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
    code = chrome.run("[...document.querySelectorAll('.code li, .op')].map((each) => each.textContent)")
    assert any("mul" in line for line in code)


@pytest.mark.parametrize("on", LINKED)
def test_lines_are_linked_both_ways(chrome: Browser, tmp_path: Path, on: str) -> None:
    """What computes is the user's; what the compiler added says why."""
    path, sizes, statement = LINKED[on]
    page = tmp_path / "page.html"
    page.write_text(pl.compile(path, on=on).run(sizes).page(), encoding="utf-8")
    chrome.open(page, 1200, dark=True)
    assert chrome.run(CONTRASTS)[0][0] >= 4.5
    own = "[...document.querySelectorAll('.code li[data-l], .op[data-l]')].filter((each) => !each.matches('.made'))"
    chrome.run(f"{own}.find((each) => /mul|madd|fma/i.test(each.textContent)).id = 'own'")
    chrome.point(*middle(chrome, "#own"))
    assert " ".join(text(chrome, ".source:not(.code) li.lit code").split()) == statement
    chrome.run("document.querySelector('.source:not(.code) li.lit').focus()")
    assert chrome.run("document.querySelectorAll('.code li.lit, .op.lit').length") > 1
    made = chrome.run(
        "[...document.querySelectorAll('.code li.made, .op.made')].map((each) => each.dataset.t ?? each.title)"
    )
    assert all(" " in reason for reason in made)
    chrome.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    chrome.settle()
    assert Path(path).name in text(chrome, "details:last-of-type pre")
