// SPDX-License-Identifier: Apache-2.0
// The Python module polyloom._native.tcpa; src/polyloom/_native/tcpa.pyi documents it. The interpreter lock is released
// while a model runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <tuple>

#include "python/bind.hpp"
#include "tcpa/kinds.hpp"
#include "tcpa/model.hpp"
#include "tcpa/operations.hpp"
#include "tcpa/predict.hpp"
#include "tcpa/terms.hpp"

namespace nb = nanobind;
namespace tcpa = polyloom::tcpa;

namespace {

template <class T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using Words = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Latencies = nb::ndarray<const uint16_t, nb::shape<-1, 1024>, nb::c_contig, nb::device::cpu>;

using Triple = std::tuple<int32_t, int32_t, int64_t>;
// executed, driven by destination, met by branch code, lowest equal signal by position
using Seen = std::tuple<bool, std::vector<bool>, std::vector<bool>, std::vector<int>>;

template <class T>
Owned<T> give(std::vector<T>& values) {
    auto* moved = new std::vector<T>(std::move(values));
    nb::capsule owner(moved, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Owned<T>(moved->data(), {moved->size()}, owner);
}

Owned<uint8_t> give(tcpa::Buffer<uint8_t>& words) {
    const size_t size = words.size();
    uint8_t* data = words.release();
    nb::capsule owner(data ? static_cast<void*>(data) : &owner, [](void*) noexcept {});
    if (data) owner = nb::capsule(data, [](void* p) noexcept { std::free(p); });
    return Owned<uint8_t>(data, {size}, owner);
}

std::vector<Triple> places(const std::vector<tcpa::Place>& list) {
    std::vector<Triple> made;
    for (const tcpa::Place& p : list) made.emplace_back(p.element, p.index, p.number);
    return made;
}

Seen seen(const tcpa::Coverage& c) {
    std::vector<int> lowest;
    for (const auto& words : c.equals) {
        int signal = 0;
        for (uint64_t word : words) {
            signal += std::countr_zero(word);
            if (word) break;
        }
        lowest.push_back(signal);
    }
    return {c.executed, {c.driven.begin(), c.driven.end()}, {c.codes.begin(), c.codes.end()}, lowest};
}

std::vector<std::vector<std::vector<Seen>>> coverage(const tcpa::Report& report) {
    std::vector<std::vector<std::vector<Seen>>> made;
    for (const auto& units : report.coverage) {
        auto& of_class = made.emplace_back();
        for (const auto& unit : units) {
            auto& of_unit = of_class.emplace_back();
            for (const tcpa::Coverage& c : unit) of_unit.push_back(seen(c));
        }
    }
    return made;
}

tcpa::Machine machine(const Latencies& latencies, const std::vector<bool>& pipelined, int64_t hop_delay) {
    tcpa::Machine made;
    made.hop_delay = hop_delay;
    for (size_t u = 0; u < latencies.shape(0); ++u) {
        tcpa::Unit& unit = made.units.emplace_back();
        std::copy_n(latencies.data() + u * 1024, 1024, unit.latency.begin());
        unit.pipelined = pipelined.at(u);
    }
    return made;
}

using Progress = std::optional<std::function<void(int64_t)>>;
using Placed = std::tuple<const tcpa::Config*, int, int, std::vector<Words>>;

void check_units(const tcpa::Config& config, const Latencies& latencies) {
    for (const auto& element : config.classes)
        if (element.programs.size() != latencies.shape(0))
            throw nb::value_error("the configuration has programs for another number of functional units");
}

// What a Python signal handler raises, such as KeyboardInterrupt, ends the run.
std::function<void(int64_t)> poll(const Progress& progress) {
    return [&progress](int64_t cycle) {
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress) (*progress)(cycle);
    };
}

std::vector<tcpa::Result> run(const std::vector<Placed>& placed, const Latencies& latencies,
                              const std::vector<bool>& pipelined, int64_t hop_delay, bool trace, bool check_only,
                              const Progress& progress, bool first_fault, bool account) {
    std::vector<tcpa::Placement> placements;
    for (const auto& [config, row, column, inputs] : placed) {
        tcpa::Placement& placement = placements.emplace_back(tcpa::Placement{config, row, column, {}});
        for (const Words& words : inputs) placement.inputs.emplace_back(words.data(), words.shape(0));
        check_units(*config, latencies);
        for (size_t a = 0; !check_only && a < config->arrays.size(); ++a)
            if (!config->arrays[a].is_output &&
                (a >= inputs.size() || inputs[a].shape(0) < tcpa::bytes_of(tcpa::Type(config->arrays[a].type)) *
                                                                tcpa::words_of(config->arrays[a])))
                throw nb::value_error("an input array is missing or too short");
    }
    const tcpa::Machine table = machine(latencies, pipelined, hop_delay);
    nb::gil_scoped_release release;
    return tcpa::run(placements, table, {trace, check_only, poll(progress), nullptr, first_fault, account});
}

// One configuration on terms; its inputs are numbers of terms, 8 bytes each.
tcpa::Result run_terms(const tcpa::Config& config, const std::vector<Words>& inputs, const Latencies& latencies,
                       const std::vector<bool>& pipelined, int64_t hop_delay, tcpa::Terms& terms) {
    tcpa::Placement placement{&config, 0, 0, {}};
    for (const Words& bytes : inputs) placement.inputs.emplace_back(bytes.data(), bytes.shape(0));
    check_units(config, latencies);
    const tcpa::Machine table = machine(latencies, pipelined, hop_delay);
    const Progress silent;
    nb::gil_scoped_release release;
    tcpa::Options options;
    options.terms = &terms;
    options.poll = poll(silent);
    tcpa::Result result = std::move(tcpa::run({&placement, 1}, table, options).front());
    for (auto& bytes : result.outputs)
        for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
            uint64_t id;
            std::memcpy(&id, &bytes[at], sizeof id);
            id = terms.settled(tcpa::Terms::Id(id));
            std::memcpy(&bytes[at], &id, sizeof id);
        }
    return result;
}

