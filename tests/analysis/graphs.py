# SPDX-License-Identifier: Apache-2.0
"""Graphs for tests, and the definitions of everything by reachability: slow, and independent of any dominator
algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hypothesis import strategies as st


@dataclass(frozen=True)
class Graph:
    n: int
    edges: tuple[tuple[int, int], ...]
    root: int

    def reached(self, start: int, without: int | None = None) -> frozenset[int]:
        """The nodes that a path from `start` leads to in the graph less one node."""
        if start == without:
            return frozenset()
        seen, work = {start}, [start]
        while work:
            v = work.pop()
            fresh = [w for u, w in self.edges if u == v and w != without and w not in seen]
            seen.update(fresh)
            work.extend(fresh)
        return frozenset(seen)

    @cached_property
    def dominators(self) -> dict[int, frozenset[int]]:
        """By reached node all nodes without which it is not reached."""
        reached = self.reached(self.root)
        lost = {u: reached - self.reached(self.root, u) for u in reached}
        return {w: frozenset(u for u in reached if w in lost[u]) for w in reached}

    @cached_property
    def idom(self) -> list[int]:
        """The strict dominator that all others dominate."""
        return [self._idom(w) for w in range(self.n)]

    def _idom(self, w: int) -> int:
        strict = self.dominators.get(w, frozenset()) - {w}
        return next((u for u in strict if strict == self.dominators[u]), -1)

    @cached_property
    def frontiers(self) -> list[list[int]]:
        """w is in the frontier of u that dominates a predecessor of w, but not w strictly."""
        edges = [(v, w) for v, w in self.edges if v in self.dominators]
        return [
            sorted({w for v, w in edges if u in self.dominators[v] and u not in self.dominators[w] - {w}})
            for u in range(self.n)
        ]

    def iterated(self, nodes: list[int], within: frozenset[int] | None = None) -> list[int]:
        """The least fixpoint."""
        found: set[int] = set()
        while True:
            more = {w for u in {*nodes, *found} for w in self.frontiers[u] if within is None or w in within}
            if more <= found:
                return sorted(found)
            found |= more


@st.composite
def graphs(draw: st.DrawFn, most: int = 12) -> Graph:
    """Any graph: with loops, repeated edges, unreached nodes, edges into the root."""
    n = draw(st.integers(1, most))
    node = st.integers(0, n - 1)
    return Graph(n, tuple(draw(st.lists(st.tuples(node, node), max_size=3 * n))), draw(node))


@st.composite
def flow_graphs(draw: st.DrawFn, most: int = 40) -> Graph:
    """Every node has an edge from an earlier one, so that the root reaches all of them; further edges are any."""
    n = draw(st.integers(2, most))
    tree = [(draw(st.integers(0, w - 1)), w) for w in range(1, n)]
    node = st.integers(0, n - 1)
    more = draw(st.lists(st.tuples(node, node), max_size=2 * n))
    names = draw(st.permutations(range(n)))
    return Graph(n, tuple((names[u], names[v]) for u, v in draw(st.permutations(tree + more))), names[0])
