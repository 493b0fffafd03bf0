// SPDX-License-Identifier: Apache-2.0
// The vector unit on its own, for tests: a state whose arrays Python writes and reads, and words that execute on it one
// a cycle, with the latencies of the machine or with results at once.
#include <nanobind/nanobind.h>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "tensix/vector.hpp"
#include "tensix/vector_multiply.hpp"

namespace nb = nanobind;
using namespace polyloom::tensix;

namespace {

using Words = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Report = std::tuple<std::string, uint64_t, uint32_t>;  // kind, cycle, word

template <class T>
auto view(T* data, std::initializer_list<size_t> shape) {
    return nb::ndarray<nb::numpy, T>(data, shape, nb::handle());
}

struct Bench {
    State state;
    std::vector<Finding> findings;
    std::vector<Pending> pending;
    vector::Schedule schedule;
    Context context;

    explicit Bench(bool blackhole) {
        state.member = blackhole ? Member::Blackhole : Member::Wormhole;
        vector::reset(state.vector);
        state.matrix.valid.fill(true);
        context.findings = &findings;
    }

    void commit() {
        if (pending.empty()) return;
        for (const Pending& write : pending)
            if (write.due <= context.cycle) vector::commit(state.vector, write);
        std::erase_if(pending, [&](const Pending& write) { return write.due <= context.cycle; });
    }

    void phase() {
        commit();
        vector::advance(state, context);
    }

    void run_timed(const Words& words, int thread) {
        context.pending = &pending, context.schedule = &schedule;
        for (size_t k = 0; k < words.size(); ++k, ++context.cycle) {
            phase();
            context.pc = uint32_t(k);
            if (words(k)) vector::execute(state, words(k), thread, context);  // else nothing comes in this cycle
        }
        for (; schedule.count || !pending.empty(); ++context.cycle) {
            phase();
            schedule.accepted = true;  // nothing more comes: what waits for instructions counts cycles
        }
        vector::report_captured(schedule, findings);
    }

    void run_plain(const Words& words, int thread) {
        context.pending = nullptr, context.schedule = nullptr;
        for (size_t k = 0; k < words.size(); ++k, ++context.cycle) vector::execute(state, words(k), thread, context);
    }

    std::vector<Report> run(const Words& words, bool timed, int thread, int repeat) {
        if (thread < 0 || thread >= THREADS) throw nb::value_error("there is no such thread");
        findings.clear();
        try {
            const nb::gil_scoped_release free;
            for (int k = 0; k < repeat; ++k) timed ? run_timed(words, thread) : run_plain(words, thread);
        } catch (const Fault& fault) {
            throw nb::value_error((fault.finding.kind + ": " + fault.finding.text).c_str());
        }
        std::vector<Report> made;
        for (const Finding& finding : findings) made.emplace_back(finding.kind, finding.cycle, finding.word);
        return made;
    }

    // busy, latency, reads, writes, (first, count) of rows of Dst read, and written, interlocked, shuffles
    auto timing(uint32_t word, int thread) const {
        const Timing t = vector::timing(state, word, thread);
        return std::make_tuple(t.busy, t.latency, t.reads, t.writes,
                               std::make_tuple(t.dst_reads.first, t.dst_reads.count),
                               std::make_tuple(t.dst_writes.first, t.dst_writes.count), t.interlocked, t.shuffles);
    }
};

void multiply_add(bool blackhole, const Words& x, const Words& y, const Words& z,
                  nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> result) {
    if (x.size() % LANES || y.size() != x.size() || z.size() != x.size() || result.size() != x.size())
        throw nb::value_error("operands and result are arrays of one length, a multiple of 32");
    Lanes a, b, c, made;
    for (size_t k = 0; k < x.size(); k += LANES) {
        std::memcpy(&a, x.data() + k, sizeof a), std::memcpy(&b, y.data() + k, sizeof b);
        std::memcpy(&c, z.data() + k, sizeof c);
        vector::multiply_add(blackhole ? Member::Blackhole : Member::Wormhole, a, b, c, made);
        std::memcpy(result.data() + k, &made, sizeof made);
    }
}

}  // namespace

void bind_vector(nb::module_&);

void bind_vector(nb::module_& m) {
    constexpr auto ref = nb::rv_policy::reference_internal;
    m.def("multiply_add", multiply_add, nb::arg("blackhole"), nb::arg("x"), nb::arg("y"), nb::arg("z"),
          nb::arg("result"));
    nb::class_<Bench>(m, "VectorBench")
        .def(nb::init<bool>(), nb::arg("blackhole") = false)
        .def("run", &Bench::run, nb::arg("words"), nb::arg("timed") = false, nb::arg("thread") = 0,
             nb::arg("repeat") = 1)
        .def("timing", &Bench::timing, nb::arg("word"), nb::arg("thread") = 0)
        .def("seed", [](Bench& self, uint32_t value) { vector::seed(self.state.vector, value); })
        .def("invalidate", [](Bench& self) { self.state.matrix.valid.fill(false); })
        .def_prop_rw(
            "flags",
            [](const Bench& self) {
                return std::make_tuple(self.state.vector.flags.set, self.state.vector.flags.used);
            },
            [](Bench& self, std::tuple<uint32_t, uint32_t> given) {
                self.state.vector.flags = {std::get<0>(given), std::get<1>(given)};
            })
        .def_prop_ro("depth", [](const Bench& self) { return self.state.vector.depth; })
        .def_prop_ro("cycle", [](const Bench& self) { return self.context.cycle; })
        .def_prop_ro("miscellaneous", [](const Bench& self) { return self.state.vector.miscellaneous; })
        .def_prop_ro(
            "registers", [](Bench& s) { return view(s.state.vector.registers[0].data(), {17, 32}); }, ref)
        .def_prop_ro(
            "dst", [](Bench& s) { return view(s.state.matrix.dst[0].data(), {1024, 16}); }, ref)
        .def_prop_ro(
            "lane_config", [](Bench& s) { return view(s.state.vector.lane_config.data(), {8}); }, ref)
        .def_prop_ro(
            "random", [](Bench& s) { return view(s.state.vector.random.data(), {32}); }, ref)
        .def_prop_ro(
            "templates", [](Bench& s) { return view(s.state.vector.templates.data(), {4}); }, ref)
        .def_prop_ro(
            "sequences", [](Bench& s) { return view(s.state.vector.sequences.data(), {4}); }, ref)
        .def_prop_ro(
            "config", [](Bench& s) { return view(s.state.config.banks[0].data(), {256}); }, ref)
        .def_prop_ro(
            "thread_config",
            [](Bench& s) { return view(s.state.config.thread[0].data(), {3, ConfigState::THREAD_WORDS}); }, ref)
        .def_prop_rw(
            "dst_counter", [](const Bench& self) { return self.state.matrix.counters[0].dst; },
            [](Bench& self, uint32_t value) { self.state.matrix.counters[0].dst = value; });
}
