// SPDX-License-Identifier: Apache-2.0
// The Python module polyloom._native.minion; src/polyloom/_native/minion.pyi documents it. The interpreter lock is
// released while a chip runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <stdexcept>

#include "python/bind.hpp"
#include "minion/chip.hpp"

namespace nb = nanobind;
using namespace polyloom::minion;

void bind_tensor(nb::module_& m);
void bind_packed(nb::module_& m);

namespace {

using Numbers = std::map<std::string, int64_t>;

int64_t value_of(const Numbers& numbers, const char* name, int64_t otherwise) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? otherwise : found->second;
}

Options options_of(unsigned minions, const Numbers& machine, const Numbers& given) {
    Options options;
    options.minions = minions;
    options.member = value_of(machine, "erbium", 0) ? Member::erbium : Member::et_soc_1;
    options.shires = unsigned(value_of(machine, "shires", options.shires));
    options.l2_kib = unsigned(value_of(machine, "l2_kib", options.l2_kib));
    options.l3_kib = unsigned(value_of(machine, "l3_kib", options.l3_kib));
    options.scratchpad_kib = unsigned(value_of(machine, "scratchpad_kib", options.scratchpad_kib));
    // In the order of the binding: off, report, error, poison.
    options.hazards = Response(value_of(given, "hazards", int64_t(options.hazards)));
    options.timed = !value_of(given, "functional", 0);
    options.threads = unsigned(value_of(given, "threads", 1));
    options.errata = value_of(given, "errata", 0);
    options.trace = value_of(given, "trace", 0);
    options.account = value_of(given, "account", 0);
    options.most_spans = size_t(value_of(given, "most_spans", int64_t(options.most_spans)));
    options.max_cycles = uint64_t(value_of(given, "max_cycles", int64_t(options.max_cycles)));
    const unsigned most = options.member == Member::erbium ? MINIONS_PER_NEIGHBOURHOOD : MINIONS_PER_SHIRE;
    if (!minions || minions > options.shires * most || options.shires > 32)
        throw std::invalid_argument("a number of minions that the machine does not have");
    return options;
}
static_assert(int(Response::off) == 0 && int(Response::report) == 1 && int(Response::error) == 2 &&
              int(Response::poison) == 3);

Parameters parameters_of(const std::map<std::string, double>& timing) {
    Parameters parameters;
    for (unsigned n = 0; n < Parameters::COUNT; ++n)
        if (const auto found = timing.find(std::string(Parameters::NAMES[n])); found != timing.end())
            parameters.values[n] = found->second;
    return parameters;
}

nb::dict site_of(const Site& site) {
    nb::dict made;
    made["hart"] = site.hart, made["pc"] = site.pc, made["cycle"] = site.cycle;
    return made;
}

nb::list findings_of(const Findings& findings) {
    nb::list all;
    for (const Finding& each : findings.all()) {
        nb::dict made;
        made["kind"] = HAZARD_NAMES[unsigned(each.kind)];
        made["later"] = site_of(each.later), made["earlier"] = site_of(each.earlier);
        made["later_name"] = each.later_name, made["earlier_name"] = each.earlier_name;
        made["what"] = each.what, made["cure"] = each.cure;
        made["value"] = each.value, made["count"] = each.count, made["wait"] = each.wait;
        made["standing"] = each.standing;
        all.append(made);
    }
    return all;
}

nb::list reasons_of(const std::vector<Reason>& reasons) {
    nb::list all;
    for (const Reason& each : reasons) {
        nb::dict made;
        made["hart"] = each.hart, made["operation"] = each.operation, made["pc"] = each.pc;
        made["since"] = each.since, made["kind"] = each.kind, made["text"] = each.text, made["note"] = each.note;
        nb::list releasers, gave;
        for (const uint32_t hart : each.releasers) releasers.append(hart);
        for (const Site& site : each.gave) gave.append(site_of(site));
        made["releasers"] = releasers, made["gave"] = gave;
        all.append(made);
    }
    return all;
}

