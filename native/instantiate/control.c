// SPDX-License-Identifier: Apache-2.0
// Control signals (the paper, section 6.2): codes for branch targets; the partial signals of all kernels are merged by greedy
// colouring. A partial signal is 1 in the transition sets of the successors whose code has its bit, 0 in the others'. Where that
// takes more signals than the machine has, share.c takes fewer.
#include "internal.h"

// A partial signal: bit `bit` of the codes of a branch's edges; where `flipped`, the other way round.
typedef struct Placed {
    struct Placed *next;
    const struct Placed *same;  // of the colour
    const GraphNode *node;
    uint32_t hash, colour;
    uint8_t bit;
    bool flipped;
} Placed;

typedef struct {
    const Placed *first, **last;
} Colour;

typedef struct {
    Context *c;
    Placed *known;
    Vec colours;  // Colour
} Palette;

static Int volume(Context *c, const Domain *d) {
    Int sum = 0;
    for (uint32_t i = 0; i < d->count; ++i) {
        Int product = 1;
        for (uint32_t g = 0; g < c->n; ++g) product = mul(c, product, upper_of(c, d->set[i])[g] - d->set[i]->lower[g] + 1);
        sum = add(c, sum, product);
    }
    return sum;
}

static uint32_t ones_in(uint32_t x) {
    uint32_t count = 0;
    for (; x; x &= x - 1) ++count;
    return count;
}

static uint32_t bits_for(uint32_t count) {
    uint32_t bits = 0;
    while (count > (uint32_t)1 << bits) ++bits;
    return bits;
}

// The most frequent successor gets code 0, rare ones codes with more ones.
static bool encode(Context *c, GraphNode *v, uint32_t bits) {
    const size_t mark = c->high;
    uint32_t *order = temp(c, v->edges, sizeof *order);
    Int *volumes = temp(c, v->edges, sizeof *volumes);
    TRY(order && volumes);
    for (uint32_t e = 0; e < v->edges; ++e) {
        volumes[e] = volume(c, v->edge[e].domain);
        uint32_t i = e;
        for (; i && volumes[e] > volumes[order[i - 1]]; --i) order[i] = order[i - 1];
        order[i] = e;
    }
    uint32_t next = 0;
    for (uint32_t ones = 0; ones <= bits; ++ones)
        for (uint32_t code = 0; code >> bits == 0 && next < v->edges; ++code)
            if (ones_in(code) == ones) v->edge[order[next++]].code = (uint16_t)code;
    c->high = mark;
    return ok(c);
}

static bool is_one(const Placed *p, const Edge *e) { return (e->code >> p->bit & 1) != p->flipped; }

// Whether a set has a point in common with sorted ones.
static bool overlap(Context *c, const Vec *sorted, const Set *s, bool *out) {
    const Set **at = sorted->at;
    const uint32_t g = c->n - 1;  // the outermost digit, by which they ascend
    for (uint32_t i = 0; i < sorted->count && at[i]->lower[g] <= upper_of(c, s)[g] && !*out; ++i)
        if (upper_of(c, at[i])[g] >= s->lower[g]) TRY(share_point(c, at[i], s, out));
    return true;
}

// Whether these sets of zeros and ones have points in common with the ones and zeros of a colour.
static bool clashes(Context *c, const Vec *zeros, const Vec *ones, const Colour *colour, bool *out) {
    *out = false;
    for (const Placed *p = colour->first; p; p = p->same)
        for (const Edge *e = p->node->edge; e < p->node->edge + p->node->edges; ++e)
            for (uint32_t i = 0; i < e->domain->count; ++i) {
                TRY(overlap(c, is_one(p, e) ? zeros : ones, e->domain->set[i], out));
                if (*out) return true;
            }
    return true;
}

static bool append_ones(Context *c, const Placed *p, Vec *out) {
    for (const Edge *e = p->node->edge; e < p->node->edge + p->node->edges; ++e)
        for (uint32_t i = 0; is_one(p, e) && i < e->domain->count; ++i) TRY(append(c, out, e->domain->set[i]));
    return true;
}

