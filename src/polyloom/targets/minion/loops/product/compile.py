# SPDX-License-Identifier: Apache-2.0
"""The code of a product: each minion runs through its blocks of 16 x 16, and through k in steps of 16.

    for its rows of blocks, for its columns of blocks:
        for each step: load the left tile, load the right tile to TenB, wait for the left one, multiply
        combine the parts of the sum, where minions share a block; store

Registers: s2, s3 the row and column where the minion begins; s4, s5 those of the block; s6, s7, s8 the words of both
loads and of the FMA; s9, s10, s11 strides of left, right and result; a0 counts steps, a1 is the store's word, a2 how
far the right factor's next tile is; a3, a4 the bits that turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.analysis.contraction import Contraction
from polyloom.diagnostics import input_error
from polyloom.targets.minion.loops.product.grid import Grid, grid
from polyloom.targets.minion.loops.product.tile import (
    COLUMN_FIELD,
    DEPTH_FIELD,
    FIRST,
    LINE,
    ROW_FIELD,
    ROWS,
    TURN_FMA,
    TURN_LOAD,
    signed,
    wait,
    written,
)
from polyloom.targets.minion.loops.product.view import View, view
from polyloom.targets.minion.loops.program import Part
from polyloom.targets.minion.loops.work import Made, Setting
from polyloom.targets.minion.tensor_words import EVENTS, encode

PEAK: Final = 8
"""Multiply-adds of singles that a minion does per cycle."""
_REGISTERS: Final = 32
_LOADED, _STORED = EVENTS.index("load0"), EVENTS.index("store")


@dataclass(frozen=True, slots=True)
class Problem:
    """Three matrices in memory: the left factor by rows, the right one and the result as they lie."""

    left: View
    right: View
    result: View

    @property
    def block_rows(self) -> int:
        return -(-self.left.rows // ROWS)

    @property
    def block_columns(self) -> int:
        return -(-self.right.columns // ROWS)

    @property
    def steps(self) -> int:
        """Whole ones along k."""
        return self.left.columns // ROWS

    @property
    def rest(self) -> int:
        """What is left of k behind them."""
        return self.left.columns % ROWS


def code(found: Contraction, fp: str, setting: Setting) -> Made:
    """Errors: PL1331 for --split-k that does not fit, PL1332 for a sum of floats whose order it would change."""
    views = [view(m, setting.arrays[m.array]) for m in (found.left, found.right, found.result)]
    left, right, result = views
    assert left is not None and right is not None and result is not None
    p = Problem(left, right, result)
    parts = _parts(p, setting, fp)
    g = grid(setting.team, p.block_rows, p.block_columns, parts)
    macs = left.rows * left.columns * right.columns
    return Made(tuple(parts_of(p, g, setting.prefix)), {"split_k": parts}, macs, PEAK)


def _parts(p: Problem, setting: Setting, fp: str) -> int:
    """How many minions share a block."""
    asked = setting.options.split_k or 1
    if asked == 1:
        return 1
    if fp != "reassociate":
        message = "--split-k adds parts of sums, and floats keep the order of their sums"
        raise input_error(
            "PL1332", message, help="write --reassociate, which allows another order, or leave --split-k out"
        )
    most = min(p.left.columns, setting.team.minions)
    if asked > most or setting.team.minions % asked:
        message = f"--split-k is {asked}, for {p.left.columns} terms on {setting.team.minions} minions"
        raise input_error("PL1331", message, help="give a power of two that divides the minions, at most the terms")
    return asked


def parts_of(p: Problem, g: Grid, prefix: str) -> list[Part]:
    """The code."""
    return [
        Part((f"{prefix}.product:", *_begin(p, g, prefix), *_blocks(p, g, prefix), *_end(prefix))),
    ]


def _begin(p: Problem, g: Grid, prefix: str) -> list[str]:
    """s2, s3; and what stays the same in all blocks."""
    lines = ["mv t0, s0"]
    inner = g.rows * g.columns * g.parts
    lines += [f"li t1, {inner}", "remu t2, t0, t1", "divu t3, t0, t1"]
    lines += [f"li t1, {g.parts}", "divu t2, t2, t1"]
    lines += [f"li t1, {g.columns}", "remu s3, t2, t1", "divu s2, t2, t1"]
    lines += [f"li t1, {g.shire_columns}", "remu t4, t3, t1", "divu t5, t3, t1"]
    lines += [f"li t1, {g.rows}", "mul t5, t5, t1", "add s2, s2, t5"]
    lines += [f"li t1, {g.columns}", "mul t4, t4, t1", "add s3, s3, t4"]
    lines += [f"li s9, {p.left.row_step}", f"li s10, {p.right.row_step}", f"li s11, {p.result.row_step}"]
    lines += [f"li a2, {ROWS * p.right.row_step}", f"li a3, {signed(TURN_LOAD)}", f"li a4, {TURN_FMA}"]
    return [*lines, "li s6, 0", "li s8, 0"]


def _blocks(p: Problem, g: Grid, prefix: str) -> list[str]:
    rows, columns = f"{prefix}.rows", f"{prefix}.columns"
    lines = ["mv s4, s2", f"{rows}:", f"li t0, {p.block_rows}", f"bgeu s4, t0, {prefix}.stored"]
    lines += ["mv s5, s3", f"{columns}:", f"li t0, {p.block_columns}", f"bgeu s5, t0, {prefix}.next"]
    lines += [*_block(p, g, prefix), f"addi s5, s5, {g.all_columns}", f"j {columns}"]
    return [*lines, f"{prefix}.next:", f"addi s4, s4, {g.all_rows}", f"j {rows}"]


def _block(p: Problem, g: Grid, prefix: str) -> list[str]:
    """The words of the block's first step, its steps, its store."""
    first = encode("tensor_fma", rows=1, columns=4, words=ROWS, tenb=1, first=1).value
    store = encode("tensor_store", bytes=LINE).value
    lines = [
        *_least(p.left.rows, "s4", "t3", f"{prefix}.height"),
        *_least(p.right.columns, "s5", "t4", f"{prefix}.width"),
    ]
    lines += ["srli t4, t4, 2", f"slli t3, t3, {ROW_FIELD}", f"slli t4, t4, {COLUMN_FIELD}"]
    lines += ["and s8, s8, a4", f"li t0, {first}", "or s8, s8, t0", "or s8, s8, t3", "or s8, s8, t4"]
    lines += [f"li a1, {signed(store)}", "or a1, a1, t3", f"srli t3, t3, {ROW_FIELD}"]
    lines += [
        "and s6, s6, a3",
        "or s6, s6, t3",
        *_at("t1", p.left.address, "s4", ROWS * p.left.row_step),
        "add s6, s6, t1",
    ]
    lines += [
        f"li s7, {encode('tensor_load_b', rows=ROWS).value}",
        *_at("t1", p.right.address, "s5", LINE),
        "add s7, s7, t1",
    ]
    lines += [*_at("t1", p.result.address, "s4", ROWS * p.result.row_step), "add a1, a1, t1", "slli t1, s5, 6"]
    lines += ["add a1, a1, t1", *_steps(p, prefix)]
    return [*lines, "mv t6, s11", "csrrw x0, 0x87f, a1"]


