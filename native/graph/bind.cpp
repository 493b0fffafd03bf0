// SPDX-License-Identifier: Apache-2.0
// The Python module polyloom._native.graph; src/polyloom/_native/graph.pyi documents it. Arguments are checked there:
// here a node out of range is a fault of memory. The interpreter lock is released while a graph is worked on.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "python/bind.hpp"
#include "graph/construct.hpp"

namespace nb = nanobind;
using namespace polyloom::graph;

namespace {

using Edges = nb::ndarray<const int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Nodes = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Kinds = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Within = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

static_assert(sizeof(Edge) == 2 * sizeof(int32_t));

std::span<const Edge> span(const Edges& edges) { return {reinterpret_cast<const Edge*>(edges.data()), edges.shape(0)}; }

// The array stays where it is; Python's lives as long.
template <class Values>
auto give(Values values) {
    auto* kept = new Values(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Values*>(p); });
    return Owned<std::remove_reference_t<decltype((*kept)[0])>>(kept->data(), {kept->size()}, owner);
}

Array<Node> idom(Node n, const Edges& edges, Node root, int strategy) {
    nb::gil_scoped_release release;
    return dominators(successors(n, span(edges)), root, Strategy(strategy)).idom;
}

nb::tuple frontiers(const DominatorTree& tree, bool cooper) {
    Frontiers made;
    {
        nb::gil_scoped_release release;
        made = cooper ? tree.frontiers_cooper() : tree.frontiers_cytron();
    }
    return nb::make_tuple(give(std::move(made.start)), give(std::move(made.members)));
}

std::vector<Node> iterated(const DominatorTree& tree, const Nodes& nodes, const Within& within) {
    nb::gil_scoped_release release;
    return tree.iterated_frontier({nodes.data(), nodes.shape(0)}, {within.data(), within.shape(0)});
}

nb::tuple skeleton(const DominatorTree& tree, const Nodes& node, const Nodes& variable, const Kinds& kind,
                   int32_t variables) {
    Skeleton made;
    {
        nb::gil_scoped_release release;
        const size_t count = node.shape(0);
        made = construct(
            tree,
            {{node.data(), count}, {variable.data(), count}, {reinterpret_cast<const Touch*>(kind.data()), count}},
            variables);
    }
    return nb::make_tuple(give(std::move(made.start)), give(std::move(made.variable)), give(std::move(made.reaching)),
                          give(std::move(made.arguments)));
}

template <Array<Node> DominatorTree::* member>
View<Node> view(const DominatorTree& tree) {
    return {(tree.*member).data(), {(tree.*member).size()}, nb::find(tree)};
}

}  // namespace

POLYLOOM_MODULE(graph, m) {
    m.doc() = "Dominators.";
    m.def("dominators",
          [](Node n, const Edges& edges, Node root, int strategy) { return give(idom(n, edges, root, strategy)); });
    nb::class_<DominatorTree>(m, "DominatorTree")
        .def(
            "__init__",
            [](DominatorTree* self, Node n, const Edges& edges, Node root, int strategy) {
                new (self) DominatorTree(n, span(edges), root, Strategy(strategy));
            },
            nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("idom", &view<&DominatorTree::idom>)
        .def_prop_ro("preorder", &view<&DominatorTree::preorder>)
        .def_prop_ro("position", &view<&DominatorTree::position>)
        .def_prop_ro("size", &view<&DominatorTree::size>)
        .def("frontier_sizes", [](const DominatorTree& tree) { return give(tree.frontier_sizes()); })
        .def("frontiers", &frontiers)
        .def("iterated_frontier", [](const DominatorTree& tree, const Nodes& nodes,
                                     const Within& within) { return give(iterated(tree, nodes, within)); })
        .def("construct", &skeleton);
}
