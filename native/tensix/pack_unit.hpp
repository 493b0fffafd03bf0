// SPDX-License-Identifier: Apache-2.0
// A packing instruction taken apart for one packer, and the two conversions that a datum goes through: early, from
// Dst's format to an intermediate one with rounding, and late, to L1's with truncation. Source: the public pages on
// packers.
#pragma once

#include <optional>

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
