// SPDX-License-Identifier: Apache-2.0
#include "translate.hpp"

#include <cstring>

namespace polyloom::minion {

namespace {

using riscv::Answer;
using riscv::Cause;

constexpr unsigned PAGE_BITS = 12;
constexpr uint64_t PHYSICAL = (uint64_t(1) << 40) - 1;  // of an address that is not translated, the rest is ignored
constexpr uint64_t PPN = (uint64_t(1) << 28) - 1;       // of 40 bits of physical address
constexpr uint64_t SUM = 1 << 18, MXR = 1 << 19;
enum Entry : uint64_t { V = 1, R = 2, W = 4, X = 8, U = 16, A = 64, D = 128 };

// Levels of the page table: 3 of Sv39, 4 of Sv48, none of bare.
unsigned levels(uint64_t root) {
    const uint64_t mode = root >> 60;
    return mode == 8 ? 3 : mode == 9 ? 4 : 0;
}

uint64_t root_of(const AddressSpace& space) { return space.privilege == Privilege::machine ? space.matp : space.satp; }

Answer page_fault(Use use, uint64_t address) {
    return riscv::trap(use == Use::fetch  ? Cause::fetch_page
                       : use == Use::load ? Cause::load_page
                                          : Cause::store_page,
                       address);
}

Answer access_fault(Use use, uint64_t address) {
    return riscv::trap(use == Use::fetch ? Cause::fetch : use == Use::load ? Cause::load : Cause::store, address);
}

// Whether a leaf allows the access. A and D are set by software: an entry without them faults.
bool allows(uint64_t entry, const AddressSpace& space, Use use) {
    if (!(entry & A)) return false;
    const bool user = entry & U;
    if (space.privilege == Privilege::user && !user) return false;
    if (space.privilege == Privilege::supervisor && user && (use == Use::fetch || !space.sum)) return false;
    if (use == Use::fetch) return entry & X;
    if (use == Use::load) return entry & R || (space.mxr && entry & X);
    return entry & W && entry & D;
}

// A physical address as a privilege may reach it. Source: facts §9; bits 31 and 30 of an ESR's address are the least
// privilege.
Answer reached(const Memory& memory, const AddressSpace& space, uint64_t physical, unsigned size, Use use,
               uint64_t address) {
    switch (memory.region_of(physical)) {
        case Region::dram:
        case Region::sram: return riscv::DONE;
        case Region::rom: return use == Use::store ? access_fault(use, address) : riscv::DONE;
        case Region::mram:
            return memory.allowed(physical, unsigned(space.privilege)) ? riscv::DONE : access_fault(use, address);
        case Region::dram_machine:
            return space.privilege == Privilege::machine ? riscv::DONE : access_fault(use, address);
        case Region::scratchpad: return use == Use::fetch ? access_fault(use, address) : riscv::DONE;
        case Region::esr:
            if (use == Use::fetch || uint64_t(space.privilege) < (physical >> 30 & 3))
                return access_fault(use, address);
            return size == 8 && physical % 8 == 0 ? riscv::DONE : access_fault(use, address);
        default: return access_fault(use, address);
    }
}

}  // namespace

AddressSpace data_space(const HartState& hart) {
    const uint64_t status = hart.trap.mstatus;
    const Privilege privilege = status & MPRV ? Privilege(status >> 11 & 3) : hart.privilege;
    return {hart.minion->satp, hart.minion->matp, privilege, (status & SUM) != 0, (status & MXR) != 0};
}

AddressSpace code_space(const HartState& hart) {
    return {hart.minion->satp, hart.minion->matp, hart.privilege, false, false};
}

bool translates(const AddressSpace& space) { return levels(root_of(space)) != 0; }

Answer walked(Memory& memory, const AddressSpace& space, unsigned shire, uint64_t address, unsigned size, Use use,
              uint64_t& physical) {
    const uint64_t root = root_of(space);
    unsigned level = levels(root);
    if (!level) {
        physical = memory.canonical(address & PHYSICAL, shire);
        return reached(memory, space, physical, size, use, address);
    }
    const unsigned bits = PAGE_BITS + 9 * level;
    if (int64_t(address << (64 - bits)) >> (64 - bits) != int64_t(address)) return page_fault(use, address);
    uint64_t table = (root & PPN) << PAGE_BITS;
    while (level-- > 0) {
        const unsigned shift = PAGE_BITS + 9 * level;
        const uint8_t* at = memory.at(memory.canonical(table + 8 * (address >> shift & 511), shire), 8);
        if (!at) return access_fault(use, address);
        uint64_t entry;
        std::memcpy(&entry, at, sizeof entry);
        if (!(entry & V) || (entry & W && !(entry & R))) return page_fault(use, address);
        const uint64_t number = entry >> 10 & PPN;
        if (!(entry & (R | X))) {
            table = number << PAGE_BITS;
            continue;
        }
        const uint64_t within = (uint64_t(1) << shift) - 1;
        if ((number << PAGE_BITS) & within || !allows(entry, space, use)) return page_fault(use, address);
        physical = memory.canonical(number << PAGE_BITS | (address & within), shire);
        return reached(memory, space, physical, size, use, address);
    }
    return page_fault(use, address);
}

// What decides beside the root, in the 12 bits below a page's number; never 0.
static uint64_t key_of(const AddressSpace& space, uint64_t address, Use use) {
    const uint64_t allowed = uint64_t(space.privilege) << 4 | uint64_t(space.sum) << 3 | uint64_t(space.mxr) << 2;
    return address >> PAGE_BITS << PAGE_BITS | allowed | uint64_t(use) << 1 | 1;
}

Answer translated(Memory& memory, const HartState& hart, uint64_t address, unsigned size, Use use, uint64_t& physical) {
    const AddressSpace space = data_space(hart);
    const unsigned shire = hart.number / HARTS_PER_SHIRE;
    const uint64_t root = root_of(space);
    if (!levels(root)) return walked(memory, space, shire, address, size, use, physical);
    const uint64_t key = key_of(space, address, use), number = address >> PAGE_BITS;
    Translations::Place& place =
        hart.minion->translations.places[(number ^ number >> 9 ^ uint64_t(use) << 3) % Translations::PLACES];
    const uint64_t within = address & ((uint64_t(1) << PAGE_BITS) - 1);
    if (place.key == key && place.root == root) {
        physical = place.page | within;
        return riscv::DONE;
    }
    const Answer answer = walked(memory, space, shire, address, size, use, physical);
    const Region region = memory.region_of(physical);
    if (answer.kind == Answer::done && (region == Region::dram || region == Region::dram_machine))
        place = {root, key, physical - within};
    return answer;
}

}  // namespace polyloom::minion
