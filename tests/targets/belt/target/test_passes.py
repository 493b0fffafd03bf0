# SPDX-License-Identifier: Apache-2.0
"""The pipeline of the belt target: named passes, with a verifier between them, and forms that are printed on demand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom import api
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import SSA_PASSES
from polyloom.ir.ssa import Function
from polyloom.targets.belt import compile as specializer
from polyloom.targets.belt.map import import_ssa
from polyloom.targets.belt.target import TARGET
from polyloom.targets.belt.words.program import Program

DOT = """int dot(int n, const int a[n], const int b[n]) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dot.c").write_text(DOT, encoding="utf-8")


def compiled(*words: str) -> int:
    return main(["compile", "dot.c", "--on", "belt:silver", "-o", "dot.belt", *words])


def test_the_names_are_those_of_the_passes_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert compiled("--print-after", "all") == 0
    shown = [line[6:] for line in capsys.readouterr().out.splitlines() if line.startswith("after ")]
    assert shown == [*SSA_PASSES, *import_ssa.PASSES, *specializer.PASSES] == list(TARGET.passes)


@pytest.mark.parametrize("name", ["build", "addresses", "order", "schedule"])
def test_the_form_after_a_pass(name: str, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    assert compiled("--print-after", name) == 0
    golden(f"after_{name}", capsys.readouterr().out.partition("dot.belt:")[0])


def test_a_pass_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert compiled("--print-after", "sinc") == 2
    assert "did you mean sink? The passes are import, construct, emulate," in capsys.readouterr().err


def _without_parameters(function: Function) -> Function:
    first, *rest = function.blocks
    return replace(function, blocks=(replace(first, parameters=()), *rest))


def test_a_pass_that_breaks_the_form_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_ssa, "sink", _without_parameters)
    with pytest.raises(PolyloomError, match="the pass sink leaves what is not well formed") as caught:
        api.compile("dot.c", "belt:silver")
    assert caught.value.code == "PL0977"


def test_a_program_that_does_not_verify_is_the_schedulers_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    made = specializer._schedule_module  # pyright: ignore[reportPrivateUsage]: it is what is sabotaged

    def late(*given: object, **named: object) -> Program:
        program: Program = made(*given, **named)  # pyright: ignore[reportArgumentType]: passed on as it is
        (routine,) = program.routines
        first, *rest = routine.bundles
        more = replace(routine, bundles=(replace(first, drops=first.drops + 1), *rest))
        return replace(program, routines=(more,))

    monkeypatch.setattr(specializer, "_schedule_module", late)
    with pytest.raises(PolyloomError, match="the pass schedule leaves what is not well formed"):
        api.compile("dot.c", "belt:silver")
