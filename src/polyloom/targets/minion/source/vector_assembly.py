# SPDX-License-Identifier: Apache-2.0
"""Encoding of the vendor's instructions in clang's assembly, as words that LLVM takes.

A Minion has no V extension. But its f registers have the size and number of V's registers at VLEN = 256, and C without
hardware floats does not touch them: so clang allocates vectors to v0 to v31 of `zve32x_zvl256b`, and vN is fN here.
What clang itself writes for them are moves of whole registers, each of which is one of the vendor's instructions that
ignore masks (RISC-V "V" specification, 7.9 and 16.6; ET Programmer's Reference Manual, chapter 4). What inline assembly
has (the vendor's mnemonics and names of control registers) is encoded by the instruction table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError, Span, input_error
from polyloom.frontend.c.positions import Files
from polyloom.riscv.isa import instruction_table
from polyloom.targets.minion.words.assemble import assemble_lines
from polyloom.targets.minion.words.isa import CSRS, extension_rows

_NUMBERS: Final = {name: f"{number:#x}" for number, name in CSRS.items()}
_STATEMENT: Final = re.compile(r"(\s*(?:[\w.$]+:\s*)*)([\w.]+)(?:\s+(.*?))?\s*$")
_VECTOR: Final = re.compile(r"\bv(\d+)\b")
_COMMENT: Final = re.compile(r"/\*.*?\*/")
_ATOMIC: Final = re.compile(r"((?:amo\w+\.[wd] \w+, \w+|s[bh][lg] \w+), )(\w+)$")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
# clang counts files of C in `.file`, and the preprocessor names those of assembly.
_FILE: Final = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_PLACE: Final = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_MARKER: Final = re.compile(r'#\s+(\d+)\s+"([^"]*)"')
_MOVES: Final = (
    (re.compile(r"vl(?:1r(?:e\d+)?|e\d+)\.v v(\d+), \((\w+)\)"), r"flq2 f\1, 0(\2)"),
    (re.compile(r"vs(?:1r|e\d+)\.v v(\d+), \((\w+)\)"), r"fsq2 f\1, 0(\2)"),
    (re.compile(r"vmv1r\.v v(\d+), v(\d+)"), r"fcmovm.ps f\1, f\2, f\2"),
    (re.compile(r"csrr (\w+), vlenb"), r"li \1, 32"),
    (re.compile(r"vsetvli (\w+), zero, e8, m1, .*"), r"li \1, 32"),
    # Moves of whole registers need some configuration of V, but do not depend on it.
    (re.compile(r"vset\w+ zero, .*"), ""),
)
_WHOLE: Final = re.compile(r"vsetivli zero, 8, e32, m1, .*|vsetvli \w+, zero, e\d+, m1, .*")
_COUNTED: Final = re.compile(r"v[ls]e\d+\.v .*")


def encode_vendor_instructions(text: str, *, floats: bool = False) -> str:
    """Assembly in which the vendor's instructions are words and its control registers numbers. Without `floats`, the F
    extension's instructions are words as well: only inline assembly has them. Errors, at the user's line: those of the
    encoder (PL0902 to PL0906), and PL1372 for vectors that are no registers of a Minion.
    """
    places = _Places()
    return "\n".join(_encode_line(line, places, floats) for line in text.split("\n"))


class _Places:
    """Line table of the text that was read last, in the files that the user knows (DWARF 5, section 6.2)."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._at: tuple[str, int, int] | None = None
        self._known = Files()
        self.is_partial = False
        """Whether the function has configured less than a register, so that counted accesses are not of all of it."""

    def read(self, line: str) -> None:
        if "@function" in line:
            self.is_partial = False
        if file := _FILE.match(line):
            number, folder, name = file.groups()
            self._files[number] = folder if name is None else name if name.startswith("/") else f"{folder}/{name}"
        elif place := _PLACE.match(line):
            self._at = self._files.get(place[1], ""), int(place[2]), max(1, int(place[3]))
        elif marker := _MARKER.match(line):
            self._at = marker[2], int(marker[1]) - 1, 1
        elif self._at and not self._files:
            self._at = self._at[0], self._at[1] + 1, 1

    def span(self) -> Span | None:
        return self._known.word_span(*self._at) if self._at and self._at[0] else None


def _encode_line(line: str, places: _Places, floats: bool) -> str:
    places.read(line)
    # Strings may hold whatever separates statements, and no instruction has one.
    if '"' in line or not line.strip() or line.lstrip().startswith(("#", ".")):
        return line
    body = _COMMENT.sub(" ", line).partition("#")[0].partition("//")[0]
    return ";".join(_encode_statement(each, places, floats) for each in body.split(";"))


def _encode_statement(statement: str, places: _Places, floats: bool) -> str:
    match = _STATEMENT.match(statement)
    # What is no statement is a directive of a form that holds no instruction.
    if match is None:
        return statement
    labels, mnemonic, operands = match[1], match[2].lower(), " ".join((match[3] or "").split())
    plain = f"{mnemonic} {operands}".strip()
    if mnemonic.startswith("v"):
        return labels + _encode_move(plain, places)
    if mnemonic.startswith("csr"):
        plain = _encode_move(plain, places)
        return labels + _NAME.sub(lambda name: _NUMBERS.get(name[0], name[0]), plain)
    # In the body of a macro, its parameters are not known; LLVM says so where it does not know the mnemonic.
    if mnemonic not in _vector_mnemonics(floats) or "\\" in operands:
        return statement
    # The vendor's assembler takes the address of an atomic without parentheses as well.
    return labels + _encode(_ATOMIC.sub(r"\1(\2)", _VECTOR.sub(r"f\1", plain)), places)


def _encode_move(text: str, places: _Places) -> str:
    # Configurations are kept in a function only: calls leave them undefined.
    places.is_partial |= text.startswith("vset") and not _WHOLE.fullmatch(text)
    for pattern, vendor in _MOVES:
        if (match := pattern.fullmatch(text)) and not (places.is_partial and _COUNTED.fullmatch(text)):
            made = match.expand(vendor)
            return made if not made or made.startswith("li ") else _encode(made, places)
    if text.startswith("v"):
        help = "vectors are et_f32x8 and et_i32x8 of <minion.h>, and what computes with them are its functions"
        message = f"the C compiler made `{text}`, which a Minion does not have"
        raise PolyloomError(Diagnostic("PL1372", message, span=places.span(), help=help))
    return text


def _encode(text: str, places: _Places) -> str:
    try:
        return f".4byte {_instruction_word(text):#010x}"
    except PolyloomError as error:
        # The message is about a line that clang wrote; the user's is where it comes from.
        first = error.diagnostics[0]
        raise input_error(first.code, f"`{text}`: {first.message}", span=places.span(), help=first.help) from None


@cache
def _instruction_word(text: str) -> int:
    return int.from_bytes(assemble_lines(text).data, "little")


@cache
def _vector_mnemonics(floats: bool) -> frozenset[str]:
    """What LLVM does not know, or does not take with these flags."""
    return frozenset((*(row.mnemonic for row in extension_rows()), *(() if floats else _float_mnemonics())))


def _float_mnemonics() -> Iterator[str]:
    yield from (row.mnemonic for row in instruction_table() if "f" in row.extensions and row.size == 4)
    yield from ("fmv.s", "fabs.s", "fneg.s", "fgt.s", "fge.s")
