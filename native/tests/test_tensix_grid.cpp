// SPDX-License-Identifier: Apache-2.0
// A grid of tiles under the sanitizers: random requests of cores to both NoCs, valid ones and others. What they should
// do is told by the tests in Python; here it matters that nothing else is touched, and that the same run is the same.
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tensix/grid.hpp"
#include "tests/expect.hpp"

using namespace polyloom::tensix;

// lui and addi of `value` to a register, and a store of it at an offset of another one.
static void load(std::vector<uint32_t>& code, uint32_t to, uint32_t value) {
    code.push_back(((value + 0x800) & 0xfffff000) | to << 7 | 0x37);
    code.push_back((value & 0xfff) << 20 | to << 15 | to << 7 | 0x13);
}
static void store(std::vector<uint32_t>& code, uint32_t base, uint32_t at, uint32_t from) {
    code.push_back((at >> 5) << 25 | from << 20 | base << 15 | 2 << 12 | (at & 31) << 7 | 0x23);
}

static uint32_t coordinates(std::mt19937& random, const std::vector<uint32_t>& places, int noc) {
    if (random() % 200 == 0) return random() & 0xffff;
    uint32_t place = places[random() % places.size()];
    if (random() % 8 == 0) place = 5 + 10 * (random() % 12);
    const uint32_t node = node_on(noc, place);
    return node % WIDTH << 4 | node / WIDTH << 10;
}

// Two initiators of each NIU are B's, two NC's.
static std::vector<uint32_t> requests(std::mt19937& random, const std::vector<uint32_t>& places, uint32_t own,
                                      uint32_t first) {
    std::vector<uint32_t> code;
    const int count = 1 + int(random() % 2);
    for (int n = 0; n < count; ++n) {
        const int noc = int(random() % 2);
        const uint32_t node = node_on(noc, own), here = node % WIDTH << 4 | node / WIDTH << 10;
        const uint32_t CONTROLS[] = {0, 0, 1, 17, 2, 2, 18, 10, 26, 6, 34, 50, 42, 33, 131106, random() % 20 ? 0u : 3u};
        const uint32_t control = CONTROLS[random() % std::size(CONTROLS)] | (random() % 2 ? 128 : 0);
        const uint32_t there = coordinates(random, places, noc) | coordinates(random, places, noc) << 12;
        const bool swaps = (control & 2) && !(control & 8);
        const uint32_t address = 0x20000 + random() % 0x1000 * 16, low = random() % 60 ? 0 : random() % 16;
        uint32_t length = random() % 3 ? random() % 400 : random() % 20000;
        if (control & 1) length = (1u << 12 | 31 << 2) ^ (random() % 20 ? 0 : random() & 0x7fff);
        load(code, 5, 0xffb20000 + 0x10000 * uint32_t(noc) + 0x400 * (first + uint32_t(n)));
        const uint32_t values[][2] = {{0, address + low},
                                      {4, swaps ? here : there},
                                      {12, address + 0x20000 + low},
                                      {16, swaps ? there : here},
                                      {24, uint32_t(random() & 15) << 10},
                                      {28, control},
                                      {32, length},
                                      {36, uint32_t(random())},
                                      {40, 1}};
        for (const auto& [at, value] : values) load(code, 6, value), store(code, 5, at, 6);
    }
    code.push_back(0x00100073);
    return code;
}

static std::string told(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint32_t> places;
    for (const uint32_t place : {11u, 12u, 24u, 118u, 89u, 46u})
        if (places.empty() || random() % 3) places.push_back(place);
    Grid grid(places, Policy::Report, 1 << 20, 16 + random() % 17, 1 + random() % 200);
    for (Channel& each : grid.network.channels)
        for (uint8_t& byte : each.memory) byte = uint8_t(random());
    for (size_t n = 0; n < places.size(); ++n) {
        Tile& tile = *grid.tiles[n];
        for (uint32_t at = 0x20000; at < 0x50000; ++at) tile.state.l1[at] = uint8_t(random());
        for (const int core : {B, NC}) {
            const std::vector<uint32_t> code = requests(random, places, places[n], core == B ? 0 : 2);
            std::memcpy(tile.state.l1.data() + (core == B ? 0 : 0x12000), code.data(), 4 * code.size());
            tile.release(core);
        }
    }
    std::string text;
    uint64_t sum = 14695981039346656037u;
    for (Stop stop = Stop::MaxCycles; stop == Stop::MaxCycles;) {
        stop = grid.run(seed % 2 ? 100'000 : 1000);
        if (stop == Stop::MaxCycles && seed % 2) break;
        if (stop == Stop::Fault) text += grid.tiles[grid.faulty]->fault->text;
        if (stop == Stop::Idle) text += "idle";
        text += std::to_string(grid.cycle) + ";";
    }
    for (const auto& tile : grid.tiles)
        for (const uint8_t byte : tile->state.l1) sum = (sum ^ byte) * 1099511628211u;
    return text + std::to_string(sum);
}

int main() {
    int idle = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const std::string first = told(seed);
        idle += first.find("idle") != std::string::npos;
        if (seed % 6 == 0) expect(first == told(seed), "the same run is the same: " + std::to_string(seed));
    }
    expect(idle > 5 && idle < 60, "some requests are valid, some are not: " + std::to_string(idle));
    if (!failures) std::printf("ok\n");
    return failures != 0;
}
