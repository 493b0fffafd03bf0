// SPDX-License-Identifier: Apache-2.0
// Programs as the model steps through them, from the words of a configuration.
#pragma once

#include <array>
#include <vector>

#include "state.hpp"

namespace polyloom::tcpa {

// By class, unit, instruction; the last one stands for all beyond.
using Programs = std::vector<std::vector<std::vector<Code>>>;
using Coverages = std::vector<std::vector<std::vector<Coverage>>>;

// For a static run `coverage` gets a place for every instruction, and immediates become `any_type`; otherwise it is
// null.
Programs decode(const Config& config, const Machine& machine, Coverages* coverage);

// Registers of each file (rd, fd, id, od) that a class's programs or an element's wires name.
std::array<size_t, 4> registers_used(const ElementProgram& element, const std::vector<Connection>& wrapper);

// The same programs and signals on a row of one element per class that occurs, unconnected, all of which start in cycle
// 0.
Config one_of_each(const Config& config);

}  // namespace polyloom::tcpa
