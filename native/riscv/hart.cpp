// SPDX-License-Identifier: Apache-2.0
#include "hart.hpp"

#include <bit>

#include "floating.hpp"

namespace polyloom::riscv {
namespace {

static_assert(std::endian::native == std::endian::little, "memory is read and written as the host has it");

template <class X>
const Handlers<X>& handlers() {
    static const Handlers<X> table = [] {
        Handlers<X> made{};
        integer_handlers<X>(made);
        floating_handlers<X>(made);
        return made;
    }();
    return table;
}

int64_t extract(const Field& field, uint32_t word) {
    uint64_t bits = 0;
    for (int n = 0; n < field.count; ++n) {
        const Piece& p = field.pieces[n];
        bits |= uint64_t(word >> p.word & ((uint64_t(1) << p.width) - 1)) << p.value;
    }
    if (field.sign) return int64_t(bits << (64 - field.sign)) >> (64 - field.sign);
    return int64_t(bits) + field.base;
}

bool permitted(const Row& row, uint32_t word) {
    for (int number : row.checked) {
        if (number < 0) continue;
        const int64_t value = extract(FIELDS[number], word);
        for (int forbidden : FIELDS[number].forbidden)
            if (value == forbidden) return false;
    }
    return true;
}

const Row* find(uint32_t word, unsigned xlen, uint32_t extensions) {
    for (const Row& row : ROWS)
        if ((word & row.mask) == row.match && (row.xlen == 0 || row.xlen == xlen) && !(row.extensions & ~extensions) && permitted(row, word)) return &row;
    return nullptr;
}

template <class X>
const Decoded<X>* illegal(Hart<X>&, const Decoded<X>*) {
    throw Trap{Cause::illegal, 0};
}

template <class X>
const Decoded<X>* stopped(Hart<X>&, const Decoded<X>*) {
    throw Trap{Cause::stop, 0};
}

// Outside the code, or half an instruction at its end.
template <class X>
const Decoded<X>* outside(Hart<X>& h, const Decoded<X>* d) {
    const X address = h.pc_of(d);
    throw Trap{address == h.stop ? Cause::stop : Cause::fetch, address};
}

template <class X>
const Decoded<X>* first(Hart<X>& h, const Decoded<X>* d) {
    h.decode(h.code[d - h.code.data()]);
    return d->step(h, d);
}

}  // namespace

template <class X>
Hart<X>::Hart(uint32_t extensions, Memory& memory, X code_base, X code_size)
    : memory(memory),
      bytes(memory.bytes.get()),
      base(memory.base),
      last(memory.size),
      code_base(code_base),
      code_size(code_size & ~X(1)),
      alignment(extensions & 1u << 5 ? 1 : 3),
      extensions(extensions),
      code(this->code_size / 2 + 2, Decoded<X>{outside<X>, 0, nullptr, 0, 0, 0, 0, 0, 1}),
      away(code.back()) {
    flush();
}

template <class X>
void Hart<X>::flush() {
    for (size_t n = 0; n < code_size / 2; ++n) code[n].step = first<X>;
    beyond.clear();
}

template <class X>
void Hart<X>::decode(Decoded<X>& place) {
    const X pc = pc_of(&place), left = code_size - (pc - code_base);
    uint32_t word = 0;
    std::memcpy(&word, bytes + (pc - base), left < 4 ? 2 : 4);
    const uint32_t size = (word & 3) == 3 ? 4 : 2;
    place = {illegal<X>, 0, nullptr, 0, 0, 0, 0, 0, uint8_t(size / 2)};
    if (pc == stop) {
        place.step = stopped<X>;
        return;
    }
    if (size > left) {
        place.step = outside<X>;
        return;
    }
    for (const Custom<X>& each : custom)
        if ((word & each.mask) == each.match) {
            const uint8_t rd = word >> 7 & 31;
            place = {each.step, int64_t(word), nullptr, uint8_t(rd ? rd : 32), uint8_t(word >> 15 & 31), uint8_t(word >> 20 & 31), uint8_t(word >> 27), 0, uint8_t(size / 2)};
            return;
        }
    const Row* row = find(size == 2 ? word & 0xffff : word, 8 * sizeof(X), extensions);
    if (!row) return;
    int64_t values[6];
    for (int n = 0; n < 6; ++n) values[n] = row->operands[n] < 0 ? ~row->operands[n] : extract(FIELDS[row->operands[n]], word);
    place.step = handlers<X>()[size_t(row->op)];
    place.rd = row->writes_x && values[0] == 0 ? 32 : uint8_t(values[0]);
    place.rs1 = uint8_t(values[1]);
    place.rs2 = uint8_t(values[2]);
    place.rs3 = uint8_t(values[3]);
    place.rm = uint8_t(values[4]);
    place.imm = values[5];
    const bool branches = row->op >= Op::BEQ && row->op <= Op::BGEU;
    if (branches || row->op == Op::JAL) {
        place.target = at(pc + X(place.imm));
        if (place.target == &away) place.target = &beyond.emplace_back(away);
        place.imm = int64_t(X(pc + size));
    }
    if (row->op == Op::AUIPC) place.imm += int64_t(pc);
}

template <class X>
Outcome Hart<X>::run(X pc, X until, uint64_t limit) {
    const X before = stop - code_base;
    stop = until;
    for (const X offset : {before, X(stop - code_base)})
        if (offset < code_size) code[offset / 2].step = first<X>;
    reserved = false;
    uint64_t left = limit;
    const Decoded<X>* d = at(pc);
    try {
        for (; left; --left) d = d->step(*this, d);
        return {Cause::limit, pc_of(d), 0, limit, 0};
    } catch (const Trap& trap) {
        const X here = pc_of(d);
        uint32_t word = 0;
        if (memory.holds(here, 4)) std::memcpy(&word, bytes + (here - base), 4);
        if ((word & 3) != 3) word &= 0xffff;
        return {trap.cause, here, trap.value, limit - left + (trap.cause == Cause::exit), word};
    }
}

template struct Hart<uint32_t>;
template struct Hart<uint64_t>;

}  // namespace polyloom::riscv
