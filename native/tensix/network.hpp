// SPDX-License-Identifier: Apache-2.0
// The two NoCs of a chip with its DRAM: routers of a torus of 10 by 12, links that carry a flit a cycle, and channels
// of memory. A packet's header goes from link to link as an event of one queue; a link that is taken lets it wait.
// Sources: ISA documentation, WormholeB0/NoC/README.md ("Performance"), RoutingPaths.md, Coordinates.md, Ordering.md;
// WormholeB0/DRAMTile/README.md. docs/targets/tensix-grid.md says what is left out.
//
// A place is the number of a node on NoC 0, 10 * y + x. NoC 1 numbers the nodes from the other end, and both flow
// towards greater coordinates of their own, so that one code routes on both.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

namespace polyloom::tensix {

constexpr uint32_t WIDTH = 10, HEIGHT = 12, NODES = WIDTH * HEIGHT, CHANNELS = 12;
// Cycles from an NIU to its router or back, and from a router to the next one.
constexpr uint64_t NIU_CYCLES = 5, ROUTER_CYCLES = 9;
// What a tile sends reaches no other tile earlier than that.
constexpr uint64_t LOOKAHEAD = 2 * NIU_CYCLES + ROUTER_CYCLES;
constexpr uint64_t CHANNEL_BYTES = 1ull << 30;  // of addresses
constexpr uint64_t NO_CYCLE = ~uint64_t(0);

enum class Site : uint8_t { Empty, Tensix, Ethernet, Dram, Pcie, Arc };
Site site_of(uint32_t place);
// The pair of channels behind a DRAM tile.
uint32_t group_of(uint32_t place);
// A node's number on a NoC, and back.
constexpr uint32_t node_on(int noc, uint32_t place) { return noc ? NODES - 1 - place : place; }

enum class Kind : uint8_t { Read, Write, Atomic, Data, Acknowledgement, Value };

// A packet. `source` and `target` are places; a broadcast has a rectangle of coordinates of its own NoC.
struct Parcel {
    Kind kind = Kind::Read;
    uint8_t noc = 0, transaction = 0;
    bool marked = false, fixed = false,
         narrow = false;  // with an answer; on a channel of software; `value` is its data
    bool broadcast = false, y_major = false, itself = false;  // of a broadcast: whether its source hears it, too
    uint8_t start_x = 0, start_y = 0, end_x = 0, end_y = 0;
    uint32_t source = 0, target = 0;
    uint64_t address = 0,
             answer_address = 0;   // at the target, and where its answer goes; of data from memory: where it is
    uint32_t l1 = 0, bytes = 0;    // data and where they come from
    uint32_t code = 0, value = 0;  // NOC_AT_LEN_BE, NOC_AT_DATA
    uint64_t left = 0;             // the cycle in which the header has left its NIU
    std::vector<uint8_t> data;
    std::vector<uint64_t> flits_left;  // the same of each data flit that has left

    // A read asks for bytes that come with its answer.
    [[nodiscard]] uint32_t flits() const { return kind == Kind::Read ? 1 : 1 + (bytes + 31) / 32; }
    // The first cycle in which data flit `n` is where the header was at `due`; NO_CYCLE while it has not left.
    [[nodiscard]] uint64_t flit_due(uint64_t due, uint32_t n) const {
        return n < flits_left.size() ? std::max(due + 1 + n, flits_left[n] + (due - left)) : NO_CYCLE;
    }
};
using Sent = std::shared_ptr<Parcel>;

// A packet whose header reaches an NIU.
struct Arrival {
    uint64_t due = 0;
    Sent parcel;
};

struct Channel {
    std::vector<uint8_t> memory;
    uint64_t free_at = 0, busy_cycles = 0, read = 0, written = 0;
};

class Network {
  public:
    // Bytes of each channel, bytes a cycle that it moves, and cycles from a request to its answer.
    Network(uint64_t bytes, uint32_t speed, uint32_t latency);
    // Where packets for a tile go; without one, a place has no NIU that answers.
    void attach(uint32_t place, std::array<std::deque<Arrival>, 2>* inboxes) { inboxes_[place] = inboxes; }
    [[nodiscard]] bool attached(uint32_t place) const { return inboxes_[place] != nullptr; }
    // A packet's header leaves its NIU in this cycle, which no `advance` has passed yet.
    void send(const Sent& parcel, uint64_t cycle);
    // All that is decided when every tile has come to `end`: arrivals at tiles up to `end + LOOKAHEAD`.
    void advance(uint64_t end);
    // When something happens next; NO_CYCLE where nothing is under way.
    [[nodiscard]] uint64_t next() const { return events_.empty() ? NO_CYCLE : events_.top().key; }
    [[nodiscard]] uint64_t channel_bytes() const { return channels[0].memory.size(); }

    std::array<Channel, CHANNELS> channels;
    // Flits on each link: of each NoC and place, from NIU to router, to the next X, to the next Y, from router to NIU.
    enum Port : uint8_t { IN, X, Y, OUT, PORTS };
    struct Link {
        uint64_t free_at = 0, flits = 0, waits = 0;
    };
    std::array<std::array<std::array<Link, PORTS>, NODES>, 2> links{};

  private:
    // How far a broadcast has come: to the first line, along lines, along one line; nodes that are yet to come.
    struct Spread {
        uint8_t phase = 1, lines = 0, nodes = 0;
    };
    // A header at a link; a write at a channel.
    enum Step : uint8_t { LINK, COMMIT };
    struct Event {
        uint64_t key, time, order;
        Sent parcel;
        uint64_t due;  // of a write at a channel: when its header came
        uint32_t node;
        Step step;
        Port port;
        Spread spread;
        bool operator>(const Event& other) const { return key != other.key ? key > other.key : order > other.order; }
    };

    void push(Event event);
    void enter(const Sent& parcel, uint32_t node, Port port, uint64_t time, Spread spread);
    void route(const Sent& parcel, uint32_t node, uint64_t time, Spread spread);
    void spread(const Sent& parcel, uint32_t node, uint64_t time, Spread state);
    void pass(const Event& event);
    void arrive(const Event& event, uint64_t due);
    void commit(const Event& event);
    void read_memory(Parcel& answer, uint32_t place);
    Channel& channel(const Parcel& parcel, uint32_t place) {
        return channels[2 * group_of(place) + (parcel.address >= CHANNEL_BYTES)];
    }
    // When a channel begins with so many bytes.
    uint64_t serve(Channel& channel, uint64_t time, uint32_t bytes);

    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::array<std::array<std::deque<Arrival>, 2>*, NODES> inboxes_{};
    uint64_t order_ = 0;
    uint32_t speed_, latency_;
};

// A packet that is due, in its order.
void queue_arrival(std::deque<Arrival>& inbox, Arrival arrival);

}  // namespace polyloom::tensix
