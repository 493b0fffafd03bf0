// SPDX-License-Identifier: Apache-2.0
// The walk over a plan: its tree is followed with the counters' values, and every step is instantiated and handed over.
// The scratch holds what the file says, the keys of holders behind it, and behind these what a step needs: first its
// instantiation, then the keys of what it touches. Without an output, configurations lie at the end of the scratch.
#include "internal.h"

#define MOST (1 << 20)  // steps, where a request says no number

typedef struct {
    Whole whole;
    const polyloom_walk_request *request;
    const polyloom_calls *calls;
    polyloom_walked *out;
    const Stage *made;  // whose configuration is in the output
    int64_t *value[2];  // of its parameters, and of the ones that are asked for
    int64_t *counter;   // as a call is told
    uint8_t *start;     // of all keys, of which the first are those of holders
    uint32_t holders;
    uint8_t *words;
    size_t size;
} Walker;

static uint64_t *keys(const Walker *k) { return (uint64_t *)k->start + k->holders; }

static uint8_t *end_of(const Walker *k) { return (uint8_t *)k->request->scratch + k->request->scratch_size; }

// Wherever the scratch begins, a multiple of 16 is left.
static void used(Walker *k, size_t behind_keys) {
    const size_t taken = (size_t)((uint8_t *)keys(k) - k->whole.c->base) + behind_keys,
                 size = ((taken + 15) & ~(size_t)15) + 15;
    if (size > k->out->scratch_size) k->out->scratch_size = size;
}

static bool refused(Walker *k, const Stage *s, const polyloom_result *result) {
    const bool faulty = result->status >= 700 && result->status < 706;
    k->out->last = *result;
    return fail(k->whole.c, result->status, faulty ? result->position + s->at : 0);
}

// Makes the configuration of a phase, unless it is there.
static bool make(Walker *k, const Stage *s) {
    Whole *w = &k->whole;
    for (uint32_t i = 0; i < s->values; ++i) k->value[1][i] = w->value[s->value[i]];
    if (k->made == s && same_bytes(k->value[0], k->value[1], s->values * sizeof(int64_t))) return true;
    const polyloom_walk_request *r = k->request;
    polyloom_request own = {.symbolic = w->c->data + s->at,
                            .symbolic_size = s->length,
                            .values = k->value[1],
                            .value_count = s->values,
                            .rows = r->rows,
                            .columns = r->columns,
                            .closed = r->closed,
                            .candidate = r->candidates ? r->candidates[s - w->stage] : POLYLOOM_ALL,
                            .output = r->output,
                            .output_size = r->output_size,
                            .scratch = keys(k),
                            .scratch_size = (size_t)(end_of(k) - (uint8_t *)keys(k))};
    polyloom_result result;
    k->made = NULL;
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
    k->made = s;
    memcpy(k->value[0], k->value[1], s->values * sizeof(int64_t));
    return true;
}

// How many keys there is room for behind those of the holders and `more` others.
static size_t room(const Walker *k, uint32_t more) {
    const uint8_t *end = k->request->output ? end_of(k) : k->words, *at = (uint8_t *)(keys(k) + more);
    return at < end ? (size_t)(end - at) / sizeof(uint64_t) : 0;
}

// Adds what the step touches, whose keys follow those of the holders, to these.
static void hold(Walker *k, uint32_t touched) { k->holders = held_after((uint64_t *)k->start, k->holders, touched); }

static bool tell_scalars(const Walker *k, const Stage *s) {
    Whole *w = (Whole *)&k->whole;
    for (uint32_t i = 0; i < s->arrays && k->calls && k->calls->scalar; ++i) {
        const Variable *slot = &w->slot[s->array[i]];
        if (slot->role != PARAMETRIC) continue;
        const Int value = scalar_of(w, slot);
        TRY(ok(w->c));
        if (k->calls->scalar(k->calls->context, s->array[i], value)) return fail(w->c, POLYLOOM_STOPPED, 0);
    }
    return true;
}

// Tells what moves before the step, and takes notes of what it reads.
static bool prepare(Walker *k, const Stage *s, polyloom_step *step) {
    uint32_t needs = 0;
    TRY(touches(&k->whole, s, k->words, false, keys(k), room(k, 0), &needs));
    used(k, k->whole.most * sizeof(uint64_t));
    uint64_t *moved = keys(k) + needs;
    TRY(transfers(&k->whole, k->calls, (uint64_t *)k->start, k->holders, keys(k), needs, moved, room(k, needs),
                  &step->transfers));
    used(k, ((size_t)needs + step->transfers) * sizeof(uint64_t));
    step->transfer_cycles = busiest(moved, step->transfers);
    hold(k, needs);
    return true;
}

