// SPDX-License-Identifier: Apache-2.0
// The read-write counters of a thread: SETRWC, INCRWC and the address modes that other instructions name. Each counter
// has a carriage, to which a "CR" form returns before it adds.
#include "matrix_unit.hpp"

namespace polyloom::tensix::matrix {
namespace {

constexpr uint32_t SOURCE = 63, DST = 1023;

struct Step {
    uint32_t by;
    bool carriage, clear, keep;
};

void advance(uint32_t& value, uint32_t& carriage, const Step& step, uint32_t mask) {
    if (step.clear)
        value = carriage = 0;
    else if (step.keep)
        value = carriage = (value + step.by) & mask;
    else if (step.carriage)
        value = carriage = (carriage + step.by) & mask;
    else
        value = (value + step.by) & mask;
}

}  // namespace

void apply_address_mode(const Configuration& c, Counters& counters, uint32_t mode, bool with_fidelity) {
    if (counters.bias || c.thread(own::address_mode_set)) mode += 4;
    const uint32_t ab = c.thread(own::mode_ab, 2 * mode), dst = c.thread(own::mode_dst, mode);
    const uint32_t bias = c.thread(own::mode_bias, mode);
    advance(counters.a, counters.a_carriage, {ab & 63, bool(ab & 64), bool(ab & 128), false}, SOURCE);
    advance(counters.b, counters.b_carriage, {ab >> 8 & 63, bool(ab & 0x4000), bool(ab & 0x8000), false}, SOURCE);
    const Step step{dst & 1023, bool(dst & 0x400), bool(dst & 0x800), bool(dst & 0x1000)};
    advance(counters.dst, counters.dst_carriage, step, DST);
    if (with_fidelity) counters.fidelity = dst & 0x8000 ? 0 : (counters.fidelity + (dst >> 13)) & 3;
    if (bias & 16)
        counters.bias = 0;
    else if (bias & 3)
        counters.bias ^= 1;
}

void set_counters(const Instruction& i) {
    Counters& c = i.counters;
    const bool to_carriage = i.field(21, 21);
    if (i.field(0, 0)) c.a = c.a_carriage = (i.field(9, 6) + (i.field(18, 18) ? c.a_carriage : 0)) & SOURCE;
    if (i.field(1, 1)) c.b = c.b_carriage = (i.field(13, 10) + (i.field(19, 19) ? c.b_carriage : 0)) & SOURCE;
    if (i.field(2, 2) || to_carriage) {
        const uint32_t from = to_carriage ? c.dst : i.field(20, 20) ? c.dst_carriage : 0;
        c.dst = c.dst_carriage = (i.field(17, 14) + from) & DST;
    }
    if (i.field(3, 3)) c.fidelity = 0;
    flip(i);
}

void add_counters(const Instruction& i) {
    Counters& c = i.counters;
    advance(c.a, c.a_carriage, {i.field(9, 6), bool(i.field(18, 18)), false, false}, SOURCE);
    advance(c.b, c.b_carriage, {i.field(13, 10), bool(i.field(19, 19)), false, false}, SOURCE);
    advance(c.dst, c.dst_carriage, {i.field(17, 14), bool(i.field(20, 20)), false, false}, DST);
}

}  // namespace polyloom::tensix::matrix
