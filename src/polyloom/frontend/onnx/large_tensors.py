# SPDX-License-Identifier: Apache-2.0
"""Large initializers of a model file, read from the file into their arrays and left out of what the package parses: its
protocol buffer would hold each of them once more, and hand it out as a further copy.

A protocol buffer is a sequence of fields, each a tag (number and wire type), and a number or a length with so many
bytes (Protocol Buffers, Encoding). Fields are numbered as in onnx.proto: ModelProto.graph is 7, GraphProto.initializer
5, and of TensorProto data_type is 2 and raw_data 9.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from polyloom import memory
from polyloom.binary import leb128
from polyloom.frontend.onnx.tensors import Known

_GRAPH: Final = 7
_INITIALIZER: Final = 5
_DATA_TYPE: Final = 2
_RAW_DATA: Final = 9
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
LARGE: Final = 1 << 16
"""Bytes from which on the elements of an initializer are read apart."""
_FIELDS: Final = 256
"""Fields of an initializer whose elements are read apart: extents, a name, a type, elements, and what describes it."""
_LONGEST_TAG: Final = 5
"""Bytes of a tag, a number of 32 bits; decoders refuse longer ones."""
_TYPES: Final = {1: "<f4", 2: "u1", 3: "i1", 4: "<u2", 5: "<i2", 6: "<i4", 7: "<i8", 10: "<f2", 11: "<f8", 12: "<u4"}
"""By TensorProto.DataType: types whose raw data are their elements, little-endian (onnx.proto, raw_data)."""


class MalformedMessage(Exception):
    """Bytes that are no protocol buffer."""


@dataclass(frozen=True, slots=True)
class LightModel:
    """The bytes of a model without the elements of large initializers, and these elements, flat, by the number of the
    initializer."""

    content: bytes
    elements: dict[int, Known]


@dataclass(frozen=True, slots=True)
class _Field:
    """A field: its number and wire type, where it begins, where its payload begins and ends, a varint's number."""

    number: int
    kind: int
    begin: int
    start: int
    end: int
    value: int


Shorten = Callable[[_Field], bytes | None]
"""A shorter payload of a field; None where it stays."""


def read_light_model(path: str) -> LightModel | None:
    """The model of a regular file; None where it has no large initializer, or is no model. Raises OSError, and PL0605
    where its elements do not fit into the memory."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        reader, size = _Reader(file), os.fstat(file.fileno()).st_size
        memory.require_memory(size, f"'{path}'", "use a smaller model")
        try:
            content = reader.model(size)
        except MalformedMessage:
            return None
    return LightModel(content, reader.elements) if reader.elements else None


class _Reader:
    """`elements` that were read, `count` of initializers so far (mutable)."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.count, self.elements = file, 0, dict[int, Known]()

    def model(self, size: int) -> bytes:
        return self.message(0, size, lambda field: self.graph(field) if field.number == _GRAPH else None)

    def graph(self, field: _Field) -> bytes:
        return self.message(field.start, field.end, lambda f: self.tensor(f) if f.number == _INITIALIZER else None)

    def message(self, start: int, end: int, shorten: Shorten) -> bytes:
        """A message whose parts are as they were, or shorter."""
        found = bytearray()
        for field in self.fields(start, end):
            inner = shorten(field) if field.kind == _BYTES else None
            if inner is None:
                found += self.part(field.begin, field.end)
            else:
                found += leb128(field.number << 3 | _BYTES) + leb128(len(inner)) + inner
        return bytes(found)

    def tensor(self, field: _Field) -> bytes | None:
        """An initializer without its elements, where these are large."""
        number, self.count = self.count, self.count + 1
        if field.end - field.start < LARGE:
            return None
        fields = list(islice(self.fields(field.start, field.end), _FIELDS + 1))
        # Elements that are fields of their own: the package holds them in less room than this list.
        if len(fields) > _FIELDS:
            return None
        raw = [f for f in fields if f.number == _RAW_DATA and f.kind == _BYTES]
        # Of a field that is there more than once, the last one counts (Encoding, "Last One Wins").
        types = [f.value for f in fields if f.number == _DATA_TYPE and f.kind == _VARINT]
        held = _TYPES.get(types[-1]) if types else None
        if len(raw) != 1 or held is None:
            return None
        size = raw[0].end - raw[0].start
        kind = np.dtype(held)
        # Elements of another size than the type has are the package's to refuse.
        if size < LARGE or size % kind.itemsize:
            return None
        self.file.seek(raw[0].start)
        self.elements[number] = np.fromfile(self.file, kind, size // kind.itemsize)
        return b"".join(self.part(f.begin, f.end) for f in fields if f is not raw[0])

    def fields(self, start: int, end: int) -> Iterator[_Field]:
        """The fields between two places. Raises MalformedMessage."""
        at = start
        while at < end:
            tag, first = self.varint(at, end)
            if first - at > _LONGEST_TAG:
                raise MalformedMessage
            number, kind, value, stop = tag >> 3, tag & 7, 0, first
            if kind == _VARINT:
                value, stop = self.varint(first, end)
            elif kind == _BYTES:
                length, first = self.varint(first, end)
                stop = first + length
            elif kind in (_FIXED_32, _FIXED_64):
                stop = first + (4 if kind == _FIXED_32 else 8)
            else:
                raise MalformedMessage
            if stop > end:
                raise MalformedMessage
            yield _Field(number, kind, at, first, stop, value)
            at = stop

    def varint(self, at: int, end: int) -> tuple[int, int]:
        """A number of seven bits per byte, the lowest first, and where it ends."""
        found = 0
        for n, byte in enumerate(self.part(at, min(at + 10, end))):
            found |= (byte & 0x7F) << 7 * n
            if byte < 0x80:
                return found, at + n + 1
        raise MalformedMessage

    def part(self, start: int, end: int) -> bytes:
        self.file.seek(start)
        return self.file.read(end - start)
