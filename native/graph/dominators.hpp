// SPDX-License-Identifier: Apache-2.0
// Immediate dominators of a rooted graph: Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph"
// (1979), in the four steps and three strategies of "Reworking Lengauer-Tarjan" (2025).
#pragma once

#include "graph/csr.hpp"

namespace polyloom::graph {

// How the node of least semidominator on a path of the depth-first tree is found.
enum class Strategy {
    scratch,   // 1: walk the path every time, O(m n)
    cached,    // 2: what a walk has found is kept, O(m log n)
    balanced,  // 3: and the forest is kept balanced, O(m alpha(m, n))
};

struct Dominators {
    Array<Node> idom;   // by node; none for the root and for nodes that it does not reach
    Array<Node> order;  // the `reached` nodes in depth-first preorder, so that every node comes after its idom
    Node reached = 0;
};

Dominators dominators(const Csr& successors, Node root, Strategy strategy);

}  // namespace polyloom::graph