std::optional<tcpa::Result> run_kinds(const tcpa::Config& config, const Latencies& latencies,
                                      const std::vector<bool>& pipelined, int64_t hop_delay) {
    check_units(config, latencies);
    const tcpa::Machine table = machine(latencies, pipelined, hop_delay);
    const Progress silent;
    nb::gil_scoped_release release;
    return tcpa::run_kinds(config, table, poll(silent));
}

nb::tuple trace(tcpa::Trace& t) {
    return nb::make_tuple(give(t.element), give(t.unit), give(t.cycle), give(t.pc), give(t.opcode), give(t.value));
}

nb::tuple counts(const tcpa::Counts& c) {
    return nb::make_tuple(c.fetches, c.register_reads, c.register_writes, c.fifo_reads, c.fifo_writes, c.bank_reads,
                          c.bank_writes, c.hops, c.operations);
}

nb::list outputs(tcpa::Result& result) {
    nb::list made;
    for (auto& words : result.outputs) made.append(give(words));
    return made;
}

// A snapshot, which keeps its stepper's state alive.
struct Saved {
    std::shared_ptr<const tcpa::Stepper::State> state;
};

void make_stepper(tcpa::Stepper* self, const tcpa::Config& config, const std::vector<Words>& inputs,
                  const Latencies& latencies, const std::vector<bool>& pipelined, int64_t hop_delay) {
    check_units(config, latencies);
    std::vector<std::vector<uint8_t>> own;
    for (const Words& words : inputs) own.emplace_back(words.data(), words.data() + words.shape(0));
    new (self) tcpa::Stepper(config, machine(latencies, pipelined, hop_delay), std::move(own));
}

using IssuedRow = std::tuple<int32_t, int32_t, int64_t, int32_t, uint16_t, uint64_t>;
std::vector<IssuedRow> operations_of(const tcpa::Stepper& stepper) {
    const tcpa::Trace& t = stepper.operations();
    std::vector<IssuedRow> made;
    for (size_t n = 0; n < t.cycle.size(); ++n)
        made.emplace_back(t.element[n], t.unit[n], t.cycle[n], t.pc[n], t.opcode[n], t.value[n]);
    return made;
}

std::vector<std::tuple<int32_t, bool, uint64_t, uint64_t>> bank_accesses(const tcpa::Stepper& stepper) {
    std::vector<std::tuple<int32_t, bool, uint64_t, uint64_t>> made;
    for (const auto& a : stepper.accesses()) made.emplace_back(a.array, a.writes, a.address, a.value);
    return made;
}

std::vector<std::tuple<std::string, uint32_t, std::vector<uint64_t>>> held_registers(const tcpa::Stepper& stepper,
                                                                                     uint32_t element) {
    static constexpr const char* files[] = {"rd", "fd", "id"};
    std::vector<std::tuple<std::string, uint32_t, std::vector<uint64_t>>> made;
    for (const auto& held : stepper.registers(element))
        made.emplace_back(files[int(held.file)], held.index, held.values);
    return made;
}

nb::tuple stepper_output(const tcpa::Stepper& stepper, size_t array) {
    auto [bytes, marks] = stepper.output(array);
    return nb::make_tuple(give(bytes), give(marks));
}

using Layout = std::tuple<std::string, int, std::vector<int64_t>, std::vector<int64_t>, bool>;

std::vector<Layout> arrays(const tcpa::Config& config) {
    std::vector<Layout> made;
    for (const tcpa::Array& a : config.arrays) made.emplace_back(a.name, a.type, a.shape, a.strides, a.is_output);
    return made;
}

}  // namespace

void bind_terms(nb::module_&);

