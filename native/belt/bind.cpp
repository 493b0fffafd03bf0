// SPDX-License-Identifier: Apache-2.0
// The Python module polyloom._native.belt; src/polyloom/_native/belt.pyi documents it. The interpreter lock is released
// while a program runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <variant>

#include "python/bind.hpp"
#include "belt/model.hpp"

namespace nb = nanobind;
using namespace polyloom::belt;

namespace {

using Bytes = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Shared = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Read-only arrays are taken as the second kind; they are never written to.
using Given = std::tuple<uint32_t, std::variant<Bytes, Shared>, bool>;

Range range_of(const Given& given) {
    const auto& [base, bytes, writable] = given;
    if (const Bytes* own = std::get_if<Bytes>(&bytes)) return {base, own->shape(0), own->data(), own->data(), writable};
    const Shared& shared = std::get<Shared>(bytes);
    return {base, shared.shape(0), shared.data(), nullptr, writable};
}
// width (-1: no shape), lanes, data, by lane: 0 data, 1 None, 2 NaR, by lane: why it is a NaR
using Operand = std::tuple<int, unsigned, nb::bytes, std::vector<uint8_t>, std::vector<uint32_t>>;

Operand given(const Value& value) {
    const unsigned lanes = value.lanes();
    std::vector<uint8_t> states;
    std::vector<uint32_t> why;
    for (unsigned k = 0; k < lanes; ++k) {
        const bool nar = value.nar >> k & 1;
        states.push_back(value.none >> k & 1 ? 1 : nar ? 2 : 0);
        why.push_back(nar ? value.why[k] : 0);
    }
    const bool shaped = value.has_shape();
    return {shaped ? value.width : -1, lanes, nb::bytes(value.data, shaped ? value.bytes() : 0), states, why};
}

Value taken(const Operand& operand) {
    const auto& [width, lanes, data, states, why] = operand;
    Value value;
    if (width < 0) {
        value.lose_shape();
        return value;
    }
    const bool shaped = width < int(widths) && lanes && !(lanes & (lanes - 1)) && lanes << width <= most_bytes;
    if (!shaped || data.size() != lanes << width || states.size() != lanes || why.size() != lanes)
        throw nb::value_error("an operand contradicts itself");
    value.shape(unsigned(width), unsigned(__builtin_ctz(lanes)));
    std::memcpy(value.data, data.data(), data.size());
    for (unsigned k = 0; k < lanes; ++k) {
        if (states[k] == 1) value.none |= u128(1) << k;
        if (states[k] == 2) value.nar |= u128(1) << k, value.why[k] = why[k];
    }
    return value;
}

nb::list given(const std::vector<Value>& values) {
    nb::list made;
    for (const Value& value : values) made.append(nb::cast(given(value)));
    return made;
}

// An operation's results, or what is wrong with its operands.
nb::list operate(unsigned op, int width, unsigned lanes_log, const std::vector<Operand>& operands,
                 nb::object immediate_number, uint32_t bundle) {
    if (op >= op_count || lanes_log > 7 || width >= int(widths)) throw nb::value_error("there is no such operation");
    std::vector<Value> in;
    for (const Operand& operand : operands) in.push_back(taken(operand));
    if (!immediate_number.is_none()) immediate(in.emplace_back(), nb::cast<int>(immediate_number));
    const auto [least, most] = operands_of(Op(op));
    if (in.size() < least || in.size() > most) throw nb::value_error("it has another number of operands");
    const Value* pointers[3];
    for (size_t k = 0; k < in.size(); ++k) pointers[k] = &in[k];
    std::vector<Value> out(1);
    Value second;
    const Action action = row_of(Op(op)).action;
    const Stated stated{Op(op), uint8_t(width < 0 ? shapeless : width), uint8_t(lanes_log)};
    if (action == Action::pick)
        pick(pointers, unsigned(in.size()), out[0]);
    else if (action == Action::recur)
        recur(in[0], in[1], out[0]);
    else
        compute(stated, pointers, unsigned(in.size()), out[0], second, bundle);
    if (results_of(Op(op)) == 2) out.push_back(second);
    return given(out);
}

nb::list operations() {
    nb::list made;
    for (unsigned n = 0; n < op_count; ++n) {
        const auto [least, most] = operands_of(Op(n));
        const std::string name(rows[n].name), phase(1, "RCKPX"[unsigned(rows[n].phase)]);
        made.append(nb::make_tuple(name, phase, least, most, takes_list(Op(n)), results_of(Op(n)),
                                   takes_immediate(Op(n)), states_width(Op(n)), states_lanes(Op(n))));
    }
    return made;
}

// Code for a member, decoded once.
struct Decoded {
    Decoded(unsigned belt, unsigned vector, bool phasing, unsigned least, unsigned most, unsigned stations,
            unsigned scratch, nb::bytes latencies, nb::bytes code) {
        Member member{belt, vector, phasing, least, most, stations, scratch, {}};
        const auto* bytes = static_cast<const uint8_t*>(latencies.data());
        if (latencies.size() % widths) throw Malformed(0, "the latencies are no table");
        for (size_t at = 0; at < latencies.size(); at += widths) {
            auto& row = member.latencies.emplace_back();
            std::copy(bytes + at, bytes + at + widths, row.begin());
        }
        program = decode(std::move(member), {static_cast<const uint8_t*>(code.data()), code.size()});
    }
    Program program;
};

std::vector<std::pair<int, unsigned>> kinds_of(const std::vector<Kind>& kinds) {
    std::vector<std::pair<int, unsigned>> made;
    for (const Kind& kind : kinds) made.emplace_back(kind.width, 1u << kind.lanes_log);
    return made;
}

nb::tuple told(const Record& record, size_t n) {
    if (n >= record.events.size()) throw nb::index_error();
    const Event& e = record.events[n];
    const std::string op(row_of(e.op).name);
    return nb::make_tuple(e.cycle, e.routine, e.bundle, slot_name(e.slot), op, given(record.value(e)));
}

// The rows that have a bit: routine, slot, bits.
nb::list busy(const Record& record) {
    nb::list made;
    for (size_t n = 0; n < record.busy.rows.size(); ++n)
        if (const auto& row = record.busy.rows[n]; !row.empty())
            made.append(nb::make_tuple(n / Busy::slots, slot_name(unsigned(n % Busy::slots)),
                                       nb::bytes(row.data(), row.size())));
    return made;
}

nb::dict finished(Model& model, const Program& program, bool returned) {
    nb::dict made;
    made["returned"] = returned;
    made["results"] = given(model.results);
    const Counters& c = model.counters;
    made["cycles"] = c.cycles, made["operations"] = c.operations, made["high_water"] = c.high_water,
    made["stations"] = c.stations;
    made["spills"] = c.spills, made["fills"] = c.fills, made["depth"] = c.depth;
    made["record"] = nb::cast(std::move(model.record));
    nb::list transfers;
    for (size_t r = 0; r < program.routines.size(); ++r)
        for (uint32_t b = 0; b < program.routines[r].bundles; ++b) {
            const Bundle& bundle = program.bundles[program.routines[r].first + b];
            for (unsigned k = 0; k < bundle.ends[4]; ++k)
                if (const uint64_t times = model.taken[bundle.first + k])
                    transfers.append(nb::make_tuple(r, b, slot_name(program.issues[bundle.first + k].slot), times));
        }
    nb::list executed;
    for (const Routine& routine : program.routines) {
        const auto first = model.executed.begin() + routine.first;
        executed.append(nb::cast(std::vector<uint64_t>(first, first + routine.bundles)));
    }
    made["executed"] = executed;
    const auto& rows = model.over_time.rows();
    made["over_time"] = nb::make_tuple(model.over_time.step(), nb::bytes(rows.data(), rows.size() * sizeof(uint64_t)));
    made["transfers"] = transfers;
    return made;
}

nb::object fault_of(const Faulted& f) {
    const nb::object op = f.op < 0 ? nb::none() : nb::cast(std::string(row_of(Op(f.op)).name));
    const nb::object slot = f.slot < 0 ? nb::none() : nb::cast(slot_name(unsigned(f.slot)));
    return nb::make_tuple(int(f.fault), f.routine, f.bundle, slot, op, f.cycle, f.detail);
}

// The dictionary of a run, or the tuple of a fault.
nb::object run(const Decoded& decoded, const std::vector<Given>& ranges, const std::vector<Operand>& arguments,
               uint64_t most_cycles, size_t most_events, bool account) {
    std::vector<Range> memory;
    for (const Given& each : ranges) memory.push_back(range_of(each));
    std::vector<Value> values;
    for (const Operand& argument : arguments) values.push_back(taken(argument));
    if (values.size() != decoded.program.routines[0].parameters.size())
        throw nb::value_error("the routine has another number of parameters");
    bool interrupted = false;
    Options options{most_cycles, most_events, account, [&] {
                        nb::gil_scoped_acquire acquire;
                        return !(interrupted = PyErr_CheckSignals() != 0);
                    }};
    Model model(decoded.program, Memory(std::move(memory)), std::move(options));
    try {
        bool returned;
        {
            nb::gil_scoped_release release;
            returned = model.run(values);
        }
        if (interrupted) throw nb::python_error();
        return finished(model, decoded.program, returned);
    } catch (const Faulted& faulted) {
        return fault_of(faulted);
    }
}

// A run that stops between cycles. It keeps the bytes of its ranges alive.
struct Stepped {
    Stepped(const Decoded& decoded, const std::vector<Given>& ranges, const std::vector<Operand>& arguments)
        : program(decoded.program) {
        std::vector<Range> memory;
        for (const Given& each : ranges) memory.push_back(range_of(each));
        held = ranges;
        std::vector<Value> values;
        for (const Operand& argument : arguments) values.push_back(taken(argument));
        if (values.size() != program.routines[0].parameters.size())
            throw nb::value_error("the routine has another number of parameters");
        Options options;
        options.most_events = 1;
        model = std::make_unique<Model>(program, Memory(std::move(memory)), std::move(options));
        model->start(values);
    }

