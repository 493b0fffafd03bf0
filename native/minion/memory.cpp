// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace polyloom::minion {

Region region_of(uint64_t address) {
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

std::string name_of(uint64_t address) {
    switch (region_of(address)) {
        case Region::io: return "I/O";
        case Region::service_processor: return "the service processor";
        case Region::scratchpad: return "a scratchpad that the machine does not have";
        case Region::esr: return "an ESR";
        case Region::pcie: return "PCIe";
        case Region::dram_machine: return "DRAM of machine mode";
        case Region::dram: return "DRAM";
        case Region::uncached: return "the uncached alias of DRAM";
        default: return "nothing";
    }
}

Memory::Memory(unsigned shires, uint64_t scratchpad_bytes)
    : scratchpad_bytes(scratchpad_bytes), pages(DRAM_BYTES >> PAGE_BITS), scratchpads(shires) {}

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

uint8_t* Memory::in_scratchpad(uint64_t address, uint64_t size) {
    const uint64_t number = (address - SCRATCHPAD) / SCRATCHPAD_PITCH, offset = address % SCRATCHPAD_PITCH;
    if (address < SCRATCHPAD || number >= scratchpads.size()) return nullptr;
    if (offset >= scratchpad_bytes || size > scratchpad_bytes - offset) return nullptr;
    if (!scratchpads[number]) scratchpads[number].reset(zeros(scratchpad_bytes));
    return scratchpads[number].get() + offset;
}

// Pages of DRAM that nobody has touched are not made for a read.
bool Memory::read(uint64_t address, uint64_t size, uint8_t* to) {
    while (size) {
        const uint64_t offset = address - DRAM;
        const uint64_t now = std::min(size, offset < DRAM_BYTES ? PAGE - offset % PAGE : size);
        const bool untouched = offset < DRAM_BYTES && !pages[offset >> PAGE_BITS];
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
        const uint64_t offset = address - DRAM;
        const uint64_t now = std::min(size, offset < DRAM_BYTES ? PAGE - offset % PAGE : size);
        uint8_t* to = at(canonical(address, 0), now);
        if (!to) return false;
        std::memcpy(to, from, now);
        address += now, from += now, size -= now;
    }
    return true;
}

}  // namespace polyloom::minion
