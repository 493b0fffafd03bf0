# SPDX-License-Identifier: Apache-2.0
"""Damage to files and texts: bytes with and without the sums that guard them, values of a decoded configuration, words
of a text.

A configuration of phases is damaged within one of its phases too. Whatever a function returns may be anything, but what
it damages is repaired as far as a reader would refuse it at once, so that the damage gets past the first check.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from random import Random
from typing import Any, Final, cast

from polyloom.binary import CHECKED, FileKind, fletcher64
from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt.words import belt_file
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.phases import phase_file

NUMBERS: Final = (
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    31,
    32,
    63,
    64,
    127,
    128,
    255,
    256,
    65535,
    65536,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 40,
    (1 << 63) - 1,
)
_HEADER: Final = 32
_KINDS: Final = {
    k.magic: k
    for k in (symbolic_file.KIND, concrete_file.KIND, phase_file.SYMBOLIC, phase_file.CONCRETE, belt_file.KIND)
}
_CODECS: Final[dict[bytes, tuple[Callable[[bytes], Any], Callable[[Any], bytes]]]] = {
    symbolic_file.KIND.magic: (symbolic_file.decode, symbolic_file.encode),
    concrete_file.KIND.magic: (concrete_file.decode, concrete_file.encode),
}
_TOKEN: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|[0-9.]+|\s+|.", re.DOTALL)
_WORDS: Final = (
    *(
        "0",
        "1",
        "-1",
        "2147483648",
        "99999999999999999999",
        "1e999",
        "0x10",
        "1.5",
        "nan",
        "i",
        "N",
        "x",
        "in",
        "out",
        "and",
        "or",
        "if",
        "for",
        "True",
    ),
    *(
        "'",
        '"',
        "\\",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "=",
        ";",
        ":",
        ",",
        ".",
        "*",
        "/",
        "%",
        "-",
        "+",
        "?",
        "#",
        "\0",
        "\n",
        "\r\n",
        "\t",
        "é",
        "\ufeff",
    ),
)


def of_configuration(data: bytes, random: Random) -> bytes:
    """A file of the formats of docs/formats.md."""
    ways = (of_values, of_values, _of_repaired_bytes, _of_repaired_bytes, of_bytes)
    if data[:4] in (phase_file.SYMBOLIC.magic, phase_file.CONCRETE.magic):
        ways = (*ways, _of_phase, _of_phase, _of_phase)
    return random.choice(ways)(data, random)


def of_file(data: bytes, random: Random) -> bytes:
    """A file with a section table: bytes, mostly with the sums that belong to them."""
    return random.choice((_of_repaired_bytes, _of_repaired_bytes, of_bytes))(data, random)


def of_bytes(data: bytes, random: Random) -> bytes:
    """Some bytes changed, left out, repeated or inserted."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        at, size = random.randrange(len(changed) + 1), random.choice((1, 1, 2, 4, 8))
        match random.randrange(6):
            case 0:
                del changed[at : at + size]
            case 1:
                changed[at:at] = random.randbytes(size)
            case 2:
                changed[at:at] = changed[at : at + 8 * size]
            case 3:
                changed[at : at + 4] = (random.choice(NUMBERS) & 0xFFFFFFFF).to_bytes(4, "little")
            case _:
                changed[at : at + 1] = bytes([random.choice((0, 1, 127, 128, 255, random.randrange(256)))])
    return bytes(changed)


