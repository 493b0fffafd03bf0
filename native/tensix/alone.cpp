// SPDX-License-Identifier: Apache-2.0
// Cycles in which one thread's words, and among the units the vector unit, are all that moves: most of a kernel. They
// are what step() does, but nobody else is asked. Tests hold both to the same state, findings and trace.
#include "opcodes.hpp"
#include "tile.hpp"

namespace polyloom::tensix {

namespace {

// SFPLOADMACRO schedules instructions for cycles to come.
bool for_vector_unit(Word word) { return unit_of(word) == Unit::Vector && opcode(word) != SFPLOADMACRO; }

}  // namespace

// The thread that has words while nothing else is under way but results of the vector unit; -1 where there is none.
int Tile::alone() const {
    if (any_core || flush_code || working || requested) return -1;
    if (schedule.count || schedule.accepted || schedule.busy) return -1;
    if (!config_writes.empty() || !slow_config.empty() || !gpr_writes.empty()) return -1;
    int found = -1;
    for (int t = 0; t < THREADS; ++t) {
        const size_t n = size_t(t);
        if (latches[n].on) return -1;
        if (fronts[n].empty() && !fronts[n].moves() && hand[n].empty()) continue;
        if (found >= 0 || thread_free[n] > cycle) return -1;
        found = t;
    }
    return found;
}

// Until `end`, until the thread has no words, or until one is next that another unit executes; whether time passed.
bool Tile::run_alone(int thread, uint64_t end) {
    const uint64_t start = cycle;
    Front& front = fronts[size_t(thread)];
    const auto& words = hand[size_t(thread)];
    const size_t known = findings.size();
    while (cycle < end && !(front.empty() && words.empty())) {
        if (!front.gate.empty() && !for_vector_unit(front.gate.front().word)) break;
        moved = false;
        if (!pending.empty()) commit_vector();
        if (!front.gate.empty()) accept_vector(thread);
        if (accounting) [[unlikely]]
            count_cycle();
        move_front(thread);
        if (moved) last_move = cycle;
        ++cycle;
        if (findings.size() > known) [[unlikely]]
            stop_at_hazard(known);
    }
    words_left = false;
    return cycle != start;
}

}  // namespace polyloom::tensix
