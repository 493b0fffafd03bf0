// SPDX-License-Identifier: Apache-2.0
// One RISC-V hart, as a template over what machines do differently.
//
// How to build another hart of this. Derive a class from `Plain<uint32_t>` or `Plain<uint64_t>` and hide what differs:
//
//   Memory        where data are: `Span`, one range; `Mapped`, ranges of which some are devices; or a class like these
//   Floats        registers of floats: `Boxed`, 64 bits; `Lanes<256>`, whose first lane is the scalar
//   Reservations  of lr and sc: `Alone`, or `Shared<64>` where stores of other harts end them
//   Timing        `Untimed`, or a class that is asked before each instruction and hears of addresses and branches
//   State         whatever else a hart has; it is `hart.state`
//   MISALIGNED    `trap`, `perform`, or `round_down` the address
//   TRANSLATED    whether `translate` is called for every access to data
//   FUSED         whether pairs of instructions become one step: more code, more speed
//   COUNTED       whether executions are counted by instruction: one addition per block that is entered
//   control, call, breakpoint, trap, fetch, translate
//                 static functions over the hart: control registers, ecall, ebreak, a trap that the hart takes itself,
//                 an address where no code is yet, and an address of data
//
// Include riscv/execute.hpp, make a `Code` of the ranges where instructions are, add rows to `code.custom`, and make
// harts on it. Nothing here is virtual: the compiler sees the whole class, and what is not hidden costs nothing.
// Functions of a policy and custom instructions give an `Answer`. One that says `wait` leaves everything as it was, and
// the same pc is tried again in the next run; whoever gives it must not have changed anything.
//
// Addresses of code are those that pc has. Harts whose addresses are translated differently need a `Code` each. Who
// changes a translation flushes the code between runs, or gives the hart another `code` and answers `jump`.
//
// Harts on one `Code` run in one thread of the host, one after another: a device does not run a hart. Code is decoded
// when it is first met, into traces: arrays of instructions that follow each other, across branches that are not taken.
// A step does one instruction and calls the next one's, which is a jump where the compiler makes one of a call in tail
// position (POLYLOOM_CHAINED), and a loop's turn elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "policies.hpp"
#include "row.hpp"

namespace polyloom::riscv {

template <class P>
struct Hart;
template <class P>
struct Decoded;
template <class P>
using Action = void (*)(Hart<P>&, const Decoded<P>*, int64_t);

// `rd` is 32 where the instruction writes x0, so that no step need care. Branches and jumps go to `target`. `run` is
// the number of instructions from here to the end of the block: who enters a block pays for all of it, and who leaves
// it before its end gets the rest back. Links between traces have a `run` of 0. Of a custom instruction, `imm` is the
// word.
//
// `entries` are those of blocks here, less the leaves in front of here: summed up to an instruction of a block they are
// its executions (basic-block profile; Knuth and Stevenson 1973).
template <bool COUNTED>
struct Entries {
    void add(int64_t) const {}
};
template <>
struct Entries<true> {
    void add(int64_t times) const { count += times; }
    mutable int64_t count = 0;
};
template <class P>
struct Decoded {
    Action<P> step;
    int64_t imm;
    const Decoded* target;
    typename P::X pc;
    uint16_t op;  // an Op, or from CUSTOM on the number of a custom row
    uint8_t run, rd, rs1, rs2, rs3;
    uint8_t rm : 3, bytes : 4, fused : 1;
    [[no_unique_address]] Entries<P::COUNTED> entries = {};
};

inline constexpr uint16_t CUSTOM = 0x1000, NO_OP = 0x0fff;

// Why a run ended, at which instruction, and after how many. `word` is the instruction, unless the limit or a
// wait ended the run.
struct Outcome {
    Cause cause;
    uint64_t pc, value, executed;
    uint32_t word;
};

// A meaning for words, before the table's: a word of `size` bytes (2, 4, 6 or 8), whatever its low bits are. `step` is
// `custom_step<P, F>` for a function F over the hart and the decoded instruction, whose operands stand where R-type has
// them.
template <class P>
struct Custom {
    uint64_t match, mask;
    Action<P> step;
    uint8_t size = 4;
};

// Instructions in ranges of addresses, and what was decoded of them: shared by any number of harts.
template <class P>
struct Code {
    using X = typename P::X;

    explicit Code(uint32_t extensions) : extensions(extensions), alignment(extensions & 1u << 5 ? 1 : 3) {}
    Code(uint32_t extensions, X base, X size, const uint8_t* bytes) : Code(extensions) { add(base, size, bytes); }
    Code(const Code&) = delete;

    // Instructions from `base` on; they stay where `bytes` are. Ranges do not overlap; they may follow each other.
    void add(X base, X size, const uint8_t* bytes);
    // Code is decoded anew: what fence.i promises. Between runs only, and by fence.i itself.
    void flush();
    // Runs end before the instruction at `address`, the only such.
    void stop_at(X address);

