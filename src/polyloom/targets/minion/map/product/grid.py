# SPDX-License-Identifier: Apache-2.0
"""Block-cyclic distribution of the result: minions form a grid, shires a grid of patches in it, and block (i, j)
belongs to the minion at (i modulo rows, j modulo columns).

A patch that is nearly square makes a shire fetch the fewest tiles: rows + columns of the patch per step along k.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.words.tiles import Grid


def grid(team: Team, block_rows: int, block_columns: int, parts: int = 1) -> Grid:
    """Grid with the fewest rounds, then the fewest tiles to fetch, then the fewest rows: rows of a left factor that are
    far from one another in memory lie in few banks.
    """

    def cost(g: Grid) -> tuple[int, int, int]:
        return g.rounds(block_rows, block_columns), g.fetched_tiles(block_rows, block_columns), g.rows

    return min(candidate_grids(team, parts), key=cost)


def candidate_grids(team: Team, parts: int) -> Iterator[Grid]:
    """Candidate grids of a team. A group of parts lies in one shire, or takes whole shires."""
    inner = max(team.shire_minions // parts, 1)
    outer = team.minions // parts // inner
    for rows in _divisors(inner):
        for shire_rows in _divisors(outer):
            yield Grid(rows, inner // rows, shire_rows, outer // shire_rows, parts)


def _divisors(n: int) -> Iterator[int]:
    return (d for d in range(1, n + 1) if n % d == 0)
