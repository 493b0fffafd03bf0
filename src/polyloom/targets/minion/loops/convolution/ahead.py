# SPDX-License-Identifier: Apache-2.0
"""Weights brought into the L2 of each shire before the first tile: all tiles of a shire need them at the same time, and
a load engine takes 45 cycles for a line from DRAM, a prefetch one.

Minions of a shire take groups of 16 lines in turns. Registers: t0 to t6.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.loops.convolution.shape import Shape
from polyloom.targets.minion.loops.product.operand import LINE, TILE
from polyloom.targets.minion.loops.product.tile import PREFETCHED, li, wait
from polyloom.targets.minion.loops.program import Team
from polyloom.targets.minion.tensor_words import x31

_TO_L2: Final = 1 << 58 | 15
"""Sixteen lines to L2."""
_MOST: Final = 256 << 10
"""Bytes: half of the L2 that the vendor's firmware leaves, so that the image has room."""


def ahead(s: Shape, team: Team, prefix: str) -> list[str]:
    """Whole groups of lines; behind the weights may lie what is written."""
    groups = s.weight_bytes // TILE
    if not groups or s.weight_bytes > _MOST:
        return []
    lines = ["mv t2, s0"] if team.shires == 1 else [f"andi t2, s0, {team.in_shire - 1}"]
    lines += ["slli t0, t2, 10", li("t1", s.weights | _TO_L2), "add t0, t0, t1", li("t6", x31(LINE)), li("t3", groups)]
    lines += [
        f"{prefix}.ahead:",
        f"bgeu t2, t3, {prefix}.fetched",
        "csrw prefetch_va, t0",
        f"addi t2, t2, {team.in_shire}",
    ]
    lines += [li("t1", TILE * team.in_shire), "add t0, t0, t1", f"j {prefix}.ahead", f"{prefix}.fetched:"]
    return [*lines, wait(PREFETCHED)]
