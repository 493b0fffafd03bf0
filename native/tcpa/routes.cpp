// SPDX-License-Identifier: Apache-2.0
#include "routes.hpp"

#include <algorithm>
#include <utility>

namespace polyloom::tcpa {
namespace {

uint64_t key(const BorderPort& port) { return (uint64_t(port.side) << 32 | port.position) << 16 | port.channel; }

bool at_border(const Config& config, uint32_t element, const Port& port) {
    const uint32_t row = element / config.columns, column = element % config.columns;
    switch (port.location) {
        case Location::north: return row == 0;
        case Location::south: return row + 1 == config.rows;
        case Location::west: return column == 0;
        case Location::east: return column + 1 == config.columns;
        default: return false;
    }
}

bool wrappers_stay_inside(const Config& config) {
    const auto stays = [&](uint32_t element) {
        return std::ranges::none_of(config.wrappers[config.wrapper[element]], [&](const Connection& c) {
            return at_border(config, element, c.sink) || at_border(config, element, c.source);
        });
    };
    const uint32_t last = uint32_t(config.wrapper.size()) - config.columns;
    for (uint32_t column = 0; column < config.columns; ++column)
        if (!stays(column) || !stays(last + column)) return false;
    for (uint32_t row = 0; row < config.rows; ++row)
        if (!stays(row * config.columns) || !stays((row + 1) * config.columns - 1)) return false;
    return true;
}

// The id registers that each wrapper drives.
std::vector<uint64_t> driven_by_wrapper(const Config& config) {
    std::vector<uint64_t> driven;
    for (const auto& wrapper : config.wrappers) {
        uint64_t bits = 0;
        for (const Connection& c : wrapper)
            if (c.sink.location == Location::pe) bits |= uint64_t(1) << c.sink.index;
        driven.push_back(bits);
    }
    return driven;
}

// Whether the registers in which the routes end, and the ports that the outputs' routes drive, have one driver each.
bool ends_differ(const Config& config, const Routes& routes) {
    const std::vector<uint64_t> by_wrapper = driven_by_wrapper(config);
    std::vector<uint64_t> driven(config.wrapper.size());
    std::vector<std::pair<uint32_t, uint32_t>> ends;
    for (const PortRoutes& bank : routes.banks()) {
        ends.clear();
        const Generator* output = nullptr;
        for (uint32_t number : routes.generators(bank)) {
            const Generator& g = config.generators[number];
            if (!config.arrays[g.array].is_output) {
                ends.emplace_back(routes.element(bank.port, g.links), g.reg);
            } else {
                if (output && (output->links != g.links || output->reg != g.reg)) return false;
                output = &g;
            }
        }
        std::ranges::sort(ends);
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
        for (auto [element, reg] : ends) {
            const uint64_t bit = uint64_t(1) << reg;
            if ((driven[element] | by_wrapper[config.wrapper[element]]) & bit) return false;
            driven[element] |= bit;
        }
        if (!output) continue;
        // An input from the other side drives the same ports, from the same ones but where the output's route begins.
        const bool across = bank.port.side == Location::north || bank.port.side == Location::south;
        const int64_t line = across ? config.rows : config.columns;
        const PortRoutes* facing = routes.find({opposite(bank.port.side), bank.port.position, bank.port.channel});
        if (facing && facing->farthest_input >= 1 && output->links >= line - facing->farthest_input) return false;
    }
    return true;
}

bool wrappers_keep_off(const Config& config, const Routes& routes) {
    std::vector<std::vector<Port>> outwards;
    for (const auto& wrapper : config.wrappers) {
        auto& sinks = outwards.emplace_back();
        std::vector<Port> all;
        for (const Connection& c : wrapper) {
            all.push_back(c.sink);
            if (c.sink.location != Location::pe) sinks.push_back(c.sink);
        }
        std::ranges::sort(all);
        if (std::ranges::adjacent_find(all) != all.end()) return false;
    }
    if (routes.banks().empty()) return true;
    for (uint32_t element = 0; element < config.wrapper.size(); ++element)
        for (const Port& sink : outwards[config.wrapper[element]])
            if (routes.driving(element, sink)) return false;
    return true;
}

}  // namespace

Location opposite(Location side) {
    switch (side) {
        case Location::north: return Location::south;
        case Location::south: return Location::north;
        case Location::east: return Location::west;
        case Location::west: return Location::east;
        default: return side;
    }
}

uint32_t neighbour(const Config& config, uint32_t element, Location side) {
    switch (side) {
        case Location::north: return element - config.columns;
        case Location::south: return element + config.columns;
        case Location::west: return element - 1;
        default: return element + 1;
    }
}

Routes::Routes(const Config& config) : config_(config), longest_(std::max(config.rows, config.columns)) {
    std::vector<std::pair<uint64_t, uint32_t>> sorted;
    sorted.reserve(config.generators.size());
    for (uint32_t n = 0; n < config.generators.size(); ++n) {
        const Generator& g = config.generators[n];
        sorted.emplace_back(key({g.side, g.position, g.channel}), n);
    }
    std::ranges::sort(sorted);
    order_.reserve(sorted.size());
    for (const auto& [at, number] : sorted) {
        const Generator& g = config.generators[number];
        const BorderPort port{g.side, g.position, g.channel};
        if (banks_.empty() || banks_.back().port != port) banks_.push_back({port, uint32_t(order_.size())});
        order_.push_back(number);
        PortRoutes& bank = banks_.back();
        ++bank.count;
        int64_t& reach = config.arrays[g.array].is_output ? bank.output : bank.farthest_input;
        reach = std::max(reach, int64_t(g.links));
    }
    lines_.assign(4 * longest_ + 1, 0);
    for (const PortRoutes& bank : banks_) ++lines_[(size_t(bank.port.side) - 1) * longest_ + bank.port.position + 1];
    for (size_t n = 1; n < lines_.size(); ++n) lines_[n] += lines_[n - 1];
}

const PortRoutes* Routes::find(const BorderPort& port) const {
    const size_t line = (size_t(port.side) - 1) * longest_ + port.position;
    const auto begin = banks_.begin() + lines_[line], end = banks_.begin() + lines_[line + 1];
    const auto found = std::lower_bound(begin, end, port.channel,
                                        [](const PortRoutes& b, uint32_t channel) { return b.port.channel < channel; });
    return found == end || found->port.channel != port.channel ? nullptr : &*found;
}

Routes::Spot Routes::spot(uint32_t element, Location side) const {
    const uint32_t row = element / config_.columns, column = element % config_.columns;
    switch (side) {
        case Location::north: return {column, row};
        case Location::south: return {column, config_.rows - 1 - row};
        case Location::west: return {row, column};
        default: return {row, config_.columns - 1 - column};
    }
}

const PortRoutes* Routes::driving(uint32_t element, Port sink) const {
    const Spot out = spot(element, sink.location), in = spot(element, opposite(sink.location));
    const PortRoutes* taken = find({sink.location, out.position, sink.index});
    if (taken && taken->output >= int64_t(out.distance)) return taken;
    const PortRoutes* fed = find({opposite(sink.location), in.position, sink.index});
    return fed && fed->farthest_input > int64_t(in.distance) ? fed : nullptr;
}

uint32_t Routes::element(const BorderPort& port, int64_t links) const {
    const auto inwards = uint32_t(links);
    switch (port.side) {
        case Location::north: return inwards * config_.columns + port.position;
        case Location::south: return (config_.rows - 1 - inwards) * config_.columns + port.position;
        case Location::west: return port.position * config_.columns + inwards;
        default: return (port.position + 1) * config_.columns - 1 - inwards;
    }
}

bool undisturbed(const Config& config, const Routes& routes) {
    return wrappers_stay_inside(config) && ends_differ(config, routes) && wrappers_keep_off(config, routes);
}

}  // namespace polyloom::tcpa
