# SPDX-License-Identifier: Apache-2.0
"""Loop nest of a minion over its blocks of 16 x 16, and over the depth in steps of 16 words.

  for its rows of blocks, for its columns of blocks:
    for each step: load the left tile, load the right tile to TenB, wait for the left one, multiply
    combine the parts of the sum, where minions share a block; store

Double buffering of the left tile and streaming of the right one through TenB is the fastest order that the unit has: 97
% of its peak (docs/targets/minion.md, "Time").

Registers: s2, s3 the row and column where the minion begins; s4, s5 those of the block; s6, s7, s8 the words of both
loads and of the FMA; s9, s10, s11 strides of left, right and result; a0 counts steps, a1 is the store's word, a2 how
far the right factor's next tile is, a7 the left one's; a3, a4 the bits that turn; a5 the words of depth, a6 the first
of them; or a5 and a6 the block's place among those of its shire; sp, tp groups that load together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.minion.map.product.accumulator_start import Begin, accumulates, start_sums
from polyloom.targets.minion.map.product.cooperative_loads import coop_groups
from polyloom.targets.minion.map.product.operand import Kind
from polyloom.targets.minion.map.product.quant import WORD, Quant, prepare_quant
from polyloom.targets.minion.map.product.split import Split, combine_parts, row_share
from polyloom.targets.minion.map.product.tensor_assembly import (
    COLUMN_FIELD,
    DEPTH_FIELD,
    FIRST,
    LAST,
    LOADED,
    OFFSET_FIELD,
    ROW_FIELD,
    TURN_FMA,
    TURN_LOAD,
    add_scaled,
    li,
    wait,
)
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tensor_words import TRANSFORMS, encode, load_second_word
from polyloom.targets.minion.words.tiles import ROWS, Grid, Tiles

_NONE: Final = list[str]()


@dataclass(frozen=True, slots=True)
class Problem:
    """A product with its addresses: `rows` by `columns` of the result, `initial_words` of 32 bits along the depth, and
    where all tiles are: by a block's row and column in the whole, or, where `is_local`, among those of its shire.

    `near`: what a shire needs is brought into its L2 first; `packs_near`: and its tiles of the right factor are packed
    into its scratchpad, and counted there.

    `shares`: minions of a shire load what they share together. `broadcast`: those that share a block all get it, and
    each stores rows of it. `begins`: where sums begin with what is in memory. `height`: rows of a block. `raw`: where
    tiles of the right factor are before they are packed.
    """

    kind: Kind
    rows: int
    columns: int
    words: int
    left: Tiles
    right: Tiles
    result: Tiles
    is_local: bool = False
    shares: bool = False
    unsigned: tuple[bool, bool] = (False, False)
    quant: Quant | None = None
    broadcast: bool = False
    begins: Begin | None = None
    height: int = ROWS
    near: bool = False
    packs_near: bool = False
    raw: Tiles | None = None

    @property
    def block_rows(self) -> int:
        return -(-self.rows // self.height)

    @property
    def block_columns(self) -> int:
        return -(-self.columns // ROWS)

    @property
    def steps(self) -> int:
        return -(-self.words // ROWS)


def product_loop(p: Problem, g: Grid, prefix: str) -> list[str]:
    """Code of the loop; stores may still run behind it."""
    split = Split(g.parts, p.words)
    lines = [f"{prefix}.product:", *grid_position(g), *strides(p), *buffer_turns()]
    lines += coop_groups(g, "sp", "tp") if p.shares else []
    lines += [f"li {WORD}, 0"] if p.quant else []
    lines += part_range(p, split, prefix)
    counts_local = p.is_local or p.packs_near
    lines += _local_position(g) if counts_local else []
    lines += ["mv s4, s2", f"{prefix}.row:", li("t0", p.block_rows), f"bgeu s4, t0, {prefix}.stored"]
    lines += ["mv a6, gp"] if counts_local else []
    lines += ["mv s5, s3", f"{prefix}.column:", li("t0", p.block_columns), f"bgeu s5, t0, {prefix}.next"]
    lines += [
        *initial_words(p, split, prefix),
        *depth_loop(p, split, prefix),
        *combine_parts(split, p.kind, broadcast=p.broadcast),
    ]
    lines += _store_block(p, split, prefix)
    down, right = ([f"addi a5, a5, {g.rows}"], [f"addi a6, a6, {g.columns}"]) if counts_local else (_NONE, _NONE)
    lines += [*right, f"addi s5, s5, {g.total_columns}", f"j {prefix}.column"]
    lines += [f"{prefix}.next:", *down, f"addi s4, s4, {g.total_rows}", f"j {prefix}.row"]
    return [*lines, f"{prefix}.stored:"]


def grid_position(g: Grid) -> list[str]:
    """Position of the minion in the grid, in s2 and s3."""
    inner = g.rows * g.columns
    lines = [
        "mv t2, s0",
        *_divide_by_power("t2", g.parts),
        *divide_index("t3", "t2", inner),
        *divide_index("s2", "t2", g.columns),
    ]
    lines += ["mv s3, t2", *divide_index("t4", "t3", g.shire_columns), *add_scaled("t1", "t4", g.rows, "s2")]
    return [*lines, *add_scaled("t1", "t3", g.columns, "s3")]


def _local_position(g: Grid) -> list[str]:
    """Row and column of the first block among those of its shire, in a5 and gp."""
    return ["mv gp, s0", *divide_index("t3", "gp", g.rows * g.columns), *divide_index("a5", "gp", g.columns)]


def _divide_by_power(register: str, by: int) -> list[str]:
    """Division of a register by a power of two."""
    return [f"srli {register}, {register}, {by.bit_length() - 1}"] if by > 1 else []


def divide_index(quotient: str, rest: str, by: int) -> list[str]:
    """Quotient of `rest`, which becomes the remainder. A division takes 65 cycles, a shift one."""
    if by & (by - 1):
        return [li("t1", by), f"divu {quotient}, {rest}, t1", f"mul t1, {quotient}, t1", f"sub {rest}, {rest}, t1"]
    return [f"srli {quotient}, {rest}, {by.bit_length() - 1}", f"andi {rest}, {rest}, {by - 1}"]


def strides(p: Problem) -> list[str]:
    """Registers that all blocks have alike: strides and steps along the depth."""
    # Loads of left and right have ids 0 and 1, so that a wait for the left one does not wait for the stream.
    made = [li("s9", p.left.stride), li("s10", load_second_word(p.right.stride, 1)), li("s11", p.result.stride)]
    return [*made, li("a2", p.right.depth_step), li("a7", p.left.depth_step)]


def buffer_turns() -> list[str]:
    """Double buffering: which half of L1Scp is next stands in s6 and s8 from here on."""
    return [li("a3", TURN_LOAD), li("a4", TURN_FMA), li("s6", 0), li("s8", 0)]


def part_range(p: Problem, split: Split, prefix: str) -> list[str]:
    """Range of a minion's part of the depth: a6 the first word, a5 how many."""
    if split.parts == 1:
        return []
    lines = [f"andi t0, s0, {split.parts - 1}", li("a6", 0), *add_scaled("t1", "t0", split.chunk, "a6")]
    lines += [li("a5", p.words), "sub a5, a5, a6", li("t0", split.chunk), f"blt a5, t0, {prefix}.short", "mv a5, t0"]
    return [*lines, f"{prefix}.short:"]


