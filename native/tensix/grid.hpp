// SPDX-License-Identifier: Apache-2.0
// A grid of tiles on the two NoCs. What is under way between tiles is in the network's queue of events; since nothing
// reaches another tile in fewer than LOOKAHEAD cycles, tiles run that long one after another (conservative simulation:
// K. M. Chandy and J. Misra, 1979). Tiles with nothing to do sleep until something arrives.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tile.hpp"

namespace polyloom::tensix {

class Grid {
  public:
    // Tiles at these places of NoC 0.
    Grid(const std::vector<uint32_t>& places, Policy policy, uint64_t bytes, uint32_t speed, uint32_t latency);
    Grid(const Grid&) = delete;

    // Until nothing is left to do, nothing can move, a tile faults, or `most` cycles more.
    Stop run(uint64_t most);

    Network network;
    std::vector<std::unique_ptr<Tile>> tiles;
    uint64_t cycle = 0, cycles = 0;
    size_t faulty = 0;                            // the tile whose fault ended the run
    std::vector<std::vector<std::string>> waits;  // of a deadlock: of each tile
    uint64_t stepped = 0;                         // cycles of tiles that were awake

  private:
    // A core as it was: one that comes to the same again while nothing else changes will do so forever.
    struct Seen {
        Core* core;
        uint32_t pc;
        uint64_t retired;
        std::array<uint32_t, 32> x;
        bool again;
    };
    bool stuck(uint64_t now);
    void look(uint64_t now);

    std::vector<Seen> seen_;
    uint64_t seen_at_ = 0, span_ = 0;
};

}  // namespace polyloom::tensix
