// SPDX-License-Identifier: Apache-2.0
// Decodes programs once per class: operands by file, destinations sorted by file, targets as pointers, so that the
// model's inner loop looks nothing up.
#include "decode.hpp"

#include <algorithm>
#include <utility>

namespace polyloom::tcpa {
namespace {

std::vector<Coverage> covered(const Program& program, size_t signals) {
    std::vector<Coverage> found(program.size());
    for (size_t pc = 0; pc < program.size(); ++pc) {
        found[pc].driven.resize(program[pc].destinations.size());
        if (program[pc].branch != Branch::select) continue;
        found[pc].codes.resize(program[pc].targets.size());
        found[pc].equals.assign(program[pc].signals.size(), std::vector<uint64_t>((signals + 63) / 64, ~uint64_t(0)));
    }
    return found;
}

// FIFOs have one numbering: first the `feedback` fds, then the ids.
Code decoded(const Instruction& words, const Unit& unit, uint32_t feedback, bool is_static) {
    Code code;
    code.opcode = words.opcode;
    code.branch = words.branch;
    code.latency = unit.latency[words.opcode];
    code.holds = unit.pipelined ? 1 : code.latency;
    for (const Operand& source : words.sources) {
        code.file[code.sources] = source.file == File::io ? File::fd : source.file;
        if (source.file == File::immediate)
            code.source[code.sources] = is_static ? any_type : immediate_word(words.opcode, code.sources, source.value);
        else
            code.source[code.sources] = source.file == File::io ? feedback + source.value : source.value;
        ++code.sources;
    }
    size_t destinations = 0;
    for (auto [file, count] :
         {std::pair(File::rd, &code.to_general), {File::fd, &code.to_feedback}, {File::io, &code.to_output}})
        for (size_t n = 0; n < words.destinations.size(); ++n) {
            if (words.destinations[n].file != file) continue;
            code.position[destinations] = uint8_t(n);
            code.destination[destinations++] = uint8_t(words.destinations[n].value);
            ++*count;
        }
    for (uint32_t signal : words.signals) code.signal[code.signals++] = uint8_t(signal);
    code.special = code.latency == 0 || !unit.pipelined || divides(words.opcode);
    if (words.opcode != opcode_nop) code.function = function_table[words.opcode];
    return code;
}

std::vector<Code> decoded(const Program& program, const Unit& unit, uint32_t feedback,
                          std::vector<Coverage>* coverage) {
    std::vector<Code> codes;
    for (const Instruction& words : program) {
        codes.push_back(decoded(words, unit, feedback, coverage != nullptr));
        if (coverage) codes.back().coverage = &(*coverage)[codes.size() - 1];
    }
    // A sentinel behind the program: whoever runs off its end, or branches beyond it, faults there.
    codes.emplace_back().outside = true;
    for (size_t pc = 0; pc < program.size(); ++pc)
        for (uint32_t number : program[pc].targets)
            codes[pc].targets.push_back(&codes[std::min<size_t>(number, program.size())]);
    return codes;
}

}  // namespace

Programs decode(const Config& config, const Machine& machine, Coverages* coverage) {
    if (coverage)
        for (const ElementProgram& element : config.classes) {
            auto& units = coverage->emplace_back();
            for (const Program& program : element.programs)
                units.push_back(covered(program, config.controller.signals.size()));
        }
    Programs programs;
    for (size_t c = 0; c < config.classes.size(); ++c) {
        const ElementProgram& element = config.classes[c];
        const auto feedback = uint32_t(registers_used(element, {})[1]);
        auto& units = programs.emplace_back();
        for (size_t u = 0; u < element.programs.size(); ++u)
            units.push_back(
                decoded(element.programs[u], machine.units[u], feedback, coverage ? &(*coverage)[c][u] : nullptr));
    }
    return programs;
}

std::array<size_t, 4> registers_used(const ElementProgram& element, const std::vector<Connection>& wrapper) {
    std::array<size_t, 4> used{0, element.feedback_depths.size(), element.input_depths.size(), 0};  // rd, fd, id, od
    const auto need = [&](size_t file, uint32_t index) { used[file] = std::max<size_t>(used[file], index + 1); };
    for (const Program& program : element.programs)
        for (const Instruction& instruction : program) {
            for (const Operand& o : instruction.sources)
                if (o.file != File::immediate) need(size_t(o.file), uint32_t(o.value));
            for (const Operand& o : instruction.destinations)
                need(o.file == File::io ? 3 : size_t(o.file), uint32_t(o.value));
        }
    for (const Connection& c : wrapper) {
        if (c.sink.location == Location::pe) need(2, c.sink.index);
        if (c.source.location == Location::pe) need(3, c.source.index);
    }
    return used;
}

Config one_of_each(const Config& config) {
    Config single;
    single.initiation_interval = config.initiation_interval;
    single.rows = 1;
    single.columns = uint32_t(config.classes.size());
    single.extents = config.extents;
    single.controller.steps = config.controller.steps;
    single.controller.signals = config.controller.signals;
    single.classes = config.classes;
    single.element_class.assign(config.classes.size(), -1);
    for (int32_t number : config.element_class)
        if (number >= 0) single.element_class[size_t(number)] = number;
    single.wrappers.emplace_back();
    single.wrapper.assign(config.classes.size(), 0);
    return single;
}

}  // namespace polyloom::tcpa
