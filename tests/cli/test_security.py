# SPDX-License-Identifier: Apache-2.0
"""What SECURITY.md says of sources and files: which commands execute them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.device.devices import ROOT
from tests.fuzz import audited_files

from polyloom import npy
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError

C = """
__attribute__((constructor)) static void first(void) { __builtin_trap(); }
void k(int N, int x[N]) { for (int i = 0; i < N; i++) x[i] = x[i] + 1; }
"""
PYTHON = """
import polyloom as pl
with open("executed", "a") as file:
    file.write("x")
N = pl.sizes("N")
@pl.kernel
def k(x: pl.i32[N]) -> None:
    for i in range(N):
        x[i] = x[i] + 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "k.c").write_text(C)
    (tmp_path / "k.py").write_text(PYTHON)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "verify k.c",
        "check k.c --on tcpa:unit",
        "show k.c",
        "show k.c:k --ssa 1",
        "compile k.c --on tcpa:unit -o k.plsc",
        "compile k.c:k --on riscv -o k.elf",
        "litmus k.c:k N=1",
    ],
)
def test_a_c_file_is_only_compiled(words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its constructor would end the process."""
    status = main(words.split())
    assert (status, "PL0167" in capsys.readouterr().err) == (
        int(words.startswith("litmus")),
        False,
    )  # no access of it is volatile


@pytest.mark.parametrize("place", ["tcpa:unit:1x1", "riscv"])
def test_run_runs_a_c_file_on_the_host(place: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "k.c:k", "N=4", "--on", place]) == 1
    assert capsys.readouterr().err.startswith("error[PL0167]")


def test_compare_runs_a_c_file_on_the_host(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "k.c:k", "N=4", "--on", "riscv,tcpa:unit:1x1"]) == 1
    assert capsys.readouterr().err.startswith("error[PL0167]")


@pytest.mark.parametrize(
    "words",
    [
        "verify k.py",
        "show k.py",
        "show k.py --ssa 1",
        "compile k.py -o new.plsc",
        "run k.py N=4",
        "compare k.py N=4 --on riscv",
    ],
)
def test_every_command_executes_a_python_file(words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 0
    assert (folder / "executed").exists()
    capsys.readouterr()


def test_configurations_are_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sources that they were made of are not needed, nor looked for."""
    assert main(["compile", "k.c", "--on", "tcpa:unit", "-o", "c.plsc"]) == 0
    assert main(["compile", "k.py", "--on", "tcpa:unit", "-o", "python.plsc"]) == 0
    (folder / "executed").unlink()
    for name in ("c", "python"):
        for words in (
            f"show {name}.plsc",
            f"verify {name}.plsc",
            f"instantiate {name}.plsc N=4 --pes 1x1 -o {name}.plcc",
            f"show {name}.plcc",
            f"verify {name}.plcc",
        ):
            assert main(words.split()) == 0, words
        np.save("x.npy", np.arange(4, dtype=np.int32))
        assert main(["simulate", f"{name}.plcc", "--in", "x=x.npy"]) == 0
    assert not (folder / "executed").exists()
    capsys.readouterr()


def test_the_table_names_every_kind_of_file(folder: Path) -> None:
    """And the audit has files of every kind that it names."""
    del folder
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = page[page.index("| file | what reads it |") : page.index("You can read, verify")]
    named = set(re.findall(r"`(\.\w+)`", table))
    files = [kind.file for kind in audited_files.prepare()]
    audited = {Path(file).suffix for file in files} - {""}
    written = {".tts", ".conasm", ".genasm"}  # assembly text has other endings in the audit
    assert named - written == audited
    assert "`rows.sqlite`" in table and "s" in files


def test_arrays_hold_no_pickles(folder: Path) -> None:
    class Written:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return exec, ("open('executed', 'w').close()",)

    np.save("pickled.npy", np.array([Written()], dtype=object), allow_pickle=True)
    with pytest.raises(PolyloomError):
        npy.read("pickled.npy")
    assert not (folder / "executed").exists()