def _least(extent: int, block: str, register: str, label: str) -> list[str]:
    """Rows or columns of a block, less 1: 15, or what is left in the last block."""
    lines = [f"li {register}, {ROWS - 1}"]
    if extent % ROWS == 0:
        return lines
    last = extent // ROWS
    return [*lines, f"li t0, {last}", f"bne {block}, t0, {label}", f"li {register}, {extent % ROWS - 1}", f"{label}:"]


def _at(register: str, address: int, block: str, step: int) -> list[str]:
    """Where a block begins."""
    return [
        f"li {register}, {step}",
        f"mul {register}, {register}, {block}",
        f"li t0, {address}",
        f"add {register}, {register}, t0",
    ]


def _steps(p: Problem, prefix: str) -> list[str]:
    """Along k: the loop over whole tiles, and the rest."""
    lines = list[str]()
    if p.steps:
        after = [f"addi s6, s6, {LINE}", "xor s6, s6, a3", "add s7, s7, a2", f"andi s8, s8, {~FIRST}", "xor s8, s8, a4"]
        body = [f"{prefix}.step:", *_step(), *after, "addi a0, a0, -1", f"bnez a0, {prefix}.step"]
        lines += [f"li a0, {p.steps}", *body]
    if p.rest:
        less = ROWS - p.rest
        lines += [f"addi s7, s7, {-less}", f"li t0, {less << DEPTH_FIELD}", "sub s8, s8, t0", *_step()]
        lines += ["xor s6, s6, a3", "xor s8, s8, a4"]
    return lines


def _step() -> list[str]:
    load, fma = encode("tensor_load"), encode("tensor_fma")
    return [
        *("mv t6, s9", *written(load, "s6")),
        *("mv t6, s10", *written(load, "s7")),
        *wait(_LOADED),
        *written(fma, "s8"),
    ]


def _end(prefix: str) -> list[str]:
    return [f"{prefix}.stored:", *wait(_STORED)]
