// SPDX-License-Identifier: Apache-2.0
// Control registers of the RISC-V manual: traps, floats, counters. Sources: The RISC-V Instruction Set Manual, Volume
// II, chapter 2; which bits can be written and what they are at first, the vendor's emulator.
#include "control.hpp"

#include "chip.hpp"

namespace polyloom::minion {

namespace {

using riscv::Cause;
using riscv::Change;
using riscv::DONE;
using riscv::ILLEGAL;

constexpr uint64_t SSTATUS_SEEN = 0x80000003000de133, SSTATUS_WRITTEN = 0xc6122, MSTATUS_WRITTEN = 0x7e79aa;
constexpr uint64_t STATUS_KEPT = 0xf00018000, XS = 3 << 15, SD = uint64_t(1) << 63, TVM = 1 << 20, SUM = 1 << 18;
constexpr uint64_t SUPERVISOR_INTERRUPTS = 0x222, SSIP = 2, MIP_WRITTEN = 0x810222;
constexpr uint64_t ROOT_MODE = uint64_t(15) << 60, ROOT_LOCK = uint64_t(1) << 59, ROOT_PAGE = (uint64_t(1) << 28) - 1;

uint64_t signed_address(uint64_t value) { return uint64_t(int64_t(value << 16) >> 16); }

// Registers that hold what is written to them, within a mask; of addresses, the high bits repeat bit 47.
struct KeptBits {
    uint16_t number;
    uint64_t TrapState::* place;
    uint64_t mask;
    bool address;
};
constexpr uint64_t VECTOR = ~uint64_t(0xffe), EVEN = ~uint64_t(1), CAUSE = INTERRUPT | 31, ALL = ~uint64_t(0);
constexpr KeptBits HELD[] = {
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

Answer held(const KeptBits& held, TrapState& trap, const Change& change, uint64_t& old) {
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
    for (const KeptBits& each : HELD)
        if (each.number == number) return held(each, trap, change, old);
    switch (number) {
        case 0x100:
        case 0x300: {
            const Answer answer = status(trap, number == 0x300, change, old);
            if (is_erbium(context)) trap.mstatus &= ~SUM;
            return answer;
        }
        case 0x104: return part(trap.mie, trap.mideleg, trap.mideleg & SUPERVISOR_INTERRUPTS, change, old);
        case 0x144: return part(trap.mip, trap.mideleg, trap.mideleg & SSIP, change, old);
        case 0x344: return part(trap.mip, ALL, MIP_WRITTEN, change, old);
        case 0x180:
            if (context.hart->privilege == Privilege::supervisor && trap.mstatus & TVM) return ILLEGAL;
            if (change.writes) context.minion->translations = {};
            // Erbium has no page tables (sw-sysemu, insns/zicsr.cpp): both registers are 0.
            if (is_erbium(context)) return old = 0, DONE;
            return root(context.minion->satp, 0, change, old);
        case 0x7c0:
            if (change.writes) context.minion->translations = {};
            if (is_erbium(context)) return old = 0, DONE;
            return root(context.minion->matp, ROOT_LOCK, change, old);
        default: return riscv::ABSENT;
    }
}

Answer float_register(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    HartState& hart = *context.hart;
    if (!floats_on(hart)) return ILLEGAL;
    if (context.minion->busy & MinionState::COMPUTED) context.chip->join(hart.number / 2);
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

}  // namespace

Answer access_control(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    old = 0;
    if ((number >> 8 & 3) > unsigned(context.hart->privilege)) return ILLEGAL;
    if (number >= 1 && number <= 3) return float_register(context, number, change, old);
    const bool counts = (number & 0xfe0) == 0xb00 || (number & 0xfe0) == 0xc00 || (number & 0xfe0) == 0x320;
    if (counts) return counter(context, number, change, old);
    const Answer answer = trap_register(context, number, change, old);
    if (answer.kind != Answer::absent) return answer;
    return vendor_register(context, number, change, old);
}

}  // namespace polyloom::minion
