# SPDX-License-Identifier: Apache-2.0
"""Views of an executable for `show` and `verify`, ours or of other tools: its listing, symbols, and words that are no
instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from polyloom.diagnostics import Diagnostic
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines, symbols
from polyloom.riscv.disassemble import addresses
from polyloom.riscv.image import MAGIC, elf_image
from polyloom.targets.minion.words import isa
from polyloom.targets.minion.words.assemble import TARGET
from polyloom.targets.minion.words.listing import listing
from polyloom.targets.minion.words.locate import Locator
from polyloom.targets.minion.words.program import executable
from polyloom.targets.target import Given, Json

_ILLEGAL: Final = "  ."
"""In a line of a listing: what is no instruction is data."""


def is_minion_file(data: bytes) -> bool:
    """Whether the assembler or the compiler of this target wrote the file."""
    return (
        data.startswith(MAGIC) and notes.read_note(data, lambda made: made.get("target") == TARGET or None) is not None
    )


def as_json(data: bytes) -> Json:
    """JSON of an executable for `show --json`."""
    named: dict[str, Json] = {name: address for name, (address, _) in symbols.symbol_extents(data).items()}
    illegal: list[Json] = list(_illegal_addresses(data))
    return {"entry": elf_image(data, isa.ISA).entry, "symbols": named, "illegal": illegal, "listing": listing(data)}


def show_foreign(file: Given) -> tuple[str, Json]:
    """Listing and JSON of an executable of other tools. Errors: PL1303."""
    executable(file.data, file.name)
    return listing(file.data), as_json(file.data)


def verify(data: bytes) -> Sequence[Diagnostic]:
    """Verifier of code: PL1312 for every word that is no instruction."""
    locator = Locator.of(data)
    help = "data belong into a segment that is not executable; `polyloom show` prints the code"
    message = "what stands at {} is no instruction of a Minion"
    illegal = [Diagnostic("PL1312", message.format(locator.at(at)), help=help) for at in _illegal_addresses(data)]
    return [*source_lines.findings(data), *illegal]


def verify_foreign(file: Given) -> Sequence[Diagnostic]:
    """Verifier of an executable of other tools. Errors: PL1303."""
    executable(file.data, file.name)
    return verify(file.data)


def _illegal_addresses(data: bytes) -> Iterator[int]:
    """Addresses of words that are no instructions."""
    tables = symbols.read_tables(data)
    # Sections tell code from data where the file has them; else each executable segment is code.
    for start, code in tables.code or [(s.address, s.data) for s in elf_image(data, isa.ISA).segments if s.is_code]:
        lines = zip(addresses(code, start), isa.listing(code, start), strict=True)
        yield from (address for address, line in lines if _ILLEGAL in line)
