// SPDX-License-Identifier: Apache-2.0
// What tensor operations do to bytes: pure functions over registers and lines, without time, memory or queues. Flags
// are those of fcsr, bit 31 (InputDenorm) included, and only ever set. Results and flags are the same with AVX2 and FMA
// as without. Source: ET Programmer's Reference Manual, chapter 9; the numerics of its emulator.
#pragma once

#include <cstdint>

#include "riscv/policies.hpp"
#include "tensor_words.hpp"

namespace polyloom::minion::tensor {

using Register = riscv::Lanes<256>::Register;
constexpr uint32_t INPUT_DENORMAL = uint32_t(1) << 31;

// A minion's storage, as far as its tensor unit reaches.
struct Tile {
    Register* f;          // 32 of hart 0
    uint8_t* scp;         // 48 lines of 64 bytes
    uint32_t* tenc;       // 16 rows of 16
    const uint8_t* tenb;  // 16 lines of 64 bytes: those of the paired LoadB
};

// --- loads -------------------------------------------------------------------------------------------------------

// One access to memory of a load: `bytes` (64, 32 or 16) from `address`, all in one line; `line` is the destination's
// line (0 to rows - 1) that it belongs to, and for transposing loads, whose every line needs every source, 0.
struct Source {
    uint64_t address;
    uint8_t bytes, line;
};
// How many, at most 64, and which. TensorLoadB ignores transform and mask.
unsigned sources(const Load& load);
Source source(const Load& load, unsigned k);
// Whether a mask leaves it out; transposing loads and LoadB read all.
bool skipped(const Load& load, uint16_t mask, unsigned k);
// Writes the lines of the destination all of whose sources are among the first `there`: `data` has 64 bytes for each
// source, of which the first Source::bytes count. `to` are the 48 lines of L1Scp, or the 16 of TenB for a LoadB.
void place(const Load& load, uint16_t mask, const uint8_t* data, unsigned there, uint8_t* to);

// --- FMA, quant ----------------------------------------------------------------------------------------------------

// `mode` is the rounding mode of frm, 0 to 4, already checked.
void multiply(const Fma& fma, const Tile& tile, uint16_t mask, int mode, uint32_t& flags);
void quantize(const Quant& quant, const Tile& tile, int mode, uint32_t& flags);

// --- stores, reductions ----------------------------------------------------------------------------------------------

// The bytes of row i, Store::bytes of them.
void store_row(const Store& store, const Tile& tile, unsigned i, uint8_t* bytes);

// local = FUNCT(incoming, local), lane by lane.
void combine(unsigned funct, const Register& incoming, Register& local, int mode, uint32_t& flags);

// Whether the host's AVX2 and FMA are used; tests turn them off. Bytes and flags do not depend on it.
bool wide();
void set_wide(bool wide);

}  // namespace polyloom::minion::tensor
