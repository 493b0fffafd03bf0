// SPDX-License-Identifier: Apache-2.0
// What the model keeps while it runs: decoded instructions, registers, FIFOs, outputs, elements and generators at work.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "config.hpp"
#include "domain.hpp"
#include "model.hpp"
#include "operations.hpp"
#include "queue.hpp"
#include "wires.hpp"

namespace polyloom::tcpa {

constexpr int64_t never = std::numeric_limits<int64_t>::max();
constexpr uint32_t any_type = 15;  // of an immediate, in a static run
constexpr size_t max_destinations = 15, max_signals = 15;

// An instruction, decoded once per class. Destinations are sorted by file: first rd, then fd, then od. FIFOs have one
// numbering, in which the fds of an element come before its ids.
struct Code {
    uint16_t opcode = opcode_nop;
    uint8_t sources = 0;
    Branch branch = Branch::next;
    bool special = false;  // needs a look before it issues: no such operation, blocking unit, or a division
    bool outside = false;  // stands after a program's last instruction and for all targets beyond
    uint8_t to_general = 0, to_feedback = 0, to_output = 0;
    std::array<File, max_sources> file{};  // rd, fd for any FIFO, immediate
    uint8_t signals = 0;
    uint16_t latency = 0, holds = 1;         // and cycles until the unit may issue again
    std::array<Word, max_sources> source{};  // a register, or an immediate
    Function function = nullptr;
    std::vector<const Code*> targets;
    std::array<uint8_t, max_destinations> destination{};
    std::array<uint8_t, max_signals> signal{};
    std::array<uint8_t, max_destinations> position{};  // of a destination in the instruction's words
    Coverage* coverage = nullptr;
    mutable int64_t executed = 0;  // cycles, in all elements of the class
};

// A general register. Writes under way wait in order of readiness: the next one here, where the model looks in every
// cycle, those after it in a queue of their own.
struct General {
    Token next;
    Word value = 0;
    bool defined = false, read = false, waiting = false, more = false;

    // False for a second write with the same ready cycle.
    bool write(Token token, Queue& later) {
        if (!waiting) {
            next = token;
            return waiting = true;
        }
        if (next.ready == token.ready) return false;
        if (token.ready < next.ready) std::swap(token, next);
        return more = later.insert(token);
    }

    void take_next(Queue& later) {
        value = next.value;
        defined = true;
        read = false;
        waiting = more;
        if (!more) return;
        next = later.front();
        later.pop();
        more = !later.empty();
    }
};

// A token FIFO, or what arrives at a border port; `arrived` counts the tokens that were ready at the last pop.
struct alignas(64) Fifo {
    Queue tokens;
    int64_t last_pop = -1;
    uint32_t arrived = 0, high = 0, depth = 0, element = 0;
    uint8_t index = 0;
    bool feedback = false, driven = false, fed = false, is_port = false;
};

struct Sink {
    Fifo* fifo;
    int64_t delay;
};

struct Output {
    std::vector<Sink> sinks;
    Queue pending;
    int64_t latest = -1, links = 0, registers = 0;  // over all sinks: crossings, and how many are registers

    // False for a second write with the same ready cycle.
    bool write(int64_t ready, int64_t now, bool uniform) {
        if (!uniform) {
            while (!pending.empty() && pending.front().ready <= now) pending.pop();
            if (!pending.insert({ready, 0})) return false;
        } else if (ready == latest) {
            return false;
        }
        latest = ready;
        return true;
    }
};

struct UnitState {
    const Code* at;
    int32_t unit;
    int64_t free = 0;
    const std::vector<Code>* program = nullptr;
    uint64_t* held = nullptr;  // of the account: cycles of all such units of the class

    size_t pc() const { return size_t(at - program->data()); }
};

struct Element {
    uint32_t index = 0, inputs = 0;  // `inputs` is the number of the first id among the FIFOs
    int32_t number = 0;
    int64_t start = 0, step = 0, slot = 0;
    const uint64_t* signals = nullptr;  // of this step
    std::vector<UnitState> running;
    std::span<General> general;
    std::span<Queue> later;  // by general register
    std::span<Fifo> fifos;
    std::span<Output> output;
};

struct Bank {
    int64_t last_access = -1;
};

// A generator at work: the sinks that it feeds, or the exit that it takes from.
struct Stream {
    const Generator* generator;
    BorderPort port;
    Scan scan;
    int64_t due = never;
    uint64_t words = 0;
    Bank* bank = nullptr;
    std::vector<Sink>* sinks = nullptr;
    Fifo* exit = nullptr;
    int64_t accesses = 0;
};

// Generators by their next step, those of one cycle in the order of the file; most have nothing to do in most cycles.
struct Streams {
    std::vector<Stream> all;
    std::vector<std::pair<int64_t, uint32_t>> waiting;  // a heap

    int64_t next() const { return waiting.empty() ? never : waiting.front().first; }

    void add(Stream stream) {
        all.push_back(std::move(stream));
        if (all.back().due != never) wait(all.back());
    }

    void wait(const Stream& stream) {
        waiting.emplace_back(stream.due, uint32_t(&stream - all.data()));
        std::push_heap(waiting.begin(), waiting.end(), std::greater<>());
    }

    Stream& pop() {
        std::pop_heap(waiting.begin(), waiting.end(), std::greater<>());
        Stream& stream = all[waiting.back().second];
        waiting.pop_back();
        return stream;
    }
};

}  // namespace polyloom::tcpa
