# SPDX-License-Identifier: Apache-2.0
"""What strangers wrote cannot command a terminal: names, lines and printed text show their control characters."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import Call

from polyloom.cli.terminal import escape_controls, write

ESCAPE = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202e\x7f"
SHOWN = "\\x1b]0;owned\\x07\\x1b[2J\\r\\x9b31m\\u202e\\x7f"


def test_control_characters_are_visible() -> None:
    assert escape_controls(f"a{ESCAPE}b") == f"a{SHOWN}b"
    assert escape_controls("a\tb\nc é 日本 …") == "a\tb\nc é 日本 …"


@given(st.text())
def test_nothing_else_is_left(text: str) -> None:
    shown = escape_controls(text)
    assert all(c in "\n\t" or (c >= " " and not "\x7f" <= c < "\xa0") for c in shown)
    assert escape_controls(shown) == shown


def test_what_an_encoding_lacks_is_escaped() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", newline="\n")
    write("a é \udcff", stream)
    assert stream.buffer.getvalue() == b"a \\xe9 \\udcff\n"  # pyright: ignore[reportAttributeAccessIssue]
    write("x", None)


@pytest.mark.parametrize("words", ["show {}", "verify {}", "run {} N=4", "run {}.pla N=4", "simulate {}", "litmus {}"])
def test_names_of_files(words: str, call: Call) -> None:
    status, out, err = call(*(word.replace("{}", ESCAPE) for word in words.split()))
    assert status != 0
    assert not set(ESCAPE[:1] + "\r\x07\x9b\u202e\x7f") & set(out + err)
    assert SHOWN in err


def test_lines_of_sources(call: Call, scratch: Path) -> None:
    (scratch / "bad.pla").write_text(f"parameter N >= 0 {ESCAPE}\n", encoding="utf-8")
    _, out, err = call("show", "bad.pla", "--json")
    assert "\x1b" not in out + err
    assert "\\x1b[2J" in err
    assert json.loads(out)["errors"][0]["code"].startswith("PL")


def test_what_programs_print(call: Call, scratch: Path) -> None:
    text = "_start:\n li a7, 64\n li a0, 1\n la a1, t\n li a2, 4\n ecall\n li a7, 93\n li a0, 0\n ecall\n"
    (scratch / "p.s").write_text(f"{text}t: .word 0x4a325b1b\n", encoding="utf-8")
    assert call("asm", "p.s", "--on", "riscv", "-o", "p.elf")[0] == 0
    _, out, err = call("simulate", "p.elf", "--on", "riscv")
    _, told, _ = call("simulate", "p.elf", "--on", "riscv", "--json")
    assert "\x1b" not in out + err + told
    assert json.loads(told)["standard_output"] == "\x1b[2J"
