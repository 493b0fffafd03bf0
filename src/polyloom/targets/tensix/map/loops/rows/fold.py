# SPDX-License-Identifier: Apache-2.0
"""Vector code of a fold: the maximum or the minimum of each row of a matrix, in all elements of a row of one tile.

Columns of tiles lie side by side in Dst. A vector has every second column of four rows of a face, eight lanes for each
row; the four vectors of a tile's four rows, and those of its neighbours, are compared lane by lane. Then lanes are
compared with those one, two and four further, around the row (tree reduction; Blelloch 1990), so that each of them has
the result, and all four vectors of the result's tile are the same.

Source: ISA documentation, pages of `SFPLOAD` (which columns a vector has), `SFPSWAP` (mode 1: minimum and maximum, in
the order of sign and magnitude), `SFPSHFT2` (mode 3: lanes of a row, moved by one), `SFPIADD` and `SFPENCC`. Behind
`SFPSWAP`, which takes two cycles, and `SFPSHFT2` stands a NOP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.map.loops.thread import encode_word
from polyloom.targets.tensix.map.loops.vector import SLOT
from polyloom.targets.tensix.words.arrays.tiles import FACE, SIDE

COLUMNS: Final = 4
"""Columns of tiles that half of Dst holds side by side."""
_TOTAL, _OTHER, _COLUMN, _FLAGS = 0, 1, 2, 3
"""Registers: what was found so far, what it is compared with, twice the column of each lane, and a difference."""
_LANES: Final = 15
"""Twice the number of each lane."""
_LOWEST: Final = {"maximum": 0xFF80, "minimum": 0x7F80}
"""Upper halves of the infinities, with which lanes beyond the row begin."""


def fold_words(operation: str, columns: int, mode: int) -> tuple[int, ...]:
    """Words for the 32 rows of a row of tiles, with so many elements in each row; loads and stores in the format of
    `mode`.
    """
    assert columns <= COLUMNS * SIDE, "Dst holds them side by side"
    # The masks of columns need twice the column of each lane: the lane's number modulo 8.
    made = [
        encode_word("SFPLOADI", lreg_ind=_OTHER, imm16=14, instr_mod0=2),
        encode_word("SFPMOV", lreg_dest=_COLUMN, lreg_c=_LANES),
        encode_word("SFPAND", lreg_dest=_COLUMN, lreg_c=_OTHER),
    ]
    for half in range(2):
        for group in range(0, FACE, 4):
            made += _fold_rows(operation, columns, mode, 2 * FACE * half + group)
    return tuple(made)


def _fold_rows(operation: str, columns: int, mode: int, row: int) -> Iterator[int]:
    """Words for four rows."""
    yield encode_word("SFPLOADI", lreg_ind=_TOTAL, imm16=_LOWEST[operation], instr_mod0=0)
    for at in range(0, columns, 1):
        tile, column = divmod(at, SIDE)
        face, parity = divmod(column, FACE)
        # Each vector begins at the first or the second column of a face.
        if parity < 2:
            valid = min(FACE, columns - SIDE * tile - FACE * face) - parity
            yield from _load(operation, mode, SLOT * tile + row + FACE * face + 2 * parity, valid)
            yield from _compare(operation)
    for step in (1, 2, 4):
        for number in range(step):
            source = _OTHER if number else _TOTAL
            yield encode_word("SFPSHFT2", lreg_dest=_OTHER, lreg_src_c=source, instr_mod1=3)
            yield encode_word("SFPNOP")
        yield from _compare(operation)
    for face in range(2):
        for parity in range(2):
            at = row + FACE * face + 2 * parity
            yield encode_word("SFPSTORE", lreg_ind=_TOTAL, dest_reg_addr=at, instr_mod0=mode, sfpu_addr_mode=3)


def _load(operation: str, mode: int, address: int, valid: int) -> Iterator[int]:
    """Load of a vector; lanes whose columns are beyond the `valid` ones keep an infinity, whatever the padding is."""
    load = encode_word("SFPLOAD", lreg_ind=_OTHER, dest_reg_addr=address, instr_mod0=mode, sfpu_addr_mode=3)
    if valid >= FACE - 1:
        yield load
        return
    yield encode_word("SFPLOADI", lreg_ind=_OTHER, imm16=_LOWEST[operation], instr_mod0=0)
    # The sign of the difference becomes the lane's flag.
    yield encode_word("SFPIADD", lreg_dest=_FLAGS, lreg_c=_COLUMN, imm12_math=-valid & 0xFFF, instr_mod1=1)
    yield load
    yield encode_word("SFPENCC", imm12_math=3, instr_mod1=10)


def _compare(operation: str) -> Iterator[int]:
    first, second = (_OTHER, _TOTAL) if operation == "maximum" else (_TOTAL, _OTHER)
    # The destination gets the minimum, the other one the maximum.
    yield encode_word("SFPSWAP", lreg_dest=first, lreg_src_c=second, instr_mod1=1)
    yield encode_word("SFPNOP")


def fold_bits(operation: str, bits: NDArray[Any]) -> NDArray[Any]:
    """Fold of the last axis of FP32 bits, in the order of sign and magnitude."""
    whole = bits.astype(np.uint32).view(np.int32)
    # Of negative numbers the order of bits is that of magnitudes: inverted, it is that of numbers.
    keys = np.where(whole < 0, whole ^ 0x7FFFFFFF, whole)
    found: NDArray[np.int32] = (keys.max if operation == "maximum" else keys.min)(axis=-1)
    made: NDArray[np.int32] = np.where(found < 0, found ^ 0x7FFFFFFF, found).astype(np.int32)
    return made.view(np.uint32)
