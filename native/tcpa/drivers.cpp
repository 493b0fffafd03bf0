// SPDX-License-Identifier: Apache-2.0
#include "drivers.hpp"

#include <algorithm>

namespace polyloom::tcpa {
namespace {

constexpr uint8_t under_way = 1, known = 2, busy = 4;

uint64_t count(const Config& config) {
    uint64_t connections = 0;
    for (uint32_t number : config.wrapper) connections += config.wrappers[number].size();
    return connections;
}

}  // namespace

uint64_t Drivers::bytes(const Config& config) {
    const uint64_t connections = count(config);
    // Connections are numbered in 32 bits.
    if (connections >= nowhere) return std::numeric_limits<uint64_t>::max();
    return connections * (sizeof(Origin) + 1 + 2 * sizeof(Step)) + config.wrapper.size() * sizeof(uint32_t);
}

Drivers::Drivers(const Config& config, const Routes& routes)
    : config_(config), routes_(routes), sorted_(config.wrappers) {
    for (auto& wrapper : sorted_) std::ranges::sort(wrapper);
    uint32_t total = 0;
    first_.reserve(config.wrapper.size());
    for (uint32_t number : config.wrapper) {
        first_.push_back(total);
        total += uint32_t(sorted_[number].size());
    }
    origins_.resize(total);
    state_.resize(total);
}

bool Drivers::before(Step& step) const {
    const Port source = connections(step.element)[step.connection].source;
    if (source.location == Location::pe) return false;
    const uint32_t element = neighbour(config_, step.element, source.location);
    const auto& there = connections(element);
    const Port sink{opposite(source.location), source.index};
    const auto next = std::ranges::lower_bound(there, sink, {}, &Connection::sink);
    if (next == there.end() || next->sink != sink) return false;
    step = {element, uint32_t(next - there.begin())};
    return true;
}

// Of a connection that no wrapper's connection comes before.
Origin Drivers::end(const Step& step) const {
    const Port source = connections(step.element)[step.connection].source;
    if (source.location == Location::pe) return {step.element, source.index, nowhere, 0};
    const uint32_t element = neighbour(config_, step.element, source.location);
    const PortRoutes* bank = routes_.driving(element, {opposite(source.location), source.index});
    if (!bank) return {};
    const bool across = bank->port.side == Location::north || bank->port.side == Location::south;
    const uint32_t row = element / config_.columns, column = element % config_.columns;
    const uint32_t at = across ? row : column, last = (across ? config_.rows : config_.columns) - 1;
    const uint32_t distance = bank->port.side == Location::south || bank->port.side == Location::east ? last - at : at;
    const bool taken = bank->port.side == opposite(source.location);
    if (!taken) return {nowhere, nowhere, uint32_t(bank - routes_.banks().data()), distance + 1};
    for (uint32_t number : routes_.generators(*bank))
        if (const Generator& g = config_.generators[number]; config_.arrays[g.array].is_output)
            return {routes_.element(bank->port, g.links), g.reg, nowhere, g.links - distance + 1};
    return {};
}

Origin Drivers::origin(uint32_t element, uint32_t connection) {
    way_.clear();
    Step step{element, connection};
    Origin found;
    for (;;) {
        const uint32_t number = first_[step.element] + step.connection;
        if (state_[number] & known) {
            found = origins_[number];
            ++found.links;
            break;
        }
        // A ring, which nothing drives.
        if (state_[number] & under_way) break;
        state_[number] |= under_way;
        way_.push_back(step);
        if (Step next = step; before(next)) {
            step = next;
            continue;
        }
        found = end(step);
        break;
    }
    for (size_t n = way_.size(); n--;) {
        const uint32_t number = first_[way_[n].element] + way_[n].connection;
        origins_[number] = found;
        state_[number] = uint8_t((state_[number] & busy) | known);
        ++found.links;
    }
    return origins_[first_[element] + connection];
}

void Drivers::note_busy(uint32_t element, uint32_t connection) {
    Step step{element, connection};
    do {
        uint8_t& state = state_[first_[step.element] + step.connection];
        if (state & busy) return;
        state |= busy;
    } while (before(step));
}

bool Drivers::all_busy() const {
    return std::ranges::all_of(state_, [](uint8_t state) { return (state & busy) != 0; });
}

}  // namespace polyloom::tcpa
