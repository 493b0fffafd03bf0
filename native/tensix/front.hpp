// SPDX-License-Identifier: Apache-2.0
// What a word of a thread passes before the units: push FIFO, MOP expander, Replay expander, and the FIFOs between.
// One `move` per cycle, oldest stage first; a stage that has no room behind it waits. The wait gate is the head of
// `gate`. Sources: facts 1.0 and 1.3; tensix.md, "Machine".
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "state.hpp"
#include "unit.hpp"

namespace polyloom::tensix {

constexpr uint32_t OP_MOP = 0x01, OP_NOP = 0x02, OP_MOP_CFG = 0x03, OP_REPLAY = 0x04;

// A word, the address it was pushed from, its number among the words pushed by hand (from 1 on, 0 for a core's), and
// the cycle in which it was pushed. What is expanded or played back has the cycle of the word that asked for it.
struct Entry {
    Word word = 0;
    uint32_t pc = 0, index = 0, pushed = 0;
};

template <class T, uint32_t SIZE>
struct Fifo {
    [[nodiscard]] bool empty() const { return count == 0; }
    [[nodiscard]] bool full() const { return count == SIZE; }
    [[nodiscard]] const T& front() const { return items[head]; }
    void push(const T& item) { items[(head + count++) % SIZE] = item; }
    T pop() {
        const T item = items[head];
        head = (head + 1) % SIZE, --count;
        return item;
    }
    uint32_t head = 0, count = 0;
    std::array<T, SIZE> items{};
};

// Where an expansion stands. Templates are read when they are emitted: who rewrites them meanwhile changes the rest.
struct Expander {
    std::array<uint32_t, 9> config{};
    uint32_t mask_high = 0;

    void start(Word word);
    [[nodiscard]] bool active() const { return step != DONE; }
    // The word whose turn it is; then goes on to the next one, if any.
    Word emit();

  private:
    enum Step : uint8_t { BEGIN, FIRST, SECOND, THIRD, FOURTH, LAST, DONE };
    void settle();
    void settle_unpack();
    void settle_loops();
    [[nodiscard]] uint32_t slot() const;
    bool loops = false;
    Step step = DONE;
    uint32_t mask = 0, outer = 0, inner = 0, outers = 0, inners = 0;
};

struct Replay {
    std::array<Entry, 32> buffer{};
    uint32_t at = 0, play = 0, record = 0, pushed = 0;
    bool passes = false;
};

// Counts of instructions: into the MOP expander, out of it, out of the Replay expander.
struct Passed {
    uint64_t in = 0, mop = 0, replay = 0;
};

struct Front {
    Fifo<Entry, 2> gate, middle;
    std::optional<Entry> back_door, lost;  // B's word, which enters behind the MOP expander; one that collided with it
    Entry expanding;                       // the MOP under way
    bool bubble = false;                   // the cycle behind an expansion
    Passed passed;
    Fifo<Entry, 32> pushed;
    Expander mop;
    Replay replay;

    [[nodiscard]] bool expander_idle() const { return pushed.empty() && !mop.active(); }
    [[nodiscard]] bool empty() const {
        return pushed.empty() && middle.empty() && gate.empty() && !back_door && !mop.active() && !replay.play;
    }
    // Whether a cycle can change anything.
    [[nodiscard]] bool moves() const { return pushed.count | middle.count || expands(); }
    // A cycle; whether anything moved. `lost` is a word that collided with B's.
    bool move();

  private:
    // Whether anything but words that stay as they are is under way.
    [[nodiscard]] bool expands() const {
        return replay.play | replay.record | mop.active() | back_door.has_value() | bubble | lost.has_value();
    }
    bool move_plain();
    bool move_replay();
    bool move_mop();
    std::optional<Entry> expand(bool room, bool& moved);
};

}  // namespace polyloom::tensix
