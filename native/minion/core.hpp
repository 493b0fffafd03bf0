// SPDX-License-Identifier: Apache-2.0
// A hart of the chip: riscv::Hart with 256-bit registers of floats, the Minion's control registers, traps, translation
// and record of accesses, timed or functional. What is shared with other harts it asks the chip for.
//
// Custom instructions are functions `template <class P> Answer f(riscv::Hart<P>& h, const riscv::Decoded<P>& d)`. The
// word is `d.imm`: fields of f and m registers are taken from it, since the decoder calls register 0 "32". They call
//   present(h)            first, if they call the chip: it tells `pc` and `now` to HartState
//   floating(h, d)        first, if they read or write f or m registers: DONE, a trap, or NOT_YET
//   h.read, h.write       data of 1, 2, 4, 8 bytes; h.bytes for 32 bytes on a page: translated, recorded and timed
//   shared(h, …)          the host's address of data of an L or G access or atomic, when it is the hart's turn
// answer with what these answer unless it is DONE,
// and find the hart's state in h.state.hart, its minion's in h.state.minion, the chip in h.state.chip.
//
// Members of Chip that are called here and in control.cpp, memory accesses and cache operations: turn, tensor,
// tensor_wait, registers, flb, fcc, fccnb, sleep, validation, esr, counter, set_counter, set_event, cache, miss.
#pragma once

#include <memory>

#include "issue.hpp"
#include "memory.hpp"
#include "riscv/hart.hpp"
#include "state.hpp"

namespace polyloom::minion {

struct Chip;
struct Codes;
using riscv::Answer;

// What a hart knows of its surroundings.
struct Context {
    HartState* hart = nullptr;
    MinionState* minion = nullptr;
    ShireState* shire = nullptr;
    Chip* chip = nullptr;
    Memory* memory = nullptr;
    Codes* codes = nullptr;
};

// A hart's view of memory, behind translation: `at` what is memory, `load` and `store` the ESRs.
struct View {
    template <class T>
    uint8_t* direct(uint64_t address) const {
        return memory->at(address, sizeof(T));
    }
    uint8_t* at(uint64_t address, uint64_t size) const { return memory->at(address, size); }
    Answer load(uint64_t address, unsigned size, uint64_t& value) const;
    Answer store(uint64_t address, unsigned size, uint64_t value) const;

    Memory* memory = nullptr;
    HartState* hart = nullptr;
    Chip* chip = nullptr;
};

template <bool TIMED>
struct Policy : riscv::Plain<uint64_t> {
    using Memory = View;
    using Floats = riscv::Lanes<256>;
    using Timing = std::conditional_t<TIMED, Issue, riscv::Untimed>;
    using State = Context;
    using H = riscv::Hart<Policy>;
    static constexpr riscv::Misaligned MISALIGNED = riscv::Misaligned::perform;
    static constexpr bool TRANSLATED = true, FUSED = !TIMED;

    static Answer control(H& h, unsigned number, const riscv::Change& change, uint64_t& old);
    static Answer call(H& h);
    static Answer breakpoint(H& h);
    static Answer trap(H& h, uint64_t pc, riscv::Cause cause, uint64_t value);
    static Answer fetch(H& h, uint64_t address);
    static Answer translate(H& h, uint64_t address, unsigned size, riscv::Access access, uint64_t& physical);
};
using Timed = Policy<true>;
using Functional = Policy<false>;

// Tells pc and time of the instruction that is being executed.
template <class P>
void present(riscv::Hart<P>& h) {
    HartState& state = *h.state.hart;
    state.pc = h.place->pc;
    state.executed = h.executed();
    if constexpr (!P::Timing::PRESENT) state.now = state.clock + h.executed();
}
// Atomics on scalars and writes of ESRs keep their order: a hart's next one waits for the answer to the last.
// Source: ET Programmer's Reference Manual, chapter 7; the time that flags and barriers took on silicon.
inline Answer one_at_a_time(HartState& state) {
    if (state.answered <= state.now) return riscv::DONE;
    state.retry = state.answered;
    return riscv::NOT_YET;
}
// Whether f and m registers may be used now.
template <class P>
Answer floating(riscv::Hart<P>& h, const riscv::Decoded<P>& d);
// Data of an access that skips L1, aligned to its size: where they are in the host's memory, and the hart's turn.
enum class Kind : uint8_t { load, store, atomic };
template <class P>
Answer shared(riscv::Hart<P>& h, uint64_t address, unsigned size, Kind kind, bool global, uint8_t*& datum);

// Adds the rows of SIMD instructions, and what they need at the same index of needs.custom: packed.cpp.
void add_packed(riscv::Code<Timed>& code, Needs& needs, const Latencies& latencies);
void add_packed(riscv::Code<Functional>& code, Needs& needs, const Latencies& latencies);

// Instructions that have been decoded, for all harts of a chip.
std::shared_ptr<Codes> make_codes(bool timed, const Latencies& latencies);

class Core {
  public:
    Core(Chip& chip, Memory& memory, std::shared_ptr<Codes> codes, HartState& state);
    ~Core();
    Core(const Core&) = delete;

    void start(uint64_t pc);
    // Until the window, or until something stops it: Cause::wait and Cause::limit are no ends. Interrupts that are
    // pending and enabled are taken first. Keeps the clock.
    riscv::Outcome run();

    [[nodiscard]] uint64_t pc() const;

    struct Body;

  private:
    std::unique_ptr<Body> body;
};

}  // namespace polyloom::minion

namespace polyloom::riscv {

extern template struct Code<minion::Timed>;
extern template struct Hart<minion::Timed>;
extern template struct Code<minion::Functional>;
extern template struct Hart<minion::Functional>;

}  // namespace polyloom::riscv
