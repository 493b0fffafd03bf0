# SPDX-License-Identifier: Apache-2.0
"""The page of a run in a browser: it asks for nothing, complains of nothing, fits its window, can be read, and links
what belongs together."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest
from tests.report.browser import Browser
from tests.report.contrasts import CONTRASTS, HIGHLIGHT_CONTRAST, ON_CANVAS

import polyloom as pl
from polyloom.report import run_page
from polyloom.report.page.document import document
from polyloom.report.page.source import line_list
from polyloom.report.run_page import Shown
from polyloom.targets.costs import Line
from polyloom.targets.provenance import Provenance
from polyloom.targets.report import Circuit, Flow, Grid, Operation, Pressure, Report, Reservation, Route, Table
from polyloom.targets.target import Json
from polyloom.targets.trace import Span, span_activity

_SIZES = ((1200, False), (420, True), (1200, True), (420, False))


def text(chrome: Browser, what: str) -> str:
    return str(chrome.run(f"document.querySelector({what!r})?.textContent"))


def middle(chrome: Browser, what: str) -> tuple[float, float]:
    """Where the pointer meets an element, which is scrolled into view."""
    chrome.run(f"document.querySelector({what!r}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
    box = chrome.run(
        f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
        f"(document.querySelector({what!r}).getBoundingClientRect())"
    )
    return box[0], box[1]


@pytest.mark.parametrize(("width", "dark"), _SIZES)
def test_it_fits_asks_for_nothing_and_can_be_read(chrome: Browser, gemm_page: Path, width: int, dark: bool) -> None:
    chrome.open(gemm_page, width, dark=dark)
    assert (chrome.requests, chrome.errors) == ([], [])
    assert chrome.run("document.documentElement.scrollWidth") == width
    assert text(chrome, "h1").startswith("gemm NI=20 NJ=25 NK=30")
    assert text(chrome, ".verdict") == "✓ equal bits, compared with the source's equations and the source"
    assert [text(chrome, f".cards div:nth-child({n}) b") for n in (1, 2)] == ["1192", "91,500"]
    contrasts = chrome.run(CONTRASTS)
    assert len(contrasts) > 120
    assert contrasts[0][0] >= 4.5, contrasts[:5]
    drawn = chrome.run(ON_CANVAS)
    assert len(drawn) > 10
    assert drawn[0][0] >= 4.5, drawn[:5]


def test_a_request_would_be_seen(chrome: Browser, tmp_path: Path) -> None:
    """As would a complaint, and a page that is too wide: the checks above can fail."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<meta charset=utf-8><p style='width:2000px;color:#aaa'>x</p><svg><rect fill=#ddd width=90 height=30 />"
        "<text y=20 fill=#aaa>drawn</text></svg><img src='http://a.example/x.png'>"
        "<script>console.error('no')</script>",
        encoding="utf-8",
    )
    chrome.open(page, 420)
    assert chrome.requests == ["http://a.example/x.png"]
    assert any("no" in error for error in chrome.errors)
    assert chrome.run("document.documentElement.scrollWidth") > 420
    assert [text for contrast, text in chrome.run(CONTRASTS) if contrast < 4.5] == ["drawn", "x"]


def test_the_policy_forbids_requests(chrome: Browser, tmp_path: Path) -> None:
    from polyloom.report.page.document import document

    page = tmp_path / "bad.html"
    page.write_text(document("bad", "", "<img src='http://a.example/x.png'>"), encoding="utf-8")
    chrome.open(page, 420)
    assert any("Content Security Policy" in error for error in chrome.errors)


def test_a_line_and_its_operations_light_together(chrome: Browser, gemm_page: Path) -> None:
    chrome.open(gemm_page, 1200)
    chrome.point(*middle(chrome, ".source li[tabindex]"))
    lit = chrome.run("[...document.querySelectorAll('.op.lit')].map((each) => each.firstChild.data)")
    assert "S1" in lit
    assert "S2" not in lit
    chrome.point(*middle(chrome, ".op[data-l]"))
    assert text(chrome, ".source li.lit code").strip() == "C[i, j] += alpha * A[i, k] * B[k, j]"
    assert "gemm.py:19" in text(chrome, ".tell")
    chrome.point(2, 2)
    assert chrome.run("document.querySelectorAll('.lit').length") == 0


def test_the_same_by_keyboard(chrome: Browser, gemm_page: Path) -> None:
    chrome.open(gemm_page, 1200)
    chrome.run("document.querySelector('.source li[tabindex]').focus()")
    assert chrome.run("document.querySelectorAll('.op.lit').length") == 5
    chrome.press("Tab")
    assert text(chrome, ".source li.lit code").strip().startswith("C[i, j] += alpha")
    chrome.press("Escape")
    assert chrome.run("document.querySelectorAll('.lit').length") == 0


