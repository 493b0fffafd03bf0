# SPDX-License-Identifier: Apache-2.0
"""Places of a tile that `--in` and `--out` name: `dst:FORMAT`, an address in L1, `ADDRESS:FORMAT`, or an array of
`pl.tensix.Tile`.

Dst holds the bits of a number in an order of its own: sign, mantissa, exponent; a row of 32 bits lies in two rows of 16
that are 8 apart (ISA documentation, page of `Dst`; docs/targets/tensix.md). In L1 a tile has no header: the 16 bytes
that unpackers skip are those in front of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.targets.tensix.run.tile import VIEWS, Tile
from polyloom.targets.tensix.words.numbers import (
    COLUMNS,
    DST_FORMATS,
    L1_FORMATS,
    TILE_ROWS,
    from_l1,
    l1_bytes,
    to_bits,
    to_l1,
    to_numbers,
    to_rows,
    to_tiles,
    unfit_error,
)

_ROWS: Final = 1024
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class TilePlace:
    """A place: the `address` in L1, or the `name` of an array; of Dst and of L1 perhaps in a `format`."""

    text: str
    name: str = ""
    format: str = ""
    address: int = 0


def parse_place(text: str) -> TilePlace:
    """Parser of what stands before the equals sign. Errors: PL1225."""
    name, colon, form = text.partition(":")
    if colon and not form:
        raise _place_error(
            f"'{text}' has no format", "write one behind the colon, such as bf16, or leave the colon out"
        )
    if name[:1].isdigit():
        try:
            address = int(name, 0)
        except ValueError:
            raise _place_error(f"'{text}' is no address", "write for instance 0x20000") from None
        if form and form not in L1_FORMATS:
            raise _place_error(f"'{text}' has no format '{form}'", nearest(form, L1_FORMATS, "format"))
        return TilePlace(text, format=form, address=address)
    if name not in VIEWS:
        raise _place_error(f"a tile has no array '{name}'", nearest(name, VIEWS, "array"))
    if form and (name != "dst" or form not in DST_FORMATS):
        help = nearest(form, DST_FORMATS, "format") if name == "dst" else "rows of dst and addresses have formats"
        raise _place_error(f"'{text}' has no format '{form}'", help)
    return TilePlace(text, name, form)


def write_place(tile: Tile, at: TilePlace, given: Array) -> None:
    """Input into its place. Errors: PL1225 outside of L1, PL1226 for a shape or type that does not fit."""
    if not at.name:
        data = to_l1(at.format, to_rows(to_bits(at.format, given, at.text), at.text)) if at.format else given.tobytes()
        # The range is checked as a whole, so that an input that does not fit leaves L1 as it was.
        _l1_view(tile, at, len(data))[:] = np.frombuffer(data, np.uint8)
    elif not at.format:
        _write_view(tile, at, given)
    else:
        _write_rows(tile, at, to_rows(to_bits(at.format, given, at.text), at.text))


def check_output(tile: Tile, at: TilePlace, size: int | None, like: Array | None) -> None:
    """Check before a run that an output can be read after it. Errors: PL1225."""
    if size is None:
        if not at.name and not at.format and like is None:
            raise _place_error(f"the output {at.text} has no size", f"write --out {at.text}=FILE:BYTES")
        return
    if size < 1:
        raise _place_error(f"the output {at.text} has the size {size}", "give a positive number, or none")
    if at.name and not at.format:
        raise _place_error(f"the output {at.text} is an array that has its size", f"write --out {at.text}=FILE")
    # A row of 32 bits takes two rows of 16.
    if at.name and size > (most := _ROWS * 16 // DST_FORMATS[at.format]):
        raise _place_error(f"the output {at.text} has {size} rows", f"Dst has {most} rows of this format")
    if not at.name:
        _l1_view(tile, at, l1_bytes(at.format, size * TILE_ROWS) if at.format else size)


def read_place(tile: Tile, at: TilePlace, size: int | None, like: Array | None) -> Array:
    """Output of a place: `size` bytes of L1, tiles of L1 in a format, or rows of Dst; `like` is the input of the same
    name, whose shape it takes. Errors: PL1225.
    """
    if not at.name:
        return _read_l1(tile, at, size, like)
    view = cast(Array, getattr(tile, at.name))
    if not at.format:
        # A view would change with the tile, which goes on running.
        return view.copy()
    rows = _read_rows(tile, at.format)
    if size is not None:
        return to_numbers(at.format, rows[:size])
    if like is None:
        return to_numbers(at.format, rows)
    return _reshape_rows(to_numbers(at.format, rows[: like.size // COLUMNS]), like)


def _read_l1(tile: Tile, at: TilePlace, size: int | None, like: Array | None) -> Array:
    if not at.format:
        return _l1_view(tile, at, size if size is not None else like.nbytes if like is not None else 0).copy()
    rows = size * TILE_ROWS if size is not None else like.size // COLUMNS if like is not None else TILE_ROWS
    data = _l1_view(tile, at, l1_bytes(at.format, rows)).copy()
    found = to_numbers(at.format, from_l1(at.format, data, rows))
    if size is None and like is not None:
        return _reshape_rows(found, like)
    tiles = to_tiles(found)
    return tiles[0] if size is None or size == 1 else tiles


def _reshape_rows(rows: Array, like: Array) -> Array:
    return rows if like.shape == rows.shape else to_tiles(rows).reshape(like.shape)


def _write_rows(tile: Tile, at: TilePlace, given: Array) -> None:
    """Rows of bits into Dst, and their valid bits set (ISA documentation, page of `Dst`: row r of 32 bits is rows adj
    and adj + 8 of 16).
    """
    wide = DST_FORMATS[at.format] == 32
    most = _ROWS // (2 if wide else 1)
    if len(given) > most:
        raise unfit_error(f"{at.text} has {len(given)} rows", f"Dst has {most} rows of this format")
    rows = np.arange(len(given))
    upper = (rows & 0x1F8) << 1 | (rows & 0x207) if wide else rows
    high = given >> 16 if wide else given
    tile.dst[upper] = _to_dst_order(at.format, high).astype(np.uint16)
    # A row that is not valid reads as zero, whatever its bits are.
    tile.dst_valid[upper] = 1
    if wide:
        tile.dst[upper + 8] = (given & 0xFFFF).astype(np.uint16)
        tile.dst_valid[upper + 8] = 1


def _read_rows(tile: Tile, form: str) -> Array:
    """Rows of Dst in a format, all of them, in the usual order of bits."""
    if DST_FORMATS[form] == 16:
        return _from_dst_order(form, tile.dst.astype(np.uint32))
    rows = np.arange(_ROWS // 2)
    upper = (rows & 0x1F8) << 1 | (rows & 0x207)
    return _from_dst_order(form, tile.dst[upper].astype(np.uint32)) << 16 | tile.dst[upper + 8]


def _to_dst_order(form: str, given: Array) -> Array:
    """Dst's order of bits: sign, mantissa, exponent, from sign, exponent, mantissa (ISA documentation, page of
    `Dst`)."""
    exponent, mantissa = (5, 10) if form == "fp16" else (8, 7)
    if form == "uint16":
        return given
    return given & 0x8000 | (given & (1 << mantissa) - 1) << exponent | given >> mantissa & (1 << exponent) - 1


def _from_dst_order(form: str, given: Array) -> Array:
    """Usual order of bits: the inverse of `_to_dst_order`."""
    exponent, mantissa = (5, 10) if form == "fp16" else (8, 7)
    if form == "uint16":
        return given
    return given & 0x8000 | (given & (1 << exponent) - 1) << mantissa | given >> exponent & (1 << mantissa) - 1


def _write_view(tile: Tile, at: TilePlace, given: Array) -> None:
    view = cast(Array, getattr(tile, at.name))
    if given.dtype != view.dtype or given.shape != view.shape:
        shape = "x".join(map(str, view.shape))
        raise unfit_error(f"{at.text} is an array of {given.dtype}{list(given.shape)}", f"give {view.dtype} of {shape}")
    view[...] = given


def _l1_view(tile: Tile, at: TilePlace, size: int) -> NDArray[np.uint8]:
    if not 0 <= at.address <= len(tile.l1) - size:
        message = f"{size} bytes at {at.address:#x} do not lie in L1"
        raise _place_error(message, f"L1 has the addresses 0 to {len(tile.l1) - 1:#x}")
    return tile.l1[at.address : at.address + size]


def _place_error(message: str, help: str) -> PolyloomError:
    return input_error("PL1225", message, help=help)
