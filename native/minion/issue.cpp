// SPDX-License-Identifier: Apache-2.0
#include "issue.hpp"

#include "core.hpp"
#include "riscv/table.hpp"

namespace polyloom::minion {

namespace {

using riscv::Op;

// Control registers whose writes do not wait until the hart's pipeline is empty. Source: facts §2.
bool overlaps(unsigned number) {
    switch (number) {
        case 0x800:  // reduce
        case 0x801:  // fma
        case 0x803:  // conv_ctrl
        case 0x804:  // coop
        case 0x806:  // quant
        case 0x81f:  // prefetch_va
        case 0x820:  // flb
        case 0x821:  // fcc
        case 0x830:  // wait
        case 0x83f:  // load
        case 0x85f:  // load_l2
        case 0x87f:  // store
        case 0x89f:  // evict_va
        case 0x8bf:  // flush_va
        case 0x8df:  // lock_va
        case 0x8ff: return true;
        default: return false;
    }
}

bool is_load(Op op) { return op >= Op::LB && op <= Op::LD; }
bool is_control(Op op) { return op >= Op::CSRRW && op <= Op::CSRRCI; }

}  // namespace

Needs::Needs(const Latencies& latencies)
    : branch(latencies.branch), load(latencies.load), instruction_miss(latencies.instruction_miss) {
    for (const riscv::Row& row : riscv::ROWS) {
        Need& need = standard[size_t(row.op) & 255];
        need.rd = row.writes_x ? Need::X : Need::NOWHERE;
        if (is_load(row.op)) need.latency = load;
        if (is_control(row.op)) need.unit = Need::control;
        if (row.op == Op::CSRRWI || row.op == Op::CSRRSI || row.op == Op::CSRRCI) need.rs1 = Need::NONE;
    }
    const auto slow = [this](Op first, Op last, uint8_t latency) {
        for (auto op = unsigned(first); op <= unsigned(last); ++op)
            standard[op].latency = latency, standard[op].unit = Need::multiplier;
    };
    slow(Op::MUL, Op::MULHU, latencies.mul), slow(Op::MULW, Op::MULW, latencies.mul_word);
    slow(Op::DIV, Op::REMU, latencies.div), slow(Op::DIVW, Op::REMUW, latencies.div_word);
}

void Issue::withdraw(HartState& state) {
    state.clock = std::max(state.now, state.retry), state.retry = 0;
    state.minion->slot = state.now;
    ready[destination] = before;
    if (timeline) timeline->withdraw();
}

// Why an instruction that reads these registers can issue in `cycle` and not before.
Stall Issue::why_until(uint64_t cycle, const std::array<unsigned, 4>& reads, Need::Unit unit,
                       uint64_t multiplier) const {
    for (const unsigned place : reads)
        if (ready[place] == cycle) return timeline->loaded[place] ? Stall::data : Stall::result;
    if (unit == Need::multiplier && multiplier == cycle) return Stall::multiplier;
    const bool last = *std::max_element(ready.begin(), ready.end()) == cycle;
    return unit == Need::control && last ? Stall::drain : Stall::code;
}

uint64_t Issue::drained(uint64_t cycle, unsigned number) const {
    return overlaps(number) ? cycle : std::max(cycle, *std::max_element(ready.begin(), ready.end()));
}

// From another line of the instruction cache. What is not there comes from L2, where code always is.
uint64_t Issue::fetch(ShireState& shire, unsigned neighbourhood, uint64_t pc, uint64_t cycle) {
    line = pc / LINE;
    InstructionTags& cache = shire.instructions[neighbourhood];
    const uint64_t wanted = line + 1, set = line % InstructionTags::SETS;
    auto& ways = cache.tag[set];
    if (std::find(ways.begin(), ways.end(), wanted) != ways.end()) return cycle;
    ways[cache.next[set]++ % InstructionTags::WAYS] = wanted;
    return cycle + needs->instruction_miss;
}

}  // namespace polyloom::minion
