# SPDX-License-Identifier: Apache-2.0
"""Instruction table of the Tensix coprocessor: one row per instruction in instructions.txt, whose head explains its
columns.

Encoder, decoder, assembler, disassembler, the C macros, the hazard rules and the documentation follow from it. A row
describes Wormhole; what Blackhole moves follows by rule: its address modes have three bits. Sources: ISA documentation
of both members, one page per instruction; docs/targets/tensix.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final, Literal

Member = Literal["wormhole", "blackhole"]
MEMBERS: Final[tuple[Member, ...]] = ("wormhole", "blackhole")
UNITS: Final = ("front", "sync", "unpack", "matrix", "pack", "vector", "scalar", "config", "mover", "misc")
_ALIASES: Final = {
    "lreg_dest": "vd",
    "lreg_ind": "vd",
    "config_dest": "vd",
    "lreg_c": "vc",
    "lreg_src_a": "va",
    "lreg_src_b": "vb",
    "lreg_src_c": "vc",
    "instr_mod0": "mod0",
    "instr_mod1": "mod1",
    "dest_reg_addr": "addr",
    "sfpu_addr_mode": "addr_mode",
    "imm8_math": "imm",
    "imm12_math": "imm",
    "imm16_math": "imm",
    "imm16": "imm",
}
"""Short names of fields, which the assembler takes too."""
# The lowest bit of the address mode on Wormhole, for the matrix and the vector unit; pools have room for a wider one.
_MATH_MODE, _VECTOR_MODE, _MODE_BITS = 15, 14, 3
_POOLS: Final = ("GMPOOL", "GAPOOL")


@dataclass(frozen=True, slots=True)
class Field:
    """Field of a word: bits [shift, shift + width). `kind`: u unsigned, s signed, L a vector register, T a word of the
    thread's configuration, C one of the shared configuration.
    """

    name: str
    shift: int
    width: int
    kind: str = "u"

    @property
    def mask(self) -> int:
        """In place."""
        return ((1 << self.width) - 1) << self.shift

    @property
    def alias(self) -> str:
        """The short name, or the name."""
        return _ALIASES.get(self.name, self.name)

    @property
    def least(self) -> int:
        return -(1 << (self.width - 1)) if self.kind == "s" else 0

    @property
    def most(self) -> int:
        """The greatest value; a signed field takes its bits as unsigned too."""
        # Kernels write negative immediates as masked bits as well as with a sign.
        return (1 << self.width) - 1

    def of(self, word: int) -> int:
        """Value of the field in a word, sign-extended where it is signed."""
        value = (word & self.mask) >> self.shift
        return value - (1 << self.width) if self.kind == "s" and value >> (self.width - 1) else value


@dataclass(frozen=True, slots=True)
class Role:
    """Operand role: state that an instruction reads or writes, and the modes in which it does."""

    what: str
    any_of: int = 0
    none_of: int = 0
    modes: frozenset[int] | None = None

    def holds(self, mode: int) -> bool:
        if self.modes is not None:
            return mode in self.modes
        return not mode & self.none_of and (not self.any_of or bool(mode & self.any_of))


@dataclass(frozen=True, slots=True)
class Instruction:
    """Row of the instruction table. `fields` go from the highest bit down, as the vendor's macros have them; `operands`
    are those that the assembler takes without a name, in its order. `semantics` is None where the instruction is not
    modelled.
    """

    name: str
    opcode: int
    unit: str
    semantics: str | None
    hazard: str
    latency: str
    reads: tuple[Role, ...]
    writes: tuple[Role, ...]
    operands: tuple[Field, ...]
    fields: tuple[Field, ...]
    only_blackhole: bool = False

    @property
    def mnemonic(self) -> str:
        """As the vendor's assembler spells it: `SFPMAD`, `TTINCRWC`."""
        # The macros separate words by underscores (SFP_STOCH_RND), the assembler does not (SFPSTOCHRND).
        plain = self.name.replace("_", "")
        return plain if plain.startswith("SFP") else f"TT{plain}"

    @property
    def cycles(self) -> int:
        """The least latency; 0 where none is stated."""
        return int(self.latency.rstrip("+")) if self.latency != "-" else 0

    @property
    def mask(self) -> int:
        """Bits that mean something: the opcode and all fields."""
        return 0xFF000000 | sum(field.mask for field in self.fields)

    def field(self, name: str) -> Field | None:
        """By name or alias, in any case."""
        wanted = name.lower()
        return next((f for f in self.fields if wanted in (f.name.lower(), f.alias.lower())), None)

    def mode(self, word: int) -> int:
        """The value of the field that selects a mode of a vector instruction; 0 elsewhere."""
        found = self.field("mod1") or self.field("mod0")
        return 0 if found is None else found.of(word)

    def registers(self, word: int, roles: tuple[Role, ...]) -> frozenset[int]:
        """Vector registers that a word reads or writes by its own fields; not those that L7 names per lane."""
        return frozenset(_registers(self, word, roles))


def _registers(row: Instruction, word: int, roles: tuple[Role, ...]) -> Iterator[int]:
    mode = row.mode(word)
    # Loads and stores name their register in bits 23 to 20, all others in bits 7 to 4.
    high = row.field("lreg_ind") is not None
    for role in roles:
        if not role.holds(mode):
            continue
        # Fields of vector registers stand at the same bits in all layouts, except VD of loads and stores.
        if role.what in _SLOTS:
            yield word >> (20 if high and role.what == "VD" else _SLOTS[role.what]) & 15
        elif role.what[0] == "L" and role.what[1:].isdecimal():
            yield int(role.what[1:])


