// SPDX-License-Identifier: Apache-2.0
// Where the cycles of threads go: a unit accepts a thread's word, or there is one reason why none does. The questions
// are those of accept.cpp, in the order in which the wait gate asks them. Source: facts 1.0 to 1.4.
#include "fields.hpp"
#include "opcodes.hpp"
#include "tile.hpp"

namespace polyloom::tensix {

// Once a cycle, behind accept().
void Tile::count_cycle() {
    tally.begin(cycle);
    for (int t = 0; t < THREADS; ++t) {
        if (tally.accepted[size_t(t)] == cycle + 1) continue;
        const auto [why, pc] = reason(t);
        tally.add(t, why, pc);
    }
}

std::pair<uint32_t, uint32_t> Tile::reason(int thread) {
    const Front& front = fronts[size_t(thread)];
    if (front.gate.empty()) {
        if (!front.empty()) return {Why::EXPANDER, front.expanding.pc};
        const Core& core = *cores[size_t(thread) + 1];
        if (core.at_rest()) return {hand[size_t(thread)].empty() ? Why::ENDED : Why::CORE, 0};
        return {core.polling || core.waits_pcbuf ? Why::POLLING : Why::CORE, uint32_t(core.pc())};
    }
    const Entry& entry = front.gate.front();
    const Unit unit = unit_of(entry.word);
    // The scalar unit holds the thread, or a read of configuration, which is counted with it.
    if (thread_free[size_t(thread)] > cycle) return {Why::OCCUPIED + uint32_t(Unit::Scalar), entry.pc};
    if (blocked(thread, unit, entry.word)) {
        const Latch& latch = latches[size_t(thread)];
        for (uint32_t n = 0; latch.semaphores && n < 8; ++n)
            if (latch.semaphores >> n & 1) return {Why::SEMAPHORE + n, latch.entry.pc};
        // Of several conditions the first that holds; in the cycle in which the latch goes none does.
        for (int bit = 0; bit < 15; ++bit)
            if ((latch.conditions >> bit & 1) && condition(bit, thread))
                return {Why::CONDITION + uint32_t(bit), latch.entry.pc};
        return {Why::CONDITION + 15, latch.entry.pc};
    }
    if (unit == Unit::Sync) return {Why::MUTEX, entry.pc};
    // Asking the scalar unit again would make it try again.
    if (unit == Unit::Scalar)
        return {scalar_holder == thread ? uint32_t(Why::SCALAR_MEMORY) : Why::OCCUPIED + uint32_t(unit), entry.pc};
    if (units[size_t(unit)].free_at > cycle) return {Why::OCCUPIED + uint32_t(unit), entry.pc};
    Timing timing;
    // A word that a unit would take, but for another thread's that came first.
    if (may_accept(thread, unit, timing)) return {Why::OCCUPIED + uint32_t(unit), entry.pc};
    switch (unit) {
        case Unit::Vector: return {Why::REGISTERS, entry.pc};
        case Unit::Matrix: return {matrix::ready(state, entry.word, thread) ? Why::ROWS : Why::SOURCES, entry.pc};
        case Unit::Unpack0:
        case Unit::Unpack1:
            if (!unpackers[unit == Unit::Unpack1].empty() || unpack_setup > cycle)
                return {Why::OCCUPIED + uint32_t(unit), entry.pc};
            return {unpack::ready(state, entry.word, thread) ? Why::ROWS : Why::SOURCES, entry.pc};
        case Unit::Pack:
            return {pack_ready(entry.word) ? uint32_t(Why::ROWS) : Why::OCCUPIED + uint32_t(unit), entry.pc};
        default: return {Why::OCCUPIED + uint32_t(unit), entry.pc};
    }
}

}  // namespace polyloom::tensix
