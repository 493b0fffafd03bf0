# SPDX-License-Identifier: Apache-2.0
"""Dominators and post-dominators of a rooted graph, dominance frontiers, and iterated dominance frontiers.

u dominates w when every path from the root to w passes u; idom(w) is the last such u other than w. The algorithm is
Lengauer and Tarjan's (1979) as "Reworking Lengauer-Tarjan" develops it, in its three strategies, which differ in time
alone. A graph is its number of nodes n, an integer array of edges (from, to) of shape (m, 2) and a root; repeated edges
and self loops are allowed. The work is native (native/graph).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, SupportsIndex, get_args

import numpy as np
import numpy.typing as npt

from polyloom._native.graph import DominatorTree
from polyloom._native.graph import dominators as _dominators
from polyloom.analysis.flow_graph import Edges, Integers, Nodes, checked_graph, find_invalid_node, integers
from polyloom.diagnostics import input_error, nearest

__all__ = [
    "MAX_FRONTIER",
    "DominatorTree",
    "Frontiers",
    "dominance_frontiers",
    "dominator_tree",
    "dominators",
    "iterated_frontier",
    "post_dominators",
    "reversed_edges",
]

Strategy = Literal["scratch", "cached", "balanced"]
Method = Literal["cytron", "cooper"]

MAX_FRONTIER: Final = 10**8


@dataclass(frozen=True, slots=True)
class Frontiers:
    """The frontier of node v is `members[start[v] : start[v + 1]]`, ascending; that of a node not reached is empty."""

    start: npt.NDArray[np.int64]
    members: Nodes

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, node: int) -> Nodes:
        return self.members[self.start[node] : self.start[node + 1]]


def dominators(n: SupportsIndex, edges: Edges, root: SupportsIndex = 0, strategy: Strategy = "balanced") -> Nodes:
    """idom by node, int32 (n,); -1 for the root and for nodes that it does not reach.

    Time is O(m n) for "scratch", O(m log n) for "cached", O(m alpha(m, n)) for "balanced". Errors: PL0962 to PL0964,
    PL0966.
    """
    count, array, start = checked_graph(n, edges, root)
    # Strategies differ in how paths are compressed, and so in time alone.
    return _dominators(count, array, start, _index(strategy, get_args(Strategy), "strategy"))


def post_dominators(n: SupportsIndex, edges: Edges, strategy: Strategy = "balanced") -> Nodes:
    """Immediate post-dominators, int32 (n,): n, the virtual exit, after nodes that nothing else is sure to follow; -1
    for nodes that reach no exit."""
    count, array, _ = checked_graph(n, edges, 0)
    return dominators(count + 1, reversed_edges(count, array), count, strategy)[:count]


def reversed_edges(n: int, edges: Nodes) -> Nodes:
    """The reversed graph on n + 1 nodes, whose root n is a virtual exit behind all nodes without successors."""
    # Post-dominators are the dominators of the reversed graph; several exits need one root above them all.
    leaves = np.ones(n, np.bool_)
    leaves[edges[:, 0]] = False
    exits = np.flatnonzero(leaves).astype(np.int32)
    return np.concatenate([edges[:, ::-1], np.stack([np.full_like(exits, n), exits], axis=1)])


def dominator_tree(
    n: SupportsIndex, edges: Edges, root: SupportsIndex = 0, strategy: Strategy = "balanced"
) -> DominatorTree:
    """Dominator tree in preorder, where a subtree is an interval, so that dominance is two comparisons (Muchnick 1997,
    section 7.3); errors as for `dominators`.
    """
    count, array, start = checked_graph(n, edges, root)
    return DominatorTree(count, array, start, _index(strategy, get_args(Strategy), "strategy"))


def dominance_frontiers(
    n: SupportsIndex,
    edges: Edges,
    root: SupportsIndex = 0,
    strategy: Strategy = "balanced",
    method: Method = "cooper",
    limit: int = MAX_FRONTIER,
) -> Frontiers:
    """Frontiers by the method of Cytron et al. (1991) or of Cooper, Harvey and Kennedy (2001), which give the same.

    The total is counted first, in O(m log n); over `limit` it is the error PL0965. Other errors as for `dominators`.
    """
    tree = dominator_tree(n, edges, root, strategy)
    chosen = _index(method, get_args(Method), "method")
    # Frontiers may have n^2 members in all (a ladder of nested loops), so they are counted before room is made for
    # them.
    total = int(tree.frontier_sizes().sum())
    if total > limit:
        raise input_error(
            "PL0965",
            f"the dominance frontiers have {total} members, more than {limit}",
            help="raise the limit; iterated frontiers need no frontiers",
        )
    return Frontiers(*tree.frontiers(chosen == 1))


def iterated_frontier(tree: DominatorTree, nodes: Integers, within: npt.NDArray[np.bool_] | None = None) -> Nodes:
    """The union of the frontiers of `nodes`, of the frontiers of that, and so on; int32, ascending.

    Nodes w with `within[w]` false, of shape (n,), are left out and lead no further: with the blocks into which a
    variable is live, the result is where pruned static single assignment form has its arguments. Sreedhar and Gao
    (1995): O(n + m), without frontiers.
    """
    asked = integers("nodes", nodes).reshape(-1)
    if (fault := find_invalid_node("nodes", asked, len(tree.idom))) is not None:
        raise fault.error()
    # An empty mask stands for all nodes: the native side makes none of its own.
    mask = np.zeros(0, np.bool_) if within is None else np.ascontiguousarray(within, np.bool_)
    if within is not None and mask.shape != tree.idom.shape:
        raise input_error(
            "PL0962",
            f"within has the shape {mask.shape}",
            help=f"give one value for each of the {len(tree.idom)} nodes",
        )
    return tree.iterated_frontier(np.ascontiguousarray(asked, np.int32), mask)


def _index(name: str, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise input_error("PL0966", f"there is no {what} '{name}'", help=nearest(name, names, what))
    return names.index(name)
