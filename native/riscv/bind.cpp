// SPDX-License-Identifier: Apache-2.0
// The Python module polyloom._native.riscv; src/polyloom/_native/riscv.pyi documents it. The interpreter lock is
// released while a program runs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <variant>

#include "python/bind.hpp"
#include "riscv/executions.hpp"
#include "riscv/hart.hpp"
#include "riscv/paced.hpp"
#include "riscv/search.hpp"

namespace nb = nanobind;
using namespace polyloom::riscv;

namespace {

// A hart of either width, and its memory.
template <class P>
struct Owned {
    using X = typename P::X;
    Owned(uint32_t extensions, Block& memory, uint64_t code_base, uint64_t code_size)
        : code(extensions, X(code_base), X(code_size), memory.bytes.get() + (code_base - memory.base)),
          hart(code, memory) {}

    Code<P> code;
    Hart<P> hart;
};

// By halfword of the code: rd, rs1, rs2, rs3, latency, cycles of a taken branch, cycles that its unit is held, and
// whether rd comes from the memory. Without any the hart counts executions alone.
using Costs = std::vector<std::array<uint8_t, 8>>;

struct Machine {
    Machine(int xlen, uint32_t extensions, uint64_t base, uint64_t size, uint64_t code_base, uint64_t code_size,
            const std::optional<Costs>& costs)
        : memory(base, size) {
        if (size < 8 || !memory.holds(code_base, code_size)) throw nb::value_error("the code is not within the memory");
        if (costs && costs->empty()) {
            if (xlen == 32)
                hart = std::make_unique<Owned<Counted32>>(extensions, memory, code_base, code_size);
            else
                hart = std::make_unique<Owned<Counted64>>(extensions, memory, code_base, code_size);
        } else if (costs) {
            if (xlen == 32)
                hart = std::make_unique<Owned<Paced32>>(extensions, memory, code_base, code_size);
            else
                hart = std::make_unique<Owned<Paced64>>(extensions, memory, code_base, code_size);
            pace([&](InOrder& timing) { set_costs(timing, code_base, *costs); });
        } else if (xlen == 32)
            hart = std::make_unique<Owned<Plain32>>(extensions, memory, code_base, code_size);
        else
            hart = std::make_unique<Owned<Plain64>>(extensions, memory, code_base, code_size);
    }
    uint8_t* at(uint64_t address, uint64_t length) {
        if (!memory.holds(address, length)) throw nb::value_error("outside the memory");
        return memory.bytes.get() + (address - memory.base);
    }
    auto visit(auto action) {
        return std::visit([&](auto& owned) { return action(owned->hart); }, hart);
    }
    // Of a hart that takes time; nothing of others.
    void pace(auto action) {
        visit([&]<class P>(Hart<P>& h) {
            if constexpr (P::Timing::PRESENT) action(h.timing);
        });
    }
    static void set_costs(InOrder& timing, uint64_t code_base, const Costs& costs) {
        timing.base = code_base, timing.costs.clear();
        for (const auto& row : costs) {
            if (std::max({row[0], row[1], row[2], row[3]}) > InOrder::NONE) throw nb::value_error("no such register");
            const uint8_t rd = row[0] == InOrder::NONE ? InOrder::NOWHERE : row[0];
            timing.costs.push_back({rd, row[1], row[2], row[3], row[4], row[5], row[6], row[7]});
        }
        timing.costs.push_back({.rd = InOrder::NOWHERE});  // what stands outside
        timing.waits.resize(timing.costs.size());
        timing.over_time.start(InOrder::LOSSES + 1, InOrder::MOST_SNAPSHOTS, 1);
    }