_SLOTS: Final = {"VA": 16, "VB": 12, "VC": 8, "VD": 4}


@cache
def table(member: Member = "wormhole") -> Mapping[int, Instruction]:
    """Instructions of a member by opcode."""
    rows = _parse_table()
    if member == "wormhole":
        return {row.opcode: row for row in rows if not row.only_blackhole}
    return {row.opcode: row if row.only_blackhole else _widen_for_blackhole(row) for row in rows}


@cache
def instructions_by_name(member: Member = "wormhole") -> Mapping[str, Instruction]:
    """Instructions of a member by their normalized name (`spelling_key`)."""
    return {spelling_key(row.name): row for row in table(member).values()}


def spelling_key(name: str) -> str:
    """Normalized name: one text for all spellings of an instruction: `TTREPLAY`, `replay`; `SFP_STOCH_RND`,
    `SFPSTOCHRND`.
    """
    plain = name.upper().replace("_", "")
    short = plain.removeprefix("TT")
    return short if plain.startswith("TT") and short else plain


def _widen_for_blackhole(row: Instruction) -> Instruction:
    """Blackhole's layout of a row: address modes have three bits and begin one bit lower, except in pools; what stood
    in that bit moves down. STALLWAIT has 13 conditions, rounding two bits. Source: ISA documentation of Blackhole, page
    of `SFPLOAD`, page of `MVMUL` and page of `STALLWAIT`.
    """
    if row.name == "STALLWAIT":
        return _move_fields(row, {"wait_res": (0, 13)})
    if row.name == "SFP_STOCH_RND":
        return _move_fields(row, {"rnd_mode": (21, 2)})
    mode = next((f for f in row.fields if f.name.lower().endswith("addr_mode") or f.name == "AddrMode"), None)
    # Only the matrix and the vector unit have the wider address modes; packers keep two bits.
    if mode is None or mode.width != _MODE_BITS - 1 or row.unit not in ("matrix", "vector"):
        return row
    if row.name in _POOLS:
        return _move_fields(row, {mode.name: (mode.shift, _MODE_BITS)})
    start = mode.shift - 1
    assert mode.shift in (_MATH_MODE, _VECTOR_MODE)
    moved = {mode.name: (start, _MODE_BITS)}
    for field in row.fields:
        if field.name == "instr_mod":
            moved[field.name] = (field.shift - 1, field.width)
        elif field.shift < start < field.shift + field.width:
            moved[field.name] = (field.shift, start - field.shift)
    if (mod := row.field("instr_mod")) is not None:
        moved |= {f.name: (f.shift, mod.shift - 1 - f.shift) for f in row.fields if f.shift < mod.shift}
    return _move_fields(row, moved)


def _move_fields(row: Instruction, moved: Mapping[str, tuple[int, int]]) -> Instruction:
    """The row with fields at other places; operands follow by name."""
    fields = tuple(
        replace(f, shift=moved[f.name][0], width=moved[f.name][1]) if f.name in moved else f for f in row.fields
    )
    by_name = {f.name: f for f in fields}
    return replace(row, fields=fields, operands=tuple(by_name[f.name] for f in row.operands))


@cache
def _parse_table() -> tuple[Instruction, ...]:
    text = files("polyloom.targets.tensix.words").joinpath("instructions.txt").read_text(encoding="utf-8")
    layouts: dict[str, tuple[Field, ...]] = {}
    rows: list[Instruction] = []
    for line in text.splitlines():
        if line.startswith("layout "):
            _, name, *specs = line.split()
            layouts[name] = tuple(map(_parse_field, specs))
        elif line and not line.startswith("#"):
            rows.append(_parse_row(line, layouts))
    return tuple(rows)


def _parse_row(line: str, layouts: Mapping[str, tuple[Field, ...]]) -> Instruction:
    """Row `NAME OPCODE UNIT SEMANTICS HAZARD LATENCY | READS > WRITES | OPERANDS | LAYOUT`; a name behind `b:` is
    Blackhole's alone.
    """
    head, roles, order, layout = (part.strip() for part in line.split("|"))
    name, opcode, unit, semantics, hazard, latency = head.split()
    reads, _, writes = roles.partition(">")
    fields = layouts[layout] if layout in layouts else tuple(map(_parse_field, layout.split()))
    by_name = {f.name: f for f in fields}
    return Instruction(
        name.removeprefix("b:"),
        int(opcode, 16),
        unit,
        None if semantics == "!" else semantics,
        hazard,
        latency,
        tuple(map(_parse_role, reads.split())),
        tuple(map(_parse_role, writes.split())),
        fields if order == "*" else tuple(by_name[n] for n in order.split()),
        fields,
        name.startswith("b:"),
    )


def _parse_field(text: str) -> Field:
    name, _, place = text.partition("@")
    shift, _, rest = place.partition(".")
    kind = rest[-1] if rest[-1].isalpha() else "u"
    return Field(name, int(shift), int(rest.rstrip("sLTC")), kind)


def _parse_role(text: str) -> Role:
    """Role `WHAT`, `WHAT/=MODES`, `WHAT/!BITS` (none of them set) or `WHAT/BITS` (any of them set)."""
    what, _, when = text.partition("/")
    if when.startswith("="):
        return Role(what, modes=frozenset(map(int, when[1:].split("."))))
    if when.startswith("!"):
        return Role(what, none_of=int(when[1:]))
    return Role(what, any_of=int(when or 0))
