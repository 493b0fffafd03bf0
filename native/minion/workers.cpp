// SPDX-License-Identifier: Apache-2.0
#include "workers.hpp"

#include <algorithm>
#include <utility>

namespace polyloom::minion {

namespace {

// How often a thread looks again before it sleeps or lets others run: some microseconds.
constexpr unsigned SPINS = 2000;

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

Workers::Workers(unsigned threads, unsigned minions) : last(minions), raised(minions) {
    for (unsigned n = 1; n < std::min(threads, minions + 1); ++n) {
        lanes.push_back(std::make_unique<Lane>());
        Lane& lane = *lanes.back();
        lane.thread = std::thread([this, &lane] { work(lane); });
    }
}

Workers::~Workers() {
    for (const auto& lane : lanes) {
        lane->stop.store(true);
        lane->posted.fetch_add(1);  // wakes it; `stop` is looked at before the product
        lane->posted.notify_one();
    }
    for (const auto& lane : lanes) lane->thread.join();
}

Workers::Product& Workers::place(uint32_t minion) {
    Lane& lane = lane_of(minion);
    const uint64_t next = lane.posted.load(std::memory_order_relaxed);
    if (next >= PLACES) wait_until(lane, next - PLACES + 1);
    return lane.ring[next % PLACES];
}

void Workers::post(uint32_t minion) {
    Lane& lane = lane_of(minion);
    last[minion] = lane.posted.fetch_add(1) + 1;
    lane.posted.notify_one();
}

uint32_t Workers::join(uint32_t minion) {
    wait_until(lane_of(minion), std::exchange(last[minion], 0));
    return std::exchange(raised[minion].flags, 0);
}

void Workers::wait_until(const Lane& lane, uint64_t done) {
    for (unsigned n = 0; lane.done.load(std::memory_order_acquire) < done; ++n)
        n < SPINS ? pause() : std::this_thread::yield();
}

void Workers::work(Lane& lane) {
    for (uint64_t next = 0;; ++next) {
        for (unsigned n = 0; n < SPINS && lane.posted.load(std::memory_order_acquire) == next; ++n) pause();
        lane.posted.wait(next);
        if (lane.stop.load()) return;
        const Product& product = lane.ring[next % PLACES];
        uint32_t flags = 0;
        tensor::multiply(product.fma, product.operands, product.tile, product.mode, flags);
        uint32_t& all = raised[product.minion].flags;
        if (flags & ~all) all |= flags;
        lane.done.store(next + 1, std::memory_order_release);
    }
}

}  // namespace polyloom::minion
