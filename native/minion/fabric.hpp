// SPDX-License-Identifier: Apache-2.0
// Time of the memory system, line by line: banks of shires with their read buffers, tags of L2 and L3, the mesh and the
// memory shires. It is called in the order of (cycle, minion). What a line needs on its way serves one after another:
// each has an amount of work before it, and the line comes later by the greatest wait among them. Sources: facts §9,
// §10; minion.md, "Time".
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "dram.hpp"
#include "mesh.hpp"
#include "parameters.hpp"
#include "server.hpp"

namespace polyloom::minion {

// `local_…` are accesses that act in the shire's L2, `home_…` those that act at the line's home. Source: ET
// Programmer's Reference Manual, chapters 5 and 7.
enum class Traffic : uint8_t {
    load,
    load_b,
    load_l2,
    store,
    scalar,
    code,
    cache,
    local_load,
    local_store,
    local_atomic,
    home_load,
    home_store,
    home_atomic,
    count
};

// When a line is there, and how long that takes where nothing is in its way; of stores, when it has been taken.
struct Served {
    uint64_t there = 0, latency = 0;
    bool dram = false;
};

// A bank of a shire, with the lines that it has read last.
struct Bank {
    static constexpr unsigned MOST = 16;
    Server server;
    std::array<uint64_t, MOST> buffer{};  // the newest first; lines plus 1
};

// Tags of a cache of four ways, the last used first, and from which cycle on their lines are there.
class Tags {
  public:
    static constexpr unsigned WAYS = 4;
    struct Entry {
        uint64_t line = 0;  // plus 1; 0 while empty
        uint64_t there : 63 = 0, dirty : 1 = 0;
    };
    struct Found {
        bool hit = false;
        Entry before;  // the line's, or what had to leave
        Entry* now = nullptr;
    };

    explicit Tags(uint64_t lines) : sets(lines / WAYS), power(!(sets & (sets - 1))), entries(sets * WAYS) {}
    // Looks up a line, and puts it first in its set; who misses says in `now` when it will be there.
    Found use(uint64_t set, uint64_t line);
    void drop(uint64_t set, uint64_t line);
    [[nodiscard]] bool empty() const { return !sets; }

  private:
    Entry* at(uint64_t set) { return &entries[(power ? set & (sets - 1) : set % sets) * WAYS]; }

    uint64_t sets;
    bool power;
    std::vector<Entry> entries;
};

struct Fabric {
    // How the SRAM of each shire is split, in KiB, and how many shires there are.
    struct Split {
        unsigned shires = SHIRES, l2 = 512, l3 = 1024;
        bool alone = false;  // one neighbourhood over one memory, without L2, L3 and mesh
    };
    // Bytes that went over the ports of shires' banks, over the mesh, and from and to DRAM.
    struct Bytes {
        uint64_t shire = 0, l3 = 0, dram = 0;
    };

    explicit Fabric(Parameters& parameters) : Fabric(parameters, Split{}) {}
    Fabric(Parameters& parameters, Split split);

    // `address` is physical, of scratchpads in format 0 with the shire's number.
    Served line(uint64_t cycle, unsigned minion, uint64_t address, Traffic use);
    [[nodiscard]] static unsigned hops(unsigned a, unsigned b) {
        return distance(PLACES[a % SHIRES], PLACES[b % SHIRES]);
    }

    // Cycles of service: of the busiest bank, of the busiest shire's port from the mesh, and of DRAM.
    struct Busy {
        uint64_t bank = 0, mesh = 0, dram = 0;
    };
    [[nodiscard]] Busy busy() const;

    Parameters* parameters;
    Bytes bytes;

  private:
    struct Shire {
        explicit Shire(const Split& split) : l2(uint64_t(split.l2) * 16), l3(uint64_t(split.l3) * 16) {}
        std::array<Bank, 4> banks;
        Server port;  // from the mesh
        Tags l2, l3;
    };
    // One line on its way: the cycle in which it was asked for, and the greatest wait so far.
    struct Way {
        uint64_t cycle, wait = 0;
        void at(Server& server, uint64_t service) { at(server.take(cycle, service)); }
        void at(uint64_t waited) { wait = waited > wait ? waited : wait; }
    };

    Shire& shire(unsigned number);
    bool pass(Way& way, Bank& bank, uint64_t line, bool store);
    Served served(const Way& way, uint64_t latency, bool dram = false) const;
    Served alone(Way& way, uint64_t address, Traffic use);
    Served scratchpad(Way& way, unsigned own, uint64_t address, bool store);
    Served memory(Way& way, unsigned own, uint64_t address, Traffic use);
    Served l3(Way& way, unsigned own, uint64_t line, bool store);
    Served in_l3(Way& way, unsigned own, unsigned home, uint64_t line, bool store);
    Bank& l3_bank(uint64_t line) { return shire(l3_home(line)).banks[line >> 5 & 3]; }
    [[nodiscard]] unsigned l3_home(uint64_t line) const {
        return unsigned(line & 31) % (split.shires ? split.shires : 1);
    }
    Served local(Way& way, unsigned own, uint64_t address, Traffic use);
    Served at_home(Way& way, unsigned own, uint64_t address, Traffic use);
    void modify(Way& way, Bank& bank, uint64_t line, Parameter which, uint64_t service);
    [[nodiscard]] uint64_t near(bool buffered) const;
    uint64_t over_mesh(Way& way, unsigned own, unsigned home, bool store);
    int64_t take_dram(Way& way, uint64_t line);
    Served from_memory(Way& way, uint64_t near, unsigned home, uint64_t line, bool store);

    // The parameters' values, taken once; service is in parts of a cycle.
    struct Times {
        explicit Times(const Parameters& parameters);
        uint64_t bank_service, buffered_service, mesh_service, local_atomic, home_atomic;
        uint64_t l2, l2_buffered, l3, hop, dram, mram, code, store;
        unsigned buffer;
        Dram::Times memory;
    };
    void uses(std::initializer_list<Parameter> which) const;

    Split split;
    Times times;
    std::vector<std::unique_ptr<Shire>> shires;  // made when they are used
    Dram memory_shires;
};

}  // namespace polyloom::minion
