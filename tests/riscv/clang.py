# SPDX-License-Identifier: Apache-2.0
"""clang's integrated assembler, as the oracle of encodings: the extra `[c]` brings it."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from polyloom.riscv.names import Isa


def assemble(lines: Sequence[str], isa: Isa, folder: Path) -> bytes:
    """The section .text of `lines`; only those that begin with `c.` are compressed."""
    option = [f".option {'rvc' if line.startswith('c.') else 'norvc'}\n{line}" for line in lines]
    return assemble_text("\n".join([".option norelax", *option, ""]), isa, folder)


def assemble_text(text: str, isa: Isa, folder: Path) -> bytes:
    """The section .text of a whole text."""
    source, made = folder / "text.s", folder / "text.o"
    source.write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "clang",
        f"--target=riscv{isa.xlen}",
        f"-march={isa}",
        "-c",
        str(source),
        "-o",
        str(made),
    ]
    subprocess.run(command, check=True, cwd=folder)
    return _text(made.read_bytes())


def _text(data: bytes) -> bytes:
    """The contents of the section .text of an ELF file of either class."""
    wide = data[4] == 2
    table = struct.unpack_from("<Q" if wide else "<I", data, 40 if wide else 32)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58 if wide else 46)
    sections = [_section(data, table + n * size, wide) for n in range(count)]
    label = sections[names][1]
    (offset, length) = next((o, n) for name, o, n in sections if data[label + name :].startswith(b".text\0"))
    return data[offset : offset + length]


def _section(data: bytes, place: int, wide: bool) -> tuple[int, int, int]:
    name = struct.unpack_from("<I", data, place)[0]
    return name, *struct.unpack_from("<QQ" if wide else "<II", data, place + (24 if wide else 16))
