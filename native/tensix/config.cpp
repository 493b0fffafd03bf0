// SPDX-License-Identifier: Apache-2.0
// The configuration unit: SETC16, WRCFG, RDCFG, RMWCIB0 to 3. A write becomes visible at the start of a later cycle:
// the next one, or the one after for WRCFG. Source: facts 1.6.
#include <algorithm>

#include "fields.hpp"
#include "opcodes.hpp"
#include "tile.hpp"

namespace polyloom::tensix {

namespace {

constexpr uint32_t RMWCIB0 = 0xb3, RMWCIB3 = 0xb6;
constexpr uint32_t STATE_RESET = 4, UNPACK_CONTEXTS = 39;

}  // namespace

Timing Tile::config_timing(Word word) const {
    Timing timing;
    timing.unit = Unit::Config;
    if (opcode(word) == WRCFG || opcode(word) == RDCFG) timing.latency = 2;
    return timing;
}

void Tile::write_config(int bank, uint32_t index, uint32_t mask, uint32_t value) {
    const Layout words = layout(state.member);
    for (int each = 0; each < 2; ++each) {
        if (each != bank && index < words.global) continue;
        uint32_t& word = state.config.banks[size_t(each)][index];
        word = (word & ~mask) | (value & mask);
    }
    if (index == words.seed) vector::seed(state.vector, state.config.banks[0][index]);
    if (index == STATE_RESET && mask == ~0u) std::fill_n(state.config.banks[size_t(bank)].begin(), words.global, 0);
}

// One store of a core to the configuration per cycle, where the unit has a slot for it.
void Tile::store_config() {
    if (wide_config + 1 == cycle) return;
    for (auto& requests : config_requests) {
        if (requests.empty() || requests.front().due > cycle) continue;
        const ConfigRequest request = requests.front();
        requests.erase(requests.begin()), --requested;
        write_config(request.bank, request.index, ~0u, request.value);
        config_slot = cycle, moved = true;
        return;
    }
}

void Tile::execute_config(const Entry& entry, int thread) {
    const Word word = entry.word;
    const uint32_t op = opcode(word);
    const int bank = int(state.config.thread[size_t(thread)][0] & 1);
    const Layout words = layout(state.member);
    const auto outside = [&] {
        context(entry).fault("no-such-config", thread, word, "this configuration word does not exist",
                             "a thread has words 0 to " + std::to_string(words.thread_words - 1) +
                                 ", each bank words 0 to " + std::to_string(words.bank_words - 1));
    };
    if (op == SETC16) {
        const uint32_t index = field(word, 23, 16);
        if (index >= words.thread_words) outside();
        if (index == UNPACK_CONTEXTS && state.member == Member::Wormhole)
            for (UnpackerState& each : state.unpackers) each.context[size_t(thread)] = 0;
        config_writes.push_back({cycle + 1, thread, 0, index, 0xffff, field(word, 15, 0)});
    } else if (op >= RMWCIB0 && op <= RMWCIB3) {
        const uint32_t index = field(word, 7, 0), shift = 8 * (op - RMWCIB0);
        if (index >= words.bank_words) outside();
        config_writes.push_back(
            {cycle + 1, -1, bank, index, field(word, 23, 16) << shift, field(word, 15, 8) << shift});
    } else if (op == WRCFG) {
        const uint32_t count = field(word, 15, 15) ? 4 : 1, from = field(word, 21, 16) & ~(count - 1);
        const uint32_t index = field(word, 10, 0) & ~(count - 1);
        if (index + count > words.bank_words) outside();
        for (uint32_t n = 0; n < count; ++n)
            config_writes.push_back({cycle + 2, -1, bank, index + n, ~0u, gpr(entry, thread, from + n)});
        slow_config.push_back({cycle, cycle + 2, entry, thread, false});
    } else if (op == RDCFG) {
        const uint32_t index = field(word, 10, 0);
        if (index >= words.bank_words) outside();
        put_gpr(thread, field(word, 21, 16), state.config.banks[size_t(bank)][index], ~0u, 2, entry);
    } else {
        context(entry).fault("not-modelled", thread, word, "this configuration instruction is not modelled");
    }
}

}  // namespace polyloom::tensix