    // Whether the program returned, or the tuple of a fault. Operations are kept where `tells`.
    nb::object advance(uint64_t cycles, bool tells) {
        told.clear();
        model->told = tells ? &told : nullptr;
        try {
            return nb::cast(ended = ended || model->advance(cycles));
        } catch (const Faulted& faulted) {
            return fault_of(faulted);
        }
    }

    nb::list operations() const {
        nb::list made;
        for (const Told& each : told) {
            nb::list operands, makers;
            for (const Value& operand : each.operands) {
                operands.append(nb::cast(given(operand)));
                makers.append(nb::cast(operand.maker));
            }
            const std::string op(row_of(each.op).name);
            made.append(nb::make_tuple(each.number, each.routine, each.bundle, slot_name(each.slot), op,
                                       given(each.value), operands, makers, each.addresses, each.bytes));
        }
        return made;
    }

    const Program& program;
    std::vector<Given> held;
    std::unique_ptr<Model> model;
    std::vector<Told> told;
    bool ended = false;
};

}  // namespace

POLYLOOM_MODULE(belt, m) {
    nb::exception<Malformed>(m, "Malformed", PyExc_ValueError);
    nb::exception<BadOperands>(m, "BadOperands", PyExc_ValueError);
    m.def("operations", &operations);
    m.def("operate", &operate, nb::arg("op"), nb::arg("width"), nb::arg("lanes_log"), nb::arg("operands"),
          nb::arg("immediate").none(), nb::arg("bundle"));
    nb::class_<Record>(m, "Record")
        .def("__len__", [](const Record& r) { return r.events.size(); })
        .def("__getitem__", &told)
        .def_ro("total", &Record::total)
        .def_prop_ro("cycles", [](const Record& r) { return r.busy.cycles; })
        .def_prop_ro("step", [](const Record& r) { return r.busy.step; })
        .def("busy", &busy);
    nb::class_<Decoded>(m, "Code")
        .def(nb::init<unsigned, unsigned, bool, unsigned, unsigned, unsigned, unsigned, nb::bytes, nb::bytes>(),
             nb::arg("belt"), nb::arg("vector"), nb::arg("phasing"), nb::arg("least_delay"), nb::arg("most_delay"),
             nb::arg("stations"), nb::arg("scratch"), nb::arg("latencies"), nb::arg("code"))
        .def_prop_ro("parameters", [](const Decoded& d) { return kinds_of(d.program.routines[0].parameters); })
        .def_prop_ro("results", [](const Decoded& d) { return kinds_of(d.program.routines[0].results); })
        .def("run", &run, nb::arg("ranges"), nb::arg("arguments"), nb::arg("most_cycles"), nb::arg("most_events"),
             nb::arg("account") = false);
    nb::class_<Stepped>(m, "Stepper")
        .def(nb::init<const Decoded&, const std::vector<Given>&, const std::vector<Operand>&>(), nb::arg("code"),
             nb::arg("ranges"), nb::arg("arguments"), nb::keep_alive<1, 2>())
        .def("advance", &Stepped::advance, nb::arg("cycles"), nb::arg("tells") = true)
        .def_prop_ro("cycle", [](const Stepped& s) { return s.model->counters.cycles; })
        .def_prop_ro("place", [](const Stepped& s) { return std::tuple(s.model->routine(), s.model->bundle()); })
        .def_prop_ro("belt", [](const Stepped& s) { return given(s.model->belt()); })
        .def_prop_ro("operations", &Stepped::operations);
}
