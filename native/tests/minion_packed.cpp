// SPDX-License-Identifier: Apache-2.0
// Every packed instruction on random fields, registers, masks and addresses, on both sides of the ends of memory: no
// access leaves it, and nothing is undefined.
#include <cstdio>
#include <random>
#include <vector>

#include "minion/packed_lone.hpp"

using namespace polyloom;

int main() {
    std::mt19937_64 random(19);
    std::vector<uint8_t> bytes(512);
    unsigned traps = 0, done = 0;
    for (const minion::PackedRow& row : minion::PACKED_ROWS) {
        for (unsigned turn = 0; turn < 200; ++turn) {
            minion::packed::Surroundings around;
            around.state.gsc_progress = uint8_t(random() % 8);
            for (uint8_t& m : around.state.m) m = uint8_t(random());
            const uint32_t word = row.match | (uint32_t(random()) & ~row.mask);
            uint8_t code[4];
            std::memcpy(code, &word, 4);
            minion::packed::LoneHart lone(around, code, 4, riscv::Span(4096, bytes.size(), bytes.data()));
            for (uint64_t& x : lone.hart.x) x = 4096 + random() % (bytes.size() + 64) - 32;
            for (auto& f : lone.hart.f)
                for (uint32_t& lane : f.lane) lane = uint32_t(turn % 2 ? random() : random() % 64);
            lone.hart.flags = uint8_t(random() & 63), lone.hart.rounding = uint8_t(random() % 5);
            const riscv::Outcome outcome = lone.hart.run(0, 4, 1);
            ++(outcome.executed ? done : traps);
        }
    }
    std::printf("%u executed, %u trapped\n", done, traps);
    return done && traps ? 0 : 1;
}
