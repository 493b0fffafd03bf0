# SPDX-License-Identifier: Apache-2.0
"""The page and the account as JSON agree: the marked line and the named loop are those with the most unit-cycles, the
classes and their columns over time sum to units times cycles, and the machine's code that is shown is of this loop."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from tests.account.test_machines import KERNELS, PLACES, ran, run
from tests.docs.gallery import gallery_programs

import polyloom as pl
from polyloom.cli import main
from polyloom.cli.bench.comparison import Listed
from polyloom.diagnostics import PolyloomError
from polyloom.report.page.source import line_key
from polyloom.run.instance import Result
from polyloom.run.source_loops import find_loops

_MARKED = re.compile(r'<li data-l="([^"]+)" class="hottest">')
_NAMED = re.compile(r"Unit-\w+ by line; the hottest line is (\d+)(?:, the hottest loop is ([^.]*?), [\d.]+ %)?\.")
_SHOWN = re.compile(r"<h2[^>]*>Source and (?:inner loop|schedule)</h2>.*?</section>", re.DOTALL)
_CODE = re.compile(r'<figure class="source code">.*?</figure>|<span class="op[^>]*>', re.DOTALL)
_LINK = re.compile(r'data-l="s0\.(\d+)"')


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


def shown_lines(page: str) -> set[int]:
    """Lines that the machine's code on a page is linked with: its inner loop, or the schedules of its phases."""
    code = (found for section in _SHOWN.findall(page) for found in _CODE.findall(section))
    return {int(line) for found in code for line in _LINK.findall(found)}


def check_page(account: Mapping[str, Any], page: str, source: tuple[str, str]) -> None:
    """The page against the JSON, from which the hottest line and loop are counted again; `source` is the name of the
    file and its text."""
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
    named = find_loops(dict([source]))
    loops = dict[str, int]()
    for n, name in named.items():
        loops[name] = loops.get(name, 0) + lines.get(n, 0)
    assert account["loops"] == {name: n for name, n in loops.items() if n}
    assert (loop and loops[loop]) == max(loops.values(), default=None)
    shown = shown_lines(page)
    assert loop in {named.get(line) for line in shown} if loop else hottest in shown


def check_result(result: Result) -> None:
    (source,) = cast("Any", result.instance.origin.subject).texts
    check_page(cast("dict[str, Any]", result.data["account"]), result.page(), source)


@pytest.mark.parametrize("place", PLACES)
def test_the_page_marks_the_hottest_line(place: str) -> None:
    check_result(ran(place))


# Of several loops, some written out whole, and some of which a machine makes several.
@pytest.mark.parametrize(
    ("kernel", "place"),
    [
        ("mvt.py", "riscv:inorder"),
        ("mm2.py", "minion:2"),
        ("bicg.py", "tensix"),
        ("durbin.py", "belt"),
        ("atax.py", "tcpa:1x2"),
    ],
)
def test_the_code_that_is_shown_is_of_the_hottest_loop(kernel: str, place: str) -> None:
    check_result(run_small(kernel, place))


def test_code_of_another_loop_is_found() -> None:
    """The check itself: a page whose code is linked with another loop, and one without code."""
    result = ran("riscv:inorder")
    account, page = cast("dict[str, Any]", result.data["account"]), result.page()
    (source,) = cast("Any", result.instance.origin.subject).texts
    check_page(account, page, source)
    for wrong in ('data-l="s0.16"', ""):
        other = _SHOWN.sub(lambda found, wrong=wrong: re.sub(r'data-l="s0\.1[89]"', wrong, found[0]), page)
        with pytest.raises(AssertionError):
            check_page(account, other, source)


def run_small(kernel: str, place: str) -> Result:
    compiled = pl.compile(str(KERNELS / kernel), on=place)
    return run(kernel, place, dict.fromkeys(compiled.signature.sizes, 8))


@pytest.mark.long
@pytest.mark.parametrize("place", [*PLACES, "tcpa:3x2", "belt:tin", "riscv:rv32imc"])
@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.py")), ids=lambda path: path.stem)
def test_all_kernels(path: Path, place: str) -> None:
    try:
        result = run_small(path.name, place)
    except PolyloomError as error:
        # What a machine refuses has no account, which other tests look at.
        assert error.diagnostics[0].exit_code != 70
        return
    check_result(result)


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("listed", [p for p in gallery_programs() if "kernels" not in p.file], ids=lambda p: p.name)
def test_all_other_examples(listed: Listed, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, values = tmp_path / "page.html", (f"{name}={value}" for name, value in listed.values.items())
    flags = ["--on", place, "--json", "--quiet", "--report", str(page)]
    assert main(["run", listed.path, *values, *flags]) != 70
    data = json.loads(capsys.readouterr().out)
    if "account" in data:
        path = Path(listed.path.partition(".py:")[0] + (".py" if ".py:" in listed.path else ""))
        check_page(data["account"], page.read_text(encoding="utf-8"), (path.name, path.read_text(encoding="utf-8")))


_SECTIONS = ("Account", "Source and schedule", "Resources and pressure", "Activity", "Memory", "Files")


@pytest.mark.parametrize("place", PLACES)
def test_sections_have_one_order(place: str) -> None:
    """Those that every machine has, and the memory where a machine tells of it."""
    heads = re.findall(r"<section[^>]*><h2>([^<]*)</h2>", ran(place).page())
    # A machine without a schedule shows its inner loop instead.
    named = ["Source and schedule" if head.startswith(("Source", "Schedule")) else head for head in heads]
    assert [name for name in _SECTIONS if name in named] == list(dict.fromkeys(named))
    assert set(_SECTIONS) - set(named) <= {"Memory"}
