# SPDX-License-Identifier: Apache-2.0
"""The form of `polyloom bench`; its numbers are measured, not tested."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from inspect import isgeneratorfunction
from typing import cast

import pytest
from tests.cli.conftest import Call

from polyloom.cli import bench, examples, main
from polyloom.cli.answer import table
from polyloom.cli.bench import compilation, members, minion, modulo, modulo_graphs, modulo_loops, regions
from polyloom.cli.bench import examples as runs
from polyloom.cli.bench.timing import median_seconds
from polyloom.cli.tcpa import time_figures
from polyloom.diagnostics import input_error
from polyloom.frontend import pla
from polyloom.modulo.bounds import recurrence_bound
from polyloom.report.markdown import stream_table
from polyloom.report.progress import CLEAR
from polyloom.targets.entry import load_named


def test_rows(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"one": [{"a": 1, "b": 0.5}, {"a": 22, "b": None}], "two": [{"c": True}]}
    monkeypatch.setattr(bench, "tables", lambda: dict.fromkeys(rows, ""))
    monkeypatch.setattr(bench, "_table_rows", lambda name, _: rows[name])  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    assert json.loads(call("bench", "one", "--json")[1]) == {"rows": [{"a": 1, "b": 0.5}, {"a": 22, "b": None}]}
    assert json.loads(call("bench", "--json")[1])["rows"][-1] == {"table": "two", "c": True}
    assert call("bench", "one")[1] == "| a   | b   |\n|-----|-----|\n| 1   | 0.5 |\n| 22  | –   |\n"
    assert call("bench")[1] == (
        "one\n\n| a   | b   |\n|-----|-----|\n| 1   | 0.5 |\n| 22  | –   |\n\ntwo\n\n| c   |\n|-----|\n| yes |\n"
    )
    assert table([]) == ""


@pytest.mark.parametrize("name", sorted(bench.tables()))
def test_every_table_gives_its_rows_as_they_are_known(name: str) -> None:
    assert isgeneratorfunction(load_named(bench.tables()[name])), name


def test_a_row_is_printed_before_the_next_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = list[str]()

    def rows() -> Iterator[dict[str, object]]:
        for name in ("first", "second", "a very long third"):
            seen.append(capsys.readouterr().out)
            yield {"name": name, "n": len(seen)}
        seen.append(capsys.readouterr().out)

    monkeypatch.setattr(bench, "tables", lambda: {"one": ""})
    monkeypatch.setattr(bench, "load_named", lambda _: rows)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    assert main(["bench", "one"]) == 0
    assert seen == [
        "",
        "| name  | n   |\n|-------|-----|\n| first | 1   |\n",
        "| second | 2   |\n",
        "| a very long third | 3   |\n",
    ]


def test_a_row_with_other_columns_begins_another_table() -> None:
    assert list(stream_table([{"a": 1}, {"a": 2, "b": 3}])) == [
        *("| a   |", "|-----|", "| 1   |"),
        *("\n| a   | b   |", "|-----|-----|", "| 2   | 3   |"),
    ]


def test_an_error_behind_some_rows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> Iterator[dict[str, object]]:
        yield {"a": 1}
        raise input_error("PL0967", "the peer is gone")

    monkeypatch.setattr(bench, "tables", lambda: {"one": ""})
    monkeypatch.setattr(bench, "load_named", lambda _: rows)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    assert main(["bench", "one"]) == 1
    printed = capsys.readouterr()
    assert "| 1   |" in printed.out and printed.err.startswith("error[PL0967]")


def test_a_terminal_shows_what_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> Iterator[dict[str, object]]:
        yield {"a": 1}

    monkeypatch.setattr(bench, "tables", lambda: {"one": ""})
    monkeypatch.setattr(bench, "load_named", lambda _: rows)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["bench", "one"]) == 0
    err = capsys.readouterr().err
    assert "measuring one, row 1, 0 s" in err and err.endswith(CLEAR)
    assert main(["bench", "one", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_all_rows_of_minions_have_the_same_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minion, "measures", lambda: [minion.Measure("tile", 529, "cycles", lambda: 529.0)])
    monkeypatch.setattr(minion, "PRODUCTS", (minion.Product("f32", (16, 16, 16), True, {"utilization": 0.5}),))
    blind = minion.Measure("a load", 10, "cycles", lambda: 11.0)
    monkeypatch.setattr(minion.memory, "blind_rows", lambda: (blind,))
    for name in ("rows", "convolution_rows"):
        monkeypatch.setattr(minion.chains, name, lambda: iter([{"what": "a chain", "model": 1, "unit": "cycles"}]))
    for module in (minion.short, minion.networks):
        monkeypatch.setattr(module, "rows", lambda: iter(()))
    monkeypatch.setattr(minion, "speeds", lambda: iter(()))
    monkeypatch.setattr(minion, "thread_rows", lambda: iter(()))
    made = list(minion.rows())
    product = "f32 16 x 16 x 16, resident"
    others = ["blind: a load", product, f"{product}, predicted 1179", "a chain", "a chain"]
    assert [row["what"] for row in made] == ["tile", *others]
    assert made[1]["off"] == 10
    assert {tuple(row) for row in made} == {("what", "silicon", "asked", "model", "off", "unit")}
    assert len(table(made).splitlines()) == 8


def test_median() -> None:
    calls: list[int] = []
    assert median_seconds(lambda: calls.append(1), times=3) >= 0
    assert len(calls) == 3


def test_every_measured_program_has_its_parameters() -> None:
    """A renamed parameter would be found only by a long run otherwise."""
    asked = [(kernel, set(parameters)) for kernel, _, parameters, _ in runs.RUNS]
    asked += [(kernel, set(extents.values())) for kernel, extents in regions.EXTENTS.items()]
    asked += [(kernel, set(pla.load(examples.path(kernel)).parameters)) for kernel, _ in compilation.PLACES]
    assert all(set(pla.load(examples.path(kernel)).parameters) == names for kernel, names in asked)


def test_bounds_fill_the_tiles() -> None:
    assert regions.bounds("bits", (1, 16)) == {"N": 128}
    assert regions.bounds("bits", (1, 16), perfect=False) == {"N": 127}


def test_a_family_of_loops_is_one_row() -> None:
    row = modulo.measure_family("sparse", [modulo_graphs.sparse(seed) for seed in range(3)])
    assert list(row) == list(modulo._EMPTY)  # pyright: ignore[reportPrivateUsage]
    assert (row["graphs"], row["proved %"]) == (3, 100.0)


def test_members_are_compared_with_wide() -> None:
    *kernels, mid, mid16 = members.rows(("fir",))
    assert [(r["kernel"], r["member"]) for r in kernels] == [("fir", "mid"), ("fir", "mid16")]
    assert all(r["verdict"] == "equal bits" and r["blocks"] is r["short of"] is None for r in kernels)
    assert all(r["to wide"] == round(cast(int, r["cycles"]) / cast(int, r["wide"]), 2) for r in kernels)
    assert (mid["member"], mid["cycles"], mid16["cycles"]) == ("mid", 1, 1)


def test_whole_times_add_up() -> None:
    (row,) = time_figures.rows((time_figures.Case("floyd_warshall", {"N": 5}),))
    parts = [cast(int, row[name]) for name in ("configuration", "fill", "array", "wait", "drain")]
    assert row["total"] == sum(parts) and all(n > 0 for n in (*parts[:3], parts[4])) and row["steps"] == 5


def test_the_loops_of_c_examples_are_many_and_have_recurrences() -> None:
    found = list(modulo_loops.problems())
    assert len(found) > 200
    assert len({name for name, _ in found}) == len(found)
    sizes = [len(problem.operations) for _, problem in found]
    assert (min(sizes) >= modulo_loops.LEAST, max(sizes) <= modulo_loops.MOST, max(sizes) > 100) == (True, True, True)
    # The inner product adds to a sum that goes round: a circuit through one addition of latency 3 on this machine.
    bounds = {name: recurrence_bound(problem).value for name, problem in found}
    assert bounds["atax for.body8 x1 on slots"] == 3
    assert bounds["atax for.body8 x2 on slots"] == 6


def test_dependences_through_memory_and_values() -> None:
    # seidel2d reads A[i][j + 1] before the next iteration writes it; what it writes comes round as a value.
    problem = dict(modulo_loops.problems())["seidel2d for.body8 x1 on slots"]
    store = next(v for v, o in enumerate(problem.operations) if o.name.startswith("store"))
    before = [
        (problem.operations[d.source].name, d.distance, d.latency) for d in problem.dependences if d.sink == store
    ]
    assert [distance for _, distance, latency in before if latency == 0] == [0, 1]
    # Six additions of latency 3 and a division of latency 12.
    assert recurrence_bound(problem).value == 30


def test_without_the_extra_for_c_the_table_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise input_error("PL0150", "clang is not installed")

    monkeypatch.setattr(modulo_loops, "problems", missing)
    monkeypatch.setattr(modulo, "GRAPHS", 1)
    monkeypatch.setattr(modulo, "_large", dict)
    assert next(modulo.rows())["family"] == "loops of C examples: need clang"
