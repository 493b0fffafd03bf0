// SPDX-License-Identifier: Apache-2.0
// Events come in the order of (cycle, hart, sequence), whatever the distance at which they are pushed.
#include "minion/events.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <tuple>

using namespace polyloom::minion;

int main() {
    std::mt19937_64 random(1);
    Events events;
    std::set<std::tuple<uint64_t, uint32_t>> expected;
    uint32_t sequence = 0;
    uint64_t now = 0;
    for (int step = 0; step < 300000; ++step) {
        const bool push = events.empty() || random() % 100 < (step % 20000 < 10000 ? 60 : 40);
        if (push) {
            constexpr uint64_t FAR[] = {1, 3, 70, 5000, 100000};
            const uint64_t cycle = now + random() % FAR[random() % 5];
            const uint32_t hart = uint32_t(random() % 2048);
            events.push(cycle, hart, 0, sequence);
            expected.insert({key_of(cycle, hart), sequence++});
            continue;
        }
        const Event event = events.pop();
        if (expected.empty() || *expected.begin() != std::tuple{event.key, uint32_t(event.data)}) {
            std::printf("step %d: cycle %llu hart %u is not next\n", step, (unsigned long long)cycle_of(event.key),
                        hart_of(event.key));
            return 1;
        }
        expected.erase(expected.begin());
        now = cycle_of(event.key);
        if (random() % 8 == 0) (void)events.next();
    }
    return 0;
}
