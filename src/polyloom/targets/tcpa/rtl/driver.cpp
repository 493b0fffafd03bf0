// SPDX-License-Identifier: Apache-2.0
// The test bench of the array under Verilator: writes the words of standard input over the configuration bus, runs, and
// writes what it sees, one record of five numbers for each event, to standard output.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "Varray.h"
#include "sizes.h"
#include "verilated.h"

namespace {

enum Event : uint32_t { issue, result, bank_write, fault, bank_fault, ended };

struct Record {
    uint32_t event, cycle, place, first, second;
};

template <class T>
uint64_t bits(const T& port, unsigned low, unsigned width) {
    return uint64_t(port) >> low & ((uint64_t(1) << width) - 1);
}

template <std::size_t Words>
uint64_t bits(const VlWide<Words>& port, unsigned low, unsigned width) {
    uint64_t value = port[low / 32];
    if (low / 32 + 1 < Words) value |= uint64_t(port[low / 32 + 1]) << 32;
    return value >> low % 32 & ((uint64_t(1) << width) - 1);
}

// Calls `visit` with the number of every bit that is 1.
template <class Port, class Visit>
void each(const Port& port, unsigned width, Visit visit) {
    for (unsigned low = 0; low < width; low += 32)
        for (uint64_t word = bits(port, low, width - low < 32 ? width - low : 32); word; word &= word - 1)
            visit(low + unsigned(__builtin_ctzll(word)));
}

uint64_t number(unsigned bytes) {
    uint64_t value = 0;
    if (std::fread(&value, 1, bytes, stdin) != bytes) std::exit(1);
    return value;
}

}  // namespace

int main() {
    Varray array;
    std::vector<Record> records;
    const auto tick = [&] {
        array.clk = 0;
        array.eval();
        array.clk = 1;
        array.eval();
    };
    const uint64_t most = number(8), observed = number(8);
    array.reset = 1;
    tick();
    tick();
    array.reset = 0;
    array.load = 1;
    for (uint64_t left = number(8); left; --left) {
        array.load_address = number(8);
        array.load_word = uint32_t(number(4));
        tick();
    }
    array.load = 0;
    // Until every wire knows whether something drives it.
    for (unsigned n = 0; n < SETTLE; ++n) tick();
    const std::clock_t begin = std::clock();
    array.run = 1;
    array.clk = 0;
    array.eval();
    bool failed = false;
    // `run` passes three registers before cycle 0.
    for (int64_t now = -3; now < int64_t(most) && !failed && !array.ended; ++now) {
        const auto note = [&](Event event, unsigned place, uint64_t first, uint64_t second) {
            records.push_back({event, uint32_t(now), place, uint32_t(first), uint32_t(second)});
        };
        if (observed) {
            each(array.issue, ELEMENTS * UNITS,
                 [&](unsigned n) { note(issue, n, bits(array.pc, n * PC_BITS, PC_BITS), 0); });
            each(array.done, ELEMENTS * LANES, [&](unsigned n) { note(result, n, bits(array.value, n * 32, 32), 0); });
            each(array.write, BANKS, [&](unsigned n) {
                note(bank_write, n, bits(array.write_address, n * BANK_BITS, BANK_BITS),
                     bits(array.write_value, n * 32, 32));
            });
        }
        each(array.fault, ELEMENTS * 18, [&](unsigned n) { note(fault, n / 18, n % 18, 0), failed = true; });
        each(array.bank_fault, BANKS * 18, [&](unsigned n) { note(bank_fault, n / 18, n % 18, 0), failed = true; });
        tick();
        if (array.ended) {
            array.clk = 0;
            array.eval();
            each(array.fault, ELEMENTS * 18, [&](unsigned n) { note(fault, n / 18, n % 18, 1); });
            note(ended, 0, uint64_t(double(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC), 0);
        }
    }
    std::fwrite(records.data(), sizeof(Record), records.size(), stdout);
    return std::fflush(stdout);
}
