// SPDX-License-Identifier: Apache-2.0
// What the parts of the matrix unit share: one function per instruction, the formats that the configuration states, the
// counters of a thread, and the banks of Src.
#pragma once

#include "dst.hpp"
#include "fields.hpp"
#include "formats.hpp"
#include "unit.hpp"

namespace polyloom::tensix::matrix {

enum Opcode : uint32_t {
    MOVD2A = 0x08,
    MOVD2B = 0x0A,
    MOVB2A = 0x0B,
    ZEROACC = 0x10,
    ZEROSRC = 0x11,
    MOVA2D = 0x12,
    MOVB2D = 0x13,
    TRNSPSRCB = 0x16,
    MVMUL = 0x26,
    ELWMUL = 0x27,
    ELWADD = 0x28,
    ELWSUB = 0x30,
    GMPOOL = 0x33,
    GAPOOL = 0x34,
    GATESRCRST = 0x35,
    CLEARDVALID = 0x36,
    SETRWC = 0x37,
    INCRWC = 0x38,
    SETDVALID = 0x57,
};

struct Formats {
    Format a;     // as configured
    Style style;  // of SrcA, and of SrcB with it
    bool dst_32;
};
Formats formats(const Configuration& c);

// An instruction: its word, its thread's configuration and counters.
struct Instruction {
    State& state;
    Word word;
    int thread;
    const Context& context;
    Configuration configuration;
    MatrixState& matrix;
    Counters& counters;

    Instruction(State& s, Word w, int t, const Context& c)
        : state(s), word(w), thread(t), context(c), configuration(s, t), matrix(s.matrix),
          counters(s.matrix.counters[t]) {}

    [[nodiscard]] uint32_t field(int high, int low) const { return tensix::field(word, high, low); }
    [[nodiscard]] SourceBank& a() const { return matrix.a[matrix.a_matrix]; }
    [[nodiscard]] SourceBank& b() const { return matrix.b[matrix.b_matrix]; }
    [[nodiscard]] uint32_t phase() const { return (counters.fidelity + configuration.thread(own::fidelity)) & 3; }
    [[noreturn]] void fault(const char* kind, std::string text, std::string cure = {}) const {
        context.fault(kind, thread, word, std::move(text), std::move(cure));
    }
};

uint32_t dst_row(const Configuration& c, const Counters& counters, Word word);  // not yet aligned
void apply_address_mode(const Configuration& c, Counters& counters, uint32_t mode, bool with_fidelity = true);
void flip(const Instruction& i);  // bits 22 and 23: hands Src banks back to the unpackers

void multiply(const Instruction& i);          // MVMUL, GAPOOL
void elementwise(const Instruction& i);       // ELWMUL, ELWADD, ELWSUB
void pool(const Instruction& i);              // GMPOOL
void source_to_dst(const Instruction& i);     // MOVA2D, MOVB2D
void dst_to_source(const Instruction& i);     // MOVD2A, MOVD2B
void transpose(const Instruction& i);         // TRNSPSRCB
void source_to_source(const Instruction& i);  // MOVB2A
void invalidate(const Instruction& i);        // GATESRCRST
void zero_dst(const Instruction& i);          // ZEROACC
void zero_source(const Instruction& i);       // ZEROSRC
void clear_valid(const Instruction& i);       // CLEARDVALID
void set_valid(const Instruction& i);         // SETDVALID
void set_counters(const Instruction& i);      // SETRWC
void add_counters(const Instruction& i);      // INCRWC

// The source that an instruction waits for.
struct Waits {
    bool a, b;
};
Waits waits(Word word);

}  // namespace polyloom::tensix::matrix
