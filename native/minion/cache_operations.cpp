// SPDX-License-Identifier: Apache-2.0
// Cache operations: which lines they name, what becomes of these in L1, and what the record and the chip are told.
// Faults end an operation and set a bit of tensor_error. Sources: facts §4; the vendor's emulator.
#include <algorithm>
#include <cstring>

#include "chip.hpp"
#include "control.hpp"
#include "l1.hpp"
#include "translate.hpp"

namespace polyloom::minion {

namespace {

using riscv::DONE;

enum : unsigned {
    PREFETCH_VA = 0x81f,
    EVICT_VA = 0x89f,
    FLUSH_VA = 0x8bf,
    LOCK_VA = 0x8df,
    UNLOCK_VA = 0x8ff,
    EVICT_SW = 0x7f9,
    FLUSH_SW = 0x7fb,
    LOCK_SW = 0x7fd,
    UNLOCK_SW = 0x7ff,
};

constexpr uint64_t ADDRESS = 0xffffffffffc0;

Site site_of(const HartState& hart) { return {hart.number, hart.pc, hart.now}; }

unsigned set_at(const Context& context, uint64_t physical) {
    return set_of(context.minion->mode, context.hart->number & 1, physical);
}

CacheOperation operation_of(unsigned number) {
    switch (number) {
        case PREFETCH_VA: return CacheOperation::prefetch;
        case EVICT_VA: return CacheOperation::evict;
        case FLUSH_VA: return CacheOperation::flush;
        case LOCK_VA: return CacheOperation::lock;
        default: return CacheOperation::unlock;
    }
}

constexpr const char* NAMES[] = {"prefetch_va", "flush_va", "evict_va", "lock_va", "unlock_va"};

// A line of an operation by virtual address: what it does to L1 and the record.
void work(const Context& context, CacheOperation what, unsigned level, unsigned id, uint64_t physical) {
    Record& record = context.chip->record;
    L1Tags& l1 = context.minion->l1;
    const unsigned set = set_at(context, physical);
    const Site site = site_of(*context.hart);
    switch (what) {
        case CacheOperation::prefetch:
            record.prefetch(physical, level, level == 0 ? 6 : 4 + id, site);
            if (level == 0 && touch(l1, set, physical) == L1Tags::WAYS) insert(l1, set, physical, context.hart->now);
            return;
        case CacheOperation::flush: record.flush(physical, level, site); return;
        case CacheOperation::evict:
            record.evict(physical, level, site);
            drop(l1, set, physical);
            return;
        case CacheOperation::lock:
            std::memset(context.memory->at(physical, LINE), 0, LINE);
            record.lock(physical, site);
            drop(l1, set, physical), insert(l1, set, physical, context.hart->now);
            return;
        case CacheOperation::unlock: return;
    }
}

// The physical line, unless the operation cannot have it: scratchpads have no level behind L2.
Answer line_of(const Context& context, CacheOperation what, unsigned level, uint64_t address, uint64_t& physical) {
    const bool loads = what == CacheOperation::prefetch;
    const uint64_t wide = uint64_t(int64_t(address << 16) >> 16);
    const Answer answer =
        translated(*context.memory, *context.hart, wide, LINE, loads ? Use::load : Use::store, physical);
    if (answer.kind != Answer::done) return answer;
    const Region region = context.memory->region_of(physical);
    if (region == Region::rom) return riscv::trap(riscv::Cause::store);
    const bool scratchpad = region == Region::scratchpad;
    const bool behind = loads ? level != 0 : level >= 2;
    const bool moves = what != CacheOperation::lock && what != CacheOperation::unlock;
    if ((scratchpad && behind && moves) || !context.memory->at(physical, LINE)) return riscv::trap(riscv::Cause::store);
    return DONE;
}

Answer by_address(const Context& context, unsigned number, uint64_t value) {
    HartState& hart = *context.hart;
    const CacheOperation what = operation_of(number);
    const unsigned level = value >> 58 & 3, count = (value & 15) + 1, id = hart.x[31] & 1;
    const uint64_t stride = hart.x[31] & ADDRESS;
    if (what == CacheOperation::prefetch && level == 3) return DONE;
    if ((what == CacheOperation::flush || what == CacheOperation::evict) && level == 0) return DONE;
    uint64_t first = 0, physical = 0;
    unsigned lines = 0;
    for (unsigned n = 0; n < count; ++n) {
        if (value >> 63 && !(hart.tensor_mask >> n & 1)) continue;
        const uint64_t address = ((value & ADDRESS) + n * stride) & ADDRESS;
        if (line_of(context, what, level, address, physical).kind != Answer::done) {
            context.chip->faults(hart, NAMES[unsigned(what)], address);
            break;
        }
        work(context, what, level, id, physical);
        if (lines++ == 0) first = physical;
    }
    if (lines == 0 || what == CacheOperation::unlock) return DONE;
    return context.chip->cache(hart, what, level, id, first, lines, stride);
}

// Sets and ways in the order of sets. A line that is locked is not evicted.
Answer by_way(const Context& context, bool evicts, uint64_t value) {
    HartState& hart = *context.hart;
    L1Tags& l1 = context.minion->l1;
    const unsigned level = value >> 58 & 3, count = (value & 15) + 1;
    unsigned set = value >> 14 & 15, way = value >> 6 & 3;
    if (level == 0) return DONE;
    uint64_t first = 0;
    unsigned lines = 0;
    for (unsigned n = 0; n < count; ++n) {
        const uint64_t tag = l1.tag[set][way];
        const bool kept = evicts && tag & L1Tags::LOCKED;
        if ((!(value >> 63) || hart.tensor_mask >> n & 1) && !kept) {
            context.chip->record.set_way(hart.number, set, way, level, !evicts);
            if (tag && lines++ == 0) first = tag & LINE_MASK;
            if (evicts) l1.tag[set][way] = 0, l1.touched[set][way] = 0;
        }
        if (++set == L1Tags::SETS) set = 0, way = (way + 1) % L1Tags::WAYS;
    }
    if (lines == 0) return DONE;
    const auto what = evicts ? CacheOperation::evict : CacheOperation::flush;
    return context.chip->cache(hart, what, level, 0, first, lines, 0);
}

// Locks a physical line, of zeros, into a way. Three of the four ways of a set can be locked.
Answer lock_way(const Context& context, uint64_t value) {
    HartState& hart = *context.hart;
    L1Tags& l1 = context.minion->l1;
    const unsigned way = value >> 55 & 3;
    const uint64_t physical = context.memory->canonical(value & 0xffffffffc0, context.shire->number);
    uint8_t* bytes = context.memory->at(physical, LINE);
    if (!bytes) context.chip->faults(hart, "lock_sw", physical);
    auto& tags = l1.tag[set_at(context, physical)];
    const auto in_the_way = [&](const uint64_t& tag) {
        return tag & L1Tags::LOCKED && (&tag == &tags[way] || (tag & LINE_MASK) == physical);
    };
    const auto locked = std::count_if(tags.begin(), tags.end(), [](uint64_t tag) { return tag & L1Tags::LOCKED; });
    if (std::any_of(tags.begin(), tags.end(), in_the_way) || locked >= 3) {
        context.chip->set_error(hart, tensor::LOCK_FAILED, "lock_sw", "it cannot lock the line in this way");
        return DONE;
    }
    if (!bytes) return DONE;
    std::memset(bytes, 0, LINE);
    context.chip->record.lock(physical, site_of(hart));
    drop(l1, set_at(context, physical), physical);
    tags[way] = physical | L1Tags::USED | L1Tags::LOCKED;
    return context.chip->cache(hart, CacheOperation::lock, 0, 0, physical, 1, 0);
}

Answer unlock_way(const Context& context, uint64_t value) {
    context.minion->l1.tag[value >> 6 & 15][value >> 55 & 3] &= ~L1Tags::LOCKED;
    return DONE;
}

}  // namespace

Answer cache_operation(const Context& context, unsigned number, uint64_t value) {
    if (const Answer answer = context.chip->turn(*context.hart); answer.kind != Answer::done) return answer;
    switch (number) {
        case EVICT_SW:
        case FLUSH_SW: return by_way(context, number == EVICT_SW, value);
        case LOCK_SW: return lock_way(context, value);
        case UNLOCK_SW: return unlock_way(context, value);
        default: return by_address(context, number, value);
    }
}

// Toggling ScpEnable loses sets 0 to 13, changing D1Split everything, without a write-back; L1Scp begins with zeros.
void change_mode(const Context& context, L1Mode mode) {
    MinionState& minion = *context.minion;
    const unsigned before = unsigned(minion.mode), after = unsigned(mode), changed = before ^ after;
    if (!changed) return;
    clear(minion.l1, changed & 1 ? L1Tags::SETS : 14);
    minion.mode = mode;
    if (changed & after & 2) minion.l1scp = {};
    context.chip->record.mode(minion.number, before, after);
    context.chip->mode_changed(*context.hart, before, after);
}

Answer invalidate_l1(const Context& context) {
    if (const Answer answer = context.chip->turn(*context.hart); answer.kind != Answer::done) return answer;
    clear(context.minion->l1, L1Tags::SETS);
    context.chip->record.invalidate(context.minion->number);
    return DONE;
}

}  // namespace polyloom::minion