def _of_repaired_bytes(data: bytes, random: Random) -> bytes:
    """Bytes in place, so that the section table stays as it is, and the sums that belong to them."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        changed[random.randrange(CHECKED, len(data))] = random.choice((0, 1, 2, 127, 128, 255, random.randrange(256)))
    return repaired(bytes(changed))


def _of_phase(data: bytes, random: Random) -> bytes:
    """One of the files within a file of phases."""
    kind = _KINDS[data[:4]]
    phased = phase_file.decode(kind, data)
    number = random.randrange(len(phased.stages))
    stages = [
        replace(s, data=of_configuration(s.data, random)) if n == number else s for n, s in enumerate(phased.stages)
    ]
    try:
        return phase_file.encode(kind, replace(phased, stages=tuple(stages)))
    except PolyloomError:
        return data


def of_values(data: bytes, random: Random) -> bytes:
    """A file of the same kind with another value somewhere; where none can be written, the file itself."""
    kind = data[:4]
    with suppress(Exception):  # an encoder may refuse impossible values in any way
        if kind in _CODECS:
            decode, encode = _CODECS[kind]
            return encode(other(decode(data), random))
        return phase_file.encode(_KINDS[kind], other(phase_file.decode(_KINDS[kind], data), random))
    return data


def other(value: Any, random: Random) -> Any:
    """Another value of the same type: one of its parts is changed, left out or repeated."""
    if is_dataclass(value) and not isinstance(value, type):
        name = random.choice([f.name for f in fields(value)])
        return replace(value, **{name: other(getattr(value, name), random)})
    match value:
        case tuple():
            return _other_items(cast("tuple[Any, ...]", value), random)
        case bool():
            return not value
        case Enum():
            return random.choice(list(type(value)))
        case int():
            return random.choice((value + 1, value - 1, -value, value * 2, *random.sample(NUMBERS, 2)))
        case str():
            return of_text(value, random)
        case bytes():
            return of_configuration(value, random) if value[:4] in _KINDS else of_bytes(value, random)
        case None:
            return random.choice(NUMBERS)
        case _:
            return value


def _other_items(items: tuple[Any, ...], random: Random) -> tuple[Any, ...]:
    if not items:
        return items
    at = random.randrange(len(items))
    match random.randrange(12):
        case 0:
            return (*items[:at], *items[at + 1 :])
        case 1:
            return (*items[:at], items[at], *items[at:])
        case 2:
            return (*items[:at], random.choice(items), *items[at + 1 :])
        case _:
            return (*items[:at], other(items[at], random), *items[at + 1 :])


def repaired(data: bytes) -> bytes:
    """`data` with the hash of its names and the checksum that belong to it, where its section table allows that."""
    kind = _KINDS.get(data[:4])
    if kind is None or len(data) < _HEADER + 4 * kind.sections or len(data) % 4:
        return data
    names = fletcher64(data[min(_names(data, kind), len(data)) :])
    checked = data[CHECKED : CHECKED + 8] + names.to_bytes(8, "little") + data[_HEADER:]
    return data[:8] + fletcher64(checked).to_bytes(8, "little") + checked


def _names(data: bytes, kind: FileKind) -> int:
    """Where the last section begins."""
    at = _HEADER + 4 * (kind.sections - 2)
    return (int.from_bytes(data[at : at + 4], "little") + 3) // 4 * 4


def of_text(text: str, random: Random) -> str:
    """Tokens and lines changed, left out, repeated, exchanged and nested."""
    for _ in range(random.choice((1, 1, 2, 4))):
        text = _of_tokens(text, random) if random.randrange(4) else _of_lines(text, random)
    return text


def _of_tokens(text: str, random: Random) -> str:
    tokens = _TOKEN.findall(text) or [""]
    at, there = random.randrange(len(tokens)), random.randrange(len(tokens))
    match random.randrange(8):
        case 0:
            tokens[at] = ""
        case 1:
            tokens[at] *= random.choice((2, 3, 200))
        case 2:
            tokens[at], tokens[there] = tokens[there], tokens[at]
        case 3:
            tokens[at] = tokens[there]
        case 4:
            tokens[at] = f"{'(' * random.choice((1, 2, 2000))}{tokens[at]}"
        case 5:
            tokens[at] += random.choice((random.choice(_WORDS), chr(random.randrange(0x3000))))
        case _:
            tokens[at] = random.choice(_WORDS)
    return "".join(tokens)


def _of_lines(text: str, random: Random) -> str:
    lines = text.split("\n")
    at, there = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(there, lines[at])
        case 2:
            lines[at], lines[there] = lines[there], lines[at]
        case _:
            lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]
    return "\n".join(lines)


def of_text_bytes(data: bytes, random: Random) -> bytes:
    """A text, and now and then one that is not UTF-8."""
    if not random.randrange(12):
        return of_bytes(data, random)
    return of_text(data.decode("utf-8", "surrogateescape"), random).encode("utf-8", "surrogatepass")
