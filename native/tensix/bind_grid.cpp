// SPDX-License-Identifier: Apache-2.0
// The grid in the Python module polyloom._native.tensix.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "python/view.hpp"
#include "tensix/grid.hpp"

namespace nb = nanobind;
using namespace polyloom::tensix;

namespace {

using LinkTuple = std::tuple<int, uint32_t, int, uint64_t, uint64_t>;

std::vector<LinkTuple> links(const Grid& grid) {
    std::vector<LinkTuple> all;
    for (int noc = 0; noc < NOCS; ++noc)
        for (uint32_t node = 0; node < NODES; ++node)
            for (int port = 0; port < Network::PORTS; ++port) {
                const auto& link = grid.network.links[size_t(noc)][node][size_t(port)];
                if (link.flits) all.emplace_back(noc, node_on(noc, node), port, link.flits, link.waits);
            }
    return all;
}

}  // namespace

void bind_grid(nb::module_& m) {
    nb::class_<Grid>(m, "Grid")
        .def(
            "__init__",
            [](Grid* self, const std::vector<uint32_t>& places, int policy, uint64_t bytes, uint32_t speed,
               uint32_t latency) { new (self) Grid(places, Policy(policy), bytes, speed, latency); },
            nb::arg("places"), nb::arg("policy"), nb::arg("bytes"), nb::arg("speed"), nb::arg("latency"))
        .def(
            "tile", [](Grid& g, size_t n) { return g.tiles.at(n).get(); }, nb::arg("number"),
            nb::rv_policy::reference_internal)
        .def(
            "dram",
            [](nb::handle self, size_t channel) {
                auto& memory = nb::cast<Grid&>(self).network.channels.at(channel).memory;
                return polyloom::view_of(self, memory.data(), {memory.size()});
            },
            nb::arg("channel"))
        .def(
            "run", [](Grid& g, uint64_t most) { return int(g.run(most)); }, nb::arg("max_cycles"),
            nb::call_guard<nb::gil_scoped_release>())
        .def("links", links)
        .def("channels",
             [](const Grid& g) {
                 std::vector<std::tuple<uint64_t, uint64_t, uint64_t>> all;
                 for (const Channel& c : g.network.channels) all.emplace_back(c.read, c.written, c.busy_cycles);
                 return all;
             })
        .def_ro("cycle", &Grid::cycle)
        .def_ro("cycles", &Grid::cycles)
        .def_ro("stepped", &Grid::stepped)
        .def_ro("faulty", &Grid::faulty)
        .def_ro("waits", &Grid::waits);
}
