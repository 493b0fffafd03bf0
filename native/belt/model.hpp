// SPDX-License-Identifier: Apache-2.0
// The model: executes bundles, one per cycle, without knowing names or iterations (docs/targets/belt.md, Time).
//
// A frame is a call: its own belt, scratch and time. A scope is a belt with the results in flight towards it; `inner`
// opens one in a frame, `leave` closes it. What stands still, a caller or an outer scope, keeps its results in flight.
// Operands lie in a pool, and belts hold pointers: nothing is copied as the belt advances, and nothing is allocated in
// a bundle once a run is warm.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "account/snapshots.hpp"
#include "compute.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "record.hpp"

namespace polyloom::belt {

enum class Fault : uint8_t { position, drops, stations, scratch, nar, depth, operands, store, control };

// A bundle's operation did what none may. `slot` and `op` are -1 where it is the bundle's fault.
struct Faulted {
    Fault fault;
    uint32_t routine, bundle;
    int slot, op;
    uint64_t cycle;
    std::string detail;
};

struct Counters {
    uint64_t cycles = 0, operations = 0, spills = 0, fills = 0;
    unsigned high_water = 0, stations = 0, depth = 0;
};

// An operation that a debugger is told: its number, its value, its operands with what made them, and the first address
// of each lane that it loads or stores (one for all where they follow each other).
struct Told {
    uint64_t number;
    uint32_t routine, bundle;
    uint8_t slot;
    Op op;
    Value value;
    std::vector<Value> operands;
    std::vector<uint32_t> addresses;
    unsigned bytes;  // of each of these accesses
};

struct Options {
    uint64_t most_cycles = 1'000'000'000;
    size_t most_events = 0;
    // Whether executions of bundles are also kept over time.
    bool account = false;
    // Asked now and then; the run ends where it gives false.
    std::function<bool()> go_on = [] { return true; };
};

class Model {
  public:
    Model(const Program& program, Memory memory, Options options);

    // Whether the program returned, before cycles ran out or somebody ended the run. Throws Faulted.
    bool run(std::span<const Value> arguments);
    // The same in parts: the arguments first, then bundles until so many cycles have passed.
    void start(std::span<const Value> arguments);
    bool advance(uint64_t cycles);
    // For debuggers, with `most_events` above 0: whom operations are told, the belt from b0 on, and where it runs.
    std::vector<Told>* told = nullptr;
    std::vector<Value> belt() const;
    uint32_t routine() const { return frame->routine; }
    uint32_t bundle() const { return frame->bundle - program.routines[frame->routine].first; }

    Counters counters;
    std::vector<Value> results;
    Record record;
    // By bundle, how often it was executed; by operation, how often a transfer happened.
    std::vector<uint64_t> executed, taken;
    Snapshots over_time;  // of `executed`

  private:
    // A result on its way, in the order of its drop: latency, slot, first or second. A load is sampled when it drops,
    // at an address or, `by_lane`, at those in its value; one that is `told` has its value already.
    enum class State : uint8_t { computed, told, at_address, by_lane };
    struct Due {
        uint32_t key;
        State state;
        uint32_t address;
        Value* value;
        const Issue* issue;

        // In place: a copy of what was just written in parts would wait for the parts.
        void set(uint32_t k, State s, uint32_t a, Value* v, const Issue* i) {
            key = k;
            state = s;
            address = a;
            value = v;
            issue = i;
        }
    };
    static constexpr unsigned ring = 64;
    struct Scope {
        std::array<Value*, ring> belt;
        unsigned front = 0, filled = 0;
        uint32_t age = 0;
        unsigned loads = 0, flying = 0;
        std::array<std::vector<Due>, ring> due;
    };
    struct Frame {
        std::vector<std::unique_ptr<Scope>> scopes;
        size_t open = 0;  // scopes in use
        uint32_t routine = 0, bundle = 0;
        uint64_t time = 0;
        Scratch scratch;
        unsigned calls = 0;  // of the bundle, that have returned
        std::vector<Due> returned;
    };

    const Program& program;
    Memory memory;
    Options options;
    std::deque<Value> values;
    std::vector<Value*> unused;
    std::vector<std::unique_ptr<Frame>> frames;
    size_t depth = 0;
    Frame* frame = nullptr;
    Scope* scope = nullptr;
    const Issue* current = nullptr;
    // Results that drop in this phase, in order.
    std::array<Due, 512> fresh;
    unsigned fresh_count = 0;
    std::vector<Value*> listed;
    uint32_t longest = 1;  // delay or latency of the member
    Value second;
    uint64_t makers = 0;  // operations that were noted
    // Addresses of the access that is being noted.
    std::vector<uint32_t> touched;

