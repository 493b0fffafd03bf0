# SPDX-License-Identifier: Apache-2.0
"""Files of the belt target on the command line: what is refused before it is written, and how often one is read."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.cli import main
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.decode import decode
from polyloom.targets.belt.words.program import Program

DOT = "int dot(int n, const int a[n]) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dot.c").write_text(DOT, encoding="utf-8")


@pytest.mark.parametrize("counts", ["dot.c", "./dot.c", "link.c"])
def test_counts_never_overwrite_the_source(counts: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("link.c").symlink_to("dot.c")
    assert main(["run", "dot.c", "n=5", "--on", "belt:silver", "--counts", counts]) == 1
    assert f"error[PL0809]: the output '{counts}' is the input 'dot.c'" in capsys.readouterr().err
    assert Path("dot.c").read_text(encoding="utf-8") == DOT


def test_conasm_is_for_the_member_that_it_names(capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    told: list[str] = []
    for member in ("gold", "gold:unphased"):
        assert main(["compile", "dot.c", "--on", f"belt:{member}", "-o", "made.belt"]) == 0
        assert main(["show", "made.belt"]) == 0
        Path("made.conasm").write_text(capsys.readouterr().out.partition("bytes\n")[2], encoding="utf-8")
        assert main(["asm", "made.conasm", "--on", f"belt:{member}", "-o", "again.belt"]) == 0
        assert Path("again.belt").read_bytes() == Path("made.belt").read_bytes()
        capsys.readouterr()
        for other in ("silver", "gold:unphased" if member == "gold" else "gold"):
            assert main(["asm", "made.conasm", "--on", f"belt:{other}", "-o", "other.belt"]) == 1
            assert not Path("other.belt").exists()
            told.append(capsys.readouterr().err)
    golden("conasm_member", "\n".join(told))


def test_a_program_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signature, facts, report, trace and counts of a run ask for it."""
    decoded: list[int] = []

    def counted(code: bytes, member: Machine, names: Sequence[str]) -> Program:
        decoded.append(len(code))
        return decode(code, member, names)

    Path("once.c").write_text(DOT.replace("dot", "once"), encoding="utf-8")
    monkeypatch.setattr(belt_file, "decode", counted)
    words = ["once.c", "n=5", "--on", "belt:silver", "--counts", "c.json", "--trace", "t.json"]
    assert main(["run", *words]) == 0
    assert len(decoded) == 1


def test_a_file_that_changed_is_read_again() -> None:
    for member in ("silver", "gold"):
        assert main(["compile", "dot.c", "--on", f"belt:{member}", "-o", "dot.belt"]) == 0
        assert belt_file.read(Path("dot.belt").read_bytes()).machine.name == member
    shutil.copy("dot.belt", "copy.belt")
    assert belt_file.read(Path("copy.belt").read_bytes()) is belt_file.read(Path("dot.belt").read_bytes())


NAR = """#include <stdint.h>
uint32_t f2u(int n, const float x[n]) {
  uint32_t s = 0;
  for (int i = 0; i < n; i++) s += (uint32_t)(x[i] * 10.0f);
  return s;
}
int32_t f2i(float x) { return (int32_t)x; }
int32_t dv(int32_t a, int32_t b) { return a / b; }
"""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--function dv a=7 b=0", "division by zero"),
        ("--function f2i x=1e20", "does not fit into i32"),
        ("--function f2u n=20", "does not fit into i32"),
    ],
)
def test_a_result_that_c_leaves_undefined(
    words: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The machine returns a NaR, which was an internal error; of a file, without its source, it is named."""
    monkeypatch.chdir(tmp_path)
    Path("nar.c").write_text(NAR, encoding="utf-8")
    assert main(["run", "nar.c", *words.split(), "--on", "belt:silver"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error[PL0972]") and why in err


def test_a_file_that_returns_a_nar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nar.c").write_text(NAR, encoding="utf-8")
    assert main(["compile", "nar.c", "--function", "dv", "--on", "belt:silver", "-o", "dv.belt"]) == 0
    assert main(["simulate", "dv.belt", "a=7", "b=0"]) == 1
    assert capsys.readouterr().err.startswith("error[PL1054]: the result is a NaR: division by zero in bundle ")
