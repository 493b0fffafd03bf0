// SPDX-License-Identifier: Apache-2.0
// DRAM in time: eight memory shires by PA[8:6], each with two channels of 16 bits as one queue, eight banks by
// PA[12:10] with an open row of 256 KiB (PA[18] and up), and refresh. All of them together have the measured rate, a
// memory shire at most that of its channels. A controller takes what waits in the order of rows, so that the state of a
// row changes when a line is there, and not the rate, which was measured with rows that conflict. Sources: yaroslavvb,
// et-soc1-prototyping, docs/et-soc1-notes.md, "One memory access, taken apart"; minion.md, "Time".
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "mesh.hpp"
#include "server.hpp"

namespace polyloom::minion {

class Dram {
  public:
    struct Times {
        uint64_t service, shire_service;  // of a line, in parts of a cycle
        uint64_t open_row, other_row, row_busy, refresh_period, refresh;
    };
    struct Taken {
        uint64_t wait;  // in parts of a cycle
        int64_t row;    // how much later the state of the row makes it, in cycles
    };

    Taken take(const Times& times, uint64_t cycle, uint64_t line) {
        Shire& shire = shires[line & 7];
        // Memory shires refresh one after another: their clocks are not those of one another.
        const uint64_t turn = cycle + (line & 7) * (times.refresh_period / MEMORY_SHIRES);
        const uint64_t period = turn / times.refresh_period, since = turn % times.refresh_period;
        if (since < times.refresh) {
            const uint64_t end = (cycle + times.refresh - since) * Server::PARTS;
            shire.server.free = std::max(shire.server.free, end);
        }
        const uint64_t wait = std::max(all.take(cycle, times.service), shire.server.take(cycle, times.shire_service));
        return {wait, activate(times, shire.banks[line >> 4 & 7], cycle, period, line >> 12)};
    }

    // Cycles of service, of all together.
    [[nodiscard]] uint64_t busy() const { return all.busy / Server::PARTS; }

  private:
    struct Bank {
        uint64_t row = 0, period = 0, last = 0;  // the open row plus 1, since which refresh, and its last access
    };
    struct Shire {
        Server server;
        std::array<Bank, 8> banks;
    };

    // A refresh closes all rows of a memory shire, another row of a bank the one that is open.
    static int64_t activate(const Times& times, Bank& bank, uint64_t cycle, uint64_t period, uint64_t row) {
        const bool closed = !bank.row || bank.period != period, same = bank.row == row + 1;
        const uint64_t ready = bank.last + times.row_busy;
        bank.row = row + 1, bank.period = period, bank.last = cycle;
        if (closed) return 0;
        if (same) return -int64_t(times.open_row);
        return int64_t(times.other_row + (ready > cycle ? ready - cycle : 0));
    }

    Server all;
    std::array<Shire, MEMORY_SHIRES> shires;
};

}  // namespace polyloom::minion
