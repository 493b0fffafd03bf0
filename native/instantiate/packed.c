// SPDX-License-Identifier: Apache-2.0
// Packed forms of transition sets, of the domains of the file, and of syntax trees. On small hosts sets are packed into
// bytes, because all of them are there until control signals are allocated. Most digits take one byte. A number is
// written by 6 bits at a time, the lowest first; bit 7 of a byte says that the number goes on, bit 6 that the set ends.
// A set has a number for each digit, the outermost first: 0 where the digit takes every value of the tile; else 1 more
// than the place of (lower, upper) in the list of pairs below PAIRS; for larger pairs, the length of that list and 1
// more plus the least value, and then how many values follow it. The first number of a box is 2 larger than that. A set
// with half-spaces begins with 1 instead, and their number; their coefficients stand at the end.
// Elsewhere time counts, and sets are pointers to interned ones. Either way equal sets have equal bytes, and no set
// begins with a zero.
#include "internal.h"

#ifdef POLYLOOM_INT32
typedef uint32_t Natural;
#else
typedef uint64_t Natural;
#endif

// Where bytes are written, or only counted where `at` is null.
typedef struct {
    uint8_t *at;
    size_t size;
} Out;

static OUTLINED void put(Out *o, Natural x) {
    bool more;
    do {
        more = x > 63;
        if (o->at) o->at[o->size] = (uint8_t)((x & 63) | (more ? 128 : 0));
        ++o->size;
        x >>= 6;
    } while (more);
}

static OUTLINED Natural get(const uint8_t **at) {
    Natural x = 0;
    for (uint32_t shift = 0;; shift += 6) {
        const uint8_t b = *(*at)++;
        x |= (Natural)(b & 63) << shift;
        if (b < 128) return x;
    }
}

#ifdef POLYLOOM_INT32
#define PAIRS 90  // of digits below this; they take two bytes at most

static OUTLINED void put_digit(const Context *c, const Set *s, uint32_t g, Out *o) {
    const Natural low = (Natural)s->lower[g], high = (Natural)upper_of(c, s)[g],
                  first = (g + 1 == c->n) && !s->spaces ? 2 : 0;
    if (!low && high + 1 == (Natural)c->t->extents[g])
        put(o, first);
    else if (high < PAIRS)
        put(o, first + 1 + high * (high + 1) / 2 + low);
    else {
        put(o, first + 1 + PAIRS * (PAIRS + 1) / 2 + low);
        put(o, high - low);
    }
}

static void put_set(const Context *c, const Set *s, Out *o) {
    if (s->spaces) {
        put(o, 1);
        put(o, s->spaces);
    }
    for (uint32_t g = c->n; g-- > 0;) put_digit(c, s, g, o);
    for (uint32_t i = 0; i < s->spaces; ++i)
        for (uint32_t g = 0; g <= c->n; ++g) {
            const Int a = spaces_of(c, s)[i]->a[g];
            put(o, a < 0 ? ~(2 * (Natural)a) : 2 * (Natural)a);
        }
    if (o->at) o->at[o->size - 1] |= 64;
}

static OUTLINED void digit_of(const Context *c, Natural x, const uint8_t **at, uint32_t g, Int *low, Int *high) {
    *low = 0;
    *high = c->t->extents[g] - 1;
    if (!x) return;
    if (--x >= PAIRS * (PAIRS + 1) / 2) {
        *low = (Int)(x - PAIRS * (PAIRS + 1) / 2);
        *high = *low + (Int)get(at);
        return;
    }
    for (*high = 0; x > (Natural)*high; ++*high) x -= (Natural)*high + 1;
    *low = (Int)x;
}

