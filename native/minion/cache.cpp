// SPDX-License-Identifier: Apache-2.0
// Time of what goes to memory for a hart's own instructions: lines that miss L1, and cache operations, whose end
// tensor_wait 4, 5 or 6 waits for.
#include <algorithm>

#include "chip.hpp"

namespace polyloom::minion {

Answer Chip::fetch(HartState& h, uint64_t address, Traffic use, uint64_t& there) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    const Served served = fabric.line(h.now, h.number / 2, address, use);
    there = served.there;
    trace_line(h.number / 2, address, served, h.pc);
    return riscv::DONE;
}

Answer Chip::cache(HartState& h, CacheOperation what, unsigned level, unsigned id, uint64_t address, unsigned count,
                   uint64_t stride) {
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    if (!options.timed) return riscv::DONE;
    const bool far = what == CacheOperation::prefetch && level > 0;
    uint64_t& until = units[h.number / 2].operations[h.number & 1][far ? id & 1 : 2];
    const Traffic traffic =
        what == CacheOperation::prefetch || what == CacheOperation::lock ? Traffic::load : Traffic::cache;
    for (unsigned n = 0; n < count; ++n) {
        const Served served = fabric.line(h.now + n, h.number / 2, address + n * stride, traffic);
        until = std::max(until, served.there);
        trace_line(h.number / 2, address + n * stride, served, h.pc);
    }
    return riscv::DONE;
}

}  // namespace polyloom::minion
