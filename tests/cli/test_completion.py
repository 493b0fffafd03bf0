# SPDX-License-Identifier: Apache-2.0
"""Tab completes verbs, options, targets and files, from a script that starts no Python."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli import completions

from polyloom.cli.completion import SHELLS
from polyloom.cli.entry import main


@pytest.mark.parametrize("shell", SHELLS)
def test_the_committed_script_is_that_of_the_verbs(shell: str, pytestconfig: pytest.Config) -> None:
    path = completions.FOLDER / f"polyloom.{shell}"
    made = completions.script(shell)
    if pytestconfig.getoption("--update-golden"):
        path.write_text(made, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == made, "write `pytest tests/cli/test_completion.py --update-golden`"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_verb_prints_it(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out.rstrip() == (completions.FOLDER / f"polyloom.{shell}").read_text().rstrip()


def _completed(line: str, folder: Path) -> list[str]:
    """What bash offers behind a line, in a shell that has no Python."""
    words = line.split(" ")
    text = f"""
        source "{completions.FOLDER / "polyloom.bash"}"
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
        _shtab_polyloom polyloom '{words[-1]}' '{words[-2]}'
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        [shutil.which("bash") or "bash", "--norc", "-c", text],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes(tmp_path: Path) -> None:
    (tmp_path / "gemm.py").touch()
    assert _completed("polyloom ver", tmp_path) == ["verify"]
    assert "--report" in _completed("polyloom run gemm.py --re", tmp_path)
    assert _completed("polyloom run gem", tmp_path) == ["gemm.py"]
    assert _completed("polyloom run gemm.py --on mi", tmp_path) == ["minion"]
    assert _completed("polyloom run gemm.py --nothing", tmp_path) == []
    assert "--quiet" in _completed("polyloom show --q", tmp_path)


def test_codes_complete_in_bash(tmp_path: Path) -> None:
    assert _completed("polyloom explain PL041", tmp_path) == ["PL0410", "PL0411", "PL0412"]
    assert _completed("polyloom bench mini", tmp_path) == ["minion"]


def test_codes_complete_in_fish() -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed (Debian package `fish`)")
    text = f'source "{completions.FOLDER / "polyloom.fish"}"; complete -C "polyloom explain PL041"'
    done = subprocess.run(["fish", "--no-config", "-c", text], capture_output=True, text=True, check=True)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["PL0410", "PL0411", "PL0412"]


ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; bindkey "^I" list-choices'
zpty -w shell 'print RE''ADY'
zpty -r shell before '*READY*'
zpty -w -n shell $'polyloom explain PL041\t'
zpty -r shell shown '*PL0410*PL0412*'
print -r -- $shown
zpty -d shell
"""
"""A shell within a shell: only an interactive one completes."""


def test_codes_complete_in_zsh(tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed (Debian package `zsh`)")
    shutil.copy(completions.FOLDER / "polyloom.zsh", tmp_path / "_polyloom")
    words = ["zsh", "-f", "-c", ZSH.format(folder=tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert set(re.findall(r"PL\d{4}", done.stdout)) == {"PL0410", "PL0411", "PL0412"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_it(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed (Debian package `{shell}`)")
    subprocess.run([shell, "-n", str(completions.FOLDER / f"polyloom.{shell}")], check=True)