// A temporary set that is not interned, or null.
const Set *unpacked(Context *c, const uint8_t **at) {
    Natural x = get(at);
    const uint32_t spaces = x == 1 ? (uint32_t)get(at) : 0;
    Set *s = temp(c, 1, sizeof *s + 2 * c->n * sizeof(Int) + spaces * sizeof(Half *));
    if (!s) return NULL;
    s->spaces = spaces;
    for (uint32_t g = c->n; g-- > 0;) {
        x = spaces || g + 1 < c->n ? get(at) : x - 2;
        digit_of(c, x, at, g, &s->lower[g], &s->lower[c->n + g]);
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

bool same_set(const Context *c, const Set *a, const Set *b) {
    return a->spaces == b->spaces && same_bytes(a->lower, b->lower, 2 * c->n * sizeof(Int)) &&
           (!a->spaces || same_bytes(spaces_of(c, a), spaces_of(c, b), a->spaces * sizeof(Half *)));
}

const Set *lasting(Context *c, const Set *s) {
    return interned(c, s->lower, upper_of(c, s), s->spaces, spaces_of(c, s));
}

// Where the next set begins.
const uint8_t *skipped(const uint8_t *at) {
    while (!(*at++ & 64)) {}
    return at;
}

// The first set behind zeros.
const uint8_t *unpadded(const uint8_t *at) {
    while (!*at) ++at;
    return at;
}

void forget(Context *c, size_t low) {
    if (c->cache) memset(c->cache, 0, (size_t)c->s.conditions * c->groups * sizeof *c->cache);
    release(c, low);
}

bool adopt(Context *c, GraphNode *v) { return c && v; }

static OUTLINED void put_domain(const Context *c, const Domain *d, Out *o) {
    put(o, d->count);
    for (uint32_t i = 0; i < d->count; ++i) put_set(c, d->set[i], o);
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
static void put_pointer(const void *x, Out *o) {
    if (o->at) memcpy(o->at + o->size, &x, sizeof x);
    o->size += sizeof x;
}

static void put_set(const Context *c, const Set *s, Out *o) { (void)c, put_pointer(s, o); }

static void put_domain(const Context *c, const Domain *d, Out *o) { (void)c, put_pointer(d, o); }

const Set *unpacked(Context *c, const uint8_t **at) {
    const Set *s;
    (void)c;
    memcpy(&s, *at, sizeof s);
    *at += sizeof s;
    return s;
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

// Returns the number of bytes; `to` may be null.
size_t pack(const Context *c, const Set *s, uint8_t *to) {
    Out o = {to, 0};
    put_set(c, s, &o);
    return o.size;
}

// A fragment begins with 8 times 1 more than its position (in a byte, so that WRITTEN is 0), plus 2 times its register
// file, plus 1 where its domain is that of the operation, which is not repeated. Returns the number of bytes; `to` may
// be null.
size_t pack_tree(const Context *c, const UnitTree *tree, uint8_t *to) {
    Out out = {to, 0};
    put(&out, tree->operations);
    for (uint32_t i = 0; i < tree->operations; ++i) {
        const Operation *o = &tree->operation[i];
        put(&out, (Natural)o->tau);
        put(&out, o->opcode);
        put(&out, o->fragments);
        put_domain(c, o->domain, &out);
        for (uint32_t k = 0; k < o->fragments; ++k) {
            const Fragment *f = &o->fragment[k];
            const bool same = f->domain == o->domain;
            put(&out, (uint32_t)(uint8_t)(f->position + 1) << 3 | (uint32_t)f->file << 1 | same);
            put(&out, f->number);
            if (!same) put_domain(c, f->domain, &out);
        }
    }
    return out.size;
}

// The tree, in temporary memory.
bool unpack_tree(Context *c, const uint8_t *at, UnitTree *out) {
    out->operations = (uint32_t)get(&at);
    TRY(out->operation = temp(c, out->operations, sizeof(Operation)));
    for (Operation *o = out->operation; o < out->operation + out->operations; ++o) {
        o->tau = (Int)get(&at);
        o->opcode = get(&at) & 1023;
        o->fragments = get(&at) & 0x3FFFFF;
        TRY((o->domain = get_domain(c, &at)) && (o->fragment = temp(c, o->fragments, sizeof(Fragment))));
        for (Fragment *f = o->fragment; f < o->fragment + o->fragments; ++f) {
            const uint32_t head = (uint32_t)get(&at);
            *f = (Fragment){(uint8_t)((head >> 3) - 1), head >> 1 & 3, (uint32_t)get(&at), o->domain};
            if (!(head & 1)) TRY(f->domain = get_domain(c, &at));
        }
    }
    return true;
}

// The number of a domain in the file, where equal ones are one. Gives back what lasts from `low` on; the domain itself
// may lie there.
bool pool(Context *c, const Domain *d, size_t low, uint32_t *number) {
    const size_t mark = c->high;
    size_t size = sizeof(Pooled);
    for (uint32_t i = 0; i < d->count; ++i) size += pack(c, d->set[i], NULL);
    Pooled *made = temp(c, 1, size), **p = &c->pool;
    TRY(made);
    made->count = d->count;
    for (uint32_t i = 0; i < d->count; ++i) made->size += (uint32_t)pack(c, d->set[i], made->sets + made->size);
    forget(c, low);
    for (*number = 0; *p && ((*p)->size != made->size || !same_bytes((*p)->sets, made->sets, made->size));
         p = &(*p)->next)
        ++*number;
    if (!*p) {
        TRY(*p = copied(c, made, 1, size));
        ++c->pooled;
    }
    c->high = mark;
    return true;
}

// Whether the machine's signals and generators can have such a domain: PL0514.
bool check_domain(Context *c, const Domain *d, uint32_t kind, uint32_t index) {
    const Limits *l = &c->s.limits;
    if (l->signal_sets >= 0 && (Int)d->count > l->signal_sets)
        return refuse(c, 514, kind, index, d->count, l->signal_sets);
    for (uint32_t i = 0; i < d->count; ++i)
        if (!l->half_spaces && d->set[i]->spaces) return refuse(c, 514, kind, index, 0, 0);
    return true;
}

// Gives a signal the domain in which it is 1.
bool pool_signal(Context *c, const Domain *d, size_t low, uint32_t index) {
    return check_domain(c, d, POLYLOOM_SIGNAL, index) && pool(c, d, low, &c->signal[index]);
}

Walk walk(const GraphNode *v) { return (Walk){v->edge, v->edge + v->edges, v->edge->sets, v->sets}; }

// Whether there is another set, which is one of `w->edge`. The caller moves past it.
bool more(Walk *w) {
    while (!w->left) {
        if (++w->edge == w->end) return false;
        w->left = w->edge->sets;
    }
    --w->left;
    return true;
}
