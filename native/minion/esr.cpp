// SPDX-License-Identifier: Apache-2.0
// The ESRs that programs need: credits, barriers, cooperation, features, and which threads run; aligned words of 8
// bytes. Writes of those of other shires take as long as a credit. Source: facts §8.
#include <bit>

#include "chip.hpp"
#include "core.hpp"

namespace polyloom::minion {

namespace {

// Offsets within a shire's part of the space, privilege included.
constexpr uint64_t SHIRE_OTHER = 0x340000, CREDIT = SHIRE_OTHER + 0xc0, FLB = SHIRE_OTHER + 0x100;
constexpr uint64_t IPI_REDIRECT = SHIRE_OTHER + 0x80, COOP = 0x40340290;
constexpr uint64_t FEATURE = 0xc0340000, THREAD0 = 0xc0340240, THREAD1 = 0xc0340010, IPI = 0xc0340090,
                   IPI_CLEAR = 0xc0340098, IPI_FILTER = 0xc0340088;
constexpr uint64_t MPROT = 0xc0100020;  // Erbium's
constexpr unsigned SHIRE_BITS = 22, OWN_SHIRE = 0xff;
constexpr uint64_t SOFTWARE_INTERRUPT = 1 << 3, ONE_THREAD = 1 << 4;

}  // namespace

// Interrupts of machine mode to the harts of a mask, two bits a minion.
void Chip::interrupt(unsigned shire, uint64_t mask, bool pending) {
    for (; mask; mask &= mask - 1) {
        const uint32_t number = HARTS_PER_SHIRE * shire + unsigned(std::countr_zero(mask));
        if (number >= harts.size()) continue;
        uint64_t& mip = harts[number]->trap.mip;
        mip = pending ? mip | SOFTWARE_INTERRUPT : mip & ~SOFTWARE_INTERRUPT;
        if (pending) wake(number);
    }
}

// Harts that are disabled stop where they are, and go on there once they are enabled. What waited is tried again.
void Chip::enable(unsigned shire) {
    const ShireState& s = shires[shire];
    const uint64_t second = s.minion_feature & ONE_THREAD ? ~uint64_t(0) : s.thread1_disable;
    for (unsigned n = 0; n < HARTS_PER_SHIRE; ++n) {
        const uint32_t number = HARTS_PER_SHIRE * shire + n;
        if (number >= harts.size() || seats[number].ended) continue;
        HartState& h = *harts[number];
        const bool off = (n & 1 ? second : s.thread0_disable) >> n / 2 & 1, was = h.wait.kind == Waits::disabled;
        if (off && !was) h.wait = {Waits::disabled, 0, cycle(), seats[number].core->pc()}, seats[number].queued = false;
        if (!off && was) h.wait.kind = Waits::nothing, queue_hart(number, cycle());
    }
}

Answer Chip::esr(HartState& h, uint64_t address, bool store, uint64_t& value) {
    if (const Answer answer = one_at_a_time(h); answer.kind != Answer::done) return answer;
    if (const Answer answer = turn(h); answer.kind != Answer::done) return answer;
    const unsigned named = address >> SHIRE_BITS & 0xff,
                   shire = named == OWN_SHIRE ? h.number / HARTS_PER_SHIRE : named;
    const uint64_t offset = (address & 0xffffffff) & ~(uint64_t(0xff) << SHIRE_BITS);
    if (shire >= shires.size()) return riscv::ABSENT;
    if (store && options.timed)
        h.answered = h.now + parameters[Parameter::esr_answer] +
                     parameters[Parameter::hop] * fabric.hops(h.number / HARTS_PER_SHIRE, shire);
    ShireState& s = shires[shire];
    const auto word = [&](auto& kept, uint64_t bits = ~uint64_t(0)) {
        if (store)
            kept = value & bits;
        else
            value = kept;
        return riscv::DONE;
    };
    if (offset >= CREDIT && offset < CREDIT + 32 && offset % 8 == 0) {
        if (store)
            give_credits(h, shire, unsigned(offset - CREDIT) / 8, uint32_t(value));
        else
            value = 0;
        return riscv::DONE;
    }
    if (offset >= FLB && offset < FLB + 256 && offset % 8 == 0) return word(s.flb[(offset - FLB) / 8], 0xff);
    switch (offset) {
        case COOP: {
            uint64_t kept = s.coop_mode;
            word(kept, 1);
            s.coop_mode = kept;
            return riscv::DONE;
        }
        case FEATURE: word(s.minion_feature, 0x3f); break;
        case THREAD0: word(s.thread0_disable, 0xffffffff); break;
        case THREAD1: word(s.thread1_disable, 0xffffffff); break;
        case IPI_FILTER: return word(s.ipi_redirect_filter);
        case IPI:
        case IPI_CLEAR:
            // What is pending reads back on Erbium (sw-sysemu, esrs_er.cpp).
            if (store)
                interrupt(shire, value, offset == IPI),
                    s.ipi_pending = offset == IPI ? s.ipi_pending | value : s.ipi_pending & ~value;
            else
                value = options.member == Member::erbium && offset == IPI ? s.ipi_pending & 0xffff : 0;
            return riscv::DONE;
        case MPROT:
            if (options.member != Member::erbium) return riscv::ABSENT;
            return word(memory.protection, 0x1ff);
        case IPI_REDIRECT:
            if (store)
                interrupt(shire, value & s.ipi_redirect_filter, true);
            else
                value = 0;
            return riscv::DONE;
        default: return riscv::ABSENT;
    }
    if (store) enable(shire);
    return h.wait.kind == Waits::disabled ? riscv::leave(riscv::Cause::exit) : riscv::DONE;
}

}  // namespace polyloom::minion
