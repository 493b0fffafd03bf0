# SPDX-License-Identifier: Apache-2.0
"""Dominators and what static single assignment form is built from: `import polyloom as pl; pl.ssa.dominators(n, edges)`."""

from polyloom.analysis.dominators import (
    MAX_FRONTIER,
    DominatorTree,
    Frontiers,
    dominance_frontiers,
    dominator_tree,
    dominators,
    iterated_frontier,
    post_dominators,
    reversed_edges,
)

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
