# SPDX-License-Identifier: Apache-2.0
"""Loops of a rooted graph: the loop nesting forest, which nodes make it irreducible, and natural loops.

Relative to a depth-first search, the loop of h has the descendants of h that reach h through descendants of h alone;
loops so defined nest (Tarjan, "Testing Flow Graph Reducibility", 1974; Havlak, "Nesting of Reducible and Irreducible
Loops", 1997). From the innermost outwards, a loop is found backwards from the sources of edges to h and contracted into
h; an edge that joins two branches of the search waits for their common ancestor (Ramalingam, "Identifying Loops in
Almost Linear Time", 1999). Where an edge enters a loop elsewhere than at its header, the loop is irreducible; all
others are the natural loops of their headers, whatever the search.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import SupportsIndex

from polyloom.analysis.dominators import dominator_tree
from polyloom.analysis.flow_graph import Edges, checked_graph


@dataclass(frozen=True, slots=True)
class Loop:
    """`parent` is the position in the forest of the loop around it, or -1; `latches` are the members with an edge to
    the header.

    `own` are the nodes of which this is the innermost loop, the header first. An irreducible loop has further entries.
    """

    header: int
    parent: int
    depth: int
    irreducible: bool
    latches: tuple[int, ...]
    own: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoopForest:
    """Loops after those around them, by the preorder of headers; by node its innermost loop, or -1."""

    loops: tuple[Loop, ...]
    innermost: tuple[int, ...]

    @property
    def reducible(self) -> bool:
        return not any(loop.irreducible for loop in self.loops)

    def members(self, loop: int) -> tuple[int, ...]:
        """All nodes of a loop, those of loops in it too, ascending."""
        inside = {loop}
        for k in range(loop + 1, len(self.loops)):
            if self.loops[k].parent in inside:
                inside.add(k)
        return tuple(sorted(node for k in inside for node in self.loops[k].own))


def loop_forest(n: SupportsIndex, edges: Edges, root: SupportsIndex = 0) -> LoopForest:
    """Loop nesting forest of the nodes that the root reaches, edges followed in their order (Havlak 1997; Ramalingam
    1999). Errors: PL0962 to PL0964.
    """
    count, array, start = checked_graph(n, edges, root)
    search = _search(_lists(count, array.tolist()), start)
    around = _innermost_headers(search, count)
    return _forest(search, around, _irreducible_headers(search, around))


def natural_loops(n: SupportsIndex, edges: Edges, root: SupportsIndex = 0) -> dict[int, tuple[int, ...]]:
    """By header its members, ascending: what reaches, not through the header, the source of an edge back to it."""
    count, array, start = checked_graph(n, edges, root)
    tree = dominator_tree(count, array, start)
    position: list[int] = tree.position.tolist()
    size: list[int] = tree.size.tolist()
    pairs: list[tuple[int, int]] = array.tolist()
    before = _lists(count, [(to, of) for of, to in pairs if position[of] >= 0])
    latches: defaultdict[int, list[int]] = defaultdict(list)
    for of, to in pairs:
        # A back edge: its target dominates its source, which the preorder's intervals tell.
        if 0 <= position[to] <= position[of] < position[to] + size[to]:
            latches[to].append(of)
    return {header: tuple(sorted(_backward_reachable({header}, latches[header], before))) for header in sorted(latches)}


def _backward_reachable(found: set[int], work: list[int], neighbours: Sequence[Sequence[int]]) -> set[int]:
    while work:
        if (node := work.pop()) not in found:
            found.add(node)
            work += neighbours[node]
    return found


def _lists(n: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(n)]
    for of, to in edges:
        lists[of].append(to)
    return lists


@dataclass(frozen=True, slots=True)
class _Search:
    """A depth-first search: `back` has by node the sources of edges from its descendants, `joins` by node the other
    edges whose ends have it as their nearest common ancestor."""

    preorder: list[int] = field(default_factory=list[int])
    back: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict[int, list[int]](list))
    joins: defaultdict[int, list[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict[int, list[tuple[int, int]]](list)
    )


def _search(successors: list[list[int]], root: int) -> _Search:
    """An open node is its own `above`; a finished one leads to the nearest open ancestor."""
    search, above = _Search([root]), [-1] * len(successors)
    above[root] = root
    path = [(root, iter(successors[root]))]
    while path:
        node, rest = path[-1]
        for other in rest:
            # Still open: the edge leads back to an ancestor.
            if above[other] == other:
                search.back[other].append(node)
                continue
            if above[other] >= 0:
                search.joins[_find(above, other)].append((node, other))
                continue
            # A tree edge joins its ends at its own source.
            search.joins[node].append((node, other))
            search.preorder.append(other)
            above[other] = other
            path.append((other, iter(successors[other])))
            break
        else:
            path.pop()
            above[node] = path[-1][0] if path else node
    return search


def _find(above: list[int], node: int) -> int:
    """The end of the path, which is halved."""
    while above[node] != node:
        # Path halving: with it the searches take almost linear time (Tarjan and van Leeuwen, 1984).
        above[node] = above[above[node]]
        node = above[node]
    return node


def _innermost_headers(search: _Search, n: int) -> list[int]:
    """By node the header of the innermost loop that it is in and does not head, or -1."""
    around, contracted = [-1] * n, list(range(n))
    sources: list[list[int]] = [[] for _ in range(n)]
    # Inner headers first (Havlak, TOPLAS 19(4), 1997; Ramalingam, 1999): a loop that has been found is contracted into
    # its header before the loops around it are looked for.
    for header in reversed(search.preorder):
        # A cross edge matters only within loops around both of its ends, hence from their nearest common ancestor on.
        for of, to in search.joins.get(header, ()):
            sources[_find(contracted, to)].append(of)
        work = [_find(contracted, of) for of in search.back.get(header, ())]
        while work:
            node = work.pop()
            if node != header and around[node] < 0:
                around[node] = header
                work += [_find(contracted, of) for of in sources[node]]
                contracted[node] = header
    return around


def _irreducible_headers(search: _Search, around: list[int]) -> set[int]:
    """The headers of loops that are entered elsewhere.

    An edge enters every loop around its target whose header comes after the common ancestor of its ends; from a node,
    the outermost of these loops is passed on to the next loop around.
    """
    place = {node: k for k, node in enumerate(search.preorder)}
    outermost = dict(place)
    for ancestor, edges in search.joins.items():
        for _, to in edges:
            outermost[to] = min(outermost[to], place[ancestor] + 1)
    found: set[int] = set()
    for node in reversed(search.preorder):
        header = around[node]
        if header >= 0 and outermost[node] <= place[header]:
            found.add(header)
            outermost[header] = min(outermost[header], outermost[node])
    return found


def _forest(search: _Search, around: list[int], entered: set[int]) -> LoopForest:
    headers = [node for node in search.preorder if node in search.back]
    index = {header: k for k, header in enumerate(headers)}
    innermost = [index.get(node, index.get(around[node], -1)) for node in range(len(around))]
    own: list[list[int]] = [[header] for header in headers]
    for node in search.preorder:
        if innermost[node] >= 0 and node not in index:
            own[innermost[node]].append(node)
    loops: list[Loop] = []
    for k, header in enumerate(headers):
        parent = index.get(around[header], -1)
        depth = loops[parent].depth + 1 if parent >= 0 else 1
        loops.append(
            Loop(header, parent, depth, header in entered, tuple(dict.fromkeys(search.back[header])), tuple(own[k]))
        )
    return LoopForest(tuple(loops), tuple(innermost))
