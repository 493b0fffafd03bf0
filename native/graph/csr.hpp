// SPDX-License-Identifier: Apache-2.0
// A directed graph on the nodes 0..n-1 in compressed sparse rows, made of an edge array by a counting sort: the
// neighbours of a node stand together, in the order of the edges. Repeated edges and self loops stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/array.hpp"

namespace polyloom::graph {

using Node = int32_t;
constexpr Node none = -1;

struct Edge {
    Node from, to;
};

class Csr {
  public:
    Node nodes() const { return Node(start_.size()) - 2; }
    const int32_t* starts() const { return start_.data(); }
    const Node* targets() const { return target_.data(); }
    std::span<const Node> operator[](Node v) const { return {targets() + start_[v], targets() + start_[v + 1]}; }

  private:
    friend Csr successors(Node n, std::span<const Edge> edges);
    friend Csr predecessors(Node n, std::span<const Edge> edges);
    template <Node Edge::* key, Node Edge::* value>
    static Csr sorted(Node n, std::span<const Edge> edges);

    Array<int32_t> start_;  // by node, then the end twice
    Array<Node> target_;
};

Csr successors(Node n, std::span<const Edge> edges);
Csr predecessors(Node n, std::span<const Edge> edges);

}  // namespace polyloom::graph
