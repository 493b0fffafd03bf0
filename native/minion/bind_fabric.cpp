// SPDX-License-Identifier: Apache-2.0
// The memory system's time on its own, for tests: many lines in one call, in the order of their cycles.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <map>
#include <string>
#include <tuple>

#include "minion/fabric.hpp"

namespace nb = nanobind;
using namespace polyloom::minion;

namespace {

using Column = nb::ndarray<const uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Results = nb::ndarray<uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct FabricBench {
    Parameters parameters;
    Fabric fabric;

    FabricBench(unsigned shires, unsigned l2, unsigned l3) : fabric(parameters, {shires, l2, l3}) {}
    FabricBench(const FabricBench&) = delete;
    FabricBench& operator=(const FabricBench&) = delete;
};

void run_lines(FabricBench& bench, const Column& cycles, const Column& minions, const Column& addresses, unsigned use,
               const Results& there) {
    const size_t count = cycles.shape(0);
    if (minions.shape(0) != count || addresses.shape(0) != count || there.shape(0) != count ||
        use >= unsigned(Traffic::count))
        throw nb::value_error("as many minions, addresses and results as cycles, and a use from 0 to 12");
    for (size_t n = 0; n < count; ++n)
        there.data()[n] =
            bench.fabric.line(cycles.data()[n], unsigned(minions.data()[n]), addresses.data()[n], Traffic(use)).there;
}

}  // namespace

void bind_fabric(nb::module_& m) {
    nb::class_<FabricBench>(m, "FabricBench")
        .def(nb::init<unsigned, unsigned, unsigned>(), nb::arg("shires") = 32, nb::arg("l2_kib") = 512,
             nb::arg("l3_kib") = 1024)
        .def("run", run_lines, nb::arg("cycles"), nb::arg("minions"), nb::arg("addresses"), nb::arg("use"),
             nb::arg("there"))
        .def_prop_ro("bytes", [](const FabricBench& bench) {
            const Fabric::Bytes& bytes = bench.fabric.bytes;
            return std::make_tuple(bytes.shire, bytes.l3, bytes.dram);
        });
    m.def("hops", [](unsigned a, unsigned b) { return Fabric::hops(a, b); }, nb::arg("a"), nb::arg("b"));
    m.def("default_parameters", [] {
        std::map<std::string, double> made;
        const Parameters parameters;
        for (unsigned n = 0; n < Parameters::COUNT; ++n) made[std::string(Parameters::NAMES[n])] = parameters.values[n];
        return made;
    });
}
