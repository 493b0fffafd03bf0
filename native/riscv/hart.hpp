// SPDX-License-Identifier: Apache-2.0
// One RISC-V hart that runs a program out of one memory. Instructions are decoded once, when they are first met, into an array
// with a place for every halfword of the code; a step is a call of the place's handler, which gives the next place.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace polyloom::riscv {

template <class X>
struct Hart;
template <class X>
struct Decoded;
template <class X>
using Handler = const Decoded<X>* (*)(Hart<X>&, const Decoded<X>*);

// `rd` is 32 where the instruction writes x0, so that no handler need care. Branches and jumps go to `target`.
template <class X>
struct Decoded {
    Handler<X> step;
    int64_t imm;
    const Decoded* target;
    uint8_t rd, rs1, rs2, rs3, rm, size;  // size in halfwords
};

enum class Cause : uint8_t { exit, stop, limit, illegal, fetch, load, store, misaligned, breakpoint, call };

// Thrown by handlers: `value` is the exit code, the address, or the number of the environment call.
struct Trap {
    Cause cause;
    uint64_t value;
};

// Why a run ended, at which instruction, and after how many.
struct Outcome {
    Cause cause;
    uint64_t pc, value, executed;
    uint32_t word;
};

// A meaning for words that the table does not have: operands stand where R-type has them, `imm` is the word.
template <class X>
struct Custom {
    uint32_t match, mask;
    Handler<X> step;
};

struct Memory {
    Memory(uint64_t base, uint64_t size) : base(base), size(size), bytes(static_cast<uint8_t*>(std::calloc(size, 1)), std::free) {
        if (!bytes) throw std::bad_alloc();
    }
    bool holds(uint64_t address, uint64_t length) const { return address >= base && address - base <= size && length <= size - (address - base); }

    uint64_t base, size;
    std::unique_ptr<uint8_t, void (*)(void*)> bytes;
};

template <class X>
struct Hart {
    // The code lies in [code_base, code_base + code_size), within the memory; `extensions` are those of the table.
    Hart(uint32_t extensions, Memory& memory, X code_base, X code_size);
    Hart(const Hart&) = delete;

    // From `pc` until the program exits, reaches `stop`, traps, or has executed `limit` instructions.
    Outcome run(X pc, X stop, uint64_t limit);
    // Code is decoded anew: what fence.i promises.
    void flush();
    void decode(Decoded<X>& place);

    X pc_of(const Decoded<X>* d) const { return d >= code.data() && d < code.data() + code.size() ? X(code_base + 2 * X(d - code.data())) : X(d->imm); }

    // The place of an address; outside the code, one that traps.
    const Decoded<X>* at(X address) {
        const X offset = address - code_base;
        if (offset < code_size && !(offset & alignment)) [[likely]]
            return &code[offset / 2];
        away.imm = int64_t(address);
        return &away;
    }

    // The host's address of a datum of type T; in memory all are little-endian.
    template <class T>
    uint8_t* datum(X address, Cause cause) {
        const uint64_t offset = uint64_t(address) - base;
        if (offset > last - sizeof(T)) [[unlikely]]
            throw Trap{cause, uint64_t(address)};
        if (address & (sizeof(T) - 1)) [[unlikely]]
            throw Trap{Cause::misaligned, uint64_t(address)};
        return bytes + offset;
    }
    template <class T>
    T load(X address) {
        T value;
        std::memcpy(&value, datum<T>(address, Cause::load), sizeof(T));
        return value;
    }
    template <class T>
    void store(X address, T value) {
        std::memcpy(datum<T>(address, Cause::store), &value, sizeof(T));
    }

    X x[33]{};
    uint64_t f[32]{};
    uint8_t flags = 0, rounding = 0;
    bool reserved = false;
    X reservation = 0;

    Memory& memory;
    uint8_t* bytes;
    uint64_t base, last;
    X code_base, code_size, alignment, stop = 0;
    uint32_t extensions;
    std::vector<Decoded<X>> code;
    std::deque<Decoded<X>> beyond;
    Decoded<X> away;
    std::vector<Custom<X>> custom;
    std::array<std::string, 2> written;
};

extern template struct Hart<uint32_t>;
extern template struct Hart<uint64_t>;

}  // namespace polyloom::riscv
