// SPDX-License-Identifier: Apache-2.0
// The NIUs of a tile on a grid: requests become packets, packets that arrive become changes of L1, answers and counts.
// A cycle of an NIU moves 32 bytes from L1 and 32 bytes into L1, by banks of 16. Sources: ISA documentation,
// WormholeB0/NoC/MemoryMap.md, Atomics.md, Counters.md; WormholeB0/TensixTile/L1.md.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "tile.hpp"

namespace polyloom::tensix {

namespace {

constexpr uint32_t WAITING = 2;  // packets with data of a tile's own that an NIU holds ready

// Coordinates of software on the NoC's own: 16 and above are those that the firmware's tables translate, with rows 7
// and 10 fused off (Coordinates.md).
uint32_t translate_x(int noc, uint32_t x) {
    static constexpr uint8_t COLUMN[10] = {0, 5, 1, 2, 3, 4, 6, 7, 8, 9};
    if (x < 16) return x;
    return x > 25 ? 0 : noc ? WIDTH - 1 - COLUMN[x - 16] : COLUMN[x - 16];
}
uint32_t translate_y(int noc, uint32_t y) {
    static constexpr uint8_t ROW[12] = {0, 6, 1, 2, 3, 4, 5, 8, 9, 11, 7, 10};
    if (y < 16) return y;
    return y > 27 ? 0 : noc ? HEIGHT - 1 - ROW[y - 16] : ROW[y - 16];
}

void translate_word(int noc, uint32_t& mid, uint32_t shift) {
    const uint32_t x = translate_x(noc, mid >> shift & 63), y = translate_y(noc, mid >> (shift + 6) & 63);
    mid = (mid & ~(0xfffu << shift)) | x << shift | y << (shift + 6);
}

// The place in bits 9:4 and 15:10 of a word of an address; NODES where the torus has none.
uint32_t place_in(int noc, uint32_t mid) {
    const uint32_t x = mid >> 4 & 63, y = mid >> 10 & 63;
    return x < WIDTH && y < HEIGHT ? node_on(noc, WIDTH * y + x) : NODES;
}

// Which word of its 16 bytes an atomic request changes (Atomics.md).
uint32_t atomic_word(uint32_t code) { return (code >> 12 & 7) == 7 ? code >> 2 & 3 : code & 3; }

}  // namespace

uint32_t Tile::identity(int noc, uint32_t word) const {
    const uint32_t place = port->station->place, node = node_on(noc, place), x = node % WIDTH, y = node / WIDTH;
    if (word == niu::NODE_ID) return x | y << 6 | WIDTH << 12 | HEIGHT << 19 | uint32_t(!noc) << 28;
    if (word != niu::ENDPOINT_ID) return x | y << 6;
    const uint32_t column = place % WIDTH, row = place / WIDTH;
    return ((row - (row > 6 ? 2 : 1)) * 8 + column - (column > 5 ? 2 : 1)) | uint32_t(noc) << 24;
}

// Translates the request's coordinates, and says what is wrong with it.
const char* Tile::fault_on_grid(int noc, Request& r) const {
    using namespace niu;
    const Network& network = *port->station->network;
    const uint32_t control = r[CTRL];
    const bool atomic = control & ATOMIC, write = control & WRITE, word = atomic || (write && control & INLINE);
    const bool broadcast = control & BROADCAST;
    if (atomic && write) return "type 3 is reserved";
    if (broadcast && !atomic && !write) return "a read is never broadcast";
    if (r[TAG] & (OVERLAY | HEADER_STORE)) return "the NoC overlay and headers that are stored twice are not modelled";
    const size_t far = write && !word ? RET_MID : TARG_MID, own = far == RET_MID ? TARG_MID : RET_MID;
    translate_word(noc, r[far], 4);
    if (broadcast) translate_word(noc, r[far], 16);
    const uint32_t to = place_in(noc, r[far]);
    if (to == NODES || (broadcast && ((r[far] >> 16 & 63) >= WIDTH || (r[far] >> 22 & 63) >= HEIGHT)))
        return "coordinates are below 10 and 12, or from 16 on below 26 and 28";
    if ((!atomic && !write) || (control & MARKED && !(write && control & INLINE))) {
        translate_word(noc, r[own], 4);
        if (place_in(noc, r[own]) != port->station->place)
            return "answers for another tile than the one that asks are not modelled";
    }
    const bool memory = !broadcast && !network.attached(to) && site_of(to) == Site::Dram;
    if (!broadcast && !network.attached(to) && !memory) return "no tile of the grid and no DRAM tile is there";
    if (memory && (word || control & MASKED)) return "atomic requests and writes by mask to DRAM are not modelled";
    const uint64_t there = write && !word ? return_address(r) : target_address(r);
    const uint64_t here = write && !word ? target_address(r) : return_address(r);
    const uint64_t bytes = word ? 4 : control & MASKED ? 32 - there % 16 : r[LENGTH];
    if (memory ? there % CHANNEL_BYTES + bytes > network.channel_bytes() || there >= 2 * CHANNEL_BYTES
               : there + bytes > L1_BYTES)
        return memory ? "the bytes are not all in the memory of a channel"
                      : "the bytes are not all in the other tile's L1";
    if (atomic) {
        const uint32_t kind = r[LENGTH] >> 12 & 7;
        if (kind != 1 && kind != 3 && kind != 4 && kind != 6 && kind != 7) return "there is no such atomic operation";
        if (there % 4 || ((control & MARKED) && here % 4))
            return "atomic requests take addresses that are multiples of 4";
        if ((control & MARKED) && here + 4 > L1_BYTES) return "the answer's bytes are not all in L1";
    }
    if (word || control & MASKED) return nullptr;
    if (here + bytes > L1_BYTES) return "the bytes are not all in L1";
    if ((there ^ here) % (memory && !write ? 32 : 16))
        return "addresses must agree modulo 32 for reads from DRAM, else modulo 16";
    if (bytes > PACKET_BYTES && (there | here) % 16) return "requests of more than 8192 bytes start at multiples of 16";
    return nullptr;
}

// A packet leaves in this cycle; to the tile itself it passes its own router alone.
void Tile::dispatch(const Sent& parcel) {
    Station& s = *port->station;
    const bool own = parcel->broadcast ? parcel->itself : parcel->target == s.place;
    parcel->source = s.place, parcel->left = cycle;
    if (own) queue_arrival(s.inboxes[parcel->noc], {cycle + 2 * NIU_CYCLES, parcel});
    if (parcel->broadcast || !own) s.network->send(parcel, cycle);
}

// The next packet of the first request that waits.
void Tile::start_request(int noc) {
    using namespace niu;
    Niu& niu = port->nius[size_t(noc)];
    Line& line = port->station->lines[size_t(noc)];
    Request& r = niu.initiators[niu.requests.front()];
    const bool reads = !(r[CTRL] & (ATOMIC | WRITE)), atomic = r[CTRL] & ATOMIC, inlined = !atomic && r[CTRL] & INLINE;
    if (!reads && line.outgoing.size() >= WAITING) return;
    const auto parcel = std::make_shared<Parcel>();
    Parcel& p = *parcel;
    p.kind = reads ? Kind::Read : atomic ? Kind::Atomic : Kind::Write;
    p.noc = uint8_t(noc), p.transaction = transaction(r), p.marked = r[CTRL] & MARKED;
    p.fixed = r[CTRL] & (STATIC | LINKED), p.narrow = inlined, p.code = r[LENGTH], p.value = r[IMMEDIATE];
    const bool swaps = r[CTRL] & WRITE && !inlined;  // what a write sends is at its target address
    const uint32_t mid = r[swaps ? RET_MID : TARG_MID];
    p.address = swaps ? return_address(r) : target_address(r);
    p.answer_address = r[RET_LO];
    if (r[CTRL] & BROADCAST) {
        p.broadcast = true, p.y_major = r[CTRL] & Y_MAJOR;
        p.end_x = mid >> 4 & 63, p.end_y = mid >> 10 & 63, p.start_x = mid >> 16 & 63, p.start_y = mid >> 22 & 63;
        const uint32_t node = node_on(noc, port->station->place), x = node % WIDTH, y = node / WIDTH;
        const auto within = [](uint32_t at, uint32_t from, uint32_t to) {
            return from <= to ? from <= at && at <= to : at <= to || from <= at;
        };
        p.itself = (r[CTRL] & ITSELF) && within(x, p.start_x, p.end_x) && within(y, p.start_y, p.end_y);
    } else {
        p.target = place_in(noc, mid);
    }
    ++niu.counters[ACCEPTED];
    bool last = true;
    if (!atomic && !inlined) {
        const bool masked = r[CTRL] & MASKED && !reads;
        p.bytes = masked ? 32 : packet_bytes(r), p.l1 = r[TARG_LO];
        if (masked) p.l1 &= ~15u, p.address &= ~15ull;
        if (!masked) p.code = ~0u, r[LENGTH] -= p.bytes, last = r[LENGTH] == 0;
        if (!last) r[TARG_LO] += p.bytes, r[RET_LO] += p.bytes;
    }
    if (reads) {
        ++niu.counters[READS_STARTED], ++niu.counters[READS_SENT];
        dispatch(parcel);
    } else {
        if (atomic && p.marked) ++niu.counters[ATOMICS_STARTED];
        if (!atomic) ++niu.counters[WRITES_STARTED + !p.marked];
        line.outgoing.push_back(parcel), ++working;
    }
    if (!last) return;
    r[CMD] = 0;
    niu.requests.pop_front(), --working;
}

// A cycle of the first packet that leaves; whether it has left whole.
bool Tile::transmit(int noc) {
    using namespace niu;
    auto& counters = port->nius[size_t(noc)].counters;
    Line& line = port->station->lines[size_t(noc)];
    const Sent& parcel = line.outgoing.front();
    Parcel& p = *parcel;
    const bool data = p.kind == Kind::Data || (p.kind == Kind::Write && !p.narrow);
    if (!line.headed) {
        line.headed = true, line.sent = 0;
        p.data.resize(data ? p.bytes : 0);
        dispatch(parcel);
        if (p.kind == Kind::Atomic) ++counters[ATOMICS_SENT + !p.marked];
        if (p.kind == Kind::Write && p.narrow) ++counters[WRITES_SENT + !p.marked];
        if (data && p.bytes) return false;
    } else {
        for (uint32_t end = std::min(line.sent + 32 - line.sent % 32, p.bytes); line.sent < end;) {
            const uint32_t at = p.l1 + line.sent, piece = std::min(16 - at % 16, end - line.sent);
            if (!banks.claim(at, NOC_CLIENT + noc, cycle)) break;
            std::memcpy(&p.data[line.sent], &state.l1[at], piece);
            line.sent += piece;
        }
        while (p.flits_left.size() < (line.sent == p.bytes ? p.flits() - 1 : line.sent / 32))
            p.flits_left.push_back(cycle);
        if (line.sent < p.bytes) return false;
    }
    if (p.kind == Kind::Data) ++counters[SERVED_READS], counters[SERVED_FLITS] += p.flits() - 1;
    if (p.kind == Kind::Write && !p.narrow) {
        ++counters[WRITES_SENT + !p.marked], counters[WRITE_FLITS + !p.marked] += p.flits() - 1;
        counters[OUTGOING + p.transaction] = (counters[OUTGOING + p.transaction] - 1) & 255;
    }
    line.headed = false;
    return true;
}

void Tile::accept_arrival(int noc, const Arrival& arrival) {
    using namespace niu;
    auto& counters = port->nius[size_t(noc)].counters;
    Line& line = port->station->lines[size_t(noc)];
    const Parcel& p = *arrival.parcel;
    if (p.kind == Kind::Acknowledgement) return finish_arrival(noc, p);
    if (p.kind != Kind::Read) {
        if (p.kind == Kind::Write) ++counters[WRITES_BEGUN + !p.marked];
        if (p.kind == Kind::Atomic) ++counters[SERVED_REQUESTS], ++counters[ATOMICS_RECEIVED + !p.marked];
        line.incoming.push_back(arrival), ++working;
        return;
    }
    ++counters[SERVED_REQUESTS], ++counters[READS_RECEIVED];
    auto answer = std::make_shared<Parcel>();
    answer->kind = Kind::Data, answer->noc = p.noc, answer->transaction = p.transaction, answer->target = p.source;
    answer->l1 = uint32_t(p.address), answer->bytes = p.bytes, answer->address = p.answer_address, answer->code = ~0u;
    line.outgoing.push_back(answer), ++working;
}

// A cycle of the first packet that has come; whether it is in L1.
bool Tile::receive(int noc) {
    const Arrival& arrival = port->station->lines[size_t(noc)].incoming.front();
    const Parcel& p = *arrival.parcel;
    const bool data = p.kind == Kind::Data || (p.kind == Kind::Write && !p.narrow);
    if (data ? !receive_data(noc, arrival) : !receive_word(noc, p)) return false;
    finish_arrival(noc, p);
    return true;
}

bool Tile::receive_data(int noc, const Arrival& arrival) {
    const Parcel& p = *arrival.parcel;
    uint32_t& done = port->station->lines[size_t(noc)].received;
    const bool masked = p.kind == Kind::Write && p.code != ~0u;
    for (uint32_t moved = 0; done < p.bytes && moved < 32;) {
        const uint32_t at = uint32_t(p.address) + done, piece = std::min(16 - at % 16, p.bytes - done);
        if (moved + piece > 32 || p.flit_due(arrival.due, (done + piece - 1) / 32) > cycle) break;
        const uint32_t mask = masked ? p.code >> done & 0xffff : 0xffff;
        const uint32_t cycles = piece == 16 && mask == 0xffff ? 1 : NARROW_WRITE;
        if (mask && !banks.claim(at, NOC_CLIENT + noc, cycle, cycles)) break;
        for (uint32_t n = 0; n < piece; ++n)
            if (mask >> n & 1) state.l1[at + n] = p.data[done + n];
        done += piece, moved += piece;
    }
    if (done < p.bytes) return false;
    done = 0;
    return true;
}

// Atomic requests, immediate data and what an atomic request gives: a narrow write.
bool Tile::receive_word(int noc, const Parcel& p) {
    const uint32_t at = uint32_t(p.kind == Kind::Atomic || p.narrow ? p.address & ~15ull : p.address);
    if (!banks.claim(at, NOC_CLIENT + noc, cycle, NARROW_WRITE)) return false;
    port->station->writings[uint32_t(p.address) & ~3u] = {p.source, cycle};
    if (p.kind == Kind::Value) std::memcpy(&state.l1[at], &p.value, 4);
    for (uint32_t n = 0; p.narrow && n < 16; ++n)
        if ((p.code | p.code >> 16) >> n & 1) state.l1[at + n] = uint8_t(p.value >> 8 * (n & 3));
    if (p.kind != Kind::Atomic) return true;
    const uint32_t result = perform_atomic(p);
    if (!p.marked) return true;
    auto answer = std::make_shared<Parcel>();
    answer->kind = Kind::Value, answer->noc = p.noc, answer->transaction = p.transaction, answer->target = p.source;
    answer->address = p.answer_address, answer->value = result;
    dispatch(answer);
    return true;
}

uint32_t Tile::perform_atomic(const Parcel& p) {
    const uint32_t kind = p.code >> 12 & 7, base = uint32_t(p.address) & ~15u, at = base + 4 * atomic_word(p.code);
    uint32_t result = 0, old = 0;
    std::memcpy(&result, &state.l1[uint32_t(p.address)], 4);
    std::memcpy(&old, &state.l1[at], 4);
    uint32_t next = p.value;
    if (kind == 1) {
        const uint32_t mask = uint32_t((2ull << (p.code >> 2 & 31)) - 1);
        next = ((old + p.value) & mask) | (old & ~mask);
    } else if (kind == 4) {
        next = old == (p.code >> 2 & 15) ? p.code >> 6 & 15 : old;
    } else if (kind == 3) {
        for (uint32_t n = 0; n < 8; ++n)
            if (p.code >> (2 + n) & 1)
                std::memcpy(&state.l1[base + 2 * n], reinterpret_cast<const uint8_t*>(&p.value) + n % 2 * 2, 2);
        return result;
    }
    std::memcpy(&state.l1[at], &next, 4);
    return result;
}

// Counters behind what has been done, and acknowledgements.
void Tile::finish_arrival(int noc, const Parcel& p) {
    using namespace niu;
    auto& counters = port->nius[size_t(noc)].counters;
    const auto answered = [&](Counter counter) {
        ++counters[counter];
        counters[OUTSTANDING + p.transaction] = (counters[OUTSTANDING + p.transaction] - 1) & 255;
    };
    switch (p.kind) {
        case Kind::Acknowledgement: return answered(WRITES_ANSWERED);
        case Kind::Value: return answered(VALUES_ANSWERED);
        case Kind::Data: counters[READ_FLITS] += p.flits() - 1; return answered(READS_ANSWERED);
        case Kind::Atomic: counters[SERVED_ATOMICS] += p.marked; return;
        default: break;
    }
    ++counters[WRITES_RECEIVED + !p.marked], counters[FLITS_RECEIVED + !p.marked] += p.narrow ? 1 : p.flits() - 1;
    if (!p.marked) return;
    ++counters[SERVED_WRITES];
    auto answer = std::make_shared<Parcel>();
    answer->kind = Kind::Acknowledgement, answer->noc = p.noc, answer->transaction = p.transaction;
    answer->target = p.source;
    dispatch(answer);
}

// What a core looks at again and again.
std::string Tile::describe_polled(uint32_t address) const {
    static constexpr const char* NAMES[16] = {
        "ATOMIC_RESP_RECEIVED",     "WR_ACK_RECEIVED",       "RD_RESP_RECEIVED",
        "RD_DATA_WORD_RECEIVED",    "CMD_ACCEPTED",          "RD_REQ_SENT",
        "NONPOSTED_ATOMIC_SENT",    "POSTED_ATOMIC_SENT",    "NONPOSTED_WR_DATA_WORD_SENT",
        "POSTED_WR_DATA_WORD_SENT", "NONPOSTED_WR_REQ_SENT", "POSTED_WR_REQ_SENT",
        "NONPOSTED_WR_REQ_STARTED", "POSTED_WR_REQ_STARTED", "RD_REQ_STARTED",
        "NONPOSTED_ATOMIC_STARTED"};
    char digits[16];
    std::snprintf(digits, sizeof digits, "0x%x", address);
    if (address < L1_BYTES) {
        uint32_t value = 0;
        std::memcpy(&value, &state.l1[address & ~3u], 4);
        const auto found = port->station->writings.find(address & ~3u);
        std::string text = std::string("the word at ") + digits + " of its L1 (" + std::to_string(value) + "), which ";
        if (found == port->station->writings.end()) return text + "no atomic request or immediate write has reached";
        const auto& [place, when] = found->second;
        return text + "the tile at (" + std::to_string(place % WIDTH) + ", " + std::to_string(place / WIDTH) +
               ") of NoC 0 wrote last, in cycle " + std::to_string(when);
    }
    if (address < NIU || address >= NIU_END) return digits;
    const uint32_t noc = (address - NIU) >> 16, at = address & 0xffff, n = (at - niu::COUNTERS_AT) / 4;
    const std::string niu = " of NIU " + std::to_string(noc);
    if (at < niu::COUNTERS_AT || n >= 64) return std::string("the register ") + digits + niu;
    const std::string number = n < 16   ? NAMES[n]
                               : n < 32 ? "REQS_OUTSTANDING_ID(" + std::to_string(n - 16) + ")"
                               : n < 48 ? "WRITE_REQS_OUTGOING_ID(" + std::to_string(n - 32) + ")"
                                        : "";
    const std::string value = " (" + std::to_string(port->nius[noc].counters[n]) + ")";
    return (n < 48 ? "the counter NIU_MST_" + number : "counter " + std::to_string(n)) + niu + value;
}

void Tile::move_station() {
    for (int noc = 0; noc < NOCS; ++noc) {
        auto& inbox = port->station->inboxes[size_t(noc)];
        Line& line = port->station->lines[size_t(noc)];
        while (!inbox.empty() && inbox.front().due <= cycle) {
            const Arrival arrival = inbox.front();
            inbox.pop_front();
            accept_arrival(noc, arrival);
        }
        if (!line.incoming.empty() && receive(noc)) line.incoming.pop_front(), --working;
        if (!line.outgoing.empty() && transmit(noc)) line.outgoing.pop_front(), --working;
        if (!port->nius[size_t(noc)].requests.empty()) start_request(noc);
    }
}

}  // namespace polyloom::tensix
