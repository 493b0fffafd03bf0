// SPDX-License-Identifier: Apache-2.0
// An unpacking instruction taken apart: what the configuration, the tile descriptor and the address counters of its
// thread say it reads, converts and writes; and the job that is left of it once it is accepted, which reads L1 line by
// line. Source: the public instruction page of UNPACR; facts 1.8.
#pragma once

#include <optional>
#include <string>

#include "dst.hpp"
#include "fields.hpp"
#include "formats.hpp"
#include "unit.hpp"

namespace polyloom::tensix::unpack {

constexpr uint32_t UNPACR = 0x42, UNPACR_NOP = 0x43;

struct Plan {
    int unit = 0, thread = 0, counters = 0;  // whose X and Y: `counters`; whose Z and W: `thread`
    uint32_t context = 0;
    bool contexts = false, to_dst = false, transposes = false;
    Format in{}, out{};
    uint64_t datums_bits = 0;           // where the datums start, in bits: datums may be 2 bits wide
    uint64_t exponents_sixteenths = 0;  // where the exponents start, a sixteenth of a byte per datum
    std::optional<uint8_t> forced_exponent;
    uint32_t count = 0, row_stride = 0;        // datums; bytes from row to row of 16
    uint32_t limit = 0, fifo = 0;              // bytes: addresses above `limit` wrap by `fifo`
    uint32_t out_datum = 0, column_shift = 0;  // where in Src or Dst, four rows on
    bool tileizes = false;
    const char* refusal = nullptr;  // what makes it undefined or not modelled
};

Plan plan(const State& state, Word word, int thread);

// What an accepted UNPACR has yet to move: datums in the order in which they lie in L1, in rows of 16 with their
// stride.
struct Job {
    Plan plan;
    Word word = 0;
    uint32_t done = 0;                      // datums
    uint64_t at = 0, exponent = 0;          // of the next one: in bits, and in sixteenths of a byte
    uint64_t exponent_line = ~uint64_t(0);  // that was read last
    uint32_t speed = 1;                     // lines of 16 bytes per cycle that it wants
    int bank = 0;
    uint32_t row = 0;  // of Src, added to the rows of the output
    bool zeros = false, is_unsigned = false, by_address = false, hands_over = false;

    [[nodiscard]] bool finished() const { return done == plan.count; }
    [[nodiscard]] uint64_t line() const { return at / 128; }
    // The line of exponents that the next datum needs and that is not there yet.
    [[nodiscard]] std::optional<uint64_t> missing_exponents() const;
};

// Accepts an instruction: counters and contexts go on, the bank is chosen. Nothing where it moves no data.
std::optional<Job> start(State& state, Word word, int thread, const Context& context);
// Moves the datums of the next line of L1.
void move_line(State& state, Job& job, const Context& context);
// Hands the bank over, where the instruction says so.
void finish(State& state, const Job& job);

// Datum bits as Src or Dst holds them; nothing if the formats do not go together.
std::optional<uint32_t> convert(const Plan& plan, uint32_t bits, uint32_t exponent, bool is_unsigned);

}  // namespace polyloom::tensix::unpack
