// SPDX-License-Identifier: Apache-2.0
// Cache operations and modes of L1, as the record sees them.
#include <algorithm>
#include <initializer_list>

#include "record_state.hpp"

namespace polyloom::minion {

namespace {

// The sets of L1 that a hart's copies lie in. Source: facts §4.
struct Sets {
    unsigned first, count;
    [[nodiscard]] unsigned of(uint64_t address) const { return first + unsigned(address >> 6) % count; }
};

Sets sets_of(unsigned mode, unsigned thread) {
    if (!(mode & 1)) return {0, 16};
    if (thread) return {14, 2};
    return mode & 2 ? Sets{12, 2} : Sets{0, 8};
}

}  // namespace

bool Record::flush(uint64_t address, unsigned level, const Site& site) {
    if (!on || level == 0) return false;
    state->begin(*this, {address & ~uint64_t(63), tokens[site.hart], uint8_t(level), 6, true, true, site, "flush_va"});
    return state->findings.stop;
}

bool Record::evict(uint64_t address, unsigned level, const Site& site) {
    if (!on || level == 0) return false;
    state->begin(*this, {address & ~uint64_t(63), tokens[site.hart], uint8_t(level), 6, true, false, site, "evict_va"});
    return state->findings.stop;
}

bool Record::prefetch(uint64_t address, unsigned level, unsigned wait, const Site& site) {
    if (!on || level > 1 || (level == 1 && in_scratchpad(address))) return false;
    Line& line = touch(address);
    Rest& rest = state->rest_of(line, address);
    if (level == 0)
        rest.fetched_l1(tokens[site.hart], shire_of(site.hart));
    else
        rest.fetched_l2(shire_of(site.hart));
    state->begin(*this, {address & ~uint64_t(63), tokens[site.hart], uint8_t(level), int8_t(wait), false, true, site,
                         "prefetch_va"});
    return state->findings.stop;
}

bool Record::lock(uint64_t address, const Site& site) {
    if (!on) return false;
    store_slowly(address & ~uint64_t(63), 64, site);
    state->begin(*this, {address & ~uint64_t(63), tokens[site.hart], 0, 6, false, true, site, "lock_va"});
    return state->findings.stop;
}

void Record::State::begin(Record& record, const CacheOperation& operation) {
    Line& line = record.touch(operation.address);
    rest_of(line, operation.address);
    ++line.cache;
    operations[operation.site.hart].push_back(operation);
}

void Record::complete(uint32_t hart, unsigned wait) {
    if (!on) return;
    const auto found = state->operations.find(hart);
    if (found == state->operations.end()) return;
    std::vector<State::CacheOperation> over;
    std::erase_if(found->second, [&](const State::CacheOperation& operation) {
        if (operation.wait != int(wait)) return false;
        over.push_back(operation);
        return true;
    });
    for (const State::CacheOperation& operation : over) {
        Line& line = touch(operation.address);
        Rest& rest = state->rest_of(line, operation.address);
        --line.cache;
        if (operation.moves) state->move_down(rest, operation.token, shire_of(hart), operation.level, operation.keeps);
        state->settle(line);
    }
}

void Record::set_way(uint32_t hart, unsigned set, unsigned way, unsigned level, bool keeps) {
    if (!on || level == 0) return;
    const uint32_t minion = hart >> 1;
    uint8_t& empty = state->ways[minion][set % 16];
    empty |= uint8_t(1u << way % 4);
    if (empty != 15) return;
    empty = 0;
    for (const uint32_t h : {2 * minion, 2 * minion + 1}) {
        if (h & 1 && tokens[h] == tokens[h - 1]) continue;
        const Sets sets = sets_of(state->modes[minion], h & 1);
        if (set % 16 - sets.first >= sets.count) continue;
        state->move_set(
            *this, tokens[h], h, [&](uint64_t address) { return sets.of(address) == set % 16; }, level, keeps);
        if (keeps) continue;
        State::L1& l1 = state->l1s[tokens[h]];
        l1.emptied |= uint16_t(1u << set % 16);
        if (l1.emptied == ((1u << sets.count) - 1) << sets.first) renew(h, true);
    }
}

void Record::State::move_set(Record& record, uint32_t token, uint32_t hart, const std::function<bool(uint64_t)>& inside,
                             unsigned level, bool keeps) {
    std::erase_if(l1s[token].dirty, [&](uint64_t address) {
        if (!inside(address)) return false;
        Line& line = record.touch(address);
        move_down(rest_of(line, address), token, shire_of(hart), level, keeps);
        settle(line);
        return true;
    });
}

// The hart's L1 is another one from now on; `kept`: what is dirty in it stays dirty.
void Record::renew(uint32_t hart, bool kept) {
    const uint32_t old = tokens[hart], token = state->new_token(hart);
    const bool shared = tokens[hart] == tokens[hart ^ 1];
    tokens[hart] = token;
    if (shared) tokens[hart ^ 1] = token;
    for (const uint64_t address : state->l1s[old].dirty) {
        if (!kept) break;
        Line& line = touch(address);
        if (!line.rest && line.l1 == old) line.l1 = token;
        if (Rest::L1Copy* copy = line.rest ? state->rests[line.rest].l1(old) : nullptr) copy->token = token;
        state->l1s[token].dirty.push_back(address);
    }
    state->l1s[old].alive = false;
    state->l1s[old].dirty = {};
}

void Record::mode(uint32_t minion, unsigned before, unsigned after) {
    if (!on) return;
    state->modes[minion] = uint8_t(after & 3);
    const uint32_t first = 2 * minion;
    if ((before ^ after) & 1) {  // D1Split: all is lost
        renew(first, false);
        if (tokens[first] == tokens[first + 1] && after & 1) tokens[first + 1] = state->new_token(first + 1);
        if (!(after & 1)) {
            state->l1s[tokens[first + 1]].alive = tokens[first + 1] == tokens[first];
            tokens[first + 1] = tokens[first];
        }
    } else if ((before ^ after) & 2) {  // ScpEnable: sets 0 to 13, where hart 0 is
        renew(first, false);
    }
}

void Record::invalidate(uint32_t minion) {
    if (!on) return;
    renew(2 * minion, false);
    if (tokens[2 * minion] != tokens[2 * minion + 1]) renew(2 * minion + 1, false);
}

}  // namespace polyloom::minion
