// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "domain.hpp"
#include "drivers.hpp"

namespace polyloom::tcpa {
namespace {

constexpr int64_t far = int64_t(1) << 62;

// Generators that feed or drain one port: what they do, relative to the first one's delay.
struct Accesses {
    struct One {
        const Domain* domain;
        int64_t delay;
        uint32_t type;
    };
    std::vector<One> all;
};

// Two ends of a wire by number, and the cycles from what leaves the first one to the second one's start.
struct Kind {
    uint64_t ends;
    int64_t shift;
    bool operator==(const Kind&) const = default;
};

struct Hash {
    size_t operator()(const Kind& k) const {
        const uint64_t mixed = (k.ends ^ uint64_t(k.shift) * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
        return size_t(mixed ^ mixed >> 29);
    }
};

class Kinds {
  public:
    Kinds(const Config& config, const Machine& machine, const std::function<void(int64_t)>& poll);

    // Each false where the run by elements has to look.
    bool wrappers();
    bool banks();
    bool all_fed() const;
    bool conflicts();
    bool addresses();
    Result finish();

    bool dead() const { return !result_.report.unread.empty(); }

  private:
    int64_t start(uint32_t element) const;
    const std::vector<Event>* given(uint32_t element, uint32_t reg) const;
    uint32_t accesses(const PortRoutes& bank, bool inputs, bool outputs);
    const Generator* first(const PortRoutes& bank, bool output) const;
    bool collect(uint32_t accesses, size_t limit);
    bool from_element(uint32_t element, uint32_t id, const Origin& origin);
    bool from_bank(uint32_t element, uint32_t id, const PortRoutes& bank, int64_t links);
    bool fits(uint32_t element, uint32_t id, const std::vector<Event>& fed, int64_t shift, bool by_bank);
    bool drained(const PortRoutes& bank);
    bool within(const std::vector<uint32_t>& generators, Buffer<uint64_t>& written);
    void note_poll();
    void count_classes();
    int64_t tokens(uint32_t element, uint32_t id) const;
    void count_tokens(uint32_t element, uint32_t id, int64_t links);

