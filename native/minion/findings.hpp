// SPDX-License-Identifier: Apache-2.0
// What is wrong with a program: hazards, each place once with a count. A place is a kind and two instructions. Source
// of the kinds: the programmer's reference manual, "TensorWait", and minion.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace polyloom::minion {

// Who did something: a hart by its number, at which instruction, in which cycle (0 where that was not kept).
struct Site {
    uint32_t hart = 0;
    uint64_t pc = 0, cycle = 0;
};

enum class Response : uint8_t { off, report, error, poison };

enum class Hazard : uint8_t {
    scp_read,          // L1Scp lines are read that a load may still write
    scp_write,         // L1Scp lines are overwritten that an operation may still read or write
    port,              // an operation that needs another to have left the L1Scp
    register_access,   // f registers that an operation may still read or write
    flags,             // fcsr is read while an operation may still add flags
    error,             // tensor_error is read while an operation may still set a bit
    memory_read,       // bytes are read that an operation may still write
    memory_write,      // bytes are written that an operation may still read or write
    cache_operation,   // bytes are accessed on which a cache operation may still work
    stale_read,        // bytes are read whose newest value is elsewhere
    shared_line,       // a line is dirty in two L1s
    undrained_store,   // bytes are read that wait in a shire's write buffer
    two_peers,         // two minions are ready for one sender
    count_mismatch,    // two sides of a transfer name different numbers of registers
    barrier_mismatch,  // the harts of a barrier name different numbers of participants
    credit_overflow,   // a counter of credits wraps
    lost_credit,       // a credit for a minion that was not started: a warning
    erratum_129,       // a register of a tensor operation is read before it was refreshed
    barrier_left,      // harts have joined a barrier that was not full when the run ended
    unfinished,        // a transfer without its partner, or a LoadB without its FMA, when the run ends
    undefined,         // an operand of which the manual says that the result is undefined
    tensor_error,      // an instruction has set a bit of tensor_error: a report
    ignored_bits,      // bits of an operand are set that the operation ignores: a warning
    count
};

constexpr unsigned HAZARDS = unsigned(Hazard::count);
inline constexpr std::array<const char*, HAZARDS> HAZARD_NAMES = {
    "scp_read",        "scp_write",       "port",         "register_access", "flags",
    "error",           "memory_read",     "memory_write", "cache_operation", "stale_read",
    "shared_line",     "undrained_store", "two_peers",    "count_mismatch",  "barrier_mismatch",
    "credit_overflow", "lost_credit",     "erratum_1.29", "barrier_left",    "unfinished",
    "undefined",       "tensor_error",    "ignored_bits",
};

// Kinds that do not end a run under `error`: the machine does what its manual says, or the program may look itself.
constexpr bool goes_on(Hazard kind) {
    return kind == Hazard::lost_credit || kind == Hazard::tensor_error || kind == Hazard::ignored_bits;
}

// `what` names the line, register or counter; `wait` is the tensor_wait that is missing, -1 where none would do.
// `value` is an address of memory, or a number that belongs to the kind.
struct Finding {
    Hazard kind{};
    Site later, earlier;
    const char *later_name = "", *earlier_name = "";  // what the instructions are: "tensor_load", "store"
    std::string what;
    std::string cure;
    uint64_t value = 0, count = 1;
    int wait = -1;
    uint32_t standing = 0;  // of what sets a bit of tensor_error: in how many harts it is set when the run ends
};

class Findings {
  public:
    explicit Findings(Response policy = Response::error) : policy(policy) {}

    // Counts a finding, or makes it a new place, unless the checks are off. Of a place, what was found first is kept.
    void add(Finding finding) {
        if (on()) keep(std::move(finding));
    }
    // The same, whether the checks are on or off; the number of its place.
    uint32_t keep(Finding finding);
    // Counts a hart in which what a place has set is still set.
    void stands(uint32_t place) { ++list[place].standing; }
    [[nodiscard]] const std::vector<Finding>& all() const { return list; }
    [[nodiscard]] bool on() const { return policy != Response::off; }

    Response policy;
    bool stop = false;  // under `error`: the run has to end at the first

  private:
    std::vector<Finding> list;
    std::unordered_map<uint64_t, std::vector<uint32_t>> places;  // by a hash of the place
};

}  // namespace polyloom::minion
