# SPDX-License-Identifier: Apache-2.0
"""Instruction table, from which encoder, decoder, assembler, disassembler and the native interpreter follow (RISC-V
unprivileged manual, chapter "RV32/64G Instruction Set Listings").

A row is a mnemonic, its operands, and the bits that are fixed. The rows are data (instructions.txt over fields.txt; a
vendor's extension has files of its own). An operand has a role (rd, rs1, rs2, rs3, rm, imm), which is all that the
meaning of an instruction depends on, and a field, which is where its bits are. A compressed instruction means the one
that it stands for, with operands by role.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Final, Literal, cast, get_args

from polyloom.riscv.names import VENDORS, Isa

Role = Literal["rd", "rs1", "rs2", "rs3", "rm", "imm"]
Kind = Literal["x", "f", "m", "number", "bits", "offset", "upper", "csr", "fence", "rm", "order"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

_TEMPORARY, _SAVED, _ARGUMENT = ([f"{letter}{n}" for n in range(12)] for letter in "tsa")
# psABI, "Register Convention": x8 is s0 and fp, x10 is a0, x18 to x27 are s2 to s11.
X_NAMES: Final = (
    "zero",
    "ra",
    "sp",
    "gp",
    "tp",
    *_TEMPORARY[:3],
    *_SAVED[:2],
    *_ARGUMENT[:8],
    *_SAVED[2:],
    *_TEMPORARY[3:7],
)
F_NAMES: Final = tuple(
    f"f{name}" for name in (*_TEMPORARY[:8], *_SAVED[:2], *_ARGUMENT[:8], *_SAVED[2:], *_TEMPORARY[8:])
)
M_NAMES: Final = tuple(f"m{n}" for n in range(8))
"""The mask registers of xaifet."""
OPERAND: Final = re.compile(r"[a-z][\w']*(?:!\d)?")
"""An operand's name in the column of operands; what else stands there is written as it is."""
_WORD: Final = re.compile(r"[a-z][\w']*(?:!\d)?|-?\d+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Bit slice: `width` bits of a value from bit `value` on, which stand in the word from bit `word` on. Immediates
    are scattered over several (RISC-V unprivileged manual, "Immediate Encoding Variants").
    """

    word: int
    value: int
    width: int

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.word


@dataclass(frozen=True, slots=True)
class Field:
    """Operand field: where an operand is in the word, and which values it can have."""

    name: str
    role: Role
    kind: Kind
    pieces: tuple[Piece, ...]
    signed: bool
    base: int
    forbidden: tuple[int, ...]

    @property
    def mask(self) -> int:
        """The bits of the word that the operand occupies."""
        return sum(piece.mask for piece in self.pieces)

    @property
    def width(self) -> int:
        return max(piece.value + piece.width for piece in self.pieces)

    @property
    def step(self) -> int:
        """Values are multiples of this power of two."""
        return 1 << min(piece.value for piece in self.pieces)

    @property
    def range(self) -> range:
        """The values that have an encoding, `forbidden` ones included."""
        low = -(1 << self.width - 1) if self.signed else self.base
        return range(low, low + (1 << self.width), self.step)

    def insert(self, value: int) -> int:
        """Encoding of an operand: the bits of the word for `value`."""
        bits = value - self.base
        return sum((bits >> p.value & (1 << p.width) - 1) << p.word for p in self.pieces)

    def extract(self, word: int) -> int:
        """Decoding of an operand: the value in `word`."""
        bits = sum((word >> p.word & (1 << p.width) - 1) << p.value for p in self.pieces)
        return self.base + bits - (1 << self.width if self.signed and bits >> self.width - 1 else 0)


@dataclass(frozen=True, slots=True)
class Row:
    """Instruction of the table: mnemonic, fixed bits, and fields. `xlen` is 0 where both have it; `expansion` is a base
    mnemonic and, for each of its operands, a role or a number.
    """

    mnemonic: str
    operands: str
    match: int
    xlen: int
    extensions: frozenset[str]
    fields: tuple[Field, ...]
    expansion: tuple[str, tuple[Role | int, ...]] | None

    @property
    def size(self) -> int:
        """Length in bytes: the lowest two bits of an instruction of four bytes are ones (RISC-V unprivileged manual,
        "Base Instruction-Length Encoding").
        """
        return 4 if self.match & 3 == 3 else 2

    @property
    def mask(self) -> int:
        """The bits that are fixed."""
        return ((1 << 8 * self.size) - 1) & ~sum(field.mask for field in self.fields)

    def is_in_isa(self, isa: Isa) -> bool:
        return self.xlen in (0, isa.xlen) and self.extensions <= isa.extensions


@dataclass(frozen=True)
class Instruction:
    """Decoded instruction: a row and a value for each field: a register number, or the immediate itself (an offset,
    lui's operand).
    """

    row: Row
    values: tuple[int, ...]

    @cached_property
    def roles(self) -> dict[Role, int]:
        return {field.role: value for field, value in zip(self.row.fields, self.values, strict=True)}


def register_number(name: str, names: tuple[str, ...]) -> int | None:
    """Register number of `a0`, `x10` or `fp` among the X, the F or the M names; None for no register."""
    if names is M_NAMES:
        return names.index(name) if name in names else None
    letter = "x" if names is X_NAMES else "f"
    if (found := re.fullmatch(rf"{letter}(\d|[12]\d|3[01])", name)) is not None:
        return int(found[1])
    # fp is the second name of s0 (psABI, "Register Convention").
    if name == "fp" and names is X_NAMES:
        return 8
    return names.index(name) if name in names else None


def fields(vendor: str = "") -> dict[str, Field]:
    """Operand fields by name; a vendor's extension adds its own."""
    return _fields(vendor)


@cache
def _fields(vendor: str) -> dict[str, Field]:
    own = [*data_lines("fields.txt"), *(data_lines(f"{vendor}_fields.txt") if vendor else ())]
    return {field.name: field for field in map(_parse_field, own)}


def instruction_table(vendor: str = "") -> tuple[Row, ...]:
    """Rows of all standard instructions, or of a vendor's extension, in the order of the data; always the same
    objects."""
    return _table(vendor)


@cache
def _table(vendor: str) -> tuple[Row, ...]:
    return tuple(_parse_row(words, fields(vendor)) for words in data_lines(f"{vendor or 'instructions'}.txt"))


@cache
def rows_of_mnemonics() -> dict[str, tuple[Row, ...]]:
    """Rows of each mnemonic, the standard ones first: two where RV32 and RV64 encode it differently."""
    made: dict[str, tuple[Row, ...]] = {}
    for row in (row for vendor in ("", *VENDORS) for row in instruction_table(vendor)):
        made[row.mnemonic] = (*made.get(row.mnemonic, ()), row)
    return made


def find_row(mnemonic: str, isa: Isa) -> Row | None:
    """The row of `mnemonic` in `isa`."""
    return next((row for row in rows_of_mnemonics().get(mnemonic, ()) if row.is_in_isa(isa)), None)


def base_mnemonics(vendor: str = "") -> tuple[str, ...]:
    """Mnemonics that have semantics of their own, in the order of the table: those which stand for no other."""
    return tuple(dict.fromkeys(row.mnemonic for row in instruction_table(vendor) if row.expansion is None))


def data_lines(name: str) -> Iterator[list[str]]:
    """The words of each line of a data file, without comments."""
    text = files("polyloom.riscv").joinpath(name).read_text(encoding="utf-8")
    return (line.split() for line in text.splitlines() if line and not line.startswith("#"))


def _parse_field(words: list[str]) -> Field:
    name, role, kind, *rest = words
    pieces = tuple(_parse_piece(word) for word in rest if word[0].isdigit())
    base = next((int(word) for word in rest if word.startswith("+")), 0)
    forbidden = tuple(int(word[1:]) for word in rest if word.startswith("!"))
    return Field(name, cast(Role, role), cast(Kind, kind), pieces, "signed" in rest, base, forbidden)


def _parse_piece(text: str) -> Piece:
    where, _, what = text.partition("=")
    high, low = _bits(where)
    return Piece(low, _bits(what)[1] if what else 0, high - low + 1)


def _bits(text: str) -> tuple[int, int]:
    high, _, low = text.partition(":")
    return int(high), int(low or high)


def _parse_row(words: list[str], known: Mapping[str, Field]) -> Row:
    mnemonic, operands, match, xlen, extensions, *expansion = words
    found = tuple(known[word] for word in _WORD.findall(operands) if word in known)
    stands_for = (
        (expansion[1], tuple[Role | int, ...](map(_parse_source, _WORD.findall("".join(expansion[2:])))))
        if expansion
        else None
    )
    return Row(
        mnemonic,
        "" if operands == "-" else operands,
        int(match, 16),
        int(xlen) if xlen != "*" else 0,
        frozenset(extensions.split("+")),
        found,
        stands_for,
    )


def _parse_source(word: str) -> Role | int:
    if word in ROLES:
        return word
    number = register_number(word, X_NAMES)
    return int(word) if number is None else number
