// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace polyloom::minion {

Region Memory::region_of(uint64_t address) const {
    return member == Member::erbium ? erbium_region(address) : et_region(address);
}

Region Memory::et_region(uint64_t address) const {
    if (address < 0x40000000) return Region::io;
    if (address < Memory::SCRATCHPAD) return Region::service_processor;
    if (address < 0x100000000) return Region::scratchpad;
    if (address < 0x200000000) return Region::esr;
    if (address - Memory::DRAM < Memory::MACHINE_ONLY) return Region::dram_machine;
    if (address - Memory::DRAM < Memory::DRAM_BYTES) return Region::dram;
    if (address - 0xc000000000 < Memory::DRAM_BYTES) return Region::uncached;
    if (address - 0x4000000000 < 0x4000000000) return Region::pcie;
    return Region::nothing;
}

// ESRs are where `canonical` puts them.
Region Memory::erbium_region(uint64_t address) const {
    if (address - MRAM < MRAM_BYTES) return Region::mram;
    if (address - MRAM < MRAM_ROOM) return address < 0x7fffd000 ? Region::no_mram : Region::device;
    if (address - ROM < ROM_BYTES) return Region::rom;
    if (address - SRAM < SRAM_BYTES) return Region::sram;
    if (address >= 0x100000000 && address < 0x200000000) return Region::esr;
    // Registers of the system, of MRAM, of peripherals, UART and xSPI; interrupts.
    if (address - 0x2000000 < 0x10000 || address - 0xa0000000 < 0x4000000) return Region::device;
    return Region::nothing;
}

std::string Memory::name_of(uint64_t address) const {
    switch (region_of(member == Member::erbium ? canonical_erbium(address) : address)) {
        case Region::io: return "I/O";
        case Region::service_processor: return "the service processor";
        case Region::scratchpad: return "a scratchpad that the machine does not have";
        case Region::esr: return "an ESR";
        case Region::pcie: return "PCIe";
        case Region::dram_machine: return "DRAM of machine mode";
        case Region::dram: return "DRAM";
        case Region::uncached: return "the uncached alias of DRAM";
        case Region::mram: return "MRAM";
        case Region::sram: return "the scratch SRAM";
        case Region::rom: return "the boot ROM";
        case Region::device: return "a device of Erbium";
        case Region::no_mram: return "beyond the 16 MiB of MRAM";
        default: return "nothing";
    }
}

Memory::Memory(Member member, unsigned shires, uint64_t scratchpad_bytes)
    : member(member), ram(member == Member::erbium ? MRAM : DRAM),
      ram_bytes(member == Member::erbium ? MRAM_BYTES : DRAM_BYTES), scratchpad_bytes(scratchpad_bytes),
      pages(ram_bytes >> PAGE_BITS), scratchpads(member == Member::erbium ? 2 : shires) {}

// From MRAM's start, MPROT[7:4] is the log2 of the pages of 4 KiB for machine mode, and MPROT[3:0] of those behind
// them, to their end, for supervisor mode too. Source: sw-sysemu, pma_er.cpp.
bool Memory::allowed(uint64_t address, unsigned privilege) const {
    if (!(protection & PROTECTED) || privilege == 3) return true;
    const auto end = [&](unsigned low) {
        return MRAM + (uint64_t(0x1000) << std::min<uint64_t>(protection >> low & 15, 12));
    };
    return address >= end(4) && (privilege != 0 || address >= end(0));
}

// Erbium's ESRs have the shire in bits 28 to 24 and the privilege in bits 23 and 22. Addresses have 32 bits.
uint64_t Memory::canonical_erbium(uint64_t address) {
    constexpr uint64_t NOWHERE = 0xff00000000;
    if (address >> 32) return NOWHERE | (address & 0xffffffff);
    if (address >> 29 != 4) return address;
    return 0x100000000 | (address >> 22 & 3) << 30 | (address >> 24 & 31) << 22 | (address & 0x3fffff);
}

// In format 1, lines go round the shires: their number is in bits 29, 28 and 10 to 6.
uint64_t Memory::canonical_scratchpad(uint64_t address, unsigned shire) const {
    uint64_t offset = address & (SCRATCHPAD_PITCH - 1), number = address >> 23 & 0x7f;
    if (address & INTERLEAVED) {
        offset = (address >> 11 & 0x1ffff) << 6 | (address & 63);
        number = (address >> 28 & 3) << 5 | (address >> 6 & 31);
    }
    if (number == OWN) number = shire;
    return SCRATCHPAD + number * SCRATCHPAD_PITCH + offset;
}

namespace {

uint8_t* zeros(uint64_t size) {
    auto* bytes = static_cast<uint8_t*>(std::calloc(size, 1));
    if (!bytes) throw std::bad_alloc();
    return bytes;
}

}  // namespace

uint8_t* Memory::allocate(uint64_t number) {
    pages[number].reset(zeros(PAGE));
    return pages[number].get();
}

uint8_t* Memory::in_erbium(uint64_t address, uint64_t size) {
    if (const uint64_t offset = address - MRAM; offset < MRAM_BYTES) {
        if (offset % PAGE + size > PAGE) return nullptr;
        uint8_t* page = pages[offset >> PAGE_BITS].get();
        return (page ? page : allocate(offset >> PAGE_BITS)) + offset % PAGE;
    }
    const bool is_rom = address - ROM < ROM_BYTES;
    const uint64_t offset = address - (is_rom ? ROM : SRAM), bytes = is_rom ? ROM_BYTES : SRAM_BYTES;
    if (offset >= bytes || size > bytes - offset) return nullptr;
    Page& page = scratchpads[is_rom];
    if (!page) page.reset(zeros(bytes));
    return page.get() + offset;
}

uint8_t* Memory::in_scratchpad(uint64_t address, uint64_t size) {
    if (member == Member::erbium) return in_erbium(address, size);
    const uint64_t number = (address - SCRATCHPAD) / SCRATCHPAD_PITCH, offset = address % SCRATCHPAD_PITCH;
    if (address < SCRATCHPAD || number >= scratchpads.size()) return nullptr;
    if (offset >= scratchpad_bytes || size > scratchpad_bytes - offset) return nullptr;
    if (!scratchpads[number]) scratchpads[number].reset(zeros(scratchpad_bytes));
    return scratchpads[number].get() + offset;
}

// Pages of DRAM that nobody has touched are not made for a read.
bool Memory::read(uint64_t address, uint64_t size, uint8_t* to) {
    while (size) {
        const uint64_t offset = address - ram;
        const uint64_t now = std::min(size, offset < ram_bytes ? PAGE - offset % PAGE : size);
        const bool untouched = offset < ram_bytes && !pages[offset >> PAGE_BITS];
        const uint8_t* from = untouched ? nullptr : at(canonical(address, 0), now);
        if (!from && !untouched) return false;
        if (from)
            std::memcpy(to, from, now);
        else
            std::memset(to, 0, now);
        address += now, to += now, size -= now;
    }
    return true;
}

bool Memory::write(uint64_t address, uint64_t size, const uint8_t* from) {
    while (size) {
        const uint64_t offset = address - ram;
        const uint64_t now = std::min(size, offset < ram_bytes ? PAGE - offset % PAGE : size);
        uint8_t* to = at(canonical(address, 0), now);
        if (!to) return false;
        std::memcpy(to, from, now);
        address += now, from += now, size -= now;
    }
    return true;
}

}  // namespace polyloom::minion
