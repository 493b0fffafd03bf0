// SPDX-License-Identifier: Apache-2.0
// The architectural state of harts, minions and shires, and what the chip and its harts keep of time, as plain data.
// Whatever executes instructions works on these; nothing here has behaviour. Sources: facts §1 to §8.
//
// Registers x, f and the flags of a hart lie in its riscv::Hart, which is of another type in timed and in functional
// mode; HartState points to them.
#pragma once

#include <array>
#include <cstdint>

#include "riscv/policies.hpp"
#include "wait.hpp"

namespace polyloom::minion {

using Register = riscv::Lanes<256>::Register;

constexpr unsigned HARTS_PER_MINION = 2, MINIONS_PER_NEIGHBOURHOOD = 8, NEIGHBOURHOODS = 4;
constexpr unsigned MINIONS_PER_SHIRE = MINIONS_PER_NEIGHBOURHOOD * NEIGHBOURHOODS;
constexpr unsigned HARTS_PER_SHIRE = HARTS_PER_MINION * MINIONS_PER_SHIRE;
constexpr unsigned LINE = 64, SCP_LINES = 48;

using Scratchpad = std::array<std::array<uint8_t, LINE>, SCP_LINES>;

enum class Privilege : uint8_t { user = 0, supervisor = 1, machine = 3 };

// Flags as they lie in a hart: those of fflags, and InputDenorm behind them, which programs see as bit 31.
constexpr uint8_t INPUT_DENORM = 32;
constexpr uint32_t flags_seen(uint8_t flags) { return (flags & 31u) | uint32_t(flags & INPUT_DENORM) << 26; }
constexpr uint8_t flags_kept(uint64_t seen) { return uint8_t((seen & 31) | (seen >> 26 & INPUT_DENORM)); }

// Modes of L1, as the low bits of mcache_control. Source: facts §4.
enum class L1Mode : uint8_t { shared = 0, split = 1, scratchpad = 3 };

// Control registers of traps, per hart. `scounteren` and `mcounteren` have bits 0 to 8.
struct TrapState {
    uint64_t mstatus = 0xa00001800;  // MPP is M, SXL and UXL are 64
    uint64_t medeleg = 0, mideleg = 0, mie = 0, mip = 0;
    uint64_t mtvec = 0, mscratch = 0, mepc = 0, mcause = 0, mtval = 0;
    uint64_t stvec = 0, sscratch = 0, sepc = 0, scause = 0, stval = 0;
    uint64_t mcounteren = 0, scounteren = 0;
    uint64_t minstmask = 0, minstmatch = 0, mbusaddr = 0;  // kept, and nothing else
};

struct MinionState;
struct ShireState;

struct HartState {
    uint32_t number = 0;  // mhartid: 2 * minion + thread
    MinionState* minion = nullptr;
    uint64_t* x = nullptr;
    Register* f = nullptr;
    uint8_t *flags = nullptr, *rounding = nullptr;  // see flags_seen
    uint64_t pc = 0;                                // of the instruction that is being executed

    std::array<uint8_t, 8> m{};
    uint16_t tensor_mask = 0, tensor_error = 0;
    uint64_t conv_size = 0, conv_ctrl = 0;
    std::array<uint16_t, 2> credits{};
    uint8_t gsc_progress = 0;
    uint32_t tensor_coop = 0;
    std::array<uint64_t, 4> validation{};

    Privilege privilege = Privilege::machine;
    TrapState trap;
    bool asleep = false;  // in a wfi or a write to stall
    // The addresses of data that are physical and in DRAM, and that the hart may reach (settle, spaces.hpp).
    uint64_t plain_from = 0, plain_bytes = 0;

    // Time. `now` is the cycle in which the instruction issues, `clock` the first in which the next may; `window` the
    // first in which no instruction may issue in this run. In functional mode a cycle is an instruction, and a
    // hart that was blocked goes on at the cycle in which it was woken. An instruction that holds its hart beyond its
    // own cycle sets `resume`.
    uint64_t now = 0, clock = 0, window = 0, resume = 0;
    // When the last of the accesses that go one at a time is answered, and until when one of them waits for that.
    uint64_t answered = 0, retry = 0;
    uint64_t executed = 0;  // instructions of this run before the one that is being executed
    uint64_t horizon = 0;   // the key of the first event of all others
    // What the timed mode counts for the PMU: branches and jumps that were taken, accesses to L1, and those that
    // missed.
    uint64_t taken = 0, accesses = 0, misses = 0;
    Wait wait;
};

// One line of an L1: its tag is the address of the line plus `USED`, 0 while there is none.
struct L1Tags {
    static constexpr unsigned SETS = 16, WAYS = 4;
    static constexpr uint64_t USED = 1, LOCKED = 2;
    std::array<std::array<uint64_t, WAYS>, SETS> tag{};
    std::array<std::array<uint64_t, WAYS>, SETS> touched{};  // for the least recently used one
    std::array<std::array<uint64_t, WAYS>, SETS> there{};    // the cycle in which the line comes
    uint64_t clock = 0;
};

// Translations of pages of DRAM that accesses to data have found: a page's number with what else decided about it, 0
// while there is none, and where the page lies.
struct Translations {
    static constexpr unsigned PLACES = 64;
    struct Place {
        uint64_t root = 0, key = 0, page = 0;
    };
    std::array<Place, PLACES> places{};
};

struct MinionState {
    uint32_t number = 0;  // shire * 32 + minion in the shire
    ShireState* shire = nullptr;
    std::array<HartState, 2> hart;

    L1Mode mode = L1Mode::shared;
    // RepRate and CacheOpMax, in their places; the mode's bits are `mode`. The reset value is the vendor's emulator's:
    // 8 requests at once.
    uint16_t ucache_control = 0x200;
    uint64_t satp = 0, matp = 0;
    Translations translations;
    uint8_t menable_shadows = 0, excl_mode = 0;  // excl_mode: 0, or 1 + 2 * thread
    L1Tags l1;
    alignas(64) Scratchpad l1scp{};
    alignas(64) std::array<std::array<uint32_t, 16>, 16> tenc{};

    // HELD: an operation holds the registers of hart 0, and floating-point and SIMD instructions wait. COMPUTED:
    // workers may still write them.
    static constexpr uint32_t HELD = 1, COMPUTED = 2;
    uint32_t busy = 0;
    uint64_t slot = 0;        // the first cycle in which no instruction has issued
    uint64_t multiplier = 0;  // the first in which MulDiv is free
};

// Per neighbourhood: 32 KiB of instruction cache, of which tags are kept. The organisation is extrapolated.
struct InstructionTags {
    static constexpr unsigned SETS = 128, WAYS = 4;
    std::array<std::array<uint64_t, WAYS>, SETS> tag{};
    std::array<uint8_t, SETS> next{};
};

struct ShireState {
    uint32_t number = 0;
    std::array<uint8_t, 32> flb{};
    bool coop_mode = false;
    // Bit 0 gfx off, 1 ML off, 2 cacheops off, 3 ucache_control off, 5 locks off. The reset value is the vendor's
    // emulator's.
    uint64_t minion_feature = 1;
    uint64_t thread0_disable = 0, thread1_disable = 0, ipi_redirect_filter = 0, ipi_pending = 0;
    std::array<InstructionTags, NEIGHBOURHOODS> instructions;
};

}  // namespace polyloom::minion
