// SPDX-License-Identifier: Apache-2.0
// The sync unit and the wait gate's latches: mutexes, semaphores, STALLWAIT and SEMWAIT. Source: facts 1.4.
#include <algorithm>

#include "tile.hpp"

namespace polyloom::tensix {

namespace {

enum : uint32_t { ATGETM = 0xa0, ATRELM, STALLWAIT, SEMINIT, SEMPOST, SEMGET, SEMWAIT };
constexpr uint32_t DEFAULT_CONDITIONS = 0x7f, DEFAULT_BLOCKS = 1u << 6, ALL_BLOCKS = 0x1ff;

bool exists(uint32_t mutex) { return mutex < 8 && mutex != 1; }

// The bits of a block mask of which one suffices to block a unit's instructions.
constexpr uint32_t blocking(Unit unit) {
    switch (unit) {
        case Unit::Misc: return 1u << 0;
        case Unit::Sync: return 1u << 1;
        case Unit::Pack: return 1u << 0 | 1u << 2;
        case Unit::Unpack0:
        case Unit::Unpack1: return 1u << 0 | 1u << 3;
        case Unit::Mover: return 1u << 0 | 1u << 4;
        case Unit::Scalar: return 1u << 0 | 1u << 5;
        case Unit::Matrix: return 1u << 6;
        case Unit::Config: return 1u << 7;
        case Unit::Vector: return 1u << 8;
        default: return 0;
    }
}

}  // namespace

bool Tile::blocked(int thread, Unit unit, Word word) const {
    const Latch& latch = latches[size_t(thread)];
    if (!latch.on) return false;
    if (unit == Unit::Nothing) return latch.blocks == ALL_BLOCKS;
    if (opcode(word) == STALLWAIT) return true;
    // Of waits Wormhole lets a SEMWAIT replace the one before, Blackhole none: the members' pages of STALLWAIT.
    if (opcode(word) == SEMWAIT && state.member == Member::Blackhole) return true;
    return latch.blocks & blocking(unit);
}

bool Tile::condition(int bit, int thread) const {
    const auto& flight = in_flight[size_t(thread)];
    const MatrixState& m = state.matrix;
    const auto in = [&](Unit unit) { return flight[size_t(unit)] > cycle; };
    const auto unpacks = [&](size_t unit) {
        for (const UnpackWork& work : unpackers[unit])
            if (work.job.plan.thread == thread) return true;
        return false;
    };
    switch (bit) {
        case 0: return memory_until[size_t(thread)] > cycle;
        case 1: return unpacks(0) || in(Unit::Unpack0);
        case 2: return unpacks(1) || in(Unit::Unpack1);
        case 3:
        case 4:
        case 5:
        case 6: return packers[size_t(bit - 3)] && packers[size_t(bit - 3)]->job.thread == thread;
        case 7: return in(Unit::Matrix);
        case 8: return m.a[size_t(m.a_unpack)].with_matrix;
        case 9: return m.b[size_t(m.b_unpack)].with_matrix;
        case 10: return !m.a[size_t(m.a_matrix)].with_matrix;
        case 11: return !m.b[size_t(m.b_matrix)].with_matrix;
        case 13: return !config_requests[size_t(thread) + 1].empty();
        case 14: return in(Unit::Vector);
        default: return false;  // the mover executes nothing
    }
}

// Whether what the latch waits for has not come yet.
bool Tile::holds_back(const Latch& latch, int thread) const {
    if (!latch.semaphores) {
        for (int bit = 0; bit < 15; ++bit)
            if ((latch.conditions >> bit & 1) && condition(bit, thread)) return true;
        return false;
    }
    for (size_t n = 0; n < 8; ++n) {
        if (!(latch.semaphores >> n & 1)) continue;
        const Semaphore& semaphore = state.sync.semaphores[n];
        if ((latch.conditions & 1) && semaphore.value == 0) return true;
        if ((latch.conditions & 2) && semaphore.value >= semaphore.most) return true;
    }
    return false;
}

// A latch goes one cycle after what it waits for has come.
void Tile::move_latches() {
    for (int thread = 0; thread < THREADS; ++thread) {
        Latch& latch = latches[size_t(thread)];
        if (!latch.on) continue;
        if (latch.ends) {
            latch.on = latch.ends = false, moved = true;
        } else if (!holds_back(latch, thread)) {
            latch.ends = moved = true;
        }
    }
}

bool Tile::may_sync(int thread, Word word) const {
    if (opcode(word) != ATGETM) return true;
    const uint32_t index = field(word, 15, 0);
    if (!exists(index)) return false;
    const int owner = state.sync.owner[index];
    if (owner == thread) return true;
    if (owner >= 0) return false;
    // Free: the first that asks, from the thread behind the last owner on.
    for (int n = 1; n <= THREADS; ++n) {
        const int other = (mutex_last[index] + n) % THREADS;
        if (other == thread) return true;
        const Front& front = fronts[size_t(other)];
        if (front.gate.empty()) continue;
        const Word asked = front.gate.front().word;
        if (opcode(asked) == ATGETM && field(asked, 15, 0) == index && !blocked(other, Unit::Sync, asked)) return false;
    }
    return true;
}

// STALLWAIT's conditions as Wormhole numbers them. Blackhole has twelve: one for all packers. Source: the public names
// of its conditions.
uint32_t Tile::conditions_of(const Entry& entry, int thread) {
    const uint32_t asked = field(entry.word, 14, 0);
    if (state.member == Member::Wormhole) return asked;
    if (asked >> 12)
        context(entry).fault("not-modelled", thread, entry.word, "STALLWAIT has twelve conditions that are modelled");
    static constexpr int WORMHOLE[12] = {0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14};
    uint32_t made = 0;
    for (int bit = 0; bit < 12; ++bit)
        if (asked >> bit & 1) made |= bit == 3 ? 0xfu << 3 : 1u << WORMHOLE[bit];
    return made;
}

void Tile::execute_sync(const Entry& entry, int thread) {
    const Word word = entry.word;
    auto& semaphores = state.sync.semaphores;
    const uint32_t chosen = field(word, 9, 2);
    Latch& latch = latches[size_t(thread)];
    switch (opcode(word)) {
        case ATGETM: {
            const uint32_t index = field(word, 15, 0);
            state.sync.owner[index] = thread, mutex_last[index] = int8_t(thread);
            return;
        }
        case ATRELM: {
            const uint32_t index = field(word, 15, 0);
            if (!exists(index))
                context(entry).fault("no-such-mutex", thread, word, "ATRELM of a mutex that does not exist",
                                     "the mutexes are 0 and 2 to 7");
            if (state.sync.owner[index] == thread) state.sync.owner[index] = -1;
            return;
        }
        case SEMINIT:
            for (size_t n = 0; n < 8; ++n)
                if (chosen >> n & 1) semaphores[n] = {field(word, 19, 16), field(word, 23, 20)};
            return;
        case SEMPOST:
            for (size_t n = 0; n < 8; ++n)
                if ((chosen >> n & 1) && semaphores[n].value < 15) ++semaphores[n].value;
            return;
        case SEMGET:
            for (size_t n = 0; n < 8; ++n)
                if ((chosen >> n & 1) && semaphores[n].value > 0) --semaphores[n].value;
            return;
        case STALLWAIT:
            latch = {true, false, field(word, 23, 15), conditions_of(entry, thread), 0, entry};
            if (!latch.conditions) latch.conditions = DEFAULT_CONDITIONS;
            break;
        case SEMWAIT:
            latch = {true, false, field(word, 23, 15), field(word, 1, 0), chosen, entry};
            if (!latch.conditions)
                latch.conditions = DEFAULT_CONDITIONS, latch.semaphores = 0;
            else if (!chosen)
                latch.conditions = 0;  // of no semaphore: nothing to wait for
            break;
        default: context(entry).fault("not-modelled", thread, word, "this sync instruction is not modelled");
    }
    if (!latch.blocks) latch.blocks = DEFAULT_BLOCKS;
}

}  // namespace polyloom::tensix
