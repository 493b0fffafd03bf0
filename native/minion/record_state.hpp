// SPDX-License-Identifier: Apache-2.0
// What the record keeps of lines that are not simple, and of L1s and cache operations. Internal to record*.cpp.
//
// Every copy of a line, the one at home included, has a mask of the bytes that are older than the newest. A write makes
// its bytes stale in all other copies; moving dirty bytes down moves their age along; fetching copies the age. So a
// reader is told exactly when the bytes that it reads are not the newest.
#pragma once

#include <array>
#include <deque>
#include <unordered_map>
#include <vector>

#include "record.hpp"

namespace polyloom::minion {

constexpr uint64_t ALL_BYTES = ~uint64_t(0);
constexpr uint32_t MANY = ~uint32_t(0);

constexpr uint64_t bytes_of(uint64_t address, unsigned size) { return (ALL_BYTES >> (64 - size)) << (address & 63); }
constexpr bool in_scratchpad(uint64_t address) { return address >> 31 == 1; }
constexpr unsigned shire_of(uint32_t hart) { return hart >> 6; }

struct Rest {
    struct L1Copy {
        uint32_t token;
        uint64_t stale, dirty;
    };
    struct L2Copy {
        uint32_t shire;
        uint64_t stale, dirty;
    };
    // Bytes of 16- and 32-byte rows in a shire's write buffer.
    struct Buffer {
        uint32_t shire;
        uint64_t bytes;
    };
    // Who wrote the newest value of bytes. Of a tensor operation that may not be complete, `wait` is 0 or more.
    struct Writer {
        uint64_t bytes;
        Site site;
        const char* name;
        int wait;
        bool pending;
    };

    uint64_t address = 0;
    uint64_t home = 0;            // stale bytes of the copy that L3, DRAM or the scratchpad has
    std::vector<uint64_t> clean;  // tokens of L1s with copies that are neither stale nor dirty, as bits
    std::vector<L1Copy> l1s;
    std::vector<L2Copy> l2s;
    std::vector<Buffer> buffers;
    std::vector<Writer> writers;

    [[nodiscard]] bool is_clean(uint32_t token) const {
        return token / 64 < clean.size() && clean[token / 64] >> token % 64 & 1;
    }
    void set_clean(uint32_t token);
    L1Copy* l1(uint32_t token);
    L2Copy* l2(unsigned shire);
    // The copy of an L1, explicitly, if there is one.
    L1Copy* taken(uint32_t token);
    // The copy of a shire's L2, fetched from home if need be.
    L2Copy& fetched_l2(unsigned shire);
    // The copy of an L1, fetched through L2 or from a scratchpad.
    L1Copy& fetched_l1(uint32_t token, unsigned shire);
    // Bytes get a new value: all copies are stale in them, and whoever calls mends its own.
    void written(uint64_t bytes, const Site& site, const char* name, int wait = -1);
    void reset(uint64_t at);
};

struct Record::State {
    State(Findings& findings, unsigned minions) : findings(findings), ways(minions), modes(minions) {}

    struct L1 {
        bool alive = true;
        uint32_t hart = 0;            // of which it is, the first of two that share it
        uint16_t emptied = 0;         // sets that set_way has evicted
        std::vector<uint64_t> dirty;  // lines that have become dirty, perhaps not any more
    };
    struct CacheOperation {
        uint64_t address;
        uint32_t token;
        uint8_t level;
        int8_t wait;
        bool moves, keeps;  // it moves dirty bytes; copies stay
        Site site;
        const char* name;
    };
    using Ways = std::array<uint8_t, 16>;

    Findings& findings;
    std::unordered_map<uint64_t, std::unique_ptr<Line[]>> pages;
    std::deque<Rest> rests{1};
    std::vector<uint32_t> free_rests;
    std::vector<L1> l1s{1};                                                // by token; 0 is none
    std::unordered_map<uint32_t, std::vector<CacheOperation>> operations;  // by hart
    std::vector<Ways> ways;      // by minion: of each set those that cache operations have been at
    std::vector<uint8_t> modes;  // by minion

    uint32_t new_token(uint32_t hart);
    Rest& rest_of(Line& line, uint64_t address);
    // Makes the line simple again where nothing keeps it from that.
    void settle(Line& line);

    // What a reader sees: reports bytes that are older than the newest. `copy` are the stale bytes of what it reads.
    void check_read(Rest& rest, uint64_t bytes, uint64_t copy, bool l1_is_older, const Site& site, const char* name);
    void check_write(const Record& record, const Line& line, Rest* rest, uint64_t address, uint64_t bytes,
                     const Site& site, const char* name);
    void check_cache(const Line& line, uint64_t address, const Site& site, const char* name);
    void check_shared(const Rest& rest, uint32_t token, const Site& site);
    [[nodiscard]] const CacheOperation* pending_flush(const Rest& rest, uint64_t bytes) const;

    void begin(Record& record, const CacheOperation& operation);
    void move_set(Record& record, uint32_t token, uint32_t hart, const std::function<bool(uint64_t)>& inside,
                  unsigned level, bool keeps);
    // The effect of a flush or evict.
    void move_down(Rest& rest, uint32_t token, unsigned shire, unsigned level, bool keeps);
};

}  // namespace polyloom::minion
