# SPDX-License-Identifier: Apache-2.0
"""`polyloom compare` and `pl.compare`: one set of inputs, one reference, a row per place, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import Call, call, scratch
from tests.conftest import Golden

import polyloom as pl
from polyloom.cli.bench.comparison import outcome
from polyloom.cli.bench.polybench import path
from polyloom.comparison.pipeline import compare
from polyloom.targets import registry
from polyloom.targets.minion.map.simd import form
from polyloom.targets.target import Execution, Job, Target

__all__ = ["call", "scratch"]
EXAMPLES = Path(__file__).parents[2] / "examples"
MATMUL = str(EXAMPLES / "matmul.pla")
SMALL = {"N": 4, "M": 4, "K": 4}


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Changes something about a target for the test."""

    def change(name: str, **what: Any) -> None:
        real, changed = registry.find_target, replace(registry.find_target(name), **what)

        def get(asked: str) -> Target:
            return changed if asked == name else real(asked)

        monkeypatch.setattr(registry, "find_target", get)

    return change


def wrong(data: bytes, job: Job) -> Execution:
    """A run whose first element is off by one."""
    done = registry.find_target("riscv").run(data, job)
    outputs = {name: array.copy() for name, array in done.outputs.items()}
    first: Any = next(iter(outputs.values()))
    first.flat[0] += 1
    return replace(done, outputs=outputs)


def test_every_machine_gets_the_bytes_of_the_inputs_and_gives_those_of_the_outputs() -> None:
    made = pl.compare(path("matvec"), N=4, M=5, on="tcpa:2x2,riscv,belt", seed=3)
    data: Any = made.data
    outputs = [row["outputs"]["y"]["sha256"] for row in data["rows"]]
    assert outputs == [data["outputs"]["y"]["sha256"]] * 3
    assert [(row["verified"], row["verdict"], row["compared_with"]) for row in data["rows"]] == [
        (True, "equal bits", ["source"])
    ] * 3
    assert {row["work"] for row in data["rows"]} == {data["work"]} == {2 * 4 * 5}
    assert repr(made) == "<comparison of matvec on 3 places: 3 verified>"


def test_other_bits_have_a_reason_and_are_judged_by_the_machine_s_own_oracles() -> None:
    made = pl.compare(MATMUL, SMALL, on=["tensix", "tcpa:1x1"])
    data: Any = made.data
    tensix, array = data["rows"]
    assert (tensix["verified"], tensix["verdict"]) == (True, "within")
    assert tensix["compared_with"] == ["arithmetic", "source"]
    assert 0 < tensix["error"] <= tensix["bound"]
    assert tensix["why"].startswith("operands in tf32, fidelity 4")
    assert (array["verdict"], array["why"]) == ("equal bits", None)
    assert made.diagnostics == ()
    far = f"within {tensix['error']:.3g} of the source (bound {tensix['bound']:.3g})"
    assert f"tensix: {far}, equal bits with the tile's arithmetic; operands in tf32" in made.report()


def test_a_run_and_a_comparison_give_one_verdict() -> None:
    """The error that a run tells is that of its row."""
    result = pl.compile(MATMUL, on="tensix").run(SMALL)
    rows: Any = pl.compare(MATMUL, SMALL, on="tensix").data["rows"]
    assert result.verdict == result.data["verdict"] == rows[0]["verdict"] == "within"
    assert (result.error, result.bound) == (result.data["error"], result.data["bound"])
    assert (result.error, result.bound) == (rows[0]["error"], rows[0]["bound"])
    words = f"within {result.error:.3g} of the source (bound {result.bound:.3g}), equal bits with the tile's arithmetic"
    assert words in repr(result) and words in result.report().splitlines()[0] and escape(words) in result.page()


def test_given_arrays_are_those_of_every_row() -> None:
    a, b = np.eye(4, dtype=np.float32), np.arange(16, dtype=np.float32).reshape(4, 4)
    made = pl.compare(MATMUL, SMALL, A=a, B=b, on="tcpa:1x1")
    assert made.task.outputs is not None
    assert (made.task.outputs["C"] == b).all() and made.rows[0].verified


