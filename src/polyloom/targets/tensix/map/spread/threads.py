# SPDX-License-Identifier: Apache-2.0
"""T0 of a spread product: it unpacks what other tiles have given, and gives buffers back to them (ISA documentation,
WormholeB0/NoC/Atomics.md). T1 and T2 are those of a streamed product.

Registers: s0 is where words are pushed, s1 the panel's place, s2 and s4 those of columns, s3 and s6 the words of their
buffers; s5, s7 and s8 count in loops, s9 columns; s11 is how many chunks of its round each tile must have given.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.tensix.map.loops.product_unpack import begin_unpacking, configure_unpacking, product_unpackers
from polyloom.targets.tensix.map.loops.stream import await_count, stream_threads
from polyloom.targets.tensix.map.loops.thread import (
    MISC,
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
from polyloom.targets.tensix.map.spread.registers import (
    BROADCAST,
    COMMAND,
    CONTROL,
    DATA,
    INCREMENT,
    ITSELF,
    LENGTH,
    TARGET_HIGH,
    TARGET_LOW,
    initiator,
)
from polyloom.targets.tensix.map.spread.shape import COLUMN, FREE_COLUMNS, FREE_PANELS, LEFT, RIGHT, ROW, Spread

_ATOMIC: Final = 1


def spread_threads(s: Spread) -> Parts:
    """Programs of T0, T1 and T2 of every tile."""
    _, multiply, pack = stream_threads(s.stream)
    return _unpack(s), multiply, pack


def _unpack(s: Spread) -> Part:
    p = s.product
    at = [encode_word("SETADC", CntSetMask=1 << unit, DimensionIndex=1) for unit in range(2)]
    free = [s.stream.words + word for word in FREE_COLUMNS]
    # A MOP of one step along k, so that T0 can wait for the chunk of the next one.
    lines = [*begin_unpacking(), *configure_unpacking(1, s.stream.panel_rows), *_set_up_signals(s)]
    lines += [f"li s1, {at[1]:#x}", f"li s2, {at[0]:#x}", f"li s4, {at[0] + s.stream.column_tiles:#x}"]
    lines += [f"li s3, {free[0]:#x}", f"li s6, {free[1]:#x}", "li s9, 0", "li s11, 1"]
    # Only the first column of a panel meets chunks that are still on their way.
    panel = [*_unpack_column(s), *counted_loop("columns", "s8", p.columns - 1, _unpack_columns(s))]
    panel += _signal(0, f"li t1, {s.stream.words + FREE_PANELS:#x}", "panel") if s.panels > 1 else []
    lines += counted_loop("panels", "s7", s.panels, panel)
    return Part(product_unpackers(p), thread_configuration(SRCA_SET_SetOvrdWithAddr=1), UNPACK | MISC, lines)


def _unpack_column(s: Spread) -> Lines:
    """First column of a panel, chunk by chunk as they come."""
    run = list[str]()
    for row in range(s.rows):
        start, end = s.slice_bounds(row)
        run += await_count(s.stream, RIGHT + 4 * row, "s9", f"first{row}") if start < end else []
        for k in range(start, end):
            # A round is over when each tile of the row has given one chunk.
            run += ["addi s11, s11, 1"] if k and k % s.columns == 0 else []
            run += await_count(s.stream, LEFT + 4 * (k % s.columns), "s11", f"chunk{k}")
            run += inline_words(encode_word("MOP", mop_type=1))
    return [*_begin_column(), *run, "addi s11, s11, 1", *_end_column("first")]


def _unpack_columns(s: Spread) -> Lines:
    run = list[str]()
    for row in range(s.rows):
        start, end = s.slice_bounds(row)
        if start < end:
            run += await_count(s.stream, RIGHT + 4 * row, "s9", f"next{row}")
            run += counted_loop(f"steps{row}", "s5", end - start, inline_words(encode_word("MOP", mop_type=1)))
    return [*_begin_column(), *run, *_end_column("next")]


def _begin_column() -> Lines:
    return ["addi s9, s9, 1", *push_register("s1"), *push_register("s2")]


def _end_column(label: str) -> Lines:
    """The column's buffer goes back to all tiles that fill it."""
    return [*await_idle(), *_signal(1, "mv t1, s3", label), *exchange("s2", "s4"), *exchange("s3", "s6")]


def _set_up_signals(s: Spread) -> Lines:
    """Atomic increments of a word in all tiles of the row by NoC 0, of the column by NoC 1."""
    lines = [f"li a1, {s.table:#x}"]
    # The rectangles contain the tile itself: its own movers wait for the same counts.
    for noc, rectangle in enumerate((ROW, COLUMN)):
        lines += [f"li t0, {initiator(noc, 3):#x}", f"lw t1, {rectangle}(a1)", f"sw t1, {TARGET_HIGH}(t0)"]
        for at, value in ((CONTROL, _ATOMIC | BROADCAST | ITSELF), (LENGTH, INCREMENT), (DATA, 1)):
            lines += [f"li t1, {value:#x}", f"sw t1, {at}(t0)"]
    return lines


def _signal(noc: int, address: str, label: str) -> Lines:
    # A short column may end before the last increment has left the NIU.
    ready = [f"li t0, {initiator(noc, 3):#x}", f"{label}:", f"lw t1, {COMMAND}(t0)", f"bnez t1, {label}"]
    return [*ready, address, f"sw t1, {TARGET_LOW}(t0)", "li t1, 1", f"sw t1, {COMMAND}(t0)"]