POLYLOOM_MODULE(tcpa, m) {
    m.doc() = "The model of the array.";
    static PyObject* fault = PyErr_NewException("polyloom._native.tcpa.Fault", PyExc_RuntimeError, nullptr);
    m.attr("Fault") = nb::handle(fault);
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const tcpa::Fault& f) {
            PyErr_SetObject(fault, nb::make_tuple(int(f.cause), f.cycle, f.row, f.column, f.unit, f.text).ptr());
        } catch (const tcpa::TooLarge& e) {
            PyErr_SetObject(PyExc_MemoryError, nb::make_tuple(e.bytes).ptr());
        } catch (const tcpa::FormatError& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        }
    });
    nb::class_<tcpa::Config>(m, "Config")
        .def(
            "__init__",
            [](tcpa::Config* self, nb::bytes data, uint64_t most_bytes) {
                new (self)
                    tcpa::Config(tcpa::load({static_cast<const uint8_t*>(data.data()), data.size()}, most_bytes));
            },
            nb::arg("data"), nb::arg("most_bytes") = std::numeric_limits<uint64_t>::max())
        .def("run_bytes", &tcpa::run_bytes, nb::arg("check_only"))
        .def("kinds_bytes", [](const tcpa::Config& c) { return tcpa::kinds_bytes(c); })
        .def_prop_ro("most_operations", &tcpa::most_operations)
        .def("accesses", &tcpa::accesses, nb::arg("array"))
        .def("predict",
             [](const tcpa::Config& c) {
                 const tcpa::Prediction made = tcpa::predict(c);
                 return std::tuple(made.cycles, made.exact);
             })
        .def_ro("initiation_interval", &tcpa::Config::initiation_interval)
        .def_ro("kernel", &tcpa::Config::kernel)
        .def_ro("machine", &tcpa::Config::machine)
        .def_ro("machine_hash", &tcpa::Config::machine_hash)
        .def_ro("rows", &tcpa::Config::rows)
        .def_ro("columns", &tcpa::Config::columns)
        .def_ro("element_class", &tcpa::Config::element_class)
        .def_prop_ro("arrays", &arrays);
    nb::class_<tcpa::Report>(m, "Report")
        .def_prop_ro("coverage", &coverage)
        .def_ro("steps", &tcpa::Report::steps)
        .def_ro("shortest", &tcpa::Report::shortest)
        .def_prop_ro("late", [](const tcpa::Report& r) { return places(r.late); })
        .def_prop_ro("unread", [](const tcpa::Report& r) { return places(r.unread); })
        .def_prop_ro("idle", [](const tcpa::Report& r) { return places(r.idle); })
        .def_prop_ro("wasted", [](const tcpa::Report& r) { return places(r.wasted); });
    nb::class_<tcpa::Result>(m, "Result")
        .def_ro("cycles", &tcpa::Result::cycles)
        .def_ro("operations", &tcpa::Result::operations)
        .def_ro("first_issue", &tcpa::Result::first_issue)
        .def_ro("issues", &tcpa::Result::issues)
        .def_ro("executed", &tcpa::Result::executed)
        .def_prop_ro("held",
                     [](const tcpa::Result& r) {
                         const auto& rows = r.held.rows();
                         return nb::make_tuple(r.held.step(), nb::bytes(rows.data(), rows.size() * sizeof(uint64_t)));
                     })
        .def_ro("feedback_high", &tcpa::Result::feedback_high)
        .def_ro("input_high", &tcpa::Result::input_high)
        .def_ro("report", &tcpa::Result::report)
        .def_prop_ro("counts", [](const tcpa::Result& r) { return counts(r.counts); })
        .def("take_outputs", &outputs)
        .def("take_trace", [](tcpa::Result& result) { return trace(result.trace); });
    nb::class_<Saved>(m, "Saved").def_prop_ro("bytes", [](const Saved& s) { return tcpa::bytes_of(*s.state); });
    nb::class_<tcpa::Stepper>(m, "Stepper")
        .def("__init__", &make_stepper, nb::arg("config"), nb::arg("inputs"), nb::arg("latencies"),
             nb::arg("pipelined"), nb::arg("hop_delay"))
        .def("step", &tcpa::Stepper::step)
        .def_prop_ro("cycle", &tcpa::Stepper::cycle)
        .def_prop_ro("operations", &operations_of)
        .def_prop_ro("accesses", &bank_accesses)
        .def("registers", &held_registers, nb::arg("element"))
        .def("output", &stepper_output, nb::arg("array"))
        .def("save", [](const tcpa::Stepper& s) { return Saved{s.save()}; })
        .def("restore", [](tcpa::Stepper& s, const Saved& saved) { s.restore(*saved.state); }, nb::arg("saved"));
    m.def("run", &run, nb::arg("placements"), nb::arg("latencies"), nb::arg("pipelined"), nb::arg("hop_delay"),
          nb::arg("trace") = false, nb::arg("check_only") = false, nb::arg("progress") = nb::none(),
          nb::arg("first_fault") = false, nb::arg("account") = false);
    bind_terms(m);
    m.def("run_terms", &run_terms, nb::arg("config"), nb::arg("inputs"), nb::arg("latencies"), nb::arg("pipelined"),
          nb::arg("hop_delay"), nb::arg("terms"));
    m.def("run_kinds", &run_kinds, nb::arg("config"), nb::arg("latencies"), nb::arg("pipelined"), nb::arg("hop_delay"));
}
