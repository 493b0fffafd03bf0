# SPDX-License-Identifier: Apache-2.0
"""Encoding of a kernel's instructions after allocation, with what is known of them at run time alone.

A field whose value is computed takes the low bits of a scalar. The kernel's own raw words stand between as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import NOWHERE, Constant, Function, Instruction, Operand, Place
from polyloom.ir.ssa_text import print_instruction
from polyloom.targets.tensix.source.allocate.code import RAW, Code, Item, Op
from polyloom.targets.tensix.source.operations import PREFIX
from polyloom.targets.tensix.words.decode import Decoded, decode
from polyloom.targets.tensix.words.disassemble import disassemble
from polyloom.targets.tensix.words.isa import Field, Member, instructions_by_name, spelling_key

WHOLE: Final = Field("word", 0, 32)


@dataclass(frozen=True, slots=True)
class Part:
    """A run-time field: it takes the low bits of a scalar."""

    value: Operand
    field: Field


@dataclass(frozen=True, slots=True)
class Word:
    """A word. `bits` has zeros where `parts` go; `is_raw` says that the source has the word."""

    bits: int
    parts: tuple[Part, ...] = ()
    place: Place = NOWHERE
    note: str = ""
    is_raw: bool = False

    @property
    def is_known(self) -> bool:
        """Whether its instruction is known: of a raw word that is computed nothing is."""
        return not any(part.field is WHOLE for part in self.parts)


Line = Word | Instruction


@dataclass(frozen=True, slots=True)
class Listing:
    """Words of a kernel. `function` has blocks, parameters and terminators, `lines` by block words and scalar
    instructions.
    """

    function: Function
    lines: tuple[tuple[Line, ...], ...]
    member: Member

    def with_lines(self, lines: Iterator[tuple[Line, ...]]) -> Listing:
        return replace(self, lines=tuple(lines))


def encode(code: Code, member: Member) -> Listing:
    return Listing(code.function, tuple(tuple(_encode_item(i, member) for i in items) for items in code.items), member)


def make_word(name: str, member: Member, note: str, **fields: int) -> Word:
    """Word of the compiler's own, by names of fields."""
    row = instructions_by_name(member)[spelling_key(name)]
    bits = row.opcode << 24
    for field in row.fields:
        # The compiler's own words are known to fit; user's text goes through the assembler, which checks.
        bits |= fields.get(field.name, 0) << field.shift & field.mask
    return Word(bits, note=note)


def decode_word(line: Word, member: Member) -> Decoded | None:
    """Instruction of a word; None where it is not known."""
    return decode(line.bits, member) if line.is_known else None


def _encode_item(item: Item, member: Member) -> Line:
    if isinstance(item, Op) and item.shape is RAW:
        (bits,) = item.immediates
        assert isinstance(bits, Constant)
        return Word(bits.value & 0xFFFFFFFF, place=item.place, note=item.note, is_raw=True)
    if isinstance(item, Op):
        return _encode_op(item, member)
    if item.called != f"{PREFIX}word":
        return item
    return Word(0, (Part(item.operands[0], WHOLE),), item.place, "raw", True)


def _encode_op(op: Op, member: Member) -> Word:
    row = op.shape.row(member)
    bits = row.opcode << 24
    for slot, register in (
        *zip(op.shape.operands, op.operands, strict=True),
        *zip(op.shape.results, op.results, strict=True),
    ):
        if not slot.isdecimal():
            bits |= register << op.shape.place(slot, member)
    # An instruction with a fixed result still names it in its VD field, but for SFPTRANSP.
    if op.shape.results and op.shape.results[0].isdecimal() and op.shape.name != "SFPTRANSP":
        bits |= op.results[0] << op.shape.place("d", member)
    parts: list[Part] = []
    for name, value in zip(op.shape.immediates, op.immediates, strict=True):
        field = row.field(name)
        assert field is not None, f"{row.name} has no {name}"
        if isinstance(value, Constant):
            bits |= value.value << field.shift & field.mask
        else:
            parts.append(Part(value, field))
    return Word(bits, tuple(parts), op.place, op.note)


def print_listing(listing: Listing) -> str:
    """Text for `--print-after`: a line per word or scalar instruction."""
    lines: list[str] = []
    for block, found in zip(listing.function.blocks, listing.lines, strict=True):
        lines += [f"{block.name}:", *(f"    {format_line(line, listing.member)}" for line in found)]
    return "\n".join(lines) + "\n"


def format_line(line: Line, member: Member) -> str:
    if isinstance(line, Instruction):
        return print_instruction(line)
    text = disassemble(line.bits, member) if line.is_known else "a word computed at run time"
    return f"{line.bits:08x}  {text}{'  ; ' + line.note if line.note else ''}"
