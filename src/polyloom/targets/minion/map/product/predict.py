# SPDX-License-Identifier: Apache-2.0
"""Cost model of products in cycles, before they run: it decides whether second harts stage, over how many minions a sum
is split, and whether two products need no barrier between them.

A step takes as long as its FMA, or as its tiles take to come: from DRAM a line every 45 cycles, 16 lines a tile, the
left one behind the right one; from the shire's scratchpad a line every 10. A round ends with its store, and with a
message of 32 registers for each halving of a split sum, and another one where all want it back. Figures:
docs/targets/minion.md, "Time".
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.product.loop import Problem
from polyloom.targets.minion.map.product.split import Split
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tiles import ROWS, TILE, Grid

# fp takes two micro-operations per row and word of depth (8 columns each), int8 one; 17 and 24 are what measurements on
# silicon leave beside.
_FMA: Final = {"fp32": (32, 17), "fp16": (32, 17), "int8": (16, 24)}
"""Of a whole step, its right tile streamed: for each row, and beside."""
_LINE: Final = 45
_FROM_DRAM: Final = _LINE * ROWS + 300
"""A left tile, and what the first lines of the right one wait for."""
_FROM_SCRATCHPAD: Final = 10 * ROWS
START: Final = 500
_FILL: Final = 1500
"""Until the first chunk is in the scratchpads."""
_CROWDED: Final = 1.1
"""How much longer a staged step takes where many shires read the same lines from the banks of one."""
_MANY: Final = 8
"""Shires from which on they do."""
_PACKED: Final = {"fp16": 80, "int8": 320}
"""Of a step that packs: load and store of a minion's share of a right tile."""
_STORE: Final = 150
# 57 cycles one way in a shire, and 2.3 for each of 32 further registers.
_MESSAGE: Final = 57 + 74
"""A tree step of 32 registers outside a neighbourhood."""
_MEET: Final = 120
_JOIN: Final = 4
_TOLD: Final = 4
_LEVEL: Final = 410
"""Of a barrier: credits one way and the code around them, an arrival in a shire, that of a shire, and a level of the
tree of shires, which gives three credits, one after another.
"""
_DRAM: Final = 127
"""Bytes a cycle, whole chip."""


def cycles(p: Problem, g: Grid, is_staged: bool, *, packs: bool = False) -> int:
    """Predicted cycles of the busiest minion. `packs`: the loop packs the right factor."""
    # Interleaving and storing run between two multiplications, never beside them.
    round_ = block_cycles(p, g.parts, is_staged=is_staged) + (p.steps * loop_packing_cycles(p) if packs else 0)
    if not is_staged:
        return START + g.rounds(p.block_rows, p.block_columns) * round_
    is_crowded = g.shire_rows * g.shire_columns >= _MANY
    first = min(g.total_rows * p.height, p.rows) + min(g.total_columns * ROWS, p.columns)
    # The first lines of all rows and columns come before the first multiplication.
    fill = _FILL + first * LINE // _DRAM
    return int(START + fill + g.rounds(p.block_rows, p.block_columns) * round_ * (_CROWDED if is_crowded else 1))


def resident_cycles(p: Problem, g: Grid) -> int:
    """Predicted cycles where the operands are in the scratchpads."""
    return START + g.rounds(p.block_rows, p.block_columns) * (p.steps * fma_cycles(p) + _STORE)


def loop_packing_cycles(p: Problem) -> int:
    """Predicted cycles by which a step takes longer that packs the right tile of the next."""
    return _PACKED[p.kind.name]


def packing_cycles(p: Problem, team: Team) -> int:
    """Predicted cycles until the right factor is packed, and all know it: it comes from DRAM once, as fast as DRAM
    gives it, or as the busiest minion's loads take.
    """
    tiles = p.block_columns * p.steps
    most = -(-tiles // team.minions) * _LINE * ROWS
    return max(tiles * TILE // _DRAM, most) + barrier_cycles(team)


def hides_loads(p: Problem, g: Grid, team: Team) -> bool:
    """Whether second harts bring the lines of a step from DRAM while first harts multiply one."""
    return _LINE * (g.rows * p.height + g.columns * ROWS) <= team.shire_minions * fma_cycles(p)


def block_cycles(p: Problem, parts: int, *, is_staged: bool = False, broadcast: bool = False) -> int:
    """Predicted cycles of a block of the result whose sum so many minions share."""
    split = Split(parts, p.words)
    fma = fma_cycles(p)
    step = max(fma, _FROM_SCRATCHPAD) if is_staged else max(fma, _FROM_DRAM)
    messages = split.height * (2 if broadcast or p.broadcast else 1)
    return -(-split.chunk // ROWS) * step + _STORE + messages * _MESSAGE


def fma_cycles(p: Problem) -> int:
    """Predicted cycles of the multiplication of a whole step."""
    each, beside = _FMA[p.kind.name]
    return each * p.height + beside


def dependent_cycles(p: Problem, new: int, known: int) -> int:
    """Predicted cycles of blocks of a product of which one factor was just written: of `new` blocks, no minion of the
    shire has read the other factor's tiles before; of `known` ones, one has.
    """
    steps, fma = p.steps, fma_cycles(p)
    return new * (steps * max(fma, _FROM_DRAM) + _STORE) + known * (steps * fma + _STORE)


def barrier_cycles(team: Team) -> int:
    """Predicted cycles from the last arrival's FLB to everyone's credit."""
    within = _JOIN * team.shire_minions * team.harts
    if team.shires == 1:
        return _MEET + within
    levels = next(n for n in range(1, team.shires) if (3 ** (n + 1) - 1) // 2 >= team.shires)
    return within + _TOLD * team.shires + levels * _LEVEL
