# SPDX-License-Identifier: Apache-2.0
"""`polyloom check`: located errors of a file in any language, without running it; golden texts beside this file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Call
from tests.conftest import Golden

from polyloom.cli import main
from polyloom.editor.check import Request, check

ROOT = Path(__file__).parents[2]
PYTHON = """import polyloom as pl

N = pl.size("N")


@pl.kernel
def first(x: pl.f32[N], y: pl.f32[N]):
    for i in range(N):
        y[i] = x[i] + alpha


@pl.kernel
def second(x: pl.f32[N], p: pl.i32[N]):
    for i in range(N):
        x[p[i]] = 1.0


@pl.kernel
def third(x: pl.f32[N]):
    for i in range(N):
        x[i] = x[i + 1]
"""
FILES = {
    "kernels.py": PYTHON,
    "syntax.py": "import polyloom as pl\nN = pl.size('N'\n",
    "empty.py": "x = 1\n",
    "equations.pla": "parameter N\noutput y[N]: i32\nfor 0 <= i < N do\n  y[i] = ad(i, 1)\n",
    "sum.c": "void sum(int n, const float x[n], float s[1]) {\n  for (int i = 0; i < n; i++) s[0] += y[i];\n}\n",
    "both.c": "void f(int n, int x[n]) { for (int i = 0; i < n; i++) x[i] = 1; }\n"
    "void g(int n, int x[n]) { for (int i = 0; i < n; i += x[i]) x[i] = 1; }\n",
    "sum.mlir": "func.func @f(%x: memref<4xf32>) { affine.for %i = 0 to 4 { affine.stor %i } return }\n",
    "loop.json": '{"nodes": [{"name": "a", "latncy": 1}]}',
    "machine.toml": "latency = 3\n",
    "test.litmus": "RISCV t\n{ 0:x5=x }\n P0 ;\n ld x6 0(x5) ;\nexists (0:x6=\n",
    "sum.s": "_start:\n  addd a0, a0, a1\n",
    "notes.txt": "nothing\n",
    "printed.py": f"print('the file is executed')\n{PYTHON.partition('@pl.kernel')[0]}"
    "@pl.kernel\ndef fine(x: pl.f32[N]):\n    for i in range(N):\n        x[i] = 1.0\n",
}
CASES = {
    "python": "kernels.py",
    "python-one": "kernels.py:second",
    "python-syntax": "syntax.py",
    "python-empty": "empty.py",
    "equations": "equations.pla",
    "c": "sum.c",
    "c-two": "both.c",
    "mlir": "sum.mlir",
    "loop": "loop.json",
    "machine": "machine.toml",
    "litmus": "test.litmus",
    "assembly": "sum.s --on riscv",
    "assembly-without-machine": "sum.s",
    "no-language": "notes.txt",
    "no-file": "nowhere.py",
    "no-target": "kernels.py --on tpca",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*words: str) -> tuple[int, str, str]:
        status = main(words)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.mark.parametrize("name", CASES)
def test_errors_stand_at_their_place(name: str, folder: Path, call: Call, golden: Golden) -> None:
    status, out, err = call("check", *CASES[name].split())
    golden(name, f"$ polyloom check {CASES[name]}\nexit code {status}\n\nstdout:\n{out}\nstderr:\n{err}")


def test_a_missing_package_is_named_with_its_command(
    call: Call, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    status, out, err = call("lsp")
    golden("no-pygls", f"$ polyloom lsp\nexit code {status}\n\nstdout:\n{out}\nstderr:\n{err}")


def test_the_machine_is_asked_where_it_is_named(folder: Path, call: Call) -> None:
    """Its intervals stand at the heads of loops, as elsewhere."""
    (folder / "fine.pla").write_text("parameter N\noutput y[N]: i32\n\nfor 0 <= i < N do\n  y[i] = add(1, 1)\n")
    status, out, err = call("check", "fine.pla", "--on", "tcpa:unit")
    assert (status, err) == (0, "")
    assert out == "fine.pla: no errors\nfine.pla on tcpa:unit: no errors\nfine.pla:4: π = 1\n"


def test_a_refusal_of_the_machine_is_an_error(folder: Path, call: Call) -> None:
    status, out, err = call("check", "kernels.py:second", "--on", "tcpa:unit")
    assert status != 0
    assert "kernels.py on tcpa:unit: 1 error" in out.replace(":second", "")
    assert "error[PL0137]" in err and "kernels.py:15:" in err


def test_json_has_every_stage(folder: Path, call: Call) -> None:
    _, out, _ = call("check", "kernels.py", "--json")
    (stage,) = json.loads(out)["stages"]
    assert (stage["stage"], stage["functions"]) == ("language", ["first", "second", "third"])
    places = [(d["code"], d["line"], d["column"], d["exit_code"]) for d in stage["diagnostics"]]
    assert places == [("PL0140", 9, 23, 1), ("PL0240", 21, 16, 1), ("PL0137", 15, 11, 0)]
    assert all(d["help"] for d in stage["diagnostics"])


def test_every_example_is_without_errors(call: Call) -> None:
    for path in sorted((ROOT / "examples").glob("*.pla")):
        assert call("check", str(path))[0] == 0, path


@pytest.mark.parametrize(("head", "is_executed"), [("", False), ("import polyloom as pl\n", True)])
def test_an_editor_executes_no_file_without_kernels(tmp_path: Path, head: str, is_executed: bool) -> None:
    """Other programs are opened in an editor, too; the text is that of the buffer."""
    path, made = tmp_path / "deploy.py", tmp_path / "made"
    path.write_text("")
    text = f"{head}from pathlib import Path\nPath({str(made)!r}).touch()\n"
    list(check(Request(str(path), text=text)))
    assert made.exists() == is_executed
