// SPDX-License-Identifier: Apache-2.0
// The skeleton of pruned static single assignment form: where variables become parameters of nodes, and which value
// reaches each use.
//
// Cytron et al., "Efficiently Computing Static Single Assignment Form and the Control Dependence Graph" (1991), with
// parameters only where the variable is live (Choi, Cytron, Ferrante, 1991). Liveness floods backwards from the uses,
// for 64 variables at a time; a walk over the dominator tree finds what reaches. Time is O((n + m) * variables) at
// most, and the size of the result.
#pragma once

#include "graph/tree.hpp"

namespace polyloom::graph {

enum class Touch : uint8_t { load, store, forget };

// What nodes do with variables, in the order in which they do it; those of one node stand together, nodes ascending.
struct Touches {
    std::span<const Node> node;
    std::span<const int32_t> variable;
    std::span<const Touch> kind;
};

// The value of a parameter is its position in `variable`, that of the touch t is their number plus t; where nothing
// reaches, the variable x is ~x.
struct Skeleton {
    // By node, then the end: its parameters are variable[start[v]] to variable[start[v + 1]].
    Array<int32_t> start;
    Array<int32_t> variable;  // by parameter, ascending for each node
    Array<int32_t> reaching;  // by touch: the value that a load finds
    // Of the edges from reached nodes in their order: what reaches each parameter of their target.
    std::vector<int32_t> arguments;
};

// No edge may lead to the root.
Skeleton construct(const DominatorTree& tree, const Touches& touches, int32_t variables);

}  // namespace polyloom::graph
