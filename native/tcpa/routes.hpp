// SPDX-License-Identifier: Apache-2.0
// The routes of banks as what they are, straight lines inwards from a border, without a connection per element on the
// way. A million generators with routes of hundreds of links are a million entries here, and hundreds of millions in
// `Wires`.
#pragma once

#include <span>
#include <vector>

#include "wires.hpp"

namespace polyloom::tcpa {

// All generators at one border port. Inputs reach any distances; outputs at one port share one route, or two would
// drive a port.
struct PortRoutes {
    BorderPort port;
    uint32_t first = 0, count = 0;             // of its generators
    int64_t farthest_input = -1, output = -1;  // links; -1 without one
};

class Routes {
  public:
    explicit Routes(const Config& config);

    const std::vector<PortRoutes>& banks() const { return banks_; }
    // In the order of the file.
    std::span<const uint32_t> generators(const PortRoutes& bank) const {
        return std::span(order_).subspan(bank.first, bank.count);
    }
    // Null without a generator there.
    const PortRoutes* find(const BorderPort& port) const;
    // The bank whose route drives port (side, channel) of an element towards a neighbour: one that takes from the way,
    // and one that feeds it.
    const PortRoutes* driving(uint32_t element, Port sink) const;
    // The element `links` inwards from a border port.
    uint32_t element(const BorderPort& port, int64_t links) const;

  private:
    struct Spot {
        uint32_t position, distance;
    };
    Spot spot(uint32_t element, Location side) const;

    const Config& config_;
    std::vector<PortRoutes> banks_;
    std::vector<uint32_t> order_;
    std::vector<uint32_t> lines_;  // of the first bank by side and position
    size_t longest_ = 0;           // positions of a side
};

Location opposite(Location side);
uint32_t neighbour(const Config& config, uint32_t element, Location side);

// Whether certainly no two connections drive one port and no wrapper connects a port of the border, so that
// `connections` does not throw.
bool undisturbed(const Config& config, const Routes& routes);

}  // namespace polyloom::tcpa
