// SPDX-License-Identifier: Apache-2.0
// The configuration of a step, in the output or, where there is none, at the end of the scratch. The scratch holds what
// the file says, then keys that are kept, and behind these what is being made.
#include "internal.h"

uint64_t *keys(const Walker *k) { return (uint64_t *)k->start + k->held; }

static uint8_t *end_of(const Walker *k) { return (uint8_t *)k->request->scratch + k->request->scratch_size; }

// Wherever the scratch begins, a multiple of 16 is left.
void used(Walker *k, size_t behind_keys) {
    const size_t taken = (size_t)((uint8_t *)keys(k) - k->whole.c->base) + behind_keys,
                 size = ((taken + 15) & ~(size_t)15) + 15;
    if (size > k->out->scratch_size) k->out->scratch_size = size;
}

// How many keys there is room for behind those that are kept and `more` others.
size_t room_for_keys(const Walker *k, size_t more) {
    const bool at_end = !k->request->output && !k->whole.is_concrete;
    const uint8_t *end = at_end ? k->words : end_of(k), *at = (uint8_t *)(keys(k) + more);
    return at < end ? (size_t)(end - at) / sizeof(uint64_t) : 0;
}

static bool refused(Walker *k, const Stage *s, const polyloom_result *result) {
    const bool faulty = result->status >= 700 && result->status < 706;
    used(k, result->scratch_size);
    k->out->last = *result;
    return fail(k->whole.c, result->status, faulty ? result->position + s->at : 0);
}

static bool instantiate(Walker *k, const Stage *s, uint32_t candidate) {
    const Whole *w = &k->whole;
    const polyloom_walk_request *r = k->request;
    if (w->layout && !w->is_alone) lie(w, s, k->layout);
    polyloom_request own = {.symbolic = w->c->data + s->at,
                            .symbolic_size = s->length,
                            .values = k->value[1],
                            .value_count = s->values,
                            .rows = w->rows,
                            .columns = w->columns,
                            .closed = w->closed,
                            .candidate = candidate,
                            .layouts = w->layout && !w->is_alone ? k->layout : w->layout,
                            .output = r->output,
                            .output_size = r->output_size,
                            .scratch = keys(k),
                            .scratch_size = (size_t)(end_of(k) - (uint8_t *)keys(k))};
    polyloom_result result;
    if (!r->output) {
        if (polyloom_query(&own, &result)) return refused(k, s, &result);
        used(k, result.scratch_size);
        if (result.output_size > own.scratch_size) return fail(w->c, POLYLOOM_SCRATCH, 0);
        own.output = end_of(k) - result.output_size;
        own.output_size = result.output_size;
        own.scratch_size -= result.output_size;
    }
    if (polyloom_instantiate(&own, &result)) return refused(k, s, &result);
    used(k, result.scratch_size);
    k->out->last = result;
    k->words = own.output;
    k->size = result.output_size;
    if (k->size > k->out->output_size) k->out->output_size = k->size;
    return true;
}

// Makes the configuration of a phase, of one candidate or of the best, unless it is there. One of a concrete file lies
// there.
bool make(Walker *k, const Stage *s, uint32_t candidate) {
    const Whole *w = &k->whole;
    if (w->is_concrete) {
        k->words = w->c->data + s->at;
        k->size = s->length;
        return true;
    }
    TRY(arguments_of((Whole *)w, s, k->value[1]));
    const size_t size = s->values * sizeof(int64_t);
    if (k->made == s && k->made_with == candidate && same_bytes(k->value[0], k->value[1], size)) return true;
    k->made = NULL;
    TRY(instantiate(k, s, candidate));
    k->made = s;
    k->made_with = candidate;
    memcpy(k->value[0], k->value[1], size);
    return true;
}
