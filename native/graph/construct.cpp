// SPDX-License-Identifier: Apache-2.0
// Two passes. Liveness, for 64 variables at a time, and iterated dominance frontiers say which variables are parameters
// of which nodes; then a walk over the dominator tree gives each load, and each edge's arguments, the value that
// reaches it.
#include "graph/construct.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace polyloom::graph {

namespace {

// The positions of keys by their value, ascending: a counting sort.
struct Groups {
    std::vector<int32_t> start, member;

    Groups(std::span<const int32_t> keys, size_t values) : start(values + 1), member(keys.size()) {
        for (const int32_t key : keys) ++start[key + 1];
        for (size_t k = 0; k < values; ++k) start[k + 1] += start[k];
        std::vector<int32_t> next(start.begin(), start.end() - 1);
        for (size_t k = 0; k < keys.size(); ++k) member[next[keys[k]]++] = int32_t(k);
    }

    std::span<const int32_t> operator[](size_t value) const {
        return {member.data() + start[value], member.data() + start[value + 1]};
    }
};

// Finds the parameters of nodes, for as many variables at once as a word has bits: liveness floods backwards for all of
// them together.
class Placing {
  public:
    static constexpr int32_t together = 64;

    Placing(const DominatorTree& tree, const Touches& touches)
        : tree_(tree), touches_(touches), live_(size_t(tree.nodes())), defined_(size_t(tree.nodes())),
          fresh_(size_t(tree.nodes())), within_(new bool[size_t(tree.nodes())]), stores_(together) {}

    // The variables from `first` on, of which `own` has the touches.
    void place(int32_t first, int32_t count, const Groups& own) {
        flood(first, count, own);
        for (int32_t bit = 0; bit < count; ++bit) {
            for (Node v = 0; v < tree_.nodes(); ++v) within_[v] = live_[v] >> bit & 1;
            for (const Node v : tree_.iterated_frontier(stores_[bit], {within_.get(), size_t(tree_.nodes())})) {
                node_.push_back(v);
                variable_.push_back(first + bit);
            }
        }
    }

    Skeleton placed() const {
        const Groups by_node(node_, size_t(tree_.nodes()));
        Skeleton made{Array<int32_t>(by_node.start.size()), Array<int32_t>(node_.size()), {}, {}};
        std::ranges::copy(by_node.start, made.start.begin());
        for (size_t k = 0; k < node_.size(); ++k) made.variable[k] = variable_[by_node.member[k]];
        return made;
    }

  private:
    // Where each variable is live on entry, and in which nodes it is stored.
    void flood(int32_t first, int32_t count, const Groups& own) {
        std::ranges::fill(live_, 0);
        std::ranges::fill(defined_, 0);
        for (int32_t bit = 0; bit < count; ++bit) start(uint64_t(1) << bit, own[size_t(first + bit)], stores_[bit]);
        for (Node v = 0; v < tree_.nodes(); ++v)
            if (fresh_[v]) work_.push_back(v);
        while (!work_.empty()) {
            const Node v = work_.back();
            work_.pop_back();
            const uint64_t bits = std::exchange(fresh_[v], 0);
            for (const Node u : tree_.predecessors()[v]) enter(u, bits & ~defined_[u] & ~live_[u]);
        }
    }

    // What nodes with touches of one variable do first.
    void start(uint64_t bit, std::span<const int32_t> own, std::vector<Node>& stores) {
        stores.clear();
        for (const int32_t t : own) {
            const Node v = touches_.node[t];
            if (defined_[v] & bit) continue;
            if (touches_.kind[t] == Touch::load) {
                live_[v] |= bit;
                fresh_[v] |= bit;
            } else {
                defined_[v] |= bit;
                stores.push_back(v);
            }
        }
    }

    void enter(Node v, uint64_t bits) {
        if (!bits) return;
        live_[v] |= bits;
        if (!fresh_[v]) work_.push_back(v);
        fresh_[v] |= bits;
    }

    const DominatorTree& tree_;
    const Touches& touches_;
    // By node, a bit for each variable; fresh: live, and not told to the predecessors.
    std::vector<uint64_t> live_, defined_, fresh_;
    std::unique_ptr<bool[]> within_;
    std::vector<std::vector<Node>> stores_;
    std::vector<Node> work_, node_;
    std::vector<int32_t> variable_;
};

// Where the arguments of each node's edges begin.
std::vector<int64_t> argument_starts(const DominatorTree& tree, const Skeleton& made) {
    std::vector<int64_t> starts(size_t(tree.nodes()) + 1);
    for (Node v = 0; v < tree.nodes(); ++v) {
        starts[v + 1] = starts[v];
        if (!tree.reached(v)) continue;
        for (const Node w : tree.successors()[v]) starts[v + 1] += made.start[w + 1] - made.start[w];
    }
    return starts;
}

// The walk: `current` has the value of each variable, `undo` what it was before a node of the current path changed it.
class Renaming {
  public:
    Renaming(const DominatorTree& tree, const Touches& touches, Skeleton& made, int32_t variables)
        : tree_(tree), touches_(touches), made_(made), by_node_(touches.node, size_t(tree.nodes())),
          current_(variables) {
        for (int32_t variable = 0; variable < variables; ++variable) current_[variable] = ~variable;
    }

    void run() {
        const std::vector<int64_t> starts = argument_starts(tree_, made_);
        made_.arguments.resize(size_t(starts.back()));
        std::vector<std::pair<Node, size_t>> open;  // where a subtree ends in preorder, and what to undo then
        for (Node at = 0; at < Node(tree_.preorder.size()); ++at) {
            for (; !open.empty() && open.back().first <= at; open.pop_back()) back(open.back().second);
            const Node v = tree_.preorder[at];
            open.emplace_back(at + tree_.size[v], undo_.size());
            enter(v);
            pass(v, made_.arguments.data() + starts[v]);
        }
    }

  private:
    void enter(Node v) {
        for (int32_t k = made_.start[v]; k < made_.start[v + 1]; ++k) assign(made_.variable[k], k);
        for (const int32_t t : by_node_[v]) {
            const int32_t variable = touches_.variable[t];
            if (touches_.kind[t] == Touch::load)
                made_.reaching[t] = current_[variable];
            else
                assign(variable, touches_.kind[t] == Touch::store ? int32_t(made_.variable.size()) + t : ~variable);
        }
    }

    void pass(Node v, int32_t* argument) {
        for (const Node w : tree_.successors()[v])
            for (int32_t k = made_.start[w]; k < made_.start[w + 1]; ++k) *argument++ = current_[made_.variable[k]];
    }

    void assign(int32_t variable, int32_t value) {
        undo_.emplace_back(variable, std::exchange(current_[variable], value));
    }

    void back(size_t mark) {
        for (; undo_.size() > mark; undo_.pop_back()) current_[undo_.back().first] = undo_.back().second;
    }

    const DominatorTree& tree_;
    const Touches& touches_;
    Skeleton& made_;
    Groups by_node_;
    std::vector<int32_t> current_;
    std::vector<std::pair<int32_t, int32_t>> undo_;
};

}  // namespace

Skeleton construct(const DominatorTree& tree, const Touches& touches, int32_t variables) {
    const Groups own(touches.variable, size_t(variables));
    Placing placing(tree, touches);
    for (int32_t first = 0; first < variables; first += Placing::together)
        placing.place(first, std::min(variables - first, Placing::together), own);
    Skeleton made = placing.placed();
    made.reaching = Array<int32_t>(touches.node.size(), none);
    Renaming(tree, touches, made, variables).run();
    return made;
}

}  // namespace polyloom::graph
