# SPDX-License-Identifier: Apache-2.0
"""Programs for tiles: Tensix words of text, RV32IM text at a core's reset address, and C that ziglang compiles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from polyloom.riscv.assemble import assemble as assemble_riscv
from polyloom.riscv.names import parse_isa
from polyloom.targets.tensix import python as tensix

RESET: Final = {"b": 0, "t0": 0x6000, "t1": 0xA000, "t2": 0xE000, "nc": 0x12000}
_CORE: Final = parse_isa("rv32im")


def words(text: str) -> list[int]:
    """Of Tensix assembly."""
    return [int(word) for word in tensix.assemble(text).words]


def run(text: str, thread: int = 0, hazards: str = "error") -> tuple[tensix.Tile, tensix.Outcome]:
    """A fresh tile after one thread's words."""
    tile = tensix.Tile(hazards=hazards)  # pyright: ignore[reportArgumentType]: callers write the literals
    tile.push(thread, words(text))
    return tile, tile.run(100_000)


def cycles(text: str) -> int:
    """That one thread's words take."""
    return run(text)[1].cycles


def place(tile: tensix.Tile, core: str, text: str) -> None:
    """Put RV32IM text at the core's reset address, and let the core go."""
    base = RESET[core]
    code = np.frombuffer(assemble_riscv(text, _CORE, base).data, np.uint8)
    tile.l1[base : base + len(code)] = code
    tile.release(core)


def alone(text: str, core: str = "b") -> tuple[tensix.Tile, int]:
    """A tile whose one core has executed the text, and the cycles."""
    tile = tensix.Tile()
    place(tile, core, text + "\nebreak\n")
    outcome = tile.run(100_000)
    assert outcome.stop == "idle"
    return tile, outcome.cycles


def link(folder: Path, core: str, text: str) -> Path:
    """A core's program of C text, by clang."""
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    source, made, include = folder / f"{core}.c", folder / f"{core}.elf", Path(tensix.include)
    source.write_text(text, encoding="utf-8")
    target = ["-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m", "-Os", "-ffreestanding", "-nostdlib"]
    linked = ["-fno-pic", "-I", str(include), "-T", str(include / f"{core}.ld"), str(include / "crt0.S"), str(source)]
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", *target, *linked, "-o", str(made)], check=True, capture_output=True
    )
    return made
