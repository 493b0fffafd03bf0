# SPDX-License-Identifier: Apache-2.0
"""T0 of a product: tiles of both factors into SrcA and SrcB (ISA documentation, page of `UNPACR`).

A MOP unpacks a tile of the right factor and all of the left one's block, and goes on along k as long as the next tiles
are the next ones in L1. They are not where the left factor has several blocks, and where the right one is transposed:
there T0's core sets the counters anew for each k.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.tensix.map.loops.shape import NOP, Product, row_blocks
from polyloom.targets.tensix.map.loops.thread import (
    EXPANDER_IDLE,
    MISC,
    UNPACK,
    Lines,
    Part,
    await_idle,
    configure_mop,
    counted_loop,
    encode_word,
    inline_words,
    push_register,
    shared_configuration,
    thread_configuration,
)
from polyloom.targets.tensix.words.arrays import tiles

_MOST: Final = 127
"""Iterations of a loop of the MOP expander."""


def mop_chunk(depth: int) -> int:
    """Tiles along k that one MOP takes: the largest divisor of the depth within the expander's count."""
    # A divisor, so that every MOP does the same number of steps and needs no second configuration.
    return next(n for n in range(min(depth, _MOST), 0, -1) if depth % n == 0)


def unpack(p: Product) -> Part:
    """T0: configuration of both unpackers, and the loops over blocks and columns."""
    at = [encode_word("SETADC", CntSetMask=1 << unit, DimensionIndex=1) for unit in range(2)]
    # One MOP can only walk tiles that follow one another in L1.
    step = mop_chunk(p.depth) if p.rows <= tiles.BLOCK and not p.turned else 1
    lines = [*begin_unpacking(), f"li s1, {at[1]:#x}"]
    for number, (count, times) in enumerate(row_blocks(p)):
        column = _unpack_column(p, step, number)
        row = [
            f"li s2, {at[0]:#x}",
            *counted_loop(f"columns{number}", "s3", p.columns, column),
            f"addi s1, s1, {count}",
        ]
        lines += await_idle("s6", "s6", EXPANDER_IDLE)
        # The expander must be idle before it is configured again, for which the load above waits (page of `MOP`).
        lines += configure_unpacking(step, count)
        lines += counted_loop(f"rows{number}", "s5", times, row)
    return Part(product_unpackers(p), thread_configuration(SRCA_SET_SetOvrdWithAddr=1), UNPACK | MISC, lines)


def begin_unpacking() -> Lines:
    """Lengths of tiles for both unpackers."""
    words = (encode_word("SETADCXX", CntSetMask=1 << unit, x_end2=tiles.DATUMS - 1) for unit in range(2))
    return inline_words(*words)


def configure_unpacking(step: int, count: int) -> Lines:
    """Configuration of T0's MOP: `step` times a tile of the right factor and `count` of the left one."""
    each = [encode_word("UNPACR", Unpack_block_selection=n, AddrMode=4, SetDatValid=1, Last=1) for n in range(2)]
    return configure_mop([step, count, each[0], NOP, NOP, each[1], NOP, each[1], each[1]])


def product_unpackers(p: Product) -> dict[int, int]:
    """Configuration of the unpackers for the factors of a product."""
    f = p.format
    values = shared_configuration(UNP0_ADDR_BASE_REG_1_Base=4 * tiles.FACE * f.held)  # SrcA begins four rows in
    for unit, address in enumerate((p.right, p.left)):
        values |= unpacker_configuration(unit, f.in_l1, f.in_src, f.width, address)
    if p.turned:
        # Haloize mode transposes a face while it is unpacked.
        turned = shared_configuration(THCON_SEC0_REG2_Haloize_mode=1)
        # The two settings share a word with others that are set already.
        values |= {at: values.get(at, 0) | value for at, value in turned.items()}
    return values


def _unpack_column(p: Product, step: int, number: int) -> Lines:
    """Column of the block; s1 is the block's first tile of the left factor, s2 the column's first of the right one,
    which goes on to the next column.
    """
    if step > 1 or p.depth == 1:
        run = counted_loop(f"chunks{number}", "s4", p.depth // step, inline_words(encode_word("MOP", mop_type=1)))
        return [*push_register("s1"), *push_register("s2"), *run, f"addi s2, s2, {1 if p.turned else p.depth}"]
    pair = [*push_register("s7"), *push_register("s8"), *inline_words(encode_word("MOP", mop_type=1))]
    pair += [f"addi s7, s7, {p.rows}", f"addi s8, s8, {p.columns if p.turned else 1}"]
    run = counted_loop(f"chunks{number}", "s4", p.depth, pair)
    return ["mv s7, s1", "mv s8, s2", *run, f"addi s2, s2, {1 if p.turned else p.depth}"]


def unpacker_configuration(unit: int, in_l1: int, held: int, width: int, address: int) -> dict[int, int]:
    """Configuration of an unpacker for a row of tiles of one format: from tile to tile is one step of Y, whose X extent
    is the pitch.
    """
    across = tiles.tile_pitch(width) // width
    # Fields of the tile descriptor: format, uncompressed, X extent, and extents of 1 for Y, Z and W.
    descriptor = in_l1 | 1 << 4 | across << 16 | 1 << 32 | 1 << 48 | 1 << 64
    sec = f"THCON_SEC{unit}"
    return shared_configuration(
        **{
            f"{sec}_REG0_TileDescriptor": descriptor,
            f"{sec}_REG2_Out_data_format": held,
            f"{sec}_REG2_Throttle_mode": 2,
            f"{sec}_REG3_Base_address": address // 16,
        }
    )
