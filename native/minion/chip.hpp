// SPDX-License-Identifier: Apache-2.0
// The chip: harts, tensor units, barriers and credits, and the loop over events that gives each its turn. Harts execute
// ordinary instructions by themselves on their own clocks; an instruction that touches anything shared calls a member
// of Chip, which answers NOT_YET until the hart's cycle is the least of all. Source: minion.md, "Many minions".
//
// Before any call a hart has set `now`, the cycle in which the instruction issues, and `pc`. An answer NOT_YET leaves
// everything as it was: the chip has noted the reason in `wait` and tries the instruction again when that has gone.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "events.hpp"
#include "riscv/policies.hpp"
#include "wait.hpp"

namespace polyloom::minion {

struct HartState;
struct MinionState;
struct ShireState;
struct Memory;
struct Core;

using riscv::Answer;

// Options of a run, as the command line has them.
struct Options {
    unsigned minions = 1;
    bool timed = true, errata = false, trace = false;
    uint8_t hazards = 2;  // 0 off, 1 report, 2 error, 3 poison
    unsigned threads = 1;
    uint64_t max_cycles = ~uint64_t(0) >> HART_BITS;
    unsigned shires = 32, l2_kib = 512, l3_kib = 1024, scratchpad_kib = 2560;
};

enum class Stop : uint8_t { passed, failed, deadlock, trap, hazard, max_cycles };

struct Result {
    Stop stop = Stop::passed;
    uint64_t cycles = 0, instructions = 0, pc = 0, value = 0;
    uint32_t hart = 0, cause = 0, word = 0;
};

// What a cache operation does, for its time and its wait.
enum class CacheOperation : uint8_t { prefetch, flush, evict, lock, unlock };

struct Chip {
    explicit Chip(const Options& options);
    ~Chip();
    Chip(const Chip&) = delete;

    Result run(uint64_t entry);

    // Whether it is the hart's turn. First in each shared instruction whose effect is not one of the members below,
    // which ask themselves.
    Answer turn(HartState& h);

    // CSR writes of tensor operations: 0x800 reduce, 0x801 fma, 0x804 coop, 0x806 quant, 0x83F load, 0x85F load_l2,
    // 0x87F store. x31 is taken from h.x[31].
    Answer tensor(HartState& h, unsigned csr, uint64_t value);
    Answer tensor_wait(HartState& h, unsigned event);
    // Before a floating-point or SIMD instruction while h.minion->busy is not 0.
    Answer registers(HartState& h);

    Answer flb(HartState& h, uint64_t operand, uint64_t& old);
    Answer fcc(HartState& h, uint64_t operand);
    Answer fccnb(HartState& h, uint64_t& value);
    Answer sleep(HartState& h);
    Answer validation(HartState& h, unsigned number, uint64_t value);
    // An aligned access of 8 bytes to an ESR, after the check of privilege; ABSENT where there is none.
    Answer esr(HartState& h, uint64_t address, bool store, uint64_t& value);
    // hpmcounter3 to 8 by 3 to 8, and their selectors.
    Answer counter(HartState& h, unsigned number, uint64_t& value);
    Answer set_counter(HartState& h, unsigned number, uint64_t value);
    Answer set_event(HartState& h, unsigned number, uint64_t value);

    // Time of a cache operation whose effect has been done: `count` lines from `address` on.
    Answer cache(HartState& h, CacheOperation what, unsigned level, unsigned id, uint64_t address, unsigned count,
                 uint64_t stride);
    // When a line that misses L1 is there; it needs the turn. `code` from the instruction cache.
    Answer miss(HartState& h, uint64_t address, bool store, bool code, uint64_t& there);

    Options options;
};

}  // namespace polyloom::minion
