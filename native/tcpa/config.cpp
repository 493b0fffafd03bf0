// SPDX-License-Identifier: Apache-2.0
// The checks of a configuration that keep the model inside its tables (docs/formats.md): the model does not look at
// indices again, and a file may come from a stranger.
#include "config.hpp"

#include <algorithm>
#include <limits>

#include "operations.hpp"
#include "routes.hpp"

namespace polyloom::tcpa {
namespace {

// Addresses, steps and cycles stay far below 2^63 within these.
constexpr int64_t largest_word = int64_t(1) << 32;
constexpr int64_t most_steps = int64_t(1) << 40;
constexpr uint64_t most_words = uint64_t(1) << 40;

void require(bool condition, const char* what) {
    if (!condition) throw FormatError(what);
}

bool in_range(int64_t value, int64_t low = 0) { return value >= low && value <= largest_word; }

void check_domain(const Domain& domain, size_t rank, const std::vector<int64_t>* extents) {
    for (const ConvexSet& set : domain) {
        require(set.lower.size() == rank && set.upper.size() == rank,
                "a convex set has another number of digits than the tile");
        for (size_t m = 0; m < rank; ++m) {
            require(in_range(set.lower[m]) && in_range(set.upper[m]) && set.lower[m] <= set.upper[m],
                    "a convex set's box is empty or negative");
            require(!extents || set.upper[m] < (*extents)[m], "a generator's enable domain leaves the tile");
        }
        for (const HalfSpace& half : set.half_spaces)
            require(half.coefficients.size() == rank, "a half-space has another number of digits than the tile");
    }
}

void check_instruction(const Instruction& instruction, size_t signals) {
    if (instruction.opcode == opcode_nop) {
        require(instruction.sources.empty() && instruction.destinations.empty(), "a nop has operands");
    } else {
        require(valid_opcode(instruction.opcode), "an instruction has an unknown opcode");
        require(instruction.sources.size() == arity(operation_of(instruction.opcode)),
                "an instruction has another number of sources than its operation");
        require(instruction.destinations.size() <= 15, "an instruction has more than 15 destinations");
    }
    for (const Operand& o : instruction.sources)
        require(o.file == File::immediate || o.value < 64, "a register index is above 63");
    for (const Operand& o : instruction.destinations)
        require(o.file != File::immediate && o.value < 64, "a destination is not a register");
    if (instruction.branch == Branch::select) {
        require(instruction.signals.size() <= 15 && instruction.targets.size() == size_t(1)
                                                                                      << instruction.signals.size(),
                "a branch has another number of targets than codes");
        for (uint32_t s : instruction.signals)
            require(s < signals && s < 256, "a branch reads a control signal that does not exist");
    }
    require(instruction.branch != Branch::jump || instruction.targets.size() == 1, "a goto has no target");
}

void check_wrapper(const std::vector<Connection>& wrapper) {
    for (const Connection& c : wrapper)
        require(c.sink.location != Location::pe || c.sink.index < 64, "a register index is above 63");
    for (const Connection& c : wrapper)
        require(c.source.location != Location::pe || c.source.index < 64, "a register index is above 63");
    for (const Connection& c : wrapper)
        require(c.sink.location <= Location::west && c.source.location <= Location::west && c.sink.index < 65536 &&
                    c.source.index < 65536,
                "a connection names no port");
}

}  // namespace

uint64_t words_of(const Array& array) {
    uint64_t last = 0;
    for (size_t m = 0; m < array.shape.size(); ++m) {
        if (array.shape[m] == 0) return 0;
        last += uint64_t(array.strides[m]) * uint64_t(array.shape[m] - 1);
    }
    return last + 1;
}

void check(const Config& config, uint64_t most_bytes) {
    const size_t rank = config.extents.size(), elements = size_t(config.rows) * config.columns;
    require(config.initiation_interval >= 1 && config.initiation_interval <= 65536,
            "the initiation interval is out of range");
    require(config.rows >= 1 && config.columns >= 1 && config.rows <= 65536 && config.columns <= 65536,
            "the region is empty or too large");
    require(config.element_class.size() == elements && config.wrapper.size() == elements,
            "an element has no class or wrapper");
    int64_t steps = 1;
    for (int64_t extent : config.extents) {
        require(in_range(extent) && steps <= most_steps / std::max<int64_t>(1, extent), "the tile is too large");
        steps *= std::max<int64_t>(1, extent);
    }
    const Controller& controller = config.controller;
    require(in_range(controller.start) && in_range(controller.row_delay) && in_range(controller.column_delay) &&
                in_range(controller.steps),
            "a controller field is out of range");
    require(controller.signals.size() <= 256, "there are more than 256 control signals");
    for (const Shared& signal : controller.signals) check_domain(*signal, rank, nullptr);
    for (const ElementProgram& element : config.classes) {
        for (const Program& program : element.programs)
            for (const Instruction& instruction : program) check_instruction(instruction, controller.signals.size());
        require(element.feedback_depths.size() <= 64 && element.input_depths.size() <= 64,
                "a class has more than 64 FIFOs of a kind");
    }
    for (int32_t number : config.element_class)
        require(number >= -1 && number < int32_t(config.classes.size()), "an element's class does not exist");
    for (uint32_t number : config.wrapper)
        require(number < config.wrappers.size(), "an element's wrapper does not exist");
    for (const auto& wrapper : config.wrappers) check_wrapper(wrapper);
    for (const Array& array : config.arrays) {
        require(array.type < type_count && array.shape.size() == array.strides.size(),
                "an array's layout is malformed");
        uint64_t words = 1;
        for (size_t m = 0; m < array.shape.size(); ++m) {
            require(in_range(array.shape[m]) && in_range(array.strides[m]), "an array's layout is out of range");
            const auto step = uint64_t(array.strides[m]), extent = uint64_t(std::max<int64_t>(1, array.shape[m]));
            require(step <= (most_words - words) / extent, "an array is too large");
            words += step * (extent - 1);
        }
    }
    const Domain* checked = nullptr;
    for (const Generator& g : config.generators) {
        require(g.side >= Location::north && g.side <= Location::west, "a generator stands at no border");
        const bool across = g.side == Location::north || g.side == Location::south;
        require(g.position < (across ? config.columns : config.rows), "a generator stands outside the region");
        require(g.links < (across ? config.rows : config.columns), "a bank's route leaves the region");
        require(g.channel < 65536 && g.reg < 64 && g.array < config.arrays.size() && g.coefficients.size() == rank &&
                    in_range(g.delay),
                "a generator is malformed");
        if (g.domain.get() != checked) check_domain(*g.domain, rank, &config.extents);
        checked = g.domain.get();
    }
    if (undisturbed(config, Routes(config))) return;
    // Says which rule is broken.
    if (wire_bytes(config) > most_bytes) throw TooLarge(wire_bytes(config));
    connections(config);
}

}  // namespace polyloom::tcpa
