// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry: whatever the bytes are, instantiation ends in a status, touches nothing outside its buffers (each
// is a block of its own, for the address sanitizer), gives the same again in other memory and phase by phase, and needs
// no more than the query says. An input is a request, then the symbolic file.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "polyloom_instantiate.h"

#define VALUES 8
#define SCRATCH ((size_t)1 << 18)
#define OUTPUT ((size_t)1 << 16)
#define MOST ((size_t)1 << 24)
#define REGION 24
#define ARRAYS 64
#define APART 256
#define HEAD 56  // of the file, up to three naturals: parameters, dimensions, arrays

enum {
    COUNT,
    ROWS,
    COLUMNS,
    ROOM,
    CANDIDATE,
    SIZES,
    LAYOUTS,
    VALUE,
    TILE = VALUE + 4 * VALUES,
    REQUEST = TILE + VALUES
};

typedef struct {
    polyloom_request request;
    int64_t values[VALUES], sizes[VALUES], strides[32];
    polyloom_layout layouts[ARRAYS];
} Asked;

typedef struct {
    polyloom_result result;
    uint8_t *output;
} Outcome;

static uint32_t load(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

// The checksum of docs/formats.md, so that altered files get past it.
static void repair(uint8_t *file, size_t size) {
    uint64_t a = 0, b = 0;
    for (size_t i = 16; i + 4 <= size; i += 4) {
        a = (a + load(file + i)) % 0xFFFFFFFF;
        b = (b + a) % 0xFFFFFFFF;
    }
    for (int i = 0; i < 4; ++i) {
        file[8 + i] = (uint8_t)(a >> 8 * i);
        file[12 + i] = (uint8_t)(b >> 8 * i);
    }
}

static bool few_arrays(const uint8_t *file, size_t size) {
    return size > HEAD + 2 && file[HEAD] < 128 && file[HEAD + 1] < 128 && file[HEAD + 2] <= ARRAYS;
}

static void ask(const uint8_t *bytes, const uint8_t *file, size_t size, Asked *a) {
    *a = (Asked){.request = {.symbolic = file, .symbolic_size = size, .values = a->values, .candidate = POLYLOOM_ALL}};
    polyloom_request *r = &a->request;
    for (int i = 0; i < VALUES; ++i) {
        a->values[i] = (int32_t)load(bytes + VALUE + 4 * i);
        a->sizes[i] = bytes[TILE + i];
    }
    r->value_count = bytes[COUNT] % (VALUES + 1);
    r->rows = bytes[ROWS] % (REGION + 1);
    r->columns = bytes[COLUMNS] % (REGION + 1);
    if (bytes[CANDIDATE]) r->candidate = bytes[CANDIDATE] - 1u;
    if (bytes[SIZES]) {
        r->sizes = a->sizes;
        r->size_count = bytes[SIZES] % (VALUES + 1);
    }
    if (!bytes[LAYOUTS] || !few_arrays(file, size)) return;
    r->layouts = a->layouts;
    for (int i = 0; i < 32; ++i) a->strides[i] = a->values[i % VALUES];
    for (uint32_t i = 0; i < ARRAYS; ++i)
        a->layouts[i] =
            (polyloom_layout){bytes[LAYOUTS] & 1 ? a->strides : NULL, a->values[i % VALUES], i * bytes[LAYOUTS]};
}

static uint8_t *block(size_t size) {
    uint8_t *made = malloc(size);
    if (!made) abort();
    return made;
}

static Outcome instantiate(polyloom_request request, size_t room, size_t output, size_t skew) {
    uint8_t *scratch = block(room + skew);
    Outcome outcome = {.output = block(output)};
    request.scratch = scratch + skew;
    request.scratch_size = room;
    request.output = outcome.output;
    request.output_size = output;
    const uint32_t status = polyloom_instantiate(&request, &outcome.result);
    const polyloom_result *r = &outcome.result;
    if (status != r->status || status > 999 || r->position > request.symbolic_size || r->output_size > output ||
        !status != !!r->output_size)
        abort();
    free(scratch);
    return outcome;
}

static polyloom_result query(polyloom_request request, size_t room) {
    uint8_t *scratch = block(room);
    request.scratch = scratch;
    request.scratch_size = room;
    polyloom_result result;
    if (polyloom_query(&request, &result) != result.status) abort();
    free(scratch);
    return result;
}

// Phase by phase: every second class from `first` on in scratch of its own, the others by the merge.
static Outcome by_phases(polyloom_request request, const polyloom_result *needed, uint32_t first) {
    uint8_t *scratch = block(needed->scratch_size), *own[APART];
    Outcome outcome = {.output = block(needed->output_size)};
    request.scratch = scratch;
    request.scratch_size = needed->scratch_size;
    request.output = outcome.output;
    request.output_size = needed->output_size;
    uint32_t count = 0, status = polyloom_plan(&request, &outcome.result);
    while (!status) {
        for (uint32_t i = first; i < outcome.result.classes && count < APART; i += 2) {
            polyloom_result result;
            own[count] = block(needed->class_size);
            if (polyloom_class(&request, i, own[count++], needed->class_size, &result) == POLYLOOM_SCRATCH) abort();
        }
        if ((status = polyloom_merge(&request, &outcome.result)) != POLYLOOM_AGAIN) break;
        status = POLYLOOM_OK;
    }
    if (!status) polyloom_emit(&request, &outcome.result);
    while (count) free(own[--count]);
    free(scratch);
    return outcome;
}

static void same(const Outcome *a, Outcome b) {
    if (a->result.status != b.result.status || a->result.position != b.result.position ||
        a->result.output_size != b.result.output_size)
        abort();
    if (memcmp(a->output, b.output, a->result.output_size)) abort();
    free(b.output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t given) {
    if (given < REQUEST) return 0;
    const size_t size = given - REQUEST, room = data[ROOM] ? (size_t)data[ROOM] * 512 : SCRATCH;
    uint8_t *file = block(size);
    memcpy(file, data + REQUEST, size);
    if (size >= 16) repair(file, size);
    Asked asked;
    ask(data, file, size, &asked);
    Outcome first = instantiate(asked.request, room, OUTPUT, 0);
    same(&first, instantiate(asked.request, room, OUTPUT, 16));
    const polyloom_result needed = query(asked.request, SCRATCH);
    if (needed.status == POLYLOOM_OK && needed.scratch_size <= MOST && needed.output_size <= MOST) {
        const Outcome exact = instantiate(asked.request, needed.scratch_size, needed.output_size, data[ROOM] % 16);
        if (exact.result.status == POLYLOOM_SCRATCH || exact.result.status == POLYLOOM_OUTPUT) abort();
        same(&exact, by_phases(asked.request, &needed, data[ROOM] % 2));
        if (first.result.status == POLYLOOM_OK)
            same(&first, exact);
        else
            free(exact.output);
    }
    free(first.output);
    free(file);
    return 0;
}
