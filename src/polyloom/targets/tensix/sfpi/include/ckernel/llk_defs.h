// SPDX-License-Identifier: Apache-2.0
// Names of choices that kernels take as template arguments.
#ifndef POLYLOOM_CKERNEL_LLK_DEFS_H
#define POLYLOOM_CKERNEL_LLK_DEFS_H

#include <cstdint>

namespace ckernel {

enum class VectorMode : std::uint8_t { None = 0, R = 1, C = 2, RC = 4, RC_custom = 6, Invalid = 0xFF };
enum class ReduceDim : std::uint8_t { REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR };
enum class PoolType : std::uint8_t { SUM, AVG, MAX, MIN };
enum class BroadcastType : std::uint8_t { NONE, COL, ROW, SCALAR };
enum class DstSync : std::uint8_t { SyncHalf, SyncFull };
enum class MathFidelity : std::uint8_t { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4 };

// Modes of SFPLOAD and SFPSTORE.
enum class InstrModLoadStore {
    DEFAULT = 0,
    FP16A = 1,
    FP16B = 2,
    FP32 = 3,
    INT32 = 4,
    INT8 = 5,
    LO16 = 6,
    HI16 = 7,
    INT32_2S_COMP = 12,
    INT8_2S_COMP = 13,
    LO16_ONLY = 14,
    HI16_ONLY = 15,
};
constexpr std::uint32_t operator<<(InstrModLoadStore mode, int shift) { return std::uint32_t(mode) << shift; }
constexpr std::uint32_t operator|(std::uint32_t bits, InstrModLoadStore mode) { return bits | std::uint32_t(mode); }
constexpr std::uint32_t operator|(InstrModLoadStore mode, std::uint32_t bits) { return bits | std::uint32_t(mode); }

constexpr bool is_valid_instruction_mode(InstrModLoadStore mode) {
    return mode == InstrModLoadStore::INT32_2S_COMP || mode == InstrModLoadStore::INT32 || mode == InstrModLoadStore::LO16;
}

}  // namespace ckernel

#endif
