// SPDX-License-Identifier: Apache-2.0
#include "tile.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace polyloom::tensix {

namespace {

constexpr uint32_t RESET_PC[CORES] = {0, 0x6000, 0xa000, 0xe000, 0x12000};
constexpr uint64_t PATIENCE = 64;  // cycles without any movement; longer than an atomic's tries are apart

std::string hexadecimal(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", value);
    return text;
}

}  // namespace

Tile::Tile(Member member, Policy policy) : policy(policy) {
    state.member = member;
    vector::reset(state.vector);
    for (int n = 0; n < CORES; ++n) cores[size_t(n)] = std::make_unique<Core>(*this, n);
    mutex_last.fill(THREADS - 1);
}

void Tile::hazard(const char* kind, int thread, const Entry& entry, const Writer& earlier, std::string text,
                  std::string cure, bool wrong) {
    if (policy == Policy::Off) return;
    findings.push_back({kind, thread, cycle, earlier.cycle, entry.word, earlier.entry.word, entry.pc, earlier.entry.pc,
                        entry.index, earlier.entry.index, std::move(text), std::move(cure), wrong});
}

void Tile::stop_at_hazard(size_t known) const {
    for (size_t n = known; n < findings.size(); ++n)
        if (policy == Policy::Error || (policy == Policy::Wrong && findings[n].wrong)) throw Fault{findings[n]};
}

bool Tile::stale_gpr(int thread, uint32_t index) const {
    const uint32_t held = state.gprs[size_t(thread)][index];
    bool known = false;
    for (const GprWrite& each : gpr_writes) {
        if (each.thread != thread || each.index != index) continue;
        if ((held ^ each.value) & each.mask) return true;
        known = true;
    }
    return !known;  // L1 has not answered yet
}

bool Tile::stale_lanes(int target) const {
    for (const Pending& each : pending) {
        if (each.target != target) continue;
        for (size_t lane = 0; lane < each.value.size(); ++lane)
            if ((each.lanes >> lane & 1) && each.value[lane] != state.vector.registers[size_t(target)][lane])
                return true;
    }
    return false;
}

bool Tile::stale_config(int bank, uint32_t index) const {
    for (const ConfigWrite& each : config_writes)
        if (each.thread < 0 && each.bank == bank && each.index == index &&
            ((state.config.banks[size_t(bank)][index] ^ each.value) & each.mask))
            return true;
    return false;
}

uint32_t Tile::reset_pc(int core) const {
    const auto& words = state.config.banks[0];
    if (state.member == Member::Blackhole) return RESET_PC[core];  // which has no such words
    if (core >= 1 && core <= 3 && (words[161] >> (core - 1) & 1)) return words[size_t(157 + core)];
    if (core == NC && (words[163] & 1)) return words[162];
    return RESET_PC[core];
}

void Tile::release(int core, std::optional<uint32_t> pc) {
    cores[size_t(core)]->release(pc ? *pc : reset_pc(core));
    flush_code = any_core = true;
}

void Tile::hold(int core) { cores[size_t(core)]->hold(); }

void Tile::active(uint64_t until) {
    ever_active = true;
    last_active = std::max(last_active, until - 1);
}

void Tile::commit_vector() {
    size_t kept = 0;
    for (size_t n = 0; n < pending.size(); ++n) {
        const Pending& each = pending[n];
        if (each.due > cycle) {
            if (kept != n) pending[kept] = each;
            ++kept;
            continue;
        }
        vector::commit(state.vector, each);
    }
    pending.resize(kept);
}

void Tile::make_visible() {
    if (!pending.empty()) commit_vector();
    if (schedule.count || schedule.accepted || schedule.busy) {
        Context own = context({});
        moved |= !schedule.waits();
        vector::advance(state, own);
    }
    const auto due = [this](const auto& each) { return each.due <= cycle; };
    if (!config_writes.empty()) {
        for (const ConfigWrite& each : config_writes) {
            if (!due(each)) continue;
            if (each.thread >= 0)
                state.config.thread[size_t(each.thread)][each.index] = each.value;
            else
                write_config(each.bank, each.index, each.mask, each.value);
        }
        std::erase_if(config_writes, due);
    }
    if (!slow_config.empty()) std::erase_if(slow_config, due);
    if (!gpr_writes.empty()) {
        for (const GprWrite& each : gpr_writes) {
            uint32_t& to = state.gprs[size_t(each.thread)][each.index];
            if (due(each)) to = (to & ~each.mask) | (each.value & each.mask);
        }
        std::erase_if(gpr_writes, due);
    }
    if (requested) store_config();
}