def initial_words(p: Problem, split: Split, prefix: str) -> list[str]:
    """Words of the block's first step, in s6, s7, s8 and a1."""
    fma = encode(
        "tensor_fma", type=p.kind.number, words=ROWS, tenb=1, first=not accumulates(p.begins, split), rows=1, columns=4
    )
    signs = encode("tensor_fma", a_unsigned=p.unsigned[0], b_unsigned=p.unsigned[1]).value
    load = encode("tensor_load", transform=TRANSFORMS.index(p.left.transform), address=p.left.address, coop=p.shares)
    lines = [
        *block_extent(p.rows, "s4", "t3", f"{prefix}.height", p.height),
        *block_extent(p.columns, "s5", "t4", f"{prefix}.width"),
    ]
    # The bit that turns survives from the block before: a half is not reused while its last FMA may run.
    lines += ["and s6, s6, a3", "add s6, s6, t3", li("t0", load.value), "add s6, s6, t0"]
    lines += [li("s7", encode("tensor_load_b", rows=ROWS, address=p.right.address, coop=p.shares).value)]
    # The field counts columns in fours; t4 holds columns - 1.
    lines += ["srli t4, t4, 2", f"slli t3, t3, {ROW_FIELD}", f"slli t4, t4, {COLUMN_FIELD}", "and s8, s8, a4"]
    lines += [li("t0", fma.value | signs), "or s8, s8, t0", "or s8, s8, t3", "or s8, s8, t4"]
    lines += [li("a1", store_word(p)), "add a1, a1, t3", *(prepare_quant(p.quant) if p.quant else [])]
    row, column = ("a5", "a6") if p.is_local else ("s4", "s5")
    right = "a6" if p.packs_near else column
    lines += [*add_scaled("t1", row, p.left.block_step, "s6"), *add_scaled("t1", right, p.right.block_step, "s7")]
    lines += [*add_scaled("t1", row, p.result.block_step, "a1"), *add_scaled("t1", column, p.result.depth_step, "a1")]
    return [*lines, *_skip_to_part(p, split), *start_sums(p.begins, split, prefix)]


