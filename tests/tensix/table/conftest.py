# SPDX-License-Identifier: Apache-2.0
"""The command line, called in this process, and programs of cores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from polyloom.cli import main
from polyloom.targets.tensix import python as tensix

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Exit status, standard output and standard error of `polyloom WORDS`."""

    def run(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def link(core: str, text: str) -> None:
    """`fw.elf`: C for a core, with the headers, the start and the linker script of the package."""
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    Path("fw.c").write_text(text, encoding="utf-8")
    include = Path(tensix.include)
    target = ["-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m", "-Os", "-ffreestanding", "-nostdlib"]
    linked = ["-fno-pic", "-I", str(include), "-T", str(include / f"{core}.ld"), str(include / "crt0.S"), "fw.c"]
    command = [sys.executable, "-m", "ziglang", "cc", *target, *linked, "-o", "fw.elf"]
    subprocess.run(command, check=True, capture_output=True)
