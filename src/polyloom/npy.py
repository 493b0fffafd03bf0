# SPDX-License-Identifier: Apache-2.0
"""Reader and writer of NumPy's files of one array (.npy, versions 1 to 3; NumPy Enhancement Proposal 1, 2007).

The reader takes the header apart itself (numpy.lib.format documents it): the magic bytes, two bytes of version, the
header's length in two bytes, or four from version 2 on, then a Python dictionary as text, then the elements. NumPy
evaluates that text as Python and allocates what it declares; here the text is matched with a pattern, and the elements
must be exactly the rest of the file, so that nothing larger than the file is ever allocated.
"""

from __future__ import annotations

import ast
import io
import os
import re
import sys
from math import prod
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from polyloom import files
from polyloom.diagnostics import PolyloomError, input_error

_MAGIC: Final = b"\x93NUMPY"
# A .npz file is a zip archive, which begins with these two letters.
_ARCHIVE: Final = b"PK"
_LONGEST: Final = 10_000
"""Bytes of a header: NumPy's own limit. A header of 32 dimensions has fewer than 1000."""
_RANK: Final = 32
_ITEM: Final = re.compile(
    r"""\s*(['"])(?P<key>descr|fortran_order|shape)\1\s*:\s*
        (?:(?P<text>'[^'\\]*'|"[^"\\]*"|\[[^{}]*\](?=\s*(?:,\s*['"](?:fortran_order|shape)['"]\s*:|,?\s*\})))|(?P<order>True|False)|(?P<shape>\(\s*(?:[0-9]+L?\s*,\s*)*(?:[0-9]+L?\s*)?\)))
        \s*(?:,|(?=\}))\s*""",
    re.VERBOSE,
)
_BEGIN: Final = re.compile(r"\s*\{")
_KINDS: Final = {"descr": "text", "fortran_order": "order", "shape": "shape"}
# Numbers of the host's sizes only; objects, texts and dates have no counterpart on any target.
_TYPE: Final = re.compile(r"[<>|=]?(?:[?]|b1|[iu][1248]|f(?:2|4|8)|c(?:8|16))")
_PADDING: Final = re.compile(r"\|V[0-9]{1,9}")
_SAVE: Final = "write it with numpy.save(path, array)"


def read(path: str | os.PathLike[str]) -> npt.NDArray[np.generic]:
    """Array of a file, contiguous and in this machine's byte order. Errors: PL0807."""
    return parse(files.read(path), os.fspath(path))


def parse(data: bytes, name: str) -> npt.NDArray[np.generic]:
    """Array in `data`; errors (PL0807) call the file `name`."""
    begin, header = _parse_header(data, name)
    dtype, is_fortran, shape = (
        _element_type(header, name),
        header["fortran_order"] == "True",
        _parse_shape(header, name),
    )
    needed, found = prod(shape) * dtype.itemsize, len(data) - begin
    if needed != found:
        what = "is truncated" if needed > found else "goes on after its array"
        raise _file_error(
            name,
            f"{what}: {_shape_text(shape)} of {dtype.name} are {needed} bytes, and {found} follow the header",
            _SAVE,
        )
    # No copy yet: the length was compared, so the buffer holds exactly these elements.
    flat = np.frombuffer(data, dtype, prod(shape), begin)
    # Column-major elements are the row-major ones of the transpose.
    array = flat.reshape(shape[::-1]).transpose() if is_fortran else flat.reshape(shape)
    return np.array(array, None if dtype.isnative else dtype.newbyteorder("="), order="C")


