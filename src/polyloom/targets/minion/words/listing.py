# SPDX-License-Identifier: Apache-2.0
"""Disassembly listing that `polyloom show` prints of a program, with the vendor's mnemonics and symbols above the code.

Behind a write of a tensor CSR stands the operation, where its word is known by constant propagation; an address that
depends on the run is `?`. The last comment of a line says where in the source it comes from, or why it is there. A word
that is no instruction is shown as data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.riscv import source_lines, symbols
from polyloom.riscv.disassemble import addresses
from polyloom.riscv.image import elf_image
from polyloom.riscv.source_lines import Lines
from polyloom.targets.minion.words import isa
from polyloom.targets.minion.words.constants import State, states_at_writes
from polyloom.targets.minion.words.tensor_notation import text
from polyloom.targets.minion.words.tensor_words import Word

_COLUMN: Final = 52
_ADDRESS: Final = re.compile(r"\b(from|to)=\S+")
_WITH_ADDRESS: Final = (0x83F, 0x85F, 0x87F)
"""Control registers whose words have an address."""


def listing(data: bytes) -> str:
    """Listing of an executable. Errors: PL0910."""
    image = elf_image(data, isa.ISA)
    tables = symbols.read_tables(data)
    named = symbols.symbol_extents(data)
    lines = [f"# entry {image.entry:#x}"]
    lines += [f"# {s.size} bytes of data at {s.address:#x}" for s in image.segments if not s.is_code]
    lines += [f"# {name}: {size} bytes at {at:#x}" for name, (at, size) in named.items() if at not in tables.names]
    places = source_lines.decode_lines(data)
    # Without a symbol table that delimits code, executable segments are taken for code from end to end.
    for start, code in tables.code or [(s.address, s.data) for s in image.segments if s.is_code]:
        lines += _code_lines(code, start, image.entry, tables.names, places)
    return "\n".join(lines)


def _code_lines(code: bytes, start: int, entry: int, names: Mapping[int, str], places: Lines) -> Iterator[str]:
    """Lines of a part of the code, with labels above and tensor operations and places behind."""
    known = states_at_writes(code, start, (entry,))
    for address, line in zip(addresses(code, start), isa.listing(code, start), strict=True):
        if address in names:
            yield f"{names[address]}:"
        word = int.from_bytes(code[address - start : address - start + 4], "little")
        told = _tensor_comment(word, known.get(address))
        yield places.annotate(address, f"{line:<{_COLUMN}}  # {told}" if told else line)


def _tensor_comment(word: int, state: State | None) -> str:
    """Tensor operation that a write of a control register issues, as far as its words are known."""
    instruction = isa.decode(word)
    if instruction is None or instruction.row.mnemonic not in ("csrrw", "csrrwi"):
        return ""
    roles = instruction.roles
    if instruction.row.mnemonic == "csrrwi":
        return text(Word(roles["imm"], roles["rs1"])) or ""
    value = state[roles["rs1"]] if state is not None else None
    if value is None or state is None:
        return ""
    # x31 is the implicit second operand, sampled when the CSR is written (manual, chapter 9).
    second = state[31]
    x31 = min(second.numbers) if second is not None and not second.moved and len(second.numbers) == 1 else None
    written = (text(Word(roles["imm"], number, x31)) for number in sorted(value.numbers))
    shown = dict.fromkeys(_ADDRESS.sub(r"\1=?", each) if value.moved else each for each in written if each)
    # The CSR's word has no address, so that one was added is a guess of the analysis that did not come true.
    return "" if value.moved and roles["imm"] not in _WITH_ADDRESS else _merge_variants(tuple(shown))


def _merge_variants(variants: tuple[str, ...]) -> str:
    """Merged line for words that differ in a few operands: `A=scp[0..15]|scp[16..31]`, `[mul]` where only some have
    it.
    """
    if len(variants) < 2:
        return "".join(variants)
    rows = [each.split() for each in variants]
    words = dict.fromkeys(word for row in rows for word in row if word.isalpha())
    some = [word for word in words if not all(word in row for row in rows)]
    rows = [[word for word in row if word not in some] for row in rows]
    # Operands do not correspond column by column: variants stand one after the other.
    if len({len(row) for row in rows}) > 1:
        return " or ".join(variants)
    merged = (list(dict.fromkeys(column)) for column in zip(*rows, strict=True))
    parts = ["|".join([first, *(word.partition("=")[2] or word for word in rest)]) for first, *rest in merged]
    return " ".join([*parts, *(f"[{word}]" for word in some)])
