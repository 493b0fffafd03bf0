# SPDX-License-Identifier: Apache-2.0
"""Movers of a spread product. Core B reads the tile's chunks of the panel by NoC 1, multicasts each along the row by
NoC 0, and writes columns of the result by NoC 0. Core NC reads the tile's slice of each column and multicasts it along
the column, by NoC 1. So the links of NoC 0 along rows carry panels, those of NoC 1 along columns carry columns, and
what comes from DRAM moves up the columns of DRAM tiles and along rows of NoC 1 (ISA documentation,
WormholeB0/NoC/RoutingPaths.md; DRAMTile/README.md, "Performance").

A request is one packet: while the hardware splits a longer one, nobody may start another (Counters.md, "Automatic
request splitting"). Data and the word behind them are on one virtual channel, and so stay in order (Ordering.md).
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.tensix.map.loops.stream import PACKED, WRITTEN, await_count, tell_count
from polyloom.targets.tensix.map.loops.thread import Lines, counted_loop, exchange
from polyloom.targets.tensix.map.spread.registers import (
    CONTROL,
    DATA,
    LENGTH,
    MARKED,
    MULTICAST,
    RETURN_HIGH,
    RETURN_LOW,
    STATIC,
    TAG,
    TARGET_HIGH,
    TARGET_LOW,
    TELL,
    WRITE,
    await_zero,
    copy_word,
    initiator,
    outgoing,
    outstanding,
    set_register,
    start_request,
)
from polyloom.targets.tensix.map.spread.shape import (
    CHUNK_FLAG,
    CHUNK_MASK,
    CHUNKS,
    COLUMN,
    FIRST,
    FREE_COLUMNS,
    FREE_PANELS,
    LAST,
    OWN0,
    OWN1,
    PART,
    PARTS,
    ROW,
    SLICE,
    SLICE_FLAG,
    SLICE_MASK,
    TABLE,
    Spread,
    split_packets,
)

_RESULT: Final = 3
"""Transaction of results; chunks have 1 and 2 in turn, slices 0."""


def move_chunks(s: Spread) -> Lines:
    """B's program. a2 to a4 are initiators of words, of results and of reads, s0 that of chunks. s2 and s8 are entries
    of the tables of chunks and results, s3 and s4 the places of the next chunk to read and to give, s5 how many are
    left, s6 and s7 buffers of the result, s9 its columns, s10 chunks of this tile so far; a5 and a6 are transactions of
    reads, a7 and a0 their counters, t3 the steps from chunk to chunk, t4 the chunks of earlier panels.
    """
    p, table = s.product, s.table + TABLE
    # Each kind of request has an initiator of its own, whose registers that do not change are set once. Those of NoC 1
    # are shared with NC and T0, which have the others.
    lines = [f"li a1, {s.table:#x}", f"li s0, {initiator(0, 0):#x}", f"li a2, {initiator(0, 1):#x}"]
    lines += [f"li a3, {initiator(0, 2):#x}", f"li a4, {initiator(1, 2):#x}"]
    lines += [*copy_word("s0", TARGET_HIGH, OWN0), *copy_word("s0", RETURN_HIGH, ROW)]
    lines += set_register("s0", CONTROL, MULTICAST)
    lines += [*copy_word("a2", TARGET_LOW, CHUNK_FLAG), *copy_word("a2", TARGET_HIGH, ROW)]
    lines += [*copy_word("a2", LENGTH, CHUNK_MASK), *set_register("a2", CONTROL, TELL)]
    lines += [*copy_word("a3", TARGET_HIGH, OWN0), *set_register("a3", CONTROL, WRITE | MARKED | STATIC)]
    # Results are counted apart from everything else, since B waits for them alone.
    lines += [*set_register("a3", TAG, _RESULT << 10), *copy_word("a4", RETURN_HIGH, OWN1)]
    lines += [f"li s2, {table:#x}", f"lw t1, {CHUNKS}(a1)", *_advance_table("s8", "s2", s.panels)]
    lines += [f"li t1, {8 * p.columns}", "add s8, s8, t1", f"li s6, {p.result:#x}"]
    lines += [f"li s7, {p.result + s.stream.block_bytes:#x}", "li s9, 0", "li t4, 0", "li t5, 0"]
    lines += ["li a5, 0x400", "li a6, 0x800", f"li a7, {outstanding(1, 1):#x}", f"li a0, {outstanding(1, 2):#x}"]
    lines += [f"li t3, {s.columns * s.chunk:#x}"]
    # The one buffer of panels is free when every tile of the row has unpacked it. Results of a panel are written behind
    # its chunks: no column is packed before the last chunk has come.
    panel = [*(await_count(s.stream, FREE_PANELS, "t5", "freed") if s.panels > 1 else []), *_give_chunks(s)]
    panel += [f"addi t4, t4, {s.rounds}", f"addi t5, t5, {s.columns}"]
    panel += counted_loop("columns", "s11", p.columns, _write_column(s))
    lines += counted_loop("panels", "t6", s.panels, panel)
    return [*lines, *await_zero(outstanding(0, _RESULT), "acknowledged")]


def _advance_table(to: str, start: str, panels: int) -> Lines:
    """Address behind the entries of `panels` times t1 chunks."""
    return [f"mv {to}, {start}", "slli t1, t1, 3", *[f"add {to}, {to}, t1"] * panels]


def _give_chunks(s: Spread) -> Lines:
    # The next chunk is read while this one is given: a read takes longer than its packets on the link.
    give = [
        *_read_chunk(s, "ahead"),
        "more:",
        "addi s5, s5, -1",
        "beqz s5, await",
        *_read_chunk(s, "chunk"),
        "await:",
        "lw t1, 0(a7)",
        "bnez t1, await",
        *exchange("a7", "a0"),
        *_multicast_chunk(s),
        "add s4, s4, t3",
        "addi s10, s10, 1",
        f"sw s10, {DATA}(a2)",
        *start_request("a2", "told"),
        "bnez s5, more",
    ]
    # Counts of a tile go on from a whole round, so that T0 expects the same of tiles with one chunk fewer.
    begin = ["mv s10, t4", f"lw s5, {CHUNKS}(a1)", f"lw s3, {FIRST}(a1)", "mv s4, s3", "beqz s5, given"]
    return [*begin, *give, "given:"]


def _read_chunk(s: Spread, name: str) -> Lines:
    """Read of a chunk by transaction a5; the next one is the other's."""
    lines = [f"sw a5, {TAG}(a4)", "lw t1, 4(s2)", f"sw t1, {TARGET_HIGH}(a4)", "lw t0, 0(s2)"]
    for n, (at, size) in enumerate(split_packets(s.chunk)):
        lines += [f"li t1, {at}", "add t1, t1, t0", f"sw t1, {TARGET_LOW}(a4)"]
        lines += [f"li t1, {at}", "add t1, t1, s3", f"sw t1, {RETURN_LOW}(a4)"]
        lines += [*set_register("a4", LENGTH, size), *start_request("a4", f"{name}{n}")]
    return [*lines, *exchange("a5", "a6"), "addi s2, s2, 8", "add s3, s3, t3"]


