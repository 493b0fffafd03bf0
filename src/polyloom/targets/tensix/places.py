# SPDX-License-Identifier: Apache-2.0
"""What `--in` and `--out` of a tile name: `dst:FORMAT`, an address in L1, or an array of `pl.tensix.Tile`.

Dst holds the bits of a number in an order of its own: sign, mantissa, exponent; a row of 32 bits lies in two rows of 16
that are 8 apart (docs/targets/tensix.md). Floats are rounded to nearest even; unsigned arrays are bits. Tiles are four
faces of 16 rows, of which the first two stand above the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.targets.tensix.tile import VIEWS, Tile

_FORMATS: Final = {"bf16": 16, "fp16": 16, "fp32": 32, "int32": 32, "uint16": 16}
"""Bits of a number; bits of BF16 are the upper half of FP32's."""
_ROWS, _COLUMNS, _FACE, _TILE = 1024, 16, 16, 32
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Where:
    """`address` of L1, or the `name` of an array, of Dst in a `format`."""

    text: str
    name: str = ""
    format: str = ""
    address: int = 0


def where(text: str) -> Where:
    """What stands before the equals sign. Errors: PL1225."""
    name, _, form = text.partition(":")
    if name[:1].isdigit():
        try:
            address = int(text, 0)
        except ValueError:
            raise _unknown(f"'{text}' is no address", "write for instance 0x20000") from None
        return Where(text, address=address)
    if name not in VIEWS:
        raise _unknown(f"a tile has no array '{name}'", nearest(name, VIEWS, "array"))
    if form and (name != "dst" or form not in _FORMATS):
        raise _unknown(f"'{text}' has no format '{form}'", nearest(form, _FORMATS, "format"))
    return Where(text, name, form)


def put(tile: Tile, at: Where, given: Array) -> None:
    """An input. Errors: PL1225 outside of L1, PL1226 for a shape or type that does not fit."""
    if not at.name:
        data = np.frombuffer(given.tobytes(), np.uint8)
        _in_l1(tile, at, len(data))[:] = data
    elif not at.format:
        _put_bits(tile, at, given)
    else:
        bits = rows_of(_bits(at, given), at.text)
        _put_rows(tile, at, bits)


