// SPDX-License-Identifier: Apache-2.0
// Whether every pair of instructions that needs a wait has one. An operation counts as complete when that is proved: by
// a tensor_wait, by the acceptance of another of its class (loads: of its id), or because a younger operation of the
// queue of FMA, quant, store and reduce, which run in program order, is proved complete. That time has passed proves
// nothing, so findings do not depend on timing. Source: the facts, "Ordering rules", and minion.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record.hpp"

namespace polyloom::minion {

// Places of operations that may not be complete.
enum class Pending : uint8_t { load_0, load_1, load_b, load_l2_0, load_l2_1, fma, quant, store, reduce, count };
constexpr unsigned PENDING = unsigned(Pending::count);

// An operation that was accepted and did not fail: what it reads and writes. Rows that a mask leaves out are not there.
struct Accepted {
    Pending place{};
    Site site;
    const char* name = "";                   // as in the notation: "tensor_load", "tensor_store_scp"
    uint64_t scp_reads = 0, scp_writes = 0;  // lines of L1Scp
    uint32_t f_reads = 0, f_writes = 0;      // registers of hart 0
    uint8_t last_register = 0;               // which of f_writes is written last (erratum 1.29)
    bool tenb = false;                       // of an FMA: B comes from TenB
    bool in_order = true;                    // no IMA8 that writes only TenC, which may overlap younger operations
    bool flags = false;                      // it may add floating-point flags
    bool from_scp = false;                   // of a store
    std::span<const Row> reads;              // physical bytes: loads, through L2
    std::span<const Row> writes;             // physical bytes: stores, load_l2
};

class Hazards {
  public:
    Hazards(Findings& findings, Record& record, unsigned minions, bool errata);
    Hazards(const Hazards&) = delete;

    // At acceptance, before its effect. Under `poison`, gives the lines of L1Scp where it has to read POISON, because
    // it reads them too early.
    uint64_t accept(const Accepted& operation);
    // A LoadB that nothing will take any more.
    void cancelled(uint32_t minion);
    // A tensor_wait has returned (not: blocked). Event 4 to 6: cache operations of this hart.
    void waited(uint32_t hart, unsigned event);

    // Whether CORE has to call `registers` for floating-point and SIMD instructions of hart 0 of a minion.
    [[nodiscard]] bool watched(uint32_t minion) const { return watch[minion]; }
    // A floating-point or SIMD instruction and the f registers that it reads and writes. `refresh`: it is fmv.x.w with
    // rd x0. Under `poison`, gives registers where it has to read POISON.
    uint32_t registers(const Site& site, const char* name, uint32_t reads, uint32_t writes, bool refresh);
    void read_flags(const Site& site);  // fcsr, fflags: CORE, where `watched`
    void read_error(const Site& site);  // tensor_error

    // Many minions. A minion has become ready to receive from another (height -1: Recv; else of the tree), and no more.
    void ready(uint32_t receiver, uint32_t sender, int height, const Site& site);
    void received(uint32_t receiver, uint32_t sender, int height);
    // Two sides that name each other: the registers that they name differ.
    void count_mismatch(const Site& sender, unsigned sent, const Site& receiver, unsigned expected);
    // A join of a barrier, before it counts.
    void barrier(const Site& site, unsigned shire, unsigned barrier, unsigned participants, unsigned present);
    // When the run has ended: `present` harts have joined a barrier that was not full.
    void barrier_left(unsigned shire, unsigned barrier, unsigned present);
    // Likewise: an operation that has not been done.
    void unfinished(const Site& site, const char* name, const char* why, const char* cure);
    static Finding credit_overflow(const Site& site, uint32_t hart, unsigned counter);
    void lost_credit(const Site& site, uint32_t hart, unsigned counter);

    static constexpr uint32_t POISON = 0x7FC0DEAD;

  private:
    struct Place {
        Accepted operation;
        std::vector<Row> reads, writes;
        uint64_t sequence = 0;
    };
    struct Minion {
        std::array<Place, PENDING> places;
        unsigned pending = 0;      // which of them may not be complete, as bits
        uint32_t unrefreshed = 0;  // registers, erratum 1.29
        uint8_t last = 0;
        Site writer;
        const char* writer_name = "";

        [[nodiscard]] bool is_pending(Pending place) const { return pending >> unsigned(place) & 1; }
    };
    struct Peer {
        uint32_t receiver = 0;
        int height = -1;
        Site site;
    };
    struct Round {
        unsigned participants = 0;
        Site site;
    };

    void prove(Minion& minion, unsigned place);
    void over(Minion& minion, unsigned place);
    [[nodiscard]] Record::Reader reader(uint64_t line) const;
    void clash(Hazard kind, unsigned place, const Accepted& older, const Site& later, const char* name,
               std::string what);
    uint64_t check_lines(Minion& minion, const Accepted& operation);
    void check_ports(Minion& minion, const Accepted& operation);
    void check_refreshed(Minion& minion, const Site& site, const char* name, uint32_t reads, bool refresh);
    static Finding credit(Hazard kind, const Site& site, uint32_t hart, unsigned counter, const char* cure);
    void update_watch(uint32_t number);

    Findings& findings;
    Record& record;
    bool errata;
    uint64_t sequence = 0;
    std::vector<Minion> minions;
    std::vector<uint8_t> watch;
    std::vector<std::vector<Peer>> peers;       // by sender
    std::vector<std::array<Round, 32>> rounds;  // by shire
};

}  // namespace polyloom::minion
