// SPDX-License-Identifier: Apache-2.0
// clang-format Language: C
// Instantiation on any host: a symbolic configuration, parameter values and a region become a concrete configuration
// (docs/formats.md). Freestanding C11: no heap, no global state, nothing of libc but memcpy and memset.
//
// `polyloom_instantiate` does all. Its parts are also separate calls, in this order, on one request that stays as it
// is:
//
//     status = polyloom_plan(&request, &result);
//     while (status == POLYLOOM_OK) {
//         for each i below result.classes: polyloom_class(&request, i, scratch of its thread, its size, &other);
//         status = polyloom_merge(&request, &result);
//         if (status != POLYLOOM_AGAIN) break;
//         status = POLYLOOM_OK;    // the machine is too small for that tiling: another one is planned
//     }
//     if (status == POLYLOOM_OK) status = polyloom_emit(&request, &result);
//
// Only `polyloom_class` may run in several threads at once, each class with scratch of its own that is kept until the
// output is written. It may be left out, for some classes or for all: `polyloom_merge` makes the others in the
// request's scratch. The bytes are the same.
#ifndef POLYLOOM_INSTANTIATE_H
#define POLYLOOM_INSTANTIATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POLYLOOM_ALL UINT32_MAX
// The most loop dimensions that a build takes, 63 at most: what is on the stack grows with them. A file with more ends
// in POLYLOOM_OVERFLOW. A library built with POLYLOOM_INT32 takes 16 at most.
#ifndef POLYLOOM_DIMENSIONS
#define POLYLOOM_DIMENSIONS 63
#endif

// Besides these a status is the number of a diagnostic: 510 is PL0510.
enum {
    POLYLOOM_OK = 0,
    POLYLOOM_SCRATCH = 1,   // more scratch is needed
    POLYLOOM_OUTPUT = 2,    // a larger output buffer is needed
    POLYLOOM_OVERFLOW = 3,  // an intermediate does not fit the library's integers, or a number of the file 31 bits
    POLYLOOM_AGAIN = 4,     // of `polyloom_merge` alone
};

// Where an array is: element (i0, i1, ...) is word base + strides . (i0, i1, ...) of memory `bank`.
typedef struct {
    const int64_t *strides;  // by dimension of the array
    int64_t base;
    uint32_t bank;
} polyloom_layout;

typedef struct {
    const uint8_t *symbolic;
    size_t symbolic_size;
    const int64_t *values;  // by parameter, in the order of the file
    uint32_t value_count;
    uint32_t rows, columns;
    uint32_t closed;                 // borders of the region that have no banks: 1 north, 2 east, 4 south, 8 west
    uint32_t candidate;              // the only one that is tried, or POLYLOOM_ALL
    uint32_t size_count;             // of `sizes`
    const int64_t *sizes;            // the tile sizes by dimension, or null: the library chooses
    const polyloom_layout *layouts;  // by array, or null; strides of null are row-major, in a memory of the array's own
    uint8_t *output;                 // may be null for `polyloom_query`
    size_t output_size;
    void *scratch;  // of any alignment; nothing outside of it is written
    size_t scratch_size;
} polyloom_request;

// What a refusal is about.
enum {
    POLYLOOM_NOTHING,
    POLYLOOM_USE,        // 510: the use `index` has a slack of `needed` cycles
    POLYLOOM_WAVEFRONT,  // 510: no wavefront serves the use `index`
    POLYLOOM_FEEDBACK,   // 511: fd `index`
    POLYLOOM_INPUT,      // 511, 517: id `index`
    POLYLOOM_RESULT,     // 517: od `index`
    POLYLOOM_KERNEL,     // 512: kernel `place` of unit `index`
    POLYLOOM_SIGNAL,     // 513, 706: how many; 514: of one of them
    POLYLOOM_GENERATOR,  // 514, 518 to 520: of array `index`, at row or column `place` of `side`
    POLYLOOM_COUNTER,    // 515
    POLYLOOM_UNIT,       // 516: unit `index`, which has `place` kernels
    POLYLOOM_CHANNELS,   // 517: of the region; a square of `place` elements per side would fit, 0 if none
    POLYLOOM_TILES,      // 506: `sizes` are the least ones
    POLYLOOM_SLOT,       // 530: operations of offset `needed` meet in slot `place`
    POLYLOOM_REGION,     // 530: a propagation channel leaves the region
    POLYLOOM_PORT,       // 530: port `index` at location `side` of the element `place` (row by row) is driven twice
    POLYLOOM_FIELD,      // 706: a number `needed` of section `index`, where there is room for less than `available`
    POLYLOOM_CLOSED,     // 505: banks are neither at the north nor at the south, or neither at the east nor at the west
    POLYLOOM_HELD,       // 510: the unit of node `index` may be held by another operation
};

typedef struct {
    uint32_t status;
    uint32_t position;     // of a fault in the symbolic file, in bytes
    uint32_t classes;      // to be instantiated: of `polyloom_plan` and `polyloom_merge`
    size_t output_size;    // bytes written; of `polyloom_query`: needed
    size_t scratch_size;   // most bytes in use; of `polyloom_query`: needed
    size_t class_size;     // of `polyloom_query`: scratch that suffices for each class of its own
    uint32_t kind, index;  // what is refused
    uint32_t side, place;
    int64_t needed, available;           // in 514, 0 convex sets that are needed are half-spaces that are missing
    uint32_t candidate, rows, columns;   // the tiling that is refused, or was taken
    int64_t sizes[POLYLOOM_DIMENSIONS];  // its tile sizes, by dimension
} polyloom_result;

// All fill `result` and return its status. Re-entrant.
uint32_t polyloom_instantiate(const polyloom_request *request, polyloom_result *result);
uint32_t polyloom_plan(const polyloom_request *request, polyloom_result *result);
uint32_t polyloom_class(const polyloom_request *request, uint32_t number, void *scratch, size_t scratch_size,
                        polyloom_result *result);
uint32_t polyloom_merge(const polyloom_request *request, polyloom_result *result);
uint32_t polyloom_emit(const polyloom_request *request, polyloom_result *result);

// The sizes that suffice for this request, or the status that it ends in, without an output. It works in the request's
// scratch; where that is too small, the status is POLYLOOM_SCRATCH and the sizes are not known yet. A request with
// scratch of `scratch_size` bytes, anywhere in memory, then does not need more. Independent of the number of elements,
// but for an access without a common border.
uint32_t polyloom_query(const polyloom_request *request, polyloom_result *result);

// message.c, which may be left out of a build.
const char *polyloom_status_message(uint32_t status);

#ifdef __cplusplus
}
#endif
#endif
