// SPDX-License-Identifier: Apache-2.0
// The reader of concrete configurations of steps (docs/formats.md): values, region, candidates and layouts take the
// place of what a request says, and the file of phases inside that of the file.
#include "internal.h"

#define SECTIONS 3
#define VERSION 2
enum { HEAD, PHASES };

// What lasts and has 64 bits, whatever the machine's words.
static void *keep_wide(Context *c, size_t count, size_t size) {
    c->low = (c->low + 7) & ~(size_t)7;
    return keep(c, count, size);
}

static bool read_values(Reader *r, polyloom_walk_request *q) {
    q->value_count = count(r);
    int64_t *values = keep_wide(r->c, q->value_count, sizeof *values);
    for (uint32_t i = 0; i < q->value_count && ok(r->c); ++i) values[i] = integer(r);
    q->values = values;
    return ok(r->c);
}

static bool read_candidates(Reader *r, polyloom_walk_request *q, uint32_t *number) {
    *number = count(r);
    uint32_t *candidates = keep(r->c, *number, sizeof *candidates);
    for (uint32_t i = 0; i < *number && ok(r->c); ++i) candidates[i] = below(r, NONE) - 1;  // NONE is POLYLOOM_ALL
    q->candidates = candidates;
    return ok(r->c);
}

static uint32_t full(Reader *r) {
    const uint64_t v = natural(r);
    if (v > UINT32_MAX) malformed(r);
    return (uint32_t)v;
}

static bool read_layouts(Reader *r, polyloom_walk_request *q, uint32_t *number) {
    *number = count(r);
    polyloom_layout *layouts = keep_wide(r->c, *number, sizeof *layouts);
    for (uint32_t i = 0; i < *number && ok(r->c); ++i) {
        const uint32_t rank = below(r, 32);
        int64_t *strides = keep_wide(r->c, rank, sizeof *strides);
        for (uint32_t k = 0; k < rank && ok(r->c); ++k) strides[k] = full(r);
        layouts[i].strides = strides;
        layouts[i].base = full(r);
        layouts[i].bank = below(r, 1 << 16);
    }
    q->layouts = *number ? layouts : NULL;
    return ok(r->c);
}

bool read_bound(Whole *w, polyloom_walk_request *q) {
    Context *c = w->c;
    TRY(check_container(c, q->symbolic_size, "PLCL", VERSION, SECTIONS));
    Reader r = section_of(c, HEAD, SECTIONS);
    const Reader phases = section_of(c, PHASES, SECTIONS);
    TRY(read_values(&r, q));
    q->rows = below(&r, 1 << 16);
    q->columns = below(&r, 1 << 16);
    q->closed = below(&r, 16);
    TRY(read_candidates(&r, q, &w->chosen) && read_layouts(&r, q, &w->placed));
    if (r.at != r.end || phases.end - phases.at < 4) return malformed(&r);
    w->origin = phases.at;
    c->data += phases.at;
    q->symbolic_size = phases.end - phases.at;
    return same_bytes(c->data, "PLSP", 4) || fail(c, 705, 0);
}
