// SPDX-License-Identifier: Apache-2.0
// A program's words, decoded once: bundles whose operations stand in the order in which they act.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "table.hpp"

namespace polyloom::belt {

// What the model knows of the member (docs/formats.md, Belt programs).
struct Member {
    unsigned belt, vector;
    bool phasing;
    unsigned least_delay, most_delay, stations, scratch;
    std::vector<std::array<uint8_t, widths>> latencies;  // by operation
};

// One of a list's operands: a position, or a None of a width.
struct Item {
    uint8_t position, width;
};
constexpr uint8_t no_position = 0xff;

struct Kind {
    uint8_t width, lanes_log;
};

struct Issue {
    Op op;
    Action action;
    uint8_t slot;  // kind * 32 + number
    uint8_t width = shapeless, lanes_log = 0;
    uint8_t count = 0;  // operands, without the list
    uint8_t position[3] = {};
    uint8_t scale = 0, delay = 0;
    bool immediate = false;  // the last operand is `constant`
    bool rotating = false;   // fill, spill
    uint16_t target = 0;     // a bundle of the routine, or a routine
    uint16_t frame = 0, frames = 0;
    int32_t offset = 0;
    uint32_t first_item = 0, items = 0;
    uint32_t constant = 0;  // con, immediate
    const Kernels* kernels = nullptr;
};

// Operations of phase p are issues[ends[p - 1]] to issues[ends[p]].
struct Bundle {
    uint32_t first = 0;
    std::array<uint8_t, 5> ends{};
    uint8_t drops = 0;
    bool rotate = false;
    uint8_t reach = 0;    // positions that are read, at most
    uint16_t others = 0;  // drops of phases R, K and P
    uint32_t next = 0;    // in the program
};

struct Routine {
    uint32_t first, bundles;
    std::vector<Kind> parameters, results;
};

struct Program {
    Member member;
    std::vector<Routine> routines;
    std::vector<Bundle> bundles;
    std::vector<Issue> issues;
    std::vector<Item> items;
    std::vector<Value> constants;
};

constexpr uint32_t nowhere = ~0u;  // what follows a routine's last bundle

// The words are not as docs/formats.md says, from the byte `at` on.
struct Malformed : std::runtime_error {
    Malformed(size_t at, const std::string& what) : std::runtime_error(what), at(at) {}
    size_t at;
};

Program decode(Member member, std::span<const uint8_t> code);

// Of a number of things in a message: `1 operand`, `2 operands`.
std::string count_of(long number, const char* thing);

// Of a slot, as in listings: E0, F2.
std::string slot_name(unsigned slot);

}  // namespace polyloom::belt
