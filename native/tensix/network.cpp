// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <algorithm>
#include <cstring>

namespace polyloom::tensix {

namespace {

// WormholeB0/NoC/Coordinates.md and DRAMTile/README.md: of the columns 0 and 5, the group of channels of each row.
constexpr int8_t GROUPS[2][HEIGHT] = {{0, 0, -1, -1, -1, 1, 1, 1, -1, -1, -1, 0}, {2, 2, 3, 4, 4, 5, 5, 5, 4, 3, 3, 2}};

// Whether a coordinate is in a span, which may go around the torus (MemoryMap.md), and how many are.
bool within(uint32_t at, uint32_t start, uint32_t end) {
    return start <= end ? start <= at && at <= end : at <= end || start <= at;
}
uint8_t count_of(uint32_t start, uint32_t end, uint32_t size) { return uint8_t((end + size - start) % size + 1); }

}  // namespace

Site site_of(uint32_t place) {
    const uint32_t x = place % WIDTH, y = place / WIDTH;
    if (x == 0 || x == 5) {
        if (GROUPS[x == 5][y] >= 0) return Site::Dram;
        return y == 3 ? Site::Pcie : y == 10 ? Site::Arc : Site::Empty;
    }
    return y == 0 || y == 6 ? Site::Ethernet : Site::Tensix;
}

uint32_t group_of(uint32_t place) { return uint32_t(GROUPS[place % WIDTH == 5][place / WIDTH]); }

void queue_arrival(std::deque<Arrival>& inbox, Arrival arrival) {
    auto at = inbox.end();
    while (at != inbox.begin() && (at - 1)->due > arrival.due) --at;
    inbox.insert(at, std::move(arrival));
}

Network::Network(uint64_t bytes, uint32_t speed, uint32_t latency) : speed_(speed), latency_(latency) {
    for (Channel& each : channels) each.memory.resize(bytes);
}

// The key is the cycle that tiles must have reached before the event is certain: what a tile sends then comes to a link
// between routers NIU_CYCLES later, and to another tile's NIU a hop after that.
void Network::push(Event event) {
    const uint64_t ahead = event.step == COMMIT || event.port == IN ? 0 : event.port == OUT ? 14 : NIU_CYCLES;
    static_assert(NIU_CYCLES + ROUTER_CYCLES == 14);
    event.key = event.time > ahead ? event.time - ahead : 0;
    event.order = order_++;
    events_.push(std::move(event));
}

void Network::enter(const Sent& parcel, uint32_t node, Port port, uint64_t time, Spread spread) {
    push({0, time, 0, parcel, 0, node, LINK, port, spread});
}

void Network::send(const Sent& parcel, uint64_t cycle) {
    parcel->left = cycle;
    enter(parcel, node_on(parcel->noc, parcel->source), IN, cycle, {});
}

void Network::advance(uint64_t end) {
    while (!events_.empty() && events_.top().key < end) {
        const Event event = events_.top();
        events_.pop();
        if (event.step == COMMIT)
            commit(event);
        else
            pass(event);
    }
}

// Unicast: NoC 0 goes along X first, NoC 1 along Y first (RoutingPaths.md).
void Network::route(const Sent& parcel, uint32_t node, uint64_t time, Spread state) {
    if (parcel->broadcast) return spread(parcel, node, time, state);
    const uint32_t to = node_on(parcel->noc, parcel->target);
    const bool x = node % WIDTH != to % WIDTH, y = node / WIDTH != to / WIDTH;
    enter(parcel, node, !x && !y ? OUT : x && (!parcel->noc || !y) ? X : Y, time, {});
}

// Broadcast: along the major axis to the first wanted line, along the minor axis past the lines, and along the major
// axis within each (RoutingPaths.md, Diagrams/Src/NoC.lua).
void Network::spread(const Sent& parcel, uint32_t node, uint64_t time, Spread state) {
    const Parcel& p = *parcel;
    const uint32_t x = node % WIDTH, y = node / WIDTH;
    const bool wanted_x = within(x, p.start_x, p.end_x), wanted_y = within(y, p.start_y, p.end_y);
    const bool line = p.y_major ? wanted_y : wanted_x, member = p.y_major ? wanted_x : wanted_y;
    const uint8_t across = p.y_major ? count_of(p.start_y, p.end_y, HEIGHT) : count_of(p.start_x, p.end_x, WIDTH);
    const uint8_t lines = p.y_major ? count_of(p.start_x, p.end_x, WIDTH) : count_of(p.start_y, p.end_y, HEIGHT);
    const Port major = p.y_major ? Y : X, minor = p.y_major ? X : Y;
    if (state.phase == 1) {
        if (!line) return enter(parcel, node, major, time, state);
        state = {2, lines, 0};
    }
    bool fills = state.phase == 3;
    Spread own = state;
    if (state.phase == 2) {
        fills = member, own = {3, 0, across};
        if (member) --state.lines;
        if (state.lines) enter(parcel, node, minor, time, state);
    }
    if (!fills) return;
    if (line) {
        const uint32_t place = node_on(p.noc, node);
        // The source's own copy does not pass a link between routers, and is its NIU's affair.
        if (inboxes_[place] && place != p.source) enter(parcel, node, OUT, time, {});
        --own.nodes;
    }
    if (own.nodes) enter(parcel, node, major, time, own);
}

// A header at a link: it goes on when the link is free. The flits behind it take the link as long; those of single
// packets on virtual channels of their own pass between them (Ordering.md).
void Network::pass(const Event& event) {
    const Parcel& p = *event.parcel;
    Link& link = links[p.noc][event.node][event.port];
    const uint32_t flits = p.flits();
    const bool between = flits == 1 && !p.fixed;
    const uint64_t start = between ? event.time : std::max(event.time, link.free_at);
    link.free_at = std::max(link.free_at, start) + flits;
    link.flits += flits, link.waits += start - event.time;
    const uint32_t x = event.node % WIDTH, y = event.node / WIDTH;
    if (event.port == IN && !attached(node_on(p.noc, event.node)))
        read_memory(*event.parcel, node_on(p.noc, event.node));
    switch (event.port) {
        case IN: return route(event.parcel, event.node, start + NIU_CYCLES, event.spread);
        case X: return route(event.parcel, WIDTH * y + (x + 1) % WIDTH, start + ROUTER_CYCLES, event.spread);
        case Y: return route(event.parcel, WIDTH * ((y + 1) % HEIGHT) + x, start + ROUTER_CYCLES, event.spread);
        default: arrive(event, start + NIU_CYCLES);
    }
}

uint64_t Network::serve(Channel& channel, uint64_t time, uint32_t bytes) {
    const uint64_t start = std::max(time, channel.free_at), cycles = (bytes + speed_ - 1) / speed_;
    channel.free_at = start + cycles, channel.busy_cycles += cycles;
    return start;
}

void Network::arrive(const Event& event, uint64_t due) {
    const Parcel& p = *event.parcel;
    const uint32_t place = node_on(p.noc, event.node);
    if (inboxes_[place]) return queue_arrival((*inboxes_[place])[p.noc], {due, event.parcel});
    if (p.kind == Kind::Write) {
        push({0, due + p.flits(), 0, event.parcel, due, event.node, COMMIT, OUT, {}});
        return;
    }
    Channel& from = channel(p, place);
    const uint64_t start = serve(from, due, p.bytes) + latency_;
    auto answer = std::make_shared<Parcel>();
    answer->kind = Kind::Data, answer->noc = p.noc, answer->transaction = p.transaction;
    answer->source = place, answer->target = p.source, answer->address = p.answer_address, answer->bytes = p.bytes;
    answer->answer_address = p.address;
    for (uint32_t moved = 32; moved < p.bytes + 32; moved += 32)
        answer->flits_left.push_back(start + 1 + (std::min(moved, p.bytes) - 1) / speed_);
    from.read += p.bytes;
    send(answer, start);
}

// The data of an answer, when it leaves: writes that came before on its virtual channel are in memory (DRAMTile,
// "Ordering").
void Network::read_memory(Parcel& answer, uint32_t place) {
    if (answer.kind != Kind::Data) return;
    Channel& from = channels[2 * group_of(place) + (answer.answer_address >= CHANNEL_BYTES)];
    const uint8_t* data = from.memory.data() + answer.answer_address % CHANNEL_BYTES;
    answer.data.assign(data, data + answer.bytes);
}

// A write at a channel, when its last flit is there.
void Network::commit(const Event& event) {
    const Parcel& p = *event.parcel;
    const uint32_t flits = p.flits() - 1;
    const uint64_t last = flits ? p.flit_due(event.due, flits - 1) : event.due;
    if (last > event.time) {
        push({0,
              last == NO_CYCLE ? event.time + LOOKAHEAD : last,
              0,
              event.parcel,
              event.due,
              event.node,
              COMMIT,
              OUT,
              {}});
        return;
    }
    const uint32_t place = node_on(p.noc, event.node);
    Channel& to = channel(p, place);
    serve(to, event.time, p.bytes);
    std::memcpy(to.memory.data() + p.address % CHANNEL_BYTES, p.data.data(), p.bytes);
    to.written += p.bytes;
    if (!p.marked) return;
    auto answer = std::make_shared<Parcel>();
    answer->kind = Kind::Acknowledgement, answer->noc = p.noc, answer->transaction = p.transaction;
    answer->source = place, answer->target = p.source;
    send(answer, to.free_at);
}

}  // namespace polyloom::tensix
