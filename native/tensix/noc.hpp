// SPDX-License-Identifier: Apache-2.0
// The DRAM port of a single tile: the network interface units (NIUs) of both NoCs, with a memory behind them. A core
// writes a request into one of four initiators of an NIU; packets of at most 8,192 bytes then move between L1 and the
// memory, a header flit and data flits of 32 bytes, one stream for each NoC and direction. On a single tile nothing
// else answers, so coordinates are not looked at. A tile of a grid has a `Station` on the network instead
// (station.cpp). Sources: ISA documentation, WormholeB0/NoC/README.md ("Performance"), Alignment.md, Counters.md;
// WormholeB0/DRAMTile/README.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "network.hpp"

namespace polyloom::tensix {

constexpr uint32_t NIU = 0xffb20000, NIU_END = 0xffb40000, PACKET_BYTES = 8192, FLIT_BYTES = 32;
constexpr int NOCS = 2, INITIATORS = 4;

// Words of a request initiator, at 0x400 times its number (NoC/MemoryMap.md).
enum RequestWord : uint8_t {
    TARG_LO,
    TARG_MID,
    RET_LO = 3,
    RET_MID,
    TAG = 6,
    CTRL,
    LENGTH,
    IMMEDIATE,
    CMD,
    REQUEST_WORDS
};
using Request = std::array<uint32_t, REQUEST_WORDS>;

namespace niu {

// Indices of counters (NoC/Counters.md).
enum Counter : uint8_t {
    VALUES_ANSWERED,
    WRITES_ANSWERED,
    READS_ANSWERED,
    READ_FLITS,
    ACCEPTED,
    READS_SENT,
    ATOMICS_SENT,  // the second of each pair is of requests that nobody answers
    WRITE_FLITS = 8,
    WRITES_SENT = 10,
    WRITES_STARTED = 12,
    READS_STARTED = 14,
    ATOMICS_STARTED,
    OUTSTANDING,
    OUTGOING = 32,
    SERVED_ATOMICS = 48,
    SERVED_WRITES,
    SERVED_READS,
    SERVED_FLITS,
    SERVED_REQUESTS,
    READS_RECEIVED,
    ATOMICS_RECEIVED,
    FLITS_RECEIVED = 56,
    WRITES_RECEIVED = 58,
    WRITES_BEGUN = 60,
};
constexpr uint32_t COUNTERS_AT = 0x200, CLEAR_AT = 0x50, STATUS_AT = 0x54, STRIDE = 0x400, LOGICAL_AT = 0x138;
constexpr uint32_t NODE_ID = 11, ENDPOINT_ID = 12;  // words behind each initiator
// Bits of NOC_CTRL.
constexpr uint32_t ATOMIC = 1, WRITE = 2, MASKED = 4, INLINE = 8, MARKED = 16, BROADCAST = 32, LINKED = 64,
                   STATIC = 128;
constexpr uint32_t Y_MAJOR = 1 << 16, ITSELF = 1 << 17;
// Of NOC_PACKET_TAG: delivery to the overlay, and a header that is stored twice.
constexpr uint32_t OVERLAY = 1 << 6, HEADER_STORE = 1 << 9;

inline bool is_write(const Request& r) { return r[CTRL] & WRITE; }
inline uint8_t transaction(const Request& r) { return r[TAG] >> 10 & 15; }
inline uint64_t target_address(const Request& r) { return r[TARG_LO] | uint64_t(r[TARG_MID] & 15) << 32; }
inline uint64_t return_address(const Request& r) { return r[RET_LO] | uint64_t(r[RET_MID] & 15) << 32; }
// What is sent at once: the whole of a short one, else a packet.
inline uint32_t packet_bytes(const Request& r) { return std::min(r[LENGTH], PACKET_BYTES); }

}  // namespace niu

// A packet with data: of a read, its response.
struct Packet {
    bool write = false, marked = false, header = true;
    uint32_t l1 = 0, bytes = 0, done = 0;
    uint64_t memory = 0, from = 0;  // the cycle in which its header passes first
    uint8_t id = 0;                 // of its transaction
};

struct Acknowledgement {
    uint64_t due = 0;
    uint8_t id = 0;
};

// A direction of an NIU: packets in their order, of which one moves; bytes that it may still move in this cycle.
struct Stream {
    std::deque<Packet> packets;
    uint32_t credit = 0;
    uint64_t bytes = 0, busy_cycles = 0;
};

struct Niu {
    std::array<Request, INITIATORS> initiators{};
    std::array<uint32_t, 64> counters{};
    std::deque<uint8_t> requests;  // initiators that wait for their turn
    Stream reads, writes;
    std::deque<Acknowledgement> acknowledgements;
};

// What passes an NIU of a tile on a grid: packets whose headers are on their way to it, packets that it puts into L1,
// one after another, and packets that it sends; of the first of each, the bytes that have passed.
struct Line {
    std::deque<Arrival> incoming;
    std::deque<Sent> outgoing;
    uint32_t received = 0, sent = 0;
    bool headed = false;  // the header of the first one has left
};

// The place of a tile on a grid. `inboxes` are filled by the network; the earliest of them is due at `next`.
struct Station {
    Network* network = nullptr;
    uint32_t place = 0;
    std::array<std::deque<Arrival>, NOCS> inboxes{};
    std::array<Line, NOCS> lines{};
    // Who has last written a word of L1 by immediate data or an atomic request, and when: for the story of a deadlock.
    struct Writing {
        uint32_t place;
        uint64_t cycle;
    };
    std::unordered_map<uint32_t, Writing> writings;

    [[nodiscard]] uint64_t next() const {
        uint64_t due = NO_CYCLE;
        for (const auto& inbox : inboxes)
            if (!inbox.empty()) due = std::min(due, inbox.front().due);
        return due;
    }
};

struct Port {
    uint32_t speed = FLIT_BYTES,
             latency = 0;  // bytes a cycle for each NoC and direction; cycles from request to header
    std::vector<uint8_t> memory;
    std::array<Niu, NOCS> nius{};
    std::unique_ptr<Station> station;  // of a tile on a grid; the memory is empty then
};

}  // namespace polyloom::tensix
