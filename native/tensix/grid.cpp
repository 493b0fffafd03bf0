// SPDX-License-Identifier: Apache-2.0
#include "grid.hpp"

#include <algorithm>

namespace polyloom::tensix {

namespace {

constexpr uint64_t QUIET = 256;  // cycles without an effect before cores are looked at

}  // namespace

Grid::Grid(const std::vector<uint32_t>& places, Policy policy, uint64_t bytes, uint32_t speed, uint32_t latency)
    : network(bytes, speed, latency) {
    for (const uint32_t place : places) {
        tiles.push_back(std::make_unique<Tile>(Member::Wormhole, policy));
        Tile& tile = *tiles.back();
        tile.port = std::make_unique<Port>();
        tile.port->station = std::make_unique<Station>(Station{&network, place, {}, {}, {}});
        network.attach(place, &tile.port->station->inboxes);
    }
}

Stop Grid::run(uint64_t most) {
    const uint64_t start = cycle, end = most > ~uint64_t(0) - cycle ? ~uint64_t(0) : cycle + most;
    waits.clear(), span_ = 0;
    for (const auto& tile : tiles) {
        tile->cycle = cycle, tile->asleep = false, tile->last_effect = cycle;
        tile->begin_run();
    }
    Stop stop = Stop::MaxCycles;
    for (;;) {
        uint64_t now = network.next();
        for (const auto& tile : tiles) now = std::min(now, tile->wakes_at());
        if (now == NO_CYCLE) {
            stop = Stop::Idle;
            break;
        }
        if (now >= end) break;
        const uint64_t until = std::min(end, now + LOOKAHEAD);
        for (size_t n = 0; n < tiles.size(); ++n) {
            Tile& tile = *tiles[n];
            if (tile.wakes_at() >= until) continue;
            const uint64_t from = tile.cycle;
            try {
                tile.advance(until);
            } catch (const Fault& raised) {
                tile.fault = raised.finding, faulty = n;
                stop = Stop::Fault;
            }
            stepped += tile.cycle - from;
            if (stop == Stop::Fault) break;
        }
        if (stop == Stop::Fault) break;
        network.advance(until);
        cycle = until;
        if (stuck(until)) {
            for (const auto& tile : tiles) tile->tell_deadlock();
            for (const auto& tile : tiles) waits.push_back(tile->waits);
            stop = Stop::Deadlock;
            break;
        }
    }
    uint64_t last = start;
    for (const auto& tile : tiles) {
        tile->show_before(true);
        if (tile->ever_active) last = std::max(last, tile->last_active + 1);
        cycle = std::max(cycle, tile->cycle);
    }
    cycle = std::min(cycle, end);
    cycles = stop == Stop::MaxCycles ? cycle - start : last - start;
    return stop;
}

// Whether nothing can change any more: no packet is under way, no unit works, and every core either waits for an answer
// of its tile or has come to a state in which it was before.
bool Grid::stuck(uint64_t now) {
    bool quiet = network.next() == NO_CYCLE;
    for (const auto& tile : tiles) {
        if (!quiet) break;
        quiet = !tile->working && tile->port->station->next() == NO_CYCLE && tile->last_effect + QUIET < now;
    }
    if (!quiet) return span_ = 0, false;
    if (!span_) return span_ = QUIET, look(now), false;
    bool all = true;
    for (Seen& each : seen_) {
        each.again =
            each.again || (each.core->pc() == each.pc && std::equal(each.x.begin(), each.x.end(), each.core->hart->x));
        all = all && each.again;
    }
    // What was seen may have been on the way to what repeats (R. Brent, 1980).
    if (!all && now > seen_at_ + span_) span_ *= 2, look(now);
    for (const Seen& each : seen_) each.core->polling = each.core->retired != each.retired;
    return all;
}

void Grid::look(uint64_t now) {
    seen_.clear(), seen_at_ = now;
    for (const auto& tile : tiles)
        for (const auto& core : tile->cores) {
            if (core->at_rest()) continue;
            Seen made{core.get(), core->pc(), core->retired, {}, false};
            std::copy_n(core->hart->x, made.x.size(), made.x.begin());
            seen_.push_back(made);
        }
}

}  // namespace polyloom::tensix