nb::dict told(Chip& chip, const Result& result) {
    static constexpr const char* STOPS[] = {"passed", "failed",     "deadlock",    "trap",
                                            "hazard", "max-cycles", "tensor-error"};
    nb::dict made;
    made["stop"] = STOPS[unsigned(result.stop)];
    made["cycles"] = result.cycles, made["instructions"] = result.instructions;
    made["hart"] = result.hart, made["pc"] = result.pc, made["cause"] = result.cause;
    made["value"] = result.value, made["word"] = result.word;
    made["printed"] = nb::bytes(chip.printed.data(), chip.printed.size());
    made["findings"] = findings_of(chip.findings), made["waits"] = reasons_of(chip.reasons);
    nb::dict counters;
    for (const auto& [name, count] : chip.counters()) counters[name.c_str()] = count;
    made["counters"] = counters;
    nb::list used;
    for (unsigned n = 0; n < Parameters::COUNT; ++n)
        if (chip.parameters.used >> n & 1) used.append(std::string(Parameters::NAMES[n]));
    made["used"] = used;
    nb::list events;
    for (const Span& each : chip.spans.all)
        events.append(nb::make_tuple(each.start, each.end, each.owner, each.track, each.word, each.pc));
    made["events"] = events;
    nb::list account;
    for (unsigned thread = 0; thread < chip.account.passed.size(); ++thread)
        for (const auto& [pc, own] : chip.account.passed[thread]) {
            nb::list stalls;
            for (size_t n = 0; n < own.stalls.size(); ++n)
                if (own.stalls[n]) stalls.append(nb::make_tuple(n, own.stalls[n]));
            account.append(nb::make_tuple(thread, pc, own.issued, own.turn, own.front, stalls));
        }
    made["account"] = account, made["lives"] = chip.lives;
    const auto& rows = chip.passed.rows();
    made["over_time"] = nb::make_tuple(chip.passed.width(), nb::bytes(rows.data(), rows.size() * sizeof(uint64_t)));
    made["cut"] = chip.spans.cut == Spans::WHOLE ? nb::object(nb::none()) : nb::object(nb::int_(chip.spans.cut));
    return made;
}

nb::dict run(Chip& chip, uint64_t entry) {
    Result result;
    {
        nb::gil_scoped_release release;
        result = chip.run(entry);
    }
    return told(chip, result);
}

// Events up to the next one in which instructions were executed: hart, pc before them, cycle, how many; nothing where
// none is left.
std::vector<std::tuple<uint32_t, uint64_t, uint64_t, uint64_t>> advance(Chip& chip) {
    std::vector<Chip::Ran> ran;
    chip.ran = &ran;
    while (ran.empty() && chip.advance()) {}
    chip.ran = nullptr;
    std::vector<std::tuple<uint32_t, uint64_t, uint64_t, uint64_t>> made;
    for (const Chip::Ran& each : ran) made.emplace_back(each.hart, each.pc, each.cycle, each.executed);
    return made;
}

// Registers of a hart: pc, x, the lanes of f, m.
nb::tuple registers(const Chip& chip, uint32_t number) {
    const HartState& h = chip.hart(number);
    std::vector<std::vector<uint32_t>> lanes;
    for (unsigned n = 0; n < 32; ++n) lanes.emplace_back(h.f[n].lane, h.f[n].lane + 8);
    return nb::make_tuple(chip.pc(number), std::vector<uint64_t>(h.x, h.x + 32), lanes,
                          std::vector<int>(h.m.begin(), h.m.end()));
}

std::string write(Chip& chip, uint64_t address, const uint8_t* data, size_t size) {
    return chip.memory.write(address, size, data) ? "" : chip.memory.name_of(address);
}

}  // namespace

POLYLOOM_MODULE(minion, m) {
    bind_tensor(m);
    bind_packed(m);
    nb::class_<Chip>(m, "Chip")
        .def(
            "__init__",
            [](Chip* self, unsigned minions, const Numbers& machine, const std::map<std::string, double>& timing,
               const Numbers& options) {
                new (self) Chip(options_of(minions, machine, options), parameters_of(timing));
            },
            nb::arg("minions"), nb::arg("machine"), nb::arg("timing"), nb::arg("options"))
        .def(
            "write",
            [](Chip& chip, uint64_t address, nb::bytes data) {
                return write(chip, address, reinterpret_cast<const uint8_t*>(data.c_str()), data.size());
            },
            nb::arg("address"), nb::arg("data"))
        .def(
            "write",
            [](Chip& chip, uint64_t address,
               nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> data) {
                return write(chip, address, data.data(), data.size());
            },
            nb::arg("address"), nb::arg("data"))
        .def(
            "read",
            [](Chip& chip, uint64_t address, uint64_t size) {
                std::vector<uint8_t> bytes(size);
                if (!chip.memory.read(address, size, bytes.data()))
                    throw nb::value_error(chip.memory.name_of(address).c_str());
                return nb::bytes(bytes.data(), bytes.size());
            },
            nb::arg("address"), nb::arg("size"))
        .def(
            "start",
            [](Chip& chip, uint64_t entry, uint64_t ahead) {
                chip.ahead = ahead;
                chip.start(entry);
            },
            nb::arg("entry"), nb::arg("ahead"))
        .def("advance", advance)
        .def("finish", [](Chip& chip) { return told(chip, chip.finish()); })
        .def("registers", registers, nb::arg("hart"))
        .def("run", run, nb::arg("entry"));
}
