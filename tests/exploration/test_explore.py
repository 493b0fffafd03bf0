# SPDX-License-Identifier: Apache-2.0
"""Sweeps end to end in this process: levels, rows that were refused, conditions, machines, folders."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom import api
from polyloom.cli import main
from polyloom.cli.examples import folder
from polyloom.exploration.sweep import Sweep
from polyloom.frontend.source import Arrays, Source
from polyloom.targets.forms import loops

FIR = str(folder() / "fir.pla")
SWEEP: dict[str, Any] = {"N": [16, 64], "pes": "1x1..1x4"}


def cycles(sweep: Sweep) -> list[int | None]:
    return [row.cycles for row in sweep]


def test_by_default_the_front_is_verified() -> None:
    sweep = pl.explore(FIR, "tcpa:wide", sweep=SWEEP, T=4)
    assert {row.level for row in sweep.front()} == {"verify"}
    assert all(row.verified for row in sweep.front())
    assert [row.point["pes"] for row in sweep] == ["1x1", "1x2", "1x4"] * 2
    compiled = api.compile(FIR, "tcpa:wide")
    ran = [compiled.instantiate(N=n, T=4, pes=(1, c)).run().cycles for n in (16, 64) for c in (1, 2, 4)]
    assert cycles(sweep) == ran == [row.predicted_cycles for row in sweep]


@pytest.mark.parametrize("level", ["predict", "run", "verify"])
def test_levels(level: str) -> None:
    sweep = pl.explore(FIR, "tcpa:wide", sweep=SWEEP, T=4, level=level)
    assert {row.level for row in sweep} == {level}
    assert {row.verified for row in sweep} == {True if level == "verify" else None}


def test_one_interpretation_serves_all_machines_and_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Mapping[str, int]] = []
    real: Callable[..., Arrays] = loops._equations  # pyright: ignore[reportPrivateUsage]  # what is counted

    def counted(plan: Any, values: Mapping[str, int], inputs: Arrays) -> Arrays:
        asked.append(dict(values))
        return real(plan, values, inputs)

    monkeypatch.setattr(loops, "_equations", counted)
    sweep = pl.explore(FIR, ["tcpa:wide", "tcpa:generic"], sweep=SWEEP, T=4, level="verify")
    assert len(sweep) == 12
    assert asked == [{"N": 16, "T": 4}, {"N": 64, "T": 4}]


def test_a_point_that_does_not_fit_is_a_row() -> None:
    sweep = pl.explore(FIR, "tcpa:wide", sweep={"N": [16, -1], "T": 4, "pes": ["1x4", "99x99999"]}, level="verify")
    assert [row.code for row in sweep] == [None, "PL0505", "PL0230", "PL0230"]
    assert all(row.message for row in sweep if row.code)
    assert [row.verified for row in sweep] == [True, None, None, None]


def test_keys_of_the_machine_file() -> None:
    sweep = pl.explore(FIR, "tcpa:wide:1x2", sweep={"N": 64}, set={"fifo_depth": [4, 64]}, T=16)
    assert [(row.point["fifo_depth"], row.code) for row in sweep] == [(4, "PL0511"), (64, None)]


def test_conditions_leave_points_out() -> None:
    few = pl.explore(FIR, sweep=SWEEP, T=4, where="elements <= 2 and N > 16", level="predict")
    assert [(row.point["N"], row.point["pes"]) for row in few] == [(64, "1x1"), (64, "1x2")]
    assert few.computed == 2
    fast = pl.explore(FIR, sweep=SWEEP, T=4, where=f"cycles < {few.rows[0].cycles}", level="predict")
    assert few.rows[0].cycles not in cycles(fast)
    assert fast.computed == 6


def test_a_target_that_predicts_nothing_runs() -> None:
    sweep = pl.explore(str(folder() / "dot.c"), "riscv,tcpa", sweep={"n": [4, 8], "pes": "1x1,1x2"}, objective="cycles")
    by_target = {on: [row for row in sweep if row.point["on"] == on] for on in ("riscv", "tcpa")}
    assert [row.verified for row in by_target["riscv"]] == [True] * 4
    # Regions mean nothing to RISC-V: each size is computed once.
    assert sweep.computed - len(by_target["tcpa"]) - len([r for r in by_target["tcpa"] if r.level == "verify"]) == 2


def test_the_table(tmp_path: Path) -> None:
    sweep = pl.explore(FIR, sweep=SWEEP, T=4)
    rows = list(csv.DictReader(io.StringIO(sweep.csv())))
    assert [int(row["cycles"]) for row in rows] == cycles(sweep)
    assert list(rows[0]) == list(sweep.columns)
    assert sweep.best("cycles", N=16) == min((r for r in sweep if r.point["N"] == 16), key=lambda r: r.cycles or 0)
    assert sweep.best("cycles", N=17) is None
    with pytest.raises(pl.PolyloomError, match=r"no column 'cycle'[\s\S]*did you mean 'cycles'"):
        sweep.front("cycle")
    assert (
        repr(sweep)
        == f"<sweep of {FIR}: 6 rows, {sum(r.verified is True for r in sweep)} verified, 0 without a result>"
    )


def test_a_folder_keeps_what_was_computed(tmp_path: Path) -> None:
    def explored() -> Sweep:
        return pl.explore(FIR, sweep=SWEEP, T=4, resume=tmp_path / "s")

    first, again = explored(), explored()
    assert (first.computed > 6, again.computed) == (True, 0)
    assert first.csv() == again.csv() == pl.explore(FIR, sweep=SWEEP, T=4).csv()


def test_a_finished_sweep_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pl.explore(FIR, sweep=SWEEP, T=4, resume=tmp_path / "s")

    def refuse(*of: object) -> Source:
        raise AssertionError(of)

    monkeypatch.setattr(api, "read_subject", refuse)
    assert pl.explore(FIR, sweep=SWEEP, T=4, resume=tmp_path / "s").csv() == first.csv()


def test_other_sweeps_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "k.pla"
    source.write_text(Path(FIR).read_text())
    kept = str(tmp_path / "s")
    pl.explore(str(source), sweep={"N": 16}, T=4, level="predict", resume=kept)
    others: list[tuple[str, dict[str, Any]]] = [
        ("sweep was N=16, and is N=17 now", {"sweep": {"N": 17}}),
        ("values was T=4, and is T=5 now", {"T": 5}),
        ("level was predict, and is verify now", {"level": "verify"}),
        ("seed was 0, and is 1 now", {"seed": 1}),
        ("where was not given, and is N>1 now", {"where": "N>1"}),
        ("set was not given, and is fifo_depth=4 now", {"set": {"fifo_depth": 4}}),
    ]
    for note, change in others:
        with pytest.raises(pl.PolyloomError, match="PL1405") as error:
            asked: Any = {"sweep": {"N": 16}, "T": 4, "level": "predict", "resume": kept, **change}
            pl.explore(str(source), **asked)
        assert note in error.value.diagnostics[0].notes
    source.write_text(source.read_text() + "\n")
    with pytest.raises(pl.PolyloomError, match="PL1405") as error:
        pl.explore(str(source), sweep={"N": 16}, T=4, level="predict", resume=kept)
    assert error.value.diagnostics[0].notes[0].startswith("text was")


def test_a_machine_file_is_part_of_the_sweep(tmp_path: Path) -> None:
    machine = tmp_path / "m.toml"
    machine.write_text('name = "m"\nbased_on = "wide"\n')
    kept = tmp_path / "s"
    pl.explore(FIR, f"tcpa:{machine}", sweep={"N": 16}, T=4, level="predict", resume=kept)
    machine.write_text('name = "m"\nbased_on = "wide"\nfifo_depth = 17\n')
    with pytest.raises(pl.PolyloomError, match="PL1405") as error:
        pl.explore(FIR, f"tcpa:{machine}", sweep={"N": 16}, T=4, level="predict", resume=kept)
    assert [note.split()[0] for note in error.value.diagnostics[0].notes] == ["on"]


def test_a_difference_is_exit_code_4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    real: Callable[..., Arrays] = loops._equations  # pyright: ignore[reportPrivateUsage]  # an oracle that lies once

    def lying(plan: Any, values: Mapping[str, int], inputs: Arrays) -> Arrays:
        found = real(plan, values, inputs)
        return {name: np.add(array, values["N"] == 64) for name, array in found.items()}

    monkeypatch.setattr(loops, "_equations", lying)
    words = ["explore", FIR, "T=4", "--sweep", "N=16,64", "--level", "verify", "--out", str(tmp_path / "t.csv")]
    assert main([*words, "--json"]) == 4
    out, err = capsys.readouterr()
    assert [row["verified"] for row in json.loads(out)["rows"]] == [True, False]
    assert err.startswith("error[PL0812]: 1 of 2 points differ; the first: ")
    assert (tmp_path / "t.csv").read_text().count("\n") == 3
