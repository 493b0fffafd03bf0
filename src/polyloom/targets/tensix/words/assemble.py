# SPDX-License-Identifier: Apache-2.0
"""Text to words: one instruction a line, as a mnemonic or in the macro's spelling.

    SFPMAD L1, L0, L13, L14, 0            ; operands in the order of the vendor's assembler
    SFPMAD L1, L0, L13, lreg_src_c=L14    ; fields by name, after those without one
    TTI_SFPMAD(L0, L13, L14, L1, 0);      // the macro's order, from the highest bit down
    .word 0x8400de10

Fields that are left out are 0. Errors are PL1200 to PL1203 at their place in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from polyloom.diagnostics import Diagnostic, PolyloomError, Source, Span, input_error, nearest
from polyloom.targets.tensix.words.configuration import constants
from polyloom.targets.tensix.words.encode import encode
from polyloom.targets.tensix.words.expressions import Reader
from polyloom.targets.tensix.words.isa import MEMBERS, Field, Instruction, Member, instructions_by_name, spelling_key

_COMMENT: Final = re.compile(r";|//|#")
_MACRO: Final = re.compile(r"\s*(?:TTI?_OP_|TTI?_)(?P<name>\w+)\s*\(")
_MNEMONIC: Final = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)(?=\s|$)")
_WORD: Final = re.compile(r"\s*\.(?:word|ttinsn)(?=\s|$)")
_NAMED: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")
_LARGEST: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Assembled:
    """Words, and where each stands in the text."""

    words: tuple[int, ...]
    spans: tuple[Span, ...]


def assemble(text: str, name: str = "<string>", member: Member = "wormhole") -> Assembled:
    """Assembler: every line of a text to a word. All lines that are wrong are reported together (PL1200 to PL1203)."""
    source = Source(name, text)
    words: list[int] = []
    spans: list[Span] = []
    wrong: list[Diagnostic] = []
    start = 0
    for line in text.split("\n"):
        # No operand contains these characters, so a comment can be cut off before the line is read.
        comment = _COMMENT.search(line)
        body = line[: comment.start()] if comment else line
        if body.strip():
            first = start + len(body) - len(body.lstrip())
            span = Span(source, first, start + len(body.rstrip()))
            try:
                words.append(_assemble_line(_Line(source, span, member)))
                spans.append(span)
            except PolyloomError as error:
                wrong += error.diagnostics
        start += len(line) + 1
    if wrong:
        raise PolyloomError(*wrong)
    return Assembled(tuple(words), tuple(spans))


@dataclass(frozen=True, slots=True)
class _Line:
    source: Source
    span: Span
    member: Member

    def match(self, pattern: re.Pattern[str], at: int) -> re.Match[str] | None:
        return pattern.match(self.source.text, at, self.span.end)

    def fail(self, code: str, message: str, help: str, start: int, end: int) -> NoReturn:
        raise input_error(code, message, span=Span(self.source, start, max(end, start + 1)), help=help)


def _assemble_line(line: _Line) -> int:
    """Dispatch by the shape of the line: `.word`, a macro's call, a mnemonic. Errors: PL1200."""
    if (found := line.match(_WORD, line.span.start)) is not None:
        return _raw_word(line, found.end())
    if (found := line.match(_MACRO, line.span.start)) is not None:
        row = _lookup_instruction(line, found)
        if not line.source.text[: line.span.end].endswith(")"):
            line.fail("PL1200", "the macro is not closed", "write `)` at the end", line.span.end - 1, line.span.end)
        # The vendor's macros take all fields from the highest bit down; its assembler takes them in an order of its
        # own.
        return _assemble_instruction(line, row, row.fields, found.end(), line.span.end - 1)
    if (found := line.match(_MNEMONIC, line.span.start)) is not None:
        row = _lookup_instruction(line, found)
        return _assemble_instruction(line, row, row.operands, found.end(), line.span.end)
    help = "write an instruction such as `SFPMAD L1, L0, L13, L14, 0`"
    return line.fail("PL1200", "this is no instruction", help, line.span.start, line.span.end)


def _raw_word(line: _Line, at: int) -> int:
    reader = Reader(line.source, at, line.span.end, constants(line.member))
    value = reader.value()
    if reader.peek() or not 0 <= value <= _LARGEST:
        help = "write a number such as 0x8400de10"
        line.fail("PL1202", "this is no word of 32 bits", help, *_trim_blanks(line.source.text, at, line.span.end))
    return value


