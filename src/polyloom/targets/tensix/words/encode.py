# SPDX-License-Identifier: Apache-2.0
"""Encoder: instructions to words, and the rotated form in which a RISC-V core fetches them.

A core of a tile takes a word whose low two bits are not 3 for a Tensix instruction, rotated left by two: opcodes are
below 0xC0, so the low two bits of a rotated word are never 3 (ISA documentation, `.ttinsn`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.targets.tensix.options import Form
from polyloom.targets.tensix.words.isa import Instruction

_WORD: Final = 0xFFFFFFFF
PUSHED: Final = 0xC0000000
"""Words below this can be fetched; no opcode reaches it."""


def encode(row: Instruction, values: Mapping[str, int]) -> int:
    """Encoding of an instruction; fields without a value are 0. Errors: PL1202 for a value out of range."""
    word = row.opcode << 24
    for field in row.fields:
        value = values.get(field.name, 0)
        if not field.least <= value <= field.most:
            message = f"{field.name} of {row.name} is {value}, which does not fit into {field.width} bits"
            raise input_error("PL1202", message, help=f"write a number from {field.least} to {field.most}")
        # Negative values keep their two's complement within the field's mask.
        word |= value << field.shift & field.mask
    return word


def rotate_word(word: int) -> int:
    """Rotation left by two: the word as a core fetches it."""
    return (word << 2 | word >> 30) & _WORD


def unrotate_word(word: int) -> int:
    """Rotation right by two: the word that a core pushes for a fetched one."""
    return (word >> 2 | word << 30) & _WORD


def to_bytes(words: Sequence[int], form: Form) -> bytes:
    """Little-endian bytes of words. Errors: PL1205 for a word that a core would not take for a Tensix instruction."""
    if form == "riscv" and (high := next((w for w in words if w >= PUSHED), None)) is not None:
        message = f"the word {high:#010x} has no RISC-V form, in which its low two bits would be 3"
        raise input_error("PL1205", message, help="leave it out, or write --form tensix")
    chosen = map(rotate_word, words) if form == "riscv" else words
    return b"".join(word.to_bytes(4, "little") for word in chosen)


def to_words(data: bytes, form: Form, name: str) -> list[int]:
    """The inverse of `to_bytes`. Errors: PL1205."""
    if len(data) % 4:
        message = f"{name} has {len(data)} bytes, which are no whole words"
        raise input_error("PL1205", message, help="give words of four bytes each")
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
    if form == "tensix":
        return words
    # Low bits of 3 mark instructions of RISC-V; the text section of a core's program would be read as garbage
    # otherwise.
    if (at := next((k for k, word in enumerate(words) if word & 3 == 3), None)) is not None:
        message = f"{name}: the word {words[at]:#010x} at {4 * at:#x} is a RISC-V instruction"
        raise input_error("PL1205", message, help="write --form tensix for words that are not rotated")
    return [unrotate_word(word) for word in words]
