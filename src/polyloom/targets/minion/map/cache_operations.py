# SPDX-License-Identifier: Apache-2.0
"""Cache operations on the lines of arrays, distributed over the harts of each shire (programmer's reference manual,
chapter 8).

A prefetch brings them into L2 before someone needs them: a load engine takes 45 cycles for a line from DRAM, and a hart
waits for each line that it reads; a prefetch takes one. An eviction makes L2 forget what tensor stores, which do not
ask it, are about to change.

Harts take groups of 16 lines in turns. Registers: t0 to t3, t6.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.product.tensor_assembly import EVICTED, li, wait
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tensor_words import load_second_word
from polyloom.targets.minion.words.tiles import TILE

# Bits [59:58] of a cache operation's word are the level that the lines go to.
_LEVEL: Final = 58
_L2, _L3 = 1, 2
# At most 16 lines per operation: the field has four bits.
_LINES: Final = 16
L2_LEVEL: Final = _L2 << _LEVEL
"""Bits of an operation that brings lines into L2."""
MOST: Final = 256 << 10
"""Bytes: half of the L2 that the vendor's firmware leaves, so that what is computed has room."""


def prefetch_array(address: int, size: int, team: Team, prefix: str, *, all_harts: bool = False) -> list[str]:
    """Prefetches of an array into L2, by first harts or by all. Only whole groups of lines: those behind the last one
    may be written meanwhile. A hart waits (`PREFETCHED`) before it reads what it asked for.
    """
    return _distribute_lines("prefetch_va", _L2, address, size // TILE, team, prefix, team.harts if all_harts else 1)


def prefetch_word(address: int) -> int:
    """Word of a prefetch into L2 of one line; the number of further ones is in its lowest bits."""
    return address | _L2 << _LEVEL


def evict_array(address: int, size: int, team: Team, prefix: str) -> list[str]:
    """Evictions of an array's lines, by all harts, from L2 as well."""
    lines = _distribute_lines("evict_va", _L3, address, -(-size // TILE), team, prefix, team.harts)
    # A cache operation may overtake stores to the same lines; the fence holds it back (manual, chapter 8).
    return ["fence", *lines, wait(EVICTED)]


def _distribute_lines(
    operation: str, level: int, address: int, groups: int, team: Team, prefix: str, harts: int
) -> list[str]:
    """Cyclic distribution of groups of 16 lines over harts of each shire, as a loop."""
    # Every shire has an L2 of its own, so that each works on all lines.
    number, count = "s1" if harts == team.harts else "s0", harts * team.shire_minions
    lines = [f"mv t2, {number}"] if team.shires == 1 else [f"andi t2, {number}, {count - 1}"]
    word = address | level << _LEVEL | _LINES - 1
    lines += ["slli t0, t2, 10", li("t1", word), "add t0, t0, t1", li("t6", load_second_word(LINE)), li("t3", groups)]
    lines += [f"{prefix}.lines:", f"bgeu t2, t3, {prefix}.asked", f"csrw {operation}, t0", f"addi t2, t2, {count}"]
    lines += [li("t1", TILE * count), "add t0, t0, t1", f"j {prefix}.lines", f"{prefix}.asked:"]
    return lines
