// SPDX-License-Identifier: Apache-2.0
// Dominators and frontiers on random and adversarial graphs against their definitions by reachability; what the
// skeleton of static single assignment form says that loads find, against random walks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "graph/construct.hpp"
#include "tests/expect.hpp"

using namespace polyloom::graph;

static std::vector<bool> reached(Node n, const std::vector<Edge>& edges, Node root, Node without) {
    std::vector<bool> seen(n);
    std::vector<Node> work;
    if (root != without) work.push_back(root), seen[root] = true;
    while (!work.empty()) {
        const Node v = work.back();
        work.pop_back();
        for (const Edge& e : edges)
            if (e.from == v && e.to != without && !seen[e.to]) work.push_back(e.to), seen[e.to] = true;
    }
    return seen;
}

// dominates[u][w]: w is reached, but not without u.
static std::vector<std::vector<bool>> dominance(Node n, const std::vector<Edge>& edges, Node root) {
    std::vector<std::vector<bool>> dominates;
    const auto all = reached(n, edges, root, none);
    for (Node u = 0; u < n; ++u) {
        const auto left = reached(n, edges, root, u);
        auto& row = dominates.emplace_back(n);
        for (Node w = 0; w < n; ++w) row[w] = all[w] && !left[w];
    }
    return dominates;
}

static Node idom(const std::vector<std::vector<bool>>& dominates, Node w) {
    const auto dominators = [&](Node v) {
        return std::ranges::count_if(dominates, [v](const auto& row) { return bool(row[v]); });
    };
    for (Node u = 0; u < Node(dominates.size()); ++u)
        if (u != w && dominates[u][w] && dominators(u) + 1 == dominators(w)) return u;
    return none;
}

static bool in_frontier(const std::vector<std::vector<bool>>& dominates, const std::vector<Edge>& edges, Node u,
                        Node w) {
    if (u != w && dominates[u][w]) return false;
    return std::ranges::any_of(edges, [&](const Edge& e) { return e.to == w && dominates[u][e.from]; });
}

static std::vector<Node> fixpoint(const std::vector<std::vector<Node>>& frontiers, std::vector<Node> work) {
    std::vector<Node> found;
    while (!work.empty()) {
        const Node u = work.back();
        work.pop_back();
        for (const Node w : frontiers[u])
            if (std::ranges::find(found, w) == found.end()) found.push_back(w), work.push_back(w);
    }
    std::ranges::sort(found);
    return found;
}

static void check(Node n, const std::vector<Edge>& edges, Node root, const std::string& name) {
    const auto dominates = dominance(n, edges, root);
    std::vector<Node> wanted;
    for (Node w = 0; w < n; ++w) wanted.push_back(idom(dominates, w));
    for (const Strategy strategy : {Strategy::scratch, Strategy::cached, Strategy::balanced})
        expect(std::ranges::equal(dominators(successors(n, edges), root, strategy).idom, wanted),
               name + ": dominators by strategy " + std::to_string(int(strategy)));

    std::vector<std::vector<Node>> frontiers(n);
    for (Node u = 0; u < n; ++u)
        for (Node w = 0; w < n; ++w)
            if (in_frontier(dominates, edges, u, w)) frontiers[u].push_back(w);
    const DominatorTree tree(n, edges, root, Strategy::cached);
    const auto sizes = tree.frontier_sizes();
    const Frontiers cytron = tree.frontiers_cytron(), cooper = tree.frontiers_cooper();
    for (Node v = 0; v < n; ++v) {
        expect(sizes[v] == int64_t(frontiers[v].size()), name + ": size of a frontier");
        for (const Frontiers& made : {std::cref(cytron), std::cref(cooper)})
            expect(std::ranges::equal(frontiers[v], std::span(made.members.data() + made.start[v],
                                                              made.members.data() + made.start[v + 1])),
                   name + ": frontier");
        const std::vector<Node> start{v, Node(n - 1 - v)};
        expect(tree.iterated_frontier(start, {}) == fixpoint(frontiers, start), name + ": iterated frontier");
    }
}

static std::vector<Edge> random_edges(std::mt19937& random, Node n, int count) {
    std::vector<Edge> edges;
    while (count-- > 0) edges.push_back({Node(random() % n), Node(random() % n)});
    return edges;
}

