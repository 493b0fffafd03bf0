// SPDX-License-Identifier: Apache-2.0
#include "record_state.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace polyloom::minion {

void Rest::set_clean(uint32_t token) {
    if (clean.size() <= token / 64) clean.resize(token / 64 + 1);
    clean[token / 64] |= uint64_t(1) << token % 64;
}

Rest::L1Copy* Rest::l1(uint32_t token) {
    const auto found = std::find_if(l1s.begin(), l1s.end(), [&](const L1Copy& copy) { return copy.token == token; });
    return found == l1s.end() ? nullptr : &*found;
}

Rest::L2Copy* Rest::l2(unsigned shire) {
    const auto found = std::find_if(l2s.begin(), l2s.end(), [&](const L2Copy& copy) { return copy.shire == shire; });
    return found == l2s.end() ? nullptr : &*found;
}

Rest::L1Copy* Rest::taken(uint32_t token) {
    if (is_clean(token)) {
        clean[token / 64] &= ~(uint64_t(1) << token % 64);
        l1s.push_back({token, 0, 0});
    }
    return l1(token);
}

Rest::L2Copy& Rest::fetched_l2(unsigned shire) {
    if (L2Copy* copy = l2(shire)) return *copy;
    l2s.push_back({shire, home, 0});
    return l2s.back();
}

Rest::L1Copy& Rest::fetched_l1(uint32_t token, unsigned shire) {
    if (L1Copy* copy = taken(token)) return *copy;
    l1s.push_back({token, in_scratchpad(address) ? home : fetched_l2(shire).stale, 0});
    return l1s.back();
}

void Rest::written(uint64_t bytes, const Site& site, const char* name, int wait) {
    for (size_t word = 0; word < clean.size(); ++word)
        for (uint64_t bits = clean[word]; bits; bits &= bits - 1)
            l1s.push_back({uint32_t(64 * word) + uint32_t(std::countr_zero(bits)), 0, 0});
    clean.clear();
    for (L1Copy& copy : l1s) copy.stale |= bytes;
    for (L2Copy& copy : l2s) copy.stale |= bytes;
    for (Buffer& buffer : buffers) buffer.bytes &= ~bytes;
    home |= bytes;
    for (Writer& writer : writers) writer.bytes &= ~bytes;
    std::erase_if(writers, [](const Writer& writer) { return !writer.bytes; });
    std::erase_if(buffers, [](const Buffer& buffer) { return !buffer.bytes; });
    const auto same = std::find_if(writers.begin(), writers.end(), [&](const Writer& writer) {
        return writer.site.pc == site.pc && writer.site.hart == site.hart && wait < 0 && !writer.pending;
    });
    if (same == writers.end())
        writers.push_back({bytes, site, name, wait, wait >= 0});
    else
        same->bytes |= bytes, same->site = site;
}

void Rest::reset(uint64_t at) {
    address = at & ~uint64_t(63);
    home = 0;
    clean.clear(), l1s.clear(), l2s.clear(), buffers.clear(), writers.clear();
}

uint32_t Record::State::new_token(uint32_t hart) {
    l1s.emplace_back().hart = hart;
    return uint32_t(l1s.size() - 1);
}

Rest& Record::State::rest_of(Line& line, uint64_t address) {
    if (line.rest) {
        Rest& rest = rests[line.rest];
        std::erase_if(rest.l1s, [this](const Rest::L1Copy& copy) { return !l1s[copy.token].alive; });
        return rest;
    }
    if (free_rests.empty()) {
        rests.emplace_back();
        line.rest = uint32_t(rests.size() - 1);
    } else {
        line.rest = free_rests.back();
        free_rests.pop_back();
    }
    Rest& rest = rests[line.rest];
    rest.reset(address);
    rest.home = line.dirty;
    for (uint32_t shires = line.l2; shires; shires &= shires - 1)
        rest.l2s.push_back({uint32_t(std::countr_zero(shires)), line.dirty, 0});
    if (line.l1 && l1s[line.l1].alive) {
        if (line.dirty)
            rest.l1s.push_back({line.l1, 0, line.dirty});
        else
            rest.set_clean(line.l1);
    }
    if (line.dirty) {
        const uint32_t hart = (l1s[line.l1].hart & ~1u) | uint32_t(line.pc & 1);
        rest.writers.push_back({line.dirty, {hart, line.pc & ~uint64_t(1), 0}, "store", -1, false});
    }
    line.l1 = MANY, line.dirty = 0, line.l2 = 0, line.pc = 0;
    return rest;
}

