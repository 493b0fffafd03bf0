// SPDX-License-Identifier: Apache-2.0
// Why no hart can run: who waits, for what, since when, and who could release it. The chip tells of credits and joins
// while it runs, and of who is blocked when nothing can happen any more; words are made in Python.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "findings.hpp"
#include "wait.hpp"

namespace polyloom::minion {

// An operation in a place of a minion's tensor unit that has not completed.
struct Held {
    uint32_t minion = 0;
    uint8_t event = 0;   // its tensor_wait: 0 to 3 loads, 7 FMA, 8 store, 9 reduce family, 10 quant; 16 LoadB
    uint8_t head = 1;    // nothing older keeps it from starting
    uint64_t value = 0;  // the word that was written
    uint64_t pc = 0, accepted = 0;
};

// A hart that is blocked, as its Wait says; also those that have ended.
struct Blocked {
    uint32_t hart = 0;
    Wait wait;
};

// A node of the explanation. `hart` waits; or, where `operation`, an operation of that hart's minion does.
struct Reason {
    uint32_t hart = 0;
    bool operation = false;
    uint64_t pc = 0, since = 0;
    std::string kind;  // place, event, registers, credit, interrupt; of operations: transfer, pair, behind, runs
    std::string text;  // in words, without names of places: "receives 32 registers from minion 7"
    std::vector<uint32_t> releasers;  // harts that could release it
    std::string note;                 // what is wrong for sure: "minion 7 names 16 registers"
    std::vector<Site> gave;           // for credits: instructions that gave one before
};

class Deadlock {
  public:
    explicit Deadlock(unsigned minions);

    // A hart has stored to CREDINC: `hart` gets a credit of `counter`.
    void credited(const Site& giver, uint32_t hart, unsigned counter);
    // A join of a barrier; `last`: it fired.
    void joined(const Site& site, unsigned shire, unsigned barrier, unsigned participants, bool last);

    // All that wait, harts first, each with its reason.
    [[nodiscard]] std::vector<Reason> explain(const std::vector<Blocked>& blocked, const std::vector<Held>& held) const;

  private:
    struct State;  // of all harts and operations when nothing could happen any more

    struct Join {
        Site site;
        unsigned shire = 0, barrier = 0, participants = 0;
        uint64_t round = 0;
        bool any = false;
    };
    // Harts of its shire, as bits: in this round, and in any.
    struct Barrier {
        uint64_t round = 0, joined = 0, ever = 0;
    };
    struct Gift {
        Site giver;
        uint64_t count = 0;
    };

    [[nodiscard]] Reason of_hart(const Blocked& hart, const State& state) const;
    [[nodiscard]] Reason of_operation(const Held& held, const State& state) const;
    void of_credit(Reason& reason, const Blocked& hart, const State& state) const;
    void of_transfer(Reason& reason, const Held& held, const State& state) const;

    unsigned minions;
    std::vector<Join> joins;                                // the last one of a hart
    std::vector<std::array<Barrier, 32>> barriers;          // by shire
    std::unordered_map<uint64_t, std::vector<Gift>> gifts;  // by hart and counter; one for each instruction and giver
};

}  // namespace polyloom::minion
