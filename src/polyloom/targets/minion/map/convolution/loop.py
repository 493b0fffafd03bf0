# SPDX-License-Identifier: Apache-2.0
"""Loop nest of a minion over its tiles of a convolution's result.

  for each tile of its own: registers become +0
    for the taps of each window, those outside of the image left out:
      write where the tile's pixels are, which gives the mask of those inside of the image
      for each step of depth: load the pixels, load the weights to TenB, wait for the pixels, multiply
    store, or turn the tile over by a transposing load

Tiles are numbered: output channels first, then the axes from the last to the first; minions take them in turns.

Left-out terms and masked rows leave sums untouched, as in a source that adds nothing there. Registers become zero by a
multiplication of masked rows, which takes its line through TenB: no wait is needed then. A tile is turned over in lines
32 to 47 of L1Scp; the store of those ends before the next multiplication.

Registers: s2 the tile; s6, s7, s8 the words of both loads and of the FMA; a1 that of the store; s9, s10, s11 strides;
a0 counts steps of depth, a3 and a4 are the bits that turn (product/tensor_assembly.py), those of `taps.py` the taps.
Masks: the
programmer's reference manual, chapter 9, tensor_conv_size and tensor_conv_ctrl.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.convolution.channels_outermost import channel_loop
from polyloom.targets.minion.map.convolution.shape import Shape, Tap
from polyloom.targets.minion.map.convolution.taps import PAIRS, add_constant, tap_loops
from polyloom.targets.minion.map.convolution.weight_prefetch import prefetch_weights
from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.product.accumulator_start import evict_lines, load_column, load_row
from polyloom.targets.minion.map.product.loop import divide_index, multiply_step, shorten_step
from polyloom.targets.minion.map.product.quant import prepare_quant
from polyloom.targets.minion.map.product.tensor_assembly import (
    COLUMN_FIELD,
    DEPTH_FIELD,
    LOADED,
    ROW_FIELD,
    STORED,
    TURN_FMA,
    TURN_LOAD,
    add_scaled,
    li,
    wait,
)
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tensor_words import TRANSFORMS, encode, load_second_word
from polyloom.targets.minion.words.tiles import ROWS, TILE, WORD

_QUANT, _BLOCK = "a2", "t5"
"""Registers of the tile's TensorQuant, and of its block of output channels."""
_LINES: Final = 32
"""The first line of L1Scp in which tiles are turned over."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory with a tile for each minion; `is_own`: for those of each shire, in its scratchpad."""

    address: int
    is_own: bool


def convolution_loop(s: Shape, team: Team, buffer: Buffer, prefix: str) -> list[str]:
    """Code of the loop; stores may still run behind it."""
    again, done = f"{prefix}.tile", f"{prefix}.stored"
    lines = [
        f"{prefix}.convolution:",
        *prefetch_weights(s, team, prefix),
        *_loop_constants(s),
        "mv s2, s0",
        f"{again}:",
        li("t0", s.tiles),
    ]
    lines += [f"bgeu s2, t0, {done}", *_initial_words(s, prefix)]
    # Of the tile before: a store from L1Scp and a multiplication need a wait between them, and so do a store and a
    # vector instruction.
    lines += [wait(STORED)] if (s.turns or s.begins is not None) and s.tiles > team.minions else []
    lines += prepare_quant(s.quant, _QUANT, s.tile, _BLOCK) if s.quant else []
    lines += [*_clear_sums(s), *_sums(s, prefix), *_read_tenc(s), *_quantize(s)]
    lines += _transpose_tile(s, buffer) if s.turns else ["mv t6, s11", "csrw tensor_store, a1"]
    return [*lines, li("t0", team.minions), "add s2, s2, t0", f"j {again}", f"{done}:"]


def _loop_constants(s: Shape) -> list[str]:
    """Loop invariants: strides, the size of the image's rows for masks, and the bits that turn."""
    stride = LINE if s.turns else s.pixel_axis.result_step
    lines = [
        li("s9", s.pixel_axis.stride * s.pixel_axis.image_step),
        li("s10", load_second_word(s.line_step, 1)),
        li("s11", stride),
    ]
    if s.is_masked:
        # One row of the image is enough: taps across rows are left out by branches, so the mask only compares columns.
        size = encode("tensor_conv_size", rows=1, column_step=s.pixel_axis.stride, columns=s.pixel_axis.limit).value
        lines += [li("t0", size), "csrw tensor_conv_size, t0"]
    return [*lines, li("a3", TURN_LOAD), li("a4", TURN_FMA), li("s6", 0), li("s8", 0)]


