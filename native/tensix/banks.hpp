// SPDX-License-Identifier: Apache-2.0
// The 16 banks of L1: one access of 16 bytes per bank and cycle, five cycles for a narrower write or an atomic. Where
// several clients want a bank, those that were refused come first, in turn behind the one that was served last; among
// the others the order is that of `Client`. Sources: facts 1.9; tensix.md, "Machine".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace polyloom::tensix {

// The five cores come first, by their number.
enum Client : uint8_t { SCALAR_CLIENT = 5, UNPACKER_CLIENT, PACKER_CLIENT = 8, NOC_CLIENT = 12, CLIENTS = 14 };
constexpr uint32_t NARROW_WRITE = 5;

class Banks {
  public:
    // Takes the bank from this cycle on, or remembers who was refused: he asks again in the next cycle.
    bool claim(uint32_t address, int client, uint64_t cycle, uint32_t cycles = 1) {
        Bank& bank = at(address, cycle);
        const uint16_t own = uint16_t(1u << client);
        if ((bank.busy & ((1ull << cycles) - 1)) || (bank.waiting & ~own && others_first(bank, client, cycle))) {
            bank.waiting |= own, bank.asked[size_t(client)] = cycle;
            return false;
        }
        bank.busy |= (1ull << cycles) - 1;
        bank.waiting &= uint16_t(~own), bank.last = uint8_t(client);
        return true;
    }

    // A narrow write that its client has queued: the first cycle, from `start` on, in which the bank begins with it.
    uint64_t post(uint32_t address, uint64_t cycle, uint64_t start) {
        Bank& bank = at(address, cycle);
        constexpr uint64_t WRITE = (1u << NARROW_WRITE) - 1;
        uint64_t ahead = start - cycle;
        while (ahead < 64 - NARROW_WRITE && bank.busy & WRITE << ahead) ++ahead;
        if (ahead < 64 - NARROW_WRITE) bank.busy |= WRITE << ahead;
        return cycle + ahead;
    }

  private:
    struct Bank {
        uint64_t from = 0, busy = 0;  // bit k: taken in the cycle `from + k`
        uint16_t waiting = 0;         // who was refused, and when last
        uint8_t last = CLIENTS - 1;
        std::array<uint64_t, CLIENTS> asked{};
    };

    Bank& at(uint32_t address, uint64_t cycle) {
        Bank& bank = banks_[address >> 4 & 15];
        const uint64_t passed = cycle - bank.from;
        bank.busy = passed < 64 ? bank.busy >> passed : 0;
        bank.from = cycle;
        return bank;
    }

    static bool others_first(Bank& bank, int client, uint64_t cycle) {
        const auto turn = [&](int who) { return (who - bank.last - 1 + CLIENTS) % CLIENTS; };
        for (uint32_t bits = bank.waiting; bits; bits &= bits - 1) {
            const int other = std::countr_zero(bits);
            if (other == client) continue;
            if (bank.asked[size_t(other)] + 1 < cycle)
                bank.waiting &= uint16_t(~(1u << other));  // was reset meanwhile
            else if (turn(other) < turn(client))
                return true;
        }
        return false;
    }

    std::array<Bank, 16> banks_{};
};

}  // namespace polyloom::tensix
