// SPDX-License-Identifier: Apache-2.0
#include "front.hpp"

namespace polyloom::tensix {

namespace {

bool nop(uint32_t word) { return opcode(word) == OP_NOP; }

}  // namespace

void Expander::start(Word word) {
    loops = field(word, 23, 23);
    step = BEGIN, outer = inner = 0;
    if (!loops) {
        outers = field(word, 22, 16) + 1;
        mask = mask_high << 16 | field(word, 15, 0);
        step = FIRST;
        return;
    }
    outers = config[0] & 127, inners = config[1] & 127;
    // The bug of the machine: a single empty outer iteration with an end.
    if (outers == 1 && nop(config[2]) && inners == 0 && !nop(config[3])) outers += 128;
    if (!nop(config[6])) inners *= 2;
    settle();
}

void Expander::settle() { loops ? settle_loops() : settle_unpack(); }

// Template 0: A0 [A1 A2 A3] [B], or with a set mask bit SkipA0 [SkipB]: FIRST, SECOND to FOURTH, LAST.
void Expander::settle_unpack() {
    while (step != DONE) {
        const bool skips = mask & 1;
        if (step == FIRST) return;
        if (step < LAST && !skips && (config[1] & 2)) return;
        if (step < LAST) step = LAST;
        if (step == LAST && (config[1] & 1)) return;
        mask >>= 1;
        step = ++outer == outers ? DONE : FIRST;
    }
}

// Template 1: BEGIN is Start, FIRST the inner loop, SECOND End0, THIRD End1.
void Expander::settle_loops() {
    while (step != DONE) {
        if (outer >= outers) step = DONE;
        if (step == BEGIN && !nop(config[2])) return;
        if (step == BEGIN) step = FIRST;
        if (step == FIRST && inner < inners) return;
        if (step == FIRST) step = nop(config[3]) ? LAST : SECOND;
        if (step == SECOND) return;
        if (step == THIRD && !nop(config[4])) return;
        if (step == THIRD || step == FOURTH) step = LAST;
        if (step == LAST) step = BEGIN, inner = 0, ++outer;
    }
}

uint32_t Expander::slot() const {
    if (!loops) {
        const bool skips = mask & 1;
        if (step == FIRST) return skips ? 7 : 3;
        if (step == LAST) return skips ? 8 : 2;
        return 3u + uint32_t(step - FIRST);
    }
    if (step == BEGIN) return 2;
    if (step == SECOND) return 3;
    if (step == THIRD) return 4;
    if (inner + 1 == inners) return outer + 1 == outers ? 7 : 8;
    return nop(config[6]) || inner % 2 == 0 ? 5 : 6;
}

Word Expander::emit() {
    const Word word = config[slot()];
    if (loops && step == FIRST)
        ++inner;
    else if (!loops && step == LAST)
        mask >>= 1, step = ++outer == outers ? DONE : FIRST;
    else
        step = Step(step + 1);
    settle();
    return word;
}

bool Front::move() {
    if (!expands()) return move_plain();
    lost.reset();
    const bool replayed = move_replay();
    return move_mop() || replayed;
}

// What move_replay and move_mop do while neither is at work; they see to the words that set them to work.
bool Front::move_plain() {
    bool moved = false;
    if (!middle.empty()) {
        if (opcode(middle.front().word) == OP_REPLAY)
            moved = move_replay();
        else if (!gate.full())
            gate.push(middle.pop()), ++passed.replay, moved = true;
    }
    if (pushed.empty()) return moved;
    const uint32_t op = opcode(pushed.front().word);
    if (op == OP_MOP || op == OP_MOP_CFG) return move_mop() || moved;
    if (middle.full()) return moved;
    middle.push(pushed.pop()), ++passed.in, ++passed.mop;
    return true;
}

bool Front::move_replay() {
    bool started = false;
    if (replay.play == 0) {
        if (middle.empty()) return false;
        const Word word = middle.front().word;
        if (replay.record) {
            if (replay.passes && gate.full()) return false;
            const Entry entry = middle.pop();
            replay.buffer[replay.at++ % 32] = entry;
            --replay.record;
            if (replay.passes) gate.push(entry), ++passed.replay;
            return true;
        }
        if (opcode(word) != OP_REPLAY) {
            if (gate.full()) return false;
            gate.push(middle.pop()), ++passed.replay;
            return true;
        }
        replay.pushed = middle.pop().pushed;
        const uint32_t length = field(word, 9, 4) ? field(word, 9, 4) : 64;
        replay.at = field(word, 18, 14);
        replay.passes = field(word, 1, 1);
        (field(word, 0, 0) ? replay.record : replay.play) = length;
        if (replay.record) return true;
        started = true;
    }
    if (gate.full()) return started;
    Entry played = replay.buffer[replay.at++ % 32];
    played.pushed = replay.pushed;
    gate.push(played), ++passed.replay;
    --replay.play;
    return true;
}

// What the expander gives this cycle, if anything; taken from it only where there is room or B's word takes the place.
std::optional<Entry> Front::expand(bool room, bool& moved) {
    if (!mop.active()) {
        if (pushed.empty()) {
            bubble = false;
            return {};
        }
        const Entry next = pushed.front();
        const uint32_t op = opcode(next.word);
        if (bubble && op != OP_MOP) {
            bubble = false, moved = true;
            return {};
        }
        bubble = false;
        if (op == OP_MOP_CFG) {
            mop.mask_high = field(next.word, 15, 0);
            pushed.pop(), ++passed.in, moved = true;
            return {};
        }
        if (op != OP_MOP) {
            if (!room) return {};
            pushed.pop(), ++passed.in, moved = true;
            return next;
        }
        expanding = pushed.pop();
        mop.start(expanding.word);
        ++passed.in, moved = true;
    }
    if (!mop.active() || !room) return {};
    Entry made = expanding;
    made.word = mop.emit();
    moved = true, bubble = !mop.active();
    return made;
}

bool Front::move_mop() {
    bool moved = false;
    const bool room = !middle.full();
    if (mop.active() ? !room : pushed.empty() && !bubble && !back_door) return false;
    std::optional<Entry> made = expand(room, moved);
    if (back_door && room) {
        lost = made, made = back_door;
        back_door.reset(), moved = true;
    }
    if (made) middle.push(*made), ++passed.mop;
    return moved;
}

}  // namespace polyloom::tensix