def _initial_words(s: Shape, prefix: str) -> list[str]:
    """Words of the tile's first tap, in s6, s7, s8 and a1, and where the taps of its first pixel are."""
    start = sum(axis.offset * axis.image_step for axis in s.axes)
    # With channels outermost each multiplication takes one word of depth, to keep the source's order of sums.
    words = 1 if s.outermost else ROWS
    load = encode("tensor_load", masked=s.is_masked, rows=1, address=s.image + start).value
    fma = encode("tensor_fma", type=s.kind.number, masked=s.is_masked, words=words, tenb=1, rows=1, columns=4)
    signs = encode("tensor_fma", a_unsigned=s.unsigned[0], b_unsigned=s.unsigned[1]).value
    lines = ["and s6, s6, a3", li("t0", load), "add s6, s6, t0", "and s8, s8, a4", li("t0", fma.value | signs)]
    lines += ["or s8, s8, t0", li("s7", encode("tensor_load_b", rows=words, address=s.weights).value)]
    lines += [li("a1", _store_word(s)), "mv t2, s2", *divide_index("t3", "t2", s.blocks)]
    lines += [f"mv {_BLOCK}, t2"] if s.quant else []
    lines += [*add_scaled("t1", "t2", s.block_step, "s7"), *add_scaled("t1", "t2", _result_step(s), "a1")]
    lines += _block_extent(s.channels, "t2", f"{prefix}.wide", ROWS, "t4")
    # The stored lines are channels, so their number is that of the output channels of the block.
    if s.turns:
        lines += [f"slli t4, t4, {ROW_FIELD}", "add a1, a1, t4", li("t4", ROWS - 1)]
    lines += ["srli t4, t4, 2", f"slli t4, t4, {COLUMN_FIELD}", "or s8, s8, t4"]
    for number in reversed(range(len(s.axes))):
        lines += [
            "mv t2, t3",
            *(divide_index("t3", "t2", s.digits[number]) if number else []),
            *_add_axis(s, number, prefix),
        ]
    return lines


def _add_axis(s: Shape, number: int, prefix: str) -> list[str]:
    """Contribution of the tile's place along an axis, in t2, to the words."""
    axis, each = s.axes[number], s.tile if number == s.pixel else 1
    lines = add_scaled("t1", "t2", each * axis.stride * axis.image_step, "s6")
    lines += add_scaled("t1", "t2", each * axis.result_step, "a1")
    for (where, _), tap in zip(PAIRS, s.taps, strict=False):
        if tap.axis == number and s.needs_check(tap):
            lines += [f"li {where}, {axis.offset}", *add_scaled("t1", "t2", each * axis.stride, where)]
    if number == s.pixel:
        lines += _block_extent(axis.extent, "t2", f"{prefix}.high", s.tile, "t4")
        lines += [*([] if s.outermost else ["add s6, s6, t4"]), f"slli t4, t4, {ROW_FIELD}", "or s8, s8, t4"]
        lines += [] if s.turns else ["add a1, a1, t4"]
    return lines


