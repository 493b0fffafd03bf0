// SPDX-License-Identifier: Apache-2.0
// An unpacking instruction taken apart: what the configuration, the tile descriptor and the address counters of its
// thread say it reads, converts and writes. Source: the public instruction page of UNPACR; facts 1.8.
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

// Datum bits as Src or Dst holds them; nothing if the formats do not go together.
std::optional<uint32_t> convert(const Plan& plan, uint32_t bits, uint32_t exponent, bool is_unsigned);

}  // namespace polyloom::tensix::unpack
