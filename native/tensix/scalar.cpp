// SPDX-License-Identifier: Apache-2.0
// The scalar unit (ThCon): arithmetic of GPRs, L1, atomics, registers by address. It is not pipelined, and the thread
// waits while it executes; what LOADIND, LOADREG and ATINCGET load arrives later. Loads, stores and ATINCGET reach L1
// when their bank is free (movement.cpp); ATCAS and ATINCGETPTR do so at once. Source: facts 1.5.
#include <algorithm>
#include <cstring>

#include "fields.hpp"
#include "tile.hpp"

namespace polyloom::tensix {

namespace {

enum : uint32_t {
    SETDMAREG = 0x45,
    FLUSHDMA = 0x46,
    REG2FLOP = 0x48,
    LOADIND = 0x49,
    ADD = 0x58,
    SUB,
    MUL,
    BITWOP,
    SHIFT,
    CMP,
    DMANOP = 0x60,
    ATINCGET,
    ATINCGETPTR,
    ATSWAP,
    ATCAS,
    STOREIND = 0x66,
    STOREREG,
    LOADREG
};
constexpr uint32_t LOAD_LATENCY = 10, ATINCGET_LATENCY = 27, TRY = 15;  // behind 7 and 24 DMANOPs
constexpr uint32_t REGISTERS = 0xffb00000, FIRST_REGISTER = 0xffb11000;

uint32_t word_at(const uint8_t* from) {
    uint32_t value;
    std::memcpy(&value, from, 4);
    return value;
}

void put_word(uint8_t* to, uint32_t value) { std::memcpy(to, &value, 4); }

bool arithmetic(uint32_t op) { return op >= ADD && op <= CMP; }

}  // namespace

Timing Tile::scalar_timing(Word word) const {
    Timing timing;
    timing.unit = Unit::Scalar;
    const uint32_t op = opcode(word);
    if (arithmetic(op)) {
        const bool near = field(word, 23, 23) || field(word, 11, 8) == field(word, 5, 2);
        timing.busy = near ? 3 : 4;
    } else if (op == REG2FLOP || op == FLUSHDMA) {
        timing.busy = 2;
    } else if (op == ATCAS || op == ATINCGETPTR) {
        timing.busy = TRY;
    } else if (op != SETDMAREG && op != DMANOP) {
        timing.busy = 3;
    }
    timing.latency = timing.busy;
    return timing;
}

uint32_t Tile::gpr(const Entry& entry, int thread, uint32_t index) {
    const Writer& writer = gpr_writers[size_t(thread)][index];
    if (writer.due > cycle)
        hazard("gpr-before-load", thread, entry, writer, "a GPR is read before its load has arrived",
               "STALLWAIT with condition C0 (0x1) before the use", stale_gpr(thread, index));
    return state.gprs[size_t(thread)][index];
}

void Tile::put_gpr(int thread, uint32_t index, uint32_t value, uint32_t mask, uint64_t latency, const Entry& entry) {
    if (latency == 0) {
        uint32_t& to = state.gprs[size_t(thread)][index];
        to = (to & ~mask) | (value & mask);
        return;
    }
    gpr_writes.push_back({cycle + latency, thread, index, mask, value});
    gpr_writers[size_t(thread)][index] = {cycle, cycle + latency, entry, thread, false};
}

uint8_t* Tile::l1(const Entry& entry, int thread, uint32_t address, uint32_t size) {
    if (address > L1_BYTES - size)
        context(entry).fault("outside-l1", thread, entry.word, "the address is outside L1",
                             "GPR[base] counts 16 bytes, the offset bytes");
    return state.l1.data() + address;
}

// Whether the head of a gate can execute now. What waits does so in the unit, which no other thread can use meanwhile.
bool Tile::scalar_ready(const Entry& entry, int thread) {
    if (scalar_holder >= 0 && scalar_holder != thread) return false;
    const Word word = entry.word;
    const uint32_t op = opcode(word);
    if (op == FLUSHDMA) {
        const uint32_t conditions = field(word, 3, 0) ? field(word, 3, 0) : 15;
        for (int bit = 0; bit < 4; ++bit)
            if ((conditions >> bit & 1) && condition(bit, thread)) return scalar_holder = thread, false;
        return true;
    }
    if ((op != ATCAS && op != ATINCGETPTR) || field(word, 23, 23)) return true;
    const uint32_t base = gpr(entry, thread, field(word, 5, 0)) * 16;
    const uint8_t* fifo = l1(entry, thread, base, 16);
    bool done;
    if (op == ATCAS) {
        done = word_at(fifo + 4 * field(word, 13, 12)) == field(word, 17, 14);
    } else {
        const uint32_t size = word_at(fifo + 4) - word_at(fifo), width = field(word, 17, 14);
        const uint32_t capacity = width ? 1u << (width - 1) : 0x8000;
        done = field(word, 12, 12) ? size == 0 || size % capacity != 0 : size != 0;
    }
    if (!done) scalar_holder = thread, units[size_t(Unit::Scalar)].free_at = cycle + TRY;
    return done;
}

void Tile::load_indirect(const Entry& entry, int thread) {
    const Word word = entry.word;
    const uint32_t size = field(word, 23, 22), half = field(word, 20, 14), shift = half % 2 * 16;
    const uint32_t offset = gpr(entry, thread, half / 2) >> shift & 0xffff;
    const uint32_t address = gpr(entry, thread, field(word, 5, 0)) * 16 + offset, to = field(word, 11, 6);
    static constexpr uint32_t STEP[4] = {0, 2, 4, 16}, BYTES[4] = {16, 4, 2, 1};
    l1(entry, thread, address & ~(BYTES[size] - 1), BYTES[size]);
    put_gpr(thread, half / 2, (offset + STEP[field(word, 13, 12)]) << shift, 0xffffu << shift, 0, entry);
    ScalarRequest request;
    request.address = address & ~(BYTES[size] - 1), request.bytes = BYTES[size];
    request.to = size == 0 ? to & ~3u : to, request.mask = size == 3 ? 0xff : size == 2 ? 0xffff : ~0u;
    request_l1(request, entry, thread, LOAD_LATENCY, size == 0 ? 4 : 1);
}

// Puts a request behind the others; `count` GPRs get what it loads.
void Tile::request_l1(ScalarRequest& request, const Entry& entry, int thread, uint64_t latency, uint32_t count) {
    request.entry = entry, request.thread = thread, request.issued = cycle, request.due = cycle + latency;
    for (uint32_t n = 0; n < count; ++n)
        gpr_writers[size_t(thread)][request.to + n] = {cycle, request.due, entry, thread, false};
    memory_until[size_t(thread)] = std::max(memory_until[size_t(thread)], cycle + std::max<uint64_t>(latency, 1));
    scalar_requests.push_back(request), ++working;
}

void Tile::store_indirect(const Entry& entry, int thread) {
    const Word word = entry.word;
    const uint32_t half = field(word, 20, 14), shift = half % 2 * 16, from = field(word, 11, 6);
    const uint32_t offset = gpr(entry, thread, half / 2) >> shift & 0xffff;
    const uint32_t base = gpr(entry, thread, field(word, 5, 0));
    static constexpr uint32_t STEP[4] = {0, 2, 4, 16}, BYTES[4] = {16, 4, 2, 1};
    if (field(word, 23, 23)) {
        const uint32_t size = field(word, 22, 21), bytes = BYTES[size];
        ScalarRequest request;
        request.kind = ScalarRequest::store, request.bytes = bytes;
        request.address = (base * 16 + offset) & ~(bytes - 1);
        l1(entry, thread, request.address, bytes);
        for (uint32_t n = 0; n < (size ? 1 : 4); ++n)
            request.values[n] = gpr(entry, thread, size ? from : (from & ~3u) + n);
        request_l1(request, entry, thread, 0, 0);
    } else if (field(word, 22, 22)) {
        const uint32_t address = REGISTERS + ((base + (offset >> 4)) & 0xffffc);
        if (address < FIRST_REGISTER || store(-1, address, 4, gpr(entry, thread, from)).kind != riscv::Answer::done)
            context(entry).fault("unreachable", thread, word,
                                 "STOREIND to a register that the scalar unit cannot reach");
    } else {
        context(entry).fault("not-modelled", thread, word, "STOREIND to SrcA or SrcB is not modelled");
    }
    put_gpr(thread, half / 2, (offset + STEP[field(word, 13, 12)]) << shift, 0xffffu << shift, 0, entry);
}

void Tile::atomic(const Entry& entry, int thread) {
    const Word word = entry.word;
    const uint32_t op = opcode(word), data = field(word, 11, 6);
    if (field(word, 23, 23))
        context(entry).fault("not-modelled", thread, word, "atomics outside L1 are not modelled", "leave bit 23 clear");
    const uint32_t base = gpr(entry, thread, field(word, 5, 0)) * 16;
    uint8_t* at = l1(entry, thread, base, 16) + 4 * field(word, 13, 12);
    ScalarRequest request;
    request.address = base, request.bytes = 16;
    if (op == ATSWAP) {
        request.kind = ScalarRequest::swap, request.mask = field(word, 21, 14);
        if (field(word, 22, 22))
            request.values[data & 3] = gpr(entry, thread, data);
        else
            for (uint32_t n = 0; n < 4; ++n) request.values[n] = gpr(entry, thread, (data & ~3u) + n);
        return request_l1(request, entry, thread, 0, 0);
    }
    if (op == ATINCGET) {
        request.kind = ScalarRequest::increment, request.to = data, request.values[0] = gpr(entry, thread, data);
        request.mask = uint32_t((2ull << field(word, 18, 14)) - 1);
        request.address = base + 4 * field(word, 13, 12), request.bytes = 4;
        return request_l1(request, entry, thread, ATINCGET_LATENCY, 1);
    }
    banks.post(base, cycle, cycle);
    if (op == ATCAS) return put_word(at, field(word, 21, 18));
    const uint32_t old = word_at(at);
    const uint32_t mask = (1u << field(word, 17, 14)) - 1;
    const uint32_t by = field(word, 22, 22) ? 0 : 1u << field(word, 21, 18);
    put_word(at, ((old + by) & mask) | (old & ~mask));
    put_gpr(thread, data, old, ~0u, TRY, entry);
}

// To configuration words from THCON's first on, or, with bit 21, to an address counter.
void Tile::reg_to_flop(const Entry& entry, int thread) {
    const Word word = entry.word;
    const uint32_t size = field(word, 23, 22), from = field(word, 5, 0);
    const Layout words = layout(state.member);
    if (!field(word, 21, 21)) {
        const uint32_t count = size == 0 ? 4 : 1, index = words.thcon + (field(word, 12, 6) & ~(count - 1));
        const int bank = int(state.config.thread[size_t(thread)][0] & 1);
        if (index + count > words.global)
            context(entry).fault("no-such-config", thread, word, "REG2FLOP reaches THCON's configuration only");
        for (uint32_t n = 0; n < count; ++n)
            config_writes.push_back(
                {cycle + 2, -1, bank, index + n, ~0u, gpr(entry, thread, (from & ~(count - 1)) + n)});
        slow_config.push_back({cycle, cycle + 2, entry, thread, false});
        return;
    }
    const uint32_t shift = field(word, 19, 18), which = field(word, 10, 9), channel = field(word, 11, 11);
    const uint32_t value = gpr(entry, thread, from);
    uint32_t given = 0;
    if (size == 1) given = shift ? 0 : value;
    if (size == 2) given = shift == 0 ? value & 0xffff : shift == 2 ? value >> 16 : 0;
    if (size == 3) given = value >> 8 * shift & 0xff;
    const uint32_t whose = field(word, 20, 20) ? field(word, 17, 16) : uint32_t(thread);
    if (whose >= THREADS || which == 3) return;
    AddressCounter& counter = state.counters[whose][which];
    std::array<uint32_t, 2>* const all[8] = {&counter.x,          &counter.y,          &counter.z,
                                             &counter.w,          &counter.x_carriage, &counter.y_carriage,
                                             &counter.z_carriage, &counter.w_carriage};
    static constexpr uint32_t MASK[4] = {0x3ffff, 0x1fff, 0xff, 0xff};  // as counters.cpp has them
    (*all[field(word, 8, 6)])[channel] = given & MASK[field(word, 7, 6)];
}

void Tile::execute_scalar(const Entry& entry, int thread, const Timing& timing) {
    const Word word = entry.word;
    const uint32_t op = opcode(word);
    scalar_holder = -1;
    if (op == DMANOP || op == FLUSHDMA) return;
    if (op == SETDMAREG) {
        if (field(word, 7, 7))
            context(entry).fault("not-modelled", thread, word, "SETDMAREG with mode 1 is not modelled");
        const uint32_t half = field(word, 6, 0), shift = half % 2 * 16;
        return put_gpr(thread, half / 2, field(word, 23, 8) << shift, 0xffffu << shift, 0, entry);
    }
    if (op == LOADIND) return load_indirect(entry, thread);
    if (op == STOREIND) return store_indirect(entry, thread);
    if (op >= ATINCGET && op <= ATCAS) return atomic(entry, thread);
    if (op == REG2FLOP) return reg_to_flop(entry, thread);
    if (op == STOREREG || op == LOADREG) {
        const uint32_t address = REGISTERS + (field(word, 17, 0) << 2), index = field(word, 23, 18);
        uint64_t value = 0;
        const bool loads = op == LOADREG;
        const bool reached =
            address >= FIRST_REGISTER &&
            (loads ? load(-1, address, 4, value) : store(-1, address, 4, gpr(entry, thread, index))).kind ==
                riscv::Answer::done;
        if (!reached)
            context(entry).fault("unreachable", thread, word, "a register that the scalar unit cannot reach",
                                 "addresses from 0xFFB11000 on");
        if (!loads) return;
        put_gpr(thread, index, uint32_t(value), ~0u, LOAD_LATENCY, entry);
        memory_until[size_t(thread)] = std::max(memory_until[size_t(thread)], cycle + LOAD_LATENCY);
        return;
    }
    if (!arithmetic(op)) context(entry).fault("not-modelled", thread, word, "this scalar instruction is not modelled");
    const uint32_t a = gpr(entry, thread, field(word, 5, 0)), mode = field(word, 20, 18);
    const uint32_t b = field(word, 23, 23) ? field(word, 11, 6) : gpr(entry, thread, field(word, 11, 6));
    uint32_t result = 0;
    const auto reserved = [&] { context(entry).fault("reserved-mode", thread, word, "this mode is reserved"); };
    if (op == ADD) result = a + b;
    if (op == SUB) result = a - b;
    if (op == MUL) result = (a & 0xffff) * (b & 0xffff);
    if (op == BITWOP && mode > 2) reserved();
    if (op == BITWOP) result = mode == 0 ? a & b : mode == 1 ? a | b : a ^ b;
    if (op == SHIFT && mode > 1) reserved();
    if (op == SHIFT) result = mode == 0 ? a << (b & 31) : a >> (b & 31);
    if (op == CMP && mode > 2) reserved();
    if (op == CMP) result = mode == 0 ? a > b : mode == 1 ? a < b : a == b;
    put_gpr(thread, field(word, 17, 12), result, ~0u, timing.busy, entry);
}

}  // namespace polyloom::tensix