static bool take_step(Walker *k, uint32_t number) {
    Whole *w = &k->whole;
    if (k->out->steps == (k->request->most_steps ? k->request->most_steps : MOST)) return fail(w->c, 521, 0);
    const Stage *s = &w->stage[number];
    k->out->phase = number;
    TRY(make(k, s) && tell_scalars(k, s));
    for (uint32_t i = 0; i < w->counters; ++i) k->counter[i] = w->value[w->parameters + i];
    polyloom_step step = {
        .phase = number, .counter_count = w->counters, .counters = k->counter, .words = k->words, .size = k->size};
    const bool several = w->steps > 1;
    if (several) TRY(prepare(k, s, &step));
    ++k->out->steps;
    k->out->transfers += step.transfers;
    k->out->cycles += step.transfer_cycles;
    if (k->calls && k->calls->step && k->calls->step(k->calls->context, &step)) return fail(w->c, POLYLOOM_STOPPED, 0);
    if (!several) return true;
    uint32_t written = 0;
    TRY(touches(w, s, k->words, true, keys(k), room(k, 0), &written));
    used(k, w->most * sizeof(uint64_t));
    hold(k, written);
    return true;
}

// The step after one that is done: the next one of its body, or the first one again with the next value of a counter.
static uint32_t next_step(Whole *w, uint32_t number, uint32_t around) {
    for (; around != NONE && number == w->step[around].end; around = w->step[around].parent) {
        const Step *s = &w->step[around];
        Int *value = &w->value[w->parameters + s->number];
        if (*value != s->last) {
            *value += s->kind == UPWARDS ? 1 : -1;
            return around + 1;
        }
    }
    return number;
}

static bool follow(Walker *k) {
    Whole *w = &k->whole;
    for (uint32_t number = 0; number < w->steps;) {
        Step *s = &w->step[number];
        if (s->kind == PHASE) {
            TRY(take_step(k, s->number));
            number = next_step(w, number + 1, s->parent);
            continue;
        }
        Int first;
        TRY(bounds_of(w, s, &first));
        const bool empty = s->kind == UPWARDS ? first > s->last : first < s->last;
        if (!empty) w->value[w->parameters + s->number] = first;
        number = empty ? next_step(w, s->end, s->parent) : number + 1;
    }
    return true;
}

static bool start(Walker *k, Context *c) {
    const polyloom_walk_request *r = k->request;
    k->whole.c = c;
    c->data = r->symbolic;
    TRY(read_plan(&k->whole, r->symbolic_size, r->values, r->value_count));
    c->low = (c->low + 7) & ~(size_t)7;  // what follows has 64 bits, whatever the machine's words
    uint32_t most = 0;
    for (const Stage *s = k->whole.stage; s < k->whole.stage + k->whole.stages; ++s)
        if (s->values > most) most = s->values;
    for (int i = 0; i < 2; ++i) TRY(k->value[i] = keep(c, most, sizeof(int64_t)));
    TRY(k->counter = keep(c, k->whole.counters, sizeof(int64_t)));
    k->start = c->base + c->low;
    used(k, 0);
    return true;
}

uint32_t polyloom_walk(const polyloom_walk_request *r, const polyloom_calls *calls, polyloom_walked *walked) {
    *walked = (polyloom_walked){.status = POLYLOOM_SCRATCH};
    Context *c = context(r->scratch, r->scratch_size);
    if (!c) return walked->status;
    memset(c, 0, sizeof *c);
    claim(c, r->scratch, r->scratch_size);
    c->low = (c->low + 7) & ~(size_t)7;
    Walker *k = keep(c, 1, sizeof *k);
    if (k) {
        k->request = r;
        k->calls = calls;
        k->out = walked;
        if (start(k, c)) follow(k);
    }
    walked->status = c->error;
    walked->position = c->position;
    return walked->status;
}

uint32_t polyloom_walk_query(const polyloom_walk_request *r, polyloom_walked *walked) {
    polyloom_walk_request asked = *r;
    asked.output = NULL;
    return polyloom_walk(&asked, NULL, walked);
}
