// SPDX-License-Identifier: Apache-2.0
// The interconnect: which od or bank drives a sink port. Every sink has at most one driver, so a walk against the
// direction of the data is a path. Wrappers connect elements; the routes of banks, which are straight, stand with their
// generators.
#pragma once

#include <optional>
#include <vector>

#include "config.hpp"

namespace polyloom::tcpa {

// A port of the rectangle's border; `position` is a column on the north and south, a row on the east and west.
struct BorderPort {
    Location side = Location::north;
    uint32_t position = 0, channel = 0;
    auto operator<=>(const BorderPort&) const = default;
};

// The connections of every element, sorted by sink: those of its wrapper, and of the banks' routes that end in it or
// pass it. FormatError where two drive one port, or where a wrapper connects a port of the border.
std::vector<std::vector<Connection>> connections(const Config& config);

// A place in the array: element `row * columns + column` and one of its connections.
struct WireConnection {
    uint32_t element = 0, connection = 0;
};

// What drives a sink: od `index` of `element`, or a border port; `path` lists the connections from sink to source.
struct Driver {
    std::optional<BorderPort> border;
    uint32_t element = 0, index = 0;
    std::vector<WireConnection> path;
    int64_t links() const { return int64_t(path.size()) - 1; }
};

class Wires {
  public:
    explicit Wires(const Config& config);

    const std::vector<Connection>& connections(uint32_t element) const { return connections_[element]; }
    // The driver behind connection `connection` of `element`; nothing when the wire starts nowhere.
    std::optional<Driver> driver(uint32_t element, uint32_t connection) const;
    // The border port that an element's sink or source port faces, if it faces outwards.
    std::optional<BorderPort> border(uint32_t element, Port port) const;
    // The element that touches a border port.
    uint32_t element(const BorderPort& port) const;

  private:
    const Config& config_;
    std::vector<std::vector<Connection>> connections_;
    size_t longest_ = 0;
};

}  // namespace polyloom::tcpa