void Record::State::settle(Line& line) {
    Rest& rest = rests[line.rest];
    std::erase_if(rest.l1s, [&](const Rest::L1Copy& copy) {
        if (copy.stale || copy.dirty) return false;
        rest.set_clean(copy.token);
        return true;
    });
    if (line.cache || rest.home || !rest.l1s.empty() || !rest.buffers.empty()) return;
    if (std::any_of(rest.l2s.begin(), rest.l2s.end(), [](const auto& copy) { return copy.stale || copy.dirty; }))
        return;
    unsigned copies = 0;
    uint32_t token = 0;
    for (size_t word = 0; word < rest.clean.size(); ++word)
        if (const uint64_t bits = rest.clean[word]) {
            copies += unsigned(std::popcount(bits));
            token = uint32_t(64 * word) + uint32_t(std::countr_zero(bits));
        }
    if (copies > 1) return;
    line.l1 = copies && l1s[token].alive ? token : 0;
    for (const Rest::L2Copy& copy : rest.l2s) line.l2 |= 1u << copy.shire;
    free_rests.push_back(line.rest);
    line.rest = 0;
}

namespace {

std::string named(const char* form, unsigned long long value) {
    char text[160];
    std::snprintf(text, sizeof text, form, value);
    return text;
}

}  // namespace

const Record::State::CacheOperation* Record::State::pending_flush(const Rest& rest, uint64_t bytes) const {
    for (const auto& [hart, list] : operations)
        for (const CacheOperation& operation : list) {
            if (operation.address != rest.address || !operation.moves) continue;
            for (const Rest::L1Copy& copy : rest.l1s)
                if (copy.token == operation.token && copy.dirty & bytes) return &operation;
        }
    return nullptr;
}

void Record::State::check_read(Rest& rest, uint64_t bytes, uint64_t below, bool had, const Site& site,
                               const char* name) {
    Finding found;
    found.kind = Hazard::stale_read;
    found.later = site, found.later_name = name;
    found.value = rest.address + uint64_t(std::countr_zero(bytes));
    found.what = named("%#llx", found.value);
    const auto writer =
        std::find_if(rest.writers.begin(), rest.writers.end(), [&](const Rest::Writer& w) { return w.bytes & bytes; });
    if (writer != rest.writers.end()) found.earlier = writer->site, found.earlier_name = writer->name;
    const bool buffered =
        std::any_of(rest.buffers.begin(), rest.buffers.end(), [&](const Rest::Buffer& b) { return b.bytes & bytes; });
    if (writer != rest.writers.end() && writer->pending) {
        found.kind = Hazard::memory_read, found.wait = writer->wait;
    } else if (buffered) {
        found.kind = Hazard::undrained_store;
        found.cure = "store whole lines of 64 bytes, or flush_va the line after the store and wait 6";
    } else if (const CacheOperation* flush = pending_flush(rest, bytes)) {
        found.kind = Hazard::cache_operation, found.wait = flush->wait;
        found.earlier = flush->site, found.earlier_name = flush->name;
    } else if (had && !(below & bytes)) {
        found.cure = "evict_va the line before it is read again: this L1 has an older copy";
    } else if (!(rest.home & bytes)) {
        found.cure = "evict_va the line to L3 before it is read again: this shire has an older copy";
    } else {
        const bool there =
            std::any_of(rest.l1s.begin(), rest.l1s.end(), [&](const auto& c) { return c.dirty & bytes; });
        const bool in_l2 =
            std::any_of(rest.l2s.begin(), rest.l2s.end(), [&](const auto& c) { return c.dirty & bytes; });
        found.cure = there   ? "flush_va the line after the store and wait 6: it is dirty in the writer's L1"
                     : in_l2 ? "flush_va the line to L3 after the store: it is dirty in the L2 of the writer's shire"
                             : "the bytes were lost with their L1: flush_va the line before L1 changes its mode";
    }
    findings.add(std::move(found));
}

