# SPDX-License-Identifier: Apache-2.0
"""Movers of a streamed product: core NC reads columns of the right factor, core B reads panels of the left one and
writes columns of the result (ISA documentation, WormholeB0/NoC, MemoryMap.md, Counters.md; docs/targets/tensix-tile.md,
"Port to DRAM").

Registers: s0 is an NIU, s1 to s11 are counts and addresses, t0 and t1 belong to waits.
"""

from __future__ import annotations

from polyloom.targets.tensix.map.loops.stream import (
    COLUMNS,
    PACKED,
    PANELS,
    WRITTEN,
    Stream,
    await_count,
    tell_count,
)
from polyloom.targets.tensix.map.loops.thread import Lines, counted_loop, exchange
from polyloom.targets.tensix.words.arrays.tiles import tile_pitch

_NIU: tuple[str, str] = ("0xffb20000", "0xffb30000")
_TARGET, _ANSWER, _CONTROL, _LENGTH, _COMMAND = 0, 12, 28, 32, 40
_WRITE, _MARKED = 2, 16
_INITIATOR = 0x800
_READS, _ACKNOWLEDGEMENTS = 0x208, 0x204
_PACKET = 8192


def packet_count(size: int) -> int:
    """Packets of a request, which an NIU splits (ISA documentation, WormholeB0/NoC/MemoryMap.md)."""
    return -(-size // _PACKET)


def read_columns(s: Stream) -> Lines:
    """NC's program: s1 and s2 are the next buffer and the other one, s3 the column in DRAM, s4 counts columns, s5 those
    that must be packed before, s6 packets.
    """
    p = s.product
    # Only whole tiles move; the padding tile of an odd depth stays behind.
    size = p.depth * s.factor_pitch
    pitch = s.column_tiles * s.factor_pitch
    column = [
        *await_count(s, PACKED, "s5", "packed"),
        *start_read("s3", "s1", size),
        f"addi s6, s6, {packet_count(size)}",
        *_read_epilogue_arrays(s),
        *await_packets("s6", _READS, "arrived"),
        "addi s4, s4, 1",
        "addi s5, s5, 1",
        *tell_count(s, COLUMNS, "s4"),
        *exchange("s1", "s2"),
        f"li t1, {pitch}",
        "add s3, s3, t1",
    ]
    panel = [f"li s3, {s.right:#x}", *counted_loop("columns", "s7", p.columns, column)]
    buffers = [f"li s9, {s.beside.at:#x}", f"li s10, {s.beside.buffer:#x}"] if s.beside is not None else []
    if s.beside is not None:
        buffers += [f"li s11, {s.beside.buffer + s.beside.count * s.beside_pitch:#x}"]
    begin = [
        *buffers,
        f"li s0, {_NIU[1]}",
        f"li s1, {p.right:#x}",
        f"li s2, {p.right + pitch:#x}",
        "li s4, 0",
        "li s5, -1",
    ]
    return [*begin, "li s6, 0", *counted_loop("panels", "s8", p.rows // s.panel_rows, panel)]


def _read_epilogue_arrays(s: Stream) -> Lines:
    """Read of a column of a panel of each array beside the sums, by request initiators of their own; s9 is its place in
    DRAM, s10 and s11 are the next buffers and the other ones.
    """
    if s.beside is None or not s.beside.count:
        return []
    size = s.panel_rows * tile_pitch(s.beside.width)
    lines: Lines = []
    for n in range(s.beside.count):
        lines += [f"li t0, {_INITIATOR * (n + 1):#x}", "add t0, t0, s0"]
        lines += [f"li t1, {n * s.columns * s.beside_pitch:#x}", "add t1, t1, s9", f"sw t1, {_TARGET}(t0)"]
        lines += [f"li t1, {n * s.beside_pitch:#x}", "add t1, t1, s10", f"sw t1, {_ANSWER}(t0)"]
        lines += [f"sw zero, {_CONTROL}(t0)", f"li t1, {size}", f"sw t1, {_LENGTH}(t0)"]
        lines += ["li t1, 1", f"sw t1, {_COMMAND}(t0)", f"addi s6, s6, {packet_count(size)}"]
    return [*lines, f"li t1, {s.beside_pitch}", "add s9, s9, t1", *exchange("s10", "s11")]


def move_panels(s: Stream) -> Lines:
    """B's program: s1 and s2 are the next buffer of panels and the other one, s3 the next panel in DRAM, s4 counts
    panels, s5 packets; s6 and s7 are buffers of the result, s8 its place in DRAM, s9 counts its columns. A panel is
    read ahead by the number of its buffers.
    """
    p = s.product
    panels = p.rows // s.panel_rows
    ahead = min(s.panels, panels)
    # The first panels come before the first column; what is left follows when a panel has been unpacked.
    whole = [*_write_columns(s, "all"), *_read_panel(s, "next")]
    lines = [f"li s0, {_NIU[0]}", f"li s1, {p.left:#x}"]
    lines += [f"li s2, {p.left + (s.panels - 1) * s.panel_tiles * s.factor_pitch:#x}"]
    lines += [f"li s3, {s.left:#x}", "li s4, 0", "li s5, 0", f"li s6, {p.result:#x}"]
    lines += [f"li s7, {p.result + s.block_bytes:#x}", f"li s8, {s.result:#x}", "li s9, 0"]
    for number in range(ahead):
        lines += _read_panel(s, f"first{number}")
    lines += counted_loop("panels", "s10", panels - ahead, whole)
    for number in range(ahead):
        lines += _write_columns(s, f"last{number}")
    # The run ends when the last column is in DRAM.
    blocks = s.columns * packet_count(s.block_bytes)
    return [*lines, f"li s5, {blocks}", *await_packets("s5", _ACKNOWLEDGEMENTS, "acknowledged")]


def _read_panel(s: Stream, name: str) -> Lines:
    size = s.panel_rows * s.product.depth * s.factor_pitch
    return [
        *start_read("s3", "s1", size),
        f"addi s5, s5, {packet_count(size)}",
        *await_packets("s5", _READS, f"{name}.arrived"),
        "addi s4, s4, 1",
        *tell_count(s, PANELS, "s4"),
        *exchange("s1", "s2"),
        f"li t1, {s.panel_tiles * s.factor_pitch}",
        "add s3, s3, t1",
    ]


def _write_columns(s: Stream, name: str) -> Lines:
    """Columns of a panel of the result: each when it is packed; its buffer is free when its data have left L1. What is
    packed has been unpacked before, so that the panel's own buffer is free then, too.
    """
    # Writes have an initiator of their own, so that a read in progress does not hold them back.
    column = [
        "addi s9, s9, 1",
        *await_count(s, PACKED, "s9", f"{name}.packed"),
        f"li t0, {_NIU[0]}",
        f"li t1, {_INITIATOR:#x}",
        "add t0, t0, t1",
        f"sw s6, {_TARGET}(t0)",
        f"sw s8, {_ANSWER}(t0)",
        f"li t1, {_WRITE | _MARKED}",
        f"sw t1, {_CONTROL}(t0)",
        f"li t1, {s.block_bytes}",
        f"sw t1, {_LENGTH}(t0)",
        "add s8, s8, t1",
        "li t1, 1",
        f"sw t1, {_COMMAND}(t0)",
        f"{name}.sent:",
        # Writes of transaction 0 that have not left L1 (`NIU_MST_WRITE_REQS_OUTGOING_ID`).
        "lw t1, 0x280(s0)",
        f"bnez t1, {name}.sent",
        *tell_count(s, WRITTEN, "s9"),
        *exchange("s6", "s7"),
    ]
    return counted_loop(f"{name}.columns", "s11", s.product.columns, column)


def start_read(source: str, target: str, size: int) -> Lines:
    """Read of so many bytes from DRAM into L1, by the NIU in s0."""
    lines = [f"sw {source}, {_TARGET}(s0)", f"sw {target}, {_ANSWER}(s0)", f"sw zero, {_CONTROL}(s0)"]
    return [*lines, f"li t1, {size}", f"sw t1, {_LENGTH}(s0)", "li t1, 1", f"sw t1, {_COMMAND}(s0)"]


def await_packets(register: str, counter: int, label: str) -> Lines:
    """Wait until a counter of the NIU in s0 has reached a register's value."""
    return [f"{label}:", f"lw t1, {counter}(s0)", f"blt t1, {register}, {label}"]