def get(tile: Tile, at: Where, size: int | None, like: Array | None) -> Array:
    """An output: `size` bytes of L1, or rows of Dst; `like` is the input of the same name, whose shape it takes."""
    if not at.name:
        return _in_l1(tile, at, 0 if size is None else size).copy()
    view = cast(Array, getattr(tile, at.name))
    if not at.format:
        return view.copy()
    rows = _rows(tile, at.format)
    if size is not None:
        return _values(at.format, rows[:size])
    if like is None:
        return _values(at.format, rows)
    rows = rows[: like.size // _COLUMNS]
    return _values(at.format, rows if like.shape == rows.shape else tiles_of(rows).reshape(like.shape))


def rows_of(array: Array, name: str) -> Array:
    """(rows, 16), of rows or of tiles. Errors: PL1226."""
    if array.ndim == 2 and array.shape[1] == _COLUMNS:
        return array
    tiles = array[None] if array.ndim == 2 else array
    if tiles.ndim != 3 or tiles.shape[1:] != (_TILE, _TILE):
        shape = "x".join(map(str, array.shape))
        raise _unfit(f"{name} is an array of {shape}", "give (rows, 16), (32, 32) or (n, 32, 32)")
    faces = tiles.reshape(-1, 2, _FACE, 2, _FACE).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(faces).reshape(-1, _COLUMNS)


def tiles_of(rows: Array) -> Array:
    """(n, 32, 32): the inverse of `rows_of`."""
    faces = rows.reshape(-1, 2, 2, _FACE, _FACE).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(faces).reshape(-1, _TILE, _TILE)


def _bits(at: Where, given: Array) -> Array:
    """The bits of numbers in their format, in the usual order."""
    wide = _FORMATS[at.format] == 32
    if given.dtype.kind == "u" and given.dtype.itemsize * 8 == _FORMATS[at.format]:
        return given.astype(np.uint32)
    if given.dtype.kind == "f" and at.format in ("bf16", "fp16", "fp32"):
        return _rounded(at.format, given)
    if given.dtype.kind == "i" and at.format == "int32" and given.dtype.itemsize <= 4:
        wider = given.astype(np.int64)
        return np.where(wider < 0, np.minimum(-wider, 0x7FFFFFFF) | 0x80000000, wider).astype(np.uint32)
    help = f"give floats, or uint{32 if wide else 16} for bits" if at.format != "int32" else "give int32 or uint32"
    raise _unfit(f"{at.text} is an array of {given.dtype}", help)


def _rounded(form: str, given: Array) -> Array:
    """To nearest even, by way of FP32 where the input is wider than that."""
    with np.errstate(over="ignore", invalid="ignore"):
        if form == "fp16":
            return given.astype(np.float16).view(np.uint16).astype(np.uint32)
        single = given.astype(np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    if form == "fp32":
        return bits.astype(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(single), bits >> 16 | 0x40, rounded).astype(np.uint32)


def _values(form: str, bits: Array) -> Array:
    """Numbers of the bits of a format."""
    if form == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    if form == "fp16":
        return bits.astype(np.uint16).view(np.float16)
    if form == "fp32":
        return bits.astype(np.uint32).view(np.float32)
    if form == "int32":
        magnitude = (bits & 0x7FFFFFFF).astype(np.int64)
        return np.where(bits >> 31 & 1, -magnitude, magnitude).astype(np.int32)
    return bits.astype(np.uint16)


def _put_rows(tile: Tile, at: Where, bits: Array) -> None:
    wide = _FORMATS[at.format] == 32
    most = _ROWS // (2 if wide else 1)
    if len(bits) > most:
        raise _unfit(f"{at.text} has {len(bits)} rows", f"Dst has {most} rows of this format")
    rows = np.arange(len(bits))
    upper = (rows & 0x1F8) << 1 | (rows & 0x207) if wide else rows
    high = bits >> 16 if wide else bits
    tile.dst[upper] = _shuffled(at.format, high).astype(np.uint16)
    tile.dst_valid[upper] = 1
    if wide:
        tile.dst[upper + 8] = (bits & 0xFFFF).astype(np.uint16)
        tile.dst_valid[upper + 8] = 1


def _rows(tile: Tile, form: str) -> Array:
    """All rows of Dst in a format, in the usual order of bits."""
    if _FORMATS[form] == 16:
        return _restored(form, tile.dst.astype(np.uint32))
    rows = np.arange(_ROWS // 2)
    upper = (rows & 0x1F8) << 1 | (rows & 0x207)
    return _restored(form, tile.dst[upper].astype(np.uint32)) << 16 | tile.dst[upper + 8]


def _shuffled(form: str, bits: Array) -> Array:
    """Sign, mantissa, exponent, from sign, exponent, mantissa."""
    exponent, mantissa = (5, 10) if form == "fp16" else (8, 7)
    if form == "uint16":
        return bits
    return bits & 0x8000 | (bits & (1 << mantissa) - 1) << exponent | bits >> mantissa & (1 << exponent) - 1


def _restored(form: str, bits: Array) -> Array:
    """The inverse of `_shuffled`."""
    exponent, mantissa = (5, 10) if form == "fp16" else (8, 7)
    if form == "uint16":
        return bits
    return bits & 0x8000 | (bits & (1 << exponent) - 1) << mantissa | bits >> exponent & (1 << mantissa) - 1


def _put_bits(tile: Tile, at: Where, given: Array) -> None:
    view = cast(Array, getattr(tile, at.name))
    if given.dtype != view.dtype or given.shape != view.shape:
        shape = "x".join(map(str, view.shape))
        raise _unfit(f"{at.text} is an array of {given.dtype}{list(given.shape)}", f"give {view.dtype} of {shape}")
    view[...] = given


def _in_l1(tile: Tile, at: Where, size: int) -> NDArray[np.uint8]:
    if not 0 <= at.address <= len(tile.l1) - size:
        message = f"{size} bytes at {at.address:#x} do not lie in L1"
        raise _unknown(message, f"L1 has the addresses 0 to {len(tile.l1) - 1:#x}")
    return tile.l1[at.address : at.address + size]


def _unknown(message: str, help: str) -> PolyloomError:
    return input_error("PL1225", message, help=help)


def _unfit(message: str, help: str) -> PolyloomError:
    return input_error("PL1226", message, help=help)
