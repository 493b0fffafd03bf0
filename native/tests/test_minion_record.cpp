// SPDX-License-Identifier: Apache-2.0
// The record against caches that do hold data: random accesses, cache operations and changes of mode, on few lines, by
// harts of two shires. A read is stale for the record exactly where the value that real copies give is not the newest.
#include <array>
#include <cstdio>
#include <map>
#include <random>
#include <utility>

#include "minion/record.hpp"

using namespace polyloom::minion;

namespace {

constexpr unsigned HARTS = 8, LINES = 3, WHOLE = 64;
constexpr uint64_t PLACES[LINES] = {0x8000800000, 0x8000800040, 0x80000000};  // the last one in a scratchpad
constexpr uint32_t NUMBERS[HARTS] = {0, 1, 2, 3, 64, 65, 66, 67};             // of shires 0 and 1

using Values = std::array<unsigned, WHOLE>;

struct Copy {
    Values values{};
    std::array<bool, WHOLE> dirty{};
};

// A line and all that has a copy of it.
struct Twin {
    bool scratchpad = false;
    Values home{}, newest{};
    std::map<unsigned, Copy> l1, l2;
    std::map<unsigned, std::array<bool, WHOLE>> buffers;

    Copy& second(unsigned shire) {
        const auto [place, fresh] = l2.try_emplace(shire);
        if (fresh) place->second.values = home;
        return place->second;
    }
    Copy& first(unsigned cache, unsigned shire) {
        if (const auto found = l1.find(cache); found != l1.end()) return found->second;
        const Values from = scratchpad ? home : second(shire).values;
        l1[cache].values = from;
        return l1[cache];
    }
    void write(unsigned at, unsigned value) {
        newest[at] = value;
        for (auto& [shire, bytes] : buffers) bytes[at] = false;
    }
    void down(unsigned cache, unsigned shire, unsigned level, bool keeps) {
        if (const auto found = l1.find(cache); found != l1.end()) {
            Copy& copy = found->second;
            for (unsigned n = 0; n < WHOLE; ++n) {
                if (!copy.dirty[n]) continue;
                copy.dirty[n] = false;
                if (scratchpad) {
                    home[n] = copy.values[n];
                    continue;
                }
                Copy& below = second(shire);
                below.values[n] = copy.values[n], below.dirty[n] = true;
            }
            if (!keeps) l1.erase(found);
        }
        if (const auto found = buffers.find(shire); found != buffers.end()) {
            for (unsigned n = 0; n < WHOLE; ++n)
                if (found->second[n]) home[n] = newest[n];
            buffers.erase(found);
        }
        if (const auto found = l2.find(shire); level >= 2 && found != l2.end()) {
            for (unsigned n = 0; n < WHOLE; ++n)
                if (std::exchange(found->second.dirty[n], false)) home[n] = found->second.values[n];
            if (!keeps) l2.erase(found);
        }
    }
    void store_half(unsigned shire, unsigned at, unsigned size, unsigned value) {
        for (unsigned n = at; n < at + size; ++n) write(n, value);
        auto& buffer = buffers[shire];
        bool full = true;
        for (unsigned n = at; n < at + size; ++n) buffer[n] = true;
        for (const bool byte : buffer) full = full && byte;
        if (full) home = newest, buffers.erase(shire);
    }
};

struct Run {
    explicit Run(unsigned seed) : draw(seed) {
        for (unsigned n = 0; n < LINES; ++n) twins[n].scratchpad = PLACES[n] >> 31 == 1;
        for (unsigned minion = 0; minion < HARTS / 2; ++minion) caches[2 * minion] = caches[2 * minion + 1] = fresh++;
    }

    std::mt19937 draw;
    Findings findings{Response::report};
    Record record{findings, 64};
    std::array<Twin, LINES> twins;
    std::array<unsigned, HARTS> caches{};
    std::array<unsigned, HARTS / 2> modes{};
    unsigned fresh = 0, now = 0;

