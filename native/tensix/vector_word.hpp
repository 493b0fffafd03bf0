// SPDX-License-Identifier: Apache-2.0
// A word of the vector unit taken apart: what it does, with which registers, modes and immediates. Opcodes and layouts:
// facts of the instruction set, §1.2; operands that an instruction takes from its destination are named here, so that
// LOADMACRO can replace them.
#pragma once

#include "tensix/unit.hpp"

namespace polyloom::tensix::vector {

// In the order of the opcodes, from 0x70.
enum class Code : uint8_t {
    Load,
    LoadImmediate,
    Store,
    Lut,
    MulImmediate,
    AddImmediate,
    DivP2,
    ExExp,
    ExMan,
    IAdd,
    Shift,
    SetCC,
    Mov,
    Abs,
    And,
    Or,
    Not,
    LeadingZeros,
    SetExp,
    SetMan,
    Mad,
    Add,
    Mul,
    Push,
    Pop,
    SetSign,
    EnableCC,
    Complement,
    Transpose,
    Xor,
    Round,
    Nop,
    Cast,
    Config,
    Swap,
    LoadMacro,
    Shuffle,
    LutWide,
    LessEqual,
    Greater,
    Mul24,
    Reciprocal,
    None,  // not a word of the vector unit, or not of this member
};

enum class SubUnit : uint8_t { Simple, Mad, Round, Store, Load };

struct Operation {
    Code code = Code::None;
    uint8_t va = 0, vb = 0, vc = 0, vd = 0, mod = 0;
    uint8_t address_mode = 0;
    uint8_t rounding = 0;    // STOCHRND: 0 nearest, 1 stochastic, 2 toward zero (Blackhole)
    uint8_t macro = 0;       // LOADMACRO: which sequence
    int32_t immediate = 0;   // as the instruction means it: signed where it is
    bool scheduled = false;  // by LOADMACRO: no capture as a template, no address mode
};

Operation decoded(Word word, Member member);
SubUnit sub_unit(Code code);

// A word, and what it says whatever the state is: its operation, and its timing unless that `depends` on the state.
struct Prepared {
    Word word = 0;
    bool depends = false;
    Operation op;
    Timing timing;
};
Prepared prepared(const State& state, Word word);

// What prepared() gave for the words that were met last. A word has two places, which others share.
class Words {
  public:
    // To be used before the next call.
    const Prepared& of(const State& state, Word word) {
        const size_t at = (word ^ word >> 13) * 0x9E3779B1u >> 22;
        if (places[at].word == word) return places[at];
        if (places[at ^ 1].word == word) return places[at ^ 1];
        second = !second;
        return places[at ^ second] = prepared(state, word);
    }

  private:
    std::array<Prepared, 1 << (32 - 22)> places{};  // the word 0 is none of this unit's, as Prepared is by itself
    bool second = false;                            // of two places, that which is taken next
};

// As of unit.hpp.
Timing timing(const State& state, const Prepared& word, int thread);
void execute(State& state, const Prepared& word, int thread, Context& context);

// Whether the instruction has a register as a destination that can be written: L0 to L7, and L16 under LOADMACRO.
constexpr bool writable(int target) { return target < 8 || target == 16; }

// Which registers of the four-bit field an instruction with this VD takes as a template instead of executing (§1.1):
// all that name a destination but SFPCONFIG, whose VD is where it configures.
bool capturable(Code code);

}  // namespace polyloom::tensix::vector
