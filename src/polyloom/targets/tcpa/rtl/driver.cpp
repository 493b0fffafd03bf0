// SPDX-License-Identifier: Apache-2.0
// The test bench of the array: reads runs from standard input, writes the words of each over the configuration bus, and
// writes what it sees, one record of five numbers for each event, to standard output. `circuit.h` is what a simulator
// calls its ports: that of Verilator, or that of CXXRTL.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "circuit.h"
#include "sizes.h"

namespace {

enum Event : uint32_t { issue, result, bank_write, fault, bank_fault, ended, finished };

struct Record {
    uint32_t event, cycle, place, first, second;
};

// Calls `visit` with the number of every bit that is 1.
template <class Port, class Visit>
void each(const Port& port, unsigned width, Visit visit) {
    for (unsigned low = 0; low < width; low += 32)
        for (uint64_t word = bits(port, low, width - low < 32 ? width - low : 32); word; word &= word - 1)
            visit(low + unsigned(__builtin_ctzll(word)));
}

// The clock is low, and all wires have settled.
void settle(Circuit& array) {
    set(PORT(array, clk), 0);
    evaluate(array);
}

void tick(Circuit& array) {
    settle(array);
    set(PORT(array, clk), 1);
    evaluate(array);
}

uint64_t number(unsigned bytes) {
    uint64_t value = 0;
    if (std::fread(&value, 1, bytes, stdin) != bytes) std::exit(1);
    return value;
}

// One run: what the bus carries, whether the circuit is cleared before, and what is seen until it ends or faults.
void run(Circuit& array, std::vector<Record>& records) {
    const uint64_t most = number(8), observed = number(8), whole = number(8);
    // A circuit keeps its configuration, and loses the state of a run.
    set(PORT(array, reset), 1);
    set(PORT(array, clear), whole);
    tick(array);
    tick(array);
    set(PORT(array, clear), 0);
    set(PORT(array, load), 1);
    for (uint64_t left = number(8); left; --left) {
        set(PORT(array, load_address), number(8));
        set(PORT(array, load_word), number(4));
        tick(array);
    }
    set(PORT(array, load), 0);
    // What the bus carries without `load` does not count: here, another class for the first element.
    set(PORT(array, load_address), 0);
    set(PORT(array, load_word), 0xffffffff);
    // The last word passes a register; from it a run begins.
    tick(array);
    tick(array);
    set(PORT(array, reset), 0);
    // Until every wire knows whether something drives it.
    for (unsigned n = 0; n < SETTLE; ++n) tick(array);
    const std::clock_t begin = std::clock();
    set(PORT(array, run), 1);
    settle(array);
    bool failed = false;
    // `run` passes three registers before cycle 0.
    for (int64_t now = -3; now < int64_t(most) && !failed && !bits(PORT(array, ended), 0, 1); ++now) {
        const auto note = [&](Event event, unsigned place, uint64_t first, uint64_t second) {
            records.push_back({event, uint32_t(now), place, uint32_t(first), uint32_t(second)});
        };
        if (observed) {
            each(PORT(array, issue), ELEMENTS * UNITS,
                 [&](unsigned n) { note(issue, n, bits(PORT(array, pc), n * 16, 16), 0); });
            each(PORT(array, done), ELEMENTS * LANES,
                 [&](unsigned n) { note(result, n, bits(PORT(array, value), n * 32, 32), 0); });
            each(PORT(array, write), BANKS, [&](unsigned n) {
                note(bank_write, n, bits(PORT(array, write_address), n * 32, 32),
                     bits(PORT(array, write_value), n * 32, 32));
            });
        }
        each(PORT(array, fault), ELEMENTS * 32, [&](unsigned n) { note(fault, n / 32, n % 32, 0), failed = true; });
        each(PORT(array, bank_fault), BANKS * 32,
             [&](unsigned n) { note(bank_fault, n / 32, n % 32, 0), failed = true; });
        tick(array);
        if (bits(PORT(array, ended), 0, 1)) {
            settle(array);
            each(PORT(array, fault), ELEMENTS * 32, [&](unsigned n) { note(fault, n / 32, n % 32, 1); });
            note(ended, 0, uint64_t(double(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC), 0);
        }
    }
    set(PORT(array, run), 0);
    records.push_back({finished, 0, 0, 0, 0});
}

}  // namespace

int main() {
    Circuit array;
    std::vector<Record> records;
    for (uint64_t left = number(8); left; --left) run(array, records);
    std::fwrite(records.data(), sizeof(Record), records.size(), stdout);
    return std::fflush(stdout);
}
