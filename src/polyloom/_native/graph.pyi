# SPDX-License-Identifier: Apache-2.0
"""Dominators (native/graph/bind.cpp). Callers have checked all numbers: `polyloom.analysis.dominators` does."""

from typing import final

import numpy as np
from numpy.typing import NDArray

def dominators(n: int, edges: NDArray[np.int32], root: int, strategy: int) -> NDArray[np.int32]:
    """idom by node, -1 for the root and for nodes not reached; `edges` is (m, 2) in row-major order.

    Strategies are 0 scratch, 1 cached, 2 balanced. The caller has checked all numbers: `polyloom.analysis.dominators`
    does.
    """

@final
class DominatorTree:
    """The dominator tree of a graph, with preorder positions; arguments as for `dominators`."""

    def __init__(self, n: int, edges: NDArray[np.int32], root: int, strategy: int) -> None: ...
    @property
    def idom(self) -> NDArray[np.int32]:
        """By node; -1 for the root and for nodes not reached."""

    @property
    def preorder(self) -> NDArray[np.int32]:
        """The reached nodes in an order in which every subtree is a range: `preorder[position[v] : position[v] +
        size[v]]` is v's."""

    @property
    def position(self) -> NDArray[np.int32]:
        """By node; -1 for nodes not reached."""

    @property
    def size(self) -> NDArray[np.int32]:
        """Nodes in the subtree, by node; 0 for nodes not reached."""

    def frontier_sizes(self) -> NDArray[np.int64]:
        """By node; without making frontiers."""

    def frontiers(self, cooper: bool) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(start, members) by one of two methods: v's frontier is `members[start[v] : start[v + 1]]`, ascending."""

    def iterated_frontier(self, nodes: NDArray[np.int32], within: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Ascending; nodes w with `within[w]` false are left out and lead no further, unless `within` is empty."""

    def construct(
        self, node: NDArray[np.int32], variable: NDArray[np.int32], kind: NDArray[np.uint8], variables: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """(start, variable, reaching, arguments) of native/graph/construct.hpp for touches, nodes ascending: 0 loads, 1
        stores, 2 forgets."""