def encode(array: npt.NDArray[Any]) -> bytes:
    """Bytes of a file of an array; no pickled objects."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _parse_header(data: bytes, name: str) -> tuple[int, dict[str, str]]:
    """Header: where the elements begin, and its three entries as they are written."""
    if data.startswith(_ARCHIVE):
        raise _file_error(
            name, "is an archive, as numpy.savez writes it", "write one array with numpy.save(path, array)"
        )
    if not data.startswith(_MAGIC):
        raise input_error(
            "PL0807", f"'{name}' is not a NumPy array file", notes=(_leading_bytes_note(data),), help=_SAVE
        )
    version = data[len(_MAGIC) : len(_MAGIC) + 2]
    if len(version) == 2 and version not in (b"\1\0", b"\2\0", b"\3\0"):
        raise _file_error(
            name, f"has version {version[0]}.{version[1]} of the format; versions 1.0, 2.0 and 3.0 are known", _SAVE
        )
    start = len(_MAGIC) + 2
    # Version 2 has a longer length for records of many fields; version 3 is UTF-8 (numpy.lib.format).
    size = 2 if version == b"\1\0" else 4
    length = int.from_bytes(data[start : start + size], "little")
    begin = start + size + length
    if length > _LONGEST:
        raise _file_error(name, f"announces a header of {length} bytes; that of an array has at most {_LONGEST}", _SAVE)
    if begin > len(data) or len(data) < start + size:
        raise _file_error(
            name, f"is truncated: it has {len(data)} bytes, and its header ends after {max(begin, start + size)}", _SAVE
        )
    try:
        text = data[start + size : begin].decode("utf-8" if version == b"\3\0" else "latin-1")
    except UnicodeDecodeError as error:
        raise _file_error(
            name, f"has a header that is not UTF-8, at byte {start + size + error.start}", _SAVE
        ) from None
    return begin, _parse_entries(text, name, start + size)


def _parse_entries(text: str, name: str, offset: int) -> dict[str, str]:
    """Entries of `{'descr': ..., 'fortran_order': ..., 'shape': ...}`, in any order, each once."""
    found: dict[str, str] = {}
    begin = _BEGIN.match(text)
    at = begin.end() if begin else 0
    while begin and (match := _ITEM.match(text, at)):
        value = match[_KINDS[match["key"]]]
        # A key with a value of another kind, or twice: malformed from here on.
        if value is None or match["key"] in found:
            break
        found[match["key"]] = value
        at = match.end()
    if text[at:].strip() == "}" and len(found) == len(_KINDS):
        return found
    if "'O'" in text or "|O" in text:
        raise _file_error(
            name,
            "holds pickled Python objects, which are not read",
            "convert it: `array.astype(numpy.float32)` or numpy.int32",
        )
    raise _file_error(name, f"has a malformed header, at byte {offset + at}: {text[at : at + 40].strip()!r}", _SAVE)


def _element_type(header: dict[str, str], name: str) -> np.dtype[Any]:
    """Element type of a header: a number, or a struct of numbers; PL0807 for objects and other types."""
    if header["descr"].startswith("["):
        return _record_type(header["descr"], name)
    text = header["descr"][1:-1]
    if not _TYPE.fullmatch(text):
        what = (
            "pickled Python objects, which are not read"
            if text.lstrip("<>|=").startswith("O")
            else f"elements of the type '{text[:40]}'"
        )
        raise _file_error(name, f"holds {what}", "convert it: `array.astype(numpy.float32)` or numpy.int32")
    return np.dtype(text.replace("b1", "?"))


def _record_type(text: str, name: str) -> np.dtype[Any]:
    """Type of a struct. Only literals are evaluated, of a header of bounded length; then each field must be a number, a
    struct or padding."""
    try:
        fields: object = ast.literal_eval(text)
        if not _is_field_list(fields):
            raise ValueError
        dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(fields)  # pyright: ignore[reportArgumentType, reportUnknownMemberType]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, OverflowError):
        raise _file_error(name, f"holds records that are not structs of numbers: {text[:60]}", _SAVE) from None
    if not dtype.itemsize:
        raise _file_error(name, "holds records without a byte", _SAVE)
    return dtype


def _is_field_list(value: object) -> bool:
    """Whether a value is a list of (name, type) or (name, type, shape), as numpy.lib.format writes them; padding has no
    name."""
    if not isinstance(value, list) or not value:
        return False
    return all(_is_field(item) for item in cast("list[object]", value))


def _is_field(value: object) -> bool:
    """Whether a value is a field: a name, or none for padding, its type, and perhaps a shape."""
    if not isinstance(value, tuple) or len(cast("tuple[object, ...]", value)) not in (2, 3):
        return False
    title, kind, *shape = cast("tuple[object, ...]", value)
    if not isinstance(title, str) or not all(
        isinstance(s, tuple) and all(type(n) is int and n >= 0 for n in cast("tuple[object, ...]", s)) for s in shape
    ):
        return False
    return bool((_TYPE if title else _PADDING).fullmatch(kind)) if isinstance(kind, str) else _is_field_list(kind)


def _parse_shape(header: dict[str, str], name: str) -> tuple[int, ...]:
    """Shape of a header; PL0807 where it has too many dimensions or elements."""
    digits = re.findall("[0-9]+", header["shape"])
    if len(digits) > _RANK:
        raise _file_error(name, f"has {len(digits)} dimensions; an array has at most {_RANK}", _SAVE)
    # A 0 among the extents would hide that the others overflow.
    if any(len(d) > len(str(sys.maxsize)) for d in digits) or prod(max(1, int(d)) for d in digits) > sys.maxsize >> 4:
        raise _file_error(name, f"declares more elements than a computer has bytes: {header['shape'][:80]}", _SAVE)
    return tuple(map(int, digits))


def _shape_text(shape: tuple[int, ...]) -> str:
    return f"{'x'.join(map(str, shape))} elements" if shape else "one element"


def _leading_bytes_note(data: bytes) -> str:
    return f"its first bytes are {data[:6]!r}" if data else "it is empty"


def _file_error(name: str, what: str, help: str) -> PolyloomError:
    return input_error("PL0807", f"'{name}' {what}", help=help)
