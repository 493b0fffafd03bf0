# SPDX-License-Identifier: Apache-2.0
"""Start values of accumulators, for sums that begin with what is in memory: a block is loaded into the registers to
which its multiplications add.

Rows of the block are two registers each. Vector instructions wait for the block before, up to the store that reads its
registers. They leave lines in the L1 of the minion, and the result may overwrite the array: where a later phase asks
for it, these lines are evicted. Sources: the programmer's reference manual, "TensorWait", "Cache control".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.minion.map.product.split import Split
from polyloom.targets.minion.map.product.tensor_assembly import COMBINED, EVICTED, FIRST, STORED, add_scaled, li, wait
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tiles import ROWS, WORD, Tiles

_HALF: Final = LINE // 2
_TO_L3: Final = 2 << 58
"""A cache operation's level: tensor stores change no copy in L2."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Blocks of `rows` rows of the array with which sums begin; `evicts`: whether its lines may not stay in caches."""

    tiles: Tiles
    evicts: bool
    rows: int = ROWS


def accumulates(b: Begin | None, split: Split) -> bool:
    """Whether all minions add to what is in their registers."""
    return b is not None and split.parts == 1


def start_sums(b: Begin | None, split: Split, prefix: str) -> list[str]:
    """Loads of what sums begin with, into the registers of the first of those who share the block."""
    if b is None or split.parts == 1:
        return [] if b is None else load_block(b, "s4", "s5")
    # With a split sum one part begins with the array; the others begin with their first product (MUL), else it would be
    # added once per part.
    lines = [f"andi t0, s0, {split.parts - 1}", f"bnez t0, {prefix}.begun", wait(COMBINED)]
    return [*lines, *load_block(b, "s4", "s5"), f"andi s8, s8, {~FIRST}", f"{prefix}.begun:"]


def load_block(b: Begin, row_number: str, column_number: str) -> list[str]:
    """Loads of the block at this place among the tiles, whole: what is behind the array's edges is neither multiplied
    nor stored.
    """
    t = b.tiles
    lines = [wait(STORED), li("t2", t.address), li("t0", t.stride)]
    lines += [*add_scaled("t1", row_number, t.block_step, "t2"), *add_scaled("t1", column_number, t.depth_step, "t2")]
    lines += ["mv t1, t2"]
    for n in range(b.rows):
        lines += [*load_row("t1", n), "add t1, t1, t0"]
    return [*lines, *(evict_lines("t2", b.rows, t.stride) if b.evicts else [])]


def load_row(address: str, number: int = 0) -> list[str]:
    """Load of a row of a block, a line, into two registers."""
    return [f"flw.ps f{2 * number}, 0({address})", f"flw.ps f{2 * number + 1}, {_HALF}({address})"]


def load_column(address: str) -> list[str]:
    """Loads of a column of a block from the elements of a line; scalar loads set the other lanes to zero (manual,
    chapters 3 to 6).
    """
    return [f"flw f{2 * n}, {WORD * n}({address})" for n in range(ROWS)]


def evict_lines(address: str, lines: int, stride: int) -> list[str]:
    """Eviction of so many lines; t1 and t6 are free."""
    # Lines that were just loaded may still be on their way into L1.
    word = ["fence", li("t1", _TO_L3 | lines - 1), f"or t1, t1, {address}", li("t6", stride)]
    return [*word, "csrw evict_va, t1", wait(EVICTED)]
