// SPDX-License-Identifier: Apache-2.0
// Harts of the Minion under the sanitizers: random words in every privilege, with random page tables and handlers. What
// results should be is told by the tests in Python; here it matters that nothing else is touched, and that the same run
// is the same.
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "minion/chip.hpp"
#include "tests/expect.hpp"

using namespace polyloom::minion;

constexpr uint64_t CODE = Memory::DRAM + 0x1000, HANDLER = CODE + 0x1000, TABLES = Memory::DRAM + 0x900000;

static uint32_t csr(unsigned number, unsigned rd, unsigned rs1, unsigned f3) {
    return number << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x73;
}

// Words of all opcodes that the machine has, of control registers above all, and of none.
static uint32_t random_word(std::mt19937& random) {
    static constexpr unsigned OPCODES[] = {0x03, 0x07, 0x0b, 0x0f, 0x13, 0x17, 0x1b, 0x1f, 0x23,
                                           0x27, 0x33, 0x37, 0x3b, 0x3f, 0x43, 0x47, 0x4b, 0x4f,
                                           0x53, 0x5b, 0x5f, 0x63, 0x67, 0x6f, 0x73, 0x77, 0x7b};
    static constexpr unsigned REGISTERS[] = {0x001, 0x003, 0x100, 0x105, 0x141, 0x180, 0x300, 0x302, 0x304, 0x305,
                                             0x341, 0x344, 0x7c0, 0x7d0, 0x7d3, 0x7e0, 0x7f9, 0x7fb, 0x7fd, 0x7ff,
                                             0x800, 0x801, 0x802, 0x803, 0x804, 0x805, 0x806, 0x808, 0x810, 0x81f,
                                             0x820, 0x830, 0x83f, 0x840, 0x85f, 0x87f, 0x89f, 0x8bf, 0x8df, 0x8ff};
    static constexpr uint32_t PRIVILEGED[] = {0x30200073, 0x10200073, 0x12000073, 0x00000073, 0x00100073, 0x0000100f};
    const unsigned kind = random() % 16;
    if (kind < 4) return csr(REGISTERS[random() % std::size(REGISTERS)], random() % 32, random() % 32, random() % 8);
    if (kind == 4) return PRIVILEGED[random() % std::size(PRIVILEGED)];
    if (kind == 5) return random();
    return (random() & ~0x7fu) | OPCODES[random() % std::size(OPCODES)];
}

static void put(Chip& chip, uint64_t address, uint64_t value, unsigned size) {
    expect(chip.memory.write(address, size, reinterpret_cast<const uint8_t*>(&value)), "memory is there");
}

// Registers get addresses of DRAM, scratchpads, ESRs and nowhere; pages of 2 MiB and 4 KiB lead anywhere.
static void load(Chip& chip, std::mt19937& random) {
    std::vector<uint32_t> code;
    const auto lui = [&](unsigned rd, uint32_t value) { code.push_back((value & 0xfffff000) | rd << 7 | 0x37); };
    for (unsigned rd = 1; rd < 32; ++rd) lui(rd, random());
    code.insert(code.end(), {0x00006337, 0x30032073});  // floats on
    code.insert(code.end(), {0x00002297, 0x30529073});  // mtvec: two pages on
    while (code.size() < 1024) code.push_back(random_word(random));
    for (size_t n = 0; n < code.size(); ++n) put(chip, CODE + 4 * n, code[n], 4);
    for (unsigned n = 0; n < 64; ++n) put(chip, CODE + 0x2000 + 4 * n, random_word(random), 4);
    for (unsigned n = 0; n < 512; ++n) {
        const uint64_t page = random() % 2 ? Memory::DRAM >> 12 : random() & 0xfffffff;
        put(chip, TABLES + 8 * n, page << 10 | (random() & 0xff), 8);
    }
}

static std::string told(unsigned seed, bool timed) {
    std::mt19937 random(seed);
    Options options;
    options.minions = 1 + seed % 3, options.timed = timed, options.hazards = Response(seed % 4);
    options.max_cycles = 20000;
    Chip chip(options);
    load(chip, random);
    const Result result = chip.run(CODE);
    return std::to_string(int(result.stop)) + " " + std::to_string(result.cycles) + " " +
           std::to_string(result.instructions) + " " + std::to_string(result.pc) + " " + std::to_string(result.cause) +
           " " + std::to_string(chip.findings.all().size());
}

static void random_words() {
    for (unsigned seed = 0; seed < 300; ++seed) {
        const bool timed = seed % 2;
        expect(told(seed, timed) == told(seed, timed), "run " + std::to_string(seed) + " is the same again");
    }
}

static void memory_ends() {
    Memory memory(Member::et_soc_1, 1, 1 << 20);
    uint8_t bytes[64] = {1};
    expect(memory.write(Memory::DRAM + Memory::DRAM_BYTES - 64, 64, bytes), "the last line of DRAM");
    expect(!memory.write(Memory::DRAM + Memory::DRAM_BYTES - 63, 64, bytes), "nothing behind it");
    expect(memory.write(Memory::SCRATCHPAD + (1 << 20) - 64, 64, bytes), "the last line of a scratchpad");
    expect(!memory.at(Memory::SCRATCHPAD + (1 << 20) - 63, 64), "nothing behind it");
    expect(!memory.at(Memory::SCRATCHPAD + Memory::SCRATCHPAD_PITCH, 1), "no second shire");
    expect(!memory.at(Memory::SCRATCHPAD - 1, 1) && !memory.at(~uint64_t(0), 8), "nothing elsewhere");
    for (uint64_t offset = 0; offset < uint64_t(1) << 23; offset += 4093) {
        // Format 1 of any offset is one place of format 0.
        const uint64_t place = memory.canonical(Memory::SCRATCHPAD + Memory::INTERLEAVED + offset, 0);
        const uint64_t shire = offset >> 6 & 31, line = offset >> 11;
        expect(place == Memory::SCRATCHPAD + shire * Memory::SCRATCHPAD_PITCH + line * 64 + offset % 64, "format 1");
    }
}

int main() {
    memory_ends();
    random_words();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
