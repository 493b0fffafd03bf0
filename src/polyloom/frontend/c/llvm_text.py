# SPDX-License-Identifier: Apache-2.0
"""Tokens of a module as LLVM prints it, and its types with their layout (LLVM Language Reference Manual, "Data
Layout").

llvmlite verifies a module and names what it has, but shows no predicates, cases, source types, flags or lines: they are
read here. Only what the targets share is known: natural alignment of scalars, pointers of 32 or 64 bits. A pointer into
an address space may stand for a vector; in memory it is a pointer, for which the compiler has laid out everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.ir.ssa_types import ADDRESSES, F32, F64, I1, I8, I16, I32, I64, INTEGERS, PTR, SIZE, WIDTH, Type

_WORD = re.compile(
    r'\s*([%@](?:"[^"]*"|[-\w.$]+)|c"[^"]*"|"[^"]*"|![\w.]*|-?\d+\.\d+e[+-]\d+|0x[0-9A-FKLMHR]+|-?\d+(?![\w.])|[\w.]+|\.\.\.|\S)'
)
_IN_C: Final = {"half": "_Float16", "bfloat": "__bf16", "fp128": "long double", "x86_fp80": "long double"}
_SCALARS: Final[dict[str, Type]] = {"float": F32, "double": F64}


class Unsupported(Exception):
    """The text says what is not supported."""


@dataclass(frozen=True, slots=True)
class Model:
    """Data model of a module: its named structures, the width of its pointers, and what those into other address spaces
    stand for.
    """

    structures: Mapping[str, str]
    pointers: int = 64
    spaces: Mapping[int, Type] = field(default_factory=dict[int, Type])

    @property
    def address(self) -> Type:
        """The integer that is as wide as a pointer."""
        return ADDRESSES[self.pointers]


@dataclass(frozen=True, slots=True)
class Scalar:
    """`size` is the number of bytes that C gives it."""

    type: Type
    size: int


@dataclass(frozen=True, slots=True)
class Odd:
    """An integer of a width that no C type has, at most 64 bits."""

    width: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """Array layout: `count` elements, without padding between them."""

    count: int
    element: Layout


@dataclass(frozen=True, slots=True)
class Structure:
    """Structure layout; `packed` fields have no padding."""

    fields: tuple[Layout, ...]
    packed: bool


Layout = Scalar | Odd | Sequence | Structure


def container_type(width: int) -> Type:
    """The least type of `ir.ssa` for an integer of the width."""
    return next(type for type in INTEGERS if WIDTH[type] >= width)


def abi_alignment(layout: Layout) -> int:
    """Alignment of a layout in bytes (LLVM Language Reference Manual, "Data Layout": natural alignment)."""
    match layout:
        case Scalar(_, size):
            return size
        case Odd(width):
            # As clang's data layout has it: the next power of two of bytes, at most 8.
            return min(8, 1 << ((width + 7) // 8 - 1).bit_length())
        case Sequence(_, element):
            return abi_alignment(element)
        case Structure(fields, packed):
            return 1 if packed else max(map(abi_alignment, fields), default=1)


def allocation_size(layout: Layout) -> int:
    """Allocation size: bytes from one element of an array to the next, trailing padding included (C17, section
    6.5.3.4).
    """
    match layout:
        case Scalar(_, size):
            return size
        case Odd():
            return abi_alignment(layout)
        case Sequence(count, element):
            return count * allocation_size(element)
        case Structure(fields):
            end = field_offset(layout, len(fields))
            return -(-end // abi_alignment(layout)) * abi_alignment(layout)


def field_offset(structure: Structure, field: int) -> int:
    """Offset of a field in bytes; one after the last gives the end, without padding."""
    place = 0
    for k, layout in enumerate(structure.fields):
        align = 1 if structure.packed else abi_alignment(layout)
        place = -(-place // align) * align
        if k == field:
            return place
        place += allocation_size(layout)
    return place


class Words:
    """Token stream of a text, consumed from the front."""

    def __init__(self, text: str, model: Model) -> None:
        self.words, self.next, self.model = _WORD.findall(text), 0, model

    def peek(self) -> str:
        return self.words[self.next] if self.next < len(self.words) else ""

    def pop(self) -> str:
        self.next += 1
        return self.words[self.next - 1] if self.next <= len(self.words) else ""

    def take(self, *words: str) -> str:
        """The next word if it is one of these, else nothing."""
        return self.pop() if self.peek() in words else ""

    def expect(self, word: str) -> None:
        if self.pop() != word:
            raise Unsupported(f"`{' '.join(self.words)}`")

    def skip(self) -> None:
        """An attribute, which a word in parentheses may follow: `align(4)`, `align 4`."""
        word = self.pop()
        if self.peek() == "(":
            self.group()
        elif word == "align":
            self.pop()

    def group(self) -> None:
        """Parentheses with all that is in them."""
        depth = 0
        while True:
            word = self.pop()
            depth += {"(": 1, ")": -1}.get(word, 0)
            if depth == 0 or not word:
                return

    def layout(self) -> Layout:
        """Layout of the type that follows: a scalar, an odd integer, an array or a structure. Raises `Unsupported`."""
        word = self.pop()
        if word == "ptr":
            return Scalar(self._pointer_type(), self.model.pointers // 8)
        if word in _SCALARS:
            return Scalar(_SCALARS[word], SIZE[_SCALARS[word]])
        if word == "[":
            count = int(self.pop())
            self.expect("x")
            element = self.layout()
            self.expect("]")
            return Sequence(count, element)
        if word == "{" or (word == "<" and self.peek() == "{"):
            return self._structure(word == "<")
        if word in self.model.structures:
            # Named structures cannot contain themselves but through pointers, which are opaque.
            return Words(self.model.structures[word], self.model).layout()
        return _integer_layout(word)

    def _pointer_type(self) -> Type:
        """Type of a pointer: itself where no address space is named, else what the table of external functions says."""
        if not self.take("addrspace"):
            return PTR
        self.expect("(")
        space = self.pop()
        self.expect(")")
        if (found := self.model.spaces.get(int(space))) is None:
            raise Unsupported("a pointer into another address space")
        return found

    def _structure(self, packed: bool) -> Structure:
        if packed:
            self.expect("{")
        fields: list[Layout] = []
        while not self.take("}"):
            fields.append(self.layout())
            self.take(",")
        if packed:
            self.expect(">")
        return Structure(tuple(fields), packed)

    def scalar(self) -> Type:
        """A type of `ir.ssa`."""
        type, width = self.legal_type()
        if width:
            raise Unsupported(f"an integer of {width} bits")
        return type

    def legal_type(self) -> tuple[Type, int]:
        """A type that a value can have, and 0; or the type that holds an integer of an odd width, and the width."""
        layout = self.layout()
        match layout:
            case Scalar(type, _):
                return type, 0
            case Odd(width):
                return container_type(width), width
            case Sequence() | Structure():
                raise Unsupported("a structure or an array as a value")


def _integer_layout(word: str) -> Layout:
    if word == "<":
        raise Unsupported("a vector")
    if (match := re.fullmatch(r"i(\d+)", word)) is None:
        raise Unsupported(f"the type `{_IN_C.get(word, word)}`")
    width = int(match[1])
    if width > 64:
        raise Unsupported(f"an integer of {width} bits")
    known: dict[int, Type] = {1: I1, 8: I8, 16: I16, 32: I32, 64: I64}
    return Scalar(known[width], SIZE[known[width]]) if width in known else Odd(width)
