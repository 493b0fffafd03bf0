# SPDX-License-Identifier: Apache-2.0
"""Number formats of a tile: NumPy's numbers as bits and back, in the usual order of bits, and tiles as rows of 16.

Floats are rounded to nearest even (IEEE 754); an unsigned array is bits of floats. What is read back in the format in
which it was written is the same number: signed and unsigned integers have formats of their own.

A tile is four faces of 16 rows, of which the first two stand above the others. In L1 rows follow one another; of BFP8,
the exponents of all rows of a tile come first, a byte each, then datums of a sign and seven bits of magnitude (ISA
documentation, page of `UNPACR`, block floating point).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import PolyloomError, input_error

Array = NDArray[Any]
DST_FORMATS: Final = {"bf16": 16, "fp16": 16, "fp32": 32, "int32": 32, "uint32": 32, "uint16": 16}
"""Bits of a number; bits of BF16 are the upper half of FP32's; signed integers are a sign and a magnitude."""
L1_FORMATS: Final = {**DST_FORMATS, "int8": 8, "uint8": 8, "bfp8": 8}
_SIGNED: Final = ("int32", "int8")
COLUMNS: Final = 16
TILE_ROWS: Final = 64
_FACE, _TILE = 16, 32
_HIDDEN: Final = 64
"""The leading one of a datum of BFP8."""


def to_bits(form: str, given: Array, name: str) -> Array:
    """Bits of numbers in their format; of BFP8 those of FP32. Errors: PL1226."""
    width = L1_FORMATS[form]
    # An unsigned array of the format's width is taken as bits, so that NaNs and signed zeros can be given exactly.
    if given.dtype.kind == "u" and given.dtype.itemsize * 8 == width and form not in (*_SIGNED, "bfp8"):
        return given.astype(np.uint32)
    if given.dtype.kind == "f" and form in ("bf16", "fp16", "fp32", "bfp8"):
        return _encode_nearest("fp32" if form == "bfp8" else form, given)
    if given.dtype.kind == "i" and form in _SIGNED and given.dtype.itemsize * 8 <= width:
        return _to_sign_magnitude(form, given.astype(np.int64), name)
    help = f"give floats, or uint{width} for bits"
    if form.startswith(("int", "uint")):
        help = f"give {form}"
    if given.dtype.kind == "u" and form in _SIGNED:
        help = f"unsigned numbers have a format of their own: write {name.replace(form, f'u{form}')}"
    raise unfit_error(f"{name} is an array of {given.dtype}", "give floats" if form == "bfp8" else help)


def _to_sign_magnitude(form: str, given: Array, name: str) -> Array:
    sign = 1 << (L1_FORMATS[form] - 1)
    # Sign and magnitude has one negative number less than two's complement.
    if np.any(given == -sign):
        help = f"numbers of {form} go from {1 - sign} to {sign - 1}, since they are a sign and a magnitude"
        raise unfit_error(f"{name} has the number {-sign}", help)
    return np.where(given < 0, -given | sign, given).astype(np.uint32)


def _encode_nearest(form: str, given: Array) -> Array:
    """Rounding to nearest even, by way of FP32 where the input is wider than that."""
    with np.errstate(over="ignore", invalid="ignore"):
        if form == "fp16":
            return given.astype(np.float16).view(np.uint16).astype(np.uint32)
        single = given.astype(np.float32)
    wide = single.view(np.uint32).astype(np.uint64)
    if form == "fp32":
        return wide.astype(np.uint32)
    rounded = (wide + 0x7FFF + (wide >> 16 & 1)) >> 16
    # Rounding could carry a NaN's payload into the exponent; a quiet NaN keeps its sign and upper bits.
    return np.where(np.isnan(single), wide >> 16 | 0x40, rounded).astype(np.uint32)


def to_numbers(form: str, given: Array) -> Array:
    """Numbers of the bits of a format."""
    if form == "bf16":
        return (given.astype(np.uint32) << 16).view(np.float32)
    if form == "fp16":
        return given.astype(np.uint16).view(np.float16)
    if form in ("fp32", "bfp8"):
        return given.astype(np.uint32).view(np.float32)
    if form in _SIGNED:
        width = L1_FORMATS[form]
        magnitude = (given & (1 << (width - 1)) - 1).astype(np.int64)
        return np.where(given >> (width - 1) & 1, -magnitude, magnitude).astype(form)
    return given.astype(form)


