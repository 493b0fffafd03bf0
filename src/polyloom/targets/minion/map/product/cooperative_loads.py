# SPDX-License-Identifier: Apache-2.0
"""Cooperative loads: minions of a shire that take the same tile fetch it once (programmer's reference manual, chapter
9, tensor_coop).

Those of a row of the patch share the left tile, those of a column the right one. A group is a mask of neighbourhoods
and one of minions in each, so that rows and columns of a patch whose width is a power of two up to 8 are groups. It
loads when all of its members ask: each of them needs as many blocks.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.product.tensor_assembly import li
from polyloom.targets.minion.words.tensor_words import encode
from polyloom.targets.minion.words.tiles import Grid

_NEIGHBOURHOOD: Final = 8
_MODE: Final = 0x1_4034_0290 + (0xFF << 22)
"""shire_coop_mode of the own shire."""
_GROUPS: Final = 32


def can_share(g: Grid, block_rows: int, block_columns: int) -> bool:
    """Whether all minions of whole shires have as many blocks, and rows and columns are groups."""
    whole = g.parts == 1 and g.rows * g.columns == MINIONS_PER_SHIRE
    even = block_rows % g.total_rows == 0 and block_columns % g.total_columns == 0
    return whole and even and g.columns <= _NEIGHBOURHOOD and g.rows + g.columns <= _GROUPS


def coop_groups(g: Grid, left: str, right: str) -> list[str]:
    """Words of tensor_coop of the minion's row and column, in registers `left` and `right`, and the shire's mode (ESR
    shire_coop_mode).
    """
    shift = g.columns.bit_length() - 1
    # Ids of rows come first, those of columns behind them: a group's id may be reused only when all of its members have
    # completed.
    row = encode("tensor_coop", minions=(1 << g.columns) - 1).value
    across = sum(1 << n for n in range(0, _NEIGHBOURHOOD, g.columns))
    column = encode("tensor_coop", neighbourhoods=15, minions=across, group=0).value + g.rows
    neighbourhood = encode("tensor_coop", neighbourhoods=1).value
    lines = [li("t0", _MODE), "li t1, 1", "sd t1, 0(t0)"]
    lines += ["andi t2, s0, 31", f"andi t3, t2, {g.columns - 1}", "sub t4, t2, t3", "andi t1, t4, 7"]
    lines += [li(left, row), f"sll {left}, {left}, t1", "srli t1, t2, 3", li("t0", neighbourhood), "sll t0, t0, t1"]
    lines += [f"or {left}, {left}, t0", f"srli t1, t2, {shift}", f"or {left}, {left}, t1"]
    lines += [li(right, column & ~(_GROUPS - 1) & 0xFF00), f"sll {right}, {right}, t3"]
    return [*lines, li("t0", column & ~0xFF00), f"add {right}, {right}, t0", f"add {right}, {right}, t3"]
