// SPDX-License-Identifier: Apache-2.0
// What polyloom.targets.tcpa.run.predict computes, which is its oracle. The last bank write is that of the output
// generator that finishes last: at the upper corner of a set, which is one of its points unless a half-space cuts it
// off. The first issue is found by following the units' programs with the controller's signals, class by class.
#include "predict.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "domain.hpp"

namespace polyloom::tcpa {
namespace {

// Instructions followed while nothing issues, of all programs, then more; beyond, the bound so far.
constexpr std::array<int64_t, 2> followed = {64, 1 << 16};

// Sums wrap instead of overflowing, as in `affine`.
int64_t step_of(const std::vector<int64_t>& digits, const std::vector<int64_t>& extents) {
    uint64_t step = 0, weight = 1;
    for (size_t m = 0; m < digits.size(); ++m) {
        step += uint64_t(digits[m]) * weight;
        weight *= uint64_t(extents[m]);
    }
    return int64_t(step);
}

// The outermost digit is not reduced. An extent of 0 has no step, and is taken for 1.
void set_digits(int64_t step, const std::vector<int64_t>& extents, std::vector<int64_t>& digits) {
    for (size_t m = 0; m + 1 < digits.size(); ++m) {
        const int64_t extent = std::max<int64_t>(1, extents[m]);
        digits[m] = step % extent;
        step /= extent;
    }
    if (!digits.empty()) digits.back() = step;
}

bool has_corner(const ConvexSet& set) {
    return std::all_of(set.half_spaces.begin(), set.half_spaces.end(),
                       [&](const HalfSpace& h) { return affine(h.coefficients, set.upper, h.constant) >= 0; });
}

// The cycle of the last bank write, and whether a point of a domain has it.
std::optional<std::pair<int64_t, bool>> last_write(const Config& config) {
    std::optional<std::pair<int64_t, bool>> last;
    for (const Generator& g : config.generators) {
        if (g.array >= config.arrays.size() || !config.arrays[g.array].is_output) continue;
        for (const ConvexSet& set : *g.domain) {
            const uint64_t steps = uint64_t(step_of(set.upper, config.extents));
            const int64_t cycle = int64_t(uint64_t(g.delay) + uint64_t(config.initiation_interval) * steps);
            const std::pair found{cycle, has_corner(set)};
            if (!last || found > *last) last = found;
        }
    }
    return last;
}

// By class: when its first element gets the start token.
std::vector<std::pair<int64_t, size_t>> starts(const Config& config) {
    const Controller& c = config.controller;
    std::vector<std::optional<int64_t>> least(config.classes.size());
    for (uint32_t row = 0; row < config.rows; ++row)
        for (uint32_t column = 0; column < config.columns; ++column) {
            const int32_t number = config.element_class[size_t(row) * config.columns + column];
            if (number < 0) continue;
            const int64_t down = c.south ? config.rows - 1 - row : row,
                          along = c.east ? config.columns - 1 - column : column;
            const int64_t start = c.start + down * c.row_delay + along * c.column_delay;
            least[size_t(number)] = std::min(least[size_t(number)].value_or(start), start);
        }
    std::vector<std::pair<int64_t, size_t>> made;
    for (size_t n = 0; n < least.size(); ++n)
        if (least[n]) made.emplace_back(*least[n], n);
    std::sort(made.begin(), made.end());
    return made;
}

// Cycles from the start token to the first operation of a unit; `limit` where there is none before.
std::optional<int64_t> first_operation(const Config& config, const Program& program, int64_t limit) {
    std::vector<int64_t> digits(config.extents.size());
    size_t at = 0;
    for (int64_t cycle = 0; cycle < limit; ++cycle) {
        if (at >= program.size()) return std::nullopt;
        const Instruction& instruction = program[at];
        if (instruction.opcode != opcode_nop) return cycle;
        switch (instruction.branch) {
            case Branch::halt: return std::nullopt;
            case Branch::next: ++at; break;
            case Branch::jump: at = instruction.targets[0]; break;
            case Branch::select: {
                set_digits(cycle / config.initiation_interval, config.extents, digits);
                size_t code = 0;
                for (size_t n = 0; n < instruction.signals.size(); ++n)
                    code |= size_t(contains(*config.controller.signals[instruction.signals[n]], digits)) << n;
                at = instruction.targets[code];
            }
        }
    }
    return limit;
}

// Of an element, and whether it was found; nothing where the element only idles.
std::optional<std::pair<int64_t, bool>> first_issue(const Config& config, const ElementProgram& element) {
    std::optional<std::pair<int64_t, bool>> least;
    for (int64_t limit : followed) {
        least.reset();
        for (const Program& program : element.programs)
            if (!program.empty())
                if (const auto offset = first_operation(config, program, limit);
                    offset && (!least || *offset < least->first))
                    least = {*offset, *offset < limit};
        // A short look suffices nearly always; the long one is for programs that wait for many iterations first.
        if (!least || least->second) break;
    }
    return least;
}

}  // namespace

Prediction predict(const Config& config) {
    const auto last = last_write(config);
    std::optional<std::pair<int64_t, bool>> first;
    for (const auto& [start, number] : starts(config)) {
        // A class that starts later than the first issue found so far cannot bring it forward.
        if (first && start >= first->first) break;
        const auto offset = first_issue(config, config.classes[number]);
        if (offset && (!first || start + offset->first < first->first)) first = {start + offset->first, offset->second};
    }
    if (!last || !first) return {};
    return {last->first + 1 - first->first, last->second && first->second};
}

}  // namespace polyloom::tcpa