    // The instruction at an address, or none where no code is, or where none may begin.
    const Decoded<P>* at(X address) {
        const X offset = address - recent->base;
        if (offset < recent->size && !(offset & 1)) [[likely]]
            if (const Decoded<P>* found = recent->places[offset / 2]) [[likely]]
                return found;
        return find(address);
    }
    // Up to eight bytes at an address, and how many there are.
    uint64_t word(X address, unsigned& there) const;
    bool holds(X address) const { return range_of(address) != nullptr; }
    // How many instructions and links are decoded, and the bytes that these and the ranges hold.
    size_t decoded() const;
    size_t held() const;
    // Executions by halfword of the first range, of a policy that counts them.
    std::vector<int64_t> executions() const {
        std::vector<int64_t> found = folded;
        fold(found);
        return found;
    }
    // Of one instruction that was executed as a copy.
    void count_alone(X pc, int64_t times) {
        if constexpr (P::COUNTED) count(folded, pc, times);
    }

    uint32_t extensions;
    X alignment;
    std::vector<Custom<P>> custom;

  private:
    struct Freed {
        void operator()(Decoded<P>** places) const { std::free(places); }
    };
    struct Range {
        X base, size;
        const uint8_t* bytes;
        // Of the heap's zeros: pages without code cost nothing, however large the range is.
        std::unique_ptr<Decoded<P>*[], Freed> places;
    };
    struct Chunk {
        std::unique_ptr<Decoded<P>[]> places;
        size_t used, size;
    };

    Range* range_of(X address) const;
    Decoded<P>* known(X address) const;
    const Decoded<P>* find(X address);
    Decoded<P>* decode(X address);
    Decoded<P> one(X pc) const;
    void fuse(Decoded<P>* first, size_t count);
    const Decoded<P>* goal(X address, Decoded<P>* user);
    Decoded<P>* room(size_t count);
    void hide(Decoded<P>& place);
    void reveal();
    void fold(std::vector<int64_t>& found) const;
    void count(std::vector<int64_t>& found, X pc, int64_t times) const;

    Range none{0, 0, nullptr, nullptr};
    Range* recent = &none;
    std::vector<std::unique_ptr<Range>> ranges;
    std::vector<Chunk> chunks;
    std::deque<Decoded<P>> stubs;
    std::unordered_map<X, std::vector<Decoded<P>*>> waiting;
    std::vector<Decoded<P>> made;
    std::vector<int64_t> folded;  // executions of what was decoded before the last flush
    X stop = X(-1);
    Decoded<P>* hidden = nullptr;
    Action<P> behind = nullptr;
};

template <class P>
struct Hart {
    using X = typename P::X;
    using Place = const Decoded<P>*;

    Hart(Code<P>& code, typename P::Memory memory, typename P::Reservations reservations = {});
    Hart(const Hart&) = delete;

    // From `from` until the program exits, reaches `until`, traps, is to wait, or has executed `most` instructions; a
    // trap that the hart takes itself counts as one. `pc` is where to go on; everything else stays as it is, so that
    // runs can be resumed.
    Outcome run(X from, X until, uint64_t most);
    Outcome run(uint64_t most) { return run(pc, NOWHERE, most); }

    // What has been executed in this run before the instruction that asks: for functions of policies and custom
    // instructions.
    uint64_t executed() const { return limit - uint64_t(left + place->run); }

    // The host's address of data of type T that are aligned and in memory; null where it takes longer to tell.
    template <class T, Access ACCESS>
    uint8_t* direct(X address, uint64_t& physical);
    // Data of 1, 2, 4 or 8 bytes as an instruction would access them, devices and misalignment included.
    Answer read(X address, unsigned size, uint64_t& value);
    Answer write(X address, unsigned size, uint64_t value);
    // Where data on one page are: `datum` is null where no memory is, which is no error yet.
    Answer locate(X address, uint64_t size, Access access, uint8_t*& datum, uint64_t& physical);
    // The host's address of any number of bytes in memory, on one page; null elsewhere. Who stores there says so by
    // `stored`.
    uint8_t* bytes(X address, uint64_t size, Access access);

    static constexpr X NOWHERE = X(-1);

    X x[33]{};
    uint8_t flags = 0, rounding = 0;
    typename P::Floats::Register f[32]{};
    typename P::Memory memory;
    Code<P>* code;
    [[no_unique_address]] typename P::Reservations reservations;
    [[no_unique_address]] typename P::Timing timing{};
    [[no_unique_address]] typename P::State state{};
    X pc = 0, stop = NOWHERE;

    // Of the run that is under way, for steps.
    Place at(X address);
    uint64_t limit = 0;
    int64_t left = 0;
    Place place = nullptr;
    Outcome ended{};
    bool running = false, paused = false;
    Decoded<P> away, single[2];

  private:
    void drive(Place from, int64_t budget);
    Answer across(X address, unsigned size, Access access, uint64_t& value);
    Outcome outcome(uint64_t rest);
    Place alone(Place from);
};

struct Plain32 : Plain<uint32_t> {
    using Memory = Measured;
};
struct Plain64 : Plain<uint64_t> {
    using Memory = Measured;
};
extern template struct Code<Plain32>;
extern template struct Code<Plain64>;
extern template struct Hart<Plain32>;
extern template struct Hart<Plain64>;

}  // namespace polyloom::riscv