    unsigned any(unsigned count) { return unsigned(draw() % count); }
    uint64_t stale() const {
        uint64_t sum = 0;
        for (const Finding& each : findings.all())
            if (each.kind == Hazard::stale_read || each.kind == Hazard::undrained_store) sum += each.count;
        return sum;
    }
    bool differs(const Twin& twin, const Values& values, unsigned at, unsigned size) const {
        for (unsigned n = at; n < at + size; ++n)
            if (values[n] != twin.newest[n]) return true;
        return false;
    }
    void change_mode(unsigned minion) {
        const unsigned before = modes[minion], after = before == 1 ? (any(2) ? 0 : 3) : before == 0 ? 1 : any(2);
        modes[minion] = after;
        record.mode(NUMBERS[2 * minion] / 2, before, after);
        for (Twin& twin : twins) {
            twin.l1.erase(caches[2 * minion]);
            if ((before ^ after) & 1) twin.l1.erase(caches[2 * minion + 1]);
        }
        if ((before ^ after) & 1) {
            caches[2 * minion] = fresh++;
            caches[2 * minion + 1] = after & 1 ? fresh++ : caches[2 * minion];
        }
    }

    // One random action; whether record and twin agree about it.
    bool step() {
        ++now;
        const unsigned h = any(HARTS), number = NUMBERS[h], shire = number / 64, l = any(LINES), size = 1u << any(4);
        const unsigned at = any(WHOLE / size) * size;
        const uint64_t address = PLACES[l] + at;
        const Site site{number, 4 * uint64_t(now % 50), now};
        Twin& twin = twins[l];
        const uint64_t before = stale();
        bool expected = false;
        switch (const unsigned action = any(20)) {
            case 0: case 1: case 2: case 3: case 4:
                record.load(address, size, number, site.pc, now);
                expected = differs(twin, twin.first(caches[h], shire).values, at, size);
                break;
            case 5: case 6: case 7: case 8: {
                record.store(address, size, number, site.pc, now);
                Copy& copy = twin.first(caches[h], shire);
                for (unsigned n = at; n < at + size; ++n) twin.write(n, now), copy.values[n] = now, copy.dirty[n] = true;
                break;
            }
            case 9: case 10: case 11: case 12: {
                const unsigned level = 1 + any(twin.scratchpad ? 1 : 3);
                if (action < 11)
                    record.flush(address, level, site);
                else
                    record.evict(address, level, site);
                record.complete(number, 6);
                twin.down(caches[h], shire, level, action < 11);
                break;
            }
            case 13: case 14: case 15: case 16: {
                const bool l2 = action < 15, home = !l2 || twin.scratchpad, writes = any(2);
                record.access(l2 ? Reach::l2 : Reach::home, address, size, !writes, writes, site);
                Copy* copy = home ? nullptr : &twin.second(shire);
                Values& values = home ? twin.home : copy->values;
                expected = !writes && differs(twin, values, at, size);
                for (unsigned n = at; writes && n < at + size; ++n) {
                    twin.write(n, now), values[n] = now;
                    if (copy) copy->dirty[n] = true;
                }
                break;
            }
            case 17: {
                const Row row{PLACES[l], WHOLE};
                record.tensor_read({&row, 1}, site, "tensor_load"), record.tensor_read_over({&row, 1});
                expected = differs(twin, twin.scratchpad ? twin.home : twin.second(shire).values, 0, WHOLE);
                break;
            }
            case 18: {
                const Row row{PLACES[l] + any(2) * 32, any(2) ? WHOLE : 32};
                const Row stored = row.size == WHOLE ? Row{PLACES[l], WHOLE} : row;
                record.tensor_write({&stored, 1}, site, "tensor_store", 8), record.tensor_write_over({&stored, 1}, number);
                if (stored.size == WHOLE) {
                    for (unsigned n = 0; n < WHOLE; ++n) twin.write(n, now);
                    twin.home = twin.newest;
                    twin.buffers.clear();
                } else {
                    twin.store_half(shire, unsigned(stored.address - PLACES[l]), 32, now);
                }
                break;
            }
            default:
                if (any(4) == 0) change_mode(h / 2);
        }
        return (stale() > before) == expected;
    }
};

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 300; ++seed) {
        Run run(seed);
        for (unsigned n = 0; n < 400; ++n)
            if (!run.step()) {
                std::printf("FAILED: seed %u, step %u\n", seed, n);
                return 1;
            }
    }
    return 0;
}
