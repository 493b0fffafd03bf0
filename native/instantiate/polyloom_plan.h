// SPDX-License-Identifier: Apache-2.0
// clang-format Language: C
// Plans on any host: a symbolic file of several phases, and of loops of steps around them, is walked step by step. Each
// step becomes the concrete configuration of one phase, made by `polyloom_instantiate`; what moves between the banks
// before it starts is told word by word (docs/targets/tcpa.md, Phases). The file of a single program is a plan of one
// step. Freestanding C11, as the rest.
//
//     status = polyloom_walk(&request, &calls, &walked);
//
// For each step, in this order: `scalar` for every scalar of its phase that parameters and counters determine,
// `transfer` for every word that a bank receives, `step` with the configuration. What may be null is left out. A call
// that does not return 0 ends the walk in POLYLOOM_STOPPED.
#ifndef POLYLOOM_PLAN_H
#define POLYLOOM_PLAN_H

#include "polyloom_instantiate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { POLYLOOM_STOPPED = 5 };  // a status, as those of polyloom_instantiate.h

// A concrete file says itself what `values` to `layouts` say: these are not read then.
typedef struct {
    const uint8_t *symbolic;  // any file that `polyloom compile` or `polyloom instantiate` writes
    size_t symbolic_size;
    const int64_t *values;  // by parameter, in the order of the file
    uint32_t value_count;
    uint32_t rows, columns;
    uint32_t closed;                 // borders of the region that have no banks, as in polyloom_instantiate.h
    const uint32_t *candidates;      // by phase, POLYLOOM_ALL where the library chooses; or null for all
    const polyloom_layout *layouts;  // by array of the file, or null; as in polyloom_instantiate.h
    uint32_t most_steps;             // more end in status 521; 0 for 2^20
    uint8_t *output;  // holds one configuration at a time; may be null for `polyloom_walk_query` and concrete files
    size_t output_size;
    void *scratch;  // of any alignment
    size_t scratch_size;
} polyloom_walk_request;

// A bank: at side 0 north, 1 east, 2 south, 3 west of the region, beside that row or column, on that channel.
#define POLYLOOM_OUTSIDE 4
typedef struct {
    uint32_t side, position, channel;
} polyloom_bank;

// A word that `to` receives before the step starts: element number `element`, row by row, of array `array` of the file;
// of an array that is placed, word `element` of its memory. Where no step has touched the element, it comes from
// outside: the side of `from` is POLYLOOM_OUTSIDE.
typedef struct {
    uint32_t array, element;
    polyloom_bank from, to;
} polyloom_transfer;

typedef struct {
    uint32_t phase;           // in the order of the file
    uint32_t counter_count;   // of the plan
    const int64_t *counters;  // of loops that are not around this step, what they were last
    const uint8_t *words;     // the concrete configuration, a file as `polyloom instantiate` writes it
    size_t size;
    uint32_t transfers, transfer_cycles;  // words that move from bank to bank, and how long that takes
} polyloom_step;

typedef struct {
    void *context;
    uint32_t (*scalar)(void *context, uint32_t array, int64_t value);  // not yet wrapped to the array's type
    uint32_t (*transfer)(void *context, const polyloom_transfer *transfer);
    uint32_t (*step)(void *context, const polyloom_step *step);
} polyloom_calls;

typedef struct {
    uint32_t status;
    uint32_t position;           // of a fault in the file, in bytes
    uint32_t phase;              // of the last step
    uint64_t steps;              // that were made
    uint64_t transfers, cycles;  // of all steps
    size_t output_size;          // of the largest configuration; of `polyloom_walk_query`: needed
    size_t scratch_size;         // of `polyloom_walk_query`: needed
    polyloom_result last;        // of the last instantiation: what is refused, where something is
} polyloom_walked;

// Both fill `walked` and return its status. Re-entrant, but a call must not change the request's buffers.
uint32_t polyloom_walk(const polyloom_walk_request *request, const polyloom_calls *calls, polyloom_walked *walked);

// The sizes that suffice, or the status that the walk ends in. It takes as long as the walk, and makes configurations
// in the request's scratch; where that is too small, the status is POLYLOOM_SCRATCH and the sizes are not known yet.
uint32_t polyloom_walk_query(const polyloom_walk_request *request, polyloom_walked *walked);

#ifdef __cplusplus
}
#endif
#endif