// The distinct sets of a colour's ones.
static bool ones_of(Context *c, const Colour *colour, Vec *out) {
    for (const Placed *p = colour->first; p; p = p->same) {
        const uint32_t known = out->count;
        uint32_t kept = known;
        TRY(append_ones(c, p, out));
        const Set **at = out->at;
        for (uint32_t i = known; i < out->count; ++i) {
            uint32_t k = 0;
            while (k < kept && at[k] != at[i]) ++k;
            if (k == kept) at[kept++] = at[i];
        }
        out->count = kept;
    }
    return true;
}

static bool fits(Context *c, const Colour *colour, const Placed *placed, bool *out) {
    const Int limit = c->s.limits.signal_sets;
    *out = limit < 0;
    if (*out) return true;
    const size_t mark = c->high;
    Vec sets = {0};
    TRY(ones_of(c, colour, &sets) && append_ones(c, placed, &sets));
    if (!(*out = (Int)sets.count <= limit)) {
        const Domain *united;
        TRY(unite(c, sets.at, sets.count, &united));
        *out = (Int)united->count <= limit;
    }
    c->high = mark;
    return true;
}

static bool first_fit(Palette *p, Placed *placed) {
    Context *c = p->c;
    const size_t mark = c->high;
    Vec side[2] = {0};
    for (int flipped = 1; flipped >= 0; --flipped) {
        placed->flipped = flipped;
        TRY(append_ones(c, placed, &side[!flipped]));
        sort_sets(c, side[!flipped].at, side[!flipped].count);
    }
    for (int flipped = 0; flipped < 2; ++flipped) {
        placed->flipped = flipped;
        for (uint32_t k = 0; k < p->colours.count; ++k) {
            Colour *colour = (Colour *)p->colours.at + k;
            bool bad, fitting;
            TRY(clashes(c, &side[flipped], &side[!flipped], colour, &bad));
            if (bad) continue;
            TRY(fits(c, colour, placed, &fitting));
            if (!fitting) continue;
            c->high = mark;
            placed->colour = k;
            *colour->last = placed;
            colour->last = &placed->same;
            return true;
        }
    }
    c->high = mark;
    Colour *colour = push(c, &p->colours, sizeof *colour);
    TRY(colour);
    *colour = (Colour){placed, &placed->same};
    placed->flipped = false;
    placed->colour = p->colours.count - 1;
    return true;
}

static bool has_one(const Placed *p, const Set *s) {
    for (const Edge *e = p->node->edge; e < p->node->edge + p->node->edges; ++e)
        for (uint32_t i = 0; is_one(p, e) && i < e->domain->count; ++i)
            if (e->domain->set[i] == s) return true;
    return false;
}

// Whether both are 1 in the same sets and 0 in the same ones.
static bool same_signal(const Placed *a, const Placed *b) {
    uint32_t more = 0;
    for (const Edge *e = b->node->edge; e < b->node->edge + b->node->edges; ++e) more += e->domain->count;
    for (const Edge *e = a->node->edge; e < a->node->edge + a->node->edges; ++e)
        for (uint32_t i = 0; i < e->domain->count; ++i, --more) {
            Placed other = *b;
            other.flipped ^= !is_one(a, e);
            if (!has_one(&other, e->domain->set[i])) return false;
        }
    return !more;
}

// The same for both sides and in any order.
static uint32_t hash_of(const Placed *p) {
    uint32_t sum[2] = {0};
    for (const Edge *e = p->node->edge; e < p->node->edge + p->node->edges; ++e)
        for (uint32_t i = 0; i < e->domain->count; ++i) sum[is_one(p, e)] += hash(1, &e->domain->set[i], sizeof(Set *));
    return sum[0] ^ sum[1];
}

