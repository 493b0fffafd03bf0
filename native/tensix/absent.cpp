// SPDX-License-Identifier: Apache-2.0
// Units that are not there yet fault by name.
#include "unit.hpp"

namespace polyloom::tensix {

namespace pack {
Timing timing(const State&, Word, int) {
    Timing timing;
    timing.unit = Unit::Pack;
    return timing;
}
bool ready(const State&, Word, int) { return true; }
void execute(State&, Word word, int thread, Context& context) {
    context.fault("not-modelled", thread, word, "the packers are not modelled yet");
}
}  // namespace pack

}  // namespace polyloom::tensix
