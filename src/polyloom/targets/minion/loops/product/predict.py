# SPDX-License-Identifier: Apache-2.0
"""How many cycles a product takes, before it runs: what decides whether second harts stage, and over how many minions a
sum is split.

A step takes as long as its FMA, or as its tiles take to come: from DRAM a line every 45 cycles, 16 lines a tile, the
left one behind the right one; from the shire's scratchpad a line every 10. A round ends with its store, and with a
message of 32 registers for each halving of a split sum. Figures: docs/targets/minion.md, "Time".
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.loops.product.grid import Grid
from polyloom.targets.minion.loops.product.loop import Problem
from polyloom.targets.minion.loops.product.operand import ROWS
from polyloom.targets.minion.loops.product.split import Split

_FMA: Final = {"fp32": 529, "fp16": 529, "int8": 280}
"""Of a whole step, its right tile streamed."""
_FROM_DRAM: Final = 45 * ROWS + 300
"""A left tile, and what the first lines of the right one wait for."""
_FROM_SCRATCHPAD: Final = 10 * ROWS
_START: Final = 500
_FILL: Final = 2000
"""Until the first chunk is in the scratchpads."""
_STORE: Final = 150
_MESSAGE: Final = 57 + 74
"""A tree step of 32 registers outside a neighbourhood."""


def cycles(p: Problem, g: Grid, is_staged: bool) -> int:
    """Of the busiest minion."""
    steps = -(-Split(g.parts, p.words).chunk // ROWS)
    fma = _FMA[p.kind.name]
    step = max(fma, _FROM_SCRATCHPAD) if is_staged else max(fma, _FROM_DRAM)
    round_ = steps * step + _STORE + (g.parts.bit_length() - 1) * _MESSAGE
    return _START + (_FILL if is_staged else 0) + g.rounds(p.block_rows, p.block_columns) * round_
