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


def link(core: str, text: str, machine: str = "riscv32", features: str = "generic_rv32+m") -> None:
    """`fw.elf`: C for a core, with the headers, and the start and the linker script of the package where the machine is
    a core's."""
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    Path("fw.c").write_text(text, encoding="utf-8")
    include = Path(tensix.include)
    target = ["-target", f"{machine}-freestanding-none", f"-mcpu={features}", "-Os", "-ffreestanding", "-nostdlib"]
    own = ["-T", str(include / f"{core}.ld"), str(include / "crt0.S")] if machine == "riscv32" else ["-Wl,-e,main"]
    linked = ["-fno-pic", "-I", str(include), *own, "fw.c", "-o", "fw.elf"]
    command = [sys.executable, "-m", "ziglang", "cc", *target, *linked]
    subprocess.run(command, check=True, capture_output=True)
