// SPDX-License-Identifier: Apache-2.0
// Traps to M and S, with delegation, interrupts, and returns. Source: The RISC-V Instruction Set Manual, Volume II,
// chapters 3 and 12; which exceptions can be delegated and which bits exist, the vendor's emulator.
#include "control.hpp"
#include "translate.hpp"

namespace polyloom::minion {

namespace {

constexpr uint64_t SIE = 1 << 1, MIE = 1 << 3, SPIE = 1 << 5, MPIE = 1 << 7, SPP = 1 << 8, MPP = 3 << 11;
constexpr uint64_t TVM = 1 << 20, TW = 1 << 21, TSR = 1 << 22;
// The order in which interrupts are taken: external, software, timer of M, then of S, then the vendor's.
constexpr uint8_t ORDER[] = {11, 3, 7, 9, 1, 5, 23, 19, 16};

uint64_t put(uint64_t status, uint64_t bit, bool value) { return value ? status | bit : status & ~bit; }

uint64_t handler(uint64_t vector, uint64_t cause) {
    const uint64_t base = vector & ~uint64_t(3);
    return vector & 1 && cause & INTERRUPT ? base + 4 * (cause & ~INTERRUPT) : base;
}

void save_machine(HartState& hart, uint64_t cause, uint64_t value, uint64_t pc) {
    TrapState& t = hart.trap;
    t.mepc = pc, t.mcause = cause, t.mtval = value;
    t.mstatus = put(put(t.mstatus & ~MPP, MPIE, t.mstatus & MIE), MIE, false) | uint64_t(hart.privilege) << 11;
    hart.privilege = Privilege::machine;
}

void save_supervisor(HartState& hart, uint64_t cause, uint64_t value, uint64_t pc) {
    TrapState& t = hart.trap;
    t.sepc = pc, t.scause = cause, t.stval = value;
    t.mstatus = put(put(t.mstatus, SPIE, t.mstatus & SIE), SIE, false);
    t.mstatus = put(t.mstatus, SPP, hart.privilege == Privilege::supervisor);
    hart.privilege = Privilege::supervisor;
}

}  // namespace

uint64_t enter_trap(HartState& hart, uint64_t cause, uint64_t value, uint64_t pc) {
    TrapState& t = hart.trap;
    const uint64_t delegated = cause & INTERRUPT ? t.mideleg : t.medeleg;
    const bool supervisor = hart.privilege != Privilege::machine && delegated >> (cause & 63) & 1;
    const uint64_t to = handler(supervisor ? t.stvec : t.mtvec, cause);
    if (!to) return 0;
    (supervisor ? save_supervisor : save_machine)(hart, cause, value, pc);
    return to;
}

uint64_t pending_interrupt(const HartState& hart) {
    const TrapState& t = hart.trap;
    const uint64_t pending = t.mip & t.mie;
    if (!pending) return 0;
    const bool machine = hart.privilege < Privilege::machine || t.mstatus & MIE;
    const bool supervisor =
        hart.privilege < Privilege::supervisor || (hart.privilege == Privilege::supervisor && t.mstatus & SIE);
    const uint64_t taken = (machine ? pending & ~t.mideleg : 0) | (supervisor ? pending & t.mideleg : 0);
    for (const uint8_t number : ORDER)
        if (taken >> number & 1) return INTERRUPT | number;
    return 0;
}

Answer return_from(HartState& hart, Privilege from) {
    TrapState& t = hart.trap;
    if (hart.privilege < from) return riscv::trap(riscv::Cause::illegal);
    if (from == Privilege::machine) {
        const auto to = Privilege(t.mstatus >> 11 & 3);
        t.mstatus = put(put(t.mstatus & ~MPP, MIE, t.mstatus & MPIE), MPIE, true);
        if (to != Privilege::machine) t.mstatus &= ~MPRV;
        hart.privilege = to;
        return riscv::jump(t.mepc);
    }
    if (hart.privilege == Privilege::supervisor && t.mstatus & TSR) return riscv::trap(riscv::Cause::illegal);
    const auto to = t.mstatus & SPP ? Privilege::supervisor : Privilege::user;
    t.mstatus = put(put(t.mstatus & ~(SPP | MPRV), SIE, t.mstatus & SPIE), SPIE, true);
    hart.privilege = to;
    return riscv::jump(t.sepc);
}

bool may_wait(const HartState& hart) { return hart.privilege == Privilege::machine || !(hart.trap.mstatus & TW); }

bool may_fence(const HartState& hart) {
    return hart.privilege == Privilege::machine ||
           (hart.privilege == Privilege::supervisor && !(hart.trap.mstatus & TVM));
}

}  // namespace polyloom::minion