def test_activity_zooms_and_opens_an_element(chrome: Browser, gemm: pl.Result, gemm_page: Path) -> None:
    chrome.open(gemm_page, 1200)
    chrome.run("document.querySelector('canvas').focus()")
    busy = [e for e in gemm.events if e.group == "element (0, 0)"]
    share = 100 * len(busy) / (20 * gemm.activity.cycles) if gemm.activity else 0
    assert text(chrome, ".activity .at") == f"element (0, 0) · whole run · {share:.1f} % busy"
    chrome.press("ArrowDown")
    chrome.press("Enter")
    assert chrome.run("[...document.querySelectorAll('.crumbs button')].map((b) => b.textContent)") == [
        "all",
        "element (0, 1)",
    ]
    for _ in range(7):
        chrome.press("+")
    label = chrome.run("document.querySelector('canvas').ariaLabel")
    first, last = (int(word) for word in label.split("cycles ")[1].split(" to "))
    assert 0 < last - first <= 17
    x, y = middle(chrome, "canvas")
    chrome.point(x, y)
    said = text(chrome, ".activity .at")
    unit, when, what = said.split(" · ")
    starts = {e.start for e in gemm.events if (e.group, e.lane) == ("element (0, 1)", unit)}
    assert what.startswith("1 of 1") == (int(when.removeprefix("cycle ")) in starts)
    chrome.press("Backspace")
    assert text(chrome, ".activity .at").startswith("element (0, 0)")


def test_the_array_tells_programs_fifos_and_arrays(chrome: Browser, gemm_page: Path) -> None:
    chrome.open(gemm_page, 1200)
    chrome.run("document.querySelector('.map').focus()")
    said = text(chrome, ".map .at")
    assert said.startswith("element (0, 0) · program P1 · ")
    assert "FIFO depths fd0" in said
    chrome.press("ArrowRight")
    chrome.press("Enter")
    chrome.settle()
    assert text(chrome, ".crumbs button:last-child") == "element (0, 1)"
    chrome.run("document.querySelector('.map').focus()")
    chrome.run("document.querySelector('.map').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowUp'}))")
    assert "array" in text(chrome, ".map .at")
    assert chrome.run("document.querySelectorAll('.map .way').length") > 0


def test_what_is_folded_opens(chrome: Browser, gemm: pl.Result, gemm_page: Path) -> None:
    chrome.open(gemm_page, 1200)
    chrome.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    chrome.settle()
    assert text(chrome, "details pre").strip() == gemm.instance.listing.strip()
    assert chrome.run("document.querySelectorAll('details svg').length") > 3
    assert chrome.errors == []


def test_it_prints(chrome: Browser, gemm_page: Path) -> None:
    """On white, without the parts that only a screen can use."""
    chrome.open(gemm_page, 1000, dark=True)
    chrome.call("Emulation.setEmulatedMedia", media="print")
    assert chrome.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not chrome.run("document.querySelector('.tools').checkVisibility()")
    chrome.call("Emulation.setEmulatedMedia", media="")


def test_the_same_by_touch(chrome: Browser, gemm_page: Path) -> None:
    chrome.open(gemm_page, 420)
    chrome.call("Emulation.setTouchEmulationEnabled", enabled=True)
    x, y = middle(chrome, ".op[data-l]")
    chrome.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    chrome.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    chrome.settle()
    assert text(chrome, ".source li.lit code").strip().startswith("C[i, j] += alpha")
    chrome.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_texts_of_strangers_stay_texts(chrome: Browser, tmp_path: Path) -> None:
    """Names, sources, notes and listings, on the page and in what is folded or told by the script."""
    bad = "</script><img src=x onerror='document.title=1'><b>\"'&"
    place = Provenance(bad, 1, 1, 3, bad, bad)
    view = Report(
        tables=(Table(bad, (bad,), ((bad,),)),),
        pressure=(Pressure(bad, 1, 1),),
        reservation=Reservation((bad,), ((bad,),)),
        bound=bad,
        grid=Grid((("P1",),), banks=((-1, 0),), routes=(Route(bad, ((-1, 0), (0, 0))),), notes=(("P1", bad),)),
        flows=(Flow(bad, (bad,), ((0, 0, bad),)),),
        operations=(Operation(bad, bad, 0, bad, place),),
        sources=((bad, bad),),
        circuit=Circuit((bad,), 1, 1),
    )
    data: dict[str, Json] = {"kernel": bad, "parameters": None, "on": bad, "verified": None}
    found = span_activity([Span(bad, bad, bad, 0, 1)])
    page = tmp_path / "bad.html"
    shown = Shown(data, [(bad, bad)], [view], found, bad * 99, [(bad, bad)], [Line(bad, 1)], (bad, bad))
    page.write_text(run_page.page(shown), encoding="utf-8")
    chrome.open(page, 1200)
    chrome.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    chrome.run("document.querySelector('.map').focus()")
    chrome.settle()
    assert (chrome.requests, chrome.errors) == ([], [])
    assert chrome.run("document.querySelectorAll('img, main b:not(dd b)').length") == 0
    assert bad in text(chrome, ".map .at")
    assert bad in text(chrome, "details:last-of-type pre")
    assert chrome.run("document.title").startswith(bad)


