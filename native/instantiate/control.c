// SPDX-License-Identifier: Apache-2.0
// Control signals (the paper, section 6.2): codes for branch targets; the partial signals of all kernels are merged by greedy
// colouring. A partial signal is 1 in the transition sets of the successors whose code has its bit, 0 in the others'. Where that
// takes more signals than the machine has, share.c takes fewer.
#include "internal.h"

// Where a signal must be 1 and where 0, as sorted sets; where `flipped`, the other way round.
typedef struct Placed {
    const struct Placed *next, *same;  // of all, and of the colour
    const Domain *side[2];
    uint32_t colour;
    bool flipped;
} Placed;

typedef struct {
    const Placed *first, **last;
} Colour;

typedef struct {
    Context *c;
    const Placed *known;
    Vec colours;  // Colour *
} Palette;

static Int volume(Context *c, const Domain *d) {
    Int sum = 0;
    for (uint32_t i = 0; i < d->count; ++i) {
        Int product = 1;
        for (uint32_t g = 0; g < c->n; ++g) product = mul(c, product, d->set[i]->upper[g] - d->set[i]->lower[g] + 1);
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

static bool side(Context *c, const GraphNode *v, uint32_t bit, bool one, const Domain **out) {
    const size_t mark = c->high;
    Vec sets = {0};
    for (uint32_t e = 0; e < v->edges; ++e)
        for (uint32_t i = 0; (v->edge[e].code >> bit & 1) == one && i < v->edge[e].domain->count; ++i) TRY(append(c, &sets, v->edge[e].domain->set[i]));
    sort_sets(c, sets.at, sets.count);
    *out = domain(c, sets.at, sets.count);
    c->high = mark;
    return *out != NULL;
}

// Whether a domain has a point in common with the ones or zeros of a colour.
static bool meet(Context *c, const Domain *d, const Colour *colour, bool zeros, bool *out) {
    const uint32_t g = c->n - 1;  // the outermost digit, by which sets ascend
    *out = false;
    for (const Placed *p = colour->first; p; p = p->same) {
        const Domain *other = p->side[p->flipped != zeros];
        uint32_t first = 0;
        for (uint32_t i = 0; i < d->count; ++i) {
            while (first < other->count && other->set[first]->upper[g] < d->set[i]->lower[g]) ++first;
            for (uint32_t k = first; k < other->count && other->set[k]->lower[g] <= d->set[i]->upper[g]; ++k) {
                TRY(share_point(c, d->set[i], other->set[k], out));
                if (*out) return true;
            }
        }
    }
    return true;
}

static bool extend(Context *c, Vec *sets, const Domain *d) {
    for (uint32_t i = 0; i < d->count; ++i) {
        uint32_t k = 0;
        while (k < sets->count && ((const Set **)sets->at)[k] != d->set[i]) ++k;
        if (k == sets->count) TRY(append(c, sets, d->set[i]));
    }
    return true;
}

// The distinct sets of a colour's ones.
static bool ones_of(Context *c, const Colour *colour, Vec *out) {
    for (const Placed *p = colour->first; p; p = p->same) TRY(extend(c, out, p->side[p->flipped]));
    return true;
}

static bool fits(Context *c, const Colour *colour, const Domain *one, bool *out) {
    const Int limit = c->s.limits.signal_sets;
    *out = limit < 0;
    if (*out) return true;
    const size_t mark = c->high;
    Vec sets = {0};
    TRY(ones_of(c, colour, &sets));
    if (!(*out = (Int)(sets.count + one->count) <= limit)) {
        const Domain *united;
        for (uint32_t i = 0; i < one->count; ++i) TRY(append(c, &sets, one->set[i]));
        TRY(unite(c, sets.at, sets.count, &united));
        *out = (Int)united->count <= limit;
    }
    c->high = mark;
    return true;
}

static bool first_fit(Palette *p, Placed *placed) {
    Context *c = p->c;
    for (int flipped = 0; flipped < 2; ++flipped)
        for (uint32_t k = 0; k < p->colours.count; ++k) {
            Colour *colour = ((Colour **)p->colours.at)[k];
            bool bad, fitting;
            TRY(meet(c, placed->side[flipped], colour, true, &bad));
            if (!bad) TRY(meet(c, placed->side[!flipped], colour, false, &bad));
            if (bad) continue;
            TRY(fits(c, colour, placed->side[flipped], &fitting));
            if (!fitting) continue;
            placed->colour = k;
            placed->flipped = flipped;
            *colour->last = placed;
            colour->last = &placed->same;
            return true;
        }
    Colour *colour = temp(c, 1, sizeof *colour), **slot = push(c, &p->colours, sizeof *slot);
    TRY(colour && slot);
    *slot = colour;
    placed->colour = p->colours.count - 1;
    colour->first = placed;
    colour->last = &placed->same;
    return true;
}

static const Placed *place(Palette *p, const Domain *on, const Domain *off, bool *flipped) {
    for (const Placed *q = p->known; q; q = q->next)
        for (int k = 0; k < 2; ++k)
            if (q->side[k] == on && q->side[!k] == off) {
                *flipped = q->flipped != k;
                return q;
            }
    Placed *made = temp(p->c, 1, sizeof *made);
    if (!made) return NULL;
    made->side[0] = on;
    made->side[1] = off;
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
    const Placed *chosen[32];
    bool flipped[32];
    uint32_t order[32];
    for (uint32_t b = 0; b < bits; ++b) {
        const Domain *on, *off;
        TRY(side(c, v, b, true, &on) && side(c, v, b, false, &off) && (chosen[b] = place(p, on, off, &flipped[b])));
        uint32_t i = b;
        for (; i && chosen[order[i - 1]]->colour > chosen[b]->colour; --i) order[i] = order[i - 1];
        order[i] = b;
    }
    v->signals = bits;
    TRY(v->signal = keep(c, bits, 1));
    for (uint32_t i = 0; i < bits; ++i) v->signal[i] = (uint8_t)chosen[order[i]]->colour;  // `emit` refuses more than 256
    for (uint32_t e = 0; e < v->edges; ++e) {
        uint32_t code = 0;
        for (uint32_t i = 0; i < bits; ++i) code |= (uint32_t)((v->edge[e].code >> order[i] & 1) ^ flipped[order[i]]) << i;
        v->edge[e].code = (uint16_t)code;
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
            TRY(ones_of(c, ((Colour **)p->colours.at)[i], &ones) && unite(c, ones.at, ones.count, &c->signal[i]));
            c->high = mark;
        }
    }
    for (uint32_t i = 0; i < c->signals; ++i) TRY(check_domain(c, c->signal[i], POLYLOOM_SIGNAL, i));
    c->high = high;
    return ok(c);
}
