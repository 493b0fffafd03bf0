// SPDX-License-Identifier: Apache-2.0
// What the units of a tile offer its cycle loop, and what they get. A unit is a namespace with three functions:
//
//   Timing timing(const State&, Word, int thread)           what the instruction occupies, reads and writes
//   bool ready(const State&, Word, int thread)              whether it may be accepted: ownership of banks, retries
//   void execute(State&, Word, int thread, Context&)        all its effects at once, and none before
//
// but for registers of the vector unit with a latency above 1: where Context::pending is there, `execute` appends these
// writes to it instead of doing them, and the loop commits them at the start of the cycle in which they are due.
// All that the timing says is delayed by the loop, not by the unit. Unpackers and packers also have a `start`, which
// gives a job, and functions that move its data cycle by cycle (unpack_unit.hpp, pack_unit.hpp). What is not modelled
// faults: Context::fault does not return.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "state.hpp"

namespace polyloom::tensix {

enum class Unit : uint8_t { Nothing, Sync, Unpack0, Unpack1, Matrix, Pack, Vector, Scalar, Config, Mover, Misc };
constexpr int UNITS = 11;

// Bits of Timing::reads and writes: L0 to L16, then the flags with their stack.
constexpr uint32_t FLAGS_BIT = 1u << 17;

// Rows of 16 bits of Dst, [first, first + count); the loop keeps time for aligned blocks of 8.
struct Blocks {
    uint16_t first = 0, count = 0;
};

struct Timing {
    Unit unit = Unit::Nothing;
    uint32_t busy = 1;     // cycles from acceptance until the unit accepts another (per thread in the scalar unit)
    uint32_t latency = 1;  // an instruction this many cycles later sees the result
    uint32_t reads = 0, writes = 0;
    Blocks dst_reads, dst_writes;
    bool interlocked = false;  // whoever reads too early waits; else it reads the old value, and that is reported
    bool shuffles = false;     // SFPSHFT2 modes 2 to 4: the next instruction must be SFPNOP
};

// A write that becomes visible at the start of cycle `due`; the lanes whose bits are set.
struct Pending {
    Pending() = default;
    Pending(uint64_t due, int target, uint32_t lanes, const Lanes& value)
        : due(due), target(target), lanes(lanes), value(value) {}
    uint64_t due = 0;
    int target = 0;
    uint32_t lanes = 0;
    Lanes value{};
};

struct Fault {
    Finding finding;
};

namespace vector {
struct Schedule;  // what SFPLOADMACRO has scheduled and is yet to execute, in vector.hpp
}

struct Context {
    uint64_t cycle = 0;
    uint32_t pc = 0, index = 0;
    std::vector<Finding>* findings = nullptr;  // null where hazards are off
    std::vector<Pending>* pending = nullptr;   // null: results are visible at once
    vector::Schedule* schedule = nullptr;      // null: SFPLOADMACRO faults

    void report(const char* kind, int thread, Word word, std::string text, std::string cure) const {
        if (findings) findings->push_back(finding(kind, thread, word, std::move(text), std::move(cure)));
    }
    [[noreturn]] void fault(const char* kind, int thread, Word word, std::string text, std::string cure = {}) const {
        throw Fault{finding(kind, thread, word, std::move(text), std::move(cure))};
    }
    Finding finding(const char* kind, int thread, Word word, std::string text, std::string cure) const {
        Finding made;
        made.kind = kind, made.thread = thread, made.cycle = cycle, made.word = word, made.pc = pc;
        made.index = index;
        made.text = std::move(text), made.cure = std::move(cure);
        return made;
    }
};

constexpr uint32_t field(Word word, int high, int low) { return word >> low & ((2u << (high - low)) - 1); }
constexpr uint32_t opcode(Word word) { return word >> 24; }

namespace vector {  // also with words that are taken apart already: vector_word.hpp
Timing timing(const State& state, Word word, int thread);
bool ready(const State& state, Word word, int thread);
void execute(State& state, Word word, int thread, Context& context);
}  // namespace vector

namespace matrix {  // Matrix, and SETDVALID, CLEARDVALID, SETRWC, INCRWC
Timing timing(const State& state, Word word, int thread);
bool ready(const State& state, Word word, int thread);
void execute(State& state, Word word, int thread, Context& context);
// The cycles from one instruction of the unit to another at the least, beyond what Dst and Src say: MOVD2A holds the
// unit for all but its like for a cycle, MOVD2B for three, and what reads Dst waits for MOVA2D and MOVB2D wherever they
// wrote.
uint32_t distance(Word earlier, Word later);
}  // namespace matrix

namespace unpack {  // UNPACR, UNPACR_NOP
Timing timing(const State& state, Word word, int thread);
bool ready(const State& state, Word word, int thread);
void execute(State& state, Word word, int thread, Context& context);
}  // namespace unpack

namespace pack {  // PACR, PACR_SETREG
Timing timing(const State& state, Word word, int thread);
bool ready(const State& state, Word word, int thread);
void execute(State& state, Word word, int thread, Context& context);
}  // namespace pack

namespace counters {  // SETADC and its family, INCADC...
void execute(State& state, Word word, int thread, Context& context);
}  // namespace counters

}  // namespace polyloom::tensix
