# SPDX-License-Identifier: Apache-2.0
"""Kernels of hundreds of statements are compiled, those of thousands refused: at a statement, with what to do, before
time is spent on them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.kernels.large import KINDS, Kind, Language, text

from polyloom import api
from polyloom.diagnostics import INFEASIBLE, INPUT, Diagnostic, PolyloomError
from polyloom.riscv.backend import limits
from polyloom.targets.tcpa.compile import EQUATIONS
from polyloom.transform.limits import STATEMENTS

C = pytest.mark.skipif(find_spec("ziglang") is None, reason="needs the extra polyloom[c]")


def refused(
    folder: Path, kind: Kind, language: Language, dims: int, count: int, machine: str = "tcpa:paper"
) -> tuple[Path, Diagnostic]:
    path = folder / f"large.{language}"
    path.write_text(text(kind, language, dims, count), encoding="utf-8")
    with pytest.raises(PolyloomError) as caught:
        api.compile(path, on=machine)
    return path, caught.value.diagnostics[0]


def check_refused(folder: Path, kind: Kind, language: Language, dims: int) -> None:
    """The first statement beyond the limit is named, by its text."""
    path, found = refused(folder, kind, language, dims, 3000)
    assert (found.code, found.exit_code) == ("PL0308", INPUT)
    assert found.span is not None and found.help is not None
    lines = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if " = " in line and "for " not in line and "pl.size" not in line
    ]
    assert found.span.source.text[: found.span.start].count("\n") == path.read_text(
        encoding="utf-8"
    ).splitlines().index(lines[STATEMENTS])


@pytest.mark.parametrize(
    ("kind", "dims"),
    [
        ("chain", 1),
        *(pytest.param(kind, dims, marks=pytest.mark.long) for kind, dims in (("few", 2), ("independent", 3))),
    ],
)
def test_three_thousand_statements_in_python(kind: Kind, dims: int, tmp_path: Path) -> None:
    check_refused(tmp_path, kind, "py", dims)


@pytest.mark.long
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["py", pytest.param("c", marks=C)])
def test_three_thousand_statements(kind: Kind, language: Language, dims: int, tmp_path: Path) -> None:
    check_refused(tmp_path, kind, language, dims)


def test_the_refusals(tmp_path: Path, golden: Golden) -> None:
    """Of statements, of equations, and of what a machine has too few registers for."""
    cases: tuple[tuple[Kind, Language, int], ...] = (
        ("chain", "py", STATEMENTS + 1),
        ("chain", "pla", EQUATIONS),
        ("independent", "pla", 200),
    )
    found = [refused(tmp_path, kind, language, 1, count)[1] for kind, language, count in cases]
    assert [d.exit_code for d in found] == [INPUT, INPUT, INFEASIBLE]
    golden("large", "\n\n".join(_shown(d) for d in found))


def _shown(found: Diagnostic) -> str:
    text = found.span.source.text[found.span.start : found.span.end] if found.span else "nowhere"
    return "\n".join(
        [f"{found.code}: {found.message}", f"at: {text}", *(f"note: {n}" for n in found.notes), f"help: {found.help}"]
    )


@pytest.mark.parametrize(("language", "count"), [("py", 1000), pytest.param("c", 3000, marks=C)])
def test_a_chain_of_thousands_of_statements_runs_on_riscv(language: Language, count: int, tmp_path: Path) -> None:
    check_runs_on_riscv(tmp_path, "chain", language, count)


@pytest.mark.long
@pytest.mark.parametrize("language", ["py", pytest.param("c", marks=C)])
@pytest.mark.parametrize("kind", KINDS)
def test_three_thousand_statements_run_on_riscv(kind: Kind, language: Language, tmp_path: Path) -> None:
    check_runs_on_riscv(tmp_path, kind, language)


def check_runs_on_riscv(folder: Path, kind: Kind, language: Language, count: int = 3000) -> None:
    """The run is compared with the source itself."""
    path = folder / f"large.{language}"
    path.write_text(text(kind, language, 1, count), encoding="utf-8")
    assert api.compile(path, on="riscv:rv64gc").run(N=2).verified


def test_too_many_values_in_too_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """Of loops of their own that each take a pointer: what three have is beyond a limit of ten."""
    monkeypatch.setattr(limits, "LIVE", 10)
    golden("large-riscv", _shown(refused(tmp_path, "apart", "py", 1, 3, "riscv:rv64gc")[1]))


@pytest.mark.long
def test_a_thousand_loops_with_pointers_of_their_own(tmp_path: Path) -> None:
    _, found = refused(tmp_path, "apart", "py", 1, 1000, "riscv:rv64gc")
    assert (found.code, found.exit_code) == ("PL0933", INFEASIBLE)


@pytest.mark.long
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_three_thousand_equations(dims: int, tmp_path: Path) -> None:
    assert refused(tmp_path, "chain", "pla", dims, 3000)[1].code == "PL0309"
    assert refused(tmp_path, "independent", "pla", dims, 3000)[1].code == "PL0406"


@pytest.mark.usefixtures("roughly_scheduled")
def test_a_chain_of_two_hundred_statements_runs(tmp_path: Path) -> None:
    path = tmp_path / "large.py"
    path.write_text(text("chain", "py", 1, 200), encoding="utf-8")
    instance = api.compile(path, on="tcpa:paper").instantiate({"N": 3}, pes=(1, 1))
    assert instance.run({"Y": np.arange(3, dtype=np.int32)}).outputs["X"].shape == (3,)