def _lookup_instruction(line: _Line, found: re.Match[str]) -> Instruction:
    """Instruction of a name in any spelling. Errors: PL1201, with the member that has it or the nearest name."""
    known = instructions_by_name(line.member)
    row = known.get(spelling_key(found["name"]))
    if row is None:
        others = [member for member in MEMBERS if spelling_key(found["name"]) in instructions_by_name(member)]
        help = _suggest_mnemonic(found["name"].upper(), [row.mnemonic for row in known.values()])
        help = f"{others[0].capitalize()} has it: write --on tensix:{others[0]}" if others else help
        message = f"{line.member.capitalize()} has no instruction '{found['name']}'"
        line.fail("PL1201", message, help, found.start("name"), found.end("name"))
    return row


def _suggest_mnemonic(name: str, spellings: list[str]) -> str:
    # Only instructions of the vector unit begin with SFP; the assembler writes TT in front of all others.
    plain = name.replace("_", "")
    return nearest(plain if plain.startswith(("TT", "SFP")) else f"TT{plain}", spellings, "instruction")


def _assemble_instruction(line: _Line, row: Instruction, order: tuple[Field, ...], at: int, end: int) -> int:
    """Operands of a line, by position and then by name, as a word. Errors: PL1200 to PL1202."""
    values: dict[str, int] = {}
    places: dict[str, tuple[int, int]] = {}
    is_named = False
    for number, (start, stop) in enumerate(_split_operands(line.source.text, at, end)):
        name = line.match(_NAMED, start)
        is_named = is_named or name is not None
        field = (
            _named_field(line, row, name)
            if name
            else _positional_field(line, row, order, number, is_named, start, stop)
        )
        if field.name in values:
            line.fail("PL1200", f"{field.name} is given twice", "leave one of them out", start, stop)
        reader = Reader(line.source, name.end() if name else start, stop, constants(line.member))
        values[field.name] = reader.value()
        if reader.peek():
            place = _trim_blanks(line.source.text, reader.at, stop)
            line.fail("PL1200", f"`{reader.peek()}` does not belong here", "separate operands by `,`", *place)
        places[field.name] = (start, stop)
    _check_ranges(line, row, values, places)
    return encode(row, values)


def _split_operands(text: str, at: int, end: int) -> list[tuple[int, int]]:
    """Spans of the operands: between commas outside of parentheses."""
    if not text[at:end].strip():
        return []
    cuts, depth = [at], 0
    for place in range(at, end):
        depth += (text[place] == "(") - (text[place] == ")")
        if text[place] == "," and depth == 0:
            cuts.append(place + 1)
    return [_trim_blanks(text, a, b) for a, b in zip(cuts, [*(c - 1 for c in cuts[1:]), end], strict=True)]


def _trim_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Span without the blanks around it; of blanks alone an empty span at their end."""
    inner = text[start:end]
    first = start + len(inner) - len(inner.lstrip())
    return first, max(first, end - len(inner) + len(inner.rstrip()))


def _named_field(line: _Line, row: Instruction, name: re.Match[str]) -> Field:
    field = row.field(name[1])
    if field is None:
        help = nearest(name[1], [n for f in row.fields for n in dict.fromkeys((f.alias, f.name))], "field")
        line.fail("PL1201", f"{row.mnemonic} has no field '{name[1]}'", help, name.start(1), name.end(1))
    return field


def _positional_field(
    line: _Line, row: Instruction, order: tuple[Field, ...], number: int, is_named: bool, start: int, stop: int
) -> Field:
    """Field of the operand at a position. Errors: PL1200 for one too many, or for one without a name behind one with a
    name.
    """
    if is_named:
        line.fail("PL1200", "an operand without a name follows one with a name", "name it too", start, stop)
    if number >= len(order):
        takes = ", ".join(f.alias for f in order) or "none"
        message = f"{row.mnemonic} takes {len(order)} operands"
        line.fail("PL1200", message, f"its operands are: {takes}", start, stop)
    return order[number]


def _check_ranges(line: _Line, row: Instruction, values: dict[str, int], places: dict[str, tuple[int, int]]) -> None:
    """Range check of all fields. Errors: PL1202."""
    for field in row.fields:
        value = values.get(field.name, 0)
        if not field.least <= value <= field.most:
            message = f"{field.name} is {value}, which does not fit into {field.width} bits"
            help = f"write a number from {field.least} to {field.most}"
            line.fail("PL1202", message, help, *places[field.name])
