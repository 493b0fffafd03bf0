# SPDX-License-Identifier: Apache-2.0
"""The graph of docs/dominators.md, and its dominator tree with the frontiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.docs.drawn import svg

import polyloom as pl

_COUNT: Final = 6
_EDGES: Final = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5)]
Place = tuple[float, float]
_GRAPH: Final[Mapping[int, Place]] = {
    0: (110, 40), 1: (110, 100), 2: (60, 160), 3: (160, 160), 4: (110, 220), 5: (110, 280),
}  # fmt: skip
_RADIUS: Final = 15


def draw() -> str:
    idom = pl.ssa.dominators(_COUNT, _EDGES)
    frontiers = pl.ssa.dominance_frontiers(_COUNT, _EDGES)
    tree = _tree([int(parent) for parent in idom])
    parts = [svg.text(20, 16, "graph"), svg.text(300, 16, "dominator tree; dashed: frontiers")]
    parts += [_edge(_GRAPH[a], _GRAPH[b]) for a, b in _EDGES if a < b]
    parts += [_back(_GRAPH[a], _GRAPH[b], 90) for a, b in _EDGES if a > b]
    parts += [_edge(tree[int(parent)], tree[n], 0) for n, parent in enumerate(idom) if parent >= 0]
    for n in range(_COUNT):
        parts += [_frontier(tree[n], tree[int(member)]) for member in frontiers[n]]
    parts += [_node(n, place) for places in (_GRAPH, tree) for n, place in places.items()]
    return svg.drawing(600, 306, "".join(parts), "A graph of six nodes with a loop, and its dominator tree")


def _tree(idom: list[int]) -> Mapping[int, Place]:
    """Nodes of one depth side by side."""
    depth = {n: 0 for n, parent in enumerate(idom) if parent < 0}
    for n, parent in enumerate(idom):
        if parent >= 0:
            depth[n] = depth[parent] + 1
    rows = {d: [n for n in depth if depth[n] == d] for d in depth.values()}
    return {n: (430 + 90 * (row.index(n) - (len(row) - 1) / 2), 40 + 76 * d) for d, row in rows.items() for n in row}


def _node(n: int, at: Place) -> str:
    x, y = at
    ring = f'<circle cx="{svg.decimal(x)}" cy="{svg.decimal(y)}" r="{_RADIUS}" fill="#14a08c" fill-opacity=".3"'
    return f'{ring} stroke="currentColor" stroke-opacity=".8"/>' + svg.text(x, y + 4, str(n), "middle")


def _edge(start: Place, end: Place, accent: int | None = None) -> str:
    (x, y), (u, v) = start, end
    length = ((u - x) ** 2 + (v - y) ** 2) ** 0.5
    a, b = (_RADIUS + 1) * (u - x) / length, (_RADIUS + 1) * (v - y) / length
    return svg.arrow(f"M{svg.decimal(x + a)} {svg.decimal(y + b)}L{svg.decimal(u - a)} {svg.decimal(v - b)}", accent)


def _back(start: Place, end: Place, aside: float) -> str:
    """Around the nodes between, to the right."""
    (x, y), (u, v) = start, end
    return svg.arrow(f"M{x + 16} {y}C{x + aside} {y} {u + aside} {v} {u + 17} {v}")


def _frontier(start: Place, end: Place) -> str:
    (x, y), (u, v) = start, end
    if start == end:
        loop = f"M{svg.decimal(x + 12)} {svg.decimal(y - 10)}c26 -24 40 14 5 14"
        return svg.arrow(loop, 1, dashed=True)
    if y == v:
        side = _RADIUS + 1 if u > x else -_RADIUS - 1
        over = f"M{svg.decimal(x + side / 2)} {svg.decimal(y + 14)}Q{svg.decimal((x + u) / 2)} {svg.decimal(y + 44)}"
        return svg.arrow(f"{over} {svg.decimal(u - side / 2)} {svg.decimal(v + 15)}", 1, dashed=True)
    aside = f"Q{svg.decimal(x + 40)} {svg.decimal((y + v) / 2)}"
    up = f"M{svg.decimal(x + 14)} {svg.decimal(y - 8)}{aside} {svg.decimal(u + 16)} {svg.decimal(v + 6)}"
    return svg.arrow(up, 1, dashed=True)
