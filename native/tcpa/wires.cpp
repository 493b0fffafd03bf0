// SPDX-License-Identifier: Apache-2.0
#include "wires.hpp"

namespace polyloom::tcpa {

static Location opposite(Location side) {
    switch (side) {
        case Location::north: return Location::south;
        case Location::south: return Location::north;
        case Location::east: return Location::west;
        case Location::west: return Location::east;
        default: return side;
    }
}

Wires::Wires(const Config& config) : config_(config), by_sink_(config.wrappers.size()) {
    for (size_t w = 0; w < config.wrappers.size(); ++w)
        for (uint32_t n = 0; n < config.wrappers[w].size(); ++n) by_sink_[w].emplace(config.wrappers[w][n].sink, n);
    for (uint32_t w : config.wrapper) longest_ += config.wrappers[w].size();
}

std::optional<BorderPort> Wires::border(uint32_t element, Port port) const {
    const uint32_t row = element / config_.columns, column = element % config_.columns;
    switch (port.location) {
        case Location::north: if (row == 0) return BorderPort{port.location, column, port.index}; break;
        case Location::south: if (row + 1 == config_.rows) return BorderPort{port.location, column, port.index}; break;
        case Location::west: if (column == 0) return BorderPort{port.location, row, port.index}; break;
        case Location::east: if (column + 1 == config_.columns) return BorderPort{port.location, row, port.index}; break;
        default: break;
    }
    return std::nullopt;
}

uint32_t Wires::element(const BorderPort& port) const {
    switch (port.side) {
        case Location::south: return (config_.rows - 1) * config_.columns + port.position;
        case Location::west: return port.position * config_.columns;
        case Location::east: return (port.position + 1) * config_.columns - 1;
        default: return port.position;
    }
}

uint32_t Wires::neighbour(uint32_t element, Location side) const {
    switch (side) {
        case Location::north: return element - config_.columns;
        case Location::south: return element + config_.columns;
        case Location::west: return element - 1;
        default: return element + 1;
    }
}

std::optional<Driver> Wires::driver(uint32_t element, uint32_t connection) const {
    Driver driver;
    // A longer path closes a ring, which nothing drives.
    while (driver.path.size() < longest_) {
        driver.path.push_back({element, connection});
        const Port source = config_.wrappers[config_.wrapper[element]][connection].source;
        driver.element = element;
        driver.index = source.index;
        if (source.location == Location::pe) return driver;
        if ((driver.border = border(element, source))) return driver;
        element = neighbour(element, source.location);
        const auto& by_sink = by_sink_[config_.wrapper[element]];
        const auto next = by_sink.find(Port{opposite(source.location), source.index});
        if (next == by_sink.end()) return std::nullopt;
        connection = next->second;
    }
    return std::nullopt;
}

}  // namespace polyloom::tcpa
