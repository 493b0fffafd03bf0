// SPDX-License-Identifier: Apache-2.0
// What a hart is built of where nothing else is said, and the other choices: hart.hpp tells how to use them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace polyloom::riscv {

// Why a run ends, or what an instruction traps with. Machines add exceptions of their own with `exception`.
enum class Cause : uint8_t {
    exit,
    stop,
    limit,
    illegal,
    fetch,
    load,
    store,
    misaligned,
    breakpoint,
    call,
    misaligned_store,
    wait,
    fetch_page,
    load_page,
    store_page,
    exceptions = 128,
};
constexpr Cause exception(unsigned number) { return Cause(unsigned(Cause::exceptions) + number); }

// The number that mcause has for it, when it happens in user mode. Source: The RISC-V Instruction Set Manual, Volume
// II, table 14.
constexpr unsigned exception_number(Cause cause) {
    switch (cause) {
        case Cause::fetch: return 1;
        case Cause::illegal: return 2;
        case Cause::breakpoint: return 3;
        case Cause::misaligned: return 4;
        case Cause::load: return 5;
        case Cause::misaligned_store: return 6;
        case Cause::store: return 7;
        case Cause::call: return 8;
        case Cause::fetch_page: return 12;
        case Cause::load_page: return 13;
        case Cause::store_page: return 15;
        default: return unsigned(cause) - unsigned(Cause::exceptions);
    }
}

// What an access or an instruction comes to.
struct Answer {
    enum Kind : uint8_t { done, wait, trap, jump, leave, absent };
    Kind kind = done;
    Cause cause = Cause::exit;
    uint64_t value = 0;  // of a trap, its value; of a jump, where to; of leaving, what the run says
};
inline constexpr Answer DONE{}, NOT_YET{Answer::wait}, ABSENT{Answer::absent}, ILLEGAL{Answer::trap, Cause::illegal};
constexpr Answer trap(Cause cause, uint64_t value = 0) { return {Answer::trap, cause, value}; }
constexpr Answer jump(uint64_t to) { return {Answer::jump, Cause::exit, to}; }
// The run ends behind this instruction, which counts.
constexpr Answer leave(Cause cause, uint64_t value = 0) { return {Answer::leave, cause, value}; }

enum class Access : uint8_t { load, store };
enum class Misaligned : uint8_t { trap, perform, round_down };

// Bytes of zeros at an address.
struct Block {
    Block(uint64_t base, uint64_t size)
        : base(base), size(size), bytes(static_cast<uint8_t*>(std::calloc(size, 1)), std::free) {
        if (!bytes) throw std::bad_alloc();
    }
    bool holds(uint64_t address, uint64_t length) const {
        return address >= base && address - base <= size && length <= size - (address - base);
    }

    uint64_t base, size;
    std::unique_ptr<uint8_t, void (*)(void*)> bytes;
};

// Memory that is one range, of at least 8 bytes unless it is empty.
struct Span {
    Span() = default;
    Span(uint64_t base, uint64_t size, uint8_t* bytes) : start(bytes), base(base), size(size) {}
    Span(Block& block) : Span(block.base, block.size, block.bytes.get()) {}

    template <class T>
    uint8_t* direct(uint64_t address) const {
        const uint64_t offset = address - base;
        return size >= sizeof(T) && offset <= size - sizeof(T) ? start + offset : nullptr;
    }
    uint8_t* at(uint64_t address, uint64_t length) const {
        const uint64_t offset = address - base;
        return offset <= size && length <= size - offset ? start + offset : nullptr;
    }
    Answer load(uint64_t, unsigned, uint64_t&) const { return ABSENT; }
    Answer store(uint64_t, unsigned, uint64_t) const { return ABSENT; }

    uint8_t* start = nullptr;
    uint64_t base = 0, size = 0;
};

// A range that counts the bytes of loads and stores; an atomic operation's count once.
struct Measured : Span {
    using Span::Span;

    template <class T>
    uint8_t* direct(uint64_t address) {
        uint8_t* found = Span::direct<T>(address);
        if (found) moved += sizeof(T);
        return found;
    }
    uint8_t* at(uint64_t address, uint64_t length) {
        uint8_t* found = Span::at(address, length);
        if (found) moved += length;
        return found;
    }

    uint64_t moved = 0;
};

// Registers of a device. `self` is the range's, `who` the hart's; both functions may answer anything, `NOT_YET`
// included.
struct Device {
    void* self = nullptr;
    Answer (*load)(void* self, void* who, uint64_t address, unsigned size, uint64_t& value) = nullptr;
    Answer (*store)(void* self, void* who, uint64_t address, unsigned size, uint64_t value) = nullptr;
};

