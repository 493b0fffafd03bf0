# SPDX-License-Identifier: Apache-2.0
"""Tab completes verbs, options, targets and files, from a script that starts no Python."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from polyloom.cli.completion import commands
from polyloom.cli.entry import known_verbs, main
from polyloom.cli.shells import SCRIPTS, Command, Place

HARD = Command(
    "wash",
    "it's: [hot] `soap`",
    (
        Place(
            ("-t", "--to"), "A:B", "don't \\ $HOME [x]: 5 %", takes_value=True, repeats=True, is_file=False, values=()
        ),
        Place((), "FILE", "what", takes_value=False, repeats=True, is_file=True, values=()),
    ),
)
"""Everything in it that some shell has a meaning for."""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script of every shell, as the verb prints it."""
    folder = tmp_path_factory.mktemp("completion")
    for shell, script in SCRIPTS.items():
        (folder / f"polyloom.{shell}").write_text(script(commands()), encoding="utf-8")
    return folder


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_verb_prints_it(shell: str, scripts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out.rstrip() == (scripts / f"polyloom.{shell}").read_text(encoding="utf-8").rstrip()


@pytest.mark.parametrize("shell", SCRIPTS)
def test_nothing_is_left_out(shell: str, scripts: Path) -> None:
    """Every verb, and the long options of each, stand in every script."""
    text = (scripts / f"polyloom.{shell}").read_text(encoding="utf-8")
    assert [verb for verb in known_verbs() if not re.search(rf"\b{verb}\b", text)] == []
    flags = {s for command in commands() for place in command.options() for s in place.spellings if s[:2] == "--"}
    assert len(flags) > 70
    shown = {flag: f"-l {flag[2:]}" if shell == "fish" else flag for flag in flags}
    assert [flag for flag, word in shown.items() if word not in text] == []


def _completed(scripts: Path, line: str, folder: Path) -> list[str]:
    """What bash offers behind a line, in a shell that has no Python."""
    words = line.split(" ")
    text = f"""
        source "{scripts / "polyloom.bash"}"
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
        _polyloom polyloom '{words[-1]}' '{words[-2]}'
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        [shutil.which("bash") or "bash", "--norc", "-c", text],
        cwd=folder,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_bash_completes(scripts: Path, tmp_path: Path) -> None:
    (tmp_path / "gemm kernel.py").touch()
    assert _completed(scripts, "polyloom ver", tmp_path) == ["verify"]
    assert "--report" in _completed(scripts, "polyloom run gemm.py --re", tmp_path)
    assert _completed(scripts, "polyloom run gem", tmp_path) == ["gemm kernel.py"]
    assert _completed(scripts, "polyloom run gemm.py --report gem", tmp_path) == ["gemm kernel.py"]
    assert _completed(scripts, "polyloom run gemm.py --in A = gem", tmp_path) == ["gemm kernel.py"]
    assert _completed(scripts, "polyloom run gemm.py --on mi", tmp_path) == ["minion"]
    assert _completed(scripts, "polyloom run gemm.py --fill ", tmp_path) == ["random"]
    assert _completed(scripts, "polyloom run gemm.py --seed ", tmp_path) == [""]
    assert _completed(scripts, "polyloom run gemm.py --nothing", tmp_path) == [""]
    assert "--quiet" in _completed(scripts, "polyloom show --q", tmp_path)


def test_codes_complete_in_bash(scripts: Path, tmp_path: Path) -> None:
    assert _completed(scripts, "polyloom explain PL041", tmp_path) == ["PL0410", "PL0411", "PL0412"]
    assert _completed(scripts, "polyloom bench mini", tmp_path) == ["minion"]


def _fish(script: Path, line: str) -> dict[str, str]:
    """What fish offers behind a line, each with its description."""
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed (Debian package `fish`)")
    text = f'source "{script}"; complete -C "{line}"'
    done = subprocess.run(["fish", "--no-config", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return {word: about for word, _, about in (line.partition("\t") for line in done.stdout.splitlines())}


def test_codes_complete_in_fish(scripts: Path) -> None:
    script = scripts / "polyloom.fish"
    assert list(_fish(script, "polyloom explain PL041")) == ["PL0410", "PL0411", "PL0412"]
    assert _fish(script, "polyloom ver") == {"verify": known_verbs()["verify"][0]}
    assert "--report" in _fish(script, "polyloom run gemm.py --re")
    assert list(_fish(script, "polyloom run gemm.py --on mi")) == ["minion"]


def test_descriptions_are_kept_as_they_are(tmp_path: Path) -> None:
    """Quotes, brackets, dollars and backslashes of a description mean nothing to the shell."""
    (tmp_path / "script").write_text(SCRIPTS["fish"]((HARD,)), encoding="utf-8")
    assert _fish(tmp_path / "script", "polyloom wa") == {"wash": HARD.about}
    assert _fish(tmp_path / "script", "polyloom wash --t") == {"--to": "don't \\ $HOME [x]: 5 %"}


ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; bindkey "^I" list-choices'
zpty -w shell 'print RE''ADY'
zpty -r shell before '*READY*'
zpty -w -n shell $'{line}\t'
zpty -r shell shown '*{last}*'
print -r -- $shown
zpty -d shell
"""
"""A shell within a shell: only an interactive one completes."""


def _zsh(script: str, line: str, last: str, folder: Path) -> str:
    """What zsh shows behind a line, up to a word."""
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed (Debian package `zsh`)")
    (folder / "_polyloom").write_text(script, encoding="utf-8")
    words = ["zsh", "-f", "-c", ZSH.format(folder=folder, line=line, last=last)]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


def test_codes_complete_in_zsh(scripts: Path, tmp_path: Path) -> None:
    script = (scripts / "polyloom.zsh").read_text(encoding="utf-8")
    shown = _zsh(script, "polyloom explain PL041", "PL0412", tmp_path)
    assert set(re.findall(r"PL\d{4}", shown)) == {"PL0410", "PL0411", "PL0412"}


def test_zsh_describes_options(tmp_path: Path) -> None:
    shown = _zsh(SCRIPTS["zsh"]((HARD,)), "polyloom wash -", "5 %", tmp_path)
    assert "--to" in shown
    assert "don't \\ $HOME [x]: 5 %" in shown


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_shell_can_read_it(shell: str, scripts: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed (Debian package `{shell}`)")
    subprocess.run([shell, "-n", str(scripts / f"polyloom.{shell}")], check=True)