def _multicast_chunk(s: Spread) -> Lines:
    lines = list[str]()
    for n, (at, size) in enumerate(split_packets(s.chunk)):
        lines += [f"li t1, {at}", "add t1, t1, s4", f"sw t1, {TARGET_LOW}(s0)", f"sw t1, {RETURN_LOW}(s0)"]
        lines += [*set_register("s0", LENGTH, size), *start_request("s0", f"give{n}")]
    return lines


def _write_column(s: Spread) -> Lines:
    """Column of the result: when it is packed; its buffer is free when its data have left L1."""
    lines = ["addi s9, s9, 1", *await_count(s.stream, PACKED, "s9", "packed"), "lw t1, 4(s8)"]
    lines += [f"sw t1, {RETURN_HIGH}(a3)", "lw t0, 0(s8)"]
    for n, (at, size) in enumerate(split_packets(s.stream.block_bytes)):
        lines += [f"li t1, {at}", "add t1, t1, s6", f"sw t1, {TARGET_LOW}(a3)"]
        lines += [f"li t1, {at}", "add t1, t1, t0", f"sw t1, {RETURN_LOW}(a3)"]
        lines += [*set_register("a3", LENGTH, size), *start_request("a3", f"block{n}")]
    # T2 may overwrite a buffer that has left L1, wherever its packets are by then.
    lines += [*await_zero(outgoing(0, _RESULT), "left"), *tell_count(s.stream, WRITTEN, "s9")]
    return [*lines, *exchange("s6", "s7"), "addi s8, s8, 8"]


