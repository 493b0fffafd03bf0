// SPDX-License-Identifier: Apache-2.0
// The DRAM port of a single tile: the network interface units (NIUs) of both NoCs, with a memory behind them. A core
// writes a request into one of four initiators of an NIU; packets of at most 8,192 bytes then move between L1 and the
// memory, a header flit and data flits of 32 bytes, one stream for each NoC and direction. On a single tile nothing
// else answers, so coordinates are not looked at. Sources: ISA documentation, WormholeB0/NoC/README.md ("Performance"),
// Alignment.md, Counters.md; WormholeB0/DRAMTile/README.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace polyloom::tensix {

constexpr uint32_t NIU = 0xffb20000, NIU_END = 0xffb40000, PACKET_BYTES = 8192, FLIT_BYTES = 32;
constexpr int NOCS = 2, INITIATORS = 4;

// Words of a request initiator, at 0x800 times its number (NoC/MemoryMap.md).
enum RequestWord : uint8_t { TARG_LO, TARG_MID, RET_LO = 3, RET_MID, TAG = 6, CTRL, LENGTH, CMD = 10, REQUEST_WORDS };

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
    std::array<std::array<uint32_t, REQUEST_WORDS>, INITIATORS> initiators{};
    std::array<uint32_t, 64> counters{};
    std::deque<uint8_t> requests;  // initiators that wait for their turn
    Stream reads, writes;
    std::deque<Acknowledgement> acknowledgements;
};

struct Port {
    uint32_t speed = FLIT_BYTES,
             latency = 0;  // bytes a cycle for each NoC and direction; cycles from request to header
    std::vector<uint8_t> memory;
    std::array<Niu, NOCS> nius{};
};

}  // namespace polyloom::tensix
