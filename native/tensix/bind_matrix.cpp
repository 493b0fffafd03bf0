// SPDX-License-Identifier: Apache-2.0
// The matrix unit, the unpackers, the packers and their address counters on their own, for tests: a state whose arrays
// Python writes and reads, and words that execute on it at once, without fronts, gates or cycles.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <initializer_list>
#include <tuple>

#include "python/view.hpp"
#include "tensix/matrix_unit.hpp"
#include "tensix/unit.hpp"

namespace nb = nanobind;
using namespace polyloom::tensix;
using polyloom::view_of;

namespace {

using Words = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct MatrixBench {
    State state;
    Context context;

    explicit MatrixBench(bool blackhole) { state.member = blackhole ? Member::Blackhole : Member::Wormhole; }
};

enum class Part : uint8_t { Matrix, Unpack, Pack, Counters };

Part part_of(Word word) {
    const uint32_t op = opcode(word);
    if (op == 0x42 || op == 0x43) return Part::Unpack;
    if (op == 0x41 || op == 0x4A) return Part::Pack;
    return (op >= 0x50 && op <= 0x56) || op == 0x5E ? Part::Counters : Part::Matrix;
}

void execute(MatrixBench& b, Word word, int thread) {
    switch (part_of(word)) {
        case Part::Unpack: return unpack::execute(b.state, word, thread, b.context);
        case Part::Pack: return pack::execute(b.state, word, thread, b.context);
        case Part::Counters: return counters::execute(b.state, word, thread, b.context);
        default: return matrix::execute(b.state, word, thread, b.context);
    }
}

bool ready(const MatrixBench& b, Word word, int thread) {
    switch (part_of(word)) {
        case Part::Unpack: return unpack::ready(b.state, word, thread);
        case Part::Matrix: return matrix::ready(b.state, word, thread);
        default: return true;
    }
}

Timing timing(const MatrixBench& b, Word word, int thread) {
    switch (part_of(word)) {
        case Part::Unpack: return unpack::timing(b.state, word, thread);
        case Part::Pack: return pack::timing(b.state, word, thread);
        case Part::Counters: return {};
        default: return matrix::timing(b.state, word, thread);
    }
}

void run(MatrixBench& b, int thread, const Words& words, uint32_t times) {
    if (thread < 0 || thread >= THREADS) throw nb::index_error("a thread is 0, 1 or 2");
    try {
        for (uint32_t k = 0; k < times; ++k)
            for (size_t n = 0; n < words.size(); ++n) execute(b, words.data()[n], thread);
    } catch (const Fault& fault) {
        throw nb::value_error((fault.finding.kind + ": " + fault.finding.text).c_str());
    }
}

nb::object part_view(nb::handle self, const std::string& name) {
    State& s = nb::cast<MatrixBench&>(self).state;
    constexpr int64_t bank = sizeof(SourceBank) / 4;
    auto* counters = reinterpret_cast<uint32_t*>(&s.matrix.counters);
    auto* addresses = reinterpret_cast<uint32_t*>(&s.counters);
    if (name == "l1") return view_of(self, s.l1.data(), {s.l1.size()});
    if (name == "dst") return view_of(self, s.matrix.dst[0].data(), {1024, 16});
    if (name == "valid") return view_of(self, reinterpret_cast<uint8_t*>(s.matrix.valid.data()), {1024});
    if (name == "srca") return view_of(self, s.matrix.a[0].rows[0].data(), {2, 64, 16}, {bank, 16, 1});
    if (name == "srcb") return view_of(self, s.matrix.b[0].rows[0].data(), {2, 64, 16}, {bank, 16, 1});
    if (name == "config") return view_of(self, s.config.banks[0].data(), {2, ConfigState::WORDS});
    if (name == "thread_config")
        return view_of(self, s.config.thread[0].data(), {THREADS, 64}, {ConfigState::THREAD_WORDS, 1});
    if (name == "lane_config") return view_of(self, s.vector.lane_config.data(), {COLUMNS});
    if (name == "rwc") return view_of(self, counters, {THREADS, 8});
    if (name == "adc") return view_of(self, addresses, {THREADS, 3, 8, 2});
    throw nb::key_error(name.c_str());
}

}  // namespace

void bind_matrix(nb::module_& m) {
    nb::class_<MatrixBench>(m, "MatrixBench")
        .def(nb::init<bool>(), nb::arg("blackhole") = false)
        .def(
            "view", [](nb::handle self, const std::string& name) { return part_view(self, name); }, nb::arg("name"))
        .def("run", run, nb::arg("thread"), nb::arg("words"), nb::arg("times") = 1)
        .def(
            "ready", [](const MatrixBench& b, int thread, Word word) { return ready(b, word, thread); },
            nb::arg("thread"), nb::arg("word"))
        .def(
            "timing",
            [](const MatrixBench& b, int thread, Word word) {
                const Timing t = timing(b, word, thread);
                return std::make_tuple(int(t.unit), t.busy, t.latency, t.dst_reads.first, t.dst_reads.count,
                                       t.dst_writes.first, t.dst_writes.count);
            },
            nb::arg("thread"), nb::arg("word"))
        .def(
            "give",
            [](MatrixBench& b, bool to_b, int bank, bool with_matrix) {
                (to_b ? b.state.matrix.b : b.state.matrix.a)[size_t(bank & 1)].with_matrix = with_matrix;
            },
            nb::arg("b"), nb::arg("bank"), nb::arg("with_matrix"))
        .def("banks", [](const MatrixBench& b) {
            const MatrixState& s = b.state.matrix;
            return std::make_tuple(s.a_matrix, s.b_matrix, s.a_unpack, s.b_unpack, s.a[0].with_matrix,
                                   s.a[1].with_matrix, s.b[0].with_matrix, s.b[1].with_matrix);
        });
    m.def("matrix_distance", &matrix::distance, nb::arg("earlier"), nb::arg("later"));
}