def move_slices(s: Spread) -> Lines:
    """NC's program. s0 is the initiator of reads, a2 that of multicasts; s1 and s2 are places of the slice in both
    buffers, s3 and s4 the words that count how often they were given back, s5 and s6 how often they must have been; s7
    counts columns, s10 is the entry of the table of slices, s11 the packets of a slice.
    """
    p, words = s.product, s.stream.words
    lines = [f"li a1, {s.table:#x}", f"li s0, {initiator(1, 0):#x}", f"li a2, {initiator(1, 1):#x}"]
    # The tile of a row beyond the end of the sum has no slice, and nobody waits for it.
    lines += [f"lw s11, {PARTS}(a1)", "beqz s11, done", *copy_word("s0", RETURN_HIGH, OWN1)]
    lines += [f"lw t1, {SLICE}(a1)", f"li s1, {p.right:#x}", "add s1, s1, t1"]
    lines += [f"li t1, {s.stream.column_tiles * s.stream.factor_pitch:#x}", "add s2, s1, t1"]
    lines += [f"li s3, {words + FREE_COLUMNS[0]:#x}", f"li s4, {words + FREE_COLUMNS[1]:#x}"]
    lines += ["li s5, 0", "li s6, 0", "li s7, 0", f"lw a3, {PART}(a1)", f"lw a4, {LAST}(a1)"]
    # A buffer is given back by all tiles of the column, however late: a fast tile must not stand in for a slow one,
    # and so each buffer has a count of its own.
    column = ["freed:", "lw t1, 0(s3)", "blt t1, s5, freed", f"addi s5, s5, {s.rows}", "addi s7, s7, 1"]
    column += ["lw t1, 4(s10)", f"sw t1, {TARGET_HIGH}(s0)", "lw t2, 0(s10)", *_move_parts("s0", "t2", "read")]
    column += [*await_zero(outstanding(1, 0), "arrived"), *copy_word("a2", TARGET_HIGH, OWN1)]
    column += [*copy_word("a2", RETURN_HIGH, COLUMN), *set_register("a2", CONTROL, MULTICAST)]
    # What was read is given from where it lies: all tiles have the slice at the same place.
    column += ["mv t2, s1", *_move_parts("a2", "t2", "give")]
    column += [*copy_word("a2", TARGET_LOW, SLICE_FLAG), *copy_word("a2", TARGET_HIGH, COLUMN)]
    column += [*copy_word("a2", LENGTH, SLICE_MASK), *set_register("a2", CONTROL, TELL), f"sw s7, {DATA}(a2)"]
    column += [*start_request("a2", "told"), *exchange("s1", "s2"), *exchange("s3", "s4"), *exchange("s5", "s6")]
    column += ["addi s10, s10, 8"]
    # Every panel meets the same columns, so that the table begins again.
    start = [f"li s10, {s.table + TABLE:#x}", f"lw t1, {CHUNKS}(a1)", *_advance_table("s10", "s10", s.panels)]
    panel = [*start, *counted_loop("columns", "s9", p.columns, column)]
    return [*lines, *counted_loop("panels", "s8", s.panels, panel), "done:"]


def _move_parts(base: str, source: str, name: str) -> Lines:
    """Packets of a slice from `source` on, to its place in L1 or from there."""
    return [
        "mv t3, s1",
        "mv t4, s11",
        f"{name}.part:",
        f"sw {source}, {TARGET_LOW}({base})",
        f"sw t3, {RETURN_LOW}({base})",
        "mv t5, a3",
        "addi t4, t4, -1",
        f"bnez t4, {name}.whole",
        "mv t5, a4",
        f"{name}.whole:",
        f"sw t5, {LENGTH}({base})",
        *start_request(base, f"{name}.started"),
        f"add {source}, {source}, t5",
        "add t3, t3, t5",
        f"bnez t4, {name}.part",
    ]
