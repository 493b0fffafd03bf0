// SPDX-License-Identifier: Apache-2.0
// The dominator tree in preorder, and what is asked of it: dominance frontiers and iterated dominance frontiers.
//
// DF(u) is the set of the nodes w that u does not strictly dominate although it dominates a predecessor of w. It is
// therefore the set of w for which u lies on a path of the tree from a predecessor of w up to, and without, idom(w).
#pragma once

#include <vector>

#include "graph/csr.hpp"
#include "graph/dominators.hpp"

namespace polyloom::graph {

struct Frontiers {
    std::vector<int64_t> start;  // by node, then the end
    Array<Node> members;         // of each node ascending
};

class DominatorTree {
  public:
    DominatorTree(Node n, std::span<const Edge> edges, Node root, Strategy strategy);

    Node nodes() const { return Node(idom.size()); }
    bool reached(Node v) const { return position[v] != none; }
    const Csr& successors() const { return successors_; }
    const Csr& predecessors() const { return predecessors_; }

    // |DF(v)| by node, in time O(m log n) and space O(n) however large the frontiers are.
    std::vector<int64_t> frontier_sizes() const;

    // Cytron et al., "Efficiently Computing Static Single Assignment Form and the Control Dependence Graph" (1991):
    // bottom up.
    Frontiers frontiers_cytron() const;

    // Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001): up from the predecessors of every join.
    Frontiers frontiers_cooper() const;

    // The union of DF(v) over `nodes`, of DF over that, and so on, ascending, without making frontiers: Sreedhar and
    // Gao, "A Linear Time Algorithm for Placing phi-Nodes" (1995). Nodes where `within` (by node, unless it is empty)
    // is false are left out and lead no further. Nodes that are not reached have empty frontiers.
    std::vector<Node> iterated_frontier(std::span<const Node> nodes, std::span<const bool> within) const;

    Array<Node> idom, position, size;  // by node: of a node not reached none, none, 0
    Array<Node> preorder;              // a subtree is the range of `size` from its root's position on

  private:
    Csr successors_, predecessors_;
    Array<int32_t> depth_, highest_;  // by node: its own, and the least one that an edge out of its subtree leads to
};

}  // namespace polyloom::graph
