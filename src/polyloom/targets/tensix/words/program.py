# SPDX-License-Identifier: Apache-2.0
"""Program files of `show` and `verify`: text (.tts), raw words, or an ELF executable of a core, in which instructions
of RISC-V and Tensix are mixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError, Span, input_error
from polyloom.riscv import source_lines, symbols
from polyloom.riscv.disassemble import instruction_text
from polyloom.riscv.encode import decode as decode_riscv
from polyloom.riscv.image import MAGIC, Image, elf_image
from polyloom.riscv.names import parse_isa
from polyloom.riscv.source_lines import Lines
from polyloom.targets.target import Given
from polyloom.targets.tensix.words.assemble import assemble
from polyloom.targets.tensix.words.disassemble import annotate_word
from polyloom.targets.tensix.words.encode import to_words, unrotate_word
from polyloom.targets.tensix.words.isa import Member

CORE: Final = parse_isa("rv32im")
TEXT: Final = ".tts"
_RISCV: Final = 3
"""The low two bits of a RISC-V instruction."""


@dataclass(frozen=True, slots=True)
class Item:
    """A word of a program at its address, as the coprocessor has it; `span` in text. Of a RISC-V instruction, `word` is
    its own. `mop` is the configuration of the MOP expander here, as far as it is known (mop.py); a word that a MOP
    expands to stands where the MOP does.
    """

    address: int
    word: int
    is_tensix: bool = True
    span: Span | None = None
    mop: tuple[int | None, ...] | None = None
    is_expanded: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """Words of a file. `labels` and `lines`, the source places of words, are those of an ELF file."""

    items: tuple[Item, ...]
    labels: dict[int, str]
    is_elf: bool
    lines: Lines = field(default_factory=Lines)


def decode_text(data: bytes, name: str) -> str:
    """UTF-8 text of a file. Errors: PL0104."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"cannot read {name}: byte {error.start}, {data[error.start]:#04x}, is not UTF-8 text"
        raise input_error("PL0104", message, help="give assembly text; files of words have another ending") from None


def read(given: Given) -> Program:
    """Reader by the first bytes and the ending of the name. Errors: PL1200 to PL1206."""
    if given.data.startswith(MAGIC):
        return _read_elf(given.data, given.name)
    if given.name.endswith(TEXT):
        made = assemble(decode_text(given.data, given.name), given.name, given.place.member)
        pairs = zip(made.words, made.spans, strict=True)
        return Program(tuple(Item(4 * k, word, span=span) for k, (word, span) in enumerate(pairs)), {}, is_elf=False)
    # Raw words have no addresses of their own: the listing counts from 0.
    words = to_words(given.data, given.options.form, given.name)
    return Program(tuple(Item(4 * k, word) for k, word in enumerate(words)), {}, is_elf=False)


def executable(data: bytes, name: str) -> Image:
    """ELF image of a core's program. Errors: PL1206."""
    try:
        return elf_image(data, CORE)
    except PolyloomError as error:
        first = error.diagnostics[0]
        message = f"{name} is no program of a core: {first.message}"
        # The common reader speaks of RISC-V in general; a user of a tile needs to know which option of the compiler is
        # missing.
        raise input_error("PL1206", message, help=_compile_hint(first)) from None


def _read_elf(data: bytes, name: str) -> Program:
    image = executable(data, name)
    tables = symbols.read_tables(data)
    # Without mapping symbols every executable segment is taken as code.
    code = tables.code or [(s.address, s.data) for s in image.segments if s.is_code]
    items = tuple(item for start, words in code for item in _split_words(start, words))
    return Program(items, dict(tables.names), is_elf=True, lines=source_lines.decode_lines(data))


def _compile_hint(error: Diagnostic) -> str:
    if "no ELF file" in error.message:
        return "give a static executable; --thread pushes words and text"
    if "extension" in error.message or "bits" in error.message:
        return "compile it with -march=rv32im -mabi=ilp32"
    return error.help or "compile it with -march=rv32im -mabi=ilp32, and link it statically"


def _split_words(start: int, code: bytes) -> Iterator[Item]:
    """Words of a code segment; the low two bits tell RISC-V (3) from rotated Tensix words."""
    # A tail of less than a word is no instruction; linkers pad sections so.
    for at in range(0, len(code) - len(code) % 4, 4):
        word = int.from_bytes(code[at : at + 4], "little")
        is_tensix = word & _RISCV != _RISCV
        yield Item(start + at, unrotate_word(word) if is_tensix else word, is_tensix)


def listing(program: Program, member: Member) -> str:
    """Listing: a line per word, of an ELF file with its labels and source lines."""
    return "\n".join(_listing_lines(program, member)) + "\n"


def _listing_lines(program: Program, member: Member) -> Iterator[str]:
    for item in program.items:
        if item.address in program.labels:
            yield f"{program.labels[item.address]}:"
        yield program.lines.annotate(item.address, item_text(item, member))


def item_text(item: Item, member: Member) -> str:
    """Line of a word: address, word, and what it is."""
    shown = annotate_word(item.word, member) if item.is_tensix else _riscv_text(item.word)
    return f"{item.address:8x}: {item.word:08x}  {shown}"


def _riscv_text(word: int) -> str:
    found = decode_riscv(word, CORE)
    return instruction_text(found) if found is not None else f".word {word:#010x}"
