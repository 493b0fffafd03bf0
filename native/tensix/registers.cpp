// SPDX-License-Identifier: Apache-2.0
// What cores and the scalar unit reach by address beside L1 and local RAM: pushes, MOP configuration, GPRs, PCBufs,
// TTSync, semaphores, mailboxes, configuration, the reset register. Who reaches what follows the memory map of
// facts 1.9 and of the public documentation; anything else is unreachable, or is not modelled and faults by name.
#include <cstdio>
#include <string>

#include "fields.hpp"
#include "tile.hpp"

namespace polyloom::tensix {

namespace {

using riscv::ABSENT;
using riscv::Answer;
using riscv::DONE;
using riscv::NOT_YET;

constexpr uint32_t SOFT_RESET = 0xffb121b0, MOP = 0xffb80000, GPRS = 0xffe00000, PUSH = 0xffe40000;
constexpr uint32_t SYNC = 0xffe80000, MAILBOX = 0xffec0000, CONFIG = 0xffef0000;
constexpr uint32_t HELD_BIT[CORES] = {11, 12, 13, 14, 18};

// Names of regions that are there but not modelled.
const char* not_modelled(uint32_t address) {
    if (address < 0xffb11000 || address >= MOP) return nullptr;
    if (address < 0xffb12000) return "TDMA-RISC registers";
    if (address < 0xffb13000) return "debug registers other than the soft reset";
    if (address < 0xffb14000) return "the interrupt controller";
    if (address < 0xffb20000) return nullptr;
    return address < 0xffb40000 ? "the NoC's registers" : "the NoC overlay's registers";
}

}  // namespace

// What neither a core nor, without one, the scalar unit can do.
void Tile::refuse(int core, const char* kind, const std::string& what, const char* cure) const {
    Finding finding;
    finding.kind = kind, finding.cycle = cycle, finding.cure = cure;
    finding.pc = core >= 0 ? cores[size_t(core)]->pc() : 0;
    char place[32] = "the scalar unit: ";
    if (core >= 0) std::snprintf(place, sizeof place, "core %s at 0x%08x: ", CORE_NAMES[core], finding.pc);
    finding.text = place + what;
    throw Fault{finding};
}

void Tile::soft_reset(uint32_t held) {
    for (int n = 0; n < CORES; ++n) {
        const bool holds = held >> HELD_BIT[n] & 1;
        if (holds && cores[size_t(n)]->running) hold(n);
        if (holds || cores[size_t(n)]->running) continue;
        release(n);
        cores[size_t(n)]->free_at = cycle + 1;  // its code is decoded anew before
    }
}

Answer Tile::load(int core, uint32_t address, unsigned size, uint64_t& value) {
    const int thread = core - 1;
    const bool is_t = thread >= 0 && thread < THREADS;
    const uint32_t aligned = address & ~3u, shift = address % 4 * 8;
    const auto give = [&](uint32_t word) {
        value = word >> shift & (size == 4 ? ~0u : (1u << 8 * size) - 1);
        return DONE;
    };
    if (aligned == SOFT_RESET) {
        uint32_t held = 0;
        for (int n = 0; n < CORES; ++n) held |= uint32_t(!cores[size_t(n)]->running) << HELD_BIT[n];
        return give(held);
    }
    if (port && address >= NIU && address < NIU_END) {
        uint32_t word = 0;
        return load_niu(aligned, word) ? give(word) : ABSENT;
    }
    if (const char* name = not_modelled(address)) {
        if (ignore_mmio) return ++ignored_mmio, give(0);
        refuse(core, "mmio-not-modelled", std::string("a load from ") + name, "--mmio ignore lets such loads give 0");
    }
    if (core < 0 || core == NC) return ABSENT;
    if (aligned >= GPRS && aligned < GPRS + 0x1000) {
        const uint32_t index = (aligned - GPRS) / 4;
        if (index >= (is_t ? 64u : 192u)) return ABSENT;
        return give(is_t ? state.gprs[size_t(thread)][index] : state.gprs[index / 64][index % 64]);
    }
    if (is_t && aligned == SYNC) {
        auto& fifo = pcbufs[size_t(thread)];
        if (fifo.empty()) {
            cores[size_t(core)]->waits_pcbuf = true;
            return NOT_YET;
        }
        moved = true;
        return give(fifo.pop());
    }
    if (is_t && aligned == SYNC + 4) return thread_idle(thread) ? give(0) : NOT_YET;
    if (is_t && aligned == SYNC + 8) return fronts[size_t(thread)].expander_idle() ? give(0) : NOT_YET;
    if (is_t && aligned >= SYNC + 0x20 && aligned < SYNC + 0x40)
        return give(state.sync.semaphores[(aligned - SYNC - 0x20) / 4].value);
    if (core == B && aligned >= SYNC && aligned < SYNC + 0x30000) {
        const size_t t = (aligned - SYNC) >> 16;
        const bool done = pcbufs[t].empty() && cores[t + 1]->waits_pcbuf && thread_idle(int(t));
        return done ? give(0) : NOT_YET;
    }
    if (aligned >= MAILBOX && aligned < MAILBOX + 0x4000) {
        auto& box = mailboxes[4 * ((aligned - MAILBOX) >> 12) + size_t(core)];
        if (aligned & 4) return give(!box.empty());
        if (box.empty()) return NOT_YET;
        moved = true;
        return give(box.pop());
    }
    if (aligned >= CONFIG) {
        const uint32_t index = (aligned - CONFIG) / 4, words = layout(state.member).bank_words;
        if (index >= 2 * words) return ABSENT;
        if (!config_requests[size_t(core)].empty() || config_slot == cycle || wide_config + 1 == cycle) return NOT_YET;
        config_slot = cycle;
        return give(state.config.banks[index / words][index % words]);
    }
    return ABSENT;
}

Answer Tile::store(int core, uint32_t address, unsigned size, uint32_t value) {
    const int thread = core - 1;
    const bool is_t = thread >= 0 && thread < THREADS;
    const uint32_t pc = core >= 0 ? cores[size_t(core)]->pc() : 0;
    const bool to_niu = port && address >= NIU && address < NIU_END;
    const char* name = to_niu ? nullptr : not_modelled(address);
    if (name && address != SOFT_RESET) {
        if (ignore_mmio) return ++ignored_mmio, DONE;
        refuse(core, "mmio-not-modelled", std::string("a store to ") + name, "--mmio ignore lets such stores pass");
    }
    if (size != 4) refuse(core, "narrow-store", "a store of less than a word to a register", "use sw");
    if (address == SOFT_RESET) return soft_reset(value), DONE;
    if (to_niu) return store_niu(core, address, value);
    if (core < 0 || core == NC) return ABSENT;
    if (is_t && address >= MOP && address < MOP + 36) {
        Front& front = fronts[size_t(thread)];
        if (front.mop.active())
            hazard("mop-rewritten", thread, {0, pc, 0, 0}, {cycle, cycle, front.expanding, thread, false},
                   "MOP configuration is rewritten while a MOP expands",
                   "load 0xFFE80008 first: it answers when the expander is idle", false);
        front.mop.config[(address - MOP) / 4] = value;
        return DONE;
    }
    if (address >= GPRS && address < GPRS + 0x1000) {
        const uint32_t index = (address - GPRS) / 4;
        if (index >= (is_t ? 64u : 192u)) return ABSENT;
        (is_t ? state.gprs[size_t(thread)][index] : state.gprs[index / 64][index % 64]) = value;
        return DONE;
    }
    if (address >= PUSH && address < PUSH + 0x30000) {
        const size_t to = (address - PUSH) >> 16;
        if (is_t && to) return ABSENT;
        Front& front = fronts[is_t ? size_t(thread) : to];
        if (is_t) {
            if (front.pushed.full()) return NOT_YET;
            front.pushed.push({value, pc, 0, uint32_t(cycle)});
        } else {
            if (front.back_door) return NOT_YET;
            front.back_door = Entry{value, pc, 0, uint32_t(cycle)};
        }
        return DONE;
    }
    if (is_t && address >= SYNC && address <= SYNC + 8)
        return DONE;  // discarded: they order later loads behind themselves
    if (is_t && address >= SYNC + 0x20 && address < SYNC + 0x40) {
        if (semaphore_slot == cycle) return NOT_YET;  // one change of semaphores per cycle
        semaphore_slot = cycle;
        Semaphore& semaphore = state.sync.semaphores[(address - SYNC - 0x20) / 4];
        if ((value & 1) && semaphore.value > 0) --semaphore.value;
        if (!(value & 1) && semaphore.value < 15) ++semaphore.value;
        return DONE;
    }
    if (core == B && address >= SYNC && address < SYNC + 0x30000) {
        auto& fifo = pcbufs[(address - SYNC) >> 16];
        if (fifo.full()) return NOT_YET;
        fifo.push(value);
        return DONE;
    }
    if (address >= MAILBOX && address < MAILBOX + 0x4000) {
        int held = 0;
        for (size_t reader = 0; reader < 4; ++reader) held += mailboxes[4 * size_t(core) + reader].count;
        if (held >= 4) return NOT_YET;
        mailboxes[4 * size_t(core) + ((address - MAILBOX) >> 12)].push(value);
        return DONE;
    }
    if (address >= CONFIG) {
        const uint32_t index = (address - CONFIG) / 4, words = layout(state.member).bank_words;
        if (index >= 2 * words) return ABSENT;
        auto& requests = config_requests[size_t(core)];
        if (requests.size() == 4) return NOT_YET;
        requests.push_back({cycle + 1, int(index / words), index % words, value}), ++requested;
        return DONE;
    }
    return ABSENT;
}

}  // namespace polyloom::tensix