def _block_extent(extent: int, block: str, label: str, each: int, to: str) -> list[str]:
    """Rows or columns of a block, less 1: all, or what is left in the last one."""
    lines = [li(to, each - 1)]
    if extent % each == 0:
        return lines
    return [*lines, li("t0", extent // each), f"bne {block}, t0, {label}", li(to, extent % each - 1), f"{label}:"]


def _result_step(s: Shape) -> int:
    if s.turns:
        return ROWS * s.channel_step
    return LINE if s.quant is None else s.quant.row


def _store_word(s: Shape) -> int:
    if s.turns:
        return encode("tensor_store_scp", start=_LINES, address=s.result).value
    return encode(
        "tensor_store", bytes=s.quant.row if s.quant else LINE, step=_row_registers(s), address=s.result
    ).value


def _row_registers(s: Shape) -> int:
    """Registers from row to row of what is stored."""
    return 1 if s.quant is None or s.quant.row == LINE else 2


def _masked_multiply(s: Shape, **fields: int) -> list[str]:
    """Multiplication in which no row takes part, of one word of depth. Where lines 32 on hold vectors, it reads those
    that the load behind it does not write.
    """
    a = _LINES if s.quant is None else 0
    word = encode("tensor_fma", type=s.kind.number, masked=1, rows=ROWS, columns=ROWS, words=1, tenb=1, a=a, **fields)
    # With TenB the operation reads no line of L1Scp for B, so that no wait for a load is needed.
    line = encode("tensor_load_b", rows=1, address=s.weights).value
    lines = ["csrw tensor_mask, zero", li("t0", line), "mv t6, s10", "csrw tensor_load, t0", li("t0", word.value)]
    other = ["and t1, s8, a4", "xor t1, t1, a4", "or t0, t0, t1"] if s.quant else []
    return [*lines, *other, "csrw tensor_fma, t0"]


def _clear_sums(s: Shape) -> list[str]:
    """Start of sums: +0 in registers or in TenC (masked rows with MUL; manual, chapter 9), or what a vector's sums
    begin with.
    """
    if s.begins is None:
        return _masked_multiply(s, first=1)
    is_row = s.pixel_axis.extent == 1 and s.channels > 1
    lines = [li("t2", s.begins)]
    lines += add_scaled("t1", "s2", LINE if is_row else s.tile * WORD, "t2")
    return [
        *lines,
        *(load_row("t2") if is_row else load_column("t2")),
        *(evict_lines("t2", 1, LINE) if s.evicts else []),
    ]


def _read_tenc(s: Shape) -> list[str]:
    """Sums of integers go from TenC to registers."""
    return _masked_multiply(s, to_registers=1) if s.kind.name == "int8" else []


def _quantize(s: Shape) -> list[str]:
    """Epilogue by TensorQuant. A tile that may lie outside of the image at all taps has no later load that proves the
    vectors' loads complete, so it waits.
    """
    if s.quant is None:
        return []
    is_proven = s.has_load_per_tile or not s.quant.vectors
    return [*([] if is_proven else [wait(LOADED)]), f"csrw tensor_quant, {_QUANT}"]


def _sums(s: Shape, prefix: str) -> list[str]:
    if s.outermost:
        return channel_loop(s, prefix)
    return tap_loops(s, s.taps, f"{prefix}.tap", _depth_loop(s, prefix), _steps)


def _steps(s: Shape, tap: Tap) -> list[tuple[str, int]]:
    return [("s6", tap.dilation * s.axes[tap.axis].image_step), ("s7", tap.weight_step)]


def _depth_loop(s: Shape, prefix: str) -> list[str]:
    """Loop along the depth: whole steps, and a last one with what is left."""
    whole, rest = (s.words - 1) // ROWS, (s.words - 1) % ROWS + 1
    turn = ["xor s6, s6, a3", "xor s8, s8, a4"]
    lines = list[str]()
    if whole:
        lines += [
            li("a0", whole),
            f"{prefix}.step:",
            *multiply_step(),
            f"addi s6, s6, {LINE}",
            *add_constant("s7", s.depth_step),
            *turn,
        ]
        lines += ["addi a0, a0, -1", f"bnez a0, {prefix}.step"]
    lines += [*shorten_step(ROWS - rest), *multiply_step(), *turn, *_lengthen_step(ROWS - rest)]
    return [*lines, *add_constant("s6", -whole * LINE), *add_constant("s7", -whole * s.depth_step)]


def _lengthen_step(more: int) -> list[str]:
    """The inverse of `shortened`."""
    return [f"addi s7, s7, {more}", li("t0", more << DEPTH_FIELD), "add s8, s8, t0"] if more else []


def _transpose_tile(s: Shape, buffer: Buffer) -> list[str]:
    """Transposition of a tile, pixels by channels to channels by pixels, through memory of the minion's own: only loads
    transpose (manual, chapter 9).
    """
    store = encode("tensor_store", rows=ROWS, bytes=LINE, address=buffer.address).value
    turn, at = TRANSFORMS.index("transpose32"), buffer.address
    load = encode("tensor_load", transform=turn, start=_LINES, rows=ROWS, address=at).value
    number = f"andi t1, s0, {MINIONS_PER_SHIRE - 1}" if buffer.is_own else "mv t1, s0"
    own = [number, f"slli t1, t1, {TILE.bit_length() - 1}"]
    lines = [*own, li("t0", store), "add t0, t0, t1", li("t6", LINE), "csrw tensor_store, t0"]
    lines += [li("t0", load), "add t0, t0, t1", wait(STORED), "csrw tensor_load, t0", wait(LOADED)]
    return [*lines, li("t6", s.channel_step), "csrw tensor_store, a1"]
