// SPDX-License-Identifier: Apache-2.0
// Which lines an L1 holds, for time: 16 sets of 4 ways, of which the modes give each hart its own. Bytes are in memory
// (memory.hpp), and who sees them is in the record. Source: facts §4.
#pragma once

#include "state.hpp"

namespace polyloom::minion {

constexpr uint64_t LINE_MASK = ~uint64_t(LINE - 1);

inline unsigned set_of(L1Mode mode, unsigned thread, uint64_t address) {
    const auto line = unsigned(address / LINE);
    if (mode == L1Mode::shared) return line % 16;
    if (thread) return 14 + line % 2;
    return mode == L1Mode::split ? line % 8 : 12 + line % 2;
}

// The way of a line, which is then the one used last; WAYS where it is not there.
inline unsigned touch(L1Tags& l1, unsigned set, uint64_t address) {
    const uint64_t wanted = (address & LINE_MASK) | L1Tags::USED;
    for (unsigned way = 0; way < L1Tags::WAYS; ++way)
        if ((l1.tag[set][way] & ~L1Tags::LOCKED) == wanted) {
            l1.touched[set][way] = ++l1.clock;
            return way;
        }
    return L1Tags::WAYS;
}

// Takes a line in, which comes in a cycle, for the one that was used longest ago and is not locked.
inline void insert(L1Tags& l1, unsigned set, uint64_t address, uint64_t there) {
    unsigned victim = L1Tags::WAYS;
    for (unsigned way = 0; way < L1Tags::WAYS; ++way) {
        if (l1.tag[set][way] & L1Tags::LOCKED) continue;
        if (victim == L1Tags::WAYS || l1.touched[set][way] < l1.touched[set][victim]) victim = way;
    }
    if (victim == L1Tags::WAYS) return;
    l1.tag[set][victim] = (address & LINE_MASK) | L1Tags::USED;
    l1.touched[set][victim] = ++l1.clock, l1.there[set][victim] = there;
}

inline void drop(L1Tags& l1, unsigned set, uint64_t address) {
    for (unsigned way = 0; way < L1Tags::WAYS; ++way)
        if ((l1.tag[set][way] & LINE_MASK) == (address & LINE_MASK) && l1.tag[set][way])
            l1.tag[set][way] = 0, l1.touched[set][way] = 0;
}

inline void clear(L1Tags& l1, unsigned sets) {
    for (unsigned set = 0; set < sets; ++set) l1.tag[set] = {}, l1.touched[set] = {};
}

}  // namespace polyloom::minion
