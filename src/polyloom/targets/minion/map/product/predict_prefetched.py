# SPDX-License-Identifier: Apache-2.0
"""Cost model of short products, whose operands second harts bring into the L2 of each shire (patch_prefetch.py).

  start + packing + rounds · steps · step

A step takes as long as its multiplication, as the busiest bank gives the lines, and as lines come over the mesh to a
shire and from DRAM; what takes nearly as long as another delays it, so that the sum of these is a power mean (the
p-norm, which is their maximum where p is great). A row pitch that is a multiple of 256 bytes has a column in one bank.
Packing takes as long as lines come and the interleaving loads of a hart last, and as the banks give rows, of which
those of bytes and halves are parts of lines. The weights are fitted to 199 random products of 40 to 256 in each
dimension on 64 to 1,024 minions, without those of `polyloom bench minion`, after a look at which the power for bytes
and halves and the start behind packing were chosen.
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
_LINE: Final = 10
"""Cycles from a line of a load to the next."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """Weights of one type: cycles at the start, of a step at least, and between rounds; what each line of a left and of
    a right tile takes in a bank; how much of the time in which lines come, loads last, and banks serve what is packed
    is not hidden; and the power of their sums.
    """

    start: int
    step: int
    round: int
    left: float
    right: float
    come: float
    power: int
    loads: float = 0
    banks: float = 0
    behind: float = 0


_WEIGHTS: Final[dict[Name, _Weights]] = {
    "fp32": _Weights(558, 224, 234, 0.678, 1.317, 1.363, 2),
    "fp16": _Weights(827, 170, 0, 1.006, 1.33, 1.775, 4, 0, 0.957, 0.612),
    "int8": _Weights(880, 145, 240, 0.946, 0.952, 0.182, 3, 2.03, 0.869, 0.126),
}


def prefetched_cycles(p: Problem, g: Grid, fma: int, pitch: int, shire_minions: int) -> int:
    """Predicted cycles; `fma` are those of a step's multiplication, `pitch` the bytes between rows of the right factor
    in memory.
    """
    w = _WEIGHTS[p.kind.name]
    rows, columns = patch_blocks(p, g)
    left, right = rows * p.height, columns * ROWS
    rounds = g.rounds(p.block_rows, p.block_columns)
    bank = _bank_cycles(p, g, w, pitch)
    if not p.packs_near:
        come = w.come * max((left + right) / _MESH, (p.rows + p.block_columns * ROWS) / _DRAM) / rounds
        return int(w.start + _loop_cycles(p, w, rounds, _norm(w.power, fma, bank, come)))
    come = w.come * p.steps * max(right / _MESH, p.block_columns * ROWS / _DRAM)
    loads = w.loads * _load_cycles(p, columns, shire_minions)
    pack = _norm(w.power, come + loads, w.banks * _packing(p, columns, pitch)) + w.behind * left * p.steps / _MESH
    return int(w.start + pack + _loop_cycles(p, w, rounds, _norm(w.power, fma, bank)))


def _norm(power: int, *cycles: float) -> float:
    return sum(each**power for each in cycles) ** (1 / power)


def _loop_cycles(p: Problem, w: _Weights, rounds: int, step: float) -> float:
    return rounds * p.steps * max(step, w.step) + (rounds - 1) * w.round


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
