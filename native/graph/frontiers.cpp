// SPDX-License-Identifier: Apache-2.0
// Dominance frontiers in two ways, into memory whose parts are known from `frontier_sizes`; and iterated ones without
// frontiers.
#include <algorithm>
#include <utility>

#include "graph/tree.hpp"

namespace polyloom::graph {

namespace {

// Frontiers of the right sizes, and by node the place of the next member.
struct Filling {
    Frontiers made;
    std::vector<int64_t> next;

    explicit Filling(const std::vector<int64_t>& sizes) : made{std::vector<int64_t>(sizes.size() + 1, 0), {}} {
        for (size_t v = 0; v < sizes.size(); ++v) made.start[v + 1] = made.start[v] + sizes[v];
        made.members = Array<Node>(size_t(made.start.back()));
        next.assign(made.start.begin(), made.start.end() - 1);
    }

    void add(Node v, Node w) { made.members[next[v]++] = w; }
    bool ends_with(Node v, Node w) const { return next[v] > made.start[v] && made.members[next[v] - 1] == w; }
    std::span<Node> of(Node v) { return {made.members.data() + made.start[v], made.members.data() + next[v]}; }
};

}  // namespace

Frontiers DominatorTree::frontiers_cytron() const {
    Filling filling(frontier_sizes());
    std::vector<Node> seen(idom.size(), none);  // by v: the last node that got v into its frontier
    for (size_t at = preorder.size(); at-- > 0;) {
        const Node w = preorder[at];
        const auto take = [&](Node v) {
            if (idom[v] == w || seen[v] == w) return;
            seen[v] = w;
            filling.add(w, v);
        };
        for (const Node v : successors_[w]) take(v);
        for (Node child = Node(at) + 1; child < Node(at) + size[w]; child += size[preorder[child]])
            for (const Node v : filling.of(preorder[child])) take(v);
    }
    for (const Node v : preorder) std::ranges::sort(filling.of(v));
    return std::move(filling.made);
}

// In ascending order of w, so that members come ascending and a repetition is one of the last member. With a single
// predecessor there is nothing to walk, except to the root: it has no idom, and the walk goes through the root itself.
Frontiers DominatorTree::frontiers_cooper() const {
    Filling filling(frontier_sizes());
    for (Node w = 0; w < nodes(); ++w) {
        if (predecessors_[w].size() < 2 && idom[w] != none) continue;
        for (const Node v : predecessors_[w])
            for (Node u = v; reached(v) && u != idom[w] && !filling.ends_with(u, w); u = idom[u]) filling.add(u, w);
    }
    return std::move(filling.made);
}

// Nodes are taken from the deepest on. From x, the edges out of its subtree to nodes not deeper than x lead into the
// frontier (all others, so also those from an idom, end below x). What has been searched from a node deeper than x need
// not be searched again, nor a subtree without edges that lead so high.
std::vector<Node> DominatorTree::iterated_frontier(std::span<const Node> nodes, std::span<const bool> within) const {
    std::vector<bool> searched(idom.size()), queued(idom.size()), found(idom.size());
    std::vector<Node> next(idom.size()), first(idom.size(), none);  // the queue: a list for each depth
    int32_t depth = none;
    const auto enqueue = [&](Node v) {
        if (queued[v]) return;
        queued[v] = true;
        next[v] = std::exchange(first[depth_[v]], v);
        depth = std::max(depth, depth_[v]);
    };
    for (const Node v : nodes)
        if (reached(v)) enqueue(v);
    std::vector<Node> members;
    const auto search = [&](Node v) {
        searched[v] = true;
        for (const Node w : successors_[v]) {
            if (depth_[w] > depth || found[w] || (!within.empty() && !within[w])) continue;
            found[w] = true;
            members.push_back(w);
            enqueue(w);
        }
    };
    for (; depth >= 0; --depth) {
        while (first[depth] != none) {
            const Node x = std::exchange(first[depth], next[first[depth]]);
            for (Node at = position[x], end = at + size[x]; at < end;) {
                const Node v = preorder[at];
                const bool skipped = searched[v] || highest_[v] > depth;
                at += skipped ? size[v] : 1;
                if (!skipped) search(v);
            }
        }
    }
    std::ranges::sort(members);
    return members;
}

}  // namespace polyloom::graph
