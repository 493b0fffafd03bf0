# SPDX-License-Identifier: Apache-2.0
"""Bits of activity are what happened, whatever form it came in."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.report.browser import Browser
from tests.report.test_page import text

from polyloom.report import run_page
from polyloom.report.activity import picture
from polyloom.report.page.embedding import deflate_base64
from polyloom.report.run_page import Shown
from polyloom.targets.activity import Activity, Columns, Group, column_activity, merge_columns
from polyloom.targets.trace import Span, span_activity

SPANS = st.lists(
    st.builds(
        Span,
        st.sampled_from(["element (0, 2)", "element (0, 10)"]),
        st.sampled_from(["add0", "mul0"]),
        st.just("x"),
        st.integers(0, 40),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=20,
)


def bits(found: Activity) -> set[tuple[str, str, int]]:
    lanes = [(g.name, lane) for g in found.groups for lane in g.lanes]
    rows = np.unpackbits(found.rows, axis=1, bitorder="little").tolist()
    return {(*lanes[n], cycle) for n, row in enumerate(rows) for cycle, bit in enumerate(row) if bit}


@given(SPANS)
def test_a_bit_is_a_start_or_a_cycle_that_a_span_lasts(spans: list[Span]) -> None:
    assert bits(span_activity(spans)) == {(s.group, s.lane, s.start) for s in spans}
    held = {(s.group, s.lane, c) for s in spans for c in range(s.start, s.start + max(s.cycles, 1))}
    assert bits(span_activity(spans, holds=True)) == held


@given(SPANS, st.booleans())
def test_long_runs_have_a_bit_for_several_cycles(spans: list[Span], holds: bool) -> None:
    whole, small = span_activity(spans, holds=holds), span_activity(spans, holds=holds, largest=8)
    assert len(small.bits) <= max(8, sum(len(g.lanes) for g in small.groups))
    assert bits(small) == {(group, lane, cycle // small.step) for group, lane, cycle in bits(whole)}


def test_groups_are_in_the_order_of_their_numbers() -> None:
    found = span_activity([Span(f"element (0, {n})", "add0", "x", n, 1) for n in (10, 9, 2)])
    assert [g.name for g in found.groups] == ["element (0, 2)", "element (0, 9)", "element (0, 10)"]
    assert found.utilization("element (0, 2)") == 1 / 11


def test_parts_that_run_on_different_regions_are_joined() -> None:
    small = Columns((Group("e1", ("a", "b")),), np.array([1]), np.array([3]))
    large = Columns((Group("e0", ("a", "b")), Group("e1", ("a", "b"))), np.array([0, 2]), np.array([7, 8]))
    joined = merge_columns([small, large])
    assert joined is not None
    assert bits(column_activity(joined)) == {("e1", "b", 3), ("e0", "a", 7), ("e1", "a", 8)}
    assert merge_columns([]) is None


def test_what_is_deflated_can_be_inflated() -> None:
    assert zlib.decompress(b64decode(deflate_base64(b"xyz" * 99)), -15) == b"xyz" * 99


def test_a_thousand_of_one_kind_open_by_their_numbers(chrome: Browser, tmp_path: Path) -> None:
    found = span_activity([Span(f"minion {n}", "fma", "x", n, 200) for n in range(1024)], holds=True)
    drawn = picture(found)
    assert re.findall(r">(minion [^<]*)<", drawn) == []
    assert drawn.count("<path") > 1
    shown = Shown({"kernel": "k", "parameters": None, "on": None, "verified": None}, [], [], found)
    page = tmp_path / "page.html"
    page.write_text(run_page.page(shown), encoding="utf-8")
    chrome.open(page, 1200)
    assert chrome.errors == []
    assert text(chrome, ".activity .at").startswith("minion 0 … · whole run")
    chrome.run("document.querySelector('canvas').focus()")
    chrome.press("ArrowDown")
    chrome.press("Enter")
    assert text(chrome, ".activity .at").startswith(f"minion 32 · whole run · {100 * 200 / 1223:.1f} % busy")
