# SPDX-License-Identifier: Apache-2.0
"""Odd names of files: too long, with zero bytes, line ends, escapes or bytes of no encoding. Wherever a command takes a
file, they end in a message."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Call

LONG = "n" * 300
NAMES = {
    "long": LONG,
    "long-part": f"{LONG}/x",
    "deep": "d/" * 3000 + "x",
    "zero": "a\0b",
    "no-utf-8": "a\udcff",
    "address": f"{LONG}@0x100",
    "member": f"{LONG}:f",
    "folder": "folder",
    "below-a-file": "bits.pla/x",
    "parent": "..",
    "root": "/dev",
}
SUFFIXES = ("", ".plsc", ".pla", ".c", ".py", ".npy", ".h", ".ssa", ".json", ".html", ".toml", ".elf")
COMMANDS = (
    "run {} N=4",
    "run bits.pla N=4 --report {}",
    "run bits.pla N=4 --trace {}",
    "run bits.pla N=4 --in in={}",
    "run bits.pla N=4 --out bits={}",
    "run bits.pla N=4 --on tcpa:{}",
    "run bits.pla N=4 --mapping {}",
    "run {} --function f --on tensix",
    "run {} n=3 --on riscv",
    "compile bits.pla -o {}",
    "compile {} -o made.plsc",
    "compile {} --function f --on tensix -o made.elf",
    "asm {} --on riscv -o made.elf",
    "asm words.npy --on tensix -o {}",
    "instantiate {} N=4 -o made.plcc",
    "instantiate bits.plsc N=4 --pes 1x3 -o {}",
    "simulate {}",
    "simulate bits.plcc --in in={}",
    "simulate bits.plcc --in in=in.npy --source {} --report page.html",
    "simulate {} --on minion:1",
    "simulate {} --on tensix",
    "show {}",
    "verify {}",
    "verify bits.plcc --against {}",
    "schedule {}",
    "dominators {}",
    "litmus {}",
    "litmus {} --against {}",
    "explore bits.pla --sweep N=4 --resume {}",
    "explore bits.pla --sweep N=4 --out {}",
    "explore {} --sweep N=4",
    "sweep {} --on tensix --function f",
    "compare {} N=4 --on tcpa,riscv",
    "compare bits.pla N=4 --on tcpa:1x2 --report {}",
    "machines {}",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_odd_name_ends_in_a_message(command: str, call: Call) -> None:
    for name in NAMES.values():
        for suffix in SUFFIXES if "{}" in command.split()[1] else SUFFIXES[:2]:
            status, _, err = call(*(word.replace("{}", name + suffix) for word in command.split()))
            assert status in (0, 1, 2, 3), (command, name, suffix, err)
            assert status == 0 or err.startswith("error[PL"), (command, name, suffix, err)


def test_a_name_that_is_too_long(call: Call, scratch: Path) -> None:
    del scratch
    status, _, err = call("instantiate", "bits.plsc", "N=16", "--pes", "1x3", "-o", LONG)
    assert (status, err.splitlines()[0]) == (1, f"error[PL0808]: cannot write '{LONG}': File name too long")


@pytest.mark.parametrize("name", ["a\\000b", "n" * 300, "\\377", "\\033[2J"])
def test_a_line_directive_with_an_odd_name(name: str, call: Call, scratch: Path) -> None:
    text = f'#line 1 "{name}"\nint f(int n) {{ return n + x; }}\nint g(int n) {{ return n; }}\n'
    (scratch / "k.c").write_text(text, encoding="utf-8")
    (scratch / "g.c").write_text(text.replace(" + x", " / 0"), encoding="utf-8")
    for words in ("show k.c", "run g.c:f n=3 --on riscv", "run g.c:g n=3 --on belt:silver", "show g.c:f --ssa 1"):
        status, _, err = call(*words.split())
        assert status in (0, 1, 2), err
        assert "\x1b" not in err
