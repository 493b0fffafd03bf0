// SPDX-License-Identifier: Apache-2.0
// The cycles that a configuration will take, from its words alone (docs/targets/tcpa.md, Time).
#pragma once

#include "config.hpp"

namespace polyloom::tcpa {

// From the first issue to the last bank write, both inclusive; 0 where nothing issues or nothing is written. Unless it
// is `exact`, a run may take fewer.
struct Prediction {
    int64_t cycles = 0;
    bool exact = true;
};

Prediction predict(const Config& config);

}  // namespace polyloom::tcpa
