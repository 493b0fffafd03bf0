// SPDX-License-Identifier: Apache-2.0
#include "core.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>

#include "riscv/execute.hpp"
#include "riscv/table.hpp"
#include "tile.hpp"

namespace polyloom::tensix {

namespace {

using riscv::Answer;
using riscv::Cause;
using riscv::Op;

constexpr uint32_t PUSH = 0xffe40000;

// A word whose low bits are not 11: rotated back, and stored where a push goes.
Answer push_word(riscv::Hart<Baby>& h, const riscv::Decoded<Baby>& d) {
    const uint32_t word = uint32_t(d.imm);
    Core& core = *h.state.core;
    return core.tile.store(core.number, PUSH, 4, word >> 2 | word << 30);
}

Answer load_register(void* self, void* who, uint64_t address, unsigned size, uint64_t& value) {
    return static_cast<Tile*>(self)->load(static_cast<Core*>(who)->number, uint32_t(address), size, value);
}

Answer store_register(void* self, void* who, uint64_t address, unsigned size, uint64_t value) {
    return static_cast<Tile*>(self)->store(static_cast<Core*>(who)->number, uint32_t(address), size, uint32_t(value));
}

// Latency of a load from a register. Source: facts 1.9.
uint32_t far_latency(uint32_t address) {
    if (address < L1_BYTES) return 8;
    const uint32_t region = address >> 16;
    if (region >= 0xffe8 && region < 0xffef) return 3;
    if (region == 0xffe0 || region >= 0xffef) return 4;
    return 7;
}

// Source: facts 1.9 and tensix.md: two cycles for divisors 0 and 1 and for overflow, else 6 and the dividend's bits.
uint32_t division_cycles(uint32_t dividend, uint32_t divisor, bool is_signed) {
    if (divisor <= 1 || (is_signed && dividend == 0x80000000 && divisor == 0xffffffff)) return 2;
    const uint32_t magnitude = is_signed && int32_t(dividend) < 0 ? 0 - dividend : dividend;
    return std::min<uint32_t>(33, 6 + uint32_t(std::bit_width(magnitude)));
}

// What an instruction needs and occupies, by its operation.
struct Shape {
    bool reads1 = false, reads2 = false, writes = false;
    enum : uint8_t { plain, load, store, multiply, divide } kind = plain;
};

constexpr Shape shape_of(uint16_t op) {
    if (op >= riscv::CUSTOM) return {};
    const Op o = Op(op);
    if (o == Op::LUI || o == Op::AUIPC || o == Op::JAL) return {false, false, true, Shape::plain};
    if (o == Op::JALR) return {true, false, true, Shape::plain};
    if (o >= Op::BEQ && o <= Op::BGEU) return {true, true, false, Shape::plain};
    if (o >= Op::LB && o <= Op::LD) return {true, false, true, Shape::load};
    if (o >= Op::SB && o <= Op::SD) return {true, true, false, Shape::store};
    if (o == Op::MUL || o == Op::MULH || o == Op::MULHSU || o == Op::MULHU) return {true, true, true, Shape::multiply};
    if (o == Op::DIV || o == Op::DIVU || o == Op::REM || o == Op::REMU) return {true, true, true, Shape::divide};
    if (o >= Op::ADDI && o <= Op::SRAI) return {true, false, true, Shape::plain};
    if (o == Op::FENCE || o == Op::FENCE_TSO || o == Op::ECALL || o == Op::EBREAK) return {};
    return {true, true, true, Shape::plain};
}

constexpr std::array<Shape, 256> SHAPES = [] {
    std::array<Shape, 256> all{};
    for (uint16_t op = 0; op < 256; ++op) all[op] = shape_of(op);
    return all;
}();

void add_code(riscv::Code<Baby>& code, Tile& tile) {
    code.add(0, L1_BYTES, tile.state.l1.data());
    for (const uint32_t low : {0u, 1u, 2u}) code.custom.push_back({low, 3, riscv::custom_step<Baby, push_word>, 4});
}

const char* describe(Cause cause) {
    switch (cause) {
        case Cause::illegal: return "an instruction that RV32IM does not have";
        case Cause::fetch: return "no code is at this address";
        case Cause::load: return "a load from an address that this core cannot reach";
        case Cause::store: return "a store to an address that this core cannot reach";
        case Cause::call: return "ecall: nothing on a tile answers it";
        default: return "a trap";
    }
}

}  // namespace

template <class H, class D>
bool CoreTiming::issue(H& h, const D& d) {
    Core& c = *core;
    const uint64_t now = c.tile.cycle;
    const Shape shape = d.op < 256 ? SHAPES[d.op] : Shape{};
    uint64_t needed = c.leaves[c.entered % 8];
    if (shape.reads1) needed = std::max(needed, c.ready[d.rs1]);
    if (shape.reads2) needed = std::max(needed, c.ready[d.rs2]);
    if (needed > now) {
        c.free_at = needed;
        return false;
    }
    Attempt& a = c.attempt;
    a = {};
    a.rd = shape.writes ? d.rd : 32;
    if (shape.kind == Shape::multiply) {
        a.cycles = a.latency = 2;
    } else if (shape.kind == Shape::divide) {
        const Op op = Op(d.op);
        a.cycles = a.latency = division_cycles(h.x[d.rs1], h.x[d.rs2], op == Op::DIV || op == Op::REM);
    } else if (shape.kind == Shape::load || shape.kind == Shape::store) {
        a.address = h.x[d.rs1] + uint32_t(d.imm);
        const bool in_l1 = a.address < L1_BYTES, near = a.address - LOCAL < c.local_bytes();
        if (shape.kind == Shape::store) {
            a.kind = in_l1 ? Attempt::l1_store : Attempt::store;
        } else {
            a.kind = near ? Attempt::local_load : Attempt::far_load;
            a.latency = near ? 2 : far_latency(a.address);
            if (!near) c.polled = a.address, c.polls_at = uint32_t(d.pc);
            uint64_t from = near ? now : c.far[c.far_loads % 4];
            for (size_t n = 0; in_l1 && n < 8; ++n)
                if (c.stored[n] == a.address >> 2) from = std::max(from, c.drained[n]);
            if (from > now) {
                c.free_at = from;
                return false;
            }
        }
        if (in_l1 && shape.kind == Shape::load && !c.tile.banks.claim(a.address, c.number, now)) return false;
    }
    return true;
}

template <class H, class D>
void CoreTiming::branch(H&, const D& d, bool taken, uint64_t to) {
    Core& c = *core;
    const Op op = Op(d.op);
    if (op == Op::JALR) {
        uint32_t& last = c.targets[d.pc / 4 % 64];
        c.attempt.mispredicted = last != to;
        last = uint32_t(to);
    } else if (op != Op::JAL) {
        c.attempt.mispredicted = taken != (uint32_t(to) <= d.pc);
    }
    c.attempt.parks = taken && to == d.pc;
}

Core::Core(Tile& tile, int number) : tile(tile), number(number) {
    ram = std::make_unique<riscv::Block>(LOCAL, local_bytes());
    if (number == NC) iram = std::make_unique<riscv::Block>(IRAM, IRAM_BYTES);
    map.add({0, L1_BYTES, tile.state.l1.data(), {}});
    map.add(*ram);
    map.add(LOCAL + 0x1000, 0x100000000ull - LOCAL - 0x1000, {&tile, load_register, store_register});
}

Core::~Core() = default;

void Core::release(uint32_t pc) {
    if (number == NC && !own_code) {
        own_code = std::make_unique<riscv::Code<Baby>>(3);
        add_code(*own_code, tile);
        own_code->add(IRAM, IRAM_BYTES, iram->bytes.get());
    } else if (number != NC && !tile.code) {
        tile.code = std::make_unique<riscv::Code<Baby>>(3);
        add_code(*tile.code, tile);
    }
    code = number == NC ? own_code.get() : tile.code.get();
    hart = std::make_unique<riscv::Hart<Baby>>(*code, riscv::Mapped(map, this));
    hart->timing.core = hart->state.core = this;
    hart->pc = pc;
    running = true, stopped = parked = waits_pcbuf = false;
    ready.fill(0), leaves.fill(0), far.fill(0), drained.fill(0), stored.fill(~0u), targets.fill(0);
    entered = far_loads = stores = last_leave = store_port = 0;
    free_at = tile.cycle;
}

// What the instruction that was just executed occupies.
void Core::keep(uint32_t at) {
    const uint64_t now = tile.cycle;
    const Attempt& a = attempt;
    uint64_t leave = now + a.cycles;
    if (a.kind == Attempt::far_load || a.kind == Attempt::local_load) leave = now + a.latency - 1;
    if (a.kind == Attempt::far_load) far[far_loads++ % 4] = leave;
    if (a.kind == Attempt::l1_store) {
        const uint64_t start = tile.banks.post(a.address, now, std::max(store_port, now));
        store_port = start + NARROW_WRITE;
        leave = std::max(leave, start + 1);
        drained[stores % 8] = leave, stored[stores % 8] = a.address >> 2, ++stores;
    }
    last_leave = std::max(last_leave, leave);
    leaves[entered++ % 8] = last_leave;
    ready[a.rd] = now + a.latency;
    if (a.kind == Attempt::l1_store || a.kind == Attempt::store) tile.moved = true;
    free_at = now + a.cycles + (a.mispredicted ? 2 : 0);
    if (a.parks) parked = true;
    ++retired;
    if (tile.tracing) {
        unsigned there = 0;
        const uint32_t word = uint32_t(code->word(at, there));
        tile.events.push_back({now, now + a.cycles, -1, CORE_TRACK + number, word, at, 0, uint32_t(now)});
    }
}

bool Core::step() {
    if (at_rest() || tile.cycle < free_at) return false;
    attempt = {};
    const uint32_t at = hart->pc;
    const riscv::Outcome outcome = hart->run(1);
    if (outcome.cause == Cause::wait) return false;
    if (outcome.executed == 1 && (outcome.cause == Cause::limit || outcome.cause == Cause::exit)) {
        waits_pcbuf = false;
        keep(at);
        if (outcome.cause == Cause::exit) stopped = true;
        return true;
    }
    Finding finding;
    finding.kind = "core-trap", finding.cycle = tile.cycle, finding.pc = uint32_t(outcome.pc);
    const auto digits = [](uint64_t value) {
        char text[16];
        std::snprintf(text, sizeof text, "0x%08x", uint32_t(value));
        return std::string(text);
    };
    finding.text = std::string("core ") + CORE_NAMES[number] + " at " + digits(outcome.pc) + ": ";
    finding.text += describe(outcome.cause);
    if (outcome.cause == Cause::load || outcome.cause == Cause::store) finding.text += ": " + digits(outcome.value);
    throw Fault{finding};
}

uint64_t Core::timed_until() const { return at_rest() ? 0 : std::max(free_at, last_leave); }

}  // namespace polyloom::tensix

template struct polyloom::riscv::Code<polyloom::tensix::Baby>;
template struct polyloom::riscv::Hart<polyloom::tensix::Baby>;
