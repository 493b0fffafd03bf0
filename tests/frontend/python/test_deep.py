# SPDX-License-Identifier: Apache-2.0
"""Sums of hundreds of terms and other deep trees: compiled, or refused by a located error; never the end of Python's
stack."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from polyloom.cli.entry import main
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import load
from polyloom.recursion import LEVELS, with_deep_stack

TERMS = 700
SUM = " + ".join(f"a[i] * {k}" for k in range(TERMS))
PYTHON = (
    'import polyloom as pl\nn = pl.size("n")\n\n\n@pl.kernel\ndef f(a: pl.i32[n], b: pl.i32[n]) -> None:\n    '
    "for i in range(n):\n        "
)
C = f"void f(int n, int a[n], int b[n]) {{\n  for (int i = 0; i < n; i++) b[i] = {SUM};\n}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_deep_work_is_done_again_with_room() -> None:
    def depth(n: int) -> int:
        return 0 if n == 0 else 1 + depth(n - 1)

    limit = sys.getrecursionlimit()
    assert with_deep_stack(depth)(limit * 3) == limit * 3
    assert sys.getrecursionlimit() == limit
    with pytest.raises(RecursionError):
        with_deep_stack(depth)(LEVELS)
    with pytest.raises(ZeroDivisionError):
        with_deep_stack(lambda: depth(limit * 2) // 0)()
    assert sys.getrecursionlimit() == limit


LATER = [
    pytest.param(verb, marks=pytest.mark.long)
    for verb in ("show f.c --ssa 0", "compile f.c --on riscv:rv64gc -o f.elf")
]


@pytest.mark.parametrize("verb", ["run f.c n=3 --on riscv:rv32imac --json", *LATER])
def test_a_sum_of_hundreds_of_terms_in_c(verb: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    (folder / "f.c").write_text(C, encoding="utf-8")
    assert main(verb.split()) == 0, capsys.readouterr().err
    if "--json" in verb:
        assert json.loads(capsys.readouterr().out)["verified"]


@pytest.mark.parametrize("file", [pytest.param("f.c", marks=pytest.mark.long), "f.py"])
def test_a_sum_of_hundreds_of_terms_as_a_nest(file: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its text, its dataflow and its equations; a Python function also as the C text of its nest."""
    if file.endswith(".c"):
        pytest.importorskip("ziglang", reason="C needs the extra `c`")
    (folder / "f.c").write_text(C, encoding="utf-8")
    (folder / "f.py").write_text(f"{PYTHON}b[i] = {SUM}\n", encoding="utf-8")
    assert main(["show", file]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.count("a[i]") >= TERMS


DEEP = {
    "negated.py": f"{PYTHON}b[i] = {'- ' * 20000}a[i]\n",
    "brackets.py": f"{PYTHON}b[i] = {'(' * 5000}a[i]{')' * 5000}\n",
    "calls.py": f"{PYTHON}b[i] = {'abs(' * 150}a[i]{')' * 150}\n",
    "statements.py": PYTHON
    + "".join(
        f"{'    ' * (k + 2)}if a[i] > {k}:\n".lstrip() if k == 0 else f"{'    ' * (k + 2)}if a[i] > {k}:\n"
        for k in range(120)
    ),
    "loops.py": PYTHON
    + "".join(f"{'    ' * (k + 2) if k else ''}for j{k} in range(n):\n" for k in range(30))
    + "    " * 32
    + "b[i] = 1\n",
    "brackets.pla": "program f(N)\n" + "(" * 100000 + "\n",
    "negated.pla": "x[i] = " + "-" * 100000 + "1\n",
    "brackets.c": f"int f(int a) {{ return {'(' * 10000}a{')' * 10000}; }}\n",
    "negated.c": f"int f(int a) {{ return {'~' * 100000}a; }}\n",
    "blocks.c": f"int f(int a) {'{' * 10000} return a; {'}' * 10000}\n",
}


@pytest.mark.parametrize("name", DEEP)
def test_what_is_too_deep_is_refused(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name.endswith(".c"):
        pytest.importorskip("ziglang", reason="C needs the extra `c`")
    (folder / name).write_text(DEEP[name], encoding="utf-8")
    for words in (["verify", name], ["show", name]):
        assert main(words) in (0, 1), capsys.readouterr().err
        assert "PL0870" not in capsys.readouterr().err


def test_what_exceeds_all_room_is_refused_with_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "f.py").write_text(f"{PYTHON}b[i] = {SUM}\n", encoding="utf-8")
    monkeypatch.setattr("polyloom.recursion.LEVELS", sys.getrecursionlimit())
    with pytest.raises(PolyloomError, match=r"PL0103.*f\.py: an expression or a statement is nested too deeply"):
        load("f.py")


@pytest.mark.parametrize("on", ["tcpa", "riscv:rv64gc"])
def test_a_tree_that_clang_writes_without_end_is_refused(
    on: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It indents trees, so that what it writes grows with the square of the depth."""
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    (folder / "f.c").write_text(C, encoding="utf-8")
    monkeypatch.setattr("polyloom.frontend.c.clang._MOST", 1 << 20)
    assert main(["run", "f.c", "n=3", "--on", on]) == 1
    assert capsys.readouterr().err.startswith(
        "error[PL0103]: f.c: an expression or a statement is nested too deeply\nhelp: split it"
    )
