# SPDX-License-Identifier: Apache-2.0
"""The page and the account as JSON agree: the marked line and the named loop are those with the most unit-cycles, the
classes and their columns over time sum to units times cycles, and the inner loop is of the hottest loop's lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from tests.account.test_machines import KERNELS, PLACES, ran, run

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.report.page.source import line_key
from polyloom.run.instance import Result
from polyloom.run.source_loops import find_loops

_MARKED = re.compile(r'<li data-l="([^"]+)" class="hottest">')
_NAMED = re.compile(r"Unit-\w+ by line; the hottest line is (\d+)(?:, the hottest loop is ([^.]*?), [\d.]+ %)?\.")
_INNER = re.compile(r"<h2[^>]*>Source and inner loop</h2>.*?</section>", re.DOTALL)
_LINKS = re.compile(r'<figure class="source code">.*?</figure>', re.DOTALL)


def check_sums(account: Mapping[str, Any]) -> None:
    """Sums of the account, of its lines and of its columns over time, all counted from the JSON."""
    total = account["units"] * account["cycles"]
    assert account["unit_cycles"] == total == sum(account["classes"].values())
    assert all(sum(details.values()) == account["classes"][name] for name, details in account["details"].items())
    assert sum(row["unit_cycles"] for row in account["lines"]) <= total
    timeline = account["timeline"]
    assert {name: sum(columns) for name, columns in timeline["classes"].items()} == account["classes"]
    lengths = [timeline["step"]] * (account["cycles"] // timeline["step"])
    lengths += [rest] if (rest := account["cycles"] % timeline["step"]) else []
    columns = zip(*timeline["classes"].values(), strict=True)
    assert [sum(column) for column in columns] == [account["units"] * n for n in lengths]
    assert len(lengths) <= 128


def check_page(result: Result) -> None:
    """The page against the JSON, from which the hottest line and loop are counted again."""
    account, page = cast("dict[str, Any]", result.data["account"]), result.page()
    check_sums(account)
    lines = {row["line"]: row["unit_cycles"] for row in account["lines"]}
    if not lines:
        assert not _MARKED.findall(page)
        return
    hottest = max(lines, key=lambda line: (lines[line], -line))
    assert account["hottest_line"] == hottest
    assert _MARKED.findall(page) == [line_key(0, hottest)]
    line, loop = cast("re.Match[str]", _NAMED.search(page)).groups()
    assert int(line) == hottest
    # Loops are summed over their lines, which the text of the source tells.
    (source,) = cast("Any", result.instance.origin.subject).texts
    loops = dict[str, int]()
    for n, name in find_loops(dict([source])).items():
        loops[name] = loops.get(name, 0) + lines.get(n, 0)
    assert account["loops"] == {name: n for name, n in loops.items() if n}
    assert (loop and loops[loop]) == max(loops.values(), default=None)
    for inner in _INNER.findall(page):
        shown = {
            int(key.partition(".")[2]) for key in re.findall(r'data-l="(s0\.\d+)"', "".join(_LINKS.findall(inner)))
        }
        named = find_loops(dict([source]))
        # One source loop may be several of the machine, so that of two alike the machine's hottest is the other one.
        assert not shown or max(loops.get(named.get(n, ""), 0) for n in shown) > 0.9 * loops[loop], (shown, loop)


@pytest.mark.parametrize("place", PLACES)
def test_the_page_marks_the_hottest_line(place: str) -> None:
    check_page(ran(place))


@pytest.mark.long
@pytest.mark.parametrize("place", [*PLACES, "tcpa:3x2", "belt:tin", "riscv:rv32imc"])
@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda path: path.stem)
def test_all_examples(path: Path, place: str) -> None:
    try:
        compiled = pl.compile(str(path), on=place)
        result = run(path.name, place, dict.fromkeys(compiled.signature.sizes, 8))
    except PolyloomError as error:
        # What a machine refuses has no account, which other tests look at.
        assert error.diagnostics[0].exit_code != 70
        return
    check_page(result)


_SECTIONS = ("Account", "Source and schedule", "Resources and pressure", "Activity", "Memory", "Files")


@pytest.mark.parametrize("place", PLACES)
def test_sections_have_one_order(place: str) -> None:
    """Those that every machine has, and the memory where a machine tells of it."""
    heads = re.findall(r"<section[^>]*><h2>([^<]*)</h2>", ran(place).page())
    # A machine without a schedule shows its inner loop instead.
    named = ["Source and schedule" if head.startswith(("Source", "Schedule")) else head for head in heads]
    assert [name for name in _SECTIONS if name in named] == list(dict.fromkeys(named))
    assert set(_SECTIONS) - set(named) <= {"Memory"}
