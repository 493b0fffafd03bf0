// SPDX-License-Identifier: Apache-2.0
// Arrays of a plan that are placed: which words of which memories they have, and which ones the arrays of its phases
// have (targets/tcpa/layouts.py, and `_places` of run/phases/whole.py).
#include "internal.h"

// Adds what a dimension adds to the words from the first element of an array to the last one.
void add_words(uint64_t *words, int64_t stride, Int extent) {
    const bool wrong = stride < 0 || stride > UINT32_MAX || *words > UINT32_MAX;
    *words = wrong ? UINT64_MAX : *words + (uint64_t)stride * (uint64_t)max(extent - 1, 0);
}

// Gives an array its words, if it has elements at all.
bool span_words(Context *c, Variable *slot, int64_t base, uint64_t words) {
    if (base < 0 || base > UINT32_MAX || words > UINT32_MAX || (uint64_t)base + words - 1 > UINT32_MAX)
        return fail(c, 522, 0);
    slot->base = (uint32_t)base;
    if (slot->size) slot->size = (uint32_t)words;
    return true;
}

// Gives the words of all arrays numbers.
bool number_words(Whole *w) {
    uint64_t number = 0;
    for (Variable *s = w->slot; s < w->slot + w->slots; ++s) {
        s->first = (uint32_t)number;
        number += s->size;
        if (number > UINT32_MAX) return fail(w->c, POLYLOOM_OVERFLOW, 0);
    }
    return true;
}

static uint32_t base_of(const uint8_t *places, uint32_t array) {
    for (uint32_t left = load16(places); left; --left, places += 8)
        if (load16(places + 2) == array) return load32(places + 6);
    return 0;
}

// Takes the words of the arrays of a concrete phase. Every phase has the same ones.
static bool words_of_phase(Whole *w, const Stage *s) {
    Head h;
    head_of(w->c->data + s->at, &h);
    const uint8_t *at = h.array, *places = at;
    if (h.arrays != s->arrays) return fail(w->c, 705, s->at);
    for (uint32_t i = 0; i < h.arrays; ++i) places += 2 + 8 * places[1];
    for (uint32_t i = 0; i < h.arrays; ++i, at += 2 + 8 * at[1]) {
        Variable *slot = &w->slot[s->array[i]], own = *slot;
        uint64_t words = 1;
        own.size = 1;
        for (uint32_t m = 0; m < at[1]; ++m) {
            const uint32_t extent = load32(at + 2 + 4 * m);
            if (extent > INT32_MAX) return fail(w->c, POLYLOOM_OVERFLOW, s->at);
            own.size = own.size && extent;
            add_words(&words, load32(at + 2 + 4 * (at[1] + m)), (Int)extent);
        }
        TRY(span_words(w->c, &own, base_of(places, i), words));
        const bool seen = slot->first != NONE;
        if (seen && (slot->base != own.base || slot->size != own.size)) return fail(w->c, 705, s->at);
        *slot = own;
        slot->first = 0;
    }
    return true;
}

bool words_of_phases(Whole *w) {
    for (Variable *s = w->slot; s < w->slot + w->slots; ++s) s->first = NONE;
    for (const Stage *s = w->stage; s < w->stage + w->stages; ++s) TRY(words_of_phase(w, s));
    return number_words(w);
}

// Notes which of a phase's own arrays are outputs: its file is read where scratch is free.
static bool read_outputs(Whole *w, Stage *s) {
    Context *c = w->c;
    TRY(s->output = keep(c, s->arrays, 1));
    const size_t low = (c->low + 15) & ~(size_t)15;
    Context *own = low < c->high ? context(c->base + low, c->high - low) : NULL;
    if (!own) return fail(c, POLYLOOM_SCRATCH, 0);
    memset(own, 0, sizeof *own);
    claim(own, c->base + low, c->high - low);
    own->data = c->data + s->at;
    const bool read = read_symbolic(own, s->length);
    if (low + own->peak > c->peak) c->peak = low + own->peak;
    if (!read) return fail(c, own->error, own->position + s->at);
    if (own->s.arrays != s->arrays) return fail(c, 705, s->at);
    for (uint32_t i = 0; i < s->arrays; ++i) s->output[i] = own->s.array[i].head & 1;
    return true;
}

bool prepare_layouts(Whole *w) {
    for (const polyloom_layout *l = w->layout; l < w->layout + w->slots; ++l)
        if (l->bank >= w->bank) w->bank = l->bank + 1;
    for (Stage *s = w->stage; s < w->stage + w->stages; ++s) TRY(read_outputs(w, s));
    return true;
}

// Where the arrays of a phase lie. What an array held that the phase also writes has a memory of its own.
void lie(const Whole *w, const Stage *s, polyloom_layout *layout) {
    uint32_t bank = w->bank;
    for (uint32_t i = 0; i < s->arrays; ++i) {
        bool written = false;
        for (uint32_t k = 0; k < s->arrays; ++k) written |= s->output[k] && s->array[k] == s->array[i];
        layout[i] = w->layout[s->array[i]];
        if (written && !s->output[i]) layout[i].bank = bank++;
    }
}