// A chain; from every node of its second half, two edges back.
static std::vector<Edge> backward(Node n) {
    std::vector<Edge> edges;
    for (Node v = 0; v + 1 < n; ++v) edges.push_back({v, v + 1});
    for (Node v = n / 2; v < n; ++v) edges.push_back({v, v - n / 2}), edges.push_back({v, n - 1 - v});
    return edges;
}

// Two opposing chains with edges across in both directions.
static std::vector<Edge> crossed(Node n) {
    std::vector<Edge> edges{{0, 1}, {0, n / 2}};
    for (Node v = 1; v + 1 < n; ++v) edges.push_back({v, v + 1 == n / 2 ? v : v + 1});
    for (Node v = 1; v < n / 2; ++v) edges.push_back({v, n - v}), edges.push_back({n - v, v});
    return edges;
}

// Walks keep for each variable the touch that stored last, or ~variable, and the same for each parameter from the
// arguments of the edges.
static void check_skeleton(std::mt19937& random, Node n, const std::vector<Edge>& edges, const std::string& name) {
    constexpr int32_t variables = 3;
    std::vector<Node> node;
    std::vector<int32_t> variable;
    std::vector<Touch> kind;
    for (Node v = 0; v < n; ++v)
        for (int k = int(random() % 4); k-- > 0;)
            node.push_back(v), variable.push_back(int32_t(random() % variables)), kind.push_back(Touch(random() % 3));
    const DominatorTree tree(n, edges, 0, Strategy::balanced);
    const Skeleton made = construct(tree, {node, variable, kind}, variables);
    const int32_t parameters = int32_t(made.variable.size());
    std::vector<int64_t> first(n + 1);  // by node: the arguments of its edges
    for (Node v = 0; v < n; ++v) {
        first[v + 1] = first[v];
        for (const Node w : tree.successors()[v])
            first[v + 1] += tree.reached(v) ? made.start[w + 1] - made.start[w] : 0;
    }
    expect(first[n] == int64_t(made.arguments.size()), name + ": number of arguments");
    for (int walk = 0; walk < 20; ++walk) {
        std::vector<int32_t> last(variables), held(parameters, -100);
        for (int32_t x = 0; x < variables; ++x) last[x] = ~x;
        const auto now = [&](int32_t value) { return value >= 0 && value < parameters ? held[value] : value; };
        Node v = 0;
        for (int step = 0; step < 30; ++step) {
            for (size_t t = 0; t < node.size(); ++t) {
                if (node[t] != v) continue;
                if (kind[t] == Touch::load)
                    expect(now(made.reaching[t]) == last[variable[t]], name + ": what a load finds");
                else
                    last[variable[t]] = kind[t] == Touch::store ? parameters + int32_t(t) : ~variable[t];
            }
            const auto next = tree.successors()[v];
            if (next.empty()) break;
            const size_t chosen = random() % next.size();
            int64_t argument = first[v];
            for (size_t k = 0; k < chosen; ++k) argument += made.start[next[k] + 1] - made.start[next[k]];
            const std::vector<int32_t> before = held;
            const auto passed = [&](int32_t value) { return value >= 0 && value < parameters ? before[value] : value; };
            v = next[chosen];
            for (int32_t k = made.start[v]; k < made.start[v + 1]; ++k) held[k] = passed(made.arguments[argument++]);
        }
    }
}

int main() {
    check(1, {}, 0, "a single node");
    check(1, {{0, 0}}, 0, "a loop");
    check(2, {{0, 1}, {1, 0}}, 0, "one edge into the root");
    for (const Node n : {2, 5, 16, 41}) {
        check(n, backward(n), 0, "backward");
        check(n, crossed(n), 0, "crossed");
    }
    std::mt19937 random(1);
    for (int k = 0; k < 600; ++k) {
        const Node n = 1 + Node(random() % 14);
        check(n, random_edges(random, n, int(random() % (3 * n + 1))), Node(random() % n),
              "random graph " + std::to_string(k));
        auto edges = random_edges(random, n, int(random() % (3 * n + 1)));
        std::erase_if(edges, [](const Edge& e) { return e.to == 0; });
        check_skeleton(random, n, edges, "skeleton " + std::to_string(k));
    }
    std::printf("%d failures\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
