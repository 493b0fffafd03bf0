# SPDX-License-Identifier: Apache-2.0
"""Text, page and traces of a run of the paper's running example on its configuration."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden

import polyloom as pl
from polyloom.diagnostics import MISMATCH, Diagnostic
from polyloom.report import activity, run_text, trace
from polyloom.report import verdict as words
from polyloom.run.compare import compare
from polyloom.run.verdict import Compared, verdict_keys
from polyloom.targets.subject import Oracle
from polyloom.targets.trace import Arrow, Instant, Trace, span_activity
from polyloom.targets.trace import Span as Event

_TIMES = re.compile(r"\b\d+(\.\d+)? m?s\b")
REFERENCE = Oracle("reference", "the reference", lambda values, inputs: None)
_VOID = {"meta", "br"}


class _Nesting(HTMLParser):
    """Every element that is opened is closed, in order; nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def result(scratch: Path) -> pl.Result:
    del scratch
    compiled = pl.load("bits.plsc")
    assert isinstance(compiled, pl.Compiled)
    return compiled.instantiate(N=16, pes=(1, 3)).run({"in": np.asarray(np.int32(0b1011))}, trace=True)


def test_text(result: pl.Result, golden: Golden) -> None:
    golden("report", _TIMES.sub("TIME", result.report()))


def test_page_is_whole(result: pl.Result) -> None:
    page = result.page()
    nesting = _Nesting()
    nesting.feed(page)
    assert nesting.open == []
    assert {"svg", "table", "details", "script"} <= nesting.seen
    assert '"labels":[["P1",' in page
    assert "http:" not in page
    assert "https:" not in page
    assert run_text.headline(result.data) in page


def test_events_are_operations(result: pl.Result) -> None:
    events = result.execution.trace.spans
    assert len(events) == result.execution.operations == 48
    first = events[0]
    assert (first.group, first.lane, first.name) == ("element (0, 0)", "alu0", "move = 0x0000000b")
    assert (first.start, first.cycles) == (0, 1)
    assert (
        max(e.start + e.cycles for e in events) + 1 == result.cycles
    )  # the last bank write is in the cycle that sees the value


def test_activity_has_a_bit_for_every_cycle_with_an_operation(result: pl.Result) -> None:
    found = result.activity
    assert found is not None
    lanes = [(g.name, lane) for g in found.groups for lane in g.lanes]
    bits = np.unpackbits(found.rows, axis=1, bitorder="little")
    rows, cycles = np.nonzero(bits)
    set_bits = {(*lanes[int(row)], int(cycle)) for row, cycle in zip(rows, cycles, strict=True)}
    assert set_bits == {(e.group, e.lane, e.start) for e in result.events}
    assert len(set_bits) == 48


def test_pictures_of_many_elements_are_of_their_rows() -> None:
    events = [Event(f"element ({n // 12}, {n % 12})", "alu0", "move", n, 1) for n in range(36)]
    drawn = activity.picture(span_activity(events))
    assert re.findall(r">(element [^<]*)<", drawn) == ["element (0, …)", "element (1, …)", "element (2, …)"]
    assert activity.picture(None) == ""


def test_an_untraced_run_is_repeated_to_be_drawn(result: pl.Result) -> None:
    again = result.instance.run({"in": np.asarray(np.int32(0b1011))})
    assert again.execution.trace.spans == ()
    assert again.events == result.events


def test_perfetto(result: pl.Result) -> None:
    events = json.loads(trace.perfetto(result.execution.trace))["traceEvents"]
    assert [e["ph"] for e in events].count("X") == 48
    assert {e["args"]["name"] for e in events if e["ph"] == "M"} == {
        "alu0",
        "alu1",
        *(f"element (0, {n})" for n in range(3)),
    }


def test_vcd(result: pl.Result) -> None:
    lines = trace.vcd(result.execution.trace).decode().splitlines()
    names = re.findall(r"\$var string 1 (\S+) \w+ \$end", "\n".join(lines))
    assert len(names) == len(set(names)) == 6
    times = [int(line[1:]) for line in lines if re.fullmatch(r"#\d+", line)]
    assert times == sorted(set(times))
    changes = [line.split(" ") for line in lines if line.startswith("s")]
    assert {identifier for _, identifier in changes} == set(names)
    assert sum(value != "s" for value, _ in changes) == 48


@pytest.mark.parametrize(
    ("other", "got"),
    [
        ({"y": np.zeros((2, 1), np.int64)}, "int64 of the shape (2, 1)"),
        ({"y": np.zeros(2, np.int32)}, "int32 of the shape (2,)"),
        ({"y": np.zeros(2, np.uint64)}, "uint64 of the shape (2,)"),
        ({"y": np.zeros(2, np.float64)}, "float64 of the shape (2,)"),
        ({"y": np.asarray(np.int64(0))}, "one int64"),
        ({}, "nothing"),
    ],
)
def test_shapes_and_types_that_differ_are_differences(other: dict[str, np.ndarray[Any, Any]], got: str) -> None:
    """Where NumPy would spread or convert one of them to the other."""
    for allowed in (None, {"y": np.ones(2)}):
        found = compare({"y": np.zeros(2, np.int64)}, other, REFERENCE, allowed).difference
        assert found is not None
        assert (found.code, found.exit_code) == ("PL0812", 4)
        assert found.message == f"y differs from the reference: expected int64 of the shape (2,), got {got}"
    assert compare({"y": np.zeros(2, ">i8")}, {"y": np.zeros(2, "<i8")}, REFERENCE).verdict == "equal bits"


