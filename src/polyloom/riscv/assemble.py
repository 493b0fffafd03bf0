# SPDX-License-Identifier: Apache-2.0
"""Two-pass assembler: text to bytes, over statements whose sizes are known from the text alone (The RISC-V Assembly
Programmer's Manual).

A line is `label: mnemonic operands # comment`; a label that is a number is meant by `1b` behind it and `1f` before it.
Operands are those of instructions.txt, with ABI or numeric register names, integers in Python's notation, and labels
where an offset stands. Pseudo-instructions are rewritten first (pseudo.txt; `li` into the shortest chain of lui, addi
and slli). Nothing is relaxed or compressed: an offset out of range is an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import Source, Span, input_error, nearest
from polyloom.riscv.directives import BEGIN_DATA, DIRECTIVES, IGNORED, data_address, directive_bytes, directive_size
from polyloom.riscv.disassemble import CSRS
from polyloom.riscv.encode import encode
from polyloom.riscv.isa import Instruction, Row, find_row, rows_of_mnemonics
from polyloom.riscv.names import Isa
from polyloom.riscv.operands import MNEMONIC, Statement, Text, field_values
from polyloom.riscv.pseudo import expand_statement, pseudo_table

_LINE: Final = re.compile(r"\s*(?:([A-Za-z_.$][\w.$]*|\d+)\s*:)?\s*(?:([A-Za-z.][\w.]*)(?:\s+(\S.*?))?)?\s*")
_COMMENT: Final = re.compile(r"""((?:[^"#/]|"(?:[^"\\]|\\.)*"|/(?!/)|")*?)(?:(?:#|//).*)?""")
_BEHIND_CODE: Final = tuple(name for name in DIRECTIVES if name != ".text")
_NEAR: Final = re.compile(r"(?<![\w.$])(\d+)([bf])(?!\w)")
"""A reference to the last or the next label that is the number."""


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


def assemble(text: str, isa: Isa, base: int = 0, name: str = "<assembly>", dialect: Dialect = _PLAIN) -> Assembled:
    """Assembly of `text` at `base`. Errors: PL0902 to PL0905, with the place in `text`, which is called `name`."""
    labels: dict[str, int] = {}
    lines: dict[int, int] = {}
    counts: Counter[str] = Counter()
    statements: list[Statement] = []
    address, code_end = base, None
    for line, label, mnemonic, operands in _parse_statements(Source(name, text)):
        if mnemonic is not None and mnemonic.text == BEGIN_DATA:
            code_end, address = _begin_data(mnemonic, operands, address, code_end, statements)
        elif mnemonic is not None and code_end is not None and mnemonic.text not in _BEHIND_CODE:
            raise input_error(
                "PL0905", "an instruction stands behind .data", span=mnemonic.span, help="write data last"
            )
        if label is not None:
            labels[_label_name(label, labels, counts)] = address
        if mnemonic is None or mnemonic.text in (BEGIN_DATA, *IGNORED):
            continue
        lines[address] = line
        pair = address
        for each, rest in dialect.rewrite(mnemonic, operands, isa):
            # %pcrel_lo refers to the auipc of its pair, not to the instruction that it stands in (psABI, "PC-Relative
            # Symbol Addresses").
            pair = address if each.text == "auipc" else pair
            statements.append(Statement(each, _resolve_local_labels(rest, counts), address, pair))
            address += _statement_size(each, rest, address, isa)
    made = b"".join(_statement_bytes(each, labels, isa, dialect.csrs) for each in statements)
    data_at = address if code_end is None else data_address(code_end)
    return Assembled(made, base, labels, lines, address if code_end is None else code_end, data_at)


def _begin_data(
    mnemonic: Text, operands: Text, address: int, before: int | None, statements: list[Statement]
) -> tuple[int, int]:
    """End of code, and beginning of data. Errors: PL0905 where data begin twice."""
    if before is not None:
        raise input_error(
            "PL0905", "data begin twice", span=mnemonic.span, help="write .data once, behind all instructions"
        )
    statements.append(Statement(mnemonic, operands, address, address))
    return address, data_address(address)


def _label_name(label: Text, labels: Mapping[str, int], counts: Counter[str]) -> str:
    """Name under which a label is kept: numbers may be defined again and again. Errors: PL0904."""
    if label.text.isdigit():
        counts[label.text] += 1
        return _local_label(label.text, counts[label.text])
    if label.text in labels:
        raise input_error(
            "PL0904", f"the label '{label.text}' is defined twice", span=label.span, help="rename one of them"
        )
    return label.text


def _local_label(number: str, count: int) -> str:
    return f".L{number}${count}"


def _resolve_local_labels(operands: Text, counts: Counter[str]) -> Text:
    """Operands with local (numeric) labels replaced by their names: `1b` is the last, `1f` the next `1`."""
    if _NEAR.search(operands.text) is None:
        return operands
    text = _NEAR.sub(lambda m: _local_label(m[1], counts[m[1]] + (m[2] == "f")), operands.text)
    return Text(text, operands.span)


def _parse_statements(source: Source) -> Iterator[tuple[int, Text | None, Text | None, Text]]:
    """Statements: of each line its number, label, mnemonic and operands. Errors: PL0905."""
    place = 0
    for number, line in enumerate(source.text.splitlines(keepends=True), 1):
        whole = _COMMENT.fullmatch(line.rstrip("\r\n"))
        code = whole[1] if whole is not None else line.rstrip("\r\n")
        found = _LINE.fullmatch(code)
        if found is None:
            start = place + len(code) - len(code.lstrip())
            raise input_error(
                "PL0905",
                "this is neither a label nor an instruction",
                span=Span(source, start, place + len(code)),
                help="write `label: mnemonic operands`",
            )
        end = Span(source, place + len(code.rstrip()), place + len(code.rstrip()))
        yield (
            number,
            _text_group(source, place, found, 1),
            _text_group(source, place, found, 2),
            _text_group(source, place, found, 3) or Text("", end),
        )
        place += len(line)


def _text_group(source: Source, place: int, found: re.Match[str], group: int) -> Text | None:
    return (
        Text(found[group], Span(source, place + found.start(group), place + found.end(group)))
        if found[group] is not None
        else None
    )


def _statement_size(mnemonic: Text, operands: Text, address: int, isa: Isa) -> int:
    return (
        directive_size(mnemonic.text, operands, address)
        if mnemonic.text in DIRECTIVES
        else _mnemonic_row(mnemonic, isa).size
    )


def _statement_bytes(statement: Statement, labels: Mapping[str, int], isa: Isa, csrs: Mapping[int, str]) -> bytes:
    mnemonic, operands = statement.mnemonic, statement.operands
    if mnemonic.text in DIRECTIVES:
        return directive_bytes(mnemonic.text, operands, statement.address, labels)
    row = _mnemonic_row(mnemonic, isa)
    return encode(Instruction(row, tuple(field_values(row, statement, labels, csrs)))).to_bytes(row.size, "little")


def _mnemonic_row(mnemonic: Text, isa: Isa) -> Row:
    """Row of a mnemonic, with or without its order suffix. Errors: PL0902 to PL0905, each of which says what is
    missing.
    """
    if mnemonic.text.startswith("."):
        raise input_error(
            "PL0905",
            f"there is no directive '{mnemonic.text}'",
            span=mnemonic.span,
            help=nearest(mnemonic.text, DIRECTIVES, "directive"),
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
