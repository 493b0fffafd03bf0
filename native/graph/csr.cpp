// SPDX-License-Identifier: Apache-2.0
#include "graph/csr.hpp"

namespace polyloom::graph {

// Counts stand two places to the right: after summing, start_[v + 1] is where v begins, and after filling, where it
// ends.
template <Node Edge::* key, Node Edge::* value>
Csr Csr::sorted(Node n, std::span<const Edge> edges) {
    Csr made;
    made.start_ = {size_t(n) + 2, 0};
    made.target_ = Array<Node>(edges.size());
    int32_t* start = made.start_.data();
    Node* target = made.target_.data();
    for (const Edge& e : edges) ++start[e.*key + 2];
    for (Node v = 1; v <= n; ++v) start[v + 1] += start[v];
    for (const Edge& e : edges) target[start[e.*key + 1]++] = e.*value;
    return made;
}

Csr successors(Node n, std::span<const Edge> edges) { return Csr::sorted<&Edge::from, &Edge::to>(n, edges); }

Csr predecessors(Node n, std::span<const Edge> edges) { return Csr::sorted<&Edge::to, &Edge::from>(n, edges); }

}  // namespace polyloom::graph
