// SPDX-License-Identifier: Apache-2.0
// The dominator tree in preorder, made of idom; and the sizes of all frontiers without making them.
#include "graph/tree.hpp"

#include <algorithm>

namespace polyloom::graph {

DominatorTree::DominatorTree(Node n, std::span<const Edge> edges, Node root, Strategy strategy)
    : position(n, none), size(n, 0), successors_(graph::successors(n, edges)),
      predecessors_(graph::predecessors(n, edges)), depth_(n, 0), highest_(n, n) {
    Dominators found = dominators(successors_, root, strategy);
    idom = std::move(found.idom);
    preorder = Array<Node>(size_t(found.reached));
    const std::span<const Node> order{found.order.data(), size_t(found.reached)};
    for (size_t k = order.size(); k-- > 0;) {
        const Node v = order[k];
        ++size[v];
        if (v != root) size[idom[v]] += size[v];
    }
    const Array<Node> next(n);  // by node: the position of its next child
    for (const Node v : order) {
        position[v] = v == root ? 0 : next[idom[v]];
        if (v != root) next[idom[v]] += size[v];
        if (v != root) depth_[v] = depth_[idom[v]] + 1;
        next[v] = position[v] + 1;
        preorder[position[v]] = v;
    }
    for (size_t k = order.size(); k-- > 0;) {
        const Node v = order[k];
        for (const Node w : successors_[v]) highest_[v] = std::min(highest_[v], depth_[w]);
        if (v != root) highest_[idom[v]] = std::min(highest_[idom[v]], highest_[v]);
    }
}

// The paths to w from its predecessors in preorder, v1, v2, ..., are disjoint when each begins at its predecessor and
// ends before it meets the last one. With +1 where such a path begins and -1 where it ends, |DF(u)| is the sum over the
// subtree of u.
std::vector<int64_t> DominatorTree::frontier_sizes() const {
    std::vector<int64_t> sizes(idom.size(), 0);
    std::vector<Node> last(idom.size(), none);  // by w: the position of its last predecessor so far
    std::vector<Node> path(preorder.size());    // by depth: the position of the current node's ancestor
    for (Node at = 0; at < Node(preorder.size()); ++at) {
        const Node v = preorder[at];
        const auto own = path.begin() + depth_[v];
        *own = at;
        for (const Node w : successors_[v]) {
            // The common ancestor with the last predecessor is the deepest one that does not come after it.
            const Node end =
                last[w] == none ? idom[w] : preorder[*(std::upper_bound(path.begin(), own + 1, last[w]) - 1)];
            ++sizes[v];
            if (end != none) --sizes[end];
            last[w] = at;
        }
    }
    for (size_t at = preorder.size(); at-- > 1;) sizes[idom[preorder[at]]] += sizes[preorder[at]];
    return sizes;
}

}  // namespace polyloom::graph