static Placed *place(Palette *p, const GraphNode *v, uint32_t bit, bool *flipped) {
    const size_t mark = p->c->high;
    Placed *made = temp(p->c, 1, sizeof *made);
    if (!made) return NULL;
    *made = (Placed){.node = v, .bit = (uint8_t)bit};
    made->hash = hash_of(made);
    for (Placed *q = p->known; q; q = q->next)
        for (int k = 0; k < 2 && q->hash == made->hash; ++k) {
            *flipped = made->flipped = k;
            if (!same_signal(made, q)) continue;
            p->c->high = mark;
            return q;
        }
    made->flipped = false;
    made->next = p->known;
    p->known = made;
    if (!first_fit(p, made)) return NULL;
    *flipped = made->flipped;
    return made;
}

// The global signals that a kernel reads, ascending, and its codes as they carry them.
static bool branch(Palette *p, GraphNode *v) {
    Context *c = p->c;
    const uint32_t bits = bits_for(v->edges);
    TRY(encode(c, v, bits));
    Placed *chosen[32];
    bool flipped[32];
    uint32_t order[32];
    for (uint32_t b = 0; b < bits; ++b) {
        TRY(chosen[b] = place(p, v, b, &flipped[b]));
        uint32_t i = b;
        for (; i && chosen[order[i - 1]]->colour > chosen[b]->colour; --i) order[i] = order[i - 1];
        order[i] = b;
    }
    v->signals = (uint8_t)bits;
    TRY(v->signal = keep(c, bits, 1));
    for (uint32_t i = 0; i < bits; ++i) v->signal[i] = (uint8_t)chosen[order[i]]->colour;  // `emit` refuses more than 256
    for (uint32_t e = 0; e < v->edges; ++e) {
        uint32_t code = 0;
        for (uint32_t i = 0; i < bits; ++i) code |= (uint32_t)((v->edge[e].code >> order[i] & 1) ^ flipped[order[i]]) << i;
        v->edge[e].code = (uint16_t)code;
    }
    for (uint32_t i = 0; i < bits; ++i)
        if (chosen[order[i]]->node == v) {
            chosen[order[i]]->bit = (uint8_t)i;
            chosen[order[i]]->flipped = false;
        }
    return true;
}

bool check_domain(Context *c, const Domain *d, uint32_t kind, uint32_t index) {
    const Limits *l = &c->s.limits;
    if (l->signal_sets >= 0 && (Int)d->count > l->signal_sets) return refuse(c, 514, kind, index, d->count, l->signal_sets);
    for (uint32_t i = 0; i < d->count; ++i)
        if (!l->half_spaces && d->set[i]->spaces) return refuse(c, 514, kind, index, 0, 0);
    return true;
}

// The signals of all graphs, and the branches of their nodes.
bool allocate(Context *c) {
    const size_t high = c->high;
    Palette *p = temp(c, 1, sizeof *p);
    TRY(p);
    p->c = c;
    for (uint32_t g = 0; g < c->units; ++g)
        for (uint32_t v = 0; v < c->graph[g].nodes; ++v)
            if (c->graph[g].node[v].edges > 1) TRY(branch(p, &c->graph[g].node[v]));
    c->signals = p->colours.count;
    const Int limit = c->s.limits.control_signals;
    if (limit >= 0 && (Int)c->signals > limit) {
        const uint32_t needed = c->signals;
        bool shared;
        TRY(share(c, &shared));
        if (!shared) return refuse(c, 513, POLYLOOM_SIGNAL, 0, needed, limit);
    } else {
        TRY(c->signal = keep(c, c->signals, sizeof *c->signal));
        for (uint32_t i = 0; i < c->signals; ++i) {
            const size_t mark = c->high;
            Vec ones = {0};
            TRY(ones_of(c, (Colour *)p->colours.at + i, &ones) && unite(c, ones.at, ones.count, &c->signal[i]));
            c->high = mark;
        }
    }
    for (uint32_t i = 0; i < c->signals; ++i) TRY(check_domain(c, c->signal[i], POLYLOOM_SIGNAL, i));
    c->high = high;
    return ok(c);
}
