// SPDX-License-Identifier: Apache-2.0
// Harts of other machines, each with one thing that is its own: what a client of riscv/hart.hpp can ask for.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "riscv/execute.hpp"
#include "tests/expect.hpp"

using namespace polyloom::riscv;

static constexpr uint32_t ALL = 0x3ff, NO_C = ALL & ~(1u << 5);
static constexpr uint64_t BASE = 0x1000, SIZE = 0x1000, OUT = 0x10;

// Instructions by format; registers by number.
enum Register : uint32_t { ZERO, RA, A0 = 10, A1, A2, A3, A4 };
static constexpr uint32_t i_type(uint32_t op, uint32_t f3, uint32_t rd, uint32_t rs1, uint32_t imm) {
    return imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
static constexpr uint32_t r_type(uint32_t op, uint32_t f3, uint32_t f7, uint32_t rd, uint32_t rs1, uint32_t rs2) {
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
static constexpr uint32_t s_type(uint32_t f3, uint32_t rs2, uint32_t rs1, uint32_t imm) {
    return (imm >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (imm & 31) << 7 | 0x23;
}
static constexpr uint32_t b_type(uint32_t f3, uint32_t rs1, uint32_t rs2, uint32_t to) {
    return (to >> 12 & 1) << 31 | (to >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (to >> 1 & 15) << 8 |
           (to >> 11 & 1) << 7 | 0x63;
}
static constexpr uint32_t addi(uint32_t rd, uint32_t rs1, uint32_t imm) {
    return i_type(0x13, 0, rd, rs1, imm & 0xfff);
}
static constexpr uint32_t add(uint32_t rd, uint32_t rs1, uint32_t rs2) { return r_type(0x33, 0, 0, rd, rs1, rs2); }
static constexpr uint32_t lw(uint32_t rd, uint32_t rs1, uint32_t imm = 0) { return i_type(3, 2, rd, rs1, imm); }
static constexpr uint32_t sw(uint32_t rs2, uint32_t rs1, uint32_t imm = 0) { return s_type(2, rs2, rs1, imm); }
static constexpr uint32_t bne(uint32_t rs1, uint32_t rs2, uint32_t to) { return b_type(1, rs1, rs2, to & 0x1fff); }
static constexpr uint32_t csrrw(uint32_t rd, uint32_t csr, uint32_t rs1) { return i_type(0x73, 1, rd, rs1, csr); }
static constexpr uint32_t csrrs(uint32_t rd, uint32_t csr, uint32_t rs1) { return i_type(0x73, 2, rd, rs1, csr); }
static constexpr uint32_t RET = 0x00008067, ECALL = 0x00000073, MRET = 0x30200073, FENCE_I = 0x0000100f;
static constexpr uint32_t LR = 0x1005a52f, SC = 0x18c5a6af;  // lr.w a0, (a1); sc.w a3, a2, (a1)
static constexpr uint32_t AMOADD = 0x00c5a52f;               // amoadd.w a0, a2, (a1)

static void put(Block& memory, uint64_t address, const std::vector<uint32_t>& words) {
    std::memcpy(memory.bytes.get() + (address - memory.base), words.data(), 4 * words.size());
}

static uint32_t get(const Block& memory, uint64_t address) {
    uint32_t value;
    std::memcpy(&value, memory.bytes.get() + (address - memory.base), sizeof value);
    return value;
}

// One hart with code at the start of its memory, which returns to OUT.
template <class P>
struct Program {
    using X = typename P::X;
    explicit Program(const std::vector<uint32_t>& words, uint32_t extensions = ALL)
        : memory(BASE, SIZE), code(extensions, X(BASE), X(4 * words.size()), memory.bytes.get()), hart(code, memory) {
        put(memory, BASE, words);
        hart.x[RA] = X(OUT);
    }
    Outcome run(uint64_t most = 1000) { return hart.run(X(BASE), X(OUT), most); }

    Block memory;
    Code<P> code;
    Hart<P> hart;
};

// What clients hide of the plain hart; pairs are left out where they are not what is tried.
struct Small : Plain<uint32_t> {
    static constexpr bool FUSED = false;
};

// A device: a register that is there at the fourth time of asking, and one that takes words while there is room.
struct Queue {
    int asked = 0, room = 2;
    std::vector<uint64_t> taken;
    static Answer load(void* self, void*, uint64_t address, unsigned, uint64_t& value) {
        Queue& queue = *static_cast<Queue*>(self);
        if (address & 4) return trap(exception(24), address);
        if (++queue.asked % 4) return NOT_YET;
        value = 40 + uint64_t(queue.asked);
        return DONE;
    }
    static Answer store(void* self, void*, uint64_t, unsigned size, uint64_t value) {
        Queue& queue = *static_cast<Queue*>(self);
        if (queue.taken.size() == size_t(queue.room)) return NOT_YET;
        queue.taken.push_back(size == 4 ? uint32_t(value) : value);
        return DONE;
    }
};

struct WithDevices : Small {
    using Memory = Mapped;
};

struct Devices {
    explicit Devices(const std::vector<uint32_t>& words)
        : low(BASE, SIZE), high(0x8000, 0x100), code(ALL, BASE, uint32_t(4 * words.size()), low.bytes.get()) {
        put(low, BASE, words);
        map.add(high), map.add(low), map.add(0x4000, 16, {&queue, Queue::load, Queue::store});
        hart = std::make_unique<Hart<WithDevices>>(code, Mapped(map));
        hart->x[RA] = OUT, hart->x[A1] = 0x4000, hart->x[A4] = 0x8000;
    }
    Outcome run(uint32_t from) { return hart->run(from, OUT, 1000); }

    Block low, high;
    Queue queue;
    Map map;
    Code<WithDevices> code;
    std::unique_ptr<Hart<WithDevices>> hart;
};

static void a_device_that_is_not_ready() {
    Devices on({addi(A0, ZERO, 1), lw(A0, A1), sw(A0, A4), RET});
    Outcome done = on.run(BASE);
    expect(done.cause == Cause::wait && done.pc == BASE + 4 && done.executed == 1 && on.hart->x[A0] == 1,
           "not yet: before");
    for (int n = 0; n < 2; ++n) {
        done = on.run(on.hart->pc);
        expect(done.cause == Cause::wait && done.executed == 0 && on.hart->pc == BASE + 4,
               "not yet: the same pc again");
    }
    done = on.run(on.hart->pc);
    expect(done.cause == Cause::stop && done.executed == 3 && on.queue.asked == 4, "the fourth time it is there");
    expect(on.hart->x[A0] == 44 && get(on.high, 0x8000) == 44, "and memory in another range takes it");
}

static void a_device_that_is_full() {
    Devices on({sw(A4, A1), sw(A1, A1), sw(A2, A1), RET});
    const Outcome full = on.run(BASE);
    expect(full.cause == Cause::wait && full.pc == BASE + 8 && full.executed == 2, "a store waits for room");
    on.queue.room = 3;
    expect(on.run(on.hart->pc).executed == 2 && on.queue.taken == std::vector<uint64_t>({0x8000, 0x4000, 0}),
           "in order, once");
}

static void faults_of_devices_are_told() {
    Devices own({lw(A0, A1, 4), RET}), beyond({lw(A0, A1, 16), RET}), wide({i_type(3, 2, A0, A4, 0x100), RET});
    Outcome done = own.run(BASE);
    expect(done.cause == exception(24) && done.value == 0x4004 && exception_number(done.cause) == 24,
           "an exception of its own");
    done = beyond.run(BASE);
    expect(done.cause == Cause::load && done.value == 0x4010, "behind a device is nothing");
    done = wide.run(BASE);
    expect(done.cause == Cause::load && done.value == 0x8100, "nor behind memory");
}

static void an_atomic_at_a_device_is_a_load_and_a_store() {
    Devices on({AMOADD, RET}), reserved({LR, RET});
    on.hart->x[A2] = 2;
    for (int n = 0; n < 3; ++n) expect(on.run(BASE).cause == Cause::wait, "it waits as a load does");
    expect(on.run(BASE).cause == Cause::stop && on.hart->x[A0] == 44 && on.queue.taken == std::vector<uint64_t>{46},
           "then both");
    expect(reserved.run(BASE).cause == Cause::load, "no reservation is at a device");
}

// A word whose low bits are not 11 is one instruction of 32 bits: it is pushed, unless there is no room.
struct Pushes : Plain<uint32_t> {
    struct State {
        std::vector<uint32_t> pushed;
        size_t room = 2;
    };
    template <class H>
    static Answer call(H&) {
        return leave(Cause::exit);
    }
};
static Answer push(Hart<Pushes>& h, const Decoded<Pushes>& d) {
    if (h.state.pushed.size() == h.state.room) return NOT_YET;
    h.state.pushed.push_back(uint32_t(d.imm) >> 2 | uint32_t(d.imm) << 30);
    return DONE;
}

static void words_of_another_size() {
    // As 16-bit instructions these words would be c.addi4spn, c.nop and c.slli.
    Program<Pushes> on({addi(A0, A0, 1), 0x10037840, 0x00010001, addi(A0, A0, 1), 0x2800c02a, RET}, NO_C);
    for (uint32_t low : {0u, 1u, 2u}) on.code.custom.push_back({low, 3, custom_step<Pushes, push>, 4});
    Outcome done = on.run();
    expect(done.cause == Cause::wait && done.pc == BASE + 16 && done.executed == 4 && done.word == 0,
           "custom words wait too");
    on.hart.state.room = 3;
    done = on.hart.run(on.hart.pc, OUT, 1000);
    expect(done.cause == Cause::stop && done.executed == 2 && on.hart.x[A0] == 2, "the rest");
    expect(on.hart.state.pushed == std::vector<uint32_t>({0x0400de10, 0x40004000, 0x8a00300a}), "each word once");
    Program<Pushes> without({0x00010001, RET}, NO_C);
    expect(without.run().cause == Cause::illegal, "without the rows they mean nothing");
}

static Answer long_word(Hart<Pushes>& h, const Decoded<Pushes>& d) {
    h.x[d.rd] = uint32_t(uint64_t(d.imm) >> 32);
    return DONE;
}

static void a_word_of_eight_bytes() {
    Program<Pushes> on({0x0000053f, 123456, RET}), cut({0x0000053f});
    for (Program<Pushes>* each : {&on, &cut})
        each->code.custom.push_back({0x3f, 0x7f, custom_step<Pushes, long_word>, 8});
    const Outcome done = on.run();
    expect(done.cause == Cause::stop && done.executed == 2 && on.hart.x[A0] == 123456,
           "eight bytes are one instruction");
    const Outcome half = cut.run();
    expect(half.cause == Cause::fetch && half.pc == BASE && half.executed == 0, "half of one is none");
    Program<Pushes> end({RET});
    end.code.custom.push_back({0x0200, 0xff00, custom_step<Pushes, push>, 4});
    expect(end.run().cause == Cause::stop, "a word whose bits are seen not to match is what the table says");
}

// Registers of floats that have eight lanes, with a packed addition under a mask.
struct Wide : Plain<uint64_t> {
    using Floats = Lanes<256>;
    struct State {
        uint8_t mask = 0xff;
    };
    static constexpr bool FUSED = false;
    template <class H>
    static Answer call(H&) {
        return leave(Cause::exit);
    }
};
static Answer packed_add(Hart<Wide>& h, const Decoded<Wide>& d) {
    if (mode(h, &d) > RMM) return ABSENT;
    for (int n = 0; n < 8; ++n)
        if (h.state.mask >> n & 1)
            h.f[d.rd & 31].lane[n] =
                polyloom::riscv::add<Single>(h.f[d.rs1].lane[n], h.f[d.rs2].lane[n], mode(h, &d), h.flags);
    return DONE;
}
static Answer packed_load(Hart<Wide>& h, const Decoded<Wide>& d) {
    const uint64_t address = h.x[d.rs1] + uint64_t(int64_t(int32_t(d.imm)) >> 20);
    const uint8_t* from = h.bytes(address, 32, Access::load);
    if (!from) return trap(Cause::load, address);
    std::memcpy(h.f[d.rd & 31].lane, from, 32);
    return DONE;
}

static void wide_registers_of_floats() {
    const uint32_t load1 = i_type(7, 5, 1, A0, 0x100), load2 = i_type(7, 5, 2, A0, 0x120),
                   far = i_type(7, 5, 2, A0, 0x7f8);
    const uint32_t packed = r_type(0x7b, 0, 0, 3, 1, 2), scalar = r_type(0x53, 0, 0, 4, 1, 2),
                   out = r_type(0x53, 0, 0x70, A1, 4, 0);
    Program<Wide> on({load1, load2, packed, scalar, out, addi(A0, A0, 0x7f0), far});
    on.code.custom.push_back({0x5007, 0x707f, custom_step<Wide, packed_load>});
    on.code.custom.push_back({0x7b, 0xfe00007f, custom_step<Wide, packed_add>});
    for (int n = 0; n < 16; ++n) {
        const float value = float(n) + 0.5f;
        std::memcpy(on.memory.bytes.get() + 0x100 + 4 * n, &value, sizeof value);
    }
    on.hart.x[A0] = BASE;
    on.hart.state.mask = 0xbf;
    on.hart.f[3].lane[6] = 77;
    for (uint32_t& lane : on.hart.f[4].lane) lane = 1;
    const Outcome done = on.run();
    expect(done.cause == Cause::load && done.executed == 6 && done.value == BASE + 0xfe8,
           "the last load is partly outside");
    for (int n = 0; n < 8; ++n) {
        const float sum = 2 * float(n) + 9;
        expect(on.hart.f[3].lane[n] == (n == 6 ? 77 : std::bit_cast<uint32_t>(sum)), "a lane where the mask has it");
        expect(on.hart.f[4].lane[n] == (n == 0 ? std::bit_cast<uint32_t>(9.0f) : 0), "a scalar clears the other lanes");
    }
    expect(on.hart.x[A1] == std::bit_cast<uint32_t>(9.0f), "a scalar needs no box");
}

// Harts on one memory.
struct Together : Plain<uint32_t> {
    using Reservations = Shared<64>;
    static constexpr bool FUSED = false;
};

struct Two {
    explicit Two(const std::vector<uint32_t>& words)
        : memory(BASE, SIZE), code(ALL, BASE, 0x100, memory.bytes.get()), a(code, memory, &all), b(code, memory, &all) {
        put(memory, BASE, words);
        for (Hart<Together>* each : {&a, &b}) each->x[RA] = OUT, each->x[A1] = BASE + 0x800, each->x[A2] = 7;
    }
    Block memory;
    Granules<64> all;
    Code<Together> code;
    Hart<Together> a, b;
};

static void reservations_survive_a_quantum() {
    for (int between = 0; between < 6; ++between) {
        Two on({LR, addi(A4, ZERO, 1), SC, RET, sw(A2, A1, 60), RET, sw(A2, A1, 64), RET, LR, RET, AMOADD, RET});
        expect(on.a.run(BASE, OUT, 2).executed == 2, "the first quantum ends within the pair");
        if (between == 1) on.b.run(BASE + 16, OUT, 10);
        if (between == 2) on.b.run(BASE + 24, OUT, 10);
        if (between == 3) on.b.run(BASE + 32, OUT, 10);
        if (between == 4) on.b.run(BASE + 40, OUT, 10);
        if (between == 5) on.all.stored(BASE + 0x83f, 8);
        expect(on.a.run(on.a.pc, OUT, 10).cause == Cause::stop, "the second ends at the return");
        const bool lost = between == 1 || between == 4 || between == 5;
        expect(on.a.x[A3] == lost, "what other harts store to the granule ends a reservation, and nothing else does");
        expect((get(on.memory, BASE + 0x800) == 7) == (!lost || between == 4), "the store happens where it succeeds");
    }
}

static void two_harts_count_together() {
    // retry: lr.w a0, (a1); addi a2, a0, 1; sc.w a3, a2, (a1); bnez a3, retry; addi a4, a4, -1; bnez a4, retry; ret
    Two on({LR, addi(A2, A0, 1), SC, bne(A3, ZERO, uint32_t(-12)), addi(A4, A4, uint32_t(-1)),
            bne(A4, ZERO, uint32_t(-20)), RET});
    on.a.x[A4] = on.b.x[A4] = 100;
    on.a.pc = on.b.pc = BASE;
    uint64_t executed = 0, quantum = 1;
    for (bool a = true, b = true; a || b; quantum = quantum % 7 + 1) {
        const Outcome first = a ? on.a.run(on.a.pc, OUT, quantum) : Outcome{},
                      second = b ? on.b.run(on.b.pc, OUT, 3) : Outcome{};
        a = a && first.cause == Cause::limit, b = b && second.cause == Cause::limit;
        executed += first.executed + second.executed;
    }
    expect(get(on.memory, BASE + 0x800) == 200, "no increment is lost");
    expect(executed > 2 * (1 + 600) && on.all.holders.empty(), "some had to be tried again");
    expect(on.code.at(BASE) == on.code.at(BASE) && on.a.code == on.b.code, "what is decoded is shared");
}

// Misaligned accesses.
struct Does : Small {
    static constexpr Misaligned MISALIGNED = Misaligned::perform;
};
struct Rounds : Small {
    static constexpr Misaligned MISALIGNED = Misaligned::round_down;
};
struct DoesMapped : Does {
    using Memory = Mapped;
};

static void misaligned_accesses() {
    Program<Small> traps({sw(A2, A1, 1), lw(A0, A1, 1), RET});
    Program<Does> does({sw(A2, A1, 1), lw(A0, A1, 1), RET});
    Program<Rounds> rounds({sw(A2, A1, 1), lw(A0, A1, 3), RET});
    traps.hart.x[A1] = does.hart.x[A1] = rounds.hart.x[A1] = BASE + 0x800;
    traps.hart.x[A2] = does.hart.x[A2] = rounds.hart.x[A2] = 0x12345678;
    Outcome done = traps.run();
    expect(done.cause == Cause::misaligned_store && done.value == BASE + 0x801 && exception_number(done.cause) == 6,
           "a trap");
    expect(traps.hart.run(BASE + 4, OUT, 9).cause == Cause::misaligned, "a trap of a load");
    expect(does.run().cause == Cause::stop && does.hart.x[A0] == 0x12345678, "done");
    expect(get(does.memory, BASE + 0x801) == 0x12345678, "where it is");
    expect(rounds.run().cause == Cause::stop && rounds.hart.x[A0] == 0x12345678, "rounded down");
    expect(get(rounds.memory, BASE + 0x800) == 0x12345678, "to the word");
    Program<Does> atomics({AMOADD});
    atomics.hart.x[A1] = BASE + 0x802;
    expect(atomics.run().cause == Cause::misaligned_store, "atomics are aligned everywhere");
}

static void misaligned_across_ranges() {
    Block low(BASE, SIZE), high(BASE + SIZE, 0x100);
    Map map;
    map.add(low), map.add(high);
    put(low, BASE, {sw(A2, A1), lw(A0, A1), RET});
    Code<DoesMapped> code(ALL, BASE, 12, low.bytes.get());
    Hart<DoesMapped> hart(code, map);
    hart.x[RA] = OUT, hart.x[A1] = BASE + SIZE - 1, hart.x[A2] = 0x12345678;
    expect(hart.run(BASE, OUT, 9).cause == Cause::stop && hart.x[A0] == 0x12345678, "half here, half there");
    expect(low.bytes.get()[SIZE - 1] == 0x78 && high.bytes.get()[0] == 0x56, "each byte in its range");
    hart.x[A1] = BASE + SIZE + 0xfe, high.bytes.get()[0xfe] = 1;
    const Outcome done = hart.run(BASE, OUT, 9);
    expect(done.cause == Cause::store && done.value == BASE + SIZE + 0x100 && high.bytes.get()[0xfe] == 1,
           "all or nothing");
}

// Pages of data and of code that are found when they are first met.
struct Paged : Plain<uint64_t> {
    using Memory = Span;
    using Reservations = Shared<64>;
    static constexpr bool TRANSLATED = true, FUSED = false;
    static constexpr Misaligned MISALIGNED = Misaligned::perform;
    struct State {
        std::vector<std::pair<uint64_t, uint64_t>> pages;  // of addresses, to pages of memory
        Block* block = nullptr;
        int wait = 0, faults = 0;
    };
    template <class H>
    static Answer call(H&) {
        return leave(Cause::exit);
    }
    template <class H>
    static Answer translate(H& h, uint64_t address, unsigned, Access access, uint64_t& physical) {
        for (const auto& [from, to] : h.state.pages)
            if (address / PAGE == from) {
                physical = to * PAGE + address % PAGE;
                return DONE;
            }
        return polyloom::riscv::trap(access == Access::load ? Cause::load_page : Cause::store_page, address);
    }
    template <class H>
    static Answer fetch(H& h, uint64_t address) {
        uint64_t physical;
        if (h.state.wait && h.state.wait--) return NOT_YET;
        if (translate(h, address, 1, Access::load, physical).kind != Answer::done)
            return polyloom::riscv::trap(Cause::fetch_page, address);
        h.code->add(address / PAGE * PAGE, PAGE, h.memory.at(physical / PAGE * PAGE, PAGE));
        return DONE;
    }
};

static void translated_addresses() {
    Block memory(0, 8 * PAGE);
    Granules<64> all;
    Code<Paged> code(ALL);
    Hart<Paged> hart(code, memory, &all);
    // Page 0x100 of addresses is page 3, 0x101 is page 1 of memory: an instruction lies on both.
    hart.state.pages = {{0x100, 3}, {0x101, 1}, {0x200, 5}, {0x201, 2}};
    hart.state.wait = 1;
    const uint32_t store = sw(A2, A1), load = lw(A0, A1);
    put(memory, 4 * PAGE - 8, {0x00010001, store << 16 | 1, 0});
    put(memory, PAGE, {0, 0, 0});
    const std::vector<uint16_t> halves{uint16_t(store >> 16), uint16_t(load), uint16_t(load >> 16), uint16_t(RET),
                                       uint16_t(RET >> 16)};
    std::memcpy(memory.bytes.get() + PAGE, halves.data(), 2 * halves.size());
    hart.x[RA] = OUT, hart.x[A1] = 0x201 * PAGE - 2, hart.x[A2] = 0x12345678;
    const uint64_t from = 0x101 * PAGE - 8;
    Outcome done = hart.run(from, OUT, 100);
    expect(done.cause == Cause::wait && done.pc == from && done.executed == 0, "a fetch that is not yet there");
    done = hart.run(hart.pc, OUT, 100);
    expect(done.cause == Cause::stop && done.executed == 6 && hart.x[A0] == 0x12345678,
           "an instruction and a datum on two pages");
    expect(memory.bytes.get()[6 * PAGE - 1] == 0x56 && memory.bytes.get()[2 * PAGE] == 0x34, "where the pages are");
    hart.x[A1] = 0x202 * PAGE - 2;
    done = hart.run(0x101 * PAGE - 2, OUT, 100);
    expect(done.cause == Cause::store_page && done.value == 0x202 * PAGE && exception_number(done.cause) == 15,
           "a page that is not there");
    hart.x[RA] = 0x300 * PAGE;
    done = hart.run(0x101 * PAGE + 6, OUT, 100);
    expect(done.cause == Cause::fetch_page && done.value == 0x300 * PAGE, "a page of code that is not there");
}

static void half_an_instruction_waits_for_its_page() {
    Block memory(0, 8 * PAGE);
    Code<Paged> code(ALL);
    Hart<Paged> hart(code, memory);
    hart.state.pages = {{0x100, 3}};
    const uint16_t half = uint16_t(addi(A0, A0, 1));
    std::memcpy(memory.bytes.get() + 4 * PAGE - 2, &half, sizeof half);
    Outcome done = hart.run(0x101 * PAGE - 2, OUT, 100);
    expect(done.cause == Cause::fetch_page && done.value == 0x101 * PAGE && done.pc == 0x101 * PAGE - 2,
           "the page that lacks is told");
    hart.state.wait = 1;
    expect(hart.run(hart.pc, OUT, 100).cause == Cause::wait, "or waited for");
}

static void limits_beyond_signed_numbers() {
    Program<Plain64> on({addi(A0, A0, 1), RET});
    expect(on.hart.run(BASE, OUT, ~uint64_t(0)).executed == 2, "any limit");
    expect(on.hart.run(BASE, OUT, 0).executed == 0, "none at all");
}

static void code_in_several_ranges() {
    Block low(BASE, SIZE), high(0x4000, SIZE);
    // In the first: jal to the second, and a return to the first; the first runs over its end into a third that follows
    // it.
    put(low, BASE, {0, addi(A0, A0, 2), addi(A0, A0, 4), addi(A0, A0, 8), RET});
    Code<Small> code(ALL);
    code.add(BASE, 12, low.bytes.get());
    code.add(0x4000, 8, high.bytes.get());
    code.add(BASE + 12, 4, low.bytes.get() + 12);
    put(high, 0x4000, {addi(A0, A0, 1), RET});
    const uint32_t offset = 0x3000;  // jal ra, 0x4000
    put(low, BASE,
        {(offset >> 12 & 255) << 12 | (offset >> 11 & 1) << 20 | (offset >> 1 & 1023) << 21 | RA << 7 | 0x6f});
    Hart<Small> hart(code, low);
    for (int n = 0; n < 2; ++n) {
        hart.x[A0] = 0;
        const Outcome done = hart.run(BASE, OUT, 100);
        expect(done.cause == Cause::fetch && done.pc == BASE + 16 && done.executed == 6 && hart.x[A0] == 15,
               "three ranges");
        code.flush();
    }
    expect(hart.run(BASE, 0x4004, 100).cause == Cause::stop && hart.x[RA] == BASE + 4, "a stop in another range");
}

// Machine mode: traps, control registers and their return.
struct Machine : Plain<uint64_t> {
    static constexpr bool FUSED = false;
    struct State {
        uint64_t mtvec = 0, mepc = 0, mcause = 0, mtval = 0, mscratch = 0, busy = 0, taken = 0;
    };
    template <class H>
    static Answer call(H&) {
        return polyloom::riscv::trap(Cause::call);
    }
    template <class H>
    static Answer trap(H& h, uint64_t pc, Cause cause, uint64_t value) {
        if (!h.state.mtvec) return ABSENT;
        h.state.mepc = pc, h.state.mcause = exception_number(cause), h.state.mtval = value;
        return jump(h.state.mtvec);
    }
    template <class H>
    static Answer control(H& h, unsigned number, const Change& change, uint64_t& old) {
        State& s = h.state;
        if (number == 0xf14) return old = 42, DONE;
        if (number == 0xb02) return old = h.executed(), DONE;
        if (number == 0x801) {  // takes a write when it is not busy
            if (change.writes && s.busy) return --s.busy, NOT_YET;
            s.taken += change.writes;
            return DONE;
        }
        uint64_t* const found = number == 0x305   ? &s.mtvec
                                : number == 0x340 ? &s.mscratch
                                : number == 0x341 ? &s.mepc
                                : number == 0x342 ? &s.mcause
                                : number == 0x343 ? &s.mtval
                                                  : nullptr;
        if (!found) return ABSENT;
        old = *found;
        if (change.writes) *found = change.apply(old);
        return DONE;
    }
};
static Answer machine_return(Hart<Machine>& h, const Decoded<Machine>&) { return jump(h.state.mepc); }

static void a_trap_and_its_return() {
    Program<Machine> on({
        addi(A1, A1, 0x40),      // the handler
        csrrw(ZERO, 0x305, A1),  // mtvec
        ECALL,
        addi(A0, A0, 1),
        lw(A2, ZERO),  // outside the memory
        addi(A0, A0, 1),
        0xffffffff,
        addi(A0, A0, 1),
        csrrs(A4, 0xb02, ZERO),
        RET,
    });
    std::vector<uint32_t> handler{csrrs(A3, 0x342, ZERO), csrrw(ZERO, 0x340, A3), csrrs(A3, 0x341, ZERO),
                                  addi(A3, A3, 4),        csrrw(ZERO, 0x341, A3), MRET};
    put(on.memory, BASE + 0x40, handler);
    on.code.add(BASE + 0x40, 24, on.memory.bytes.get() + 0x40);
    on.code.custom.push_back({MRET, 0xffffffff, custom_step<Machine, machine_return>});
    on.hart.x[A1] = BASE;
    // Three traps and their handlers, however the run is cut.
    for (uint64_t quantum : {uint64_t(1000), uint64_t(1), uint64_t(3)}) {
        on.hart.x[A0] = 0, on.hart.x[A1] = BASE, on.hart.state = {};
        uint64_t executed = 0;
        Outcome done = on.hart.run(BASE, OUT, quantum);
        for (executed = done.executed; done.cause == Cause::limit; executed += done.executed)
            done = on.hart.run(on.hart.pc, OUT, quantum);
        expect(done.cause == Cause::stop && on.hart.x[A0] == 3, "each trap is returned from, behind what trapped");
        expect(executed == 7 + 3 + 3 * 6, "a trap counts as one");
        expect(on.hart.state.mscratch == 2 && on.hart.state.mtval == 0, "the last was an illegal instruction");
        if (quantum == 1000) expect(on.hart.x[A4] == executed - 2, "the program can read how many there were");
    }
    on.hart.state.mtvec = BASE + 0x800;
    expect(on.hart.run(BASE + 16, OUT, 50).cause == Cause::limit,
           "a handler where no code is traps for ever, within the limit");
}

static void control_registers() {
    Program<Machine> on({csrrs(A0, 0xf14, ZERO), csrrw(ZERO, 0x801, A0), csrrs(A1, 0x801, ZERO), csrrw(A2, 0x003, A0),
                         RET, csrrw(ZERO, 0xf14, A0), csrrs(A0, 0x7c0, ZERO)});
    on.hart.state.busy = 2;
    for (int n = 0; n < 2; ++n)
        expect(on.hart.run(n ? on.hart.pc : BASE, OUT, 99).cause == Cause::wait, "a busy unit holds its hart");
    expect(on.hart.run(on.hart.pc, OUT, 99).cause == Cause::stop && on.hart.state.taken == 1,
           "then takes one write, and no reads");
    expect(on.hart.x[A0] == 42 && on.hart.flags == (42 & 31) && on.hart.rounding == 1, "fcsr stays where it was");
    expect(on.hart.run(BASE + 20, OUT, 9).cause == Cause::illegal, "a read-only register");
    expect(on.hart.run(BASE + 24, OUT, 9).cause == Cause::illegal, "no register");
}

// Time: a cycle each, one more where a load's result is used at once, or a branch is taken; and a core that is held.
struct Pipeline {
    static constexpr bool PRESENT = true;
    uint64_t cycles = 0, hazards = 0, taken = 0, until = ~uint64_t(0), operands = 0;
    std::vector<uint64_t> addresses;
    uint8_t loaded = 0;
    template <class H, class D>
    bool issue(H& h, const D& d) {
        if (cycles >= until) return false;
        const bool hazard = loaded && (d.rs1 == loaded || (d.op == uint16_t(Op::ADD) && d.rs2 == loaded));
        cycles += 1 + hazard, hazards += hazard, loaded = 0;
        if (d.op == uint16_t(Op::ADD)) operands += h.x[d.rs1] + h.x[d.rs2];
        if (d.op == uint16_t(Op::LW)) loaded = d.rd;
        return true;
    }
    template <class H, class D>
    void access(H&, const D&, uint64_t address, unsigned size, Access access) {
        addresses.push_back(address | size << 16 | uint64_t(access == Access::store) << 24);
    }
    template <class H, class D>
    void branch(H&, const D&, bool is_taken, uint64_t) {
        taken += is_taken, cycles += is_taken;
    }
};
struct Timed : Plain<uint32_t> {
    using Timing = Pipeline;
};

static void a_policy_of_time() {
    // loop: lw a0, (a1); add a2, a2, a0; sw a2, (a1); addi a3, a3, -1; bnez a3, loop; ret
    Program<Timed> on(
        {lw(A0, A1), add(A2, A2, A0), sw(A2, A1), addi(A3, A3, uint32_t(-1)), bne(A3, ZERO, uint32_t(-16)), RET});
    on.hart.x[A1] = BASE + 0x800, on.hart.x[A3] = 3, on.hart.x[A2] = 5;
    const Outcome done = on.run();
    const Pipeline& time = on.hart.timing;
    expect(done.executed == 16 && time.hazards == 3 && time.taken == 3 && time.cycles == 16 + 3 + 3,
           "hazards and branches are seen");
    expect(time.operands == 5 + 10 + 20, "and operands, before they are overwritten");
    expect(time.addresses.size() == 6 && time.addresses[0] == (0x1800 | 4 << 16) &&
               time.addresses[5] == (0x1800 | 4 << 16 | 1 << 24),
           "and addresses");
    on.hart.timing = {}, on.hart.timing.until = 6;
    on.hart.x[A3] = 3;
    expect(on.run().cause == Cause::wait && on.hart.timing.cycles == 7 && on.hart.pc == BASE,
           "a core is held where its time ends");
}

// What is executed, and what is counted, is the same however a run is cut into quanta.
template <class P>
static void quanta_are_exact() {
    using X = typename P::X;
    // loop: addi a0, a0, 1; add a2, a2, a0; sw a2, 0(a1); lw a4, 0(a1); add a2, a2, a4; addi a3, a3, -1; bnez a3, loop;
    // ret
    const std::vector<uint32_t> words{addi(A0, A0, 1),
                                      add(A2, A2, A0),
                                      sw(A2, A1),
                                      lw(A4, A1),
                                      add(A2, A2, A4),
                                      addi(A3, A3, uint32_t(-1)),
                                      bne(A3, ZERO, uint32_t(-24)),
                                      RET};
    Program<P> whole(words);
    whole.hart.x[A1] = BASE + 0x800, whole.hart.x[A3] = 20;
    expect(whole.run().executed == 141, "the whole");
    for (uint64_t quantum = 1; quantum < 30; ++quantum) {
        Program<P> on(words);
        on.hart.x[A1] = BASE + 0x800, on.hart.x[A3] = 20;
        on.hart.pc = X(BASE);
        uint64_t executed = 0;
        Outcome done{};
        do {
            done = on.hart.run(on.hart.pc, X(OUT), quantum);
            executed += done.executed;
            expect(done.cause != Cause::limit || done.executed == quantum, "a quantum is exact");
        } while (done.cause == Cause::limit);
        expect(executed == 141 && done.cause == Cause::stop, "all of it");
        expect(std::equal(on.hart.x, on.hart.x + 32, whole.hart.x), "with the same result");
    }
    for (X stop = X(BASE); stop < BASE + 32; stop += 4) {
        Program<P> on(words);
        on.hart.x[A1] = BASE + 0x800, on.hart.x[A3] = 2;
        for (int n = 0; n < 2; ++n) {
            on.hart.run(X(BASE), X(OUT), 1000);
            on.hart.x[A3] = 2;
            const Outcome done = on.hart.run(X(BASE), stop, 1000);
            const uint64_t at = (stop - BASE) / 4;
            expect(done.cause == Cause::stop && done.pc == stop && done.executed == (at == 7 ? 14 : at),
                   "a stop within pairs");
            on.hart.x[A3] = 2;
        }
    }
}

static void long_blocks_are_cut() {
    std::vector<uint32_t> words(700, addi(A0, A0, 1));
    words.push_back(RET);
    Program<Plain32> on(words);
    for (uint64_t quantum : {uint64_t(1000), uint64_t(251), uint64_t(701)}) {
        on.hart.x[A0] = 0, on.hart.pc = BASE;
        uint64_t executed = 0;
        Outcome done{};
        do done = on.hart.run(on.hart.pc, OUT, quantum), executed += done.executed;
        while (done.cause == Cause::limit && executed < 701);
        expect(executed == 701 && on.hart.x[A0] == 700, "a block that is longer than a trace");
    }
}

static void code_that_changes_is_seen_by_all() {
    Two on({addi(A0, ZERO, 1), RET, sw(A2, A1), FENCE_I, RET});
    on.a.run(BASE, OUT, 9), on.b.run(BASE, OUT, 9);
    on.a.x[A1] = BASE, on.a.x[A2] = addi(A0, ZERO, 2);
    expect(on.a.run(BASE + 8, OUT, 9).executed == 3, "the store, fence.i, and what follows");
    on.b.run(BASE, OUT, 9);
    expect(on.b.x[A0] == 2, "who shares the code sees it");
    const size_t held = on.code.held();
    for (int n = 0; n < 100; ++n) {
        on.a.run(BASE + 8, BASE + 16, 9), on.b.run(BASE, OUT, 9);
        expect(on.code.at(BASE + 16) != nullptr && on.code.held() <= held + 1000,
               "what is decoded anew replaces the old");
    }
    on.a.x[RA] = OUT;
    const Outcome done = on.a.run(BASE + 8, BASE + 16, 9);
    expect(done.cause == Cause::stop && done.pc == BASE + 16 && done.executed == 2, "a stop outlives fence.i");
}

// A thousand harts on one megabyte of code: what each adds is its registers.
static void a_thousand_harts() {
    constexpr size_t HARTS = 1000;
    static_assert(sizeof(Hart<Plain64>) <= 1024, "the registers of 512 bytes, and as much again");
    static_assert(sizeof(Hart<Wide>) <= 2048);
    Block memory(BASE, 1 << 20);
    std::vector<uint32_t> words(1 << 12, addi(A0, A0, 1));
    words.push_back(RET);
    put(memory, BASE, words);
    Code<Plain64> code(ALL, BASE, 1 << 20, memory.bytes.get());
    std::vector<std::unique_ptr<Hart<Plain64>>> harts;
    Hart<Plain64> first(code, memory);
    first.x[RA] = OUT;
    first.run(BASE, OUT, 10000);
    const Decoded<Plain64>* const place = code.at(BASE);
    const size_t before = code.decoded(), held = code.held();
    for (size_t n = 0; n < HARTS; ++n) {
        harts.push_back(std::make_unique<Hart<Plain64>>(code, memory));
        harts.back()->x[RA] = OUT, harts.back()->x[A0] = n;
        const Outcome done = harts.back()->run(BASE, OUT, 10000);
        expect(done.cause == Cause::stop && harts.back()->x[A0] == n + 4096, "each has registers of its own");
    }
    expect(code.at(BASE) == place && code.decoded() == before && code.held() == held, "and nothing is decoded again");
    expect(before >= 4097 && before < 4200, "an instruction is decoded once");
}

int main() {
    a_device_that_is_not_ready();
    a_device_that_is_full();
    faults_of_devices_are_told();
    an_atomic_at_a_device_is_a_load_and_a_store();
    words_of_another_size();
    a_word_of_eight_bytes();
    wide_registers_of_floats();
    reservations_survive_a_quantum();
    two_harts_count_together();
    misaligned_accesses();
    misaligned_across_ranges();
    translated_addresses();
    half_an_instruction_waits_for_its_page();
    limits_beyond_signed_numbers();
    code_in_several_ranges();
    a_trap_and_its_return();
    control_registers();
    a_policy_of_time();
    quanta_are_exact<Plain32>();
    quanta_are_exact<Plain64>();
    quanta_are_exact<Small>();
    long_blocks_are_cut();
    code_that_changes_is_seen_by_all();
    a_thousand_harts();
    if (!failures) std::printf("ok\n");
    return failures != 0;
}
