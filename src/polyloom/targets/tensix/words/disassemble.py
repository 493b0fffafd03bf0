# SPDX-License-Identifier: Apache-2.0
"""Disassembler: words to text that assembles to the same words.

Operands come in the assembler's order; other fields follow by name where they are not 0. A word that no instruction
has, or with bits outside of its fields, is `.word`.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyloom.targets.tensix.words.configuration import word_field_names
from polyloom.targets.tensix.words.decode import Decoded, decode
from polyloom.targets.tensix.words.isa import Field, Member


def disassemble(word: int, member: Member = "wormhole") -> str:
    """One line of assembly for a word."""
    found = decode(word, member)
    if found is None:
        return f".word {word:#010x}"
    # Text of the instruction alone would lose the stray bits when it is assembled again.
    if found.stray:
        return f".word {word:#010x}  ; {found.row.mnemonic}, and the bits {found.stray:#x} outside of its fields"
    return _instruction_text(found)


def macro_spelling(word: int, member: Member = "wormhole") -> str:
    """The word as a call of the vendor's `TTI_` macro."""
    found = decode(word, member)
    if found is None or found.stray:
        return disassemble(word, member)
    return f"TTI_{found.row.name}({', '.join(str(found.values[f.name]) for f in found.row.fields)})"


def _instruction_text(found: Decoded) -> str:
    row = found.row
    listed = [_operand(f, found.values[f.name]) for f in row.operands]
    others = [f for f in row.fields if f not in row.operands and found.values[f.name]]
    listed += [f"{f.name}={_operand(f, found.values[f.name])}" for f in others]
    return f"{row.mnemonic} {', '.join(listed)}".rstrip()


def _operand(field: Field, value: int) -> str:
    return f"L{value}" if field.kind == "L" else str(value)


def listing(words: Sequence[int], member: Member = "wormhole") -> list[str]:
    """Listing lines: offset in bytes, word, instruction; names of the configuration stand as comments."""
    return [f"{4 * at:6x}:  {word:08x}  {annotate_word(word, member)}" for at, word in enumerate(words)]


def annotate_word(word: int, member: Member = "wormhole") -> str:
    """Line of a word, with the name of the configuration field that it writes."""
    text, found = disassemble(word, member), decode(word, member)
    field = next((f for f in found.row.fields if f.kind in "TC"), None) if found and not found.stray else None
    if found is None or field is None:
        return text
    called = word_field_names(found.values[field.name], field.kind == "T", member)
    return f"{text}  ; {called[0]}{', ...' if len(called) > 1 else ''}" if called else text
