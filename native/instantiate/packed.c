// SPDX-License-Identifier: Apache-2.0
// Transition sets as bytes: all of them are there until control signals are allocated, and most digits take one byte. Numbers are
// LEB128: of a set how many half-spaces it has, and 1 more; of each digit 0 where it takes every value of the tile, 2 x + 1 where it is x, and
// 2 x + 2 where x is the least of as many values as the next number says, less 2; then the coefficients of the half-spaces.
#include "internal.h"

#ifdef POLYLOOM_INT32
typedef uint32_t Natural;
#else
typedef uint64_t Natural;
#endif

static size_t put(uint8_t *to, Natural x) {
    size_t size = 0;
    for (;; x >>= 7) {
        if (to) to[size] = (uint8_t)(x < 128 ? x : x | 128);
        ++size;
        if (x < 128) return size;
    }
}

static Natural get(const uint8_t **at) {
    Natural x = 0;
    for (uint32_t shift = 0;; shift += 7) {
        const uint8_t b = *(*at)++;
        x |= (Natural)(b & 127) << shift;
        if (b < 128) return x;
    }
}

// How many bytes; `to` may be null.
size_t pack(const Context *c, const Set *s, uint8_t *to) {
    size_t size = put(to, (Natural)s->spaces + 1);
    for (uint32_t g = 0; g < c->n; ++g) {
        const Int low = s->lower[g], more = upper_of(c, s)[g] - low;
        const bool all = !low && more + 1 == c->t->extents[g];
        size += put(to ? to + size : NULL, all ? 0 : 2 * (Natural)low + (more ? 2 : 1));
        if (more && !all) size += put(to ? to + size : NULL, (Natural)more - 1);
    }
    for (uint32_t i = 0; i < s->spaces; ++i)
        for (uint32_t g = 0; g <= c->n; ++g) {
            const Int a = spaces_of(c, s)[i]->a[g];
            size += put(to ? to + size : NULL, a < 0 ? ~(2 * (Natural)a) : 2 * (Natural)a);
        }
    return size;
}

// A temporary set that is not interned, or null.
Set *unpacked(Context *c, const uint8_t **at) {
    const uint32_t spaces = (uint32_t)get(at) - 1;
    Set *s = temp(c, 1, sizeof *s + 2 * c->n * sizeof(Int) + spaces * sizeof(Half *));
    if (!s) return NULL;
    s->spaces = spaces;
    for (uint32_t g = 0; g < c->n; ++g) {
        const Natural x = get(at);
        s->lower[g] = x ? (Int)((x - 1) / 2) : 0;
        s->lower[c->n + g] = x ? s->lower[g] + (x % 2 ? 0 : (Int)get(at) + 1) : c->t->extents[g] - 1;
    }
    for (uint32_t i = 0; i < spaces; ++i) {
        Int a[DIMENSIONS + 1];
        for (uint32_t g = 0; g <= c->n; ++g) {
            const Natural x = get(at);
            a[g] = (Int)(x % 2 ? ~(x / 2) : x / 2);
        }
        if (!(spaces_of(c, s)[i] = half_space(c, a))) return NULL;
    }
    return s;
}

const Set *lasting(Context *c, const Set *s) { return interned(c, s->lower, upper_of(c, s), s->spaces, spaces_of(c, s)); }

// The bytes after a set.
const uint8_t *skipped(const Context *c, const uint8_t *at) {
    const uint32_t spaces = (uint32_t)get(&at) - 1;
    for (uint32_t g = 0; g < c->n; ++g) {
        const Natural x = get(&at);
        if (x && x % 2 == 0) get(&at);
    }
    for (uint32_t k = spaces * (c->n + 1); k--;) get(&at);
    return at;
}

Walk walk(const GraphNode *v) { return (Walk){v->edge, v->edge + v->edges, v->edge->sets, v->sets}; }

// Whether there is another set, of `w->edge`; what comes before has to be skipped.
bool more(Walk *w) {
    while (!w->left) {
        if (++w->edge == w->end) return false;
        w->left = w->edge->sets;
    }
    --w->left;
    return true;
}
