// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <algorithm>

#include "record_state.hpp"

namespace polyloom::minion {

Record::Record(Findings& findings, unsigned minions)
    : recent(NEAR), tokens(size_t(2) * minions), state(std::make_unique<State>(findings, minions)) {
    on = findings.on();
    for (size_t minion = 0; minion < minions; ++minion)
        tokens[2 * minion] = tokens[2 * minion + 1] = state->new_token(uint32_t(2 * minion));
}

Record::~Record() = default;

Line* Record::find(uint64_t address) {
    const uint64_t page = address >> PAGE_BITS;
    const auto found = state->pages.find(page);
    if (found == state->pages.end()) return nullptr;
    recent[page % NEAR] = {page, found->second.get()};
    return &found->second[address >> 6 & (LINES - 1)];
}

Line& Record::touch(uint64_t address) {
    if (Line* line = known(address)) return *line;
    state->pages.emplace(address >> PAGE_BITS, std::make_unique<Line[]>(LINES));
    return *find(address);
}

namespace {

// Calls f(address, bytes of the line) for each line of an access.
template <class F>
void by_line(uint64_t address, unsigned size, F f) {
    const unsigned first = std::min(size, unsigned(64 - (address & 63)));
    f(address, bytes_of(address, first));
    if (first < size) f(address + first, bytes_of(address + first, size - first));
}

}  // namespace

bool Record::load_slowly(uint64_t address, unsigned size, const Site& site) {
    const uint32_t token = tokens[site.hart];
    by_line(address, size, [&](uint64_t at, uint64_t bytes) {
        Line& line = touch(at);
        if (line.l1 == token) return;
        if (!line.rest && !line.l1) {
            line.l1 = token;
            if (!in_scratchpad(at)) line.l2 |= 1u << shire_of(site.hart);
            return;
        }
        if (line.rest && !line.cache && state->rests[line.rest].is_clean(token)) return;
        Rest& rest = state->rest_of(line, at);
        if (line.cache) state->check_cache(line, at, site, "load");
        const bool had = rest.is_clean(token) || rest.l1(token);
        const uint64_t stale = rest.fetched_l1(token, shire_of(site.hart)).stale;
        if (stale & bytes) {
            const Rest::L2Copy* below = in_scratchpad(at) ? nullptr : rest.l2(shire_of(site.hart));
            state->check_read(rest, bytes & stale, below ? below->stale : rest.home, had, site, "load");
        }
        state->settle(line);
    });
    return state->findings.stop;
}

bool Record::store_slowly(uint64_t address, unsigned size, const Site& site) {
    const uint32_t token = tokens[site.hart];
    by_line(address, size, [&](uint64_t at, uint64_t bytes) {
        Line& line = touch(at);
        if (!line.rest && (!line.l1 || line.l1 == token)) {
            if (line.readers) state->check_write(*this, line, nullptr, at, bytes, site, "store");
            if (!line.dirty) state->l1s[token].dirty.push_back(at & ~uint64_t(63));
            line.l1 = token, line.dirty |= bytes, line.pc = site.pc | (site.hart & 1);
            if (!in_scratchpad(at)) line.l2 |= 1u << shire_of(site.hart);
            return;
        }
        Rest& rest = state->rest_of(line, at);
        if (line.cache) state->check_cache(line, at, site, "store");
        state->check_write(*this, line, &rest, at, bytes, site, "store");
        state->check_shared(rest, token, site);
        rest.fetched_l1(token, shire_of(site.hart));
        rest.written(bytes, site, "store");
        Rest::L1Copy& copy = *rest.taken(token);
        if (!copy.dirty) state->l1s[token].dirty.push_back(at & ~uint64_t(63));
        copy.stale &= ~bytes, copy.dirty |= bytes;
        state->settle(line);
    });
    return state->findings.stop;
}

bool Record::access(Reach reach, uint64_t address, unsigned size, bool reads, bool writes, const Site& site) {
    if (!on) return false;
    constexpr uint64_t UNCACHED = uint64_t(3) << 38, ALIAS = uint64_t(1) << 38;
    if ((address & UNCACHED) == UNCACHED) address -= ALIAS;
    const char* name = reach == Reach::l2 ? "local access" : "global access";
    by_line(address, size, [&](uint64_t at, uint64_t bytes) {
        Line& line = touch(at);
        const bool home = reach == Reach::home || in_scratchpad(at);
        if (!line.rest && !line.l1 && home && !line.readers && (!writes || !line.l2)) return;
        Rest& rest = state->rest_of(line, at);
        if (line.cache) state->check_cache(line, at, site, name);
        uint64_t& stale = home ? rest.home : rest.fetched_l2(shire_of(site.hart)).stale;
        if (reads && stale & bytes) state->check_read(rest, bytes & stale, rest.home, false, site, name);
        if (writes) {
            state->check_write(*this, line, &rest, at, bytes, site, name);
            rest.written(bytes, site, name);
            if (home)
                rest.home &= ~bytes;
            else {
                Rest::L2Copy& copy = *rest.l2(shire_of(site.hart));
                copy.stale &= ~bytes, copy.dirty |= bytes;
            }
        }
        state->settle(line);
    });
    return state->findings.stop;
}

bool Record::tensor_read(std::span<const Row> rows, const Site& site, const char* name) {
    if (!on) return false;
    const unsigned shire = shire_of(site.hart);
    for (const Row& row : rows) {
        Line& line = touch(row.address);
        ++line.readers;
        const bool scratchpad = in_scratchpad(row.address);
        if (!line.rest && !line.dirty) {
            if (!scratchpad) line.l2 |= 1u << shire;
            continue;
        }
        const uint64_t bytes = bytes_of(row.address, row.size);
        Rest& rest = state->rest_of(line, row.address);
        if (line.cache) state->check_cache(line, row.address, site, name);
        const uint64_t stale = scratchpad ? rest.home : rest.fetched_l2(shire).stale;
        if (stale & bytes) state->check_read(rest, bytes & stale, rest.home, false, site, name);
        state->settle(line);
    }
    return state->findings.stop;
}

void Record::tensor_read_over(std::span<const Row> rows) {
    if (!on) return;
    for (const Row& row : rows) --touch(row.address).readers;
}

bool Record::tensor_write(std::span<const Row> rows, const Site& site, const char* name, int wait) {
    if (!on) return false;
    for (const Row& row : rows) {
        Line& line = touch(row.address);
        const uint64_t bytes = bytes_of(row.address, row.size);
        Rest& rest = state->rest_of(line, row.address);
        if (line.cache) state->check_cache(line, row.address, site, name);
        state->check_write(*this, line, &rest, row.address, bytes, site, name);
        rest.written(bytes, site, name, wait);
    }
    return state->findings.stop;
}

void Record::tensor_write_over(std::span<const Row> rows, uint32_t hart) {
    if (!on) return;
    for (const Row& row : rows) {
        Line& line = touch(row.address);
        if (!line.rest) continue;
        Rest& rest = state->rests[line.rest];
        uint64_t bytes = 0;  // those that nobody has written since
        for (Rest::Writer& writer : rest.writers) {
            if (!writer.pending || writer.site.hart != hart) continue;
            const uint64_t mine = writer.bytes & bytes_of(row.address, row.size);
            bytes |= mine;
            if (mine == writer.bytes) writer.pending = false;
        }
        if (row.size == 64) {
            rest.home &= ~bytes;
        } else if (bytes) {
            auto buffer = std::find_if(rest.buffers.begin(), rest.buffers.end(),
                                       [&](const Rest::Buffer& b) { return b.shire == shire_of(hart); });
            if (buffer == rest.buffers.end()) buffer = rest.buffers.insert(buffer, {shire_of(hart), 0});
            buffer->bytes |= bytes;
            if (buffer->bytes == ALL_BYTES) rest.home = 0, rest.buffers.erase(buffer);
        }
        state->settle(line);
    }
}

}  // namespace polyloom::minion
