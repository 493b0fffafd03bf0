# SPDX-License-Identifier: Apache-2.0
"""What `polyloom show` prints of a program: its code disassembled with the vendor's mnemonics, symbols above it.

A word that is no instruction is shown as data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polyloom.riscv import symbols
from polyloom.riscv.disassemble import addresses
from polyloom.riscv.image import elf
from polyloom.targets.minion import isa


def listing(data: bytes) -> str:
    """Of an executable. Errors: PL0910."""
    image = elf(data, isa.ISA)
    tables = symbols.read(data)
    named = symbols.objects(data)
    lines = [f"# entry {image.entry:#x}"]
    lines += [f"# {s.size} bytes of data at {s.address:#x}" for s in image.segments if not s.is_code]
    lines += [f"# {name}: {size} bytes at {at:#x}" for name, (at, size) in named.items() if at not in tables.names]
    for start, code in tables.code or [(s.address, s.data) for s in image.segments if s.is_code]:
        lines += _listed(code, start, tables.names)
    return "\n".join(lines)


def _listed(code: bytes, start: int, names: Mapping[int, str]) -> Iterator[str]:
    for address, line in zip(addresses(code, start), isa.listing(code, start), strict=True):
        if address in names:
            yield f"{names[address]}:"
        yield line
