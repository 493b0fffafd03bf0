# SPDX-License-Identifier: Apache-2.0
"""Constants of LLVM's text (LLVM Language Reference Manual, "Constants"): scalars as operands of `ir.ssa`, initializers
of variables as bytes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from polyloom.frontend.c.llvm_text import (
    Layout,
    Model,
    Odd,
    Scalar,
    Sequence,
    Structure,
    Unsupported,
    Words,
    allocation_size,
    container_type,
    field_offset,
)
from polyloom.ir.ssa import FLAGS, Address, Constant, Data, Operand, Undef, Value, float_constant, integer_constant
from polyloom.ir.ssa_types import FLOATS, PTR, WIDTH, Type

_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})")
_LINKAGE = (
    "private",
    "internal",
    "linkonce_odr",
    "unnamed_addr",
    "local_unnamed_addr",
    "dso_local",
    "hidden",
    "common",
)
"""Words before `global` or `constant` that say nothing about the bytes."""
_DROPPED: Final = (
    "inbounds",
    "nusw",
    "nneg",
    "disjoint",
    "samesign",
    "nnan",
    "ninf",
    "nsz",
    "arcp",
    "contract",
    "reassoc",
    "afn",
    "fast",
)
"""Flags that only make more undefined."""


def operand(words: Words, type: Type, width: int = 0) -> Operand:
    """Operand of a type: a value, or a constant; zeros are above an odd width."""
    word = words.pop()
    if word.startswith("%"):
        return Value(ssa_name(word), type)
    if word.startswith("@"):
        return Address(ssa_name(word))
    # poison may be refined to any value, and so to the undefined one, of which SSA form has one kind.
    if word in ("undef", "poison"):
        return Undef(type)
    if word == "getelementptr":
        return _constant_address(words)
    if word == "inttoptr":
        return _device_address(words)
    if type in FLOATS:
        return float_constant(type, _read_float(word))
    if type.element == "ptr" and type.lanes == 0 and word == "null":
        return Constant(type, 0)
    if type.lanes:
        raise Unsupported(f"`{word}` as a vector, {type},")
    if (number := {"true": 1, "false": 0, "null": 0, "zeroinitializer": 0}.get(word)) is not None:
        return Constant(type, number)
    if re.fullmatch(r"-?\d+", word) is None:
        raise Unsupported(f"the constant `{word}`")
    # An integer of an odd width is kept with zeros above it (`llvm_widths`).
    return integer_constant(type, int(word) & ((1 << width) - 1) if width else int(word))


def read_flags(words: Words) -> tuple[str, ...]:
    """Flags before the operands, of which those that `ir.ssa` has are kept."""
    found: list[str] = []
    while word := words.take(*FLAGS, *_DROPPED):
        found += [word] if word in FLAGS else []
    return tuple(found)


def typed_operand(words: Words) -> Operand:
    return operand(words, words.scalar())


def legal_operand(words: Words) -> tuple[Operand, int]:
    """An operand that may be an integer of an odd width, and that width or 0."""
    type, width = words.legal_type()
    return operand(words, type, width), width


def ssa_name(word: str) -> str:
    """A name as `ir.ssa` can have it; `%` or `@` and quotes left out. `"\\C3"`, a byte of a name, has no other spelling
    than `..C3`."""
    return re.sub(r"[^\w.$]", "..", word[1:].strip('"'))


def read_variable(name: str, text: str, model: Model) -> Data:
    """Global variable that the text after `@name =` defines, as bytes. Raises `Unsupported` for one without an
    initializer.
    """
    words = Words(text, model)
    while words.take(*_LINKAGE):
        pass
    if (kind := words.pop()) not in ("global", "constant"):
        raise Unsupported(f"the variable `{name}`, which is {'defined elsewhere' if kind == 'external' else kind},")
    layout = words.layout()
    initial = _read_initializer(words, layout)
    if words.take(",") and words.take("comdat"):
        words.take(",")
    align = int(words.pop()) if words.take("align") else 1
    return Data(name, initial.bytes, align, kind == "constant", initial.addresses)


@dataclass(frozen=True, slots=True)
class _Initial:
    """Bytes of an initializer, little-endian, and the pointers in them, in the place of zeros."""

    bytes: bytes
    addresses: tuple[tuple[int, Address], ...] = ()


def _read_initializer(words: Words, layout: Layout) -> _Initial:
    """Initializer of a layout: bytes, and the addresses in them."""
    if words.take("zeroinitializer", "undef", "poison"):
        return _Initial(bytes(allocation_size(layout)))
    match layout:
        case Scalar(type, size):
            return _scalar_initializer(operand(words, type), size)
        case Odd(width):
            return _scalar_initializer(operand(words, container_type(width), width), allocation_size(layout))
        case Sequence(count, element):
            if words.peek().startswith("c"):
                text = words.pop()[2:-1].encode("latin-1")
                return _Initial(_ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), text))
            parts = _element_initializers(words, [element] * count, ("[", "]"))
            return _concatenate(parts, [k * allocation_size(element) for k in range(count)], allocation_size(layout))
        case Structure(fields, packed):
            if packed:
                words.expect("<")
            parts = _element_initializers(words, list(fields), ("{", "}"))
            if packed:
                words.expect(">")
            return _concatenate(parts, [field_offset(layout, k) for k in range(len(fields))], allocation_size(layout))


def _scalar_initializer(value: Operand, size: int) -> _Initial:
    # An address is known only when the program is linked: zeros and a relocation.
    if isinstance(value, Address):
        return _Initial(bytes(size), ((0, value),))
    assert isinstance(value, Constant), f"an initializer is {value}"
    return _Initial((value.value & ((1 << (8 * size)) - 1)).to_bytes(size, "little"))


def _concatenate(parts: Iterable[_Initial], places: Iterable[int], size: int) -> _Initial:
    whole = bytearray(size)
    addresses: list[tuple[int, Address]] = []
    for part, place in zip(parts, places, strict=True):
        whole[place : place + len(part.bytes)] = part.bytes
        addresses += [(place + distance, address) for distance, address in part.addresses]
    return _Initial(bytes(whole), tuple(addresses))


def _element_initializers(words: Words, layouts: list[Layout], marks: tuple[str, str]) -> list[_Initial]:
    words.expect(marks[0])
    parts: list[_Initial] = []
    for layout in layouts:
        words.layout()
        parts.append(_read_initializer(words, layout))
        words.take(",")
    words.expect(marks[1])
    return parts


def _constant_address(words: Words) -> Operand:
    """Constant address: a `getelementptr` expression as a variable and a byte offset."""
    read_flags(words)
    if words.take("inrange"):
        words.group()
    words.expect("(")
    # The first index steps over whole objects of the source type: as if the base were an array of these.
    layout: Layout = Sequence(1, words.layout())
    words.expect(",")
    words.layout()
    base = operand(words, PTR)
    offset = 0
    while words.take(","):
        index = operand(words, words.scalar())
        if not isinstance(index, Constant):
            raise Unsupported("a constant address with an index that is none")
        layout, distance = index_layout(layout, index.value)
        offset += distance
    words.expect(")")
    if not isinstance(base, Address):
        raise Unsupported("a constant address that no variable has")
    return Address(base.name, base.offset + offset)


def _device_address(words: Words) -> Operand:
    """A constant `inttoptr`: where a device is."""
    words.expect("(")
    number = operand(words, words.scalar())
    words.expect("to")
    type = words.scalar()
    words.expect(")")
    if not isinstance(number, Constant):
        raise Unsupported("a constant address that is no number")
    return Constant(type, number.value & ((1 << WIDTH[number.type]) - 1))


def index_layout(layout: Layout, index: int) -> tuple[Layout, int]:
    """Element of a layout that an index leads to, and its distance in bytes."""
    match layout:
        case Sequence(_, element):
            return element, index * allocation_size(element)
        case Structure(fields):
            return fields[index], field_offset(layout, index)
        case _:
            raise Unsupported("an index into a scalar")


def _read_float(word: str) -> float:
    """A decimal that is exact, or the bits of a double, with which singles are written, too."""
    # LLVM prints a float that decimal digits do not hold exactly as the bits of a double.
    if word.startswith("0x"):
        found: float = struct.unpack(">d", int(word, 16).to_bytes(8, "big"))[0]
        return found
    return 0.0 if word == "zeroinitializer" else float(word)
