# SPDX-License-Identifier: Apache-2.0
"""`--color` and `--quiet`, of every verb."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Call

from polyloom.cli.color import paint_diagnostic, wants_color

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
WRONG = ("run", "wrong.pla", "N=4")
PLAIN = """\
error[PL0211]: unknown operation `mad`
 --> wrong.pla:4:9
  |
4 |  y[i] = mad(i)
  |         ^^^^^^
help: did you mean `madd`?
"""
MARKED = """\
<1;31>error[PL0211]<0>: unknown operation `mad`
<1;34> --><0> wrong.pla:4:9
<1;34>  |<0>
<1;34>4 |<0>  y[i] = mad(i)
<1;34>  |<0>         <1;31>^^^^^^<0>
<1;36>help<0>: did you mean `madd`?
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def wrong(scratch: Path) -> None:
    (scratch / "wrong.pla").write_text("parameter N\noutput y[N]: i32\nfor 0 <= i < N do\n y[i] = mad(i)\n")


@pytest.mark.usefixtures("wrong")
@pytest.mark.parametrize("words", [("--color", "always"), ("--color=always",), ("--color", "never"), ()])
def test_messages_have_colors_where_they_are_wanted(words: tuple[str, ...], call: Call) -> None:
    status, out, err = call(*WRONG, *words)
    assert (status, out) == (1, "")
    assert ESCAPE.sub("", err) == PLAIN
    assert ESCAPE.sub(lambda found: f"<{found[0][2:-1]}>", err) == (MARKED if "always" in " ".join(words) else PLAIN)


@pytest.mark.usefixtures("wrong")
def test_a_color_of_another_name(call: Call) -> None:
    status, _, err = call(*WRONG, "--color", "green")
    assert status == 2
    assert "choose from" in err and "'never'" in err


def test_auto_looks_at_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wants_color([], Terminal())
    assert not wants_color([], io.StringIO())
    assert not wants_color([], None)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color(["--color", "auto"], Terminal())
    assert wants_color(["--color=always"], io.StringIO())
    monkeypatch.setenv("NO_COLOR", "")  # as where it is not set
    assert wants_color([], Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_color([], Terminal())
    assert not wants_color(["--color", "always", "--color", "never"], Terminal())


@pytest.mark.usefixtures("wrong")
@pytest.mark.parametrize("is_plain", [False, True])
def test_on_a_terminal(is_plain: bool) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1" if is_plain else ""}
    subprocess.run([sys.executable, "-m", "polyloom", *WRONG], stderr=theirs, stdout=theirs, env=environment)
    os.close(theirs)
    printed = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert ("\x1b[1;31merror[PL0211]\x1b[0m" in printed) != is_plain


def test_other_texts_stay_as_they_are() -> None:
    for text in ("", "no error: here", "| a | b |", "  helpless: x", "12 apples | pears", "|---|"):
        assert paint_diagnostic(text) == text
    assert paint_diagnostic("warning[PL0300]: x") == "\x1b[1;33mwarning[PL0300]\x1b[0m: x"


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_quiet_prints_errors_alone(flag: str, call: Call, scratch: Path) -> None:
    assert call("run", "bits.pla", "N=4", "--on", "tcpa:1x2", "--out", "bits=new.npy", flag) == (0, "", "")
    assert (scratch / "new.npy").exists()
    status, out, err = call("run", "bits.pla", flag)
    assert (status, out) == (1, "")
    assert err.startswith("error[PL0230]")
    assert call("verify", "bits.plcc", flag) == (0, "", "")
    assert call("verify", "short.plcc", flag)[0] == 1


def test_quiet_leaves_what_was_asked_for(call: Call) -> None:
    assert call("machines", "--json", "--quiet")[1].startswith("{")


def test_quiet_tells_no_warnings(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from polyloom.cli import machines
    from polyloom.cli.answer import Answer
    from polyloom.diagnostics import Diagnostic

    monkeypatch.setattr(machines, "execute", lambda _: Answer({}, "text", (Diagnostic("PL0300", "slow", 0),)))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    assert call("machines") == (0, "text\n", "warning[PL0300]: slow\n")
    assert call("machines", "--quiet") == (0, "", "")
