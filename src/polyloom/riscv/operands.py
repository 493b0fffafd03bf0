# SPDX-License-Identifier: Apache-2.0
"""Operand parsing of assembly statements: text to the values of the fields of a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from polyloom.diagnostics import PolyloomError, Span, input_error, nearest
from polyloom.riscv import disassemble
from polyloom.riscv.isa import F_NAMES, M_NAMES, OPERAND, X_NAMES, Field, Row, register_number

MNEMONIC: Final = re.compile(r"(.+?)(\.aqrl|\.aq|\.rl)?")
"""A mnemonic and the order that an atomic one may end in."""


@dataclass(frozen=True, slots=True)
class Text:
    """Piece of the source: what it says, and where it stands."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    """Assembly statement at an address: a mnemonic or directive, and its operands."""

    mnemonic: Text
    operands: Text
    address: int
    pair: int
    """The address of the first instruction of the pseudo-instruction that this one belongs to."""


def sign_extend(value: int, bits: int) -> int:
    """The low bits of `value` as a two's complement number."""
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def field_values(
    row: Row, statement: Statement, labels: Mapping[str, int], csrs: Mapping[int, str] = disassemble.CSRS
) -> Iterator[int]:
    """Field values of `row`, read from the statement; `csrs` are the control registers that have names. Errors: PL0903,
    PL0904.
    """
    template, _, modifier = row.operands.partition(";")
    found = _operand_pattern(row.operands).fullmatch(statement.operands.text)
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
            start = statement.operands.span.start + found.start(number + 1)
            inside = start + len(found[number + 1]) <= statement.operands.span.end
            span = (
                Span(statement.operands.span.source, start, start + len(found[number + 1]))
                if inside
                else statement.operands.span
            )
            yield _field_value(field, Text(found[number + 1] or "0", span), statement, labels, csrs)


@cache
def _operand_pattern(operands: str) -> re.Pattern[str]:
    """Regular expression of a row's operands: one group for every operand of the template, and `modifier` for a
    rounding mode. An address without an offset may be written with 0.
    """
    template, _, modifier = operands.partition(";")
    parts = re.split(f"({OPERAND.pattern})", template)
    text = "".join(
        _operand_group(part, parts[n + 1] if n + 1 < len(parts) else "")
        if n % 2
        else "".join(rf"\s*{re.escape(c)}\s*" for c in part).replace(r",\s*\s*\(", r",\s*0?\s*\(")
        for n, part in enumerate(parts)
    )
    return re.compile(text + (r"(?:\s*,\s*(?P<modifier>\w+))?" if modifier.startswith("rm") else ""))


def _operand_group(name: str, following: str) -> str:
    return name if name == "sp" else r"([^,()\s]*)" if following.startswith("(") else r"([^,()\s]+)"


def _modifier_value(kind: str, statement: Statement, given: str | None) -> int:
    if kind == "order":
        name = MNEMONIC.fullmatch(statement.mnemonic.text)
        return disassemble.ORDERS.index((name and name[2]) or "")
    if given is None:
        return disassemble.DEFAULT_ROUNDING[kind]
    return _name_index(Text(given, statement.operands.span), disassemble.ROUNDINGS, "rounding mode")


def _field_value(
    field: Field, text: Text, statement: Statement, labels: Mapping[str, int], csrs: Mapping[int, str]
) -> int:
    """Value of one operand by the kind of its field. Errors: PL0903, PL0904."""
    if field.kind in ("x", "f", "m"):
        value = _parse_register(text, {"x": X_NAMES, "f": F_NAMES, "m": M_NAMES}[field.kind])
    elif field.kind == "fence":
        value = _fence_set(text)
    elif field.kind == "csr" and not text.text[:1].isdigit():
        value = _csr_number(text, csrs)
    elif (half := re.fullmatch(r"(.+)@(hi|lo)", text.text)) is not None:
        # `@hi` and `@lo` split a pc-relative distance: the low part is signed, and both count from the auipc.
        distance = _label_address(Text(half[1], text.span), labels) - statement.pair
        value = distance - sign_extend(distance, 12) if half[2] == "hi" else sign_extend(distance, 12)
    elif field.kind == "offset" and re.match(r"[A-Za-z_.$]", text.text):
        value = _label_address(text, labels) - statement.address
    elif field.kind == "bits":
        value = parse_integer(text, range(-(1 << field.width - 1), 1 << field.width)) % (1 << field.width)
    elif field.kind == "upper":
        # The assembler takes lui's 20 bits with or without a sign.
        value = sign_extend(parse_integer(text, range(-(1 << 19), 1 << 20)) << 12, 32)
    else:
        value = parse_integer(text)
    return _check_range(field, value, text)


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


def _label_address(text: Text, labels: Mapping[str, int]) -> int:
    if text.text not in labels:
        if (near := re.fullmatch(r"\.L(\d+)\$\d+", text.text)) is not None:
            raise input_error(
                "PL0904",
                f"there is no label '{near[1]}' on this side",
                span=text.span,
                help=f"write `{near[1]}f` for the next and `{near[1]}b` for the last `{near[1]}:`",
            )
        raise input_error(
            "PL0904", f"there is no label '{text.text}'", span=text.span, help=nearest(text.text, labels, "label")
        )
    return labels[text.text]


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


def parse_integer(text: Text, legal: range | None = None) -> int:
    """An integer in Python's notation, among `legal` ones. Errors: PL0903."""
    try:
        value = int(text.text, 0)
    except ValueError:
        raise _integer_error(text) from None
    if legal is not None and value not in legal:
        raise input_error(
            "PL0903",
            f"{value} is out of range",
            span=text.span,
            help=f"write an integer from {legal[0]} to {legal[-1]}",
        )
    return value


def _integer_error(text: Text) -> PolyloomError:
    return input_error(
        "PL0903", f"'{text.text}' is no integer", span=text.span, help="write for instance 12, -1 or 0x7ff"
    )
