// SPDX-License-Identifier: Apache-2.0
#include "wires.hpp"

#include <algorithm>

#include "routes.hpp"

namespace polyloom::tcpa {

static std::optional<BorderPort> border(const Config& config, uint32_t element, Port port) {
    const uint32_t row = element / config.columns, column = element % config.columns;
    switch (port.location) {
        case Location::north:
            if (row == 0) return BorderPort{port.location, column, port.index};
            break;
        case Location::south:
            if (row + 1 == config.rows) return BorderPort{port.location, column, port.index};
            break;
        case Location::west:
            if (column == 0) return BorderPort{port.location, row, port.index};
            break;
        case Location::east:
            if (column + 1 == config.columns) return BorderPort{port.location, row, port.index};
            break;
        default: break;
    }
    return std::nullopt;
}

static uint32_t at_border(const Config& config, Location side, uint32_t position) {
    switch (side) {
        case Location::south: return (config.rows - 1) * config.columns + position;
        case Location::west: return position * config.columns;
        case Location::east: return (position + 1) * config.columns - 1;
        default: return position;
    }
}

// From the border inwards, through `links` wrappers to the register's own.
static void add_route(const Config& config, const Generator& g, std::vector<std::vector<Connection>>& routes) {
    const Location inwards = opposite(g.side);
    uint32_t element = at_border(config, g.side, g.position);
    for (uint32_t left = g.links;; --left, element = neighbour(config, element, inwards)) {
        const Port outer{g.side, g.channel}, inner = left ? Port{inwards, g.channel} : Port{Location::pe, g.reg};
        routes[element].push_back(config.arrays[g.array].is_output ? Connection{outer, inner}
                                                                   : Connection{inner, outer});
        if (!left) return;
    }
}

std::vector<std::vector<Connection>> connections(const Config& config) {
    std::vector<std::vector<Connection>> made(config.wrapper.size());
    for (const Generator& g : config.generators) add_route(config, g, made);
    for (uint32_t element = 0; element < made.size(); ++element) {
        auto& all = made[element];
        std::ranges::sort(all);
        // A bank may have two generators.
        all.erase(std::unique(all.begin(), all.end()), all.end());
        for (const Connection& c : config.wrappers[config.wrapper[element]]) {
            if (border(config, element, c.sink) || border(config, element, c.source))
                throw FormatError("a wrapper connects a port of the border");
            all.push_back(c);
        }
        std::ranges::sort(all);
        if (std::ranges::adjacent_find(all, {}, &Connection::sink) != all.end())
            throw FormatError("two connections drive one port");
    }
    return made;
}

Wires::Wires(const Config& config) : config_(config), connections_(tcpa::connections(config)) {
    for (const auto& all : connections_) longest_ += all.size();
}

std::optional<BorderPort> Wires::border(uint32_t element, Port port) const {
    return tcpa::border(config_, element, port);
}

uint32_t Wires::element(const BorderPort& port) const { return at_border(config_, port.side, port.position); }

std::optional<Driver> Wires::driver(uint32_t element, uint32_t connection) const {
    Driver driver;
    // A longer path closes a ring, which nothing drives.
    while (driver.path.size() < longest_) {
        driver.path.push_back({element, connection});
        const Port source = connections_[element][connection].source;
        driver.element = element;
        driver.index = source.index;
        if (source.location == Location::pe) return driver;
        if ((driver.border = border(element, source))) return driver;
        element = neighbour(config_, element, source.location);
        const Port sink{opposite(source.location), source.index};
        const auto next = std::ranges::lower_bound(connections_[element], sink, {}, &Connection::sink);
        if (next == connections_[element].end() || next->sink != sink) return std::nullopt;
        connection = uint32_t(next - connections_[element].begin());
    }
    return std::nullopt;
}

}  // namespace polyloom::tcpa