def test_a_conversion_that_c_leaves_undefined_is_no_difference(tmp_path: Path) -> None:
    """Loops saturate; a function in C is refused by name, since nothing else says what its author meant."""
    file = tmp_path / "narrow.c"
    file.write_text(
        "void narrow(int n, const float x[n], unsigned char y[n]) {\n"
        "  for (int i = 0; i < n; i++) y[i] = (unsigned char)x[i];\n"
        "}\n"
    )
    x = np.array([1.9, 255.9, 256.0, np.nan, -1.0], np.float32)
    made = pl.compare(file, n=5, x=x, on="tcpa:1x1,minion:1,riscv,belt:gold")
    assert made.task.outputs is not None and made.task.outputs["y"].tolist() == [1, 255, 255, 0, 0]
    assert [row.verdict for row in made.rows] == ["equal bits", "equal bits", None, None]
    assert [row.refused.code for row in made.rows if row.refused is not None] == ["PL0972", "PL0972"]
    inside = pl.compare(
        file, n=5, x=np.minimum(np.abs(x), 255, where=x == x, out=np.ones_like(x)), on="tcpa:1x1,riscv,belt"
    )
    assert [row.verdict for row in inside.rows] == ["equal bits"] * 3


def test_options_go_to_the_places_whose_target_has_them() -> None:
    made = pl.compare(MATMUL, SMALL, on="tensix,tcpa:1x1", own={"format": "bf16"})
    assert made.rows[0].judged is not None and "bf16" in str(made.rows[0].judged.why)
    with pytest.raises(pl.PolyloomError, match="no target of --on has the option --format"):
        pl.compare(MATMUL, SMALL, on="riscv", own={"format": "bf16"})


def test_a_row_that_differs_is_named_and_the_exit_code_is_4(broken: Any, call: Call) -> None:
    broken("belt", run=wrong, takes=registry.find_target("riscv").takes, compile=registry.find_target("riscv").compile)
    broken(
        "belt",
        place=registry.find_target("riscv").place,
        costs=None,
        account=None,
        options=registry.find_target("riscv").options,
    )
    status, out, err = call("compare", path("trisolv"), "N=3", "--on", "riscv,belt")
    assert (status, "| belt  | differs " in out) == (4, True)
    assert "error[PL0812]: x[0] differs from the source" in err and "note: on belt" in err


