// SPDX-License-Identifier: Apache-2.0
// The static run of a configuration by kinds: one element per class runs, and every FIFO, bank and address is compared
// with what these runs took and gave, once for each of its kinds. A kind is what a FIFO's events depend on: the classes
// at both ends, their registers, and the cycles between their starts (for a bank, its domain and delay instead of a
// class). Elements whose kinds were met before cost a look-up, so that a million of them take about a second.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "model.hpp"

namespace polyloom::tcpa {

// Memory that `run_kinds` takes.
uint64_t kinds_bytes(const Config& config);

// What `run` gives with `check_only` where that finds nothing to name a place for: no fault, and nothing late, unread
// or idle. Otherwise nothing, and `run` says what is wrong, and where.
std::optional<Result> run_kinds(const Config& config, const Machine& machine,
                                const std::function<void(int64_t)>& poll = {});

}  // namespace polyloom::tcpa
