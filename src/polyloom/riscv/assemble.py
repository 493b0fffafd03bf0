# SPDX-License-Identifier: Apache-2.0
"""Two-pass assembler: text to bytes, over statements whose sizes are known from the text before them (The RISC-V
Assembly Programmer's Manual; GNU as manual).

A line is `label: mnemonic operands # comment`; a label that is a number is meant by `1b` behind it and `1f` before it.
Operands are those of instructions.txt, with ABI or numeric register names, and expressions of constants and labels.
Macros are expanded first (assembly/macros.py), then pseudo-instructions (pseudo.txt; `li` into the shortest chain of
lui, addi and slli). Nothing is relaxed or compressed: an offset out of range is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import Source, input_error, nearest
from polyloom.riscv.assembly import insn, macros
from polyloom.riscv.assembly.lines import split_lines
from polyloom.riscv.assembly.open_files import refuse_files
from polyloom.riscv.assembly.symbols import SETTERS, SymbolTable
from polyloom.riscv.assembly.text import Text
from polyloom.riscv.directives import (
    ALIGNMENTS,
    DATA_DIRECTIVES,
    IGNORED,
    code_padding,
    directive_bytes,
    directive_size,
)
from polyloom.riscv.disassemble import CSRS
from polyloom.riscv.encode import encode
from polyloom.riscv.isa import Instruction, Row, find_row, rows_of_mnemonics
from polyloom.riscv.names import Isa
from polyloom.riscv.operands import MNEMONIC, Addresses, Statement, field_values
from polyloom.riscv.pseudo import expand_statement, pseudo_table
from polyloom.riscv.section_layout import SECTIONS, Layout

_DIRECTIVES: Final = (*DATA_DIRECTIVES, *SECTIONS, *SETTERS, *IGNORED, *macros.DIRECTIVES, insn.DIRECTIVE)


@dataclass(frozen=True, slots=True)
class Assembled:
    """Assembled text: the bytes from `base` on, the address of every label, the line of the text (from 1) by address,
    where code ends, and where data begin. Without `.data` both are where the bytes end.
    """

    data: bytes
    base: int
    labels: Mapping[str, int]
    lines: Mapping[int, int]
    code_end: int
    data_at: int


Rewrite = Callable[[Text, Text, Isa], Sequence[tuple[Text, Text]]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Assembly dialect of a target: names of control registers, and pseudo-instructions."""

    csrs: Mapping[int, str] = field(default_factory=lambda: CSRS)
    rewrite: Rewrite = expand_statement


_PLAIN: Final = Dialect()


def assemble(
    text: str,
    isa: Isa,
    base: int = 0,
    name: str = "<assembly>",
    dialect: Dialect = _PLAIN,
    open_file: macros.Opener = refuse_files,
) -> Assembled:
    """Assembly of `text` at `base`. Errors: PL0902 to PL0906, with the place in `text`, which is called `name`."""
    symbols, layout, lines = SymbolTable(), Layout(), dict[tuple[str, int], int]()
    for line, parsed in macros.Expander(symbols, open_file).expand(split_lines(Source(name, text))):
        if parsed.label is not None:
            symbols.define_label(parsed.label, layout.place)
        symbols.here = layout.place
        mnemonic = parsed.mnemonic
        if mnemonic is None or mnemonic.text in IGNORED:
            continue
        operands = symbols.resolve_local_labels(parsed.operands)
        if mnemonic.text in SECTIONS:
            layout.enter_section(mnemonic, operands)
        elif mnemonic.text in SETTERS:
            symbols.define_symbol(mnemonic, operands)
        elif mnemonic.text in DATA_DIRECTIVES:
            layout.align(mnemonic.text, operands, symbols.lookup)
            operands, offset = symbols.substitute_constants(operands), layout.place.number
            lines[layout.section, offset] = line
            layout.append(mnemonic, operands, directive_size(mnemonic.text, operands, offset, symbols.lookup), offset)
        else:
            layout.require_code(mnemonic)
            pair = layout.place.number
            lines[layout.section, pair] = line
            for each, rest in dialect.rewrite(mnemonic, symbols.substitute_constants(operands), isa):
                # Both halves of a distance count from the auipc of their pair, not from the instruction that they
                # stand in (psABI, "PC-Relative Symbol Addresses").
                pair = layout.place.number if each.text == "auipc" else pair
                layout.append(each, rest, _statement_size(each, rest, isa), pair)
    return _encode(layout, symbols, lines, isa, base, dialect)