void Tile::move_front(int thread) {
    Front& front = fronts[size_t(thread)];
    auto& words = hand[size_t(thread)];
    moved |= front.move();
    if (front.lost) [[unlikely]]
        hazard("lost-collision", thread, *front.lost, {cycle, cycle, front.middle.front(), thread, false},
               "B's word and the thread's own came behind the MOP expander in one cycle: the thread's is lost",
               "let B push while the thread's core is in reset, or idle");
    if (!words.empty() && !front.pushed.full()) {
        front.pushed.push({words.front(), 0, ++pushed_by_hand[size_t(thread)], uint32_t(cycle)});
        words.pop_front(), moved = true;
    }
    words_left |= !front.empty();
}

void Tile::step() {
    moved = false;
    const size_t known = findings.size();
    if (flush_code) {
        if (code) code->flush();
        if (cores[NC]->own_code) cores[NC]->own_code->flush();
        flush_code = false;
    }
    make_visible();
    if (latches[0].on || latches[1].on || latches[2].on) move_latches();
    accept();
    if (accounting) [[unlikely]]
        count_cycle();
    words_left = false;
    for (int t = 0; t < THREADS; ++t)
        if (fronts[size_t(t)].moves() || !hand[size_t(t)].empty()) move_front(t);
    bool retired = false;
    for (int core = 0; any_core && core < CORES; ++core)
        if (cores[size_t(core)]->running && cores[size_t(core)]->step()) retired = true;
    if (working || (port && port->station && port->station->next() <= cycle)) move_data();
    if (moved) last_effect = cycle;
    if (retired) active(cycle + 1), moved = true;
    if (moved) last_move = cycle;
    ++cycle;
    if (findings.size() > known) [[unlikely]]
        stop_at_hazard(known);
}

bool Tile::thread_idle(int thread) const {
    const size_t t = size_t(thread);
    if (!fronts[t].empty() || !hand[t].empty() || latches[t].on) return false;
    for (const auto& unit : unpackers)
        for (const UnpackWork& work : unit)
            if (work.job.plan.thread == thread) return false;
    for (const auto& work : packers)
        if (work && work->job.thread == thread) return false;
    const auto& flight = in_flight[t];
    return std::all_of(flight.begin(), flight.end(), [this](uint64_t until) { return until <= cycle; }) &&
           thread_free[t] <= cycle && memory_until[t] <= cycle;
}

bool Tile::idle() const {
    for (size_t t = 0; t < THREADS; ++t)
        if (!fronts[t].empty() || !hand[t].empty()) return false;
    for (const auto& core : cores)
        if (!core->at_rest()) return false;
    if (working || requested) return false;
    return timed_until() <= cycle && (schedule.count == 0 || schedule.waits()) && pending.empty() &&
           config_writes.empty() && gpr_writes.empty();
}

// Until when something is under way that takes time and then goes on by itself.
uint64_t Tile::timed_until() const {
    uint64_t until = 0;
    for (size_t t = 0; t < THREADS; ++t) {
        for (const uint64_t each : in_flight[t]) until = std::max(until, each);
        until = std::max({until, thread_free[t], memory_until[t]});
    }
    for (const auto& core : cores) until = std::max(until, core->timed_until());
    return until;
}

