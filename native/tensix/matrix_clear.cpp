// SPDX-License-Identifier: Apache-2.0
// ZEROACC marks rows of Dst as undefined, ZEROSRC fills banks of Src, CLEARDVALID and SETDVALID move banks of Src
// between the unpackers and the matrix unit.
#include "matrix_unit.hpp"

namespace polyloom::tensix::matrix {
namespace {

void undefine(MatrixState& m, uint32_t first, uint32_t count, bool wide) {
    for (uint32_t r = first; r < first + count; ++r) dst::mark(m, r, wide, false);
}

void undefine_sixteen(const Instruction& i) {
    const uint32_t block = i.field(7, 0);
    const bool wide = i.field(21, 21);
    if (block < (wide ? 32 : 64)) undefine(i.matrix, 16 * block, 16, wide);
}

// Which of the two banks of a source an instruction clears.
struct Banks {
    bool zero, one;
};

void fill(std::array<SourceBank, 2>& banks, Banks which, uint32_t value) {
    for (int k = 0; k < 2; ++k)
        if (k ? which.one : which.zero)
            for (auto& row : banks[k].rows) row.fill(value);
}

}  // namespace

void zero_dst(const Instruction& i) {
    const uint32_t mode = i.field(20, 19);
    const Configuration& c = i.configuration;
    if (mode && i.field(18, 18)) i.fault("not-modelled", "ZEROACC that reverts has no defined effect", "clear bit 18");
    if (mode == 0)
        undefine(i.matrix, dst_row(c, i.counters, i.word), 1, c(alu::fp32) || c(alu::int8));
    else if (mode == 1)
        undefine_sixteen(i);
    else if (mode == 2)
        undefine(i.matrix, i.field(0, 0) ? 512 : 0, 512, false);
    else
        undefine(i.matrix, 0, 1024, false);
    if (mode < 2) apply_address_mode(c, i.counters, i.field(16, 15));
}

void zero_source(const Instruction& i) {
    MatrixState& m = i.matrix;
    const auto banks = [&](int of_matrix, int of_unpacker) {
        const int bank = i.field(3, 3) ? of_matrix : of_unpacker;
        return i.field(2, 2) ? Banks{true, true} : Banks{bank == 0, bank == 1};
    };
    if (i.field(0, 0)) fill(m.a, banks(m.a_matrix, m.a_unpack), i.field(4, 4) ? 0x7FFFF : 0);
    if (i.field(1, 1)) fill(m.b, banks(m.b_matrix, m.b_unpack), 0);
}

void clear_valid(const Instruction& i) {
    MatrixState& m = i.matrix;
    if (i.field(0, 0)) {
        for (auto* banks : {&m.a, &m.b})
            for (SourceBank& bank : *banks) bank.with_matrix = false;
        m.a_matrix = m.b_matrix = m.a_unpack = m.b_unpack = 0;
        return;
    }
    const int keep = int(i.field(1, 1));
    if (i.field(22, 22)) i.a().with_matrix = false, m.a_matrix ^= 1 - keep;
    if (i.field(23, 23)) i.b().with_matrix = false, m.b_matrix ^= 1 - keep;
}

void set_valid(const Instruction& i) {
    MatrixState& m = i.matrix;
    const Configuration& c = i.configuration;
    if (i.field(0, 0)) {
        m.a[m.a_unpack].with_matrix = true, m.a_unpack ^= 1;
        i.state.unpackers[0].row[i.thread] = c.thread(own::a_set) << 4;
    }
    if (i.field(1, 1)) {
        m.b[m.b_unpack].with_matrix = true, m.b_unpack ^= 1;
        i.state.unpackers[1].row[i.thread] = c.thread(own::b_set) << 4;
    }
}

}  // namespace polyloom::tensix::matrix
