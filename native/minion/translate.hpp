// SPDX-License-Identifier: Apache-2.0
// From virtual to physical addresses: Sv39 and Sv48 of satp, and of matp in machine mode; then what a privilege may
// reach. One function for the accesses of instructions, cache operations and tensor operations. Sources: The RISC-V
// Instruction Set Manual, Volume II, chapter 12; facts §1, §9.
#pragma once

#include <cstdint>

#include "memory.hpp"
#include "riscv/policies.hpp"
#include "state.hpp"

namespace polyloom::minion {

inline constexpr uint64_t MPRV = 1 << 17;  // of mstatus: data are accessed with the privilege of MPP

enum class Use : uint8_t { load, store, fetch };

// What decides about an address: sampled when a tensor operation is accepted.
struct AddressSpace {
    uint64_t satp = 0, matp = 0;
    Privilege privilege = Privilege::machine;
    bool sum = false, mxr = false;
};
// Of data accesses of a hart now, MPRV considered; of its instructions.
AddressSpace data_space(const HartState& hart);
AddressSpace code_space(const HartState& hart);
bool translates(const AddressSpace& space);

// The canonical physical address for an access of `size` bytes that does not cross a page of 4096 bytes: DONE, or the
// trap that it is. It walks the page tables.
riscv::Answer walked(Memory& memory, const AddressSpace& space, unsigned shire, uint64_t address, unsigned size,
                     Use use, uint64_t& physical);
// The same for data of a hart, with what its minion has found before: sfence.vma of one of its harts, and a write of
// satp or matp, make it forget that. Until then it may miss changes of the page tables, as the hardware may; faults are
// never kept.
riscv::Answer translated(Memory& memory, const HartState& hart, uint64_t address, unsigned size, Use use,
                         uint64_t& physical);

}  // namespace polyloom::minion
