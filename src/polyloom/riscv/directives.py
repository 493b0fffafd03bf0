# SPDX-License-Identifier: Apache-2.0
"""Assembler directives: data in place, space, and what makes no bytes.

`.data` marks where data begin, on a page of their own, and stands once, behind the code. `.globl` and its like are read
and mean nothing here: every label is visible. A directive's bytes depend on labels, their number only on the address.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.riscv.operands import Text, parse_integer

DATA: Final = {
    ".byte": 1,
    ".half": 2,
    ".short": 2,
    ".word": 4,
    ".long": 4,
    ".dword": 8,
    ".quad": 8,
    ".float": 4,
}
STRINGS: Final = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}
BEGIN_DATA: Final = ".data"
IGNORED: Final = (".globl", ".global", ".text", ".type", ".size", ".option", ".file")
DIRECTIVES: Final = (*DATA, *STRINGS, ".zero", ".space", ".balign", ".align", ".p2align", BEGIN_DATA, *IGNORED)
_MAXIMUM: Final = 1 << 26
"""Bytes that `.zero` and `.balign` may make."""
_PAGE: Final = 4096
_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


def directive_size(name: str, operands: Text, address: int) -> int:
    """Size in bytes of a directive's data at an address. Errors: PL0903."""
    if name in DATA:
        return DATA[name] * len(operands.text.split(","))
    if name in STRINGS:
        return len(_string_bytes(name, operands))
    if name in (".zero", ".space"):
        return parse_integer(operands, range(0 if name == ".space" else 1, _MAXIMUM))
    if name == ".balign":
        return -address % parse_integer(operands, range(1, _MAXIMUM))
    # On RISC-V `.align` takes a power of two, as `.p2align` (The RISC-V Assembly Programmer's Manual).
    if name in (".align", ".p2align"):
        return -address % (1 << parse_integer(operands, range(_MAXIMUM.bit_length())))
    return data_address(address) - address if name == BEGIN_DATA else 0


def data_address(code_end: int) -> int:
    """Address where data begin behind code: on a page of their own, so that code can be mapped read-only."""
    return code_end + -code_end % _PAGE


def directive_bytes(name: str, operands: Text, address: int, labels: Mapping[str, int]) -> bytes:
    """Bytes of a directive. Errors: PL0903, PL0904."""
    if name in DATA:
        return b"".join(_datum_bytes(part, name, labels) for part in _split_operands(operands))
    if name in STRINGS:
        return _string_bytes(name, operands)
    return bytes(directive_size(name, operands, address))


def _datum_bytes(part: Text, name: str, labels: Mapping[str, int]) -> bytes:
    if name == ".float":
        return _single_bytes(part)
    bits = 8 * DATA[name]
    legal = range(-(1 << bits - 1), 1 << bits)
    value = labels[part.text] if part.text in labels else parse_integer(part, legal)
    if value not in legal:
        message = f"the address of '{part.text}', {value:#x}, has more than {bits} bits"
        raise input_error("PL0903", message, span=part.span, help="write `.dword`")
    return (value % (1 << bits)).to_bytes(bits // 8, "little")


def _single_bytes(part: Text) -> bytes:
    try:
        return struct.pack("<f", float(part.text))
    except (ValueError, OverflowError):
        raise input_error(
            "PL0903", f"'{part.text}' is no single", span=part.span, help="write for instance 1.5, -2e-3, inf or nan"
        ) from None


def _string_bytes(name: str, operands: Text) -> bytes:
    if _TEXT.fullmatch(operands.text) is None:
        raise _string_error(operands)
    try:
        return str(ast.literal_eval(operands.text)).encode() + STRINGS[name]
    except (SyntaxError, ValueError):
        raise _string_error(operands) from None


def _string_error(operands: Text) -> PolyloomError:
    return input_error("PL0903", "this is no text", span=operands.span, help='write it in quotes: "text\\n"')


def _split_operands(operands: Text) -> Iterator[Text]:
    place = operands.span.start
    for part in operands.text.split(","):
        yield Text(part.strip(), Span(operands.span.source, place, place + len(part)))
        place += len(part) + 1
