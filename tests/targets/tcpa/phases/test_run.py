# SPDX-License-Identifier: Apache-2.0
"""Plans of several phases the whole way: the words give what NumPy gives, and what is said of them adds up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from tests.made_up import random_inputs
from tests.targets.tcpa.phases.plans import ATAX, CASES, PARTLY, SQUARE, plan, program

import polyloom as pl
from polyloom import api, frontend
from polyloom.frontend.source import Arrays, Source
from polyloom.ir.nest import Nest
from polyloom.ir.plan import Phase, Plan, single_phase_plan
from polyloom.ir.plan_interpret import interpret
from polyloom.run import execute
from polyloom.sets import Condition
from polyloom.targets.forms import loops
from polyloom.targets.subject import silent
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.run.phases import descriptions
from polyloom.targets.tcpa.words import symbolic_file

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

cases = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def compiled() -> Callable[[str], api.Compiled]:
    made: dict[str, api.Compiled] = {}
    return lambda name: made.setdefault(name, pl.compile(CASES[name].plan, on="tcpa:wide:2x3"))


@cases
def test_interpreter(name: str) -> None:
    case = CASES[name]
    for size in (0, 1, 5):
        inputs = random_inputs(case.plan, {"N": size}, 3)
        before = {n: a.copy() for n, a in inputs.items()}
        assert same(interpret(case.plan, {"N": size}, inputs), case.expected(inputs))
        assert same(inputs, before)


@cases
@pytest.mark.parametrize("pes", [(1, 1), (2, 3)])
def test_words(name: str, pes: tuple[int, int], compiled: Callable[[str], api.Compiled]) -> None:
    case, instance = CASES[name], compiled(name).instantiate(N=7, pes=pes)
    inputs = random_inputs(case.plan, {"N": 7}, 5)
    result = instance.run(inputs)
    assert result.verified
    assert same(result.outputs, case.expected(inputs))


SCALED = program(
    """parameter N
input from[N, N]: i32
output to[N, N]: i32
for 1 <= i < N and 0 <= j < N do
  v[i, j] = from[i, j]
  to[i, j] = v[i, j] * 3
