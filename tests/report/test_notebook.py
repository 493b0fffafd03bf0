# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows: small, without a script, readable on its own ground, light or dark; and progress."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import pytest
from tests.report.browser import Browser
from tests.report.conftest import ROOT
from tests.report.contrasts import CONTRASTS
from tests.report.test_page import text

import polyloom as pl
from polyloom.report.notebook import bundle
from polyloom.report.progress import repeat_progress

LARGEST = 30_000
BITS = str(ROOT / "examples" / "bits.pla")


def html_of(shown: pl.Result | pl.Compiled | pl.Instance) -> str:
    found = shown._repr_mimebundle_()  # pyright: ignore[reportPrivateUsage]  # the name is a convention of notebooks
    assert found["text/plain"] == repr(shown)
    assert "\n" not in repr(shown)
    return found["text/html"]


def test_everything_is_small_and_has_no_script(gemm: pl.Result) -> None:
    compiled = pl.compile(gemm.instance.origin.subject.source, on="tcpa:4x4") if gemm.instance.origin.subject else None
    assert compiled is not None
    for shown in (gemm, gemm.instance, compiled):
        html = html_of(shown)
        assert len(html.encode()) <= LARGEST
        assert "<script" not in html
        assert "background: #" not in html
        assert "color-scheme:light dark" in html


@pytest.mark.parametrize(("ground", "ink", "dark"), [("#ffffff", "#111111", False), ("#111111", "#dddddd", True)])
@pytest.mark.parametrize("system", [False, True])
def test_it_is_readable_in_the_notebook_s_theme(
    chrome: Browser, gemm: pl.Result, tmp_path: Path, ground: str, ink: str, dark: bool, system: bool
) -> None:
    """Whatever theme the system has."""
    page = tmp_path / "notebook.html"
    style = f"background:{ground};color:{ink}"
    light = str(not dark).lower()
    page.write_text(
        f"<meta charset=utf-8><body data-jp-theme-light={light} style='{style}'>{html_of(gemm)}", encoding="utf-8"
    )
    chrome.open(page, 900, dark=system)
    assert (chrome.requests, chrome.errors) == ([], [])
    assert chrome.run("document.documentElement.scrollWidth") == 900
    assert "equal bits, compared with the source" in text(chrome, "h3")
    contrasts = chrome.run(CONTRASTS)
    assert contrasts[0][0] >= 4.5, contrasts[:3]


def test_show_embeds_the_page(chrome: Browser, gemm: pl.Result, tmp_path: Path) -> None:
    shown = gemm.show()
    assert repr(shown).startswith("<page of gemm NI=20 NJ=25 NK=30 on tcpa:4x4: ")
    page = tmp_path / "notebook.html"
    html = shown._repr_mimebundle_()["text/html"]  # pyright: ignore[reportPrivateUsage]  # the name is a convention of notebooks
    page.write_text(f"<meta charset=utf-8>{html}", encoding="utf-8")
    chrome.open(page, 1000)
    assert (chrome.requests, chrome.errors) == ([], [])
    assert chrome.run("document.querySelector('iframe').srcdoc") == gemm.page()


def test_a_front_end_chooses_what_it_gets() -> None:
    assert list(bundle("a", "b")) == ["text/plain", "text/html"]
    assert bundle("a", "b", include=["text/plain"]) == {"text/plain": "a"}
    assert bundle("a", "b", exclude={"text/plain"}) == {"text/html": "b"}


class Bar:
    """What tests need of tqdm's."""

    made: list[Bar]

    def __init__(self, **given: Any) -> None:
        self.n, self.said, self.closed, self.given = 0.0, list[tuple[str, float]](), False, given
        type(self).made.append(self)

    def set_description_str(self, text: str, refresh: bool = True) -> None:
        del refresh
        self.text = text

    def refresh(self) -> None:
        self.said.append((self.text, self.n))

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    """Bars that a tqdm makes, as if it were installed."""
    Bar.made = []
    module = ModuleType("tqdm.auto")
    module.__dict__["tqdm"] = Bar
    monkeypatch.setitem(sys.modules, "tqdm", ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    return Bar.made


def test_progress_is_a_bar_of_tqdm(bars: list[Bar]) -> None:
    pl.compile(BITS, on="tcpa:paper", progress=pl.progress())
    (bar,) = bars
    assert bar.given["total"] == 100
    assert bar.said[0] == ("reading", 0.0)
    assert bar.said[-1] == ("done", 100.0)
    assert [n for _, n in bar.said] == sorted(n for _, n in bar.said)
    assert bar.closed


def test_an_error_ends_the_bar(bars: list[Bar]) -> None:
    with pytest.raises(pl.PolyloomError), pl.progress() as told:
        pl.compile(BITS, on="tcpa:paper:what", progress=told)
        told("never", 0.0)
    assert all(bar.closed for bar in bars)


def test_without_tqdm_and_without_a_terminal_nothing_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    pl.compile(BITS, on="tcpa:paper", progress=pl.progress())
    assert capsys.readouterr() == ("", "")


def test_the_last_report_is_repeated_while_a_step_goes_on() -> None:
    heard, again = list[tuple[str, float]](), Event()

    def listen(step: str, fraction: float) -> None:
        heard.append((step, fraction))
        if len(heard) == 4:
            again.set()

    with repeat_progress(listen, beat=0.01) as told:
        assert told is not None
        told("solving", 0.25)
        assert again.wait(60)
    assert set(heard) == {("solving", 0.25)}
    ended = len(heard)
    again.wait(0.05)
    assert len(heard) == ended
    with repeat_progress(None) as nothing:
        assert nothing is None