def _skip_to_part(p: Problem, split: Split) -> list[str]:
    """Address of the first tile of the minion's part of the sum."""
    if split.parts == 1:
        return []
    lines = add_scaled("t1", "a6", p.right.depth_step // ROWS, "s7")
    if p.left.transform != "plain":
        return [*lines, *add_scaled("t1", "a6", p.left.depth_step // ROWS, "s6")]
    lines += ["srli t0, a6, 4", *add_scaled("t1", "t0", p.left.depth_step, "s6")]
    # A part may begin inside of a line, which AOFFSET skips for the left factor; a right factor's words are lines of
    # their own.
    if split.chunk < ROWS:
        lines += ["andi t0, a6, 15", f"slli t0, t0, {OFFSET_FIELD}", "or s8, s8, t0"]
    return lines


def block_extent(extent: int, block: str, register: str, label: str, each: int = ROWS) -> list[str]:
    """Rows or columns of a block, less 1: those of `each`, or what is left in the last block."""
    lines = [li(register, each - 1)]
    if extent % each == 0:
        return lines
    return [*lines, li("t0", extent // each), f"bne {block}, t0, {label}", li(register, extent % each - 1), f"{label}:"]


def depth_loop(p: Problem, split: Split, prefix: str) -> list[str]:
    """Loop along the depth: whole steps, and a last one with what is left."""
    body = [*multiply_step(_coop_registers(p)), "add s6, s6, a7", "xor s6, s6, a3", "add s7, s7, a2"]
    # Only the first step multiplies without adding (MUL).
    body += [f"andi s8, s8, {~FIRST}", "xor s8, s8, a4", "addi a0, a0, -1", f"bnez a0, {prefix}.step"]
    last = [*multiply_step(_coop_registers(p)), "xor s6, s6, a3", "xor s8, s8, a4"]
    # int8 accumulates in TenC; the last step copies it to the registers that are stored.
    done = [li("t0", LAST), "or s8, s8, t0"] if p.kind.name == "int8" else []
    if split.parts == 1:
        whole, rest = (p.words - 1) // ROWS, (p.words - 1) % ROWS + 1
        loop = [li("a0", whole), f"{prefix}.step:", *body] if whole else []
        return [*loop, *shorten_step(ROWS - rest), *done, *last]
    empty = _zero_accumulators(p, prefix) if split.has_empty_part else []
    several = ["addi t0, a5, -1", "srli a0, t0, 4", f"beqz a0, {prefix}.last", f"{prefix}.step:", *body]
    lines = [*empty, *(several if split.chunk > ROWS else []), f"{prefix}.last:"]
    lines += ["addi t0, a5, -1", "andi t0, t0, 15", "li t1, 15", "sub t0, t1, t0", "sub s7, s7, t0"]
    return [*lines, f"slli t0, t0, {DEPTH_FIELD}", "sub s8, s8, t0", *done, *last, f"{prefix}.parted:"]


def shorten_step(less: int) -> list[str]:
    """A step of fewer words."""
    return [f"addi s7, s7, {-less}", li("t0", less << DEPTH_FIELD), "sub s8, s8, t0"] if less else []


def _coop_registers(p: Problem) -> tuple[str, str] | None:
    return ("sp", "tp") if p.shares else None


def _zero_accumulators(p: Problem, prefix: str) -> list[str]:
    """Zeros in all registers, where the minion has no part of the sum: a multiplication of masked rows with MUL sets
    them to +0 (manual, chapter 9).
    """
    word = encode("tensor_fma", type=p.kind.number, masked=1, rows=ROWS, columns=ROWS, words=1, first=1)
    zeros = ["csrw tensor_mask, zero", li("t0", word.value | (LAST if p.kind.name == "int8" else 0))]
    # No load of a tile proves those of vectors complete.
    vectors = [wait(LOADED)] if p.broadcast and p.quant is not None and p.quant.vectors else []
    zeros += ["csrw tensor_fma, t0", *vectors]
    return [f"bgtz a5, {prefix}.some", *zeros, f"j {prefix}.parted", f"{prefix}.some:"]


def multiply_step(groups: tuple[str, str] | None = None) -> list[str]:
    """Step of the depth loop: three tensor operations and one wait; `groups` are registers: who loads left and right
    together (manual, chapter 9).
    """
    first, second = ([f"csrw tensor_coop, {group}"] for group in groups) if groups else (_NONE, _NONE)
    loads = [*first, "mv t6, s9", "csrw tensor_load, s6", *second, "mv t6, s10", "csrw tensor_load, s7"]
    # TenB needs no wait: the FMA takes its lines as they come. That the next load is accepted proves this one's engine
    # free.
    return [*loads, wait(LOADED), "csrw tensor_fma, s8"]


def store_word(p: Problem) -> int:
    """Word of the store of a block; packed bytes of a row are in the first of its two registers."""
    if p.quant is None or p.quant.row == LINE:
        return encode("tensor_store", bytes=LINE, address=p.result.address).value
    return encode("tensor_store", bytes=p.quant.row, step=2, address=p.result.address).value


def _store_block(p: Problem, split: Split, prefix: str) -> list[str]:
    """Store of the block, by the first of those who share it, or by each its rows."""
    store = [*([f"csrw tensor_quant, {WORD}"] if p.quant else []), "mv t6, s11", "csrw tensor_store, a1"]
    if split.parts == 1:
        return store
    if p.broadcast:
        return [*row_share(split, prefix), *store, f"{prefix}.other:"]
    return [f"andi t0, s0, {split.parts - 1}", f"bnez t0, {prefix}.other", *store, f"{prefix}.other:"]
