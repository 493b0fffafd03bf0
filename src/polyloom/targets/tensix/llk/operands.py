# SPDX-License-Identifier: Apache-2.0
"""Operands of a low-level kernel: arrays in L1, in the formats that unpackers read and packers write, and the header
`operands.h` that tells the threads where they are.

`A`, `A:bf16`, `A@0x40000:bf16` name an operand, with its format and its address. Without an address operands lie one
behind the other, with room in front of each for the 16 bytes that unpackers skip (ISA documentation, page of `UNPACR`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.words.numbers import (
    COLUMNS,
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

Array = NDArray[Any]
FIRST: Final = 0x20000
"""Where operands begin: programs of the cores lie below."""
_ALIGNED: Final = 64
_HEADER: Final = 16
_SIDE: Final = 32
_NAMED: Final = re.compile(r"([A-Za-z_]\w*)(?:@(0[xX][0-9a-fA-F]+|[0-9]+))?(?::(\w+))?")
_BY_TYPE: Final = {"float32": "fp32", "float64": "fp32", "float16": "fp16"}
CODES: Final = {
    "fp32": 0, "fp16": 1, "bf16": 5, "bfp8": 6, "int32": 8, "uint16": 9, "int8": 14, "uint32": 24, "uint8": 30,
}  # fmt: skip
"""Data formats by the numbers that the configuration takes (ISA documentation, page of data formats)."""
_HEADER_TEXT: Final = """\
// Operands of this run: address, tiles, bytes per tile, and number of the data format.
#pragma once
struct __polyloom_operand {{
    unsigned address, tiles, bytes, format;
    constexpr unsigned operator[](unsigned tile) const {{ return address + tile * bytes; }}
}};
namespace operands {{
{operands}}}
"""


@dataclass(frozen=True, slots=True)
class OperandName:
    """An operand as it is named: its address and its format may be left open."""

    name: str
    address: int | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand in L1: `rows` of 16 datums, and the shape in which it is read back."""

    name: str
    address: int
    format: str
    rows: int
    shape: tuple[int, ...]

    @property
    def end(self) -> int:
        """First address behind the operand."""
        return self.address + l1_bytes(self.format, self.rows)

    @property
    def tiles(self) -> int:
        return max(1, self.rows // TILE_ROWS)


def parse_operand(text: str) -> OperandName:
    """Parser of `NAME[@ADDRESS][:FORMAT]`. Errors: PL1228."""
    found = _NAMED.fullmatch(text)
    if found is None:
        raise _operand_error(f"'{text}' names no operand", "write a name of C, such as A:bf16 or A@0x40000:bf16")
    name, address, form = found.groups()
    if form is not None and form not in L1_FORMATS:
        raise _operand_error(f"'{text}' has no format '{form}'", nearest(form, L1_FORMATS, "format"))
    return OperandName(name, None if address is None else int(address, 0), form)


def place_operands(
    inputs: Mapping[OperandName, Array], outputs: Mapping[OperandName, int | None], l1_size: int
) -> tuple[Operand, ...]:
    """Memory map of all operands, inputs first. An output without a size has the shape of the input of its name, or of
    the first input. Errors: PL1226 for shapes that are no tiles, PL1228 for operands that overlap or do not fit.
    """
    made: list[Operand] = []
    for named, array in inputs.items():
        form = named.format or _BY_TYPE.get(str(array.dtype), str(array.dtype))
        if form not in L1_FORMATS:
            raise _operand_error(f"{named.name} is an array of {array.dtype}", f"give it a format: {named.name}:bf16")
        made.append(_place_operand(named, form, _row_count(named.name, array), array.shape, made))
    given = {operand.name: operand for operand in made}
    # Outputs come last, so that the addresses of inputs do not depend on which results are asked for.
    for named, tiles in outputs.items():
        like = given.get(named.name) or next(iter(given.values()), None)
        if named.name in given:
            continue
        if like is None and tiles is None:
            raise _operand_error(f"the output {named.name} has no size", f"write --out {named.name}=FILE.npy:TILES")
        shape = like.shape if tiles is None and like is not None else _tile_shape(tiles or 1)
        rows = TILE_ROWS * tiles if tiles is not None else like.rows if like is not None else TILE_ROWS
        form = named.format or (like.format if like is not None else "bf16")
        made.append(_place_operand(named, form, rows, shape, made))
    _check_map(made, l1_size)
    return tuple(made)


def _tile_shape(tiles: int) -> tuple[int, ...]:
    return (_SIDE, _SIDE) if tiles == 1 else (tiles, _SIDE, _SIDE)


def _row_count(name: str, array: Array) -> int:
    return len(tile_rows(name, array))


def tile_rows(name: str, array: Array) -> Array:
    """Rows of 16 datums of an array: rows themselves, tiles, or a matrix whose sides are multiples of 32, tile after
    tile (tilization). Errors: PL1226."""
    if array.ndim == 2 and array.shape[1] != COLUMNS and not any(side % _SIDE for side in array.shape):
        across = array.reshape(array.shape[0] // _SIDE, _SIDE, array.shape[1] // _SIDE, _SIDE)
        return to_rows(np.ascontiguousarray(across.transpose(0, 2, 1, 3)).reshape(-1, _SIDE, _SIDE), name)
    # Padding is the user's to choose: zeros are wrong for a product of all, or a maximum.
    if array.ndim >= 2 and array.shape[-1] != COLUMNS and any(side % _SIDE for side in array.shape[-2:]):
        raise _partial_tile(name, array.shape)
    return to_rows(array, name)


def _partial_tile(name: str, shape: tuple[int, ...]) -> PolyloomError:
    high, wide = (-side % _SIDE for side in shape[-2:])
    pads = ", ".join([*("(0, 0)" for _ in shape[:-2]), f"(0, {high})", f"(0, {wide})"])
    full = "x".join(str(side) for side in (*shape[:-2], shape[-2] + high, shape[-1] + wide))
    what = f"{name} is an array of {'x'.join(map(str, shape))}: a tile is {_SIDE}x{_SIDE}"
    return unfit_error(what, f"pad it to {full}: np.pad({name}, [{pads}]); or give rows of {COLUMNS}")


def _place_operand(
    named: OperandName, form: str, rows: int, shape: tuple[int, ...], before: Sequence[Operand]
) -> Operand:
    behind = max((operand.end for operand in before), default=FIRST)
    # Room for the header of 16 bytes in front, which unpackers and packers skip.
    free = -(-(behind + _HEADER) // _ALIGNED) * _ALIGNED
    return Operand(named.name, free if named.address is None else named.address, form, rows, shape)


def _check_map(operands: Sequence[Operand], l1_size: int) -> None:
    """Check of the memory map of L1. Errors: PL1228."""
    before = Operand("the programs of the cores", 0, "uint8", FIRST // COLUMNS, ())
    # In the order of addresses, so that only neighbours can overlap.
    for operand in sorted(operands, key=lambda each: each.address):
        if operand.address % _HEADER:
            help = f"write {operand.address // _HEADER * _HEADER:#x}: L1 is addressed in units of 16 bytes"
            raise _operand_error(f"the operand {operand.name} is at {operand.address:#x}", help)
        if operand.address < before.end:
            what = f"the operand {operand.name} at {operand.address:#x} overlaps {before.name}"
            raise _operand_error(what, f"place it at {-(-before.end // _ALIGNED) * _ALIGNED + _ALIGNED:#x} or later")
        if operand.end > l1_size:
            what = f"the operand {operand.name} ends at {operand.end:#x}, behind L1"
            raise _operand_error(
                what, f"L1 has the addresses 0 to {l1_size - 1:#x}; give fewer tiles, or narrower ones"
            )
        before = operand


def operands_header(operands: Iterable[Operand]) -> str:
    """Text of operands.h."""
    lines = (
        f"constexpr __polyloom_operand {o.name}{{{o.address:#x}, {o.tiles}, "
        f"{l1_bytes(o.format, min(o.rows, TILE_ROWS))}, {CODES[o.format]}}};\n"
        for o in operands
    )
    return _HEADER_TEXT.format(operands="".join(lines))


def write_operand(tile: Tile, operand: Operand, array: Array) -> None:
    """Input into L1. Errors: PL1226 for numbers that the format does not take."""
    bits = to_bits(operand.format, array, operand.name)
    data = to_l1(operand.format, tile_rows(operand.name, bits))
    tile.l1[operand.address : operand.end] = np.frombuffer(data, np.uint8)


def read_operand(tile: Tile, operand: Operand) -> Array:
    """Result out of L1, in its shape."""
    data = tile.l1[operand.address : operand.end].copy()
    rows = to_numbers(operand.format, from_l1(operand.format, data, operand.rows))
    # Rows were given as rows, and come back as rows.
    shape = operand.shape
    if len(shape) == 2 and shape[1] == COLUMNS:
        return rows
    tiles = to_tiles(rows)
    if len(shape) == 2:
        high, wide = shape[0] // _SIDE, shape[1] // _SIDE
        return np.ascontiguousarray(tiles.reshape(high, wide, _SIDE, _SIDE).transpose(0, 2, 1, 3)).reshape(shape)
    return tiles.reshape(shape)


def duplicate_names(named: Iterable[OperandName]) -> Iterator[str]:
    """Names that are given twice."""
    seen: set[str] = set()
    for each in named:
        if each.name in seen:
            yield each.name
        seen.add(each.name)


def _operand_error(message: str, help: str) -> PolyloomError:
    return input_error("PL1228", message, help=help)
