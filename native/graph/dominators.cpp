// SPDX-License-Identifier: Apache-2.0
// Names and steps follow "Reworking Lengauer-Tarjan": v, w, u are preorder numbers, the root is 0, sdom and idomfrom
// are its functions. Edges v -> w with v <= w need no query, so that the depth-first search already takes their
// minimum; only the others are kept, in one list for each w.
#include "graph/dominators.hpp"

#include <algorithm>
#include <utility>

namespace polyloom::graph {

namespace {

struct Backward {
    Node from;
    int32_t next;  // of the same target
};

// Step 1: the depth-first tree, and the graph in its numbers.
struct Search {
    Node count = 0;
    Array<Node> node, parent;
    Array<Node> sdom;      // so far the minimum over v -> w with v <= w
    Array<int32_t> first;  // the list of w in `backward`
    Array<Backward> backward;
};

struct Frame {
    int32_t at, end;  // the edges still to follow
    Node number;
};

Search search(const Csr& graph, Node root) {
    const size_t n = size_t(graph.nodes());
    const int32_t* start = graph.starts();
    const Node* target = graph.targets();
    Search s{0, Array<Node>(n), Array<Node>(n), Array<Node>(n), Array<int32_t>(n), Array<Backward>(size_t(start[n]))};
    const Array<Node> number(n, none);
    const Array<Frame> frames(n);
    Frame* top = frames.data() - 1;
    int32_t used = 0;
    const auto enter = [&](Node v, Node parent) {
        const Node w = s.count++;
        number[v] = w;
        s.node[w] = v;
        s.parent[w] = s.sdom[w] = parent;
        s.first[w] = none;
        *++top = {start[v], start[v + 1], w};
    };
    enter(root, none);
    while (top >= frames.data()) {
        if (top->at == top->end) {
            --top;
            continue;
        }
        const Node to = target[top->at++], v = top->number, w = number[to];
        if (w == none) {
            enter(to, v);
        } else if (w > v) {
            s.sdom[w] = std::min(s.sdom[w], v);
        } else if (w < v && w > 0) {
            s.backward[used] = {v, s.first[w]};
            s.first[w] = used++;
        }
    }
    return s;
}

// Strategy 1.
class Scratch {
  public:
    explicit Scratch(const Search& s) : parent_(s.parent.data()), sdom_(s.sdom.data()) {}

    // The u of least sdom(u) with u -*-> v in the tree and u > limit.
    Node query(Node v, Node limit) {
        Node best = v;
        for (Node u = parent_[v]; u > limit; u = parent_[u])
            if (sdom_[u] < sdom_[best]) best = u;
        return best;
    }

    void add(Node) {}

  private:
    const Node *parent_, *sdom_;
};

// Strategy 2. Nodes need not be added: queries look only above their limit, where all nodes have been.
class Cached {
  public:
    explicit Cached(const Search& s) : sdom_(s.sdom.data()), cache_(s.count), walked_(s.count) {
        for (Node w = 0; w < s.count; ++w) cache_[w] = {s.parent[w], w};
    }

    Node query(Node v, Node limit) {
        Node* last = walked_.data();
        Node ancestor = cache_[v].ancestor;
        for (; ancestor > limit; ancestor = cache_[v].ancestor) {
            *last++ = v;
            v = ancestor;
        }
        Node best = cache_[v].result;
        while (last != walked_.data()) {
            Cache& c = cache_[*--last];
            if (sdom_[c.result] < sdom_[best]) best = c.result;
            c = {ancestor, best};
        }
        return best;
    }

    void add(Node) {}

  private:
    struct Cache {
        Node ancestor, result;  // the result is over the path from the node up to, and without, its ancestor
    };

    const Node* sdom_;
    Array<Cache> cache_;
    Array<Node> walked_;
};

// Strategy 3: the balanced LINK and EVAL of the 1979 paper. A forest with the path minima of the nodes added so far, in
// which a tree is a chain of subtrees with falling minima, linked by `child`; `end_` ends chains and stands above
// roots.
class Balanced {
  public:
    explicit Balanced(const Search& s)
        : end_(s.count), parent_(s.parent.data()), sdom_(s.sdom.data()), tree_(size_t(end_) + 1),
          semi_(size_t(end_) + 1), walked_(end_) {
        for (Node w = 0; w < end_; ++w) {
            tree_[w] = {end_, w, end_, 1};
            semi_[w] = w;
        }
        tree_[end_] = {end_, end_, end_, 0};
        semi_[end_] = none;
    }