    const Config& config_;
    const Machine& machine_;
    const std::function<void(int64_t)>& poll_;
    uint32_t polled_ = 0;
    Recording recording_;
    Result result_;
    Routes routes_;
    Drivers drivers_;
    std::vector<uint64_t> fed_;                // by element: ids that something drives
    std::vector<std::vector<uint8_t>> leads_;  // by class and od
    std::vector<Accesses> accesses_;
    std::map<std::vector<int64_t>, uint32_t> numbers_;  // of `accesses_`
    std::vector<Event> events_;                         // of those collected last
    std::unordered_set<Kind, Hash> seen_, drained_;
};

Kinds::Kinds(const Config& config, const Machine& machine, const std::function<void(int64_t)>& poll)
    : config_(config), machine_(machine), poll_(poll), result_(record(config, machine, recording_, poll)),
      routes_(config), drivers_(config, routes_), fed_(config.wrapper.size()) {
    for (const auto& registers : recording_.given) leads_.emplace_back(registers.size());
    count_classes();
}

void Kinds::note_poll() {
    if (poll_ && (++polled_ & 0xffff) == 0) poll_(0);
}

int64_t Kinds::start(uint32_t element) const {
    const Controller& c = config_.controller;
    const int64_t row = element / config_.columns, column = element % config_.columns;
    return c.start + c.row_delay * (c.south ? config_.rows - 1 - row : row) +
           c.column_delay * (c.east ? config_.columns - 1 - column : column);
}

// Null for an od that gives nothing.
const std::vector<Event>* Kinds::given(uint32_t element, uint32_t reg) const {
    const int32_t number = config_.element_class[element];
    if (number < 0 || reg >= recording_.given[size_t(number)].size()) return nullptr;
    const auto& events = recording_.given[size_t(number)][reg];
    return events.empty() ? nullptr : &events;
}

const Generator* Kinds::first(const PortRoutes& bank, bool output) const {
    for (uint32_t number : routes_.generators(bank))
        if (config_.arrays[config_.generators[number].array].is_output == output) return &config_.generators[number];
    return nullptr;
}

uint32_t Kinds::accesses(const PortRoutes& bank, bool inputs, bool outputs) {
    std::vector<int64_t> key;
    Accesses found;
    int64_t delay = -1;
    for (uint32_t number : routes_.generators(bank)) {
        const Generator& g = config_.generators[number];
        const Array& array = config_.arrays[g.array];
        if (!(array.is_output ? outputs : inputs)) continue;
        if (delay < 0) delay = g.delay;
        found.all.push_back({g.domain.get(), g.delay - delay, array.type});
        key.insert(key.end(), {int64_t(reinterpret_cast<intptr_t>(g.domain.get())), g.delay - delay, array.type});
    }
    const auto [place, is_new] = numbers_.try_emplace(std::move(key), uint32_t(accesses_.size()));
    if (is_new) accesses_.push_back(std::move(found));
    return place->second;
}

// Their first `limit` events, in order; false where two convex sets overlap.
bool Kinds::collect(uint32_t number, size_t limit) {
    events_.clear();
    for (const auto& [domain, delay, type] : accesses_[number].all) {
        const size_t before = events_.size();
        for (Scan scan(*domain, config_.extents); !scan.done() && events_.size() - before < limit;) {
            events_.push_back({delay + scan.step() * config_.initiation_interval, type});
            if (!scan.advance()) return false;
        }
    }
    if (accesses_[number].all.size() > 1) std::ranges::sort(events_);
    if (events_.size() > limit) events_.resize(limit);
    return true;
}

bool Kinds::wrappers() {
    for (uint32_t element = 0; element < config_.wrapper.size(); ++element) {
        note_poll();
        if (config_.element_class[element] < 0) continue;
        const auto& connections = drivers_.connections(element);
        for (uint32_t n = 0; n < connections.size(); ++n) {
            const Port sink = connections[n].sink;
            if (sink.location != Location::pe) continue;
            const Origin origin = drivers_.origin(element, n);
            const bool passes = origin.element != nowhere
                                    ? from_element(element, sink.index, origin)
                                    : origin.bank != nowhere &&
                                          from_bank(element, sink.index, routes_.banks()[origin.bank], origin.links);
            if (!passes) return false;
            count_tokens(element, sink.index, origin.links);
            drivers_.note_busy(element, n);
        }
    }
    return drivers_.all_busy();
}

bool Kinds::banks() {
    for (const PortRoutes& bank : routes_.banks()) {
        note_poll();
        std::set<std::pair<uint32_t, uint32_t>> counted;
        for (uint32_t number : routes_.generators(bank)) {
            const Generator& g = config_.generators[number];
            const uint32_t element = routes_.element(bank.port, g.links);
            if (config_.arrays[g.array].is_output) continue;
            if (!from_bank(element, g.reg, bank, g.links)) return false;
            // All generators of a port feed all registers that it leads to.
            if (&g == first(bank, false)) result_.counts.bank_reads += tokens(element, g.reg);
            if (counted.emplace(element, g.reg).second) count_tokens(element, g.reg, g.links);
        }
        if (bank.output >= 0 && !drained(bank)) return false;
    }
    return true;
}

int64_t Kinds::tokens(uint32_t element, uint32_t id) const {
    return int64_t(recording_.taken[size_t(config_.element_class[element])][id].size());
}

// Each token that an id takes is written there once, after its way.
void Kinds::count_tokens(uint32_t element, uint32_t id, int64_t links) {
    result_.counts.hops += tokens(element, id) * links;
    result_.counts.fifo_writes += tokens(element, id);
}

// What instructions count in all elements, instead of in one per class.
void Kinds::count_classes() {
    result_.counts = {};
    std::vector<int64_t> elements(config_.classes.size());
    for (int32_t number : config_.element_class)
        if (number >= 0) ++elements[size_t(number)];
    for (size_t number = 0; number < elements.size(); ++number)
        add(result_.counts, result_.by_class[number].counts, elements[number]);
}

bool Kinds::from_element(uint32_t element, uint32_t id, const Origin& origin) {
    const std::vector<Event>* events = given(origin.element, origin.reg);
    if (!events) return false;
    const auto producer = uint64_t(config_.element_class[origin.element]),
               consumer = uint64_t(config_.element_class[element]);
    leads_[producer][origin.reg] = 1;
    fed_[element] |= uint64_t(1) << id;
    const int64_t shift = start(origin.element) + machine_.hop_delay * origin.links - start(element);
    // Classes are numbered in 16 bits, registers in 6.
    const Kind kind{(producer << 6 | origin.reg) << 32 | consumer << 6 | id, shift};
    if (seen_.contains(kind)) return true;
    if (!fits(element, id, *events, shift, false)) return false;
    seen_.insert(kind);
    return true;
}

bool Kinds::from_bank(uint32_t element, uint32_t id, const PortRoutes& bank, int64_t links) {
    const int32_t consumer = config_.element_class[element];
    const auto feeds = [&](uint32_t number) {
        return !config_.arrays[config_.generators[number].array].is_output &&
               !config_.generators[number].domain->empty();
    };
    if (consumer < 0 || std::ranges::none_of(routes_.generators(bank), feeds)) return false;
    fed_[element] |= uint64_t(1) << id;
    const uint32_t number = accesses(bank, true, false);
    const int64_t shift = first(bank, false)->delay + machine_.hop_delay * links - start(element);
    const Kind kind{uint64_t(1) << 63 | uint64_t(number) << 32 | uint64_t(consumer) << 6 | id, shift};
    if (seen_.contains(kind)) return true;
    const auto& taken = recording_.taken[size_t(consumer)];
    if (!collect(number, id < taken.size() ? taken[id].size() + 1 : 1) || !fits(element, id, events_, shift, true))
        return false;
    seen_.insert(kind);
    return true;
}

// Whether the FIFO of an id that gets these tokens passes them all on, in time, without more of them than its depth;
// one that a bank feeds passes each on in the cycle of its arrival.
bool Kinds::fits(uint32_t element, uint32_t id, const std::vector<Event>& fed, int64_t shift, bool by_bank) {
    const auto number = size_t(config_.element_class[element]);
    if (id >= recording_.taken[number].size()) return false;
    const auto& taken = recording_.taken[number][id];
    if (fed.size() != taken.size()) return false;
    size_t arrived = 0, high = 0;
    for (size_t n = 0; n < taken.size(); ++n) {
        const int64_t at = taken[n].cycle - shift;
        if (fed[n].cycle > at || fed[n].type != taken[n].type || (by_bank && fed[n].cycle != at)) return false;
        while (arrived < fed.size() && fed[arrived].cycle <= at) ++arrived;
        high = std::max(high, arrived - n);
    }
    const auto& depths = config_.classes[number].input_depths;
    if (id >= depths.size() || high > uint64_t(depths[id])) return false;
    auto& highest = result_.input_high[number];
    highest.resize(std::max<size_t>(highest.size(), id + 1));
    highest[id] = std::max(highest[id], uint32_t(high));
    return true;
}

// Whether the output's generators take every token that arrives in the cycle of its arrival.
bool Kinds::drained(const PortRoutes& bank) {
    const Generator& g = *first(bank, true);
    const uint32_t element = routes_.element(bank.port, g.links);
    const std::vector<Event>* events = given(element, g.reg);
    if (!events) return false;
    const auto producer = uint64_t(config_.element_class[element]);
    leads_[producer][g.reg] = 1;
    result_.counts.hops += int64_t(events->size()) * g.links;
    result_.counts.bank_writes += int64_t(events->size());
    const uint32_t number = accesses(bank, false, true);
    const int64_t shift = start(element) + machine_.hop_delay * g.links - g.delay;
    const Kind kind{uint64_t(number) << 32 | producer << 6 | g.reg, shift};
    if (drained_.contains(kind)) return true;
    if (!collect(number, events->size() + 1)) return false;
    const auto same = [&](const Event& token, const Event& access) {
        return token.cycle + shift == access.cycle && token.type == access.type;
    };
    if (!std::ranges::equal(*events, events_, same)) return false;
    drained_.insert(kind);
    return true;
}

// Whether something drives every id that is read.
bool Kinds::all_fed() const {
    std::vector<uint64_t> read;
    for (const auto& registers : recording_.taken) {
        uint64_t bits = 0;
        for (size_t n = 0; n < registers.size(); ++n) bits |= uint64_t(!registers[n].empty()) << n;
        read.push_back(bits);
    }
    for (size_t element = 0; element < fed_.size(); ++element)
        if (const int32_t number = config_.element_class[element];
            number >= 0 && (read[size_t(number)] & ~fed_[element]))
            return false;
    return true;
}

// Whether the generators of each bank keep out of each other's cycles. What they access has been found to be what
// elements take and give.
bool Kinds::conflicts() {
    std::unordered_set<uint32_t> seen;
    for (const PortRoutes& bank : routes_.banks()) {
        if (bank.count < 2) continue;
        note_poll();
        const uint32_t number = accesses(bank, true, true);
        if (!seen.insert(number).second) continue;
        if (!collect(number, std::numeric_limits<size_t>::max())) return false;
        if (std::ranges::adjacent_find(events_, {}, &Event::cycle) != events_.end()) return false;
    }
    return true;
}

// Whether all addresses lie in their arrays, and no word of an output is written twice.
bool Kinds::addresses() {
    std::map<std::vector<int64_t>, std::vector<uint32_t>> alike;  // in the order of arrays
    std::vector<uint32_t>* last = nullptr;
    for (uint32_t n = 0; n < config_.generators.size(); ++n) {
        const Generator& g = config_.generators[n];
        const Generator* before = n ? &config_.generators[n - 1] : nullptr;
        if (!before || before->array != g.array || before->domain != g.domain ||
            before->coefficients != g.coefficients) {
            std::vector<int64_t> key{g.array, int64_t(reinterpret_cast<intptr_t>(g.domain.get()))};
            key.insert(key.end(), g.coefficients.begin(), g.coefficients.end());
            last = &alike[std::move(key)];
        }
        last->push_back(n);
    }
    Buffer<uint64_t> written(0);
    int64_t array = -1;
    for (const auto& [key, generators] : alike) {
        if (key[0] != array) {
            array = key[0];
            const Array& declared = config_.arrays[size_t(array)];
            written = Buffer<uint64_t>(declared.is_output ? (words_of(declared) + 63) / 64 : 0);
        }
        if (!within(generators, written)) return false;
    }
    return true;
}

bool Kinds::within(const std::vector<uint32_t>& generators, Buffer<uint64_t>& written) {
    const Generator& g = config_.generators[generators[0]];
    const Array& array = config_.arrays[g.array];
    const uint64_t words = words_of(array);
    std::vector<int64_t> offsets;
    int64_t low = far, high = -far;
    for (Scan scan(*g.domain, config_.extents); !scan.done();) {
        const int64_t offset = affine(g.coefficients, scan.digits(), 0);
        low = std::min(low, offset);
        high = std::max(high, offset);
        if (array.is_output) offsets.push_back(offset);
        if (offsets.size() > words || !scan.advance()) return false;
    }
    if (low > high) return true;
    if (low <= -far || high >= far) return false;
    for (uint32_t number : generators) {
        note_poll();
        const int64_t base = config_.generators[number].base;
        if (base + low < 0 || uint64_t(base + high) >= words) return false;
        for (int64_t offset : offsets) {
            const auto word = uint64_t(base + offset);
            uint64_t& bits = written[word / 64];
            if (bits >> (word % 64) & 1) return false;
            bits |= uint64_t(1) << (word % 64);
        }
    }
    return true;
}

Result Kinds::finish() {
    for (size_t number = 0; number < config_.classes.size(); ++number)
        for (size_t unit = 0; unit < config_.classes[number].programs.size(); ++unit) {
            const Program& program = config_.classes[number].programs[unit];
            for (size_t pc = 0; pc < program.size(); ++pc) {
                Coverage& coverage = result_.report.coverage[number][unit][pc];
                for (size_t n = 0; coverage.executed && n < program[pc].destinations.size(); ++n)
                    if (const Operand& o = program[pc].destinations[n]; o.file == File::io)
                        coverage.driven[n] = leads_[number][o.value];
            }
        }
    return std::move(result_);
}

}  // namespace

std::optional<Result> run_kinds(const Config& config, const Machine& machine,
                                const std::function<void(int64_t)>& poll) {
    try {
        Kinds kinds(config, machine, poll);
        if (kinds.dead() || !kinds.wrappers() || !kinds.banks() || !kinds.all_fed() || !kinds.conflicts() ||
            !kinds.addresses())
            return std::nullopt;
        return kinds.finish();
    } catch (const Fault&) {
        return std::nullopt;
    }
}

}  // namespace polyloom::tcpa
