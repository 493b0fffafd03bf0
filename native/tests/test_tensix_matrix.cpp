// SPDX-License-Identifier: Apache-2.0
// The matrix unit, the unpackers, the packers and their counters under sanitizers: random words on random states. Each
// executes or faults; none reaches outside what it may. Timing and readiness are asked of each before.
#include <cstdio>
#include <random>

#include "tensix/unit.hpp"

using namespace polyloom::tensix;
using Random = std::mt19937;

static constexpr uint32_t MATRIX[] = {0x08, 0x0A, 0x10, 0x11, 0x12, 0x13, 0x16, 0x26, 0x27,
                                      0x28, 0x30, 0x33, 0x34, 0x36, 0x37, 0x38, 0x57};
static constexpr uint32_t COUNTERS[] = {0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x5E};

// Configuration whose addresses and sizes are small half of the time, so that much of it executes.
static void fill(State& state, Random& random) {
    for (auto& bank : state.config.banks)
        for (uint32_t& word : bank) word = random() & (random() % 2 ? 0xFFFFFFFF : 0x00070013);
    for (auto& thread : state.config.thread)
        for (uint32_t& word : thread) word = random() & (random() % 2 ? 0xFFFF : 0x0007);
    for (auto& bank : state.config.banks) {
        bank[1] &= ~5u, bank[2] &= ~1u;
        for (const int at : {52, 92}) bank[at] |= 1u << 4, bank[at + 8] &= ~(3u << 12), bank[at + 9] |= 0x000F000F;
        for (const int at : {58, 86, 98, 126}) bank[at] = (bank[at] | 1u) & ~(1u << 16), bank[at + 1] = 0;
        for (const int at : {64, 104}) bank[at] &= 0xFFF;
    }
    for (auto* banks : {&state.matrix.a, &state.matrix.b})
        for (SourceBank& bank : *banks)
            for (auto& row : bank.rows)
                for (uint32_t& datum : row) datum = random() & 0x7FFFF;
    for (auto& row : state.matrix.dst)
        for (uint16_t& datum : row) datum = uint16_t(random());
}

// Few datums at a time: a hundred thousand of them would be the same again.
static void shorten(State& state) {
    for (auto& thread : state.counters)
        for (AddressCounter& of : thread)
            for (uint32_t& x : of.x) x &= 0xFF;
}

static Word word(Random& random) {
    const uint32_t rest = random() & 0xFFFFFF;
    switch (random() % 5) {
        case 0: return (0x42u + random() % 2) << 24 | (rest & ~2u);
        case 1: return 0x41u << 24 | rest;
        case 2: return COUNTERS[random() % std::size(COUNTERS)] << 24 | (rest & ~0xFFC00u);
        default: return MATRIX[random() % std::size(MATRIX)] << 24 | rest;
    }
}

template <auto Timed, auto Ready, auto Execute>
static void act(State& state, Word w, int thread, Context& context) {
    (void)Timed(state, w, thread);
    (void)Ready(state, w, thread);
    Execute(state, w, thread, context);
}

int main() {
    Random random(1);
    State state;
    Context context;
    unsigned executed = 0, faults = 0;
    for (int k = 0; k < 20'000; ++k) {
        if (k % 100 == 0) fill(state, random);
        const Word w = word(random);
        const int thread = int(random() % 3);
        shorten(state);
        const uint32_t op = opcode(w);
        try {
            if (op == 0x41)
                act<pack::timing, pack::ready, pack::execute>(state, w, thread, context);
            else if (op == 0x42 || op == 0x43)
                act<unpack::timing, unpack::ready, unpack::execute>(state, w, thread, context);
            else if (op >= 0x50 && op != 0x57)
                counters::execute(state, w, thread, context);
            else
                act<matrix::timing, matrix::ready, matrix::execute>(state, w, thread, context);
            ++executed;
        } catch (const Fault&) {
            ++faults;
        }
    }
    std::printf("%u executed, %u faulted\n", executed, faults);
    return executed > 10'000 && faults > 100 ? 0 : 1;
}