    enum class Ended : uint8_t { next, returned, done };

    // model.cpp: time, belts, scopes and frames
    [[noreturn]] void fail(Fault fault, const std::string& detail, bool of_bundle = false) const;
    [[noreturn]] void fail_at(unsigned position) const;
    Value* take();
    void release(Value* value) { unused.push_back(value); }
    void drop(Scope& scope, Value* value);
    void drop_none();
    const Value& operand(const Issue& issue, unsigned k) const;
    const Value& at(unsigned position) const;
    void enter(uint32_t routine);
    void open_scope();
    void close_scope();
    void empty(Scope& scope);
    void gather(const Issue& issue);
    void put(Scope& scope);
    std::span<const Issue> of_phase(const Bundle& bundle, Phase phase) const;
    void begin(const Bundle& bundle);
    bool call_phase(const Bundle& bundle);
    Ended end(const Bundle& bundle);
    void give(const Issue& issue, Value* value);
    void drop_fresh();
    static void settle(std::vector<Due>& list);
    void later(const Issue& issue, Value* value, unsigned latency, bool is_second, State state = State::computed,
               uint32_t address = 0);
    void drop_due(const Bundle& bundle, unsigned expected);
    void arrive(const Due& due);
    void note(const Issue& issue, const Value& value);

    // actions.cpp: what single operations do
    void execute(const Issue& issue);
    void fill(const Issue& issue);
    void spill(const Issue& issue);
    void load(const Issue& issue);
    void sample(const Due& due);
    bool load_lane(const Issue& issue, Value& made, unsigned lane, uint32_t address);
    bool scalar_address(const Issue& issue, unsigned count, uint32_t& address) const;
    void address_of(const Issue& issue, unsigned count, Value& address) const;
    void store(const Issue& issue);
    void store_lane(const Issue& issue, const Value& value, unsigned lane, const Value& address);
    bool happens(const Issue& issue) const;
    bool call(const Issue& issue);
    Ended go(const Issue& issue);
    Ended give_back(const Issue& issue);
};

// What runs several times a bundle.

inline Value* Model::take() {
    if (unused.empty()) return &values.emplace_back();
    Value* value = unused.back();
    unused.pop_back();
    return value;
}

inline void Model::drop(Scope& to, Value* value) {
    to.front = (to.front - 1) % ring;
    if (to.filled == program.member.belt)
        release(to.belt[(to.front + to.filled) % ring]);
    else
        ++to.filled;
    to.belt[to.front] = value;
}

inline const Value& Model::at(unsigned position) const {
    if (position >= scope->filled) [[unlikely]]
        fail_at(position);
    return *scope->belt[(scope->front + position) % ring];
}

inline const Value& Model::operand(const Issue& issue, unsigned k) const {
    if (issue.immediate && k + 1 == issue.count) return program.constants[issue.constant];
    return at(issue.position[k]);
}

// A result of the phases R, K and P: it drops behind those beside it; without phases, as if it took one bundle.
inline void Model::give(const Issue& issue, Value* value) {
    if (options.most_events) [[unlikely]]
        note(issue, *value);
    if (program.member.phasing)
        fresh[fresh_count++].set(0, State::computed, 0, value, &issue);
    else
        later(issue, value, 1, false);
}

inline void Model::later(const Issue& issue, Value* value, unsigned latency, bool is_second, State state,
                         uint32_t address) {
    const uint32_t key = latency << 16 | uint32_t(issue.slot) << 8 | is_second;
    // Results of this bundle come in the order of slots, and before those that took longer.
    if (latency == 1 && program.member.phasing) return fresh[fresh_count++].set(key, state, address, value, &issue);
    std::vector<Due>& list = scope->due[(scope->age + latency - 1) % ring];
    list.emplace_back().set(key, state, address, value, &issue);
    settle(list);
    ++scope->flying;
}

// In the order of drops; who comes later has a shorter latency, mostly.
inline void Model::settle(std::vector<Due>& list) {
    for (size_t n = list.size() - 1; n && list[n - 1].key > list[n].key; --n) std::swap(list[n], list[n - 1]);
}

}  // namespace polyloom::belt
