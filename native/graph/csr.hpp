// SPDX-License-Identifier: Apache-2.0
// A directed graph on the nodes 0..n-1 in compressed sparse rows, made of an edge array by a counting sort: the neighbours of a
// node stand together, in the order of the edges. Repeated edges and self loops stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace polyloom::graph {

using Node = int32_t;
constexpr Node none = -1;

struct Edge {
    Node from, to;
};

// Memory that is written before it is read: filling it with zeros first would cost as much as a pass over the graph.
template <class T>
std::unique_ptr<T[]> room(size_t count) {
    return std::make_unique_for_overwrite<T[]>(count);
}

class Csr {
  public:
    Node nodes() const { return Node(start_.size()) - 2; }
    const int32_t* starts() const { return start_.data(); }
    const Node* targets() const { return target_.get(); }
    std::span<const Node> operator[](Node v) const { return {target_.get() + start_[v], target_.get() + start_[v + 1]}; }

  private:
    friend Csr successors(Node n, std::span<const Edge> edges);
    friend Csr predecessors(Node n, std::span<const Edge> edges);
    template <Node Edge::* key, Node Edge::* value>
    static Csr sorted(Node n, std::span<const Edge> edges);

    std::vector<int32_t> start_;  // by node, then the end twice
    std::unique_ptr<Node[]> target_;
};

Csr successors(Node n, std::span<const Edge> edges);
Csr predecessors(Node n, std::span<const Edge> edges);

}  // namespace polyloom::graph