void Record::State::check_write(const Record& record, const Line& line, Rest* rest, uint64_t address, uint64_t bytes,
                                const Site& site, const char* name) {
    Finding found;
    found.kind = Hazard::memory_write;
    found.later = site, found.later_name = name;
    if (line.readers && record.reader_of)
        if (const Reader reader = record.reader_of(address & ~uint64_t(63)); reader.name) {
            found.value = address, found.what = named("%#llx", address);
            found.earlier = reader.site, found.earlier_name = reader.name, found.wait = reader.wait;
            findings.add(found);
        }
    if (!rest) return;
    for (const Rest::Writer& writer : rest->writers) {
        if (!writer.pending || !(writer.bytes & bytes)) continue;
        found.value = rest->address + uint64_t(std::countr_zero(writer.bytes & bytes));
        found.what = named("%#llx", found.value);
        found.earlier = writer.site, found.earlier_name = writer.name, found.wait = writer.wait;
        findings.add(found);
    }
}

void Record::State::check_cache(const Line& line, uint64_t address, const Site& site, const char* name) {
    const auto found = operations.find(site.hart);
    if (!line.cache || found == operations.end()) return;
    for (const CacheOperation& operation : found->second) {
        if (operation.address != (address & ~uint64_t(63))) continue;
        Finding finding;
        finding.kind = Hazard::cache_operation;
        finding.later = site, finding.later_name = name;
        finding.earlier = operation.site, finding.earlier_name = operation.name;
        finding.value = operation.address, finding.what = named("%#llx", operation.address);
        finding.wait = operation.wait;
        findings.add(std::move(finding));
    }
}

void Record::State::check_shared(const Rest& rest, uint32_t token, const Site& site) {
    for (const Rest::L1Copy& copy : rest.l1s) {
        if (copy.token == token || !copy.dirty) continue;
        Finding finding;
        finding.kind = Hazard::shared_line;
        finding.later = site, finding.later_name = "store";
        for (const Rest::Writer& writer : rest.writers)
            if (writer.bytes & copy.dirty && writer.site.hart >> 1 == l1s[copy.token].hart >> 1)
                finding.earlier = writer.site, finding.earlier_name = writer.name;
        if (!*finding.earlier_name) finding.earlier.hart = l1s[copy.token].hart, finding.earlier_name = "store";
        finding.value = rest.address, finding.what = named("%#llx", rest.address);
        finding.cure = "give each line of 64 bytes one writer, or flush_va it and wait 6 before another writes";
        findings.add(std::move(finding));
    }
}

void Record::State::move_down(Rest& rest, uint32_t token, unsigned shire, unsigned level, bool keeps) {
    const bool scratchpad = in_scratchpad(rest.address);
    if (Rest::L1Copy* copy = rest.taken(token)) {
        const uint64_t moved = copy->dirty, stale = copy->stale;
        copy->dirty = 0;
        if (!keeps) rest.l1s.erase(rest.l1s.begin() + (copy - rest.l1s.data()));
        if (moved && scratchpad) rest.home = (rest.home & ~moved) | (stale & moved);
        if (moved && !scratchpad) {
            Rest::L2Copy& below = rest.fetched_l2(shire);
            below.stale = (below.stale & ~moved) | (stale & moved);
            below.dirty |= moved;
        }
    }
    const auto buffer =
        std::find_if(rest.buffers.begin(), rest.buffers.end(), [&](const Rest::Buffer& b) { return b.shire == shire; });
    if (buffer != rest.buffers.end()) rest.home &= ~buffer->bytes, rest.buffers.erase(buffer);
    Rest::L2Copy* below = level >= 2 ? rest.l2(shire) : nullptr;
    if (!below) return;
    rest.home = (rest.home & ~below->dirty) | (below->stale & below->dirty);
    below->dirty = 0;
    if (!keeps) rest.l2s.erase(rest.l2s.begin() + (below - rest.l2s.data()));
}

}  // namespace polyloom::minion
