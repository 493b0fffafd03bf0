# SPDX-License-Identifier: Apache-2.0
"""Emission, the end of the passes: a function without vectors, whose calls of `tensix.word` hand the thread its words
in order.

A word is a constant, or what scalar code makes of one and the scalars in its fields. The second operand is its number,
under which `Note` tells what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from polyloom.ir.ssa import Block, Constant, Function, Instruction, Operand, Place, Value, integer_constant
from polyloom.ir.ssa_externals import External
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.allocate.words import WHOLE, Line, Listing, Part, Word
from polyloom.targets.tensix.source.operations import PREFIX, called_operation
from polyloom.transform.ssa.function_editing import names

WORD: Final = External("tensix.word", (I32, I32), (), ("ordered",))


@dataclass(frozen=True, slots=True)
class Note:
    """Note of a word: its bits, zero where a run-time value goes, whether there is one, its place, and what it computes
    or why it is there.
    """

    bits: int
    is_computed: bool
    place: Place
    text: str


def emit(listing: Listing) -> tuple[Function, tuple[Note, ...]]:
    """Function without vectors, and the notes by number of the word."""
    emission = _Emission(names(listing.function))
    blocks = tuple(
        replace(block, instructions=tuple(emission.block(block, lines)))
        for block, lines in zip(listing.function.blocks, listing.lines, strict=True)
    )
    printing = tuple(e for e in listing.function.externals if e.name in _printing_externals(listing))
    function = replace(listing.function, blocks=blocks, externals=(*printing, WORD))
    return function, tuple(emission.notes)


def _printing_externals(listing: Listing) -> set[str]:
    """Names of operations that scalar code is left with."""
    lines = (line for lines in listing.lines for line in lines if isinstance(line, Instruction))
    return {
        line.called
        for line in lines
        if line.called and (called_operation(line) is not None or PREFIX not in line.called)
    }


@dataclass(slots=True)
class _Emission:
    """Mutable: the notes so far."""

    fresh: Callable[[str], str]
    notes: list[Note] = field(default_factory=list[Note])
    next: Callable[[], int] = field(default_factory=lambda: count().__next__)

    def block(self, block: Block, lines: tuple[Line, ...]) -> Iterator[Instruction]:
        for line in lines:
            if isinstance(line, Word):
                yield from self._word(line)
            else:
                yield line

    def _word(self, line: Word) -> Iterator[Instruction]:
        value: Operand = integer_constant(I32, line.bits)
        for part in line.parts:
            for instruction in self._merge_field(value, part, line.place):
                yield instruction
                value = instruction.results[0]
        # Words are numbered in the order of the text, which is how notes and the executable's marks find them.
        number = Constant(I32, self.next())
        self.notes.append(Note(line.bits, bool(line.parts), line.place, line.note))
        yield Instruction("call", (value, number), callee=f"@{WORD.name}", place=line.place)

    def _merge_field(self, word: Operand, part: Part, place: Place) -> Iterator[Instruction]:
        value = part.value
        # A value that is too wide must not reach other fields.
        if part.field is not WHOLE:
            masked = Value(self.fresh("field"), I32)
            yield Instruction("and", (value, Constant(I32, (1 << part.field.width) - 1)), (masked,), place=place)
            value = masked
            if part.field.shift:
                moved = Value(self.fresh("field"), I32)
                yield Instruction("shl", (value, Constant(I32, part.field.shift)), (moved,), place=place)
                value = moved
        yield Instruction("or", (value, word), (Value(self.fresh("word"), I32),), place=place)
