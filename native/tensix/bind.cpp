// SPDX-License-Identifier: Apache-2.0
// The Python module polyloom._native.tensix; src/polyloom/_native/tensix.pyi documents it. The interpreter lock is
// released while a tile runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <tuple>

#include "python/bind.hpp"
#include "python/view.hpp"
#include "tensix/fields.hpp"
#include "tensix/tile.hpp"

namespace nb = nanobind;
using namespace polyloom::tensix;
using polyloom::view_of;

namespace {

using FindingTuple = std::tuple<std::string, int, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                uint32_t, std::string, std::string, bool>;
using EventTuple = std::tuple<uint64_t, uint64_t, int, int, uint32_t, uint32_t, uint32_t, uint32_t>;

FindingTuple tuple_of(const Finding& f) {
    return {f.kind,       f.thread, f.cycle,         f.earlier_cycle, f.word, f.earlier, f.pc,
            f.earlier_pc, f.index,  f.earlier_index, f.text,          f.cure, f.wrong};
}

template <class S>
constexpr int64_t WORDS = int64_t(sizeof(S) / 4);

uint32_t* words_of(void* from) { return static_cast<uint32_t*>(from); }

nb::object view(nb::handle self, const std::string& name) {
    Tile& t = nb::cast<Tile&>(self);
    State& s = t.state;
    static_assert(sizeof(Counters) == 32 && sizeof(AddressCounter) == 64 && sizeof(SourceBank) % 4 == 0);
    if (name == "l1") return view_of(self, s.l1.data(), {s.l1.size()});
    if (name == "dram") {
        if (!t.port) throw nb::value_error("no memory is attached");
        return view_of(self, t.port->memory.data(), {t.port->memory.size()});
    }
    if (name == "lregs") return view_of(self, s.vector.registers[0].data(), {17, LANES});
    if (name == "flags") return view_of(self, &s.vector.flags.set, {2});
    if (name == "dst") return view_of(self, s.matrix.dst[0].data(), {1024, 16});
    if (name == "dst_valid") return view_of(self, reinterpret_cast<uint8_t*>(s.matrix.valid.data()), {1024});
    if (name == "srca") return view_of(self, s.matrix.a[0].rows[0].data(), {2, 64, 16}, {WORDS<SourceBank>, 16, 1});
    if (name == "srcb") return view_of(self, s.matrix.b[0].rows[0].data(), {2, 64, 16}, {WORDS<SourceBank>, 16, 1});
    if (name == "gpr") return view_of(self, s.gprs[0].data(), {THREADS, 64});
    if (name == "config")
        return view_of(self, s.config.banks[0].data(), {2, layout(s.member).bank_words}, {ConfigState::WORDS, 1});
    if (name == "thread_config")
        return view_of(self, s.config.thread[0].data(), {THREADS, layout(s.member).thread_words},
                       {ConfigState::THREAD_WORDS, 1});
    if (name == "rwc") return view_of(self, words_of(&s.matrix.counters), {THREADS, 8});
    if (name == "adc") return view_of(self, words_of(&s.counters), {THREADS, 3, 8, 2});
    if (name == "semaphores") return view_of(self, words_of(&s.sync.semaphores), {8, 2});
    if (name == "mutexes") return view_of(self, words_of(&s.sync.owner), {8});
    if (name == "lane_config") return view_of(self, s.vector.lane_config.data(), {COLUMNS});
    if (name == "replay")
        return view_of(self, words_of(&t.fronts[0].replay.buffer), {THREADS, 32}, {WORDS<Front>, WORDS<Entry>});
    if (name == "mop_config") return view_of(self, t.fronts[0].mop.config.data(), {THREADS, 9}, {WORDS<Front>, 1});
    if (name == "iram") return view_of(self, t.cores[NC]->iram->bytes.get(), {IRAM_BYTES});
    throw nb::key_error(name.c_str());
}

nb::object local_ram(nb::handle self, int core) {
    Core& c = *nb::cast<Tile&>(self).cores.at(size_t(core));
    return view_of(self, c.ram->bytes.get(), {c.local_bytes()});
}

void push(Tile& tile, int thread, nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> words) {
    if (thread < 0 || thread >= THREADS) throw nb::index_error("a thread is 0, 1 or 2");
    for (size_t n = 0; n < words.size(); ++n) tile.push(thread, words.data()[n]);
}

// The step's fault, if any, is in `fault`.
bool step(Tile& tile) {
    tile.fault.reset();
    tile.show_before(false);
    try {
        tile.step();
    } catch (const Fault& raised) {
        tile.fault = raised.finding;
    }
    tile.show_before(true);
    return !tile.fault;
}

}  // namespace

void bind_grid(nb::module_&);

void bind_matrix(nb::module_&);

void bind_vector(nb::module_&);

