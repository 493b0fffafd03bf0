# SPDX-License-Identifier: Apache-2.0
"""Operand parsing of assembly statements: text to the values of the fields of a row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from polyloom.diagnostics import input_error, nearest
from polyloom.riscv import disassemble
from polyloom.riscv.assembly.expressions import Lookup, constant_value, evaluate, legal_value
from polyloom.riscv.assembly.text import Text, piece
from polyloom.riscv.isa import F_NAMES, M_NAMES, OPERAND, X_NAMES, Field, Row, register_number
from polyloom.twos_complement import sign_extend

MNEMONIC: Final = re.compile(r"(.+?)(\.aqrl|\.aq|\.rl)?")
"""A mnemonic and the order that an atomic one may end in."""
_PCREL: Final = re.compile(r"%pcrel_hi\s*\((.*)\)", re.DOTALL)
_HALF: Final = re.compile(r"%(hi|lo|pcrel_hi|pcrel_lo)\s*\((.*)\)|(.+)@(hi|lo)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statement:
    """Assembly statement at an address: a mnemonic or directive, its operands, and its bytes' number."""

    mnemonic: Text
    operands: Text
    address: int
    size: int
    pair: int
    """The address of the auipc of the pseudo-instruction that this one belongs to."""

    @property
    def relative_symbol(self) -> Text | None:
        """What the `%pcrel_hi` of an instruction is of."""
        found = _PCREL.search(self.operands.text)
        return None if found is None else piece(self.operands, found.start(1), found.end(1))


@dataclass(frozen=True, slots=True)
class Addresses:
    """Values of symbols, once all are known: `lookup` by a statement's own address (`.`), and by address what the
    `%pcrel_hi` of an instruction is of.
    """

    lookup: Callable[[int], Lookup]
    relative: Mapping[int, Text]
    xlen: int


def field_values(
    row: Row, statement: Statement, addresses: Addresses, csrs: Mapping[int, str] = disassemble.CSRS
) -> Iterator[int]:
    """Field values of `row`, read from the statement; `csrs` are the control registers that have names. Errors: PL0903,
    PL0904.
    """
    template, _, modifier = row.operands.partition(";")
    found = _operand_pattern(row).fullmatch(statement.operands.text)
    if found is None:
        shown = OPERAND.sub(lambda m: next((f.role for f in row.fields if f.name == m[0]), m[0]), template).replace(
            ",", ", "
        )
        raise input_error(
            "PL0903",
            f"'{row.mnemonic}' does not take these operands",
            span=statement.operands.span,
            help=f"write {row.mnemonic} {shown}".rstrip(),
        )
    for number, field in enumerate(row.fields):
        if field.name == modifier:
            yield _modifier_value(modifier, statement, found["modifier"] if modifier != "order" else None)
        else:
            text = piece(statement.operands, found.start(number + 1), found.end(number + 1))
            yield _field_value(field, text if text.text else Text("0", text.span), statement, addresses, csrs)


@cache
def _operand_pattern(row: Row) -> re.Pattern[str]:
    """Regular expression of a row's operands: one group for every operand of the template, and `modifier` for a
    rounding mode. An address without an offset may be written with 0.
    """
    template, _, modifier = row.operands.partition(";")
    kinds = {field.name: field.kind for field in row.fields}
    parts = re.split(f"({OPERAND.pattern})", template)
    text = "".join(
        _operand_group(part, kinds.get(part, ""), parts[n + 1] if n + 1 < len(parts) else "")
        if n % 2
        else "".join(rf"\s*{re.escape(c)}\s*" for c in part).replace(r",\s*\s*\(", r",\s*0?\s*\(")
        for n, part in enumerate(parts)
    )
    return re.compile(text + (r"(?:\s*,\s*(?P<modifier>\w+))?" if modifier.startswith("rm") else ""))


def _operand_group(name: str, kind: str, following: str) -> str:
    if name == "sp":
        return name
    if kind not in ("x", "f", "m", "fence", "csr"):
        return r"([^,]*?)" if following.startswith("(") else r"([^,]+?)"
    return r"([^,()\s]*)" if following.startswith("(") else r"([^,()\s]+)"


def _modifier_value(kind: str, statement: Statement, given: str | None) -> int:
    if kind == "order":
        name = MNEMONIC.fullmatch(statement.mnemonic.text)
        return disassemble.ORDERS.index((name and name[2]) or "")
    if given is None:
        return disassemble.DEFAULT_ROUNDING[kind]
    return _name_index(Text(given, statement.operands.span), disassemble.ROUNDINGS, "rounding mode")


