# SPDX-License-Identifier: Apache-2.0
"""Cost model of short products, whose operands second harts bring into the L2 of each shire (patch_prefetch.py).

  start + lines of the first steps + packing + rounds · steps · step

Lines come at the rate of the mesh to a shire and of DRAM. A step takes as long as its multiplication, as its stream to
TenB, or as the busiest bank gives the lines: a row pitch that is a multiple of 256 bytes has a column in one bank.
Packing takes as long as lines come and the interleaving loads of a hart last, or as the banks give rows, of which those
of bytes and halves are parts of lines. The weights are fitted to 346 random products of 40 to 256 in each dimension on
8 to 1,024 minions, with any blocks and grids: the cycles of 68 % of them are within 7 % of the prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Final

from polyloom.targets.minion.map.product.loop import Problem
from polyloom.targets.minion.map.product.operand import Name
from polyloom.targets.minion.map.product.patch_prefetch import patch_blocks
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tiles import ROWS, WORD, Grid

_MESH, _DRAM = 50 / LINE, 127 / LINE
"""Lines a cycle to a shire, and from DRAM."""
_BANKS: Final = 4
_FIRST: Final = 4
"""Steps at most that come before the slowest minion multiplies."""
_LINE: Final = 10
"""Cycles from a line of a load to the next."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """Weights of one type: cycles at the start, of a step at least, and between rounds; what each line of a left and of
    a right tile takes in a bank; and how much of the time in which lines come, loads last, and banks serve what is
    packed is not hidden.
    """

    start: int
    step: int
    round: int
    left: float
    right: float
    first: float
    loads: float = 0
    banks: float = 0
    behind: float = 0


_WEIGHTS: Final[dict[Name, _Weights]] = {
    "fp32": _Weights(376, 229, 0, 1.15, 1.17, 1.37),
    "fp16": _Weights(1043, 194, 29, 1.67, 0.74, 0.775, 1.694, 0.3, 1.23),
    "int8": _Weights(1005, 210, 6, 1.7, 0, 1.29, 1.0, 1.0, 1.27),
}


def prefetched_cycles(p: Problem, g: Grid, fma: int, pitch: int, shire_minions: int) -> int:
    """Predicted cycles; `fma` are those of a step's multiplication, `pitch` the bytes between rows of the right factor
    in memory.
    """
    w = _WEIGHTS[p.kind.name]
    rows, columns = patch_blocks(p, g)
    left, right = rows * p.height, columns * ROWS
    step = max(fma, w.step, _bank_cycles(p, g, w, pitch))
    rounds = g.rounds(p.block_rows, p.block_columns)
    multiply = rounds * p.steps * step + (rounds - 1) * w.round
    if not p.packs_near:
        come = max((left + right) / _MESH, (p.rows + p.block_columns * ROWS) / _DRAM)
        return int(w.start + w.first * come * min(p.steps, _FIRST) + multiply)
    come = p.steps * max(right / _MESH, p.block_columns * ROWS / _DRAM)
    pack = max(
        w.first * come + w.loads * _load_cycles(p, columns, shire_minions), w.banks * _packing(p, columns, pitch)
    )
    return int(w.start + pack + w.behind * left * p.steps / _MESH + multiply)


def _spread(pitch: int) -> int:
    """Banks that have the lines of a column, by the distance of its rows."""
    return _BANKS // gcd(_BANKS, max(pitch // LINE, 1))


def _bank_cycles(p: Problem, g: Grid, w: _Weights, pitch: int) -> float:
    """Cycles that the busiest bank takes for the lines of a step: each minion's own, or those of rows and columns of
    minions that load together.
    """
    rows, columns = min(g.rows, p.block_rows), min(g.columns, p.block_columns)
    lefts, rights = (rows, columns) if p.shares else (rows * columns, rows * columns)
    across = _BANKS if p.packs_near else max(_spread(pitch), min(columns, _BANKS))
    return w.left * lefts * p.height / _spread(p.left.stride) + w.right * rights * ROWS / across


def _load_cycles(p: Problem, columns: int, minions: int) -> int:
    """Cycles of the loads of the busiest hart that packs: interleaving ones take 2 or 4 rows for a line."""
    tiles = columns * p.steps
    parts = max(n for n in (1, 2, 4) if n == 1 or n * tiles <= minions)
    return -(-tiles * parts // minions) * _LINE * ROWS * (WORD // p.kind.bytes) // parts


def _packing(p: Problem, columns: int, pitch: int) -> float:
    """Cycles that the busiest bank takes for the rows that are packed, and for bringing them."""
    rows = columns * p.steps * ROWS * (WORD // p.kind.bytes)
    lines = columns * ROWS * p.steps
    return 2 * (rows + lines) / min(_BANKS, _spread(pitch) * max(columns * ROWS * p.kind.bytes // LINE, 1))
