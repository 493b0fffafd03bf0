# SPDX-License-Identifier: Apache-2.0
"""An environment without the optional packages: what needs none of them runs, and the rest names one command that
installs what it needs, the same on every page and in every message."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
from tests.docs.test_docs import matches, steps
from tests.install import bare

from polyloom.cli import main
from polyloom.extras import AGAIN, EXTRAS, install_command

ROOT = Path(__file__).parents[2]
CLANG = "for C"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {name: sorted(found) for name, found in EXTRAS.items()} == {
        name: sorted(found) for name, found in project["optional-dependencies"].items()
    }


def _texts() -> list[Path]:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return [*(p for p in pages if p.name != "CHANGELOG.md"), *ROOT.glob("src/polyloom/**/*.py")]


def test_one_command_installs_an_extra_wherever_one_is_named() -> None:
    known = {install_command(extra) for extra in EXTRAS} | {"pip install .", "pip install --force-reinstall ."}
    found = {
        (path.name, text)
        for path in _texts()
        for text in re.findall(r"pip install(?: --?[\w-]+| '[^']*'| \"[^\"]*\"| \.)*", path.read_text(encoding="utf-8"))
        if text not in known | {"pip install"}
    }
    assert found == set()
    assert not [path for path in _texts() if "polyloom[" in path.read_text(encoding="utf-8")]
    assert "pip install --force-reinstall ." in AGAIN


def test_the_first_screen_of_the_readme_runs_without_them(folder: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    run, compare = list(steps(page))[:2]
    printed, status = bare.polyloom(*shlex.split(run.code)[1:], folder=folder)
    assert status == 0
    assert matches(run.expected or "", printed)
    assert install_command("c") in page.partition("console")[0]

    printed, status = bare.polyloom(*shlex.split(compare.code)[1:], folder=folder)
    rows = {line.split("|")[1].split()[0]: line for line in printed.splitlines() if line.startswith("| t")}
    assert status == 0
    assert "equal bits" in rows["tcpa:4x4"] and "within " in rows["tensix"]
    assert install_command("c") not in printed
    assert CLANG in page


def test_doctor_and_help_give_the_command_of_the_readme(folder: Path) -> None:
    printed, status = bare.polyloom("doctor", folder=folder)
    assert status == 0
    assert f"{CLANG}: {install_command('c')}" in printed
    printed, status = bare.polyloom("explain", "PL0150", folder=folder)
    assert f"`{install_command('c')}`" in printed


def test_doctor_names_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang", reason="without the extra `c`, the test above")
    assert main(["doctor"]) == 0
    assert re.search(r"extra \[c\] +ziglang 0\.17\.\d+, llvmlite 0\.50\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize("on", ["riscv", "belt:silver"])
def test_who_needs_clang_says_so(on: str, folder: Path) -> None:
    printed, status = bare.polyloom("run", "examples/dot.c:dot", "n=4", "--on", on, folder=folder)
    assert (status, printed) == (
        2,
        f"error[PL0150]: clang is not installed; it reads C\nhelp: install it: `{install_command('c')}`\n",
    )


@pytest.mark.parametrize("on", ["riscv", "riscv:rv32gc", "belt:silver", "belt:tin"])
def test_python_kernels_need_no_clang(on: str, folder: Path) -> None:
    """Nor do members without floating point, whose routines are in SSA form."""
    printed, status = bare.polyloom("run", "examples/kernels/fir.py", "N=7", "T=3", "--on", on, folder=folder)
    assert status == 0, printed
    assert "equal bits, compared with the interpreter of SSA form and the source" in printed


def test_forms_of_python_kernels_need_no_clang(folder: Path) -> None:
    printed, status = bare.polyloom("show", "examples/kernels/fir.py", "--ssa", "1", folder=folder)
    assert status == 0, printed
    assert printed.startswith("function fir(")
