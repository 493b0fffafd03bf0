# SPDX-License-Identifier: Apache-2.0
"""Transitive closure of a component's constraints at one interval: how far apart its operations are, at least and at
most.

Longest paths between all points of a strongly connected component (Floyd 1962, Warshall 1962) imply all its arcs, so
that points which hold no resource drop out. Operations whose distance is fixed form a rigid *body*, which has one row
to choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from polyloom.modulo.graph import Graph

Matrix = npt.NDArray[np.int64]
LARGEST_COMPONENT: Final = 800
"""Points of a component from which on its closure takes too long."""
_NEVER: Final = -(1 << 61)  # below any path, and twice of it is still a number of 64 bits


@dataclass(frozen=True, slots=True)
class Body:
    """Operations with their offsets from the first."""

    members: tuple[tuple[int, int], ...]

    @property
    def leader(self) -> int:
        return self.members[0][0]


@dataclass(frozen=True, slots=True)
class Closure:
    """`after[a, b]`: by how much the leader of body b starts after that of body a, at least."""

    component: int
    bodies: tuple[Body, ...]
    after: Matrix


def longest_paths(graph: Graph, component: int, interval: int) -> Matrix | None:
    """All-pairs longest paths in cycles between the points of a component, in their order; None where a circuit is
    positive (Floyd 1962).
    """
    points = graph.points[component]
    local = {point: n for n, point in enumerate(points)}
    path = np.full((len(points), len(points)), _NEVER, dtype=np.int64)
    # 0, not "never": an operation starts 0 cycles after itself, and a positive entry later on is a positive circuit.
    np.fill_diagonal(path, 0)
    for source, sink, weight, distance in graph.inner[component]:
        a, b = local[source], local[sink]
        path[a, b] = max(path[a, b], weight - interval * distance)
    # Floyd and Warshall as outer sums, one vectorized step per point instead of n^2 steps in Python.
    for via in range(len(points)):
        np.maximum(path, path[:, via, None] + path[None, via, :], out=path)
    return None if np.any(np.diagonal(path) > 0) else path


def build_closure(graph: Graph, component: int, interval: int, kept: frozenset[int]) -> Closure | None:
    """Closure of the kept operations of a component, as rigid bodies; None where a circuit is positive."""
    path = longest_paths(graph, component, interval)
    if path is None:
        return None
    points = graph.points[component]
    order = [n for n, point in enumerate(points) if point in kept]
    bodies: list[Body] = []
    leaders: list[int] = []
    taken: set[int] = set()
    for a in order:
        if a in taken:
            continue
        # after(a, b) = -after(b, a): the least and the greatest distance agree, so that choosing one row chooses both.
        rigid = [b for b in order if b not in taken and path[a, b] + path[b, a] == 0]
        taken.update(rigid)
        leaders.append(a)
        bodies.append(Body(tuple((points[b], int(path[a, b])) for b in rigid)))
    return Closure(component, tuple(bodies), path[np.ix_(leaders, leaders)])