    Block memory;
    std::variant<std::unique_ptr<Owned<Plain32>>, std::unique_ptr<Owned<Plain64>>, std::unique_ptr<Owned<Counted32>>,
                 std::unique_ptr<Owned<Counted64>>, std::unique_ptr<Owned<Paced32>>, std::unique_ptr<Owned<Paced64>>>
        hart;
};

using Ended = std::tuple<int, uint64_t, uint64_t, uint64_t, uint32_t>;

Ended run_hart(Machine& machine, uint64_t pc, uint64_t stop, uint64_t limit) {
    nb::gil_scoped_release release;
    const Outcome o = machine.visit([&]<class P>(Hart<P>& h) {
        using X = typename P::X;
        return h.run(X(pc), X(stop), limit);
    });
    return {int(o.cause), o.pc, o.value, o.executed, o.word};
}

// As `run_hart`, one instruction after another: where each of them was, as 64-bit words.
std::pair<Ended, nb::bytes> trace_hart(Machine& machine, uint64_t pc, uint64_t stop, uint64_t limit) {
    std::vector<uint64_t> places;
    Outcome ended{Cause::limit, pc, 0, 0, 0};
    {
        nb::gil_scoped_release release;
        machine.visit([&]<class P>(Hart<P>& h) {
            using X = typename P::X;
            while (ended.cause == Cause::limit && places.size() < limit) {
                const uint64_t at = ended.pc;
                ended = h.run(X(at), X(stop), 1);
                if (ended.executed) places.push_back(at);
            }
        });
    }
    const Ended told{int(ended.cause), ended.pc, ended.value, places.size(), ended.word};
    return {told, nb::bytes(reinterpret_cast<const char*>(places.data()), places.size() * sizeof(uint64_t))};
}

void write_memory(Machine& machine, uint64_t address, nb::bytes data) {
    std::memcpy(machine.at(address, data.size()), data.data(), data.size());
    machine.visit([](auto& h) { h.code->flush(); });
}

nb::bytes read_memory(Machine& machine, uint64_t address, uint64_t length) {
    return nb::bytes(machine.at(address, length), length);
}

std::vector<uint64_t> integers(Machine& machine) {
    return machine.visit([](auto& h) { return std::vector<uint64_t>(h.x, h.x + 32); });
}

void set_integers(Machine& machine, const std::vector<uint64_t>& values) {
    if (values.size() != 32) throw nb::value_error("there are 32 registers");
    machine.visit([&](auto& h) { std::copy(values.begin() + 1, values.end(), h.x + 1); });
}

std::vector<uint64_t> floats(Machine& machine) {
    return machine.visit([](auto& h) { return std::vector<uint64_t>(h.f, h.f + 32); });
}

void set_floats(Machine& machine, const std::vector<uint64_t>& values) {
    if (values.size() != 32) throw nb::value_error("there are 32 registers");
    machine.visit([&](auto& h) { std::copy(values.begin(), values.end(), h.f); });
}

nb::bytes as_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

using Sequence = std::vector<std::tuple<int, int, int>>;

template <class X>
std::vector<Sequence> search_as(const std::vector<std::vector<uint64_t>>& inputs, const std::vector<uint64_t>& target,
                                const std::vector<int>& steps, int length, size_t most) {
    std::vector<std::vector<X>> narrow;
    for (const auto& input : inputs) {
        if (input.size() != SAMPLES) throw nb::value_error("an input has 64 samples");
        narrow.emplace_back(input.begin(), input.end());
    }
    std::vector<Step> allowed;
    for (int step : steps) {
        if (step < 0 || step >= int(Step::COUNT)) throw nb::value_error("there is no such step");
        allowed.push_back(Step(step));
    }
    nb::gil_scoped_release release;
    std::vector<Sequence> made;
    for (const auto& lines : search<X>(narrow, {target.begin(), target.end()}, allowed, length, most)) {
        Sequence& sequence = made.emplace_back();
        for (const Line& line : lines) sequence.emplace_back(int(line.step), line.a, line.b);
    }
    return made;
}

std::vector<Sequence> search_width(int xlen, const std::vector<std::vector<uint64_t>>& inputs,
                                   const std::vector<uint64_t>& target, const std::vector<int>& steps, int length,
                                   size_t most) {
    if (inputs.size() > 8 || length < 1 || length > 8 || target.size() != SAMPLES)
        throw nb::value_error("at most 8 inputs, at most 8 instructions, and 64 samples");
    return xlen == 32 ? search_as<uint32_t>(inputs, target, steps, length, most)
                      : search_as<uint64_t>(inputs, target, steps, length, most);
}

// before, sources, guard, possible, own, hart, location, value, writes, late, field
using EventWords = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, int, int, int, int, bool, bool, int>;
using LocationWords = std::tuple<int, int, bool>;
using Found = std::vector<std::tuple<std::vector<int>, uint64_t, uint64_t>>;

void check_range(int value, int least, size_t end) {
    if (value < least || value >= int(end)) throw nb::value_error("out of range");
}

std::vector<Event> events_of(const std::vector<EventWords>& words, size_t locations) {
    if (words.size() > 63) throw nb::value_error("there are at most 63 events");
    std::vector<Event> events;
    for (const auto& [before, sources, guard, possible, own, hart, location, value, writes, late, field] : words) {
        check_range(own, -1, words.size()), check_range(hart, 0, 64), check_range(location, 0, locations),
            check_range(value, 0, 64), check_range(field, -1, KEY_FIELDS);
        events.push_back({before, sources, guard, possible, own, uint8_t(hart), uint8_t(location), uint8_t(value),
                          writes, late, int8_t(field)});
    }
    return events;
}

std::pair<std::optional<Found>, uint64_t> count_executions(const std::vector<EventWords>& event_words,
                                                           const std::vector<LocationWords>& location_words,
                                                           size_t most, uint64_t steps) {
    check_range(int(location_words.size()), 0, 64);
    std::vector<Location> locations;
    for (const auto& [initial, field, final] : location_words) {
        check_range(initial, 0, 64), check_range(field, -1, KEY_FIELDS);
        locations.push_back({uint8_t(initial), int8_t(field), final});
    }
    const std::vector<Event> events = events_of(event_words, locations.size());
    for (const Event& each : events)
        if ((each.field >= 0 || ~each.possible) && locations[each.location].field < 0)
            throw nb::value_error("values of the location are not kept");
    nb::gil_scoped_release release;
    const auto counted = executions(events, locations, most, steps);
    if (!counted) return {std::nullopt, steps};
    Found found;
    for (const auto& [key, number] : *counted) {
        std::vector<int> fields;
        for (unsigned n = 0; n < KEY_FIELDS; n++) fields.push_back(int(key >> 6 * n & 63));
        found.emplace_back(fields, uint64_t(number), uint64_t(number >> 64));
    }
    return {found, steps};
}

}  // namespace

