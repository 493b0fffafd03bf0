// SPDX-License-Identifier: Apache-2.0
// The address counters of unpackers and packers: SETADC and its family. Each thread has a set per unpacker and one for
// the packers; an instruction may name another thread's. X has 18 bits, Y 13, Z and W 8; each has a carriage.
#include "unit.hpp"

namespace polyloom::tensix::counters {
namespace {

enum Opcode : uint32_t {
    SETADC = 0x50,
    SETADCXY = 0x51,
    INCADCXY = 0x52,
    ADDRCRXY = 0x53,
    SETADCZW = 0x54,
    INCADCZW = 0x55,
    ADDRCRZW = 0x56,
    SETADCXX = 0x5E,
};

struct Counter {
    uint32_t &value, &carriage;
    uint32_t mask;

    void set(uint32_t x) const { value = carriage = x & mask; }
    void add(uint32_t x) const { value = (value + x) & mask; }
    void add_to_carriage(uint32_t x) const { value = carriage = (carriage + x) & mask; }
};

// axis: 0 X, 1 Y, 2 Z, 3 W.
Counter counter(AddressCounter& of, int axis, int channel) {
    switch (axis) {
        case 0: return {of.x[channel], of.x_carriage[channel], 0x3FFFF};
        case 1: return {of.y[channel], of.y_carriage[channel], 0x1FFF};
        case 2: return {of.z[channel], of.z_carriage[channel], 0xFF};
        default: return {of.w[channel], of.w_carriage[channel], 0xFF};
    }
}

// Four fields of three bits, each with its bit of the mask: two axes of channel 0, then of channel 1.
void apply(AddressCounter& of, Word word, int first_axis) {
    for (int k = 0; k < 4; ++k) {
        const Counter c = counter(of, first_axis + (k & 1), k >> 1);
        const uint32_t value = word >> (6 + 3 * k) & 7;
        const bool named = word >> k & 1;
        switch (opcode(word)) {
            case SETADCXY:
            case SETADCZW:
                if (named) c.set(value);
                break;
            case ADDRCRXY:
            case ADDRCRZW:
                if (named) c.add_to_carriage(value);
                break;
            default: c.add(value);
        }
    }
}

void execute_on(AddressCounter& of, Word word) {
    switch (opcode(word)) {
        case SETADC: return counter(of, int(field(word, 19, 18)), int(field(word, 20, 20))).set(field(word, 17, 0));
        case SETADCXX: counter(of, 0, 0).set(field(word, 9, 0)); return counter(of, 0, 1).set(field(word, 19, 10));
        case SETADCXY:
        case INCADCXY:
        case ADDRCRXY: return apply(of, word, 0);
        default: return apply(of, word, 2);
    }
}

// Which thread's counters. SETADC has the override in its value's upper bits, SETADCXX has none.
int owner(Word word, int thread) {
    const uint32_t named = opcode(word) == SETADCXX ? 0
                           : opcode(word) == SETADC ? field(word, 17, 16)
                                                    : field(word, 19, 18);
    return named ? int(named) - 1 : thread;
}

}  // namespace

void execute(State& state, Word word, int thread, Context& context) {
    const uint32_t op = opcode(word);
    if ((op < SETADC || op > ADDRCRZW) && op != SETADCXX)
        context.fault("not-modelled", thread, word, "this instruction on address counters is not modelled");
    for (int k = 0; k < 3; ++k)
        if (word >> (21 + k) & 1) execute_on(state.counters[owner(word, thread)][k], word);
}

}  // namespace polyloom::tensix::counters
