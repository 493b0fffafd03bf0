// SPDX-License-Identifier: Apache-2.0
// What each instruction of the vector unit reads and writes, and when its result is there (facts §1.2, §1.10).
// Registers that L7 names are those that it names now, in the lanes that execute.
#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

constexpr uint32_t bit(int index) { return 1u << index; }

uint32_t named(const State& state) {
    const uint32_t lanes = enabled(state.vector);
    uint32_t made = 0;
    for (int k = 0; k < LANES; ++k)
        if (lanes >> k & 1) made |= bit(int(state.vector.registers[7][k] & 15));
    return made;
}

void mad(Timing& timing, const State& state, const Operation& op) {
    const bool table = op.code == Code::Lut || op.code == Code::LutWide;
    const bool immediate = op.code == Code::MulImmediate || op.code == Code::AddImmediate;
    const bool indirect = op.mod & 8 && op.vd != 16;
    timing.latency = 2;
    timing.interlocked = state.member == Member::Blackhole;
    if (table)
        timing.reads = op.code == Code::Lut || (op.mod & 10) == 10 ? 0xF : 0x7F;
    else if (immediate)
        timing.reads = bit(op.vc) | bit(op.code == Code::MulImmediate ? 9 : 10);
    else
        timing.reads = bit(op.vb) | bit(op.vc) | (op.mod & 4 ? named(state) | bit(7) : bit(op.va));
    if (indirect) timing.reads |= bit(7);
    timing.writes = indirect ? named(state) & 0xFF : bit(op.vd);
}

void shuffle(Timing& timing, const State& state, const Operation& op) {
    if (op.mod >= 2 && op.mod <= 4) {
        timing.latency = 2, timing.shuffles = true;
        timing.interlocked = state.member == Member::Blackhole;
    }
    timing.reads = op.mod < 3 ? 0xF : 0;
    if (op.mod >= 2 && op.mod <= 5) timing.reads |= bit(op.vc);
    if (op.mod >= 5) timing.reads |= bit(op.vb);
    timing.writes = op.mod < 3 ? 0xF : bit(op.vd);
}

void swap(Timing& timing, const State& state, const Operation& op) {
    timing.busy = timing.latency = 2, timing.interlocked = true;
    timing.reads = bit(op.vc) | bit(op.vd);
    if (any_config(state.vector) & WITH_INDEX) timing.reads |= bit(4 + (op.vc & 3)) | bit(4 + (op.vd & 3));
    timing.writes = timing.reads & 0xFF;
}

Blocks blocks(const State& state, const Operation& op, int thread) {
    const auto [mode, address] = place(state, op, thread);
    const bool store = op.code == Code::Store;
    const bool wide = mode == 3 || mode == 4 || mode == 10 || mode == 12 || (store && (mode == 7 || mode == 9));
    const uint32_t row = address & 0x3F8;
    if (!wide) return {uint16_t(row), 8};
    return {uint16_t((row & 0x1F8) << 1 | (row & 0x200)), 16};
}

void memory(Timing& timing, const State& state, const Operation& op, int thread) {
    if (op.code == Code::Store) {
        timing.reads = bit(op.vd);
        timing.dst_writes = blocks(state, op, thread);
        return;
    }
    timing.writes = bit(op.vd);
    if (op.mod == 14 || op.mod == 15) timing.reads = bit(op.vd);
    if (op.mod != 11) timing.dst_reads = blocks(state, op, thread);
    if (op.vd < 4 && (any_config(state.vector) & (WITH_INDEX | CAPTURE_INDEX)) == (WITH_INDEX | CAPTURE_INDEX))
        timing.writes |= bit(op.vd + 4);
}

