// SPDX-License-Identifier: Apache-2.0
// Counts the executions of a litmus test that RVWMO allows, by sets of operations that a global memory order may begin
// with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace polyloom::riscv {

inline constexpr unsigned KEY_FIELDS = 21;  // of six bits, in the key of a table

// An operation; operations are numbered, and sets of them are bit masks. Values are numbered below 64.
struct Event {
    // Those that precede it in every execution: preserved program order, and those that a store follows at its
    // location.
    uint64_t before;
    uint64_t sources;  // of a store: those that a load which is forwarded from it follows (rule 12)
    // Of a load: those before which no other hart may store, once it has read (rule 2, and the atomicity axiom).
    uint64_t guard;
    uint64_t possible;  // of a load: the values that it may read
    int32_t own;        // of a load: the store of its hart before it at its location, -1 for none
    uint8_t hart, location, value;
    bool writes, late;  // late: the store is not forwarded (rule 3)
    int8_t field;       // of a load whose value is kept: where in the key; -1 for others
};

struct Location {
    uint8_t initial;
    int8_t field;  // where the last value is kept, -1 if it matters nowhere
    bool final;    // it matters at the end
};

// What is kept, field by field (the key), with the number of executions.
using Key = unsigned __int128;
using Counted = std::vector<std::pair<Key, unsigned __int128>>;

// None where sets are extended in more than `most` ways, or more than `steps` entries would be made; those are left
// that were not needed. At most 63 events; counts are exact below 2^128.
std::optional<Counted> executions(const std::vector<Event>& events, const std::vector<Location>& locations, size_t most,
                                  uint64_t& steps);

}  // namespace polyloom::riscv