POLYLOOM_MODULE(riscv, m) {
    m.doc() = "A RISC-V hart, the search for sequences, and the executions of litmus tests.";
    nb::class_<Machine> hart(m, "Hart");
    hart.def(nb::init<int, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, const std::optional<Costs>&>(),
             nb::arg("xlen"), nb::arg("extensions"), nb::arg("base"), nb::arg("size"), nb::arg("code_base"),
             nb::arg("code_size"), nb::arg("costs") = nb::none())
        .def("write", &write_memory, nb::arg("address"), nb::arg("data"))
        .def("read", &read_memory, nb::arg("address"), nb::arg("length"))
        .def("run", &run_hart, nb::arg("pc"), nb::arg("stop"), nb::arg("limit"))
        .def("trace", &trace_hart, nb::arg("pc"), nb::arg("stop"), nb::arg("limit"))
        .def(
            "written",
            [](Machine& machine, int file) {
                return machine.visit([&](auto& h) { return as_bytes(h.state.written.at(file - 1)); });
            },
            nb::arg("file"))
        .def_prop_ro("moved", [](Machine& machine) { return machine.visit([](auto& h) { return h.memory.moved; }); })
        .def_prop_rw("x", &integers, &set_integers)
        .def_prop_rw("f", &floats, &set_floats)
        .def_prop_rw(
            "fcsr", [](Machine& machine) { return machine.visit([](auto& h) { return h.rounding << 5 | h.flags; }); },
            [](Machine& machine, uint32_t value) {
                machine.visit([&](auto& h) { h.flags = value & 31, h.rounding = value >> 5 & 7; });
            })
        .def_prop_rw(
            "environment",
            [](Machine& machine) {
                return machine.visit([](auto& h) {
                    const auto& [address, held] = h.reservations;
                    return nb::make_tuple(held, address, as_bytes(h.state.written[0]), as_bytes(h.state.written[1]));
                });
            },
            [](Machine& machine, const std::tuple<bool, uint64_t, nb::bytes, nb::bytes>& value) {
                const auto& [held, address, output, errors] = value;
                machine.visit([&](auto& h) {
                    h.reservations = {address, held};
                    h.state.written = {std::string(output.c_str(), output.size()),
                                       std::string(errors.c_str(), errors.size())};
                });
            });
    hart.def_prop_ro("clock", [](Machine& machine) {
        uint64_t clock = 0;
        machine.pace([&](const InOrder& timing) { clock = timing.clock; });
        return clock;
    });
    // By place of an instruction that was executed: the place and how often.
    hart.def_prop_ro("executed", [](Machine& machine) {
        std::vector<std::pair<size_t, int64_t>> made;
        machine.visit([&]<class P>(Hart<P>& h) {
            if constexpr (P::COUNTED) {
                const std::vector<int64_t> found = h.code->executions();
                for (size_t n = 0; n < found.size(); ++n)
                    if (found[n]) made.emplace_back(n, found[n]);
            }
        });
        return made;
    });
    hart.def_prop_ro("waits", [](Machine& machine) {
        nb::dict made;
        machine.pace([&](const InOrder& timing) {
            for (size_t n = 0; n < timing.waits.size(); ++n) {
                const Waits& own = timing.waits[n];
                nb::list operands;
                for (size_t k = 0; k < 3; ++k) {
                    if (own.result[k]) operands.append(nb::make_tuple(own.result[k], own.writer[k], false));
                    if (own.data[k]) operands.append(nb::make_tuple(own.data[k], own.loader[k], true));
                }
                if (own.jumped || own.unit || operands.size())
                    made[nb::int_(n)] = nb::make_tuple(own.jumped, own.unit, operands);
            }
        });
        return made;
    });
    hart.def_prop_ro("over_time", [](Machine& machine) {
        std::optional<std::pair<uint64_t, std::vector<uint64_t>>> made;
        machine.pace([&](const InOrder& timing) { made.emplace(timing.over_time.step(), timing.over_time.rows()); });
        return made;
    });
    m.def("search", &search_width, nb::arg("xlen"), nb::arg("inputs"), nb::arg("target"), nb::arg("steps"),
          nb::arg("length"), nb::arg("most"));
    m.def("executions", &count_executions, nb::arg("events"), nb::arg("locations"), nb::arg("most"), nb::arg("steps"));
}
