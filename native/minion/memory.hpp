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

enum class Region : uint8_t {
    nothing,
    io,
    service_processor,
    scratchpad,
    esr,
    pcie,
    dram_machine,
    dram,
    uncached,
    // Of Erbium.
    mram,
    sram,
    rom,
    device,
    no_mram
};

enum class Member : uint8_t { et_soc_1, erbium };

class Memory {
  public:
    static constexpr uint64_t DRAM = 0x8000000000, DRAM_BYTES = uint64_t(32) << 30, MACHINE_ONLY = 0x800000;
    static constexpr uint64_t SCRATCHPAD = 0x80000000, SCRATCHPAD_PITCH = 0x800000, INTERLEAVED = 0x40000000;
    static constexpr uint64_t OWN = 0x7f;  // as a shire's number: that of who accesses
    static constexpr unsigned PAGE_BITS = 20;
    static constexpr uint64_t PAGE = uint64_t(1) << PAGE_BITS;

    // Source: sw-sysemu, memory/erbium/main_memory.h and pma_er.cpp.
    static constexpr uint64_t MRAM = 0x40000000, MRAM_BYTES = uint64_t(16) << 20, MRAM_ROOM = uint64_t(1) << 30;
    static constexpr uint64_t ROM = 0x2008000, ROM_BYTES = 0x2000, SRAM = 0x200c000, SRAM_BYTES = 0x1000;

    Memory(Member member, unsigned shires, uint64_t scratchpad_bytes);

    // Where an address lies, whatever the machine has of it.
    [[nodiscard]] Region region_of(uint64_t address) const;
    // What there is instead of memory, in words: "PCIe", "an ESR", …
    [[nodiscard]] std::string name_of(uint64_t address) const;
    // From where on memory is plain for a privilege, with translation aside.
    [[nodiscard]] uint64_t plain_from(bool machine_mode) const {
        return ram + (machine_mode || member == Member::erbium ? 0 : MACHINE_ONLY);
    }
    [[nodiscard]] uint64_t plain_to(bool machine_mode) const {
        return machine_mode || !(protection & PROTECTED) ? ram + ram_bytes : plain_from(machine_mode);
    }
    // Whether Erbium's MPROT lets a privilege (0 user, 1 supervisor, 3 machine) reach MRAM.
    [[nodiscard]] bool allowed(uint64_t address, unsigned privilege) const;

    // The same place with one address: scratchpads in format 0, with the shire's number, and Erbium's ESRs as they lie
    // in ET-SoC-1. Others are as they were.
    [[nodiscard]] uint64_t canonical(uint64_t address, unsigned shire) const {
        if (member == Member::erbium) return canonical_erbium(address);
        return address >> 31 == 1 ? canonical_scratchpad(address, shire) : address;
    }
    // The host's address of bytes at a canonical address, none where there is no memory for all of them. They are
    // within one page of DRAM, or one scratchpad.
    uint8_t* at(uint64_t address, uint64_t size) {
        // Of constants, because almost all accesses of ET-SoC-1 end here; Erbium has no address that is so large.
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

    const Member member;
    uint64_t protection = 0;  // Erbium's MPROT

  private:
    static constexpr uint64_t PROTECTED = 0x100;
    struct Free {
        void operator()(uint8_t* bytes) const { std::free(bytes); }
    };
    using Page = std::unique_ptr<uint8_t, Free>;
    [[nodiscard]] uint64_t canonical_scratchpad(uint64_t address, unsigned shire) const;
    [[nodiscard]] static uint64_t canonical_erbium(uint64_t address);
    [[nodiscard]] Region et_region(uint64_t address) const;
    [[nodiscard]] Region erbium_region(uint64_t address) const;
    uint8_t* in_erbium(uint64_t address, uint64_t size);
    uint8_t* in_scratchpad(uint64_t address, uint64_t size);
    uint8_t* allocate(uint64_t number);

    const uint64_t ram, ram_bytes;
    uint64_t scratchpad_bytes;
    std::vector<Page> pages, scratchpads;  // Erbium has its ROM and its SRAM in place of scratchpads
};

}  // namespace polyloom::minion
