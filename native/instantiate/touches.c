// SPDX-License-Identifier: Apache-2.0
// Which banks touch which elements, from the address generators of a concrete configuration (docs/formats.md): one key
// per pair, the element's number among those of all arrays of the plan in the upper half, the bank in the lower one.
#include "internal.h"

#define CHANNEL_BITS 14
#define MOST ((uint64_t)1 << 28)  // steps of one access, so that no file takes for ever

// Heap sort: in place, and without recursion.
void sort_keys(uint64_t *keys, uint32_t count) {
    for (uint32_t made = count / 2, end = count; end > 1;) {
        uint64_t key;
        if (made)
            key = keys[--made];
        else {
            key = keys[--end];
            keys[end] = keys[0];
        }
        uint32_t at = made;
        for (uint32_t child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && keys[child + 1] > keys[child]) ++child;
            if (keys[child] <= key) break;
            keys[at] = keys[child];
        }
        keys[at] = key;
    }
}

// Sorts keys and keeps each once; their number.
static uint32_t unique(uint64_t *keys, uint32_t count) {
    sort_keys(keys, count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!i || keys[i] != keys[i - 1]) keys[kept++] = keys[i];
    return kept;
}

// Of the digits of a set, with what an access depends on: the address and half-spaces.
typedef struct {
    const uint8_t *coefficients, *set, *half;
    uint32_t dimensions, halves, base;
    uint32_t digit[DIMENSIONS];
    const uint8_t *extent;  // of an array that is a window
    ArrayWindow window;
} Scan;

static uint32_t dot(const Scan *s, const uint8_t *coefficients, uint32_t constant) {
    for (uint32_t m = 0; m < s->dimensions; ++m) constant += load32(coefficients + 4 * m) * s->digit[m];
    return constant;
}

// Whether address or half-spaces depend on a digit: another one has one value here.
static bool counts(const Scan *s, uint32_t m) {
    bool found = load32(s->coefficients + 4 * m);
    for (uint32_t h = 0; h < s->halves && !found; ++h) found = load32(s->half + 4 * (h * (s->dimensions + 1) + m));
    return found;
}

static uint32_t lower(const Scan *s, uint32_t m) { return load32(s->set + 4 * m); }

// The next digits; false after the last ones.
static bool advance(Scan *s) {
    for (uint32_t m = 0; m < s->dimensions; ++m) {
        if (s->digit[m] < load32(s->set + 4 * (s->dimensions + m)) && counts(s, m)) {
            ++s->digit[m];
            return true;
        }
        s->digit[m] = lower(s, m);
    }
    return false;
}

// How often digits are looked at.
static uint64_t steps_of(const Scan *s) {
    uint64_t steps = 1;
    for (uint32_t m = 0; m < s->dimensions && steps <= MOST; ++m) {
        const uint32_t low = lower(s, m), high = load32(s->set + 4 * (s->dimensions + m));
        if (high > low && counts(s, m)) steps *= (uint64_t)(high - low) + 1;
    }
    return steps;
}

// The number in the whole array of an element of a window.
static bool word_outside(Whole *w, const Scan *s, uint32_t *word) {
    Int outside = 0, stride = 1;
    for (uint32_t i = s->window.rank; i; --i) {
        const uint32_t extent = load32(s->extent + 4 * (i - 1));
        if (!extent) return fail(w->c, 705, 0);
        const Int index = add(w->c, s->window.first[i - 1], *word % extent);
        if (index < 0 || index >= s->window.outside[i - 1]) return fail(w->c, 705, 0);
        outside = add(w->c, outside, mul(w->c, index, stride));
        stride = mul(w->c, stride, s->window.outside[i - 1]);
        *word /= extent;
    }
    if (*word) return fail(w->c, 705, 0);
    *word = (uint32_t)outside;
    return ok(w->c);
}

// The extents of an array of a configuration.
static const uint8_t *extents_of(const Head *h, uint32_t array) {
    const uint8_t *at = h->array;
    for (; array; --array) at += 2 + 8 * at[1];
    return at + 2;
}

// Appends the keys of one generator in one set, each once.
static bool touch(Whole *w, Scan *s, const Variable *slot, uint32_t bank, uint64_t *keys, size_t room,
                  uint32_t *count) {
    const uint32_t first = *count;
    if (steps_of(s) > MOST) return fail(w->c, POLYLOOM_OVERFLOW, 0);
    for (uint32_t m = 0; m < s->dimensions; ++m) s->digit[m] = lower(s, m);
    do {
        if (!in_spaces(s->set, s->dimensions, s->digit)) continue;
        uint32_t word = dot(s, s->coefficients, s->base);
        if (s->window.rank)
            TRY(word_outside(w, s, &word));
        else
            word -= slot->base;
        if (word >= slot->size) return fail(w->c, 705, 0);
        if (*count == room) return fail(w->c, POLYLOOM_SCRATCH, 0);
        keys[(*count)++] = (uint64_t)(slot->first + word) << 32 | bank;
    } while (advance(s));
    if (*count > w->most) w->most = *count;
    *count = first + unique(keys + first, *count - first);
    return true;
}

// What a phase reads, or what it writes, ascending; `count` keys.
bool touches(Whole *w, const Stage *stage, const uint8_t *words, bool written, uint64_t *keys, size_t room,
             uint32_t *count) {
    Head h;
    head_of(words, &h);
    Scan s = {.dimensions = h.dimensions};
    const uint32_t size = 24 + 4 * s.dimensions;
    uint32_t left, sets;
    const uint8_t *first = generators_of(words, &left);
    *count = 0;
    w->most = 0;
    for (; left; --left) {
        const uint8_t *generator = first + (size_t)(left - 1) * size;
        const uint32_t channel = load16(generator + 6), array = load16(generator + 10);
        if (is_output(&h, array) != written) continue;
        if (channel >> CHANNEL_BITS) return fail(w->c, POLYLOOM_OVERFLOW, 0);
        if (array >= stage->arrays) return fail(w->c, 705, stage->at);
        const uint32_t bank = load16(generator) << 30 | load16(generator + 4) << CHANNEL_BITS | channel;
        TRY(window_of(w, stage, array, &s.window));
        s.extent = extents_of(&h, array);
        s.base = load32(generator + 12);
        s.coefficients = generator + 16;
        s.set = sets_of(words, s.dimensions, load32(generator + size - 4), &sets);
        for (; sets; --sets, s.set = next_set(s.set, s.dimensions)) {
            s.half = s.set + 8 * s.dimensions + 2;
            s.halves = load16(s.half - 2);
            TRY(touch(w, &s, &w->slot[stage->array[array]], bank, keys, room, count));
        }
    }
    *count = unique(keys, *count);
    return true;
}