""",
    "scaled",
)


def test_an_array_in_fortrans_order_is_overwritten() -> None:
    """A phase overwrites the elements that it writes, however the array lies in memory."""
    phase, matrix = Phase(SCALED, (("from", "x"),), (("to", "x"),)), SCALED.inputs[0]
    x = np.asfortranarray(np.arange(16, dtype=np.int32).reshape(4, 4))
    result = (
        pl.compile(plan("twice", {"x": matrix}, "x", "x", "", phase, phase), on="tcpa:wide:2x2")
        .instantiate(N=4)
        .run(x=x)
    )
    assert np.array_equal(result.outputs["x"], np.concatenate((x[:1], 9 * x[1:])))


@cases
def test_no_iterations(name: str, compiled: Callable[[str], api.Compiled]) -> None:
    result = compiled(name).instantiate(N=0).run()
    assert (result.verified, result.cycles) == (True, 0)


@cases
def test_phases_add_up(name: str, compiled: Callable[[str], api.Compiled]) -> None:
    result = compiled(name).instantiate(N=6).run(trace=True)
    data, rows = result.data, cast("list[dict[str, int]]", result.data["phases"])
    assert len(rows) == len(CASES[name].plan.phases) == len(result.views)
    assert rows[0]["transfer_cycles"] == 0
    assert (
        data["cycles"]
        == result.cycles
        == sum(r["cycles"] + r["transfer_cycles"] for r in rows)
        == data["predicted_cycles"]
    )
    assert (data["initiation_interval"] is None) == (len(rows) > 1)
    assert {"initiation_interval", "minimum_initiation_interval", "proved_minimal", "interval_bound_by"} < set(rows[0])
    events = result.execution.trace.spans
    assert len(events) == result.execution.operations == data["operations"]
    assert max(e.start + e.cycles for e in events) <= (result.cycles or 0)
    assert list(events) == sorted(events, key=lambda e: e.start)
    assert (f"phase {len(rows)} " in result.report()) == (len(rows) > 1)
    assert result.page().count("<h2>Source and schedule</h2>") == len(rows)


def test_a_plan_that_is_a_program_has_the_program_s_file() -> None:
    direct, planned = pl.compile(SQUARE), pl.compile(single_phase_plan(SQUARE))
    assert direct.data == planned.data == symbolic_file.encode(compile_program(SQUARE, machine_file.load("wide")))
    assert direct.instantiate(N=9).data == planned.instantiate(N=9).data


def test_files_come_back(tmp_path: Path) -> None:
    compiled = pl.compile(PARTLY.plan, on="tcpa:wide:1x2")
    compiled.save(tmp_path / "partly.plsc")
    instance = compiled.instantiate(N=6)
    instance.save(tmp_path / "partly.plcc")
    loaded, ready = pl.load(tmp_path / "partly.plsc"), pl.load(tmp_path / "partly.plcc")
    assert isinstance(loaded, pl.Compiled) and isinstance(ready, pl.Instance)
    assert (loaded.kernel, loaded.parameters) == ("partly", ("N",))
    assert loaded.instantiate(N=6, pes=(1, 2)).data == instance.data
    inputs = {"x": np.arange(6, dtype=np.int32), "factor": np.array(3, np.int32)}
    result = ready.run(x=inputs["x"], factor=3)
    assert result.verified is None
    assert same(result.outputs, PARTLY.expected(inputs))


def test_a_difference_from_the_source_names_it() -> None:
    def wrong(parameters: object, inputs: Arrays) -> Arrays:
        del parameters
        outputs = dict(PARTLY.expected(inputs))
        outputs["x"][2] += 1
        return outputs

    source = Source("partly.py", PARTLY.plan, wrong, Nest("partly", ("N",), Condition(), (), ()))
    result = pl.compile(source).instantiate(N=5).measure({})
    assert result.verified is False
    (found,) = result.differences
    assert (found.code, found.exit_code) == ("PL0812", 4)
    assert found.message.startswith("x[2] differs from the source: expected ")
    assert "of 5 elements" in found.notes[0]


def test_a_difference_from_the_equations_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def zeros(plan: Plan, parameters: object, inputs: object) -> Arrays:
        return {a.name: np.zeros(5, np.int32) for a in plan.outputs}

    monkeypatch.setattr(loops, "interpret", zeros)
    source = Source(
        "partly.py", PARTLY.plan, lambda _, inputs: PARTLY.expected(inputs), Nest("partly", ("N",), Condition(), (), ())
    )
    (found,) = (
        pl.compile(source)
        .instantiate(N=5)
        .measure({"x": np.ones(5, np.int32), "factor": np.array(2, np.int32)})
        .differences
    )
    assert found.message == "x[0] differs from the source's equations: expected 0, got 2"


def test_a_changed_order_is_compared_roughly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 1e-5 of the largest magnitude, 1000 here; what is not finite has to be equal."""

    def reference(parameters: object, inputs: object) -> Arrays:
        return {"to": np.array([1000, np.inf, np.nan, 1], np.float32)}

    def equal(plan: Plan, parameters: object, inputs: object) -> Arrays:
        return {}

    monkeypatch.setattr(loops, "interpret", equal)
    source = replace(
        frontend.plan_source(SQUARE), nest=Nest("f", (), Condition(), (), ()), exact=False, reference=reference
    )
    for last, count in ((1.009, 0), (1.011, 1), (np.inf, 1), (np.nan, 1)):
        got = {"to": np.array([1000, np.inf, np.nan, last], np.float32)}
        assert len(differences(source, got)) == count


def differences(source: Source, got: Arrays) -> list[object]:
    """Of outputs from every oracle of a source."""
    found = execute.compare_oracles(loops.loop_subject(source), {}, {}, got, silent)
    return [compared.difference for compared, _ in found if compared.difference is not None]


def test_verification_finds_nothing(compiled: Callable[[str], api.Compiled]) -> None:
    symbolic = compiled("atax")
    assert descriptions.verify(symbolic.data, None) == ()
    assert descriptions.verify(symbolic.instantiate(N=5).data, None) == ()


def test_progress_runs_over_all_phases() -> None:
    seen: list[tuple[str, float]] = []
    pl.compile(ATAX.plan, progress=lambda step, fraction: seen.append((step, fraction)))
    fractions = [f for _, f in seen]
    assert fractions == sorted(fractions)
    assert (seen[0], seen[-1]) == (("reading", 0.0), ("done", 1.0))
    steps = [step for step, _ in seen if step not in ("reading", "done")]
    assert steps[0].startswith("phase 1 of 2: ") and steps[-1].startswith("phase 2 of 2: ")


def same(a: Arrays, b: Arrays) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[n], b[n]) and a[n].dtype == b[n].dtype for n in a)
