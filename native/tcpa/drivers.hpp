// SPDX-License-Identifier: Apache-2.0
// The drivers of all ids that wrappers feed, found once for every connection, however many ids share the way.
#pragma once

#include <cstdint>
#include <vector>

#include "routes.hpp"

namespace polyloom::tcpa {

constexpr uint32_t nowhere = ~uint32_t(0);

// What drives a connection: od `reg` of `element`, or `bank`; `links` crossings away. All but `links` are `nowhere`
// where nothing does.
struct Origin {
    uint32_t element = nowhere, reg = nowhere, bank = nowhere, links = 0;
};

class Drivers {
  public:
    // Wrapper connections are numbered through, element by element. Only for configurations that are `undisturbed`.
    Drivers(const Config& config, const Routes& routes);

    static uint64_t bytes(const Config& config);

    // Of the first connection of an element.
    uint32_t first(uint32_t element) const { return first_[element]; }
    const std::vector<Connection>& connections(uint32_t element) const { return sorted_[config_.wrapper[element]]; }
    Origin origin(uint32_t element, uint32_t connection);
    // Notes that a token passes from the connection's origin to an id at its end.
    void note_busy(uint32_t element, uint32_t connection);
    // Whether tokens pass through every connection.
    bool all_busy() const;

  private:
    struct Step {
        uint32_t element, connection;
    };
    // The connection before, in the neighbour that the source port faces; false where its wrapper has none.
    bool before(Step& step) const;
    Origin end(const Step& step) const;

    const Config& config_;
    const Routes& routes_;
    std::vector<std::vector<Connection>> sorted_;  // by sink
    std::vector<uint32_t> first_;
    std::vector<Origin> origins_;
    std::vector<uint8_t> state_;  // 1: under way, 2: known, 4: busy
    std::vector<Step> way_;
};

}  // namespace polyloom::tcpa
