# SPDX-License-Identifier: Apache-2.0
"""Fusion of two products of which the second one reads the first one's result, without a barrier between them.

  a group of P minions has rows of blocks of both results (columns, where the result is the right factor):
    for each block of the first result: add its part of the sum, reduce, broadcast; each stores the block for itself
    minions take blocks of the second result in turns: the factor is each one's own copy

With P = 1 nothing is sent. A copy lies in the scratchpad of the minion's shire, a tile for each block.

Registers: as in loop.py; s2 is the group, gp where the minion's copies begin behind `_OWN`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.product import predict
from polyloom.targets.minion.map.product.loop import (
    Problem,
    buffer_turns,
    depth_loop,
    initial_words,
    part_range,
    store_word,
    strides,
)
from polyloom.targets.minion.map.product.predict import START, block_cycles, dependent_cycles
from polyloom.targets.minion.map.product.split import Split, combine_parts
from polyloom.targets.minion.map.product.tensor_assembly import ROW_FIELD, STORED, add_scaled, li, wait
from polyloom.targets.minion.memory_map import LINE, SCRATCHPAD
from polyloom.targets.minion.words.tiles import TILE, Grid, Tiles

_OWN: Final = SCRATCHPAD + (0x7F << 23)
"""The scratchpad of whichever shire asks."""
# Of a store's word for the copy, only the number of rows also holds for the store to the array.
_ROWS_OF_WORD: Final = 15 << ROW_FIELD


@dataclass(frozen=True, slots=True)
class Chain:
    """Chain of two products and how they are shared out. `on_right`: the first result is the second product's right
    factor. `kept`: others read the first result, too, so that one minion of each group stores it where it belongs.
    """

    first: Problem
    second: Problem
    parts: int
    minions: int
    on_right: bool
    kept: bool

    @property
    def groups(self) -> int:
        return self.minions // self.parts

    @property
    def outer(self) -> int:
        """Blocks along the dimension that groups share out."""
        return self.second.block_columns if self.on_right else self.second.block_rows

    @property
    def inner(self) -> tuple[int, int]:
        """Blocks of each result along the other one."""
        first, second = self.first, self.second
        return (first.block_rows, second.block_rows) if self.on_right else (first.block_columns, second.block_columns)

    @property
    def room(self) -> int:
        """Bytes of the copies of a minion."""
        return self.inner[0] * TILE


def fits(chain: Chain, scratchpad: int) -> bool:
    """Whether the copies of a shire's minions lie in its scratchpad."""
    return min(chain.minions, MINIONS_PER_SHIRE) * chain.room <= scratchpad


def chain_cycles(c: Chain) -> int:
    """Predicted cycles of a chain, as for single products (docs/targets/minion.md, "Time")."""
    rounds, blocks = -(-c.outer // c.groups), -(-c.inner[1] // c.parts)
    sums = rounds * c.inner[0] * block_cycles(c.first, c.parts, broadcast=True)
    return START + sums + dependent_cycles(c.second, blocks, (rounds - 1) * blocks)


def separate_cycles(c: Chain, team: Team, first: tuple[Grid, bool], g: Grid) -> int:
    """Predicted cycles of both products with a barrier between them: `first` is the grid of the one, and whether second
    harts stage it, `g` that of the other.
    """
    rows, columns = -(-c.second.block_rows // g.total_rows), -(-c.second.block_columns // g.total_columns)
    # Tiles of the other factor come from DRAM the first time; minions that need them later find them in L2.
    new = rows if c.on_right else columns
    return (
        predict.cycles(c.first, *first)
        + predict.barrier_cycles(team)
        + dependent_cycles(c.second, new, rows * columns - new)
    )


def chain_code(c: Chain, prefix: str) -> list[str]:
    """Code of a chain; stores may still run behind it."""
    outer, inner = ("s5", "s4") if c.on_right else ("s4", "s5")
    copies = Tiles(_OWN, TILE, 0, LINE) if c.on_right else Tiles(_OWN, 0, TILE, LINE)
    tiles = Tiles(_OWN, 0, TILE, LINE)
    first = replace(c.first, result=copies)
    second = replace(c.second, right=tiles) if c.on_right else replace(c.second, left=tiles)
    lines = [f"{prefix}.product:", "mv s2, s0", *([f"srli s2, s2, {c.parts.bit_length() - 1}"] if c.parts > 1 else [])]
    lines += [
        f"andi t0, s0, {MINIONS_PER_SHIRE - 1}",
        "li gp, 0",
        *add_scaled("t1", "t0", c.room, "gp"),
        *buffer_turns(),
    ]
    lines += [f"mv {outer}, s2", f"{prefix}.group:", li("t0", c.outer), f"bgeu {outer}, t0, {prefix}.stored"]
    lines += _leading_product(c, first, inner, f"{prefix}.first")
    # That a minion keeps the block proves its own copy stored.
    lines += [wait(STORED)] if c.parts > 1 or not c.kept else []
    lines += _second_product(c, second, inner, f"{prefix}.second")
    return [*lines, f"addi {outer}, {outer}, {c.groups}", f"j {prefix}.group", f"{prefix}.stored:"]


def _leading_product(c: Chain, p: Problem, inner: str, prefix: str) -> list[str]:
    """Code of the first product: every minion of the group gets all blocks."""
    split = Split(c.parts, p.words)
    lines = [*strides(p), *part_range(p, split, prefix), f"li {inner}, 0", f"{prefix}.block:"]
    lines += [
        *initial_words(p, split, prefix),
        *depth_loop(p, split, prefix),
        *combine_parts(split, p.kind, broadcast=True),
    ]
    # The broadcast leaves the block in everyone's registers, so each stores its own copy and nobody waits for
    # another's.
    lines += ["add a1, a1, gp", "mv t6, s11", "csrw tensor_store, a1", *(_store_result(c, prefix) if c.kept else [])]
    return [*lines, f"addi {inner}, {inner}, 1", li("t0", c.inner[0]), f"bltu {inner}, t0, {prefix}.block"]


def _store_result(c: Chain, prefix: str) -> list[str]:
    """Store of the block where it belongs, by the first minion of the group."""
    to = c.first.result
    lines = [f"andi t0, s0, {c.parts - 1}", f"bnez t0, {prefix}.kept"] if c.parts > 1 else []
    lines += [li("t0", store_word(c.first)), li("t1", _ROWS_OF_WORD), "and a1, a1, t1", "add a1, a1, t0"]
    lines += [*add_scaled("t1", "s4", to.block_step, "a1"), *add_scaled("t1", "s5", to.depth_step, "a1")]
    return [*lines, li("t6", to.stride), "csrw tensor_store, a1", f"{prefix}.kept:"]


def _second_product(c: Chain, p: Problem, inner: str, prefix: str) -> list[str]:
    """Code of the second product: minions of a group take its blocks in turns."""
    split = Split(1, p.words)
    lines = [*strides(p), f"andi {inner}, s0, {c.parts - 1}", f"{prefix}.block:", li("t0", c.inner[1])]
    lines += [f"bgeu {inner}, t0, {prefix}.done", *initial_words(p, split, prefix)]
    lines += [f"add {'s7' if c.on_right else 's6'}, {'s7' if c.on_right else 's6'}, gp", *depth_loop(p, split, prefix)]
    lines += ["mv t6, s11", "csrw tensor_store, a1"]
    return [*lines, f"addi {inner}, {inner}, {c.parts}", f"j {prefix}.block", f"{prefix}.done:"]
