# SPDX-License-Identifier: Apache-2.0
"""Assembler directives that make data and space, and those that make no bytes.

`.globl` and its like are read and mean nothing here: every label is visible. A directive's bytes depend on labels,
their number only on what is known where it stands, and on the place.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.riscv.assembly.expressions import Lookup, evaluate, legal_value
from polyloom.riscv.assembly.text import Text, split_operands

DATA: Final = {
    ".byte": 1,
    ".half": 2,
    ".short": 2,
    ".word": 4,
    ".long": 4,
    ".2byte": 2,
    ".4byte": 4,
    ".8byte": 8,
    ".dword": 8,
    ".quad": 8,
}
FLOATS: Final = {".float": "<f", ".double": "<d"}
STRINGS: Final = {".ascii": b"", ".asciz": b"\0", ".string": b"\0"}
ALIGNMENTS: Final = (".balign", ".align", ".p2align")
SPACES: Final = (".zero", ".space", ".skip", ".fill", *ALIGNMENTS)
IGNORED: Final = (
    *(
        ".globl",
        ".global",
        ".local",
        ".weak",
        ".hidden",
        ".extern",
        ".type",
        ".size",
        ".option",
        ".file",
        ".ident",
        ".attribute",
    ),
    *(".cfi_startproc", ".cfi_endproc", ".loc"),
)
DATA_DIRECTIVES: Final = (*DATA, *FLOATS, *STRINGS, *SPACES)
_MAXIMUM: Final = 1 << 26
"""Bytes that `.zero` and `.balign` may make."""
_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


def directive_size(name: str, operands: Text, offset: int, lookup: Lookup) -> int:
    """Size in bytes of a directive's data at an offset in its section. Errors: PL0903, PL0904."""
    given = split_operands(operands) or [operands]
    if name in DATA:
        return DATA[name] * len(given)
    if name in FLOATS:
        return struct.calcsize(FLOATS[name]) * len(given)
    if name in STRINGS:
        return sum(len(_string_bytes(part) + STRINGS[name]) for part in given)
    if name == ".fill":
        return legal_value(given[0], range(_MAXIMUM), lookup) * _fill_size(given, lookup)
    if name in ALIGNMENTS:
        return -offset % alignment(name, operands, lookup)
    return legal_value(given[0], range(1 if name == ".zero" else 0, _MAXIMUM), lookup)


def alignment(name: str, operands: Text, lookup: Lookup) -> int:
    """Alignment in bytes; `.align` takes a power of two, as `.p2align` (The RISC-V Assembly Programmer's Manual)."""
    given = (split_operands(operands) or [operands])[0]
    if name == ".balign":
        value = legal_value(given, range(1, _MAXIMUM), lookup)
        if value & (value - 1):
            help = f"write {1 << value.bit_length()}"
            raise input_error("PL0903", f"{value} is no power of two", span=given.span, help=help)
        return value
    return 1 << legal_value(given, range(_MAXIMUM.bit_length()), lookup)


def _fill_size(given: list[Text], lookup: Lookup) -> int:
    return legal_value(given[1], range(9), lookup) if len(given) > 1 else 1


def directive_bytes(
    name: str, operands: Text, address: int, size: int, lookup: Callable[[int], Lookup], padding: bytes = b""
) -> bytes:
    """Bytes of a directive at an address; `size` is what `directive_size` gives, `padding` what an alignment without a
    value of its own becomes. Errors: PL0903, PL0904.
    """
    given = split_operands(operands) or [operands]
    if name in DATA:
        # `.` is the place of each datum.
        width = DATA[name]
        return b"".join(_datum_bytes(part, width, lookup(address + n * width)) for n, part in enumerate(given))
    if name in FLOATS:
        return b"".join(_float_bytes(part, FLOATS[name]) for part in given)
    if name in STRINGS:
        return b"".join(_string_bytes(part) + STRINGS[name] for part in given)
    if name == ".fill":
        width = _fill_size(given, lookup(address)) or 1
        value = evaluate(given[2], lookup(address)).number if len(given) > 2 else 0
        return (value % (1 << 8 * width)).to_bytes(width, "little") * (size // width)
    if len(given) > 1 and given[1].text:
        return bytes([legal_value(given[1], range(-128, 256), lookup(address)) % 256] * size)
    return padding or bytes(size)


def code_padding(size: int, compressed: bool) -> bytes:
    """Padding of code: `nop`s, before them what is no multiple of four, a `c.nop` where there is one."""
    odd = bytes(size % 2) + (b"\1\0" if compressed else bytes(2)) * (size % 4 // 2)
    return odd + b"\x13\0\0\0" * (size // 4)


def _datum_bytes(part: Text, width: int, lookup: Lookup) -> bytes:
    bits = 8 * width
    found = evaluate(part, lookup)
    if found.section is None:
        found = replace(found, number=legal_value(part, range(-(1 << bits - 1), 1 << bits), lookup))
    elif found.number >= 1 << bits:
        message = f"the address of '{part.text}', {found.number:#x}, has more than {bits} bits"
        raise input_error("PL0903", message, span=part.span, help="write `.dword`")
    return (found.number % (1 << bits)).to_bytes(bits // 8, "little")


def _float_bytes(part: Text, form: str) -> bytes:
    try:
        return struct.pack(form, float(part.text))
    except (ValueError, OverflowError):
        what = "single" if form == "<f" else "double"
        help = "write for instance 1.5, -2e-3, inf or nan"
        raise input_error("PL0903", f"'{part.text}' is no {what}", span=part.span, help=help) from None


def _string_bytes(part: Text) -> bytes:
    if _TEXT.fullmatch(part.text) is None:
        raise _string_error(part)
    try:
        return str(ast.literal_eval(part.text)).encode()
    except (SyntaxError, ValueError):
        raise _string_error(part) from None


def _string_error(operands: Text) -> PolyloomError:
    return input_error("PL0903", "this is no text", span=operands.span, help='write it in quotes: "text\\n"')