// Ranges of memory and devices by address; it outlives the harts that see it.
struct Map {
    struct Range {
        uint64_t base, size;
        uint8_t* bytes;  // null for a device
        Device device;
    };
    void add(Block& block) { add({block.base, block.size, block.bytes.get(), {}}); }
    void add(uint64_t base, uint64_t size, Device device) { add({base, size, nullptr, device}); }
    void add(const Range& range) {
        const auto before = [](const Range& a, const Range& b) { return a.base < b.base; };
        ranges.insert(std::upper_bound(ranges.begin(), ranges.end(), range, before), range);
    }
    const Range* find(uint64_t address) const {
        const auto after = [](uint64_t a, const Range& range) { return a < range.base; };
        const auto found = std::upper_bound(ranges.begin(), ranges.end(), address, after);
        return found != ranges.begin() && address - found[-1].base < found[-1].size ? &found[-1] : nullptr;
    }

    std::vector<Range> ranges;
};

// A hart's view of a map: the two ranges of memory that were used last are at hand.
struct Mapped {
    Mapped(const Map& map, void* who = nullptr) : map(&map), who(who) {}

    template <class T>
    uint8_t* direct(uint64_t address) const {
        if (uint8_t* found = recent.direct<T>(address)) return found;
        return other.direct<T>(address);
    }
    uint8_t* at(uint64_t address, uint64_t length) {
        const Map::Range* range = map->find(address);
        if (!range || !range->bytes) return nullptr;
        const Span span{range->base, range->size, range->bytes};
        uint8_t* found = span.at(address, length);
        if (found && span.start != recent.start) other = recent, recent = span;
        return found;
    }
    Answer load(uint64_t address, unsigned size, uint64_t& value) const {
        const Map::Range* range = map->find(address);
        if (!range || size > range->size - (address - range->base) || !range->device.load) return ABSENT;
        return range->device.load(range->device.self, who, address, size, value);
    }
    Answer store(uint64_t address, unsigned size, uint64_t value) const {
        const Map::Range* range = map->find(address);
        if (!range || size > range->size - (address - range->base) || !range->device.store) return ABSENT;
        return range->device.store(range->device.self, who, address, size, value);
    }

    const Map* map;
    void* who;
    Span recent, other;
};

// Registers of 64 bits in which a single is boxed in ones; what is not boxed reads as NaN.
struct Boxed {
    using Register = uint64_t;
    template <class F>
    static typename F::Bits get(const Register& bits) {
        if constexpr (sizeof(typename F::Bits) == 4) return bits >> 32 == 0xffffffff ? uint32_t(bits) : F::NAN_BITS;
        return typename F::Bits(bits);
    }
    template <class F>
    static void put(Register& to, typename F::Bits bits) {
        to = sizeof bits == 4 ? uint64_t(bits) | 0xffffffffull << 32 : uint64_t(bits);
    }
    static uint64_t raw(const Register& bits) { return bits; }
};

// Registers of lanes of 32 bits: a scalar is in the first of them, or the first two, and clears the others.
template <unsigned BITS>
struct Lanes {
    struct Register {
        uint32_t lane[BITS / 32];
    };
    template <class F>
    static typename F::Bits get(const Register& from) {
        return typename F::Bits(raw(from));
    }
    template <class F>
    static void put(Register& to, typename F::Bits bits) {
        to = {};
        std::memcpy(to.lane, &bits, sizeof bits);
    }
    static uint64_t raw(const Register& from) { return from.lane[0] | uint64_t(from.lane[1]) << 32; }
};

// The reservation of a hart whose memory nobody else writes: lr makes it, and the next sc, whatever its address, ends
// it.
struct Alone {
    void reserve(uint64_t at) { address = at, held = true; }
    bool claim(uint64_t at) {
        const bool succeeds = held && address == at;
        held = false;
        return succeeds;
    }
    void stored(uint64_t, uint64_t) {}

    uint64_t address = 0;
    bool held = false;
};

template <unsigned GRANULE>
struct Shared;

// The reservations that harts on one memory hold. What stores without a hart says so by `stored`.
template <unsigned GRANULE>
struct Granules {
    void stored(uint64_t address, uint64_t size, const Shared<GRANULE>* by = nullptr) {
        const uint64_t first = address / GRANULE, last = (address + size - 1) / GRANULE;
        std::erase_if(holders, [&](Shared<GRANULE>* each) {
            const uint64_t granule = each->address / GRANULE;
            return each != by && first <= granule && granule <= last && each->lose();
        });
    }
    std::vector<Shared<GRANULE>*> holders;
};

