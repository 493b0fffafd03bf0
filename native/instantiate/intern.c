// SPDX-License-Identifier: Apache-2.0
// Half-spaces, sets and domains, each made only once: equal ones are one pointer, and comparing them costs nothing. A
// class that is made in scratch of its own also finds what is in the request's.
#include "internal.h"

#define SEED 2166136261u

// A hash of digits. They are small, so that their low 32 bits suffice.
static OUTLINED uint32_t mixed(uint32_t h, const Int *x, uint32_t count) {
    while (count--) h = (h ^ (uint32_t)*x++) * 2654435769u;
    return h ^ h >> 15;
}

const Half *half_space(Context *c, const Int *a) {
    const size_t bytes = (c->n + 1) * sizeof *a;
    Half **bucket = &c->halves[mixed(SEED, a, c->n + 1) % (BUCKETS / 8)];
    for (const Context *in = c; in; in = in->parent)
        for (const Half *h = in->halves[bucket - c->halves]; h; h = h->next)
            if (same_bytes(h->a, a, bytes)) return h;
    Half *h = keep(c, 1, sizeof(Half) + bytes);
    if (!h) return NULL;
    memcpy(h->a, a, bytes);
    uint32_t used = 0;
    for (uint32_t g = 0; g < c->n; ++g) {
        if (a[g] == 1) h->plus = (uint8_t)g;
        if (a[g] == -1) h->minus = (uint8_t)g;
        used += a[g] == 1 || a[g] == -1 ? 1 : a[g] ? 3 : 0;
    }
    if (used != 2 || a[h->plus] != 1 || a[h->minus] != -1) h->plus = h->minus = 0;
    h->next = *bucket;
    return *bucket = h;
}

const Half *negated(Context *c, const Half *h) {
    Int a[DIMENSIONS + 1];
    for (uint32_t g = 0; g <= c->n; ++g) a[g] = -h->a[g];
    a[c->n] = sub(c, a[c->n], 1);
    return half_space(c, a);
}

OUTLINED Set *filled(const Context *c, Set *s, const Int *lower, const Int *upper) {
    if (!s) return NULL;
    memcpy(s->lower, lower, c->n * sizeof(Int));
    memcpy(s->lower + c->n, upper, c->n * sizeof(Int));
    return s;
}

const Set *interned(Context *c, const Int *lower, const Int *upper, uint32_t spaces, const Half **space) {
    const size_t bytes = c->n * sizeof(Int);
    uint32_t key = mixed(mixed(SEED, lower, c->n), upper, c->n);
    if (spaces) key = hash(key, space, spaces * sizeof *space);
    Set **bucket = &c->sets[key % BUCKETS];
    for (const Context *in = c; in; in = in->parent)
        for (const Set *s = in->sets[bucket - c->sets]; s; s = s->next)
            if (s->spaces == spaces && same_bytes(s->lower, lower, bytes) && same_bytes(upper_of(c, s), upper, bytes) &&
                (!spaces || same_bytes(spaces_of(c, s), space, spaces * sizeof *space)))
                return s;
    Set *s = filled(c, keep(c, 1, sizeof(Set) + 2 * bytes + spaces * sizeof *space), lower, upper);
    if (!s) return NULL;
    s->spaces = spaces;
    if (spaces) memcpy(spaces_of(c, s), space, spaces * sizeof *space);
    s->next = *bucket;
    return *bucket = s;
}

const Set *box(Context *c, const Int *lower, const Int *upper) { return interned(c, lower, upper, 0, NULL); }

const Domain *domain(Context *c, const Set *const *sets, uint32_t count) {
    Domain **bucket = &c->domains[(count ? hash(SEED, sets, count * sizeof *sets) : 0) % (BUCKETS / 2)];
    for (const Context *in = c; in; in = in->parent)
        for (const Domain *d = in->domains[bucket - c->domains]; d; d = d->next)
            if (d->count == count && (!count || same_bytes(d->set, sets, count * sizeof *sets))) return d;
    Domain *d = keep(c, 1, sizeof(Domain) + count * sizeof *sets);
    if (!d) return NULL;
    if (count) memcpy(d->set, sets, count * sizeof *sets);
    d->count = count;
    d->next = *bucket;
    return *bucket = d;
}

// Gives back what lasts from `low` on, to which nothing may refer any longer. Newer entries stand first in their
// buckets.
void release(Context *c, size_t low) {
    const uint8_t *end = c->base + low;
    for (uint32_t i = 0; i < BUCKETS; ++i)
        while ((const uint8_t *)c->sets[i] >= end) c->sets[i] = c->sets[i]->next;
    for (uint32_t i = 0; i < BUCKETS / 2; ++i)
        while ((const uint8_t *)c->domains[i] >= end) c->domains[i] = c->domains[i]->next;
    for (uint32_t i = 0; i < BUCKETS / 8; ++i)
        while ((const uint8_t *)c->halves[i] >= end) c->halves[i] = c->halves[i]->next;
    c->low = low;
}

bool append(Context *c, Vec *out, const Set *s) { return ok(c) && s && add_item(c, out, &s, sizeof s); }

int lexical(const Int *a, const Int *b, uint32_t count) {
    for (uint32_t g = 0; g < count; ++g)
        if (a[g] != b[g]) return a[g] < b[g] ? -1 : 1;
    return 0;
}
