// SPDX-License-Identifier: Apache-2.0
// Transition sets, and the domains of the file, packed. On small hosts they are bytes, for all of them are there until control signals
// are allocated, and most digits take one byte. Numbers are LEB128: of a set twice how many bytes follow, and 1 more if it has
// half-spaces, whose number comes next. Of each digit, the outermost first, 0 where it takes every value of the tile, 2 x + 1 where it
// is x, and 2 x + 2 where x is the least of as many values as the next number says, less 2. Then the coefficients of the half-spaces.
// Elsewhere time counts, and they are pointers to interned sets. Either way equal sets are equal bytes, and none begins with a zero.
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

#ifdef POLYLOOM_INT32
// How many bytes; `to` may be null.
static size_t put_body(const Context *c, const Set *s, uint8_t *to) {
    size_t size = s->spaces ? put(to, s->spaces) : 0;
    for (uint32_t g = c->n; g-- > 0;) {
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

size_t pack(const Context *c, const Set *s, uint8_t *to) {
    const size_t body = put_body(c, s, NULL), head = put(to, 2 * (Natural)body + (s->spaces > 0));
    if (to) put_body(c, s, to + head);
    return head + body;
}

static void get_digit(const Context *c, const uint8_t **at, uint32_t g, Int *low, Int *high) {
    const Natural x = get(at);
    *low = x ? (Int)((x - 1) / 2) : 0;
    *high = !x ? c->t->extents[g] - 1 : *low + (x % 2 ? 0 : (Int)get(at) + 1);
}

// The outermost digit.
void outermost(const Context *c, const uint8_t *at, Int *low, Int *high) {
    if (get(&at) % 2) get(&at);
    get_digit(c, &at, c->n - 1, low, high);
}

// A temporary set that is not interned, or null.
const Set *unpacked(Context *c, const uint8_t **at) {
    const uint32_t spaces = get(at) % 2 ? (uint32_t)get(at) : 0;
    Set *s = temp(c, 1, sizeof *s + 2 * c->n * sizeof(Int) + spaces * sizeof(Half *));
    if (!s) return NULL;
    s->spaces = spaces;
    for (uint32_t g = c->n; g-- > 0;) get_digit(c, at, g, &s->lower[g], &s->lower[c->n + g]);
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

bool same_set(const Context *c, const Set *a, const Set *b) {
    return a->spaces == b->spaces && same_bytes(a->lower, b->lower, 2 * c->n * sizeof(Int)) &&
           (!a->spaces || same_bytes(spaces_of(c, a), spaces_of(c, b), a->spaces * sizeof(Half *)));
}

const Set *lasting(Context *c, const Set *s) { return interned(c, s->lower, upper_of(c, s), s->spaces, spaces_of(c, s)); }

// The bytes after a set.
const uint8_t *skipped(const uint8_t *at) {
    const Natural head = get(&at);
    return at + head / 2;
}

// The first set that is not before zeros.
const uint8_t *unpadded(const uint8_t *at) {
    while (!*at) ++at;
    return at;
}

void forget(Context *c, size_t low) {
    if (c->cache) memset(c->cache, 0, (size_t)c->s.conditions * c->groups * sizeof *c->cache);
    release(c, low);
}

bool adopt(Context *c, GraphNode *v) { return c && v; }

static size_t put_domain(const Context *c, const Domain *d, uint8_t *to) {
    size_t size = put(to, d->count);
    for (uint32_t i = 0; i < d->count; ++i) size += pack(c, d->set[i], to ? to + size : NULL);
    return size;
}

static const Domain *get_domain(Context *c, const uint8_t **at) {
    const uint32_t count = get(at);
    const size_t mark = c->high;
    const Set **sets = temp(c, count, sizeof *sets), *made;
    for (uint32_t i = 0; sets && i < count; ++i)
        if (!(made = unpacked(c, at)) || !(sets[i] = lasting(c, made))) return NULL;
    const Domain *found = sets ? domain(c, sets, count) : NULL;
    c->high = mark;
    return found;
}
#else
size_t pack(const Context *c, const Set *s, uint8_t *to) {
    (void)c;
    if (to) memcpy(to, &s, sizeof s);
    return sizeof s;
}

const Set *unpacked(Context *c, const uint8_t **at) {
    const Set *s;
    (void)c;
    memcpy(&s, *at, sizeof s);
    *at += sizeof s;
    return s;
}

void outermost(const Context *c, const uint8_t *at, Int *low, Int *high) {
    const Set *s;
    memcpy(&s, at, sizeof s);
    *low = s->lower[c->n - 1];
    *high = upper_of(c, s)[c->n - 1];
}

bool same_set(const Context *c, const Set *a, const Set *b) { return c && a == b; }

const Set *lasting(Context *c, const Set *s) { return c ? s : NULL; }

const uint8_t *skipped(const uint8_t *at) { return at + sizeof(Set *); }

const uint8_t *unpadded(const uint8_t *at) {
    static const Set *const none = NULL;
    while (same_bytes(at, &none, sizeof none)) at += sizeof none;
    return at;
}

void forget(Context *c, size_t low) { (void)c, (void)low; }

static size_t put_domain(const Context *c, const Domain *d, uint8_t *to) {
    (void)c;
    if (to) memcpy(to, &d, sizeof d);
    return sizeof d;
}

static const Domain *get_domain(Context *c, const uint8_t **at) {
    const Domain *d;
    (void)c;
    memcpy(&d, *at, sizeof d);
    *at += sizeof d;
    return d;
}

// Makes the sets of another context's node this one's.
bool adopt(Context *c, GraphNode *v) {
    const size_t mark = c->high;
    if (v->edges < 2) return true;
    for (Walk w = walk(v); more(&w); c->high = mark) {
        uint8_t *at = v->sets + (w.at - v->sets);
        const Set *s = unpacked(c, &w.at);
        const Half **space = temp(c, s->spaces, sizeof *space);
        TRY(space);
        for (uint32_t i = 0; i < s->spaces; ++i) TRY(space[i] = half_space(c, spaces_of(c, s)[i]->a));
        TRY(s = interned(c, s->lower, upper_of(c, s), s->spaces, space));
        memcpy(at, &s, sizeof s);
    }
    return true;
}
#endif

// A fragment begins with twice its register file and four times the position after it, and 1 more where its domain is the operation's.
static size_t put_fragment(const Context *c, const Fragment *f, const Domain *whole, uint8_t *to) {
    const bool same = f->domain == whole;
    size_t size = put(to, (uint32_t)(uint8_t)(f->position + 1) << 3 | (uint32_t)f->file << 1 | same);
    size += put(to ? to + size : NULL, f->number);
    return same ? size : size + put_domain(c, f->domain, to ? to + size : NULL);
}

// How many bytes; `to` may be null.
size_t pack_tree(const Context *c, const UnitTree *tree, uint8_t *to) {
    size_t size = put(to, tree->operations);
    for (const Operation *o = tree->operation; o < tree->operation + tree->operations; ++o) {
        size += put(to ? to + size : NULL, (Natural)o->tau);
        size += put(to ? to + size : NULL, o->opcode);
        size += put(to ? to + size : NULL, o->fragments);
        size += put_domain(c, o->domain, to ? to + size : NULL);
        for (const Fragment *f = o->fragment; f < o->fragment + o->fragments; ++f) size += put_fragment(c, f, o->domain, to ? to + size : NULL);
    }
    return size;
}

// In temporary memory.
bool unpack_tree(Context *c, const uint8_t *at, UnitTree *out) {
    out->operations = (uint32_t)get(&at);
    TRY(out->operation = temp(c, out->operations, sizeof(Operation)));
    for (Operation *o = out->operation; o < out->operation + out->operations; ++o) {
        o->tau = (Int)get(&at);
        o->opcode = get(&at) & 255;
        o->fragments = get(&at) & 0xFFFFFF;
        TRY((o->domain = get_domain(c, &at)) && (o->fragment = temp(c, o->fragments, sizeof(Fragment))));
        for (Fragment *f = o->fragment; f < o->fragment + o->fragments; ++f) {
            const uint32_t head = (uint32_t)get(&at);
            *f = (Fragment){(uint8_t)((head >> 3) - 1), head >> 1 & 3, (uint32_t)get(&at), o->domain};
            if (!(head & 1)) TRY(f->domain = get_domain(c, &at));
        }
    }
    return true;
}

// The number of a domain in the file. Gives back what lasts from `low` on, which the domain may be part of.
bool pool(Context *c, const Domain *d, size_t low, uint32_t *number) {
    const size_t mark = c->high;
    size_t size = sizeof(Pooled);
    for (uint32_t i = 0; i < d->count; ++i) size += pack(c, d->set[i], NULL);
    Pooled *made = temp(c, 1, size), **p = &c->pool;
    TRY(made);
    made->count = d->count;
    for (uint32_t i = 0; i < d->count; ++i) made->size += (uint32_t)pack(c, d->set[i], made->sets + made->size);
    forget(c, low);
    for (*number = 0; *p && ((*p)->size != made->size || !same_bytes((*p)->sets, made->sets, made->size)); p = &(*p)->next) ++*number;
    if (!*p) {
        TRY(*p = copied(c, made, 1, size));
        ++c->pooled;
    }
    c->high = mark;
    return true;
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
