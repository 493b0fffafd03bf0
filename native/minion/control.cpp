// SPDX-License-Identifier: Apache-2.0
// Control registers. Sources: facts §3, §4; The RISC-V Instruction Set Manual, Volume II, chapter 2; which bits can be
// written and what resets, the vendor's emulator. The chip does what touches other harts or the tensor unit.
#include "control.hpp"

#include "chip.hpp"

namespace polyloom::minion {

namespace {

using riscv::Cause;
using riscv::Change;
using riscv::DONE;

const Answer ILLEGAL = riscv::trap(Cause::illegal);

constexpr uint64_t MISA = uint64_t(2) << 62 | 1 << 23 | 1 << 20 | 1 << 18 | 1 << 12 | 1 << 8 | 1 << 5 | 1 << 2;
constexpr uint64_t VENDOR = 0x5e5, ARCHITECTURE = 0x8000000000000001;
constexpr uint64_t SSTATUS_SEEN = 0x80000003000de133, SSTATUS_WRITTEN = 0xc6122, MSTATUS_WRITTEN = 0x7e79aa;
constexpr uint64_t STATUS_KEPT = 0xf00018000, XS = 3 << 15, SD = uint64_t(1) << 63, TVM = 1 << 20;
constexpr uint64_t SUPERVISOR_INTERRUPTS = 0x222, SSIP = 2, MIP_WRITTEN = 0x810222;
constexpr uint64_t ROOT_MODE = uint64_t(15) << 60, ROOT_LOCK = uint64_t(1) << 59, ROOT_PAGE = (uint64_t(1) << 28) - 1;

uint64_t signed_address(uint64_t value) { return uint64_t(int64_t(value << 16) >> 16); }

// Registers that hold what is written to them, within a mask; of addresses, the high bits repeat bit 47.
struct Held {
    uint16_t number;
    uint64_t TrapState::* place;
    uint64_t mask;
    bool address;
};
constexpr uint64_t VECTOR = ~uint64_t(0xffe), EVEN = ~uint64_t(1), CAUSE = INTERRUPT | 31, ALL = ~uint64_t(0);
constexpr Held HELD[] = {
    {0x105, &TrapState::stvec, VECTOR, true},      {0x106, &TrapState::scounteren, 0x1ff, false},
    {0x140, &TrapState::sscratch, ALL, false},     {0x141, &TrapState::sepc, EVEN, true},
    {0x142, &TrapState::scause, CAUSE, false},     {0x143, &TrapState::stval, ALL, true},
    {0x302, &TrapState::medeleg, 0xb108, false},   {0x303, &TrapState::mideleg, SUPERVISOR_INTERRUPTS, false},
    {0x304, &TrapState::mie, 0x890aaa, false},     {0x305, &TrapState::mtvec, VECTOR, true},
    {0x306, &TrapState::mcounteren, 0x1ff, false}, {0x340, &TrapState::mscratch, ALL, false},
    {0x341, &TrapState::mepc, EVEN, true},         {0x342, &TrapState::mcause, CAUSE, false},
    {0x343, &TrapState::mtval, ALL, true},         {0x7cd, &TrapState::minstmask, 0x1ffffffff, false},
    {0x7ce, &TrapState::minstmatch, ~0u, false},   {0x7d5, &TrapState::mbusaddr, 0xffffffffff, false},
};

Answer held(const Held& held, TrapState& trap, const Change& change, uint64_t& old) {
    uint64_t& place = trap.*held.place;
    old = place;
    if (!change.writes) return DONE;
    const uint64_t made = change.apply(old) & held.mask;
    place = held.address ? signed_address(made) : made;
    return DONE;
}

// FS has no state between off and dirty; MPP no reserved one.
uint64_t legal_status(uint64_t value) {
    if (value & FS) value |= FS;
    if ((value & FS) == FS || (value & XS) == XS) value |= SD;
    if ((value >> 11 & 3) == 2) value &= ~(uint64_t(3) << 11);
    return value;
}

Answer status(TrapState& trap, bool machine, const Change& change, uint64_t& old) {
    old = machine ? trap.mstatus : trap.mstatus & SSTATUS_SEEN;
    if (!change.writes) return DONE;
    const uint64_t writable = machine ? MSTATUS_WRITTEN : SSTATUS_WRITTEN;
    const uint64_t kept = trap.mstatus & (machine ? STATUS_KEPT : ~(SSTATUS_WRITTEN | SD));
    trap.mstatus = legal_status((change.apply(old) & writable) | kept);
    return DONE;
}

// A part of a register that another one shows: sie, sip and mip.
Answer part(uint64_t& of, uint64_t seen, uint64_t written, const Change& change, uint64_t& old) {
    old = of & seen;
    if (change.writes) of = (of & ~written) | (change.apply(old) & written);
    return DONE;
}

// The root of page tables, of both harts of a minion. Modes other than bare, Sv39 and Sv48 are not taken.
Answer root(uint64_t& of, uint64_t lock, const Change& change, uint64_t& old) {
    old = of;
    if (!change.writes || of & lock) return DONE;
    const uint64_t made = change.apply(old) & (ROOT_MODE | lock | ROOT_PAGE), mode = made >> 60;
    if (mode == 0 || mode == 8 || mode == 9) of = made;
    return DONE;
}

Answer trap_register(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    TrapState& trap = context.hart->trap;
    for (const Held& each : HELD)
        if (each.number == number) return held(each, trap, change, old);
    switch (number) {
        case 0x100: return status(trap, false, change, old);
        case 0x300: return status(trap, true, change, old);
        case 0x104: return part(trap.mie, trap.mideleg, trap.mideleg & SUPERVISOR_INTERRUPTS, change, old);
        case 0x144: return part(trap.mip, trap.mideleg, trap.mideleg & SSIP, change, old);
        case 0x344: return part(trap.mip, ALL, MIP_WRITTEN, change, old);
        case 0x180:
            if (context.hart->privilege == Privilege::supervisor && trap.mstatus & TVM) return ILLEGAL;
            return root(context.minion->satp, 0, change, old);
        case 0x7c0: return root(context.minion->matp, ROOT_LOCK, change, old);
        default: return riscv::ABSENT;
    }
}

Answer float_register(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    HartState& hart = *context.hart;
    if (!floats_on(hart)) return ILLEGAL;
    Hazards& hazards = context.chip->hazards;
    if (number != 2 && change.reads && hart.number % 2 == 0 && hazards.watched(hart.number / 2))
        hazards.read_flags({hart.number, hart.pc, hart.now});
    const uint64_t flags = flags_seen(*hart.flags), rounding = *hart.rounding;
    old = number == 1 ? flags : number == 2 ? rounding : flags | rounding << 5;
    if (!change.writes) return DONE;
    const uint64_t made = change.apply(old);
    if (number != 2) *hart.flags = flags_kept(made);
    if (number != 1) *hart.rounding = (number == 2 ? made : made >> 5) & 7;
    return DONE;
}

// Counters of events are the chip's; of cycles and instructions, 0 is read. Source: minion.md.
Answer counter(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    HartState& hart = *context.hart;
    const unsigned which = number & 31;
    if (number >> 8 == 0xc) {
        const uint64_t machine = hart.trap.mcounteren >> which & 1, both = machine & hart.trap.scounteren >> which;
        if (which > 8 || which == 1) return ILLEGAL;
        if (hart.privilege == Privilege::supervisor ? !machine : hart.privilege == Privilege::user && !both)
            return ILLEGAL;
    }
    if (which < 3 || which > 8) return which == 1 ? ILLEGAL : DONE;
    Chip& chip = *context.chip;
    if (number >> 8 == 3) {
        if (!change.writes) return chip.event(hart, which, old);
        if (const Answer answer = chip.event(hart, which, old); answer.kind != Answer::done) return answer;
        return chip.set_event(hart, which, change.apply(old) & 31);
    }
    if (const Answer answer = chip.counter(hart, which, old); answer.kind != Answer::done || !change.writes)
        return answer;
    return chip.set_counter(hart, which, change.apply(old));
}

// From U, ScpEnable alone, by thread 0 of a split L1; from M, all moves but those to ScpEnable without D1Split and
// from shared to scratchpad.
Answer cache_control(const Context& context, bool machine, const Change& change, uint64_t& old) {
    MinionState& minion = *context.minion;
    constexpr uint16_t RATES = 0x7dc;
    const auto now = uint8_t(minion.mode);
    old = machine ? now : uint64_t(minion.ucache_control & RATES) | now;
    if (!change.writes) return DONE;
    if (const Answer answer = context.chip->turn(*context.hart); answer.kind != Answer::done) return answer;
    const uint64_t made = change.apply(old);
    if (machine) {
        const bool legal = now == 0 ? (made & 3) == 1 : (made & 3) != 2;
        if (legal) change_mode(context, L1Mode(made & 3));
        return DONE;
    }
    minion.ucache_control = made & RATES;
    if (context.hart->number % 2 == 0 && now & 1) change_mode(context, L1Mode((made & 2) | 1));
    return DONE;
}

Answer machine_register(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    HartState& hart = *context.hart;
    MinionState& minion = *context.minion;
    switch (number) {
        case 0x301: old = MISA; return DONE;
        case 0x7a0:
        case 0x7a1:
        case 0x7a2:
        case 0x7a3: return DONE;  // triggers: there are none
        case 0x7d0:
            if (change.writes && change.apply(0) & 2) return invalidate_l1(context);
            return DONE;
        case 0x7d2:
            old = minion.menable_shadows;
            if (change.writes) minion.menable_shadows = change.apply(old) & 1;
            return DONE;
        case 0x7d3:
            old = minion.excl_mode & 1;
            if (change.writes) minion.excl_mode = change.apply(old) & 1 ? uint8_t(1 + 2 * (hart.number & 1)) : 0;
            return DONE;
        case 0x7e0: return cache_control(context, true, change, old);
        case 0x7f9:
        case 0x7fb:
        case 0x7fd:
        case 0x7ff: return change.writes ? cache_operation(context, number, change.apply(0)) : DONE;
        case 0xf11: old = VENDOR; return DONE;
        case 0xf12: old = ARCHITECTURE; return DONE;
        case 0xf13: return DONE;
        case 0xf14: old = hart.number; return DONE;
        default: return ILLEGAL;
    }
}

Answer tensor_state(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    HartState& hart = *context.hart;
    if (number == 0x805) old = hart.tensor_mask;
    if (!change.writes) return DONE;
    const uint64_t value = change.apply(old);
    if (number == 0x802) hart.conv_size = value & 0xff00ffffff00ffff;
    if (number == 0x803) hart.conv_ctrl = value & 0xffff0000ffff;
    hart.tensor_mask = number == 0x805 ? uint16_t(value) : tensor::conv_mask(hart.conv_size, hart.conv_ctrl);
    return DONE;
}

Answer tensor_error(const Context& context, const Change& change, uint64_t& old) {
    HartState& hart = *context.hart;
    Hazards& hazards = context.chip->hazards;
    if (change.reads && hart.number % 2 == 0 && hazards.watched(hart.number / 2))
        hazards.read_error({hart.number, hart.pc, hart.now});
    old = hart.tensor_error;
    if (change.writes) hart.tensor_error = change.apply(old) & 0x3ff;
    return DONE;
}

// What reads as 0 and does something when it is written. `value` is what csrrw writes; csrrs and csrrc begin with 0.
Answer command(const Context& context, unsigned number, uint64_t value, uint64_t& old) {
    HartState& hart = *context.hart;
    Chip& chip = *context.chip;
    switch (number) {
        case 0x820: return chip.flb(hart, value, old);
        case 0x821: return chip.fcc(hart, value);
        case 0x822: return sleep(context);
        case 0x830: return chip.tensor_wait(hart, value & 15);
        case 0x81f:
        case 0x89f:
        case 0x8bf:
        case 0x8df:
        case 0x8ff: return cache_operation(context, number, value);
        default: return chip.tensor(hart, number, value);
    }
}

// What minion_feature must not have off for a register. Source: the vendor's emulator.
uint64_t features_of(unsigned number) {
    switch (number) {
        case 0x808:
        case 0x830:
        case 0x840: return 0;
        case 0x810: return NO_SCRATCHPAD;
        case 0x81f:
        case 0x89f:
        case 0x8bf: return NO_CACHE_OPERATIONS;
        case 0x8df:
        case 0x8ff: return NO_CACHE_OPERATIONS | NO_LOCKS;
        default: return NO_TENSOR;
    }
}

bool on_thread_0(unsigned number) {
    return number == 0x800 || number == 0x801 || number == 0x804 || number == 0x806 || number == 0x83f ||
           number == 0x87f;
}

bool is_command(unsigned number) {
    switch (number) {
        case 0x800:
        case 0x801:
        case 0x804:
        case 0x806:
        case 0x81f:
        case 0x820:
        case 0x821:
        case 0x822:
        case 0x830:
        case 0x83f:
        case 0x85f:
        case 0x87f:
        case 0x89f:
        case 0x8bf:
        case 0x8df:
        case 0x8ff: return true;
        default: return false;
    }
}

Answer user_register(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    HartState& hart = *context.hart;
    if (number == 0xcd0) {
        if (hart.privilege != Privilege::machine && !(context.minion->menable_shadows & 1)) return ILLEGAL;
        old = hart.number;
        return DONE;
    }
    if (number >= 0x8d0 && number < 0x8d4) {
        old = number == 0x8d1 ? 0 : hart.validation[number - 0x8d0];
        if (!change.writes) return DONE;
        hart.validation[number - 0x8d0] = change.apply(old);
        return context.chip->validation(hart, number - 0x8d0, change.apply(old));
    }
    if (off(context, features_of(number))) return ILLEGAL;
    if (on_thread_0(number) && hart.number & 1) return ILLEGAL;
    if (is_command(number)) return change.writes ? command(context, number, change.apply(0), old) : DONE;
    switch (number) {
        case 0x802:
        case 0x803:
        case 0x805: return tensor_state(context, number, change, old);
        case 0x808: return tensor_error(context, change, old);
        case 0x810: return cache_control(context, false, change, old);
        case 0x840:
            old = hart.gsc_progress;
            if (change.writes) hart.gsc_progress = change.apply(old) & 7;
            return DONE;
        case 0xcc0: return context.chip->fccnb(hart, old);
        default: return ILLEGAL;
    }
}

}  // namespace

Answer sleep(const Context& context) {
    if (context.minion->excl_mode) return DONE;
    HartState& hart = *context.hart;
    const Answer answer = context.chip->sleep(hart);
    hart.asleep = answer.kind == Answer::wait && hart.wait.kind == Waits::interrupt;
    return answer;
}

Answer access_control(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    old = 0;
    if ((number >> 8 & 3) > unsigned(context.hart->privilege)) return ILLEGAL;
    if (number >= 1 && number <= 3) return float_register(context, number, change, old);
    const bool counts = (number & 0xfe0) == 0xb00 || (number & 0xfe0) == 0xc00 || (number & 0xfe0) == 0x320;
    if (counts) return counter(context, number, change, old);
    const Answer answer = trap_register(context, number, change, old);
    if (answer.kind != Answer::absent) return answer;
    return number >> 8 & 3 ? machine_register(context, number, change, old)
                           : user_register(context, number, change, old);
}

}  // namespace polyloom::minion
