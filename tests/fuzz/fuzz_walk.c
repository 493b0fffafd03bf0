// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry: whatever the bytes are, the walk over a plan ends in a status, touches nothing outside its buffers
// (each is a block of its own, for the address sanitizer), tells the same again in other memory, and needs no more than
// the query says. An input is a request, then a file of any kind.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "polyloom_plan.h"

#define VALUES 4
#define SCRATCH ((size_t)1 << 18)
#define MOST ((size_t)1 << 24)
#define REGION 6
#define STEPS 48
#define LARGEST 24  // parameters, so that a walk is short
#define PHASES 64
#define ENDS 32  // of the file's sections

enum { COUNT, ROWS, COLUMNS, CLOSED, CANDIDATES, SKEW, VALUE, REQUEST = VALUE + VALUES };

typedef struct {
    uint64_t sum;
    uint32_t calls, stop;
} Told;

static uint32_t load(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void store(uint8_t *p, uint64_t value) {
    for (int i = 0; i < 8; ++i) p[i] = (uint8_t)(value >> 8 * i);
}

// The checksum of docs/formats.md, so that altered files get past it.
static void repair(uint8_t *file, size_t size) {
    uint64_t a = 0, b = 0;
    for (size_t i = 16; i + 4 <= size; i += 4) {
        a = (a + load(file + i)) % 0xFFFFFFFF;
        b = (b + a) % 0xFFFFFFFF;
    }
    store(file + 8, b << 32 | a);
}

// The file, and the files in it wherever one seems to begin: from the last one on, as an outer sum covers the inner
// ones.
static void repair_all(uint8_t *file, size_t size) {
    for (size_t at = size / 4 * 4; at >= 4; at -= 4) {
        uint8_t *inner = file + at - 4;
        const size_t left = size - (at - 4);
        if (left < ENDS || memcmp(inner, "PL", 2)) continue;
        const uint32_t sections = inner[3] == 'P' || inner[3] == 'L' ? 3 : inner[2] == 'S' ? 6 : 7;
        if (left < ENDS + 4 * sections) continue;
        const uint64_t end = ((uint64_t)load(inner + ENDS + 4 * (sections - 1)) + 3) & ~(uint64_t)3;
        if (end >= 16 && end <= left) repair(inner, (size_t)end);
    }
}

static uint8_t *block(size_t size) {
    uint8_t *made = malloc(size);
    if (!made) abort();
    return made;
}

static void note(Told *t, const void *data, size_t size) {
    for (const uint8_t *p = data; size; --size) t->sum = (t->sum ^ *p++) * 1099511628211u;
}

static uint32_t scalar(void *context, uint32_t array, int64_t value) {
    note(context, &array, sizeof array);
    note(context, &value, sizeof value);
    return 0;
}

static uint32_t transfer(void *context, const polyloom_transfer *t) {
    note(context, t, sizeof *t);
    return 0;
}

static uint32_t step(void *context, const polyloom_step *s) {
    Told *t = context;
    note(t, &s->phase, sizeof s->phase);
    note(t, s->counters, s->counter_count * sizeof *s->counters);
    note(t, s->words, s->size);
    note(t, &s->transfers, 2 * sizeof s->transfers);
    return ++t->calls == t->stop;
}

static polyloom_walked walk(polyloom_walk_request request, const polyloom_walked *needed, size_t skew, Told *told) {
    uint8_t *scratch = block(needed->scratch_size + skew), *output = block(needed->output_size);
    request.scratch = scratch + skew;
    request.scratch_size = needed->scratch_size;
    request.output = output;
    request.output_size = needed->output_size;
    const polyloom_calls calls = {told, scalar, transfer, step};
    polyloom_walked result;
    if (polyloom_walk(&request, &calls, &result) != result.status) abort();
    free(scratch);
    free(output);
    return result;
}

// Where the walk is refused, the sizes are those that were tried.
static polyloom_walked query(polyloom_walk_request request) {
    polyloom_walked result = {.status = POLYLOOM_SCRATCH};
    for (size_t room = SCRATCH; result.status == POLYLOOM_SCRATCH && room <= MOST; room *= 8) {
        uint8_t *scratch = block(room);
        request.scratch = scratch;
        request.scratch_size = room;
        if (polyloom_walk_query(&request, &result) != result.status || result.status > 999) abort();
        if (result.status) result.scratch_size = result.output_size = room;
        free(scratch);
    }
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t given) {
    if (given < REQUEST) return 0;
    const size_t size = given - REQUEST;
    uint8_t *file = block(size);
    memcpy(file, data + REQUEST, size);
    repair_all(file, size);
    int64_t values[VALUES];
    uint32_t candidates[PHASES];
    for (int i = 0; i < VALUES; ++i) values[i] = data[VALUE + i] % LARGEST;
    for (int i = 0; i < PHASES; ++i) candidates[i] = data[CANDIDATES] >> i % 8 & 1 ? 0 : POLYLOOM_ALL;
    const polyloom_walk_request request = {.symbolic = file,
                                           .symbolic_size = size,
                                           .values = values,
                                           .value_count = data[COUNT] % (VALUES + 1),
                                           .rows = data[ROWS] % (REGION + 1),
                                           .columns = data[COLUMNS] % (REGION + 1),
                                           .closed = data[CLOSED] % 16,
                                           .candidates = data[CANDIDATES] ? candidates : NULL,
                                           .most_steps = STEPS};
    const polyloom_walked needed = query(request);
    if (needed.status != POLYLOOM_SCRATCH && needed.output_size <= MOST) {
        Told told = {0}, again = {0}, stopped = {.stop = 1};
        const polyloom_walked first = walk(request, &needed, data[SKEW] % 16, &told);
        const polyloom_walked second = walk(request, &needed, 16, &again);
        if (first.status != needed.status || first.steps != needed.steps || first.cycles != needed.cycles) abort();
        if (second.status != first.status || told.sum != again.sum || told.calls != first.steps) abort();
        const uint32_t status = walk(request, &needed, 0, &stopped).status;
        if (status != (first.steps ? (uint32_t)POLYLOOM_STOPPED : first.status)) abort();
    }
    free(file);
    return 0;
}