// A reservation that another hart's store to the granule ends; without granules there is no other hart. Addresses are
// those of memory.
template <unsigned GRANULE>
struct Shared {
    Shared(Granules<GRANULE>* all = nullptr) : all(all) {}
    Shared(const Shared& from) : all(from.all) {}
    ~Shared() { drop(); }
    void reserve(uint64_t at) {
        drop();
        address = at, held = true;
        if (all) all->holders.push_back(this);
    }
    bool claim(uint64_t at) {
        const bool succeeds = held && address == at;
        drop();
        return succeeds;
    }
    void stored(uint64_t at, uint64_t size) {
        if (all && !all->holders.empty()) [[unlikely]]
            all->stored(at, size, this);
    }
    bool lose() {
        held = false;
        return true;
    }
    void drop() {
        if (held && all) std::erase(all->holders, this);
        held = false;
    }

    Granules<GRANULE>* all;
    uint64_t address = 0;
    bool held = false;
};

// A policy of time has PRESENT, and these functions, which see the decoded instruction, and operands in the hart's
// registers.
struct Untimed {
    static constexpr bool PRESENT = false;
    // Before an instruction: false is "not yet", and ends the run with Cause::wait.
    template <class H, class D>
    bool issue(H&, const D&) {
        return true;
    }
    // At each access to data by loads, stores and atomics, once issue allowed it; a device may still make it wait.
    template <class H, class D>
    void access(H&, const D&, uint64_t, unsigned, Access) {}
    // At each branch and jump: whether it is taken, and to where.
    template <class H, class D>
    void branch(H&, const D&, bool, uint64_t) {}
};

// Writes of control registers: what csrrw, csrrs and csrrc do to a value.
struct Change {
    enum Kind : uint8_t { write, set, clear } kind;
    bool reads, writes;  // csrrw to x0 does not read, csrrs and csrrc of x0 or 0 do not write
    uint64_t operand;
    uint64_t apply(uint64_t old) const {
        return kind == write ? operand : kind == set ? old | operand : old & ~operand;
    }
};

// The calls of Linux that a static program needs to end and to print.
struct Output {
    std::array<std::string, 2> written;
};

template <class H>
Answer linux_call(H& h) {
    using X = typename H::X;
    const X number = h.x[17];
    if (number == 93 || number == 94) return leave(Cause::exit, h.x[10] & 0xff);
    if (number != 64) return trap(Cause::call, number);
    constexpr X BAD_FILE = X(-9), BAD_ADDRESS = X(-14);
    const X file = h.x[10], address = h.x[11], length = h.x[12];
    const uint8_t* from = h.bytes(address, length, Access::load);
    if (file != 1 && file != 2) {
        h.x[10] = BAD_FILE;
    } else if (!from) {
        h.x[10] = BAD_ADDRESS;
    } else {
        h.state.written[file - 1].append(reinterpret_cast<const char*>(from), length);
        h.x[10] = length;
    }
    return DONE;
}

template <class Word>
struct Plain {
    using X = Word;
    using Memory = Span;
    using Floats = Boxed;
    using Reservations = Alone;
    using Timing = Untimed;
    using State = Output;
    static constexpr Misaligned MISALIGNED = Misaligned::trap;
    static constexpr bool TRANSLATED = false, FUSED = true, COUNTED = false;
    // Instructions of a trace, which fit `run`, a byte. A machine whose harts take turns after each instruction has 1:
    // then no instruction need be taken out of a longer block.
    static constexpr size_t LONGEST = 250;

    // A control register by its number; `old` is what rd gets. What is absent here is fflags, frm or fcsr, or illegal.
    template <class H>
    static Answer control(H&, unsigned, const Change&, X&) {
        return ABSENT;
    }
    template <class H>
    static Answer call(H& h) {
        return linux_call(h);
    }
    template <class H>
    static Answer breakpoint(H&) {
        return riscv::trap(Cause::breakpoint);
    }
    // A trap at `pc`: where the hart goes on with it (`jump`); where this is absent, the run ends.
    template <class H>
    static Answer trap(H&, X, Cause, uint64_t) {
        return ABSENT;
    }
    // No code is at `address`: DONE says that now there is, in the hart's `code`.
    template <class H>
    static Answer fetch(H&, X) {
        return ABSENT;
    }
    // The address in memory of data, on pages of at least 4096 bytes. It may be asked twice for one access. Where a
    // policy translates, `place` is the instruction.
    template <class H>
    static Answer translate(H&, X address, unsigned, Access, uint64_t& physical) {
        physical = address;
        return DONE;
    }
};

}  // namespace polyloom::riscv
