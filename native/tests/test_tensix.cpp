// SPDX-License-Identifier: Apache-2.0
// A tile under the sanitizers: words of every unit and random ones, cores, faults and deadlocks. What results should be
// is told by the tests in Python; here it matters that nothing else is touched, and that the same run is the same.
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tensix/tile.hpp"
#include "tests/expect.hpp"

using namespace polyloom::tensix;

static void a_vector_addition() {
    Tile tile;
    for (const Word word : {0x71003f80u, 0x8500ab00u | 2u << 4, 0x8f000000u}) tile.push(1, word);
    expect(tile.run(1000) == Stop::Idle, "words come to an end");
    expect(tile.cycles == 6 && tile.state.vector.registers[0][31] == 0x3f800000, "in their cycles");
}

static void a_core_pushes() {
    Tile tile;
    // lui t0, 0xffe40; lui t1, 0x2000; sw t1, 0(t0), forty times; a word of its own; ebreak
    std::vector<uint32_t> code{0xffe402b7, 0x02000337};
    code.insert(code.end(), 40, 0x0062a023);
    code.push_back(0x08000000), code.push_back(0x00100073);
    std::memcpy(tile.state.l1.data() + 0x6000, code.data(), 4 * code.size());
    tile.release(1);
    expect(tile.run(10000) == Stop::Idle && tile.fronts[0].passed.in == 41, "a core pushes its words");
    tile.hold(1), tile.release(1, 0x6000);
    expect(tile.run(10000) == Stop::Idle && tile.fronts[0].passed.in == 82, "and again after a reset");
}

static void all_cores_run_random_words() {
    std::mt19937 random(1);
    Tile tile(Member::Wormhole, Policy::Report);
    for (int round = 0; round < 200; ++round) {
        for (uint32_t at = 0; at < 0x400; at += 4) {
            const uint32_t word = random();
            for (const uint32_t base : {0u, 0x6000u, 0xa000u, 0xe000u, 0x12000u})
                std::memcpy(tile.state.l1.data() + base + at, &word, 4);
        }
        for (int core = 0; core < CORES; ++core) tile.release(core);
        tile.run(500);
    }
}

static std::string told(unsigned seed) {
    std::mt19937 random(seed);
    Tile tile(seed % 5 ? Member::Wormhole : Member::Blackhole, Policy::Report);
    static constexpr uint32_t OPCODES[] = {0x01, 0x03, 0x04, 0x10, 0x12, 0x13, 0x26, 0x27, 0x28, 0x37, 0x38, 0x41,
                                           0x42, 0x45, 0x48, 0x49, 0x50, 0x51, 0x55, 0x57, 0x58, 0x5b, 0x5e, 0x61,
                                           0x63, 0x66, 0x70, 0x71, 0x72, 0x79, 0x84, 0x8e, 0x91, 0x92, 0x93, 0x94,
                                           0x95, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xb0, 0xb1, 0xb2, 0xb3};
    for (int n = 0; n < 400; ++n) {
        const uint32_t op = n % 8 ? OPCODES[random() % std::size(OPCODES)] : random() % 256;
        tile.push(int(random() % THREADS), op << 24 | (random() & 0xffffff));
    }
    std::string all;
    for (int n = 0; n < 20; ++n) {
        const Stop stop = tile.run(5000);
        all += std::to_string(int(stop)) + " " + std::to_string(tile.cycles) + "\n";
        if (tile.fault) all += tile.fault->text + "\n";
        // The offending word goes, and the rest goes on.
        if (stop == Stop::Fault || stop == Stop::Deadlock)
            for (Front& front : tile.fronts)
                if (!front.gate.empty()) front.gate.pop();
        for (Latch& latch : tile.latches) latch.on = false;
    }
    return all + std::to_string(tile.findings.size());
}

int main() {
    a_vector_addition();
    a_core_pushes();
    all_cores_run_random_words();
    for (unsigned seed = 0; seed < 60; ++seed) expect(told(seed) == told(seed), "the same words, the same run");
    if (failures == 0) std::printf("ok\n");
    return failures != 0;
}
