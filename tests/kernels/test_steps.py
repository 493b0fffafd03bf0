# SPDX-License-Identifier: Apache-2.0
"""Kernels that find no space for all their statements: loops of steps around phases, which run as their sources do.

The programs are in `steps/`. What stands in the way of a whole mapping is still known, and goes into a golden text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden

import polyloom as pl
from polyloom import frontend
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options
from polyloom.ir.plan_text import print_plan
from polyloom.transform.phases import make_plan

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

FOLDER = Path(__file__).parent / "steps"
SIZES: Mapping[str, Mapping[str, int]] = {
    "floyd_warshall.py": {"N": 6},
    "floyd_warshall.c": {"n": 5},
    "nussinov.py": {"N": 6},
    "opposite.py": {"T": 2, "N": 5},
    "transposed.py": {"T": 2, "N": 4},
    "transposed.c": {"n": 4, "steps": 2},
    "two_loops.py": {"N": 3, "M": 2, "K": 4},
    "kept.py": {"N": 4},
    "place.py": {"N": 7},
}
C = pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`")
PROGRAMS = [pytest.param(name, marks=[C] if name.endswith(".c") else []) for name in SIZES]


def test_every_program_has_sizes() -> None:
    assert {p.name for p in FOLDER.iterdir() if p.suffix in (".py", ".c")} == {*SIZES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_run_as_the_source_does(name: str) -> None:
    compiled = pl.compile(FOLDER / name, on="tcpa:wide")
    result = compiled.instantiate(SIZES[name], pes=(2, 2)).run()
    assert result.verified
    assert result.outcome.compared_with == ("equations", "source")
    assert result.cycles == result.data["predicted_cycles"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_stands_in_the_way_of_one_phase(name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    source = frontend.load(name)
    assert source.plan.loops
    assert source.nest is not None
    assert source.system is not None
    with pytest.raises(PolyloomError) as refused:
        make_plan(source.nest, source.system)
    golden(name.replace(".", "_"), refused.value.diagnostics[0].render())


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_steps_the_plan_has_the_arguments_alone(name: str) -> None:
    whole, plan = (frontend.load(str(FOLDER / name), has_steps=asked).plan for asked in (True, False))
    assert plan == replace(whole, body=(), intermediates=())


@pytest.mark.parametrize("on", ["minion:32", "tensix"])
def test_a_machine_that_keeps_the_order_of_the_source_needs_no_steps(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cutting a transformer layer in C into steps would take minutes."""

    def refuse(*_: object) -> None:
        pytest.fail("a plan in steps is made")

    monkeypatch.setattr("polyloom.transform.in_steps", refuse)
    compiled = pl.compile(FOLDER / "floyd_warshall.py", on=on)
    assert compiled.source is None
    assert compiled.run(SIZES["floyd_warshall.py"]).verified


def test_reassociation_saves_steps() -> None:
    """The help of the refusal: a sum in another order is mapped as a whole."""
    assert not frontend.load(str(FOLDER / "two_loops.py"), Options(reassociate=True)).plan.loops


def test_the_plan_of_floyd_and_warshall(golden: Golden) -> None:
    golden("plan_floyd_warshall", print_plan(frontend.load(str(FOLDER / "floyd_warshall.py")).plan))


def test_the_order_of_steps_matters() -> None:
    """Downwards and upwards are different programs."""
    N = pl.size("N")

    @pl.kernel
    def up(a: pl.i32[N, N]) -> None:
        for k in range(1, N):
            for i in range(N):
                a[k, i] = a[k - 1, N - 1 - i] + a[k, i]

    @pl.kernel
    def down(a: pl.i32[N, N]) -> None:
        for k in range(N - 1, 0, -1):
            for i in range(N):
                a[k, i] = a[k - 1, N - 1 - i] + a[k, i]

    a = np.arange(25, dtype=np.int32).reshape(5, 5)
    results = [pl.compile(kernel).instantiate(N=5, pes=(2, 2)).run(a=a.copy()).outputs["a"] for kernel in (up, down)]
    assert not np.array_equal(results[0], results[1])


@pytest.mark.parametrize(
    ("name", "warned"),
    [("place.py", True), ("two_loops.py", True), ("floyd_warshall.py", False), ("nussinov.py", False)],
)
def test_steps_that_can_be_avoided_are_warned_of(
    name: str,
    warned: bool,
    golden: Golden,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(FOLDER)
    assert main(["compile", name, "-o", str(tmp_path / "made.plsc")]) == 0
    shown = capsys.readouterr().err
    assert bool(shown) == warned
    if warned:
        golden(f"warning_{name.replace('.', '_')}", shown)
