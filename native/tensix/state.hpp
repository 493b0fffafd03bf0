// SPDX-License-Identifier: Apache-2.0
// The architectural state of one Tensix tile, as plain data that its units share. Nothing here knows time: what a unit
// has accepted and not yet made visible belongs to the unit.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "movement.hpp"

namespace polyloom::tensix {

using Word = uint32_t;
constexpr int THREADS = 3, LANES = 32, ROWS = 4, COLUMNS = 8;
constexpr uint32_t L1_BYTES = 0x170000;

enum class Member : uint8_t { Wormhole, Blackhole };
enum class Policy : uint8_t { Off, Report, Error, Wrong };  // which hazards end a run, if any are looked for

// A value of the vector unit: lane = 8 * row + column.
using Lanes = std::array<uint32_t, LANES>;

// The flags of all lanes, a bit each: what a conditional region decided, and whether it decides anything.
struct Flags {
    uint32_t set = 0, used = 0;
};

struct VectorState {
    std::array<Lanes, 17> registers{};  // L0 to L16; 8 to 15 are constants to most instructions
    Flags flags;
    std::array<Flags, 8> stack{};
    int depth = 0;
    std::array<uint32_t, COLUMNS> lane_config{};  // LaneConfig, one per column of lanes
    std::array<uint32_t, 4> templates{};          // LOADMACRO: instructions
    std::array<uint32_t, 4> sequences{};          // LOADMACRO: which template goes when to which sub-unit
    uint32_t miscellaneous = 0;                   // LOADMACRO: 12 bits
    std::array<uint32_t, LANES> random{};         // the generator of each lane
    std::array<uint32_t, LANES> exchanged{};      // what SFPSHFT2's shuffles left for mode 4
};

// Read-write counters of a thread: where the matrix and vector units read and write.
struct Counters {
    uint32_t a = 0, a_carriage = 0, b = 0, b_carriage = 0, dst = 0, dst_carriage = 0, fidelity = 0, bias = 0;
};

// Source banks hold 64 rows of 16 columns of 19 bits in the order of the hardware: sign (bit 18), 10 bits of mantissa,
// 8 of exponent. FP16 uses the low 5 of the exponent; integers hold their magnitude as mantissa, 16 as exponent.
struct SourceBank {
    std::array<std::array<uint32_t, 16>, 64> rows{};
    bool with_matrix = false;  // else with its unpacker
};

struct MatrixState {
    std::array<std::array<uint16_t, 16>, 1024> dst{};  // in the order of bits of the hardware
    std::array<bool, 1024> valid{};                    // rows that ZEROACC marked are not
    std::array<SourceBank, 2> a{}, b{};
    int a_matrix = 0, b_matrix = 0, a_unpack = 0, b_unpack = 0;  // which bank each side uses
    std::array<Counters, THREADS> counters{};
};

// Address counters of unpackers (0, 1) and packers (2), of each thread: channels 0 and 1, each X Y Z W with carriage.
struct AddressCounter {
    std::array<uint32_t, 2> x{}, x_carriage{}, y{}, y_carriage{}, z{}, z_carriage{}, w{}, w_carriage{};
};

struct ConfigState {
    static constexpr int WORDS = 256, THREAD_WORDS = 72;  // room for either member's
    std::array<std::array<uint32_t, WORDS>, 2> banks{};
    std::array<std::array<uint32_t, THREAD_WORDS>, THREADS> thread{};  // 16 bits are used
    [[nodiscard]] const std::array<uint32_t, WORDS>& of(int t) const { return banks[thread[t][0] & 1]; }
};

struct Semaphore {
    uint32_t value = 0, most = 0;
};

struct SyncState {
    std::array<int32_t, 8> owner{-1, -1, -1, -1, -1, -1, -1, -1};  // of a mutex: thread, or -1
    std::array<Semaphore, 8> semaphores{};
};

// A hazard report or a fault: who, when, what, and what helps.
struct Finding {
    std::string kind;  // a name of docs/targets/tensix.md
    int thread = -1;
    uint64_t cycle = 0, earlier_cycle = 0;
    Word word = 0, earlier = 0;
    uint32_t pc = 0, earlier_pc = 0;        // where the words were pushed from, 0 where by hand
    uint32_t index = 0, earlier_index = 0;  // their numbers among the words pushed by hand, 0 where by a core
    std::string text, cure;
    bool wrong = true;  // wrong in this run; else only at risk, where the timing were another
};

struct State {
    Member member = Member::Wormhole;
    VectorState vector;
    MatrixState matrix;
    ConfigState config;
    SyncState sync;
    std::array<std::array<uint32_t, 64>, THREADS> gprs{};
    std::array<std::array<AddressCounter, 3>, THREADS> counters{};
    std::array<UnpackerState, 2> unpackers;
    std::array<PackerState, 4> packers;
    uint64_t moved = 0;  // bytes between L1 and the unpackers and packers, in lines of 16
    std::vector<uint8_t> l1 = std::vector<uint8_t>(L1_BYTES);
};

}  // namespace polyloom::tensix