def _encode(
    layout: Layout, symbols: SymbolTable, lines: Mapping[tuple[str, int], int], isa: Isa, base: int, dialect: Dialect
) -> Assembled:
    """The second pass: bytes, once every section has its address."""
    bases, code_end, data_at, end = layout.addresses(base)
    statements = layout.statements(bases)
    relative = {s.address: text for s in statements if (text := s.relative_symbol) is not None}
    addresses = Addresses(lambda here: symbols.final_lookup(bases, here), relative, isa.xlen)
    image = bytearray(end - base)
    for statement in statements:
        pads = statement.mnemonic.text in ALIGNMENTS and statement.address < code_end
        padding = code_padding(statement.size, "c" in isa.extensions) if pads else b""
        made = _statement_bytes(statement, addresses, isa, dialect.csrs, padding)
        image[statement.address - base : statement.address - base + len(made)] = made
    by_address = {bases[section] + offset: line for (section, offset), line in lines.items()}
    return Assembled(bytes(image), base, symbols.labels(bases), by_address, code_end, data_at)


def _statement_size(mnemonic: Text, operands: Text, isa: Isa) -> int:
    return insn.size(operands) if mnemonic.text == insn.DIRECTIVE else _mnemonic_row(mnemonic, isa).size


def _statement_bytes(
    statement: Statement, addresses: Addresses, isa: Isa, csrs: Mapping[int, str], padding: bytes
) -> bytes:
    mnemonic, operands, address = statement.mnemonic, statement.operands, statement.address
    if mnemonic.text in DATA_DIRECTIVES:
        return directive_bytes(mnemonic.text, operands, address, statement.size, addresses.lookup, padding)
    if mnemonic.text == insn.DIRECTIVE:
        return insn.encode_fields(operands, address, addresses.lookup(address)).to_bytes(statement.size, "little")
    row = _mnemonic_row(mnemonic, isa)
    return encode(Instruction(row, tuple(field_values(row, statement, addresses, csrs)))).to_bytes(row.size, "little")


def _mnemonic_row(mnemonic: Text, isa: Isa) -> Row:
    """Row of a mnemonic, with or without its order suffix. Errors: PL0902 to PL0905, each of which says what is
    missing.
    """
    if mnemonic.text.startswith("."):
        raise input_error(
            "PL0905",
            f"there is no directive '{mnemonic.text}'",
            span=mnemonic.span,
            help=nearest(mnemonic.text, _DIRECTIVES, "directive"),
        )
    name = MNEMONIC.fullmatch(mnemonic.text)
    assert name is not None
    row = find_row(mnemonic.text, isa) or find_row(name[1], isa)
    if row is not None and (row.mnemonic == mnemonic.text or row.operands.endswith(";order")):
        return row
    known = rows_of_mnemonics().get(mnemonic.text)
    if known is not None:
        needed = "+".join(sorted(known[0].extensions))
        needed = needed if known[0].extensions - isa.extensions else f"XLEN {known[0].xlen}"
        raise input_error("PL0902", f"{isa} has no '{mnemonic.text}'", span=mnemonic.span, help=f"it needs {needed}")
    shapes = [", ".join(pseudo[0]) for (name, _), pseudo in pseudo_table().items() if name == mnemonic.text]
    if shapes or mnemonic.text == "li":
        help = " or ".join(f"{mnemonic.text} {shape}".rstrip() for shape in shapes or ["rd, integer"])
        raise input_error(
            "PL0903", f"'{mnemonic.text}' does not take these operands", span=mnemonic.span, help=f"write {help}"
        )
    names = [
        *(r.mnemonic for rows in rows_of_mnemonics().values() for r in rows if r.is_in_isa(isa)),
        *(n for n, _ in pseudo_table()),
        "li",
    ]
    raise input_error(
        "PL0902",
        f"there is no instruction '{mnemonic.text}'",
        span=mnemonic.span,
        help=nearest(mnemonic.text, names, "instruction"),
    )
