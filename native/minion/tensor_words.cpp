// SPDX-License-Identifier: Apache-2.0
// Fields of tensor words. Source: ET Programmer's Reference Manual, chapter 9.
#include "tensor_words.hpp"

namespace polyloom::minion::tensor {

namespace {

constexpr uint64_t bits(uint64_t word, unsigned low, unsigned width) {
    return word >> low & ((uint64_t(1) << width) - 1);
}
constexpr bool bit(uint64_t word, unsigned at) { return word >> at & 1; }

constexpr uint64_t LINES = ~uint64_t(63), QUARTERS = ~uint64_t(15), HALVES = ~uint64_t(31);

uint64_t granule(Transform transform) {
    switch (transform) {
        case Transform::interleave8:
        case Transform::transpose8: return QUARTERS;
        case Transform::interleave16:
        case Transform::transpose16: return HALVES;
        default: return LINES;
    }
}

// Legal rows of stores by COOP: one bit for each SIZE.
constexpr std::array<uint8_t, 4> LEGAL_SIZES = {0b1011, 0b0011, 0, 0b0001};

uint64_t lines(unsigned start, unsigned count, unsigned step = 1) {
    uint64_t made = 0;
    for (unsigned i = 0; i < count; ++i) made |= uint64_t(1) << (start + i * step) % SCP_LINES;
    return made;
}

uint32_t registers(unsigned first, unsigned count, unsigned step = 1) {
    uint32_t made = 0;
    for (unsigned i = 0; i < count; ++i) made |= uint32_t(1) << (first + i * step) % 32;
    return made;
}

// Two registers for each row, or the first of them.
uint32_t rows(unsigned first, unsigned count, unsigned columns) {
    return registers(first, count, 2) | (columns > 8 ? registers(first + 1, count, 2) : 0);
}

}  // namespace

Load load(uint64_t word, uint64_t x31) {
    Load l;
    l.coop = bit(word, 62);
    l.to_b = bit(word, 52);
    l.rows = uint8_t(bits(word, 0, 4) + 1);
    l.id = uint8_t(x31 & 1);
    l.stride = x31 & 0xFFFFFFFFFFC0;
    if (!l.to_b) {
        l.masked = bit(word, 63);
        l.transform = Transform(bits(word, 59, 3));
        l.start = uint8_t(bits(word, 53, 6));
    }
    l.address = address_of(word & 0xFFFFFFFFFFF0 & granule(l.transform));
    return l;
}

LoadL2 load_l2(uint64_t word, uint64_t x31) {
    LoadL2 l;
    l.masked = bit(word, 63);
    l.line = uint32_t(bits(word, 48, 15) << 2 | bits(word, 4, 2));
    l.rows = uint8_t(bits(word, 0, 4) + 1);
    l.id = uint8_t(x31 & 1);
    l.address = address_of(word & 0xFFFFFFFFFFC0);
    l.stride = x31 & 0xFFFFFFFFFFC0;
    return l;
}

Fma fma(uint64_t word) {
    Fma f;
    f.masked = bit(word, 63);
    f.columns = uint8_t(4 * (bits(word, 55, 2) + 1));
    f.rows = uint8_t(bits(word, 51, 4) + 1);
    f.words = uint8_t(bits(word, 47, 4) + 1);
    f.offset = uint8_t(bits(word, 43, 4));
    f.to_registers = bit(word, 23);
    f.b_unsigned = bit(word, 22);
    f.a_unsigned = bit(word, 21);
    f.from_tenb = bit(word, 20);
    f.b_start = uint8_t(bits(word, 12, 6));
    f.a_start = uint8_t(bits(word, 4, 6));
    f.type = uint8_t(bits(word, 1, 3));
    f.first = bit(word, 0);
    return f;
}

Quant quant(uint64_t word) {
    Quant q;
    q.freg = uint8_t(bits(word, 57, 5));
    q.columns = uint8_t(4 * (bits(word, 55, 2) + 1));
    q.rows = uint8_t(bits(word, 51, 4) + 1);
    q.start = uint8_t(bits(word, 45, 6));
    for (unsigned k = 0; k < 10; ++k) {
        q.transforms[k] = uint8_t(bits(word, 4 * k, 4));
        if (!q.transforms[k]) break;
        q.count = uint8_t(k + 1);
    }
    return q;
}

unsigned Quant::lines() const {
    unsigned made = 0;
    for (unsigned k = 0; k < count; ++k) made += transforms[k] >= 4 && transforms[k] <= 7;
    return made;
}

Store store(uint64_t word, uint64_t x31) {
    Store s;
    s.from_scp = bit(word, 48);
    s.step = uint8_t(bits(word, 62, 2) + 1);
    s.rows = uint8_t(bits(word, 51, 4) + 1);
    if (s.from_scp) {
        s.start = uint8_t(bits(word, 56, 6));
        s.address = address_of(word & 0xFFFFFFFFFFC0);
        s.stride = address_of(x31 & 0xFFFFFFFFFFC0);
        return s;
    }
    const unsigned size = unsigned(bits(word, 55, 2)), coop = unsigned(bits(word, 49, 2));
    s.start = uint8_t(bits(word, 57, 5));
    s.bytes = uint8_t(16 * (size + 1));
    s.coop = uint8_t(coop);
    s.legal = LEGAL_SIZES[coop] >> size & 1;
    s.address = address_of(word & 0xFFFFFFFFFFF0);
    s.stride = address_of(x31 & 0xFFFFFFFFFFF0);
    return s;
}

Reduce reduce(uint64_t word) {
    Reduce r;
    r.command = Command(bits(word, 0, 2));
    r.freg = uint8_t(bits(word, 57, 5));
    r.funct = uint8_t(bits(word, 24, 4));
    r.count = uint8_t(bits(word, 16, 7));
    r.peer = uint16_t(bits(word, 3, 13));
    r.height = uint8_t(bits(word, 3, 4));
    return r;
}

Reduce::Part Reduce::part(unsigned minion) const {
    constexpr uint16_t FUNCTIONS = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8;
    Part made;
    if (command == Command::send || command == Command::receive) {
        made = {command == Command::send ? Role::sends : Role::receives, peer, peer == minion};
    } else {
        const unsigned distance = 1u << height, within = minion & (2 * distance - 1);
        if (within != 0 && within != distance) return made;
        const bool lower = within == 0;
        made.role = lower == (command == Command::broadcast) ? Role::sends : Role::receives;
        made.peer = uint16_t(lower ? minion + distance : minion - distance);
    }
    made.bad |= made.role == Role::receives && !(FUNCTIONS >> funct & 1);
    return made;
}

Coop coop(uint64_t word) { return {uint8_t(bits(word, 16, 4)), uint8_t(bits(word, 8, 8)), uint8_t(bits(word, 0, 5))}; }

uint16_t conv_mask(uint64_t size, uint64_t control) {
    const int row_step = int8_t(bits(size, 56, 8)), column_step = int8_t(bits(size, 24, 8));
    const int row_count = int(bits(size, 32, 16)), column_count = int(bits(size, 0, 16));
    int row = int16_t(bits(control, 32, 16)), column = int16_t(bits(control, 0, 16));
    uint16_t made = 0;
    for (unsigned i = 0; i < 16; ++i, row += row_step, column += column_step)
        if (row >= 0 && row < row_count && column >= 0 && column < column_count) made |= uint16_t(1 << i);
    return made;
}

Effects effects(const Load& load) {
    Effects made;
    if (!load.to_b) made.scp_writes = lines(load.start, load.rows);
    return made;
}

Effects effects(const Fma& fma) {
    Effects made;
    made.scp_reads = lines(fma.a_start, fma.rows) | (fma.from_tenb ? 0 : lines(fma.b_start, fma.words));
    if (fma.uses_registers()) made.f_writes = rows(0, fma.rows, fma.columns);
    if (!fma.is(Type::int8) && !fma.first) made.f_reads = made.f_writes;
    return made;
}

Effects effects(const Quant& quant) {
    Effects made;
    made.scp_reads = lines(quant.start, quant.lines());
    if (quant.count) made.f_reads = made.f_writes = rows(quant.freg, quant.rows, quant.columns);
    return made;
}

Effects effects(const Store& store) {
    Effects made;
    if (store.from_scp)
        made.scp_reads = lines(store.start, store.rows, store.step);
    else
        made.f_reads = registers(store.start, store.rows * (store.bytes == 64 ? 2u : 1u), store.step);
    return made;
}

Effects effects(const Reduce& reduce, Role role) {
    Effects made;
    if (role == Role::skips || !reduce.count) return made;
    const uint32_t all = registers(reduce.freg, reduce.count);
    if (role == Role::receives) made.f_writes = all;
    if (role == Role::sends || reduce.funct != 8) made.f_reads = all;
    return made;
}

}  // namespace polyloom::minion::tensor
