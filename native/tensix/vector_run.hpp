// SPDX-License-Identifier: Apache-2.0
// What the instructions of the vector unit share while one of them runs: its operation, the lanes that it works on, and
// how a result becomes visible.
#pragma once

#include "tensix/vector_word.hpp"

namespace polyloom::tensix::vector {

// LaneConfig (facts §1.1).
enum LaneConfig : uint32_t {
    INFINITE_HALF = 1 << 0,  // FP16: the largest pattern loads as infinity
    NO_BACKDOOR = 1 << 1,    // VD >= 12 executes, instead of becoming a template
    WITH_INDEX = 1 << 2,     // SWAP moves L4 to L7 along
    CAPTURE_INDEX = 1 << 3,  // with WITH_INDEX, SFPLOAD keeps where it loaded from
    NO_STORE = 1 << 4,
    NO_LOAD = 1 << 5,
    LOAD_ODD = 1 << 6,
    STORE_ODD = 1 << 7,
    INVERTED_SWAP = 1 << 8,
    ROW_MASK = 0xF << 12,
};

constexpr uint32_t ALL = 0xFFFFFFFF, SIGN = 0x80000000, FRACTION = 0x7FFFFF;

constexpr Lanes lane_bits() {
    Lanes made{};
    for (int k = 0; k < LANES; ++k) made[k] = 1u << k;
    return made;
}
inline constexpr Lanes LANE_BIT = lane_bits();

inline uint32_t any_config(const VectorState& vector) {
    uint32_t made = 0;
    for (uint32_t config : vector.lane_config) made |= config;
    return made;
}

// The lanes whose column's LaneConfig has the bit.
uint32_t configured(const VectorState& vector, uint32_t bit);

// The lanes that execute: not in a masked row, and flagged where flags are in use.
uint32_t enabled(const VectorState& vector);

inline void blend(Lanes& to, const Lanes& value, uint32_t lanes) {
    if (lanes == ALL)
        to = value;
    else
        for (int k = 0; k < LANES; ++k) to[k] = lanes & LANE_BIT[k] ? value[k] : to[k];
}

// An instruction while it executes. `late` says that even a result of one cycle waits for the next: other instructions
// of this cycle, which LOADMACRO scheduled, have yet to read.
struct Run {
    State& state;
    const Operation& op;
    Word word;
    int thread;
    Context& context;
    uint32_t lanes;
    bool late = false;
    uint32_t address = 0;  // of a scheduled SFPSTORE

    VectorState& vector() const { return state.vector; }
    const Lanes& at(int index) const { return state.vector.registers[size_t(index)]; }

    void write(int target, const Lanes& value, uint32_t lanes, int latency = 1) const;
    void write(const Lanes& value, int latency = 1) const {
        if (writable(op.vd)) write(op.vd, value, lanes, latency);
    }
    void report(const char* kind, const char* text, const char* cure) const {
        context.report(kind, thread, word, text, cure);
    }
    [[noreturn]] void fault(const char* kind, const char* text, const char* cure = "") const {
        context.fault(kind, thread, word, text, cure);
    }
};

// The value of f in each lane of the operands.
template <class F, class... T>
inline Lanes each(F f, const T&... operands) {
    Lanes made;
    for (int k = 0; k < LANES; ++k) made[k] = f(operands[k]...);
    return made;
}

// The lanes where f holds.
template <class F, class... T>
inline uint32_t where(F f, const T&... operands) {
    uint32_t made = 0;
    for (int k = 0; k < LANES; ++k) made |= uint32_t(bool(f(operands[k]...))) << k;
    return made;
}

// The order in which SWAP and comparisons have patterns: -NaN < -Inf < ... < -0 < +0 < ... < +NaN.
constexpr int32_t ordered(uint32_t value) { return int32_t(value ^ uint32_t(int32_t(value) >> 31) >> 1); }

// The next number of each given lane's generator; the others keep theirs (facts §1.1).
Lanes drawn(VectorState& vector, uint32_t lanes);

// One function for each group of instructions.
void run_simple(const Run& run);
void run_flags(const Run& run);
void run_multiply(const Run& run);
void run_table(const Run& run);
void run_round(const Run& run);
void run_shuffle(const Run& run);
void run_swap(const Run& run);
void run_move(const Run& run);
void run_config(const Run& run);
void run_load(const Run& run);
void run_load_immediate(const Run& run);
void run_store(const Run& run);
void run_macro(const Run& run);
void run_blackhole(const Run& run);

// Where SFPLOAD and SFPSTORE go: mode with SRCB resolved, address in Dst (facts §1.2.1).
struct Place {
    uint32_t mode, address;
};
Place place(const State& state, const Operation& op, int thread);

}  // namespace polyloom::tensix::vector
