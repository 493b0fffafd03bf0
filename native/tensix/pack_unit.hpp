// SPDX-License-Identifier: Apache-2.0
// A packing instruction taken apart for one packer, and the two conversions that a datum goes through: early, from
// Dst's format to an intermediate one with rounding, and late, to L1's with truncation; and the job that is left of it
// once it is accepted. Source: the public pages on packers.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "dst.hpp"
#include "fields.hpp"
#include "formats.hpp"
#include "unit.hpp"

namespace polyloom::tensix::pack {

constexpr uint32_t PACR = 0x41, PACR_SETREG = 0x4A;

// What an intermediate datum is held as: a pattern of FP32, of FP16, or an integer of sign and magnitude.
enum class Held : uint8_t { FP32, FP16, INT32, INT16, INT8 };
Held held_as(Format f);

// How Dst is read.
struct Early {
    Format intermediate;
    bool read_32, is_unsigned, raw, round_10;
    uint32_t shift;  // of integers that become 8 bits
    uint32_t relu, threshold;
    bool edge_infinity;
};
Early early_of(const Configuration& c);

struct Packer {
    Early early;
    Format from, to;        // of the late conversion
    uint32_t count, first;  // datums, and the first of them in Dst
    uint32_t address;       // where a fresh stream goes, in 16 bytes
    uint32_t exponent_section;
    int counters;  // whose address counters
};

// What a packer has yet to do of an accepted PACR.
struct Job {
    Packer packer;
    Word word = 0;
    int thread = 0, unit = 0;
    uint32_t done = 0;  // datums read
    bool zeros = false, ends = false;
    // Read and converted, not yet in the stream: a datum, or the exponent and the datums of a block.
    std::array<uint8_t, 17> made_bits{};
    std::array<uint32_t, 17> made{};
    int first = 0, behind = 0;
};

// Accepts an instruction: counters go on, streams are opened. A job for each packer that takes part.
std::vector<Job> start(State& state, Word word, int thread, const Context& context);
// A cycle: up to 16 datums, and a line of 16 bytes where `claim` gives the bank of its address. Whether the job is
// done.
template <class Claim>
bool cycle(State& state, Job& job, const Context& context, Claim claim);

// The parts of a cycle: the address of a line that is full (or the last one), its way to L1, and the next datum or
// block of them: how many, none where the job has no more.
std::optional<uint32_t> full_line(State& state, const Job& job);
void write_line(State& state, Job& job, const Context& context);
bool emit(State& state, Job& job);
uint32_t read(State& state, Job& job, const Context& context);
void finish(State& state, const Job& job);

template <class Claim>
bool cycle(State& state, Job& job, const Context& context, Claim claim) {
    uint32_t datums = 16;
    for (bool written = false;;) {
        if (const auto address = full_line(state, job)) {
            if (written || !claim(*address)) return false;
            write_line(state, job, context);
            written = true;
        } else if (!emit(state, job)) {
            if (job.done == job.packer.count) break;
            if (!datums) return false;
            datums -= std::min(datums, read(state, job, context));
        }
    }
    finish(state, job);
    return true;
}

// Nothing where early conversion does not offer it.
std::optional<uint32_t> convert_early(const Early& e, uint32_t of_dst);
std::optional<uint32_t> rectify(const Early& e, uint32_t x);
uint32_t masked(const Early& e);  // what edge masks put

// A datum's bits in L1; for block formats what `block` takes: sign, 8 bits of exponent, 7 of mantissa.
std::optional<uint32_t> convert_late(Format from, Format to, uint32_t x);

struct Block {
    uint8_t exponent;
    uint8_t datums[16];
};
Block block(Format to, const uint32_t* sixteen);

}  // namespace polyloom::tensix::pack
