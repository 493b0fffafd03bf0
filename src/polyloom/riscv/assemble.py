# SPDX-License-Identifier: Apache-2.0
"""Assembly text to bytes: two passes over statements whose sizes are known from the text alone.

A line is `label: mnemonic operands # comment`. Operands are those of instructions.txt, with ABI or numeric register
names, integers in Python's notation, and labels where an offset stands. Pseudo-instructions are rewritten first
(pseudo.txt; `li` into the shortest chain of lui, addi and slli). Nothing is relaxed or compressed: an offset out of
range is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import Source, Span, input_error, nearest
from polyloom.riscv.disassemble import CSRS
from polyloom.riscv.encode import encode
from polyloom.riscv.isa import Instruction, Row, by_mnemonic, find
from polyloom.riscv.names import Isa
from polyloom.riscv.operands import MNEMONIC, Statement, Text, integer, values
from polyloom.riscv.pseudo import pseudos, rewrite

_LINE: Final = re.compile(r"\s*(?:([A-Za-z_.$][\w.$]*)\s*:)?\s*(?:([A-Za-z.][\w.]*)(?:\s+(\S.*?))?)?\s*")
_DATA: Final = {".byte": 1, ".half": 2, ".word": 4, ".dword": 8}
_MAXIMUM: Final = 1 << 26
"""Bytes that `.zero` and `.balign` may make."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """The bytes from `base` on, and the address of every label."""

    data: bytes
    base: int
    labels: Mapping[str, int]


def assemble(
    text: str, isa: Isa, base: int = 0, name: str = "<assembly>", csrs: Mapping[int, str] = CSRS
) -> Assembled:
    """The bytes of `text`, with names for these control registers. Errors: PL0902 to PL0905, with the place in `text`,
    which is called `name`."""
    labels: dict[str, int] = {}
    statements: list[Statement] = []
    address = base
    for label, mnemonic, operands in _statements(Source(name, text)):
        if label is not None:
            if label.text in labels:
                raise input_error(
                    "PL0904", f"the label '{label.text}' is defined twice", span=label.span, help="rename one of them"
                )
            labels[label.text] = address
        if mnemonic is None:
            continue
        pair = address
        for each in rewrite(mnemonic, operands, isa):
            statements.append(Statement(*each, address, pair))
            address += _size(*each, address, isa)
    return Assembled(b"".join(_bytes(each, labels, isa, csrs) for each in statements), base, labels)


def _statements(source: Source) -> Iterator[tuple[Text | None, Text | None, Text]]:
    place = 0
    for line in source.text.splitlines(keepends=True):
        code = re.split("#|//", line.rstrip("\r\n"), maxsplit=1)[0]
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
            _part(source, place, found, 1),
            _part(source, place, found, 2),
            _part(source, place, found, 3) or Text("", end),
        )
        place += len(line)


def _part(source: Source, place: int, found: re.Match[str], group: int) -> Text | None:
    return (
        Text(found[group], Span(source, place + found.start(group), place + found.end(group)))
        if found[group] is not None
        else None
    )


def _size(mnemonic: Text, operands: Text, address: int, isa: Isa) -> int:
    if mnemonic.text in _DATA:
        return _DATA[mnemonic.text] * len(operands.text.split(","))
    if mnemonic.text in (".zero", ".balign"):
        count = integer(operands, range(1, _MAXIMUM))
        return count if mnemonic.text == ".zero" else -address % count
    return _row(mnemonic, isa).size


def _bytes(statement: Statement, labels: Mapping[str, int], isa: Isa, csrs: Mapping[int, str]) -> bytes:
    mnemonic, operands = statement.mnemonic, statement.operands
    if mnemonic.text in _DATA:
        size = _DATA[mnemonic.text]
        return b"".join(_datum(part, size, labels) for part in _split(operands))
    if mnemonic.text.startswith("."):
        return bytes(_size(mnemonic, operands, statement.address, isa))
    row = _row(mnemonic, isa)
    return encode(Instruction(row, tuple(values(row, statement, labels, csrs)))).to_bytes(row.size, "little")


def _datum(part: Text, size: int, labels: Mapping[str, int]) -> bytes:
    legal = range(-(1 << 8 * size - 1), 1 << 8 * size)
    value = labels[part.text] if part.text in labels else integer(part, legal)
    return (value % (1 << 8 * size)).to_bytes(size, "little")


def _split(operands: Text) -> Iterator[Text]:
    place = operands.span.start
    for part in operands.text.split(","):
        yield Text(part.strip(), Span(operands.span.source, place, place + len(part)))
        place += len(part) + 1


def _row(mnemonic: Text, isa: Isa) -> Row:
    if mnemonic.text.startswith("."):
        directives = [*_DATA, ".zero", ".balign"]
        raise input_error(
            "PL0905",
            f"there is no directive '{mnemonic.text}'",
            span=mnemonic.span,
            help=nearest(mnemonic.text, directives, "directive"),
        )
    name = MNEMONIC.fullmatch(mnemonic.text)
    assert name is not None
    row = find(mnemonic.text, isa) or find(name[1], isa)
    if row is not None and (row.mnemonic == mnemonic.text or row.operands.endswith(";order")):
        return row
    known = by_mnemonic().get(mnemonic.text)
    if known is not None:
        needed = "+".join(sorted(known[0].extensions))
        needed = needed if known[0].extensions - isa.extensions else f"XLEN {known[0].xlen}"
        raise input_error("PL0902", f"{isa} has no '{mnemonic.text}'", span=mnemonic.span, help=f"it needs {needed}")
    shapes = [", ".join(pseudo[0]) for (name, _), pseudo in pseudos().items() if name == mnemonic.text]
    if shapes or mnemonic.text == "li":
        help = " or ".join(f"{mnemonic.text} {shape}".rstrip() for shape in shapes or ["rd, integer"])
        raise input_error(
            "PL0903", f"'{mnemonic.text}' does not take these operands", span=mnemonic.span, help=f"write {help}"
        )
    names = [
        *(r.mnemonic for rows in by_mnemonic().values() for r in rows if r.is_in(isa)),
        *(n for n, _ in pseudos()),
        "li",
    ]
    raise input_error(
        "PL0902",
        f"there is no instruction '{mnemonic.text}'",
        span=mnemonic.span,
        help=nearest(mnemonic.text, names, "instruction"),
    )