def test_arithmetic_excuses_no_output_of_other_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that loses what was given for an output is no rounding error: its own reference, which lost it too, finds
    less."""
    text = "void f(int n, const float x[n], float y[n]) { for (int i = 1; i < n; i++) y[i] = x[i] * 1.1f + x[i - 1]; }"
    (tmp_path / "f.c").write_text(text, encoding="utf-8")
    given = {"n": 8, "y": np.full(8, 7, np.float32)}
    assert pl.compare(tmp_path / "f.c", given, on="minion:1", fill="random").rows[0].verdict == "within"

    def lost(nest: object) -> frozenset[str]:
        return frozenset({"y"})

    monkeypatch.setattr(form, "_write_only_arrays", lost)
    row = pl.compare(tmp_path / "f.c", given, on="minion:1", fill="random").rows[0]
    assert row.judged is not None and row.verdict == "differs"
    assert row.judged.differences[0].message == "y[0] differs from the source: expected 7.0, got 0.0"


def test_rows_are_refused_and_the_rest_goes_on(call: Call) -> None:
    status, out, err = call("compare", path("trisolv"), "N=3", "--on", "riscv:rv32i,riscv:rv64gc", "--json")
    refused, good = json.loads(out)["rows"]
    assert (status, err) == (0, "")
    assert (refused["verified"], refused["refused"]["code"], good["verified"]) == (None, "PL0930", True)
    figures = {key: value for key, value in refused.items() if key not in ("on", "refused", "loop")}
    assert set(figures.values()) == {None}


def test_all_refuse(call: Call, golden: Golden) -> None:
    status, out, err = call("compare", "bits.pla", "N=4", "--on", "riscv,belt")
    golden("all-refuse", f"exit {status}\n--- stdout\n{out}--- stderr\n{err}")


def test_a_function_that_is_no_nest_is_compared_with_its_first_row(broken: Any) -> None:
    """Its loop ends where the data say so: nobody counts its work, and its own oracles judge."""
    file = EXAMPLES / "queens.c"
    made = pl.compare(file, n=4, on="riscv,riscv:rv32gc")
    assert [row.verified for row in made.rows] == [True, True]
    assert made.work is None and made.data["outputs"] is None
    assert [row.figures.units for row in made.rows] == [None, None]
    assert "its work is not counted" in made.report()


def test_the_text_of_a_comparison(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    golden("text", compare("matmul.pla", SMALL, on="tcpa:unit:1x1,riscv").report())


def test_bench_rows_say_what_became_of_a_place() -> None:
    made = pl.compare(MATMUL, SMALL, on="tensix,riscv,tcpa:1x1")
    assert [outcome(row) for row in made.rows] == ["≈ 349", "PL0810", "70"]


def test_clock_and_energy_are_those_of_the_user_s_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stated = "[stated]\nclock_mhz = 250\noperation_pj = 2\n"
    Path("mine.toml").write_text(f'name = "mine"\nbased_on = "unit"\n{stated}')
    made = pl.compare(MATMUL, SMALL, on="tcpa:mine.toml:1x1,tcpa:unit:1x1")
    mine, shipped = made.rows
    assert mine.cycles == shipped.cycles and mine.cycles is not None and mine.costs.issued is not None
    assert mine.figures.stated_seconds == pytest.approx(mine.cycles / 250e6)
    assert mine.figures.stated_picojoules == 2 * mine.costs.issued
    assert (shipped.figures.stated_seconds, shipped.figures.stated_picojoules) == (None, None)
    assert "time by your clock" in made.report() and "energy by your file" in made.report()
    Path("mine.toml").write_text(f'name = "mine"\nbased_on = "unit"\n{stated.replace("250", "-1")}')
    with pytest.raises(pl.PolyloomError, match="'clock_mhz' is -1"):
        pl.compare(MATMUL, SMALL, on="tcpa:mine.toml:1x1")


def test_area_and_area_times_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the table of the machine's file: with a clock in area times microseconds, without in area times cycles."""
    monkeypatch.chdir(tmp_path)
    table = '[area]\nsource = "a report"\nunit = "LUT4"\nelement = 40_000\nbank = 2_000\ncontroller = 2_000\n'
    Path("mine.toml").write_text(f'name = "mine"\nbased_on = "unit"\nchannels = 8\n{table}')
    made = pl.compare(MATMUL, SMALL, on="tcpa:mine.toml:1x1,tcpa:unit:1x1")
    mine, shipped = made.rows
    assert mine.cycles is not None and (mine.costs.area_unit, shipped.costs.area) == ("LUT4", None)
    assert mine.costs.area == 40_000 + 4 * 8 * 2_000 + 2_000
    assert f"{106_000 * mine.cycles:,.4g} LUT4 cycles" in made.report()
    Path("mine.toml").write_text(f'name = "mine"\nbased_on = "unit"\nchannels = 8\nclock_mhz = 10\n{table}')
    made = pl.compare(MATMUL, SMALL, on="tcpa:mine.toml:1x1")
    assert f"{10_600 * mine.cycles:,.4g} LUT4 us" in made.report()


def test_a_result_is_no_input_and_has_no_dimension() -> None:
    made = pl.compare(EXAMPLES / "dot.c", n=8, on="tensix,riscv,tcpa:1x2")
    assert set(made.task.inputs) == {"a", "b"}
    assert [row.judged and (row.judged.verdict, row.judged.why) for row in made.rows] == [("equal bits", None)] * 3


def test_a_name_that_is_no_text_is_on_the_page(tmp_path: Path, call: Call) -> None:
    file = tmp_path / "bits\udcff.pla"
    file.write_text((EXAMPLES / "bits.pla").read_text())
    page = tmp_path / "page.html"
    assert call("compare", str(file), "N=4", "--on", "tcpa:1x1", "--report", str(page))[0] == 0
    assert "bits\\udcff.pla" in page.read_text(encoding="utf-8")