def to_rows(array: Array, name: str) -> Array:
    """Rows of 16 datums, (rows, 16), of rows or of tiles. Errors: PL1226."""
    if array.ndim == 2 and array.shape[1] == COLUMNS:
        return array
    tiles = array[None] if array.ndim == 2 else array
    if tiles.ndim != 3 or tiles.shape[1:] != (_TILE, _TILE):
        shape = "x".join(map(str, array.shape))
        raise unfit_error(
            f"{name} is an array of {shape}" if shape else f"{name} is a single number",
            "give (rows, 16), (32, 32) or (n, 32, 32)",
        )
    # Faces in order: top left, top right, bottom left, bottom right, each row-major.
    faces = tiles.reshape(-1, 2, _FACE, 2, _FACE).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(faces).reshape(-1, COLUMNS)


def to_tiles(rows: Array) -> Array:
    """Tiles (n, 32, 32): the inverse of `to_rows`."""
    faces = rows.reshape(-1, 2, 2, _FACE, _FACE).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(faces).reshape(-1, _TILE, _TILE)


def l1_bytes(form: str, rows: int) -> int:
    """Bytes in L1 of a number of rows: with exponents for BFP8, in tiles whose exponents fill up 16 bytes."""
    # The last tile of a matrix may be partial: its exponents are then fewer, but padded to the same alignment.
    exponents = (
        sum(_exponent_bytes(min(TILE_ROWS, rows - at)) for at in range(0, rows, TILE_ROWS)) if form == "bfp8" else 0
    )
    return exponents + rows * COLUMNS * L1_FORMATS[form] // 8


def to_l1(form: str, rows: Array) -> bytes:
    """Bytes of rows of bits as they lie in L1."""
    if form != "bfp8":
        return bytes(rows.astype(f"<u{L1_FORMATS[form] // 8}").tobytes())
    return b"".join(_encode_blocks(rows[at : at + TILE_ROWS]) for at in range(0, len(rows), TILE_ROWS))


def from_l1(form: str, data: NDArray[np.uint8], rows: int) -> Array:
    """Rows of bits of bytes in L1: the inverse of `to_l1`."""
    if form != "bfp8":
        return data.view(f"<u{L1_FORMATS[form] // 8}").astype(np.uint32).reshape(rows, COLUMNS)
    found: list[Array] = []
    at = 0
    for first in range(0, rows, TILE_ROWS):
        count = min(TILE_ROWS, rows - first)
        # Exponents of a tile come first, padded to 16 bytes, and then its rows of datums.
        exponents, start = data[at : at + count], at + _exponent_bytes(count)
        at = start + count * COLUMNS
        found.append(_decode_blocks(exponents, data[start:at].reshape(count, COLUMNS)))
    return np.concatenate(found) if found else np.zeros((0, COLUMNS), np.uint32)


def _exponent_bytes(rows: int) -> int:
    return (rows + 15) // 16 * 16


def _encode_blocks(rows: Array) -> bytes:
    """Block floating point: magnitudes under the largest exponent of a row, to nearest even; denormals count as
    zero."""
    # A zero exponent in all 16 datums means that the whole row is zero or denormal.
    exponent = (rows >> 23 & 0xFF).max(1)
    with np.errstate(invalid="ignore", over="ignore"):
        numbers = np.nan_to_num(rows.astype(np.uint32).view(np.float32).astype(np.float64))
        # The hidden one of the row's largest number is bit 6 of a datum; all others are shifted down to the same
        # exponent.
        scaled = np.rint(np.abs(numbers) / 2.0 ** (exponent[:, None].astype(np.float64) - 127) * _HIDDEN)
    magnitude = np.where(exponent[:, None] > 0, np.minimum(scaled, 2 * _HIDDEN - 1), 0).astype(np.uint8)
    # A magnitude of zero has no sign in a block format.
    sign = np.where(magnitude > 0, rows >> 31 << 7, 0).astype(np.uint8)
    head = exponent.astype(np.uint8).tobytes().ljust(_exponent_bytes(len(rows)), b"\0")
    return head + (sign | magnitude).astype(np.uint8).tobytes()


def _decode_blocks(exponents: NDArray[np.uint8], datums: NDArray[np.uint8]) -> Array:
    """FP32 bits of a block of BFP8 datums."""
    size = (datums & 0x7F).astype(np.float64) / _HIDDEN * 2.0 ** (exponents[:, None].astype(np.float64) - 127)
    with np.errstate(over="ignore"):
        return np.where(datums >> 7, -size, size).astype(np.float32).view(np.uint32)


def unfit_error(message: str, help: str) -> PolyloomError:
    """Errors: PL1226."""
    return input_error("PL1226", message, help=help)
