// SPDX-License-Identifier: Apache-2.0
// The vector unit, beyond the three functions of unit.hpp: what the cycle loop and the configuration do with its state.
// In each cycle the loop commits what is due, then calls advance(), then at most once execute().
#pragma once

#include "tensix/unit.hpp"

namespace polyloom::tensix::vector {

// The state at power-on: constants in L8 to L15, everything else zero (tensix.md, Machine).
void reset(VectorState& vector);

// What writing PRNG_SEED does: lane i starts at the seed rotated left by i.
void seed(VectorState& vector, uint32_t value);

// Makes a pending write visible.
void commit(VectorState& vector, const Pending& write);

// What SFPLOADMACRO has scheduled, by sub-unit (simple, MAD, round, store) and by what is left to wait, from the cycle
// in which it was scheduled: a delay of 0 executes in the next. Delays count cycles, or, while anything scheduled asks
// for it, instructions that the unit accepts (facts §1.2.3).
struct Scheduled {
    bool used = false, by_instructions = false;
    int thread = 0;
    Word word = 0;  // of the template
    uint32_t pc = 0;
    uint32_t address = 0;  // of a store
    uint8_t vb = 0, vc = 0, vd = 0, mode = 0;
};

struct Schedule {
    static constexpr int UNITS = 4, LONGEST = 8;
    std::array<std::array<Scheduled, LONGEST + 1>, UNITS> waiting{};
    int count = 0;          // of those in `waiting`
    bool accepted = false;  // an instruction, since the last advance()

    // Whether what is scheduled moves only when the unit accepts an instruction.
    [[nodiscard]] bool waits() const {
        bool by_instructions = false;
        for (const auto& unit : waiting)
            for (const Scheduled& entry : unit) by_instructions |= entry.used && entry.by_instructions;
        return by_instructions && !accepted;
    }
    uint32_t busy = 0;              // sub-units, by bit, in which a scheduled instruction executes in this cycle
    Flags before;                   // the flags at the start of this cycle
    bool configured = false;        // a macro was executed, or configured: templates are written on purpose
    std::vector<Finding> captured;  // until then, words that became templates: reported where a run ends so
};

// Templates that were written without a macro: findings, at the end of a run.
inline void report_captured(Schedule& schedule, std::vector<Finding>& findings) {
    for (Finding& each : schedule.captured) findings.push_back(std::move(each));
    schedule.captured.clear();
}

// Configuration of macros, or a macro itself: what was captured before is meant.
inline void configure_macros(Context& context) {
    if (!context.schedule) return;
    context.schedule->configured = true;
    context.schedule->captured.clear();
}

// Phase 1 of a cycle, after commits: executes what is scheduled for it. To be called in every cycle.
void advance(State& state, Context& context);

// What the results of SFPARECIP's modes are, of a magnitude.
uint32_t approximate_reciprocal(uint32_t magnitude);
uint32_t approximate_exponential(uint32_t magnitude);

}  // namespace polyloom::tensix::vector