def test_the_page_is_small(gemm_page: Path) -> None:
    # The account and its profile take 2.5 kB of it.
    assert gemm_page.stat().st_size <= 50_500


def test_a_thousand_elements(chrome: Browser, gemm: pl.Result, tmp_path: Path) -> None:
    """They open row by row."""
    subject = gemm.instance.origin.subject
    assert subject is not None
    large = pl.compile(subject.source, on="tcpa:32x32").instantiate(NI=32, NJ=32, NK=4).run(trace=True)
    page = tmp_path / "large.html"
    page.write_text(large.page(), encoding="utf-8")
    assert page.stat().st_size <= 1_000_000
    chrome.open(page, 420)
    assert (chrome.requests, chrome.errors) == ([], [])
    assert chrome.run("document.documentElement.scrollWidth") == 420
    assert text(chrome, ".activity .at").startswith("element (0, …) · whole run")
    chrome.run("document.querySelector('canvas').focus()")
    for _ in range(3):
        chrome.press("ArrowDown")
    chrome.press("Enter")
    assert text(chrome, ".activity .at").startswith("element (3, 0) · whole run")
    chrome.press("Enter")
    assert chrome.run("document.querySelectorAll('.crumbs button').length") == 3
    assert large.activity is not None
    counts = large.activity.counts["element (3, 0)"]
    share = 100 * counts[0] / large.activity.cycles
    assert text(chrome, ".activity .at") == f"{large.activity.groups[0].lanes[0]} · whole run · {share:.1f} % busy"


_SOURCE = {"python": "demo.py", "C": "demo.c", "assembly": ""}
_TEXTS = {
    "python": '"""Begins\nbefore # the pane"""\nfor i in range(10):  # each\n    x[i] = "in" + 2.5\n',
    "C": '/* begins\nbefore */ for (int i = 0; i < 10; i++)  // each\n  puts("for");\n#pragma scop\n',
    "assembly": "  10058: 10d676d3  fmul.s fa3, fa2, 16\nloop:  # each\n",
}
_COLOURED = {
    "python": {"c": ["# each"], "s": ['before # the pane"""', '"in"'], "n": ["10", "2.5"], "k": ["for", "in"]},
    "C": {"c": ["before */", "// each"], "s": ['"for"'], "n": ["0", "10"], "k": ["for", "int", "#pragma"]},
    "assembly": {"c": ["  10058: 10d676d3"], "s": ["# each"], "n": ["16"], "k": ["fmul.s", "loop"]},
}


@pytest.mark.parametrize("language", _TEXTS)
def test_syntax_has_colours(chrome: Browser, tmp_path: Path, language: str) -> None:
    """A pane may begin inside a comment; colours can be read also on a line that is lit."""
    lines = _TEXTS[language].splitlines()
    rows = "".join(f'<li data-l="s0.{n}"><code>{escape(line)}</code></li>' for n, line in enumerate(lines[1:], 2))
    pane = source_pane_of(language, lines, rows)
    page = tmp_path / "page.html"
    page.write_text(document("colours", "", f"<main>{pane}</main>"), encoding="utf-8")
    chrome.open(page, 1200)
    assert chrome.errors == []
    words = (
        "Object.fromEntries([...'csnk'].map((name) => [name, [...CSS.highlights.get(name)]"
        ".map((r) => r.startContainer.data.slice(r.startOffset, r.endOffset))]))"
    )
    assert chrome.run(words) == _COLOURED[language]
    for row in ("li", "li.lit"):
        chrome.run(f"document.querySelector('li').className = '{row.partition('.')[2]}'")
        for name in "csnk":
            assert chrome.run(f"({HIGHLIGHT_CONTRAST})('{name}')") >= 4.5, (row, name)


def source_pane_of(language: str, lines: list[str], rows: str) -> str:
    """A pane that begins at the second line; of assembly the first, as it has no comments over lines."""
    if language == "assembly":
        first = f"<li><code>{escape(lines[0])}</code></li>"
        return f'<figure class="source code"><ol>{first}{rows}</ol></figure>'
    name = _SOURCE[language]
    return f'<figure class="source"><figcaption>{name}</figcaption>{line_list(name, lines, 2, rows)}</figure>'
