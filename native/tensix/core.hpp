// SPDX-License-Identifier: Apache-2.0
// The five RV32IM cores of a tile: a hart of native/riscv that executes one instruction per cycle at most, with the
// timing of facts 1.9. An instruction takes effect when it enters the integer unit; a load's register is usable when
// its latency has passed, and whoever needs it earlier waits. Up to eight instructions are in the load/store unit,
// which they leave in order, and four loads from outside local RAM are in flight.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "riscv/hart.hpp"
#include "state.hpp"

namespace polyloom::tensix {

constexpr int CORES = 5, B = 0, NC = 4;  // T0 to T2 are 1 to 3
constexpr uint32_t LOCAL = 0xffb00000, IRAM = 0xffc00000, IRAM_BYTES = 0x4000;

inline constexpr const char* CORE_NAMES[CORES] = {"b", "t0", "t1", "t2", "nc"};

struct Tile;
struct Core;

// What the instruction that is being tried would occupy: kept once it has been executed.
struct Attempt {
    enum Kind : uint8_t { integer, local_load, far_load, l1_store, store } kind = integer;
    uint32_t address = 0;
    uint8_t rd = 32;
    uint32_t cycles = 1, latency = 1;
    bool mispredicted = false, parks = false;
};

struct CoreTiming {
    static constexpr bool PRESENT = true;
    template <class H, class D>
    bool issue(H& h, const D& d);
    template <class H, class D>
    void access(H&, const D&, uint64_t, unsigned, riscv::Access) {}
    template <class H, class D>
    void branch(H& h, const D& d, bool taken, uint64_t to);
    Core* core = nullptr;
};

struct Baby : riscv::Plain<uint32_t> {
    using Memory = riscv::Mapped;
    using Timing = CoreTiming;
    struct State {
        Core* core = nullptr;
    };
    static constexpr riscv::Misaligned MISALIGNED = riscv::Misaligned::round_down;
    static constexpr bool FUSED = false;
    static constexpr size_t LONGEST = 1;
    template <class H>
    static riscv::Answer call(H&) {
        return riscv::trap(riscv::Cause::call);
    }
    template <class H>
    static riscv::Answer breakpoint(H&) {
        return riscv::leave(riscv::Cause::exit);
    }
};

struct Core {
    Core(Tile& tile, int number);
    ~Core();
    Core(const Core&) = delete;

    void release(uint32_t pc);
    void hold() { running = false; }
    // A cycle; whether the core retired an instruction.
    bool step();
    [[nodiscard]] bool at_rest() const { return !running || stopped || parked; }
    // Cycle from which nothing that it waits for is known to be due.
    [[nodiscard]] uint64_t timed_until() const;
    [[nodiscard]] uint32_t local_bytes() const { return number == B || number == NC ? 4096 : 2048; }

    Tile& tile;
    const int number;
    bool running = false, stopped = false, parked = false;
    bool waits_pcbuf = false;           // a read of an empty PCBuf is under way
    bool polling = false;               // executes, of a deadlock of a grid
    uint32_t polled = 0, polls_at = 0;  // where it has loaded from last, local memory aside, and by which instruction
    uint64_t retired = 0;
    uint64_t free_at = 0;
    std::array<uint64_t, 33> ready{};
    std::array<uint64_t, 8> leaves{};   // of the last eight instructions: when they leave the load/store unit
    std::array<uint64_t, 4> far{};      // of the last four loads from afar
    std::array<uint64_t, 8> drained{};  // of the last eight stores to L1, and where they went
    std::array<uint32_t, 8> stored{};
    uint64_t entered = 0, far_loads = 0, stores = 0, last_leave = 0, store_port = 0;
    std::array<uint32_t, 64> targets{};  // of jalr, by its address
    Attempt attempt;

    std::unique_ptr<riscv::Block> ram, iram;
    riscv::Map map;
    riscv::Code<Baby>* code = nullptr;
    std::unique_ptr<riscv::Code<Baby>> own_code;  // NC's, which has its instruction RAM as well
    std::unique_ptr<riscv::Hart<Baby>> hart;

    [[nodiscard]] uint32_t pc() const { return hart ? hart->pc : 0; }

  private:
    void keep(uint32_t at);
};

}  // namespace polyloom::tensix
