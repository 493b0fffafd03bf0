// SPDX-License-Identifier: Apache-2.0
// Instantiation on any host: a symbolic configuration, parameter values and a region become a concrete configuration
// (docs/formats.md). Freestanding C11: no heap, no global state, nothing of libc but memcpy, memmove, memset and memcmp.
#ifndef POLYLOOM_INSTANTIATE_H
#define POLYLOOM_INSTANTIATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Besides these a status is the number of a diagnostic: 510 is PL0510.
enum {
    POLYLOOM_OK = 0,
    POLYLOOM_SCRATCH = 1,   // more scratch is needed
    POLYLOOM_OUTPUT = 2,    // a larger output buffer is needed
    POLYLOOM_OVERFLOW = 3,  // an intermediate does not fit 64 bits, or a number of the file 31
};

typedef struct {
    const uint8_t *symbolic;
    size_t symbolic_size;
    const int64_t *values;  // by parameter, in the order of the file
    uint32_t value_count;
    uint32_t rows, columns;
    uint8_t *output;
    size_t output_size;
    void *scratch;  // of any alignment; nothing outside of it is written
    size_t scratch_size;
} polyloom_request;

typedef struct {
    uint32_t status;
    uint32_t position;      // of a fault in the symbolic file, in bytes
    size_t output_size;     // bytes written
    size_t scratch_used;    // high-water mark
} polyloom_result;

// Fills `result`; the same status is returned. Re-entrant.
uint32_t polyloom_instantiate(const polyloom_request *request, polyloom_result *result);

#ifdef __cplusplus
}
#endif
#endif
