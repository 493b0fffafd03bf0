# SPDX-License-Identifier: Apache-2.0
"""Streamed product: operands and result lie in DRAM behind the tile, and blocks of them in L1 (double buffering; panels
as in K. Goto and R. van de Geijn, Anatomy of high-performance matrix multiplication, 2008).

A panel is a block of rows of the left factor along all of k; it stays in L1 while all columns of tiles of the right
factor pass. NC reads columns by NoC 1, B reads panels and writes columns of the result by NoC 0. Columns have two
buffers each, panels two where L1 has room. Cores tell one another in words of L1 how much they have done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.tensix.map.loops import product
from polyloom.targets.tensix.map.loops.product_pack import begin_packing, pack_tile, product_packers
from polyloom.targets.tensix.map.loops.product_unpack import (
    begin_unpacking,
    configure_unpacking,
    mop_chunk,
    product_unpackers,
)
from polyloom.targets.tensix.map.loops.shape import Product
from polyloom.targets.tensix.map.loops.thread import (
    CONFIG,
    MISC,
    PACK,
    UNPACK,
    Lines,
    Part,
    Parts,
    counted_loop,
    encode_word,
    inline_words,
    push_register,
    thread_configuration,
)
from polyloom.targets.tensix.words.arrays import tiles

COLUMNS, PANELS, CONSUMED, PACKED, WRITTEN = range(0, 20, 4)
"""Words by which cores meet, from the stream's `words` on: columns of the right factor and panels that are in L1,
columns that are unpacked, packed, and written back."""
MEETING: Final = 32
"""Bytes of these words."""
_IDLE: Final = 0xFFE80004
"""Where a load waits until the thread is idle."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A product in blocks: its tiles, with rows that are whole panels, and the addresses of its first buffers in L1;
    buffers of panels; addresses of both factors and of the result in DRAM; where cores meet.
    """

    product: Product
    panels: int
    left: int
    right: int
    result: int
    words: int

    @property
    def panel_rows(self) -> int:
        """Rows of tiles of a panel."""
        return min(self.product.rows, tiles.BLOCK)

    @property
    def factor_pitch(self) -> int:
        return tiles.tile_pitch(self.product.format.width)

    @property
    def column_tiles(self) -> int:
        """Tiles from one column to the next: even, so that addresses in L1 and DRAM agree modulo 32."""
        return self.product.depth + self.product.depth % 2

    @property
    def panel_tiles(self) -> int:
        count = self.panel_rows * self.product.depth
        return count + count % 2

    @property
    def block_bytes(self) -> int:
        """Bytes of a column of a panel of the result."""
        return -(-self.panel_rows * tiles.tile_pitch(self.product.stored.width) // 32) * 32

    @property
    def columns(self) -> int:
        """Columns of the result in all panels."""
        return self.product.rows // self.panel_rows * self.product.columns


def place_stream(p: Product, first: int, end: int) -> Stream | None:
    """Buffers of a product in L1 from `first` to `end`, and its arrays in DRAM from 0 on; None where one panel along k
    is larger than L1.
    """
    words = -(-first // 32) * 32
    # A second panel hides the time of reading the next one; without room for it, that time is small beside the rest.
    for panels in (2, 1):
        plain = Stream(p, panels, 0, 0, 0, words)
        left = words + MEETING
        right = left + panels * plain.panel_tiles * plain.factor_pitch
        result = right + 2 * plain.column_tiles * plain.factor_pitch
        if result + 2 * plain.block_bytes > end:
            continue
        to = p.rows // plain.panel_rows * plain.panel_tiles * plain.factor_pitch
        placed = Product(
            p.rows, p.columns, p.depth, left, right, result, p.format, p.packed, p.dest, p.fidelity, narrow=p.narrow
        )
        return Stream(placed, panels, 0, to, to + p.columns * plain.column_tiles * plain.factor_pitch, words)
    return None


def stream_threads(s: Stream) -> Parts:
    """Programs of T0, T1 and T2; T1's is that of a product in L1."""
    threads = product.threads(s.product)
    assert threads is not None
    return _unpack(s), threads[1], _pack(s)


def await_count(s: Stream, word: int, register: str, label: str) -> Lines:
    """Poll of a word until it has reached a register's value."""
    return [f"li t0, {s.words:#x}", f"{label}:", f"lw t1, {word}(t0)", f"blt t1, {register}, {label}"]


def tell_count(s: Stream, word: int, register: str) -> Lines:
    return [f"li t0, {s.words:#x}", f"sw {register}, {word}(t0)"]


def _await_idle() -> Lines:
    return [f"li t0, {_IDLE:#x}", "lw t1, 0(t0)", "add t1, t1, t1"]  # behind the use, the load is done


def _unpack(s: Stream) -> Part:
    """T0: s1 and s3 are the places of the panel and of the next one's, s2 and s4 those of columns; s9 and s10 count
    columns and panels.
    """
    p = s.product
    at = [encode_word("SETADC", CntSetMask=1 << unit, DimensionIndex=1) for unit in range(2)]
    step = mop_chunk(p.depth)
    run = counted_loop("chunks", "s5", p.depth // step, inline_words(encode_word("MOP", mop_type=1)))
    column = [
        "addi s9, s9, 1",
        *await_count(s, COLUMNS, "s9", "column"),
        *push_register("s1"),
        *push_register("s2"),
        *run,
        *_await_idle(),
        *tell_count(s, CONSUMED, "s9"),
        *_exchange("s2", "s4"),
    ]
    panel = [
        "addi s10, s10, 1",
        *await_count(s, PANELS, "s10", "panel"),
        *counted_loop("columns", "s6", p.columns, column),
        *_exchange("s1", "s3"),
    ]
    lines = [*begin_unpacking(), *configure_unpacking(step, s.panel_rows), "li s9, 0", "li s10, 0"]
    lines += [f"li s1, {at[1]:#x}", f"li s3, {at[1] + (s.panel_tiles if s.panels > 1 else 0):#x}"]
    lines += [f"li s2, {at[0]:#x}", f"li s4, {at[0] + s.column_tiles:#x}"]
    lines += counted_loop("panels", "s7", p.rows // s.panel_rows, panel)
    return Part(product_unpackers(p), thread_configuration(SRCA_SET_SetOvrdWithAddr=1), UNPACK | MISC, lines)


def _exchange(first: str, second: str) -> Lines:
    return [f"mv t1, {first}", f"mv {first}, {second}", f"mv {second}, t1"]


def _pack(s: Stream) -> Part:
    """T2: two columns in a turn, one for each buffer; s9 counts them, s10 those that must have been written before."""
    p = s.product
    # A turn of two columns keeps the addresses of both buffers constants.
    pairs, rest = divmod(s.columns, 2)
    both = [_pack_column(s, number, f"written{number}") for number in range(2)]
    lines = ["li s9, 0", "li s10, -1", *counted_loop("pairs", "s1", pairs, [*both[0], *both[1]])]
    if rest:
        lines += _pack_column(s, 0, "last")
    return Part(product_packers(p), {}, PACK | CONFIG, lines)


def _pack_column(s: Stream, buffer: int, label: str) -> Lines:
    p = s.product
    words = begin_packing(p, p.result + buffer * s.block_bytes)
    words += [each for place in range(s.panel_rows) for each in pack_tile(p, place)]
    count = ["addi s9, s9, 1", *await_count(s, WRITTEN, "s10", label), "addi s10, s10, 1"]
    return [*count, *inline_words(*words), *_await_idle(), *tell_count(s, PACKED, "s9")]
