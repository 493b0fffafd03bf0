// SPDX-License-Identifier: Apache-2.0
// Instantiates again and again, in buffers of just the size that the query asks for, between guards that must stay as
// they are. Arguments: how often, and optionally the run after which the byte behind the scratch is changed, as a fault
// would. Standard input: cases as for harness.c, whose values and regions are upper limits here. Standard output:
// instantiations, refusals, and the sum of all words written. Stops with a message and exit code 1 at the first fault.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "polyloom_instantiate.h"

#define GUARD 512
#define FILL 0xA5
#define MOST ((size_t)1 << 20)
#define VALUES 8
#define CASES 64

typedef struct {
    uint8_t *file;
    uint32_t size, count, rows, columns;
    int64_t limit[VALUES];
} Case;

static _Noreturn void stop(const char *why, unsigned long run) {
    fprintf(stderr, "run %lu: %s\n", run, why);
    exit(1);
}

static uint32_t word(void) {
    uint8_t b[4];
    if (fread(b, 1, 4, stdin) != 4) stop("the input is truncated", 0);
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void read_case(Case *c, uint32_t size) {
    c->size = size;
    c->file = malloc(size + 3);
    if (!c->file || fread(c->file, 4, (size + 3) / 4, stdin) != (size + 3) / 4) stop("the input is truncated", 0);
    c->count = word();
    if (c->count > VALUES) stop("too many parameters", 0);
    for (uint32_t i = 0; i < c->count; ++i) {
        c->limit[i] = word();
        word();
    }
    c->rows = word();
    c->columns = word();
}

static uint32_t cases(Case all[CASES]) {
    uint32_t n = 0;
    for (int c; n < CASES && (c = getchar()) != EOF; ++n) {
        ungetc(c, stdin);
        read_case(&all[n], word());
    }
    return n;
}

// Numerical Recipes' linear congruential generator; its low bits are poor.
static uint32_t draw(uint32_t *state, uint32_t below) {
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*state * below >> 32);
}

static uint8_t *guarded(uint8_t *memory, size_t size) {
    memset(memory, FILL, GUARD);
    memset(memory + GUARD + size, FILL, GUARD);
    return memory + GUARD;
}

static int intact(const uint8_t *memory, size_t size) {
    for (size_t i = 0; i < GUARD; ++i)
        if (memory[i] != FILL || memory[GUARD + size + i] != FILL) return 0;
    return 1;
}

int main(int arguments, char **argument) {
    static Case all[CASES];
    static uint8_t scratch[MOST + 2 * GUARD], output[MOST + 2 * GUARD];
    const unsigned long runs = arguments > 1 ? strtoul(argument[1], NULL, 10) : 0,
                        faulty = arguments > 2 ? strtoul(argument[2], NULL, 10) : runs;
    const uint32_t n = cases(all);
    if (!n) stop("there are no cases", 0);
    unsigned long made = 0, refused = 0;
    uint32_t state = 1, sum = 0;
    for (unsigned long run = 0; run < runs; ++run) {
        const Case *c = &all[run % n];
        int64_t values[VALUES];
        for (uint32_t i = 0; i < c->count; ++i) values[i] = draw(&state, (uint32_t)c->limit[i] + 1);
        polyloom_request request = {.symbolic = c->file,
                                    .symbolic_size = c->size,
                                    .values = values,
                                    .value_count = c->count,
                                    .candidate = POLYLOOM_ALL};
        request.rows = 1 + draw(&state, c->rows);
        request.columns = 1 + draw(&state, c->columns);
        request.scratch = scratch;
        request.scratch_size = MOST;
        polyloom_result needed, result;
        if (polyloom_query(&request, &needed) != POLYLOOM_OK) {
            ++refused;
            continue;
        }
        if (needed.scratch_size > MOST || needed.output_size > MOST) stop("the query asks for too much", run);
        request.scratch = guarded(scratch, request.scratch_size = needed.scratch_size);
        request.output = guarded(output, request.output_size = needed.output_size);
        if (polyloom_instantiate(&request, &result) != POLYLOOM_OK) stop("refused after the query allowed it", run);
        if (run >= faulty) ++scratch[GUARD + needed.scratch_size];
        if (!intact(scratch, needed.scratch_size)) stop("scratch was left", run);
        if (!intact(output, needed.output_size)) stop("the output was left", run);
        if (result.output_size > needed.output_size) stop("the output is larger than its buffer", run);
        for (size_t i = 0; i < result.output_size; ++i) sum = sum * 31 + request.output[i];
        ++made;
    }
    printf("%lu %lu %lu\n", made, refused, (unsigned long)sum);
    return 0;
}