def test_comparison_names_the_first_difference() -> None:
    want = {"y": np.array([[1.0, np.nan], [0.0, 2.0]], np.float32)}
    same = {"y": np.array([[1.0, -np.nan], [0.0, 2.0]], np.float32)}
    other = {"y": np.array([[1.0, np.nan], [-0.0, 3.0]], np.float32)}
    assert compare(want, same, REFERENCE).verdict == "equal bits"
    found = compare(want, other, REFERENCE).difference
    assert found is not None
    assert (found.code, found.exit_code) == ("PL0812", 4)
    assert found.message == "y[1, 0] differs from the reference: expected 0.0, got -0.0"
    assert found.notes == ("2 of 4 elements of y differ",)


def test_within_a_bound_is_not_equal_bits() -> None:
    """Elements of which nothing is expected do not count; neither does which NaN it is; another zero is other bits."""
    want = {"y": np.array([1.0, np.nan, 0.0, 2.0], np.float32)}
    allowed = {"y": np.array([0.25, 0.25, 0.0, np.nan])}
    near = compare(want, {"y": np.array([1.125, -np.nan, 0.0, 7.0], np.float32)}, REFERENCE, allowed)
    assert (near.verdict, near.error, near.bound) == ("within", 0.125, 0.25)
    zero = compare(want, {"y": np.array([1.0, np.nan, -0.0, 2.0], np.float32)}, REFERENCE, allowed)
    assert (zero.verdict, zero.error) == ("within", 0.0)
    equal = compare(want, {"y": np.array([1.0, np.nan, 0.0, 7.0], np.float32)}, REFERENCE, allowed)
    assert (equal.verdict, equal.error, equal.bound) == ("equal bits", 0.0, 0.25)
    far = compare(want, {"y": np.array([1.5, 1.0, 0.0, 2.0], np.float32)}, REFERENCE, allowed)
    assert far.verdict == "differs" and far.difference is not None
    assert far.difference.notes == ("the bound is 0.25", "2 of 4 elements of y are beyond their bounds")
    measured = replace(REFERENCE, judges=False)
    told = compare(want, {"y": np.array([1.5, np.nan, 0.0, 2.0], np.float32)}, measured)
    assert (told.verdict, told.error, told.bound, told.difference) == ("within", 0.5, None, None)
    told = compare(want, {"y": np.array([1.5, 1.0, 0.0, 2.0], np.float32)}, measured)
    assert (told.verdict, told.data["error"], told.data["bound"]) == ("within", "inf", None)
    assert compare(want, want, measured).verdict == "equal bits"
    unknown = compare(want, {"y": np.array([9.0, np.nan, 0.0, 2.0], np.float32)}, REFERENCE, {"y": np.full(4, np.inf)})
    assert (unknown.verdict, unknown.error, unknown.bound) == ("within", 8.0, None)


def test_the_verdict_is_the_worst_and_the_words_are_the_same() -> None:
    equal = Compared("interpreter", "the interpreter", "equal bits")
    near = Compared("source", "the source", "within", 0.125, 0.25)
    wrong = Compared("host", "the host", "differs", difference=Diagnostic("PL0812", "no", MISMATCH))
    told = {count: verdict_keys(found) for count, found in enumerate([(), (equal,), (equal, near), (wrong, near)])}
    assert [keys["verdict"] for keys in told.values()] == [None, "equal bits", "within", "differs"]
    assert [(keys.get("error"), keys.get("bound")) for keys in told.values()] == [(None, None)] * 2 + [
        (0.125, 0.25),
        (None, None),
    ]
    assert [words.run_verdict(keys) for keys in told.values()] == [
        "not compared: no source",
        "equal bits, compared with the interpreter",
        "within 0.125 of the source (bound 0.25), equal bits with the interpreter",
        "DIFFERS from the host, within 0.125 of the source (bound 0.25)",
    ]
    assert [words.mood(keys) for keys in told.values()] == ["plain", "good", "good", "bad"]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(0, 9)), max_size=40))
def test_no_two_spans_of_a_lane_overlap(drawn: list[tuple[str, int, int]]) -> None:
    """And a unit has no more lanes than operations in flight at some time."""
    spans = [Event("element", unit, "x", start, cycles) for unit, start, cycles in drawn]
    made = json.loads(trace.perfetto(Trace(tuple(spans))))["traceEvents"]
    lanes: dict[int, list[tuple[int, int]]] = {}
    for event in made:
        if event["ph"] == "X":
            lanes.setdefault(event["tid"], []).append((event["ts"], event["ts"] + max(event["dur"], 1)))
    for busy in lanes.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(sorted(busy)))
    for unit in "ab":
        own = [(s.start, s.start + max(s.cycles, 1)) for s in spans if s.lane == unit]
        most = max((sum(start <= at < end for start, end in own) for at in range(40)), default=0)
        names = {event["args"]["name"] for event in made if event["ph"] == "M" and event["name"] == "thread_name"}
        assert sum(name.startswith(unit) for name in names) == most


def test_instants_and_arrows() -> None:
    """An arrow binds to the spans that begin where it leaves and arrives."""
    spans = (Event("e", "u", "a", 0, 4, (("value", "7"),)), Event("e", "v", "b", 5, 1))
    made = Trace(spans, (Instant("e", "w", "fault", 3),), (Arrow("x", ("e", "u"), 0, ("e", "v"), 5),))
    events = {event["ph"]: event for event in json.loads(trace.perfetto(made))["traceEvents"] if event["ph"] != "M"}
    assert (events["i"]["ts"], events["i"]["name"]) == (3, "fault")
    assert (events["s"]["ts"], events["f"]["ts"], events["f"]["tid"]) == (0, 5, events["X"]["tid"])
    assert events["s"]["id"] == events["f"]["id"]
