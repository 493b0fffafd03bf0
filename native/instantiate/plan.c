// SPDX-License-Identifier: Apache-2.0
// The walk over a plan: its tree is followed with the counters' values, and every step is made and handed over. The
// keys that are kept are those of holders.
#include "internal.h"

#define MOST (1 << 20)  // steps, where a request says no number

// Adds what the step touches, whose keys follow those of the holders, to these.
static void hold(Walker *k, uint32_t touched) { k->held = held_after((uint64_t *)k->start, k->held, touched); }

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
    TRY(touches(&k->whole, s, k->words, false, keys(k), room_for_keys(k, 0), &needs));
    used(k, k->whole.most * sizeof(uint64_t));
    uint64_t *moved = keys(k) + needs;
    TRY(transfers(&k->whole, k->calls, (uint64_t *)k->start, k->held, keys(k), needs, moved, room_for_keys(k, needs),
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
    TRY(make(k, s, w->candidate[number]) && tell_scalars(k, s));
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
    TRY(touches(w, s, k->words, true, keys(k), room_for_keys(k, 0), &written));
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
            *value += s->kind == UPWARDS ? s->stride : -s->stride;
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
    Whole *w = &k->whole;
    w->c = c;
    TRY(read_plan(w, k->request));
    c->low = (c->low + 7) & ~(size_t)7;  // what follows has 64 bits, whatever the machine's words
    uint32_t most = 0, arrays = 0;
    for (const Stage *s = w->stage; s < w->stage + w->stages; ++s) {
        if (s->values > most) most = s->values;
        if (s->arrays > arrays) arrays = s->arrays;
    }
    for (int i = 0; i < 2; ++i) TRY(k->value[i] = keep(c, most, sizeof(int64_t)));
    TRY(k->counter = keep(c, w->counters, sizeof(int64_t)));
    if (w->layout) TRY(k->layout = keep(c, arrays, sizeof *k->layout));
    if (w->stages > 1) TRY(k->block = keep(c, w->stages + 1, sizeof *k->block + sizeof(bool)));
    c->low = (c->low + 7) & ~(size_t)7;
    k->start = c->base + c->low;
    used(k, c->peak > c->low ? c->peak - c->low : 0);
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
        if (start(k, c) && choose_together(k)) follow(k);
        if (c->error >= 700 && c->error < 706) c->position += (uint32_t)k->whole.origin;
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
