// SPDX-License-Identifier: Apache-2.0
// Control registers, traps and returns from them, as functions over the state of a hart. They change privilege and
// address spaces; who executes instructions looks at these afterwards (settle, spaces.hpp).
#pragma once

#include <cstdint>

#include "core.hpp"

namespace polyloom::minion {

// A read, write or both of a control register; `old` is what rd gets. DONE, a trap, or what the chip answered.
Answer access_control(const Context& context, unsigned number, const riscv::Change& change, uint64_t& old);

// control_vendor.cpp: those that are not in the RISC-V manual, and constants.
Answer vendor_register(const Context& context, unsigned number, const riscv::Change& change, uint64_t& old);

// cache_operations.cpp: evict, flush, prefetch, lock and unlock by virtual address and by set and way, by the number of
// their register; and the register that takes an L1 into another mode.
Answer cache_operation(const Context& context, unsigned number, uint64_t value);
void change_mode(const Context& context, L1Mode mode);
Answer invalidate_l1(const Context& context);

// The handler of a trap, whose state it saves; 0 where there is none, and then nothing is changed.
constexpr uint64_t INTERRUPT = uint64_t(1) << 63;
uint64_t enter_trap(HartState& hart, uint64_t cause, uint64_t value, uint64_t pc);
// The cause of the interrupt that the hart takes now, 0 without.
uint64_t pending_interrupt(const HartState& hart);
// mret and sret: the pc to go to, or illegal.
Answer return_from(HartState& hart, Privilege from);
// wfi, and a write to stall. The exclusive hart of a minion does not sleep.
Answer sleep(const Context& context);
// Whether wfi and sfence.vma are allowed here.
bool may_wait(const HartState& hart);
bool may_fence(const HartState& hart);

constexpr uint64_t FS = 3 << 13;
inline bool floats_on(const HartState& hart) { return hart.trap.mstatus & FS; }
// Whether one of the features that the ESR minion_feature turns off is off.
inline bool is_erbium(const Context& context) { return context.memory->member == Member::erbium; }
inline bool off(const Context& context, uint64_t features) { return context.shire->minion_feature & features; }
constexpr uint64_t NO_TENSOR = 2, NO_CACHE_OPERATIONS = 4, NO_SCRATCHPAD = 8, NO_LOCKS = 32;

}  // namespace polyloom::minion
