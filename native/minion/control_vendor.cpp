// SPDX-License-Identifier: Apache-2.0
// Control registers of the vendor, and what tells who made the machine. The chip does what touches other harts or the
// tensor unit. Sources: facts §3, §4; the vendor's emulator.
#include "chip.hpp"
#include "control.hpp"

namespace polyloom::minion {

namespace {

using riscv::Change;
using riscv::DONE;
using riscv::ILLEGAL;

constexpr uint64_t MISA = uint64_t(2) << 62 | 1 << 23 | 1 << 20 | 1 << 18 | 1 << 12 | 1 << 8 | 1 << 5 | 1 << 2;
constexpr uint64_t VENDOR = 0x5e5, ARCHITECTURE = 0x8000000000000001;
constexpr uint64_t ERBIUM_ARCHITECTURE = 0x4554000000000001, ERBIUM_IMPLEMENTATION = 0x10000;

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
        case 0xf12: old = is_erbium(context) ? ERBIUM_ARCHITECTURE : ARCHITECTURE; return DONE;
        case 0xf13: old = is_erbium(context) ? ERBIUM_IMPLEMENTATION : 0; return DONE;
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
    if (change.writes) context.chip->write_error(hart, change.apply(old) & 0x3ff);
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
        case 0x830: return chip.tensor_wait(hart, value);
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
    // No L2, so none of its scratchpads.
    if (off(context, features_of(number)) || (number == 0x85f && is_erbium(context))) return ILLEGAL;
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

Answer vendor_register(const Context& context, unsigned number, const Change& change, uint64_t& old) {
    return number >> 8 & 3 ? machine_register(context, number, change, old)
                           : user_register(context, number, change, old);
}

}  // namespace polyloom::minion
