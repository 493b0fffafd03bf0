// SPDX-License-Identifier: Apache-2.0
// The parameters of time, by name. Their values come from targets/minion/run/timing.toml, which says for each where it
// is from; those here stand in for it where a test makes a chip by itself. Which were used is kept, so that a result
// can name those that were extrapolated.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace polyloom::minion {

// name, value
#define POLYLOOM_MINION_PARAMETERS(_)                                                 \
    _(fma_tenb, 17)  /* cycles of a floating-point FMA beyond its micro-operations */ \
    _(fma_l1scp, 34) /* the same with B in L1Scp */                                   \
    _(ima_tenb, 24)  /* of an IMA8 */                                                 \
    _(ima_l1scp, 62)                                                                  \
    _(fma_step, 7)         /* the least micro-operations of a step */                 \
    _(tenb_ahead, 4)       /* lines of a LoadB before its FMA runs */                 \
    _(tenb_credits, 6)     /* and while it runs */                                    \
    _(load_line, 10)       /* cycles from one line of a load to the next */           \
    _(load_least, 45)      /* cycles of a load, at least */                           \
    _(load_dram_start, 46) /* of a load from DRAM, beside its lines */                \
    _(load_dram_first, 17) /* of its first four lines */                              \
    _(load_dram_more, 47)  /* of the next four */                                     \
    _(load_dram_line, 49)  /* and of those behind */                                  \
    _(bank_line, 2)        /* a bank of a shire, one line */                          \
    _(bank_buffered, 1)    /* one from its read buffer */                             \
    _(bank_buffer, 8)      /* lines of the read buffer */                             \
    _(local_atomic, 10)    /* a bank, for one atomic in the shire's L2 */             \
    _(home_atomic, 10)     /* and at the line's home */                               \
    _(l2, 47)              /* load to use */                                          \
    _(l2_buffered, 36)                                                                \
    _(l3, 110)                                                                        \
    _(hop, 12)            /* there and back */                                        \
    _(dram, 91)           /* beyond L3 */                                             \
    _(mram, 47)           /* Erbium's memory, load to use */                          \
    _(mesh_shire, 50)     /* bytes a cycle to a shire */                              \
    _(mesh_dram, 127)     /* bytes a cycle from DRAM, whole chip */                   \
    _(dram_shire, 24.9)   /* from one memory shire */                                 \
    _(dram_open_row, 11)  /* how much sooner a line of an open row is there */        \
    _(dram_other_row, 11) /* how much later one of another row of the bank */         \
    _(dram_row_busy, 27)  /* how long a row is not closed after an access */          \
    _(refresh_period, 2325)                                                           \
    _(refresh, 208)                                                                   \
    _(message_edge, 34) /* one way on the neighbourhood's tree edges */               \
    _(message_shire, 57)                                                              \
    _(message_far, 75)                                                                \
    _(message_hop, 6)                                                                 \
    _(message_register, 2.3)                                                          \
    _(tree_start, 1.2)                                                                \
    _(credit_shire, 60)                                                               \
    _(credit_far, 74)                                                                 \
    _(credit_hop, 6)                                                                  \
    _(esr_answer, 85) /* a write of an ESR, there and back */                         \
    _(flb_join, 4)                                                                    \
    _(flb_answer, 45)                                                                 \
    _(quant_row, 1) /* cycles of a row and register in a transformation */            \
    _(store_row, 1)                                                                   \
    _(branch_taken, 3)                                                                \
    _(l1_hit, 5)                                                                      \
    _(instruction_miss, 47)                                                           \
    _(multiply_word, 4) /* latencies of instructions */                               \
    _(multiply, 8)                                                                    \
    _(divide_word, 33)                                                                \
    _(divide, 65)                                                                     \
    _(simd_integer, 2)                                                                \
    _(simd_float, 7)                                                                  \
    _(transcendental, 28)                                                             \
    _(gather, 8) /* cycles that a gather or scatter holds issue */

enum class Parameter : uint8_t {
#define POLYLOOM_NAME(name, value) name,
    POLYLOOM_MINION_PARAMETERS(POLYLOOM_NAME)
#undef POLYLOOM_NAME
        count
};

struct Parameters {
    static constexpr unsigned COUNT = unsigned(Parameter::count);
    static constexpr std::array<std::string_view, COUNT> NAMES = {
#define POLYLOOM_NAME(name, value) #name,
        POLYLOOM_MINION_PARAMETERS(POLYLOOM_NAME)
#undef POLYLOOM_NAME
    };

    uint64_t operator[](Parameter which) {
        used |= uint64_t(1) << unsigned(which);
        return uint64_t(values[unsigned(which)]);
    }
    // In sixteenths of a cycle.
    uint64_t fine(Parameter which) {
        used |= uint64_t(1) << unsigned(which);
        return uint64_t(values[unsigned(which)] * 16 + 0.5);
    }

    std::array<double, COUNT> values = {
#define POLYLOOM_VALUE(name, value) value,
        POLYLOOM_MINION_PARAMETERS(POLYLOOM_VALUE)
#undef POLYLOOM_VALUE
    };
    uint64_t used = 0;
};
static_assert(Parameters::COUNT <= 64);

}  // namespace polyloom::minion
