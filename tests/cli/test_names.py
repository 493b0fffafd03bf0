# SPDX-License-Identifier: Apache-2.0
"""Files with odd names, and names of what is no file: every verb runs, or refuses with a message; none waits."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import pytest

import polyloom as pl
from polyloom.cli.entry import main
from polyloom.diagnostics import PolyloomError

EXAMPLES = Path(__file__).parents[2] / "examples"
C = "void f(int n, int a[n]) { for (int i = 0; i < n; i++) a[i] = i; }\n"
PYTHON = (
    'import polyloom as pl\nn = pl.size("n")\n\n\n@pl.kernel\ndef f(a: pl.i32[n]) -> None:\n    for i in '
    "range(n):\n        a[i] = i\n"
)
PLAIN = ("a b", "a'b", "a>b", "a\\b", "a%sb", "a#b", "a$(x)b", "a*b", "a?b", "a\tb", "a{b}", "é", "\N{GRINNING FACE}")
"""Characters that some shell, format or C has a meaning for: by default all in one name."""
STEMS = (
    "".join(PLAIN),
    *('a"b', "a:b", "a=b", "@a", "..a", "C:a", "??a"),
    os.fsdecode(b"a\xffb"),
    "x" * 240,
    *(pytest.param(stem, marks=pytest.mark.long) for stem in PLAIN),
)
BROKEN = ("a\nb", "a\rb", 'a">b')
"""Names that C cannot include."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("stem", [*STEMS, *BROKEN], ids=ascii)
def test_odd_names_of_sources(stem: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    Path(f"{stem}.py").write_text(PYTHON, encoding="utf-8")
    copyfile(EXAMPLES / "fir.pla", f"{stem}.pla")
    for words in (
        ["verify", f"{stem}.py"],
        ["show", f"{stem}.pla"],
        ["run", f"{stem}.py:f", "n=3"],
        ["compile", f"{stem}.pla", "-o", f"{stem}.plsc"],
    ):
        assert main(words) == 0, capsys.readouterr().err
    assert main(["verify", f"{stem}.plsc"]) == 0


@pytest.mark.parametrize("stem", STEMS, ids=ascii)
def test_odd_names_of_c(stem: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which the host's function includes, and clang's positions name."""
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    del folder
    Path(f"{stem}.c").write_text(C, encoding="utf-8")
    for words in (["run", f"{stem}.c", "n=3"], ["run", f"{stem}.c:f", "n=3", "--on", "riscv:rv64gc"]):
        assert main(words) == 0, capsys.readouterr().err
    Path(f"{stem}.c").write_text(C.replace("a[i] = i", "while (n) a[i] = 1"), encoding="utf-8")
    assert main(["verify", f"{stem}.c"]) == 1
    found = capsys.readouterr().err
    assert "error[PL0156]" in found
    assert f"{stem[-1].encode(errors='replace').decode()}.c:1:55\n" in found


@pytest.mark.parametrize("stem", BROKEN, ids=ascii)
def test_names_that_c_cannot_include(stem: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    del folder
    Path(f"{stem}.c").write_text(C, encoding="utf-8")
    assert main(["verify", f"{stem}.c"]) == 0
    for words in (["run", f"{stem}.c", "n=3"], ["run", f"{stem}.c", "n=3", "--on", "riscv:rv64gc"]):
        assert main(words) == 1
        assert "C cannot include a file of this name\nhelp: rename it" in capsys.readouterr().err
    Path(f"{stem}.py").write_text(PYTHON, encoding="utf-8")
    assert main(["run", f"{stem}.py", "n=3", "--on", "riscv:rv64gc"]) == 0, "its C text has a name of ours"


ENDS = (".c", ".py", ".pla", ".plsc", ".C", "")


def _fifo(path: str) -> None:
    os.mkfifo(path)


def _device(path: str) -> None:
    os.symlink("/dev/zero", path)


def _folder(path: str) -> None:
    Path(path).mkdir()


def _loop(path: str) -> None:
    os.symlink(path, path)


def _nothing(path: str) -> None:
    del path


NO_FILES: dict[str, Callable[[str], None]] = {
    "a FIFO": _fifo,
    "a device": _device,
    "a folder": _folder,
    "a loop": _loop,
    "nothing": _nothing,
}


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("end", ENDS)
def test_what_is_no_file_is_refused(kind: str, end: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    NO_FILES[kind](f"x{end}")
    for words in (
        ["verify"],
        ["show"],
        ["run", "--on", "tcpa"],
        ["run", "--on", "riscv:rv64gc"],
        ["compile", "-o", "o"],
        ["instantiate", "-o", "o"],
        ["simulate"],
    ):
        assert main([words[0], f"x{end}", *words[1:]]) in (1, 2), words
        assert capsys.readouterr().err.startswith(("error[PL01", "error[PL08")), words


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x" * 300 + ".c",
        "x" * 300 + ".py",
        "x" * 300 + ".pla",
        "x" * 300,
        "a\0.c",
        "a\0.py",
        "a\0.pla",
        "a\0",
        "/dev/null",
        ".",
    ],
)
def test_names_of_nothing(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    for words in (
        ["verify", name],
        ["show", name],
        ["run", name],
        ["run", name, "--on", "riscv:rv64gc"],
        ["compile", name, "-o", "o"],
        ["simulate", name],
    ):
        assert main(words) in (1, 2), words
        assert capsys.readouterr().err.startswith(("error[PL01", "error[PL08")), words
    for call in (pl.compile, pl.load):
        with pytest.raises(PolyloomError, match=r"PL01|PL08"):
            call(name)


@pytest.mark.parametrize("name", ["-f.py", "--f.py"])
def test_a_leading_dash_is_an_option(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    Path(name).write_text(PYTHON, encoding="utf-8")
    assert main(["verify", name]) == 2
    assert "error[PL0801]" in capsys.readouterr().err
    assert main(["verify", f"./{name}"]) == 0, capsys.readouterr().err
