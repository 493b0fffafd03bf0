# SPDX-License-Identifier: Apache-2.0
"""`polyloom asm`: text in a target's notation becomes a program that `show`, `verify` and `simulate` take."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Call
from tests.conftest import Golden

SUM = """# ends with the exit code 8
twice: add a0, a0, a0
ret
_start: li a0, 4
call twice
li a7, 93
ecall
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sum.s").write_text(SUM, encoding="utf-8")


def test_a_program_starts_at_its_label(call: Call) -> None:
    assert call("asm", "sum.s", "--on", "riscv:rv32i", "-o", "sum.elf")[0] == 0
    assert call("verify", "sum.elf", "--on", "riscv:rv32i")[0] == 0
    shown = call("show", "sum.elf", "--on", "riscv:rv32i")[1]
    assert "twice:" in shown and "_start:" in shown
    assert '"exit_code": 8' in call("simulate", "sum.elf", "--on", "riscv:rv32i", "--json")[1]


def test_without_the_label_it_starts_at_the_first_instruction(call: Call) -> None:
    Path("first.s").write_text("li a0, 3\nli a7, 93\necall\n", encoding="utf-8")
    assert call("asm", "first.s", "--on", "riscv", "-o", "first.elf")[0] == 0
    assert '"exit_code": 3' in call("simulate", "first.elf", "--on", "riscv", "--json")[1]


@pytest.mark.parametrize(
    ("name", "text", "on"),
    [
        ("unknown", b"addd a0, a0, a0\n", "riscv"),
        ("empty", b"# nothing\n", "riscv"),
        ("bytes", b"\xff\xfe", "riscv"),
        ("target", b"ret\n", "tcpa"),
    ],
)
def test_messages(call: Call, golden: Golden, name: str, text: bytes, on: str) -> None:
    Path("bad.s").write_bytes(text)
    status, out, err = call("asm", "bad.s", "--on", on, "-o", "bad.elf")
    assert not Path("bad.elf").exists()
    golden(f"asm-{name}", f"{status}\n{out}{err}")


def test_the_text_is_not_overwritten(call: Call) -> None:
    assert call("asm", "sum.s", "--on", "riscv", "-o", "sum.s")[0] == 1
    assert Path("sum.s").read_text(encoding="utf-8") == SUM