def _field_value(field: Field, text: Text, statement: Statement, addresses: Addresses, csrs: Mapping[int, str]) -> int:
    """Value of one operand by the kind of its field. Errors: PL0903, PL0904."""
    lookup = addresses.lookup(statement.address)
    if field.kind in ("x", "f", "m"):
        value = _parse_register(text, {"x": X_NAMES, "f": F_NAMES, "m": M_NAMES}[field.kind])
    elif field.kind == "fence":
        value = _fence_set(text)
    elif field.kind == "csr" and not text.text[:1].isdigit():
        value = _csr_number(text, csrs)
    elif (part := _relocation(text)) is not None:
        value = _relocated_value(*part, statement, addresses)
        value = value if part[0].endswith("hi") else sign_extend(value, 12)
    elif field.kind == "offset":
        found = evaluate(text, lookup)
        value = found.number - (statement.address if found.section is not None else 0)
    elif field.kind == "bits":
        value = legal_value(text, range(-(1 << field.width - 1), 1 << field.width), lookup) % (1 << field.width)
    elif field.kind == "upper":
        # The assembler takes lui's 20 bits with or without a sign.
        value = sign_extend(legal_value(text, range(-(1 << 19), 1 << 20), lookup) << 12, 32)
    else:
        value = constant_value(text, lookup)
    return _check_range(field, value, text)


def _relocation(text: Text) -> tuple[str, Text] | None:
    """Half of an address that an operand asks for, and of what: `%hi(x)`, or `x@hi` in a pseudo-instruction."""
    found = _HALF.fullmatch(text.text)
    if found is None:
        return None
    group = 2 if found[2] is not None else 3
    return found[1] or f"@{found[4]}", piece(text, found.start(group), found.end(group))


def _relocated_value(kind: str, text: Text, statement: Statement, addresses: Addresses) -> int:
    """Value whose low twelve bits are the half of an instruction, or what is left without them (psABI, "Absolute
    Addresses", "PC-Relative Symbol Addresses"). Distances count from the auipc.
    """
    if kind in ("hi", "lo"):
        value = evaluate(text, addresses.lookup(statement.address)).number
    elif kind == "pcrel_lo":
        place = evaluate(text, addresses.lookup(statement.address)).number
        if place not in addresses.relative:
            help = "write %pcrel_lo(label), where label stands before the auipc with %pcrel_hi"
            raise input_error("PL0903", f"there is no %pcrel_hi at '{text.text}'", span=text.span, help=help)
        value = evaluate(addresses.relative[place], addresses.lookup(place)).number - place
    else:
        place = statement.address if kind == "pcrel_hi" else statement.pair
        value = evaluate(text, addresses.lookup(place)).number - place
    upper = value - sign_extend(value, 12)
    # With registers of 32 bits all addresses can be reached; with 64, one too far is out of the operand's range.
    upper = sign_extend(upper, 32) if addresses.xlen == 32 else upper
    return upper if kind.endswith("hi") else value


def _check_range(field: Field, value: int, text: Text) -> int:
    if value in field.range and value not in field.forbidden:
        return value
    what, scale = (
        ("this register", 0)
        if field.kind in ("x", "f")
        else (f"{value >> 12 if field.kind == 'upper' else value}", 12 * (field.kind == "upper"))
    )
    low, high, step = field.range[0] >> scale, field.range[-1] >> scale, field.step >> scale
    legal = (
        f"{X_NAMES[low]} to {X_NAMES[high]}"
        if field.kind == "x"
        else f"{F_NAMES[low]} to {F_NAMES[high]}"
        if field.kind == "f"
        else f"{low} to {high}"
    )
    without = [X_NAMES[n] if field.kind == "x" else str(n) for n in field.forbidden]
    help = (
        f"it takes {legal}"
        + (f" in steps of {step}" if step > 1 else "")
        + (f", without {' and '.join(without)}" if without else "")
    )
    more = "; jump over a `j` to go further" if field.kind == "offset" else ""
    raise input_error("PL0903", f"{what} is outside the range of the operand", span=text.span, help=help + more)


def _parse_register(text: Text, names: tuple[str, ...]) -> int:
    number = register_number(text.text, names)
    if number is None:
        what = "integer" if names is X_NAMES else "mask" if names is M_NAMES else "floating-point"
        raise input_error(
            "PL0903", f"'{text.text}' is no {what} register", span=text.span, help=nearest(text.text, names, "register")
        )
    return number


def _csr_number(text: Text, csrs: Mapping[int, str]) -> int:
    found = next((number for number, name in csrs.items() if name == text.text), None)
    if found is None:
        raise input_error(
            "PL0903",
            f"there is no control register '{text.text}'",
            span=text.span,
            help=nearest(text.text, csrs.values(), "register"),
        )
    return found


def _fence_set(text: Text) -> int:
    """Set of accesses of a fence: i, o, r, w are bits 3 to 0 (RISC-V unprivileged manual, "Memory Ordering
    Instructions").
    """
    if not re.fullmatch("i?o?r?w?|0", text.text):
        raise input_error(
            "PL0903",
            f"'{text.text}' is no set of accesses",
            span=text.span,
            help="write some of the letters iorw, in this order",
        )
    return sum(8 >> "iorw".index(letter) for letter in text.text if letter != "0")


def _name_index(text: Text, names: tuple[str, ...], what: str) -> int:
    if text.text not in names:
        raise input_error(
            "PL0903",
            f"there is no {what} '{text.text}'",
            span=text.span,
            help=nearest(text.text, [n for n in names if n], what),
        )
    return names.index(text.text)
