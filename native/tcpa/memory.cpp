// SPDX-License-Identifier: Apache-2.0
// What a configuration would take, computed before anything of that size is allocated: a few bytes of a file can
// declare any number of words, of links of a route and of tokens in a FIFO. Sums saturate.
#include <algorithm>
#include <bit>
#include <limits>

#include "decode.hpp"
#include "drivers.hpp"
#include "kinds.hpp"
#include "model.hpp"
#include "state.hpp"

namespace polyloom::tcpa {
namespace {

constexpr uint64_t most = std::numeric_limits<uint64_t>::max();

uint64_t plus(uint64_t a, uint64_t b) { return a > most - b ? most : a + b; }
uint64_t times(uint64_t a, uint64_t b) { return b && a > most / b ? most : a * b; }

uint64_t points(const ConvexSet& set) {
    uint64_t count = 1;
    for (size_t m = 0; m < set.lower.size(); ++m)
        count = times(count, uint64_t(std::max<int64_t>(0, set.upper[m] - set.lower[m] + 1)));
    return count;
}

// No FIFO holds more tokens than its depth, or than there are cycles; a ring takes up to twice that.
uint64_t tokens(const std::vector<int64_t>& depths, uint64_t cycles) {
    uint64_t bytes = 0;
    for (int64_t depth : depths) bytes = plus(bytes, times(2 * sizeof(Token), std::min(uint64_t(depth), cycles)));
    return bytes;
}

uint64_t registers(const std::array<size_t, 4>& used) {
    return used[0] * (sizeof(General) + sizeof(Queue)) + (used[1] + used[2]) * sizeof(Fifo) +
           used[3] * (sizeof(Output) + 4 * sizeof(Sink));
}

uint64_t element_bytes(const Config& config) {
    const uint64_t cycles = times(uint64_t(config.controller.steps), uint64_t(config.initiation_interval));
    std::vector<uint64_t> of_class, of_wrapper;
    for (const ElementProgram& e : config.classes)
        of_class.push_back(plus(registers(registers_used(e, {})) + e.programs.size() * sizeof(UnitState),
                                plus(tokens(e.feedback_depths, cycles), tokens(e.input_depths, cycles))));
    for (const auto& wrapper : config.wrappers) of_wrapper.push_back(registers(registers_used({}, wrapper)));
    uint64_t bytes = times(config.generators.size(), sizeof(Fifo) + sizeof(Output));
    for (size_t n = 0; n < config.element_class.size(); ++n)
        if (config.element_class[n] >= 0)
            bytes = plus(bytes,
                         sizeof(Element) + of_class[size_t(config.element_class[n])] + of_wrapper[config.wrapper[n]]);
    return bytes;
}

uint64_t stream_bytes(const Config& config) {
    uint64_t bytes = 0;
    for (const Generator& g : config.generators)
        bytes = plus(bytes, sizeof(Stream) + g.domain->size() * (64 + 8 * config.extents.size()) + 256);
    return bytes;
}

// Ids and ods that a class's programs name.
uint64_t ports_of(const ElementProgram& element) {
    uint64_t ids = 0, ods = 0;
    for (const Program& program : element.programs)
        for (const Instruction& instruction : program) {
            for (const Operand& o : instruction.sources)
                if (o.file == File::io) ids |= uint64_t(1) << o.value;
            for (const Operand& o : instruction.destinations)
                if (o.file == File::io) ods |= uint64_t(1) << o.value;
        }
    return uint64_t(std::popcount(ids) + std::popcount(ods));
}

}  // namespace

uint64_t accesses(const Config& config, size_t array) {
    uint64_t count = 0;
    for (const Generator& g : config.generators)
        if (g.array == array)
            for (const ConvexSet& set : *g.domain) count = plus(count, points(set));
    return count;
}

uint64_t wire_bytes(const Config& config) {
    uint64_t connections = 0;
    for (const Generator& g : config.generators) connections += g.links + 1;
    for (uint32_t number : config.wrapper) connections += config.wrappers[number].size();
    return connections * (2 * sizeof(Connection)) + config.wrapper.size() * sizeof(std::vector<Connection>);
}

uint64_t most_operations(const Config& config) {
    std::vector<uint64_t> units;
    for (const ElementProgram& e : config.classes)
        units.push_back(
            uint64_t(std::count_if(e.programs.begin(), e.programs.end(), [](const Program& p) { return !p.empty(); })));
    uint64_t busy = 0;
    for (int32_t number : config.element_class) busy += number < 0 ? 0 : units[size_t(number)];
    return times(busy, times(uint64_t(config.controller.steps), uint64_t(config.initiation_interval)));
}

uint64_t signal_ring(const Config& config) {
    const Controller& c = config.controller;
    const int64_t span = (config.rows - 1) * c.row_delay + (config.columns - 1) * c.column_delay;
    // A power of two, because every element divides by it in every step.
    return std::bit_ceil(uint64_t(std::min(span / config.initiation_interval + 2, std::max<int64_t>(1, c.steps))));
}

uint64_t run_bytes(const Config& config, bool check_only) {
    uint64_t bytes = plus(plus(wire_bytes(config), element_bytes(config)), stream_bytes(config));
    for (const Array& array : config.arrays)
        if (array.is_output)
            bytes = plus(bytes, times(words_of(array), check_only ? 1 : 1 + bytes_of(Type(array.type))));
    return plus(bytes,
                times(signal_ring(config), (config.controller.signals.size() + 63) / 64 * (check_only ? 16 : 8)));
}

// Vectors grow by doubling. An id gives, and an od gets, at most one value per cycle.
uint64_t kinds_bytes(const Config& config) {
    constexpr uint64_t by_generator = sizeof(PortRoutes) + 128, by_element = sizeof(uint64_t);
    const Config single = one_of_each(config);
    const uint64_t cycles = plus(times(uint64_t(config.controller.steps), uint64_t(config.initiation_interval)), 1);
    uint64_t ports = 2;
    for (int32_t number : single.element_class)
        if (number >= 0) ports += ports_of(config.classes[size_t(number)]);
    // Of one array at a time, a bit per word, and the addresses of one generator.
    uint64_t words = 0, addresses = 0;
    for (const Generator& g : config.generators) {
        const Array& array = config.arrays[g.array];
        if (!array.is_output) continue;
        uint64_t reached = 0;
        for (const ConvexSet& set : *g.domain) reached = plus(reached, points(set));
        words = std::max(words, words_of(array));
        addresses = std::max(addresses, std::min(reached, words_of(array)) + 1);
    }
    uint64_t bytes = plus(run_bytes(single, true), times(ports, times(cycles, 2 * sizeof(Event))));
    bytes = plus(bytes, Drivers::bytes(config));
    bytes = plus(bytes, plus(words / 8, times(addresses, 2 * sizeof(int64_t))));
    return plus(bytes, times(config.generators.size(), by_generator) + config.wrapper.size() * by_element);
}

}  // namespace polyloom::tcpa