    Node query(Node v, Node) {
        if (tree_[v].ancestor == end_) return tree_[v].label;
        compress(v);
        const Node above = tree_[tree_[v].ancestor].label, own = tree_[v].label;
        return semi_[above] < semi_[own] ? above : own;
    }

    void add(Node w) {
        semi_[w] = sdom_[w];
        Node s = w;
        while (semi_[w] < semi_[tree_[tree_[s].child].label]) {
            const Node c = tree_[s].child, after = tree_[c].child;
            if (tree_[s].size + tree_[after].size >= 2 * tree_[c].size) {
                tree_[c].ancestor = s;
                tree_[s].child = after;
            } else {
                tree_[c].size = tree_[s].size;
                s = tree_[s].ancestor = c;
            }
        }
        tree_[s].label = w;
        const Node v = parent_[w];
        tree_[v].size += tree_[w].size;
        if (tree_[v].size < 2 * tree_[w].size) std::swap(s, tree_[v].child);
        for (; s != end_; s = tree_[s].child) tree_[s].ancestor = v;
    }

  private:
    struct Tree {
        Node ancestor, label, child;
        int32_t size;
    };

    // All nodes from v on, except a root and those below it, come to stand below the root.
    void compress(Node v) {
        Node* last = walked_.data();
        for (; tree_[tree_[v].ancestor].ancestor != end_; v = tree_[v].ancestor) *last++ = v;
        while (last != walked_.data()) {
            Tree& t = tree_[*--last];
            const Tree& above = tree_[t.ancestor];
            if (semi_[above.label] < semi_[t.label]) t.label = above.label;
            t.ancestor = above.ancestor;
        }
    }

    Node end_;
    const Node *parent_, *sdom_;
    Array<Tree> tree_;
    Array<Node> semi_;  // the paper's: a node's own number until it is added, then its sdom
    Array<Node> walked_;
};

// Steps 2 and 3, interleaved: idomfrom(w) is asked for when the limit has fallen to sdom(w). Until then w is deferred,
// in the set of its sdom: the first element stands at the sdom, every further one at the element before it, and 0 ends
// the set. What stands at w is first the set that waits for w, then what follows w in its own set, then idomfrom(w):
// one array is enough.
template <class Forest>
Array<Node> idomfrom(const Search& s) {
    Forest forest(s);
    Array<Node> deferred(s.count, 0);
    for (Node w = s.count - 1; w > 0; --w) {
        for (Node v = deferred[w]; v != 0;) v = std::exchange(deferred[v], forest.query(v, w));
        Node least = s.sdom[w];
        for (int32_t b = s.first[w]; b != none; b = s.backward[b].next)
            least = std::min(least, s.sdom[forest.query(s.backward[b].from, w)]);
        s.sdom[w] = least;
        if (least == 0 || least == s.parent[w])
            deferred[w] = w;
        else
            deferred[w] = std::exchange(deferred[least], w);
        forest.add(w);
    }
    return deferred;
}

Array<Node> idomfrom(const Search& s, Strategy strategy) {
    switch (strategy) {
        case Strategy::scratch: return idomfrom<Scratch>(s);
        case Strategy::cached: return idomfrom<Cached>(s);
        default: return idomfrom<Balanced>(s);
    }
}

}  // namespace

Dominators dominators(const Csr& successors, Node root, Strategy strategy) {
    Search s = search(successors, root);
    const Array<Node> from = idomfrom(s, strategy);
    const Array<Node>& idom = s.sdom;  // step 4, in place: idom(w) is sdom(w) where idomfrom(w) is w
    Array<Node> by_node(size_t(successors.nodes()), none);
    for (Node w = 1; w < s.count; ++w) {
        idom[w] = from[w] < w ? idom[from[w]] : idom[w];
        by_node[s.node[w]] = s.node[idom[w]];
    }
    return {std::move(by_node), std::move(s.node), s.count};
}

}  // namespace polyloom::graph
