// SPDX-License-Identifier: Apache-2.0
// Who wrote which bytes and how far they are visible. Memory of the model is flat and always holds the newest value;
// this record says, per line of 64 bytes, which L1 and L2 have a copy, which bytes of it are dirty, and which are older
// than the newest. Nothing is relied on that capacity evicts. Source: minion.md, "Memory".
//
// A line is simple while one L1 at most ever had a copy: then every other copy, in an L2 or at home, lacks just the
// bytes that this L1 has written. Everything else is in `Rest`. L1s are named by tokens, which change when their
// contents are lost; a copy under an older token is gone, and what was dirty in it is lost.
//
// Every function that sees an access answers whether the run has to stop; `--hazards off` is `on == false`. Addresses
// are physical, and those of a scratchpad in format 0 with the shire's number.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "findings.hpp"

namespace polyloom::minion {

// Bytes of one line that a tensor operation reads or writes.
struct Row {
    uint64_t address;
    uint32_t size;
};

// Where an access that skips L1 takes place.
enum class Reach : uint8_t { l2, home };

struct Line {
    uint32_t l1 = 0;       // token of the L1 that has a copy; 0 none; MANY: see `rest`
    uint32_t rest = 0;     // number of the Rest, 0 without
    uint64_t dirty = 0;    // bytes that this L1 has written and not flushed
    uint64_t pc = 0;       // of its last store; bit 0 is the thread
    uint32_t l2 = 0;       // shires whose L2 has a copy
    uint16_t readers = 0;  // tensor loads that may still read it
    uint16_t cache = 0;    // cache operations that may still work on it
};

class Record {
  public:
    Record(Findings& findings, unsigned minions);
    ~Record();
    Record(const Record&) = delete;

    bool on = true;

    // Scalar and SIMD accesses to physical memory, through the hart's L1. Sizes up to 32 bytes, across lines too.
    bool load(uint64_t address, unsigned size, uint32_t hart, uint64_t pc, uint64_t cycle) {
        if (!on) return false;
        const Line* line = known(address);
        if (line && line->l1 == tokens[hart] && (address & 63) + size <= 64) [[likely]]
            return false;
        return load_slowly(address, size, {hart, pc, cycle});
    }
    bool store(uint64_t address, unsigned size, uint32_t hart, uint64_t pc, uint64_t cycle) {
        if (!on) return false;
        Line* line = known(address);
        const unsigned at = unsigned(address & 63);
        if (line && line->l1 == tokens[hart] && line->dirty && !line->readers && at + size <= 64) [[likely]] {
            line->dirty |= (~uint64_t(0) >> (64 - size)) << at;
            line->pc = pc | (hart & 1);
            return false;
        }
        return store_slowly(address, size, {hart, pc, cycle});
    }
    // Accesses that skip L1: L instructions (the shire's L2), G instructions and uncached addresses (home).
    bool access(Reach reach, uint64_t address, unsigned size, bool reads, bool writes, const Site& site);

    // Cache operations, each line of one by its physical address; their effect is complete after wait 6, which
    // `complete` tells of (prefetches: 4 and 5, and 6 into L1). `level` is the destination, 0 L1 to 3 memory.
    bool flush(uint64_t address, unsigned level, const Site& site);
    bool evict(uint64_t address, unsigned level, const Site& site);
    bool prefetch(uint64_t address, unsigned level, unsigned wait, const Site& site);
    bool lock(uint64_t address, const Site& site);  // zeroes a line in L1
    void complete(uint32_t hart, unsigned wait);

    // By set and way: where every way of a set has been flushed or evicted, all lines of the set are. At once.
    void set_way(uint32_t hart, unsigned set, unsigned way, unsigned level, bool keep);

    // The L1 is in another mode now (bits of mcache_control); what this loses is lost. Also of cache_invalidate.
    void mode(uint32_t minion, unsigned before, unsigned after);
    void invalidate(uint32_t minion);

    // Of tensor operations, which Hazards calls: what one reads through L2 and what it writes, from acceptance on, and
    // that either is over. Stores of whole lines are visible then; of parts, they wait in the shire's write buffer.
    bool tensor_read(std::span<const Row> rows, const Site& site, const char* name);
    void tensor_read_over(std::span<const Row> rows);
    bool tensor_write(std::span<const Row> rows, const Site& site, const char* name, int wait);
    void tensor_write_over(std::span<const Row> rows, uint32_t hart);

    // Which operation may still read a line: of a line that has readers, and rarely asked.
    struct Reader {
        Site site;
        const char* name = nullptr;
        int wait = -1;
    };
    std::function<Reader(uint64_t line)> reader_of;

  private:
    static constexpr unsigned PAGE_BITS = 16;  // of memory, whose lines are allocated together
    static constexpr unsigned LINES = 1u << (PAGE_BITS - 6);
    struct State;

    // The line, where its page has been touched.
    Line* known(uint64_t address) {
        const uint64_t page = address >> PAGE_BITS;
        Near& near = recent[page % NEAR];
        if (near.page == page) [[likely]] return &near.lines[address >> 6 & (LINES - 1)];
        return find(address);
    }
    Line* find(uint64_t address);  // none where its page has not been touched
    Line& touch(uint64_t address);
    void renew(uint32_t hart, bool kept);
    bool load_slowly(uint64_t address, unsigned size, const Site& site);
    bool store_slowly(uint64_t address, unsigned size, const Site& site);

    static constexpr unsigned NEAR = 1024;
    struct Near {
        uint64_t page = ~uint64_t(0);
        Line* lines = nullptr;
    };
    std::vector<Near> recent;
    std::vector<uint32_t> tokens;  // by hart
    std::unique_ptr<State> state;
};

}  // namespace polyloom::minion
