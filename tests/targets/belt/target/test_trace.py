# SPDX-License-Identifier: Apache-2.0
"""Traces keep all operations, or say what they lack, in the text, the page and the trace itself; the activity has
all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from polyloom import api
from polyloom.cli import main
from polyloom.run import instance
from polyloom.targets.belt.run import model
from polyloom.targets.trace import span_activity

DOT = "int dot(int n, const int a[n]) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"
CUT = "the first 100 of "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    monkeypatch.chdir(tmp_path)
    Path("dot.c").write_text(DOT, encoding="utf-8")


def test_long_runs_are_kept() -> None:
    """More than the 65,536 operations that were once kept without a word."""
    result: Any = api.compile("dot.c", "belt:silver").run(n=14_000, trace=True)
    assert len(result.events) > 70_000 and not result.trace.notice
    assert result.events[-1].start >= result.cycles - 3
    assert result.activity == span_activity(result.events)


def test_what_is_cut_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(model, "TRACED", 100)
    words = ["run", "dot.c", "n=500", "--on", "belt:silver", "--trace", "run.json", "--report", "run.html"]
    assert main(words) == 0
    assert CUT in capsys.readouterr().err
    assert CUT in Path("run.html").read_text(encoding="utf-8")
    made = json.loads(Path("run.json").read_text(encoding="utf-8"))
    assert CUT in made["otherData"]["notice"]
    assert [e["name"] for e in made["traceEvents"] if e["ph"] == "i"] == ["the trace ends here"]
    assert sum(e["ph"] == "X" for e in made["traceEvents"]) == 100
    assert main(["run", "dot.c", "n=500", "--on", "belt:silver", "--trace", "run.vcd"]) == 0
    assert f"$comment {CUT}" in Path("run.vcd").read_text(encoding="utf-8")


def test_the_activity_is_whole_where_spans_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = api.compile("dot.c", "belt:silver")
    whole = made.run(n=500, trace=True)
    monkeypatch.setattr(model, "TRACED", 100)
    cut = made.run(n=500, trace=True)
    assert len(cut.events) == 100
    assert cut.activity == whole.activity == span_activity(whole.events)


def test_a_page_says_why_it_has_no_activity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance, "_DRAWN", 1000)
    result: Any = api.compile("dot.c", "belt:silver").run(n=500)
    assert result.activity is None
    assert "add --trace FILE" in result.page()
    assert "trace" not in result.report()