POLYLOOM_MODULE(tensix, m) {
    bind_matrix(m);
    bind_vector(m);
    nb::class_<Tile>(m, "Tile")
        .def(
            "__init__",
            [](Tile* self, bool blackhole, int policy) {
                new (self) Tile(blackhole ? Member::Blackhole : Member::Wormhole, Policy(policy));
            },
            nb::arg("blackhole"), nb::arg("policy"))
        .def(
            "view", [](nb::handle self, const std::string& name) { return view(self, name); }, nb::arg("name"))
        .def(
            "local_ram", [](nb::handle self, int core) { return local_ram(self, core); }, nb::arg("core"))
        .def("push", push, nb::arg("thread"), nb::arg("words"))
        .def(
            "release", [](Tile& t, int core, std::optional<uint32_t> pc) { t.release(core, pc); }, nb::arg("core"),
            nb::arg("pc").none())
        .def("hold", &Tile::hold, nb::arg("core"))
        .def(
            "attach",
            [](Tile& t, uint64_t bytes, uint32_t speed, uint32_t latency) {
                if (t.port) throw nb::value_error("a memory is attached already");  // whose views are in use
                t.port = std::make_unique<Port>();
                t.port->speed = speed, t.port->latency = latency, t.port->memory.resize(bytes);
            },
            nb::arg("bytes"), nb::arg("speed"), nb::arg("latency"))
        .def("traffic",
             [](Tile& t) {
                 std::vector<std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>> all;
                 for (int n = 0; t.port && n < NOCS; ++n) {
                     const Niu& niu = t.port->nius[size_t(n)];
                     all.emplace_back(niu.reads.bytes, niu.reads.busy_cycles, niu.writes.bytes, niu.writes.busy_cycles);
                 }
                 return all;
             })
        .def(
            "run", [](Tile& t, uint64_t most) { return int(t.run(most)); }, nb::arg("max_cycles"),
            nb::call_guard<nb::gil_scoped_release>())
        .def("step", step)
        .def(
            "registers",
            [](Tile& t, int core) {
                const auto& hart = t.cores.at(size_t(core))->hart;
                return hart ? std::vector<uint32_t>(hart->x, hart->x + 32) : std::vector<uint32_t>(32);
            },
            nb::arg("core"))
        .def(
            "pc", [](Tile& t, int core) { return t.cores.at(size_t(core))->pc(); }, nb::arg("core"))
        .def(
            "retired", [](Tile& t, int core) { return t.cores.at(size_t(core))->retired; }, nb::arg("core"))
        .def(
            "passed",
            [](Tile& t, int thread) {
                const Passed& p = t.fronts.at(size_t(thread)).passed;
                return std::make_tuple(p.in, p.mop, p.replay);
            },
            nb::arg("thread"))
        .def(
            "unit",
            [](Tile& t, int unit) {
                const UnitState& u = t.units.at(size_t(unit));
                return std::make_tuple(u.accepted, u.busy_cycles);
            },
            nb::arg("unit"))
        .def_ro("cycle", &Tile::cycle)
        .def_ro("cycles", &Tile::cycles)
        .def_prop_ro("moved", [](Tile& t) { return t.state.moved; })
        .def_ro("waits", &Tile::waits)
        .def_ro("ignored_mmio", &Tile::ignored_mmio)
        .def_rw("ignore_mmio", &Tile::ignore_mmio)
        .def_rw("tracing", &Tile::tracing)
        .def_prop_rw(
            "accounting", [](Tile& t) { return t.accounting; },
            [](Tile& t, bool accounts) {
                if (accounts && !t.accounting)
                    t.tally.over_time.start(t.tally.sums.size(), Tally::MOST_SNAPSHOTS, Tally::FIRST_STEP);
                t.accounting = accounts;
            })
        .def_prop_ro("over_time",
                     [](Tile& t) {
                         const auto& rows = t.tally.over_time.rows();
                         return nb::make_tuple(t.tally.over_time.step(),
                                               nb::bytes(rows.data(), rows.size() * sizeof(uint64_t)));
                     })
        .def_prop_ro("tally",
                     [](Tile& t) {
                         std::vector<std::tuple<int, int, uint32_t, uint64_t>> all;
                         for (const auto& [key, count] : t.tally.counts)
                             all.emplace_back(int(key & 3), int(key >> 2 & 0x3fff), uint32_t(key >> 16), count);
                         return all;
                     })
        .def_rw("watched", &Tile::watched)
        .def_prop_ro("idle", &Tile::idle)
        .def_prop_ro("findings",
                     [](Tile& t) {
                         std::vector<FindingTuple> all;
                         for (const Finding& each : t.findings) all.push_back(tuple_of(each));
                         return all;
                     })
        .def_prop_ro("fault",
                     [](Tile& t) { return t.fault ? std::optional<FindingTuple>(tuple_of(*t.fault)) : std::nullopt; })
        .def(
            "events_from",
            [](Tile& t, size_t first) {
                std::vector<EventTuple> all;
                for (size_t n = first; n < t.events.size(); ++n) {
                    const Event& e = t.events[n];
                    all.emplace_back(e.start, e.end, e.thread, e.unit, e.word, e.pc, e.index, e.pushed);
                }
                return all;
            },
            nb::arg("first"))
        .def_prop_ro("events", [](Tile& t) {
            std::vector<EventTuple> all;
            for (const Event& e : t.events)
                all.emplace_back(e.start, e.end, e.thread, e.unit, e.word, e.pc, e.index, e.pushed);
            return all;
        });
    bind_grid(m);
}
