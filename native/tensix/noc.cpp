// SPDX-License-Identifier: Apache-2.0
// Requests to the DRAM port and the movement of their packets. Counters change where NoC/Counters.md says.
#include "noc.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "tile.hpp"

namespace polyloom::tensix {

namespace {

using namespace niu;
using riscv::ABSENT;
using riscv::Answer;
using riscv::DONE;

uint64_t memory_address(const Request& r) { return is_write(r) ? return_address(r) : target_address(r); }
uint32_t l1_address(const Request& r) { return r[is_write(r) ? TARG_LO : RET_LO]; }

const char* fault_of(const Request& r, size_t memory_bytes) {
    if (r[CTRL] & (ATOMIC | MASKED | INLINE)) return "atomic requests and writes by mask are not modelled";
    if (r[CTRL] & BROADCAST) return "no other tile is there to hear a broadcast";
    const uint64_t memory = memory_address(r), l1 = l1_address(r), bytes = r[LENGTH];
    if (l1 + bytes > L1_BYTES) return "the bytes are not all in L1";
    if (memory + bytes > memory_bytes) return "the bytes are not all in the memory behind the tile";
    if ((memory ^ l1) % (is_write(r) ? 16 : FLIT_BYTES))
        return "addresses must agree modulo 32 for reads, 16 for writes";
    if (bytes > PACKET_BYTES && (memory | l1) % FLIT_BYTES)
        return "requests of more than 8192 bytes start at multiples of 32";
    return nullptr;
}

uint32_t flits(uint32_t bytes) { return (bytes + FLIT_BYTES - 1) / FLIT_BYTES; }

}  // namespace

bool Tile::load_niu(uint32_t address, uint32_t& value) const {
    const Niu& niu = port->nius[(address - NIU) >> 16];
    const uint32_t at = address & 0xffff, word = at % STRIDE / 4;
    if (at >= COUNTERS_AT && at < COUNTERS_AT + 4 * niu.counters.size())
        return value = niu.counters[(at - COUNTERS_AT) / 4], true;
    if (at == STATUS_AT) {
        value = 0;
        for (uint32_t n = 0; n < INITIATORS; ++n) value |= (niu.initiators[n][CMD] & 1) << n;
        return true;
    }
    if (at / STRIDE >= INITIATORS) return false;
    if (port->station && (word == NODE_ID || word == ENDPOINT_ID || at == LOGICAL_AT))
        return value = identity(int(address - NIU) >> 16, word), true;
    if (word >= REQUEST_WORDS) return false;
    return value = niu.initiators[at / STRIDE][word], true;
}

Answer Tile::store_niu(int core, uint32_t address, uint32_t value) {
    Niu& niu = port->nius[(address - NIU) >> 16];
    const uint32_t at = address & 0xffff, number = at / STRIDE, word = at % STRIDE / 4;
    if (at == CLEAR_AT) {
        for (uint32_t id = 0; id < 16; ++id)
            if (value >> id & 1) niu.counters[OUTSTANDING + id] = 0;
        return DONE;
    }
    if (number >= INITIATORS || word >= REQUEST_WORDS) return ABSENT;
    Request& request = niu.initiators[number];
    if (request[CMD])
        refuse(core, "noc-request", "a store to a request initiator that is busy",
               "wait until NOC_CMD_CTRL of the initiator reads 0");
    request[word] = value;
    if (word != CMD || !(value & 1)) return DONE;
    const int noc = int((address - NIU) >> 16);
    const char* fault = port->station ? fault_on_grid(noc, request) : fault_of(request, port->memory.size());
    if (fault) refuse(core, "noc-request", std::string("a request to the NoC: ") + fault, "change the request");
    const bool whole = request[CTRL] & (ATOMIC | MASKED | INLINE);
    const uint32_t packets = whole ? 1 : std::max(1u, (request[LENGTH] + PACKET_BYTES - 1) / PACKET_BYTES);
    const uint8_t id = transaction(request);
    uint32_t& outstanding = niu.counters[OUTSTANDING + id];
    const bool reads = !(request[CTRL] & (ATOMIC | WRITE));
    if (reads || (request[CTRL] & MARKED)) outstanding = (outstanding + packets) & 255;
    if (is_write(request) && !(request[CTRL] & INLINE))
        niu.counters[OUTGOING + id] = (niu.counters[OUTGOING + id] + packets) & 255;
    niu.requests.push_back(uint8_t(number)), ++working;
    return DONE;
}

// The next packet of the first request that waits. A write starts when the one before it has left; the requests behind
// wait, too.
void Tile::start_packet(Niu& niu) {
    Request& r = niu.initiators[niu.requests.front()];
    const bool write = is_write(r), marked = r[CTRL] & MARKED;
    Stream& stream = write ? niu.writes : niu.reads;
    if (write && !stream.packets.empty()) return;
    const uint32_t bytes = packet_bytes(r);
    stream.packets.push_back({write, marked, true, l1_address(r), bytes, 0, memory_address(r),
                              cycle + (write ? 0 : port->latency), transaction(r)});
    ++working, ++niu.counters[ACCEPTED];
    if (write) ++niu.counters[WRITES_STARTED + !marked];
    if (!write) ++niu.counters[READS_STARTED], ++niu.counters[READS_SENT];
    r[LENGTH] -= bytes;
    if (r[LENGTH]) {
        r[TARG_LO] += bytes, r[RET_LO] += bytes;
        return;
    }
    r[CMD] = 0;
    niu.requests.pop_front(), --working;
}

// A cycle of the packet that is first in its direction; whether it has moved all of its bytes.
bool Tile::move_packet(Stream& stream, int client) {
    Packet& p = stream.packets.front();
    if (p.from > cycle) return false;
    ++stream.busy_cycles;
    if (p.header) {
        p.header = false;
        return p.bytes == 0;
    }
    stream.credit = std::min(stream.credit + port->speed, port->speed + 15);  // what a refusal leaves is lost
    while (p.done < p.bytes) {
        const uint32_t at = p.l1 + p.done, bytes = std::min(16 - at % 16, p.bytes - p.done);
        const uint32_t cycles = p.write || bytes == 16 ? 1 : NARROW_WRITE;
        if (stream.credit < bytes || !banks.claim(at, client, cycle, cycles)) break;
        uint8_t *l1 = state.l1.data() + at, *memory = port->memory.data() + p.memory + p.done;
        std::memcpy(p.write ? memory : l1, p.write ? l1 : memory, bytes);
        p.done += bytes, stream.credit -= bytes, stream.bytes += bytes;
    }
    return p.done == p.bytes;
}

void Tile::finish_packet(Niu& niu, Stream& stream) {
    const Packet p = stream.packets.front();
    stream.packets.pop_front(), --working;
    if (!p.write) {
        ++niu.counters[READS_ANSWERED], niu.counters[READ_FLITS] += flits(p.bytes);
        niu.counters[OUTSTANDING + p.id] = (niu.counters[OUTSTANDING + p.id] - 1) & 255;
        return;
    }
    ++niu.counters[WRITES_SENT + !p.marked], niu.counters[WRITE_FLITS + !p.marked] += flits(p.bytes);
    niu.counters[OUTGOING + p.id] = (niu.counters[OUTGOING + p.id] - 1) & 255;
    if (p.marked) niu.acknowledgements.push_back({cycle + port->latency, p.id}), ++working;
}

void Tile::move_port() {
    if (port->station) return move_station();
    for (int noc = 0; noc < NOCS; ++noc) {
        Niu& niu = port->nius[size_t(noc)];
        while (!niu.acknowledgements.empty() && niu.acknowledgements.front().due <= cycle) {
            const uint8_t id = niu.acknowledgements.front().id;
            ++niu.counters[WRITES_ANSWERED];
            niu.counters[OUTSTANDING + id] = (niu.counters[OUTSTANDING + id] - 1) & 255;
            niu.acknowledgements.pop_front(), --working;
        }
        for (Stream* stream : {&niu.reads, &niu.writes})
            if (!stream->packets.empty() && move_packet(*stream, NOC_CLIENT + noc)) finish_packet(niu, *stream);
        if (!niu.requests.empty()) start_packet(niu);
    }
}

}  // namespace polyloom::tensix
