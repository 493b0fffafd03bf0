// SPDX-License-Identifier: Apache-2.0
// Units that are not there yet fault by name.
#include "unit.hpp"

namespace polyloom::tensix {

#define ABSENT_UNIT(NAME, UNIT)                                                                          \
    namespace NAME {                                                                                     \
    Timing timing(const State&, Word, int) { return {.unit = UNIT, .dst_reads = {}, .dst_writes = {}}; } \
    bool ready(const State&, Word, int) { return true; }                                                 \
    void execute(State&, Word word, int thread, Context& context) {                                      \
        context.fault("not-modelled", thread, word, "this unit is not modelled yet");                    \
    }                                                                                                    \
    }
ABSENT_UNIT(vector, Unit::Vector)
ABSENT_UNIT(matrix, Unit::Matrix)
ABSENT_UNIT(unpack, Unit::Unpack0)
ABSENT_UNIT(pack, Unit::Pack)
ABSENT_UNIT(counters, Unit::Misc)

}  // namespace polyloom::tensix