void Tile::tell_deadlock() {
    static constexpr const char* CONDITIONS[15] = {"the scalar unit's memory requests",
                                                   "unpacker 0",
                                                   "unpacker 1",
                                                   "packer 0",
                                                   "packer 1",
                                                   "packer 2",
                                                   "packer 3",
                                                   "the matrix unit",
                                                   "SrcA to be the unpackers'",
                                                   "SrcB to be the unpackers'",
                                                   "SrcA to be the matrix unit's",
                                                   "SrcB to be the matrix unit's",
                                                   "the mover",
                                                   "the core's stores",
                                                   "the vector unit"};
    for (int t = 0; t < THREADS; ++t) {
        const Front& front = fronts[size_t(t)];
        const Latch& latch = latches[size_t(t)];
        if (front.empty()) continue;
        std::string text = "thread t" + std::to_string(t) + ": ";
        if (front.gate.empty()) {
            waits.push_back(text + "waits behind the Replay expander");
            continue;
        }
        const Entry& entry = front.gate.front();
        text += "word " + hexadecimal(entry.word) + (entry.pc ? " from " + hexadecimal(entry.pc) : "") + " waits";
        if (blocked(t, unit_of(entry.word), entry.word)) {
            text += " behind " + hexadecimal(latch.entry.word) + " for";
            for (size_t n = 0; latch.semaphores && n < 8; ++n)
                if (latch.semaphores >> n & 1)
                    text += " semaphore " + std::to_string(n) + " (" + std::to_string(state.sync.semaphores[n].value) +
                            " of " + std::to_string(state.sync.semaphores[n].most) + ")";
            for (int n = 0; !latch.semaphores && n < 15; ++n)
                if ((latch.conditions >> n & 1) && condition(n, t)) text += std::string(" ") + CONDITIONS[n] + ",";
            if (text.back() == ',') text.pop_back();
        } else if (unit_of(entry.word) == Unit::Sync) {
            const uint32_t mutex = field(entry.word, 15, 0);
            const bool there = mutex < 8 && mutex != 1;
            text += " for mutex " + std::to_string(mutex) +
                    (there ? ", which t" + std::to_string(state.sync.owner[mutex]) + " has" : ", which does not exist");
        } else if (unit_of(entry.word) == Unit::Scalar) {
            text += " in the scalar unit: what it retries does not come true";
        } else if (unit_of(entry.word) == Unit::Matrix) {
            text += " for its banks of SrcA and SrcB, which are with the unpackers";
        } else {
            text += " for a bank that the matrix unit has not given back";
        }
        waits.push_back(text);
    }
    for (const auto& core : cores) {
        if (core->at_rest()) continue;
        std::string text = std::string("core ") + CORE_NAMES[core->number] + ": the instruction at " +
                           hexadecimal(core->pc()) + " waits";
        if (core->waits_pcbuf)
            text += " for B to write to its PCBuf";
        else if (core->polling)
            text = std::string("core ") + CORE_NAMES[core->number] + " polls " + describe_polled(core->polled) +
                   " at " + hexadecimal(core->polls_at);
        else
            text += " for what it loads or stores to";
        waits.push_back(text);
    }
}

void Tile::begin_run() {
    fault.reset(), waits.clear();
    ever_active = false, last_active = cycle, last_move = cycle;
    flush_code = true;  // whoever runs this may have written to L1 meanwhile
    show_before(false);
}

void Tile::advance(uint64_t end) {
    if (asleep) cycle = std::max(cycle, std::min(end, port->station->next())), asleep = words_left = false;
    while (cycle < end) {
        if (!words_left && idle() && port->station->next() > cycle) {
            asleep = true;
            return;
        }
        step();
    }
}

Stop Tile::run(uint64_t most) {
    const uint64_t start = cycle, end = most > ~uint64_t(0) - cycle ? ~uint64_t(0) : cycle + most;
    begin_run();
    Stop stop = Stop::MaxCycles;
    const auto watch = [this] {
        uint32_t word = 0;
        if (watched && watched + sizeof word <= state.l1.size()) std::memcpy(&word, &state.l1[watched], sizeof word);
        return word;
    };
    const uint32_t before = watch();
    try {
        for (words_left = false;;) {
            if (!words_left && idle()) {
                stop = Stop::Idle;
                const size_t known = findings.size();
                vector::report_captured(schedule, findings);
                if (policy == Policy::Error && findings.size() > known) throw Fault{findings[known]};
                break;
            }
            if (cycle >= end || watch() != before) break;
            if (const int thread = watched ? -1 : alone(); thread < 0 || !run_alone(thread, end)) step();
            if (cycle - last_move > PATIENCE && timed_until() + PATIENCE < cycle) {
                tell_deadlock();
                stop = Stop::Deadlock;
                break;
            }
        }
    } catch (const Fault& raised) {
        fault = raised.finding;
        stop = Stop::Fault;
    }
    show_before(true);
    cycles = stop == Stop::MaxCycles ? cycle - start : ever_active ? last_active + 1 - start : 0;
    return stop;
}

}  // namespace polyloom::tensix