void simple(Timing& timing, const State& state, const Operation& op) {
    const bool both = op.code == Code::And || op.code == Code::Or || op.code == Code::Xor ||
                      op.code == Code::LessEqual || op.code == Code::Greater || op.code == Code::Shift;
    const bool fields = op.code == Code::SetExp || op.code == Code::SetMan || op.code == Code::SetSign;
    const bool immediate = op.mod & 1;
    if (op.code == Code::Transpose) {
        timing.reads = timing.writes = 0xFF;
        return;
    }
    timing.reads = bit(op.vc), timing.writes = bit(op.vd);
    if (both || (fields && !immediate) || (op.code == Code::IAdd && !immediate)) timing.reads |= bit(op.vb);
    if (op.code == Code::Shift && immediate && !(state.member == Member::Blackhole && op.mod & 4))
        timing.reads &= op.vc == op.vb ? ~0u : ~bit(op.vc);
    const bool compares = op.code == Code::LessEqual || op.code == Code::Greater;
    const bool flags = (op.code == Code::IAdd && (op.mod & 12) != 4) || (op.code == Code::ExExp && op.mod & 10) ||
                       (op.code == Code::LeadingZeros && op.mod & 10) || (compares && op.mod & 3);
    if (flags) timing.writes |= FLAGS_BIT;
    if (compares && !(op.mod & 8)) timing.writes &= FLAGS_BIT;
}

// Dst's rows, what LaneConfig says, and registers that L7 names.
bool depends(const Operation& op) {
    const bool memory = op.code == Code::Load || op.code == Code::Store || op.code == Code::LoadMacro;
    const bool configured = op.code == Code::Swap || (op.vd >= 12 && capturable(op.code));
    return memory || configured || (sub_unit(op.code) == SubUnit::Mad && op.mod & 12);
}

Timing timing(const State& state, const Operation& op, int thread) {
    Timing timing;
    timing.unit = Unit::Vector;
    switch (op.code) {
        case Code::Nop:
        case Code::None: return timing;
        case Code::Load:
        case Code::Store:
        case Code::LoadMacro: memory(timing, state, op, thread); break;
        case Code::LoadImmediate:
            timing.writes = bit(op.vd);
            if (op.mod & 8) timing.reads = bit(op.vd);
            break;
        case Code::Swap: swap(timing, state, op); break;
        case Code::Shuffle: shuffle(timing, state, op); break;
        case Code::Round:
            timing.reads = bit(op.vc) | ((op.mod & 6) == 4 && !(op.mod & 8) ? bit(op.vb) : 0);
            timing.writes = bit(op.vd);
            break;
        case Code::Mov:
            timing.reads = op.mod & 8 ? 0 : bit(op.vc);
            timing.writes = bit(op.vd);
            break;
        case Code::Config:
            timing.reads = op.mod & 1 && op.vd >= 4 ? 0 : bit(0);
            timing.writes = op.vd >= 11 && op.vd <= 14 ? bit(op.vd) : 0;
            break;
        case Code::SetCC: timing.reads = op.mod & 9 ? 0 : bit(op.vc), timing.writes = FLAGS_BIT; break;
        case Code::EnableCC:
        case Code::Push:
        case Code::Pop:
        case Code::Complement: timing.writes = FLAGS_BIT; break;
        default:
            if (sub_unit(op.code) == SubUnit::Mad)
                mad(timing, state, op);
            else
                simple(timing, state, op);
    }
    timing.reads |= FLAGS_BIT;
    // L8 to L15 are never written but by SFPCONFIG; a word with such a VD writes nothing, or is captured.
    if (op.code != Code::Config) timing.writes &= 0x100FF | FLAGS_BIT;
    if (op.vd >= 12 && capturable(op.code) && configured(state.vector, NO_BACKDOOR) != ALL) {
        timing = Timing{};
        timing.unit = Unit::Vector;
    }
    return timing;
}

}  // namespace

Prepared prepared(const State& state, Word word) {
    const Operation op = decoded(word, state.member);
    return {word, depends(op), op, timing(state, op, 0)};
}

Timing timing(const State& state, const Prepared& word, int thread) {
    return word.depends ? timing(state, word.op, thread) : word.timing;
}

Timing timing(const State& state, Word word, int thread) { return timing(state, decoded(word, state.member), thread); }

}  // namespace polyloom::tensix::vector
