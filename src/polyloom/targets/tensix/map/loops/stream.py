# SPDX-License-Identifier: Apache-2.0
"""Streamed product: operands and result lie in DRAM behind the tile, and blocks of them in L1 (double buffering; panels
as in K. Goto and R. van de Geijn, Anatomy of high-performance matrix multiplication, 2008).

A panel is a block of rows of the left factor along all of k; it stays in L1 while all columns of tiles of the right
factor pass. NC reads columns by NoC 1, B reads panels and writes columns of the result by NoC 0. Columns have two
buffers each, panels two where L1 has room. Cores tell one another in words of L1 how much they have done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    await_idle,
    counted_loop,
    encode_word,
    exchange,
    inline_words,
    push_register,
    thread_configuration,
)
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.dram_port import FLIT, DramPort

COLUMNS, PANELS, PACKED, WRITTEN = range(0, 16, 4)
"""Words by which cores meet, from the stream's `words` on: columns of the right factor and panels that are in L1,
columns of the result that are packed, and so have been unpacked, and that are written back."""
MEETING: Final = 32
"""Bytes of these words."""
_PAIR, _TURN = 3, 40
"""Cycles in which the matrix unit waits from one pair of tiles to the next, and from one column to the next, about."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Arrays that a formula reads beside the sums, which lie in DRAM as the result does: how many, the width of a datum
    in bytes, rows of tiles that are computed together; the address of the first in L1, and in DRAM.
    """

    count: int
    width: int
    height: int
    buffer: int = 0
    at: int = 0


@dataclass(frozen=True, slots=True)
class Stream:
    """A product in blocks: its tiles, with rows that are whole panels, and the addresses of its first buffers in L1;
    buffers of panels; addresses of both factors and of the result in DRAM; where cores meet; rows of tiles of a panel;
    arrays of a formula of its sums.
    """

    product: Product
    panels: int
    left: int
    right: int
    result: int
    words: int
    panel_rows: int
    beside: Beside | None = None

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
        return -(-self.panel_rows * tiles.tile_pitch(self.product.stored.width) // FLIT) * FLIT

    @property
    def beside_tiles(self) -> int:
        """Tiles from one column of a panel of an array beside the sums to the next."""
        # Even, as for panels: addresses in L1 and DRAM agree modulo 32.
        return self.panel_rows + self.panel_rows % 2

    @property
    def beside_pitch(self) -> int:
        return 0 if self.beside is None else self.beside_tiles * tiles.tile_pitch(self.beside.width)

    @property
    def buffers(self) -> tuple[int, int, int, int, int]:
        """Addresses in L1 of panels, of columns, of blocks of the result, of other arrays, and behind all of them."""
        left = self.words + MEETING
        right = left + self.panels * self.panel_tiles * self.factor_pitch
        result = right + 2 * self.column_tiles * self.factor_pitch
        beside = result + 2 * self.block_bytes
        count = 0 if self.beside is None else self.beside.count
        return left, right, result, beside, beside + 2 * count * self.beside_pitch

    @property
    def cycles(self) -> int:
        """Estimate of the cycles: the slowest of matrix unit, unpackers and port, for each column; and panels that
        are read while nothing else happens, the first one and those that have but one buffer.
        """
        rows, pitch = self.panel_rows, self.factor_pitch
        blocks = 1 if self.beside is None else -(-rows // self.beside.height)
        # MVMULs of a pair of tiles; 64 bytes a cycle for both unpackers, a flit for each NoC.
        pair = max((16 * self.product.fidelity + _PAIR) * rows, (rows + blocks) * pitch // 64)
        slowest = max(self.product.depth * pair, self.product.depth * pitch // FLIT + DramPort(0).latency) + _TURN
        alone = 1 if self.panels > 1 else self.product.rows // rows
        return self.columns * slowest + alone * self.panel_tiles * pitch // FLIT

    @property
    def memory(self) -> int:
        """Bytes of all arrays in DRAM."""
        count = 0 if self.beside is None else self.beside.count
        return self.result + self.columns * (self.block_bytes + count * self.beside_pitch)

    @property
    def columns(self) -> int:
        """Columns of the result in all panels."""
        return self.product.rows // self.panel_rows * self.product.columns


def place_stream(p: Product, first: int, end: int, beside: Beside | None = None) -> Stream | None:
    """Buffers of a product in L1 from `first` to `end`, and its arrays in DRAM from 0 on, by the choice of panels that
    takes fewest cycles; None where one panel of one row of tiles is larger than L1.
    """
    words = -(-first // FLIT) * FLIT
    # Rows beyond those of the product are zero, so that all panels are alike.
    choices = [
        Stream(replace(p, rows=-(-p.rows // height) * height), panels, 0, 0, 0, words, height, beside)
        for height in range(min(p.rows, tiles.BLOCK), 0, -1)
        for panels in (2, 1)
    ]
    # The first of equals has the highest panels, and so the fewest columns to read.
    s = min((s for s in choices if s.buffers[-1] <= end), key=lambda s: s.cycles, default=None)
    if s is None:
        return None
    left, right, result, buffer, _ = s.buffers
    placed = replace(s.product, left=left, right=right, result=result)
    to = placed.rows // s.panel_rows * s.panel_tiles * s.factor_pitch
    behind = to + placed.columns * s.column_tiles * s.factor_pitch
    if beside is not None:
        beside = replace(beside, buffer=buffer, at=behind + s.columns * s.block_bytes)
    return replace(s, product=placed, right=to, result=behind, beside=beside)


def stream_threads(s: Stream) -> Parts:
    """Programs of T0, T1 and T2; T1's is that of a product in L1, whose columns are those of all panels."""
    threads = product.threads(replace(s.product, rows=s.panel_rows, columns=s.columns))
    assert threads is not None
    return _unpack(s), threads[1], _pack(s)


def await_count(s: Stream, word: int, register: str, label: str) -> Lines:
    """Poll of a word until it has reached a register's value."""
    return [f"li t2, {s.words:#x}", f"{label}:", f"lw t1, {word}(t2)", f"blt t1, {register}, {label}"]


def tell_count(s: Stream, word: int, register: str) -> Lines:
    return [f"li t2, {s.words:#x}", f"sw {register}, {word}(t2)"]


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
        *exchange("s2", "s4"),
    ]
    panel = [
        "addi s10, s10, 1",
        *await_count(s, PANELS, "s10", "panel"),
        *counted_loop("columns", "s6", p.columns, column),
        *exchange("s1", "s3"),
    ]
    lines = [*begin_unpacking(), *configure_unpacking(step, s.panel_rows), "li s9, 0", "li s10, 0"]
    lines += [f"li s1, {at[1]:#x}", f"li s3, {at[1] + (s.panel_tiles if s.panels > 1 else 0):#x}"]
    lines += [f"li s2, {at[0]:#x}", f"li s4, {at[0] + s.column_tiles:#x}"]
    lines += counted_loop("panels", "s7", p.rows // s.panel_rows, panel)
    return Part(product_unpackers(p), thread_configuration(SRCA_SET_SetOvrdWithAddr=1), UNPACK | MISC, lines)


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
    return [*count, *inline_words(*words), *await_idle(), *tell_count(s, PACKED, "s9")]
