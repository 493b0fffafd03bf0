// SPDX-License-Identifier: Apache-2.0
// The memory of the chip: one flat array of bytes behind all caches, which hold none. DRAM is allocated by pages when
// it is touched and is zero before; each shire has its scratchpad. Every other address is a fault, which is named.
// Addresses are physical, 40 bits. Source: facts §9.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace polyloom::minion {

enum class Region : uint8_t { nothing, io, service_processor, scratchpad, esr, pcie, dram_machine, dram, uncached };

// Where an address lies, whatever the machine has of it.
Region region_of(uint64_t address);
// What there is instead of memory, in words: "PCIe", "an ESR", …
std::string name_of(uint64_t address);

class Memory {
  public:
    static constexpr uint64_t DRAM = 0x8000000000, DRAM_BYTES = uint64_t(32) << 30, MACHINE_ONLY = 0x800000;
    static constexpr uint64_t SCRATCHPAD = 0x80000000, SCRATCHPAD_PITCH = 0x800000, INTERLEAVED = 0x40000000;
    static constexpr uint64_t OWN = 0x7f;  // as a shire's number: that of who accesses
    static constexpr unsigned PAGE_BITS = 20;
    static constexpr uint64_t PAGE = uint64_t(1) << PAGE_BITS;

    Memory(unsigned shires, uint64_t scratchpad_bytes);

    // The same place with one address: scratchpads in format 0, with the shire's number. Others are as they were.
    [[nodiscard]] uint64_t canonical(uint64_t address, unsigned shire) const {
        return address >> 31 == 1 ? canonical_scratchpad(address, shire) : address;
    }
    // The host's address of bytes at a canonical address, none where there is no memory for all of them. They are
    // within one page of DRAM, or one scratchpad.
    uint8_t* at(uint64_t address, uint64_t size) {
        const uint64_t offset = address - DRAM;
        if (offset < DRAM_BYTES) [[likely]] {
            if ((offset & (PAGE - 1)) + size > PAGE) return nullptr;
            uint8_t* page = pages[offset >> PAGE_BITS].get();
            if (!page) [[unlikely]]
                page = allocate(offset >> PAGE_BITS);
            return page + (offset & (PAGE - 1));
        }
        return in_scratchpad(address, size);
    }
    // Any number of bytes, for the host; false where memory ends.
    bool read(uint64_t address, uint64_t size, uint8_t* to);
    bool write(uint64_t address, uint64_t size, const uint8_t* from);

  private:
    struct Free {
        void operator()(uint8_t* bytes) const { std::free(bytes); }
    };
    using Page = std::unique_ptr<uint8_t, Free>;
    [[nodiscard]] uint64_t canonical_scratchpad(uint64_t address, unsigned shire) const;
    uint8_t* in_scratchpad(uint64_t address, uint64_t size);
    uint8_t* allocate(uint64_t number);

    uint64_t scratchpad_bytes;
    std::vector<Page> pages, scratchpads;
};

}  // namespace polyloom::minion
