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
    uint16_t colour;
    uint8_t hash, bit : 7, flipped : 1;
} Placed;

typedef struct {
    const Placed *first, **last;
} Colour;

typedef struct {
    Context *c;
    Placed *known;
    Vec colours;  // Colour
} Palette;

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

// How many steps an edge is taken in, by edge.
static bool volumes(Context *c, const GraphNode *v, Int *out) {
    for (Walk w = walk(v); more(&w);) {
        const size_t mark = c->high;
        const Set *s = unpacked(c, &w.at);
        TRY(s);
        Int product = 1;
        for (uint32_t g = 0; g < c->n; ++g) product = mul(c, product, upper_of(c, s)[g] - s->lower[g] + 1);
        out[w.edge - v->edge] = add(c, out[w.edge - v->edge], product);
        c->high = mark;
    }
    return ok(c);
}

// The most frequent successor gets code 0, rare ones codes with more ones.
static bool encode(Context *c, GraphNode *v, uint32_t bits) {
    const size_t mark = c->high;
    uint32_t *order = temp(c, v->edges, sizeof *order);
    Int *volume = temp(c, v->edges, sizeof *volume);
    TRY(order && volume && volumes(c, v, volume));
    for (uint32_t e = 0; e < v->edges; ++e) {
        uint32_t i = e;
        for (; i && volume[e] > volume[order[i - 1]]; --i) order[i] = order[i - 1];
        order[i] = e;
    }
    uint32_t next = 0;
    for (uint32_t ones = 0; ones <= bits; ++ones)
        for (uint32_t code = 0; code >> bits == 0 && next < v->edges; ++code)
            if (ones_in(code) == ones) v->edge[order[next++]].code = (uint16_t)code;
    c->high = mark;
    return true;
}

static bool is_one(const Placed *p, const Edge *e) { return (e->code >> p->bit & 1) != p->flipped; }

// Whether a packed set has a point in common with sorted ones.
static bool overlap(Context *c, const Vec *sorted, const uint8_t *packed, bool *out) {
    const Set *const *at = sorted->at, *s = NULL;
    const uint32_t g = c->n - 1;  // the outermost digit, by which they ascend
    const size_t mark = c->high;
    Int low, high;
    outermost(c, packed, &low, &high);
    for (uint32_t i = 0; i < sorted->count && at[i]->lower[g] <= high && !*out; ++i) {
        if (upper_of(c, at[i])[g] < low) continue;
        if (!s) TRY(s = unpacked(c, &packed));
        TRY(share_point(c, at[i], s, out));
    }
    c->high = mark;
    return true;
}

// Whether these sets of zeros and ones have points in common with the ones and zeros of a colour.
static bool clashes(Context *c, const Vec *zeros, const Vec *ones, const Colour *colour, bool *out) {
    *out = false;
    for (const Placed *p = colour->first; p; p = p->same)
        for (Walk w = walk(p->node); more(&w) && !*out; w.at = skipped(w.at)) TRY(overlap(c, is_one(p, w.edge) ? zeros : ones, w.at, out));
    return true;
}

// Those that are not among the first `known` ones; temporary.
static bool append_ones(Context *c, const Placed *p, uint32_t known, Vec *out) {
    for (Walk w = walk(p->node); more(&w);) {
        if (!is_one(p, w.edge)) {
            w.at = skipped(w.at);
            continue;
        }
        const size_t mark = c->high;
        const Set *s = unpacked(c, &w.at);
        TRY(s);
        uint32_t k = 0;
        while (k < known && !same_set(c, ((const Set **)out->at)[k], s)) ++k;
        if (k < known)
            c->high = mark;
        else
            TRY(append(c, out, s));
    }
    return true;
}

// The distinct sets of a colour's ones.
static bool ones_of(Context *c, const Colour *colour, Vec *out) {
    for (const Placed *p = colour->first; p; p = p->same) TRY(append_ones(c, p, out->count, out));
    return true;
}

static bool fits(Context *c, const Colour *colour, const Placed *placed, bool *out) {
    const Int limit = c->s.limits.signal_sets;
    *out = limit < 0;
    if (*out) return true;
    const size_t high = c->high, low = c->low;
    Vec sets = {0};
    TRY(ones_of(c, colour, &sets) && append_ones(c, placed, 0, &sets));
    if (!(*out = (Int)sets.count <= limit)) {
        const Domain *united;
        TRY(unite(c, sets.at, sets.count, &united));
        *out = (Int)united->count <= limit;
    }
    c->high = high;
    release(c, low);
    return true;
}

static bool first_fit(Palette *p, Placed *placed) {
    Context *c = p->c;
    const size_t mark = c->high;
    Vec side[2] = {0};
    for (int flipped = 1; flipped >= 0; --flipped) {
        placed->flipped = flipped != 0;
        TRY(append_ones(c, placed, 0, &side[!flipped]));
        sort_sets(c, side[!flipped].at, side[!flipped].count);
    }
    for (int flipped = 0; flipped < 2; ++flipped) {
        placed->flipped = flipped != 0;
        for (uint32_t k = 0; k < p->colours.count; ++k) {
            Colour *colour = (Colour *)p->colours.at + k;
            bool bad, fitting;
            TRY(clashes(c, &side[flipped], &side[!flipped], colour, &bad));
            if (bad) continue;
            TRY(fits(c, colour, placed, &fitting));
            if (!fitting) continue;
            c->high = mark;
            placed->colour = (uint16_t)k;
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
    placed->colour = (uint16_t)(p->colours.count - 1);
    return true;
}

// Whether a packed set is among the ones.
static bool has_one(const Placed *p, const uint8_t *set, size_t size) {
    for (Walk w = walk(p->node); more(&w);) {
        const uint8_t *at = w.at;
        w.at = skipped(at);
        if (is_one(p, w.edge) && (size_t)(w.at - at) == size && same_bytes(at, set, size)) return true;
    }
    return false;
}

// Whether both are 1 in the same sets and 0 in the same ones.
static bool same_signal(const Placed *a, const Placed *b) {
    uint32_t left = 0;
    for (const Edge *e = b->node->edge; e < b->node->edge + b->node->edges; ++e) left += e->sets;
    for (Walk w = walk(a->node); more(&w); --left) {
        const uint8_t *at = w.at;
        Placed other = *b;
        other.flipped ^= !is_one(a, w.edge);
        w.at = skipped(at);
        if (!has_one(&other, at, (size_t)(w.at - at))) return false;
    }
    return !left;
}

// The same for both sides and in any order.
static uint8_t hash_of(const Placed *p) {
    uint32_t sum[2] = {0};
    for (Walk w = walk(p->node); more(&w);) {
        const uint8_t *at = w.at;
        w.at = skipped(at);
        sum[is_one(p, w.edge)] += hash(1, at, (size_t)(w.at - at));
    }
    return (uint8_t)(sum[0] ^ sum[1]);
}

static Placed *place(Palette *p, const GraphNode *v, uint32_t bit, bool *flipped) {
    Context *c = p->c;
    const size_t mark = c->high;
    Placed *made = temp(c, 1, sizeof *made);
    if (!made) return NULL;
    *made = (Placed){.node = v};
    made->bit = bit & 127;
    made->hash = hash_of(made);
    for (Placed *q = p->known; q; q = q->next)
        for (int k = 0; k < 2 && q->hash == made->hash; ++k) {
            *flipped = k != 0;
            made->flipped = *flipped;
            if (!same_signal(made, q)) continue;
            c->high = mark;
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
            chosen[order[i]]->bit = i & 127;
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

// Where a signal is 1.
bool pool_signal(Context *c, const Domain *d, size_t low, uint32_t index) {
    return check_domain(c, d, POLYLOOM_SIGNAL, index) && pool(c, d, low, &c->signal[index]);
}

// The signals of all graphs, and the branches of their nodes.
bool allocate(Context *c) {
    const size_t high = c->high;
    Palette *p = temp(c, 1, sizeof *p);
    TRY(p);
    p->c = c;
    c->pool = NULL;
    c->pooled = 0;
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
            const size_t low = c->low, mark = c->high;
            const Domain *d;
            Vec ones = {0};
            TRY(ones_of(c, (Colour *)p->colours.at + i, &ones) && unite(c, ones.at, ones.count, &d) && pool_signal(c, d, low, i));
            c->high = mark;
        }
    }
    c->high = high;
    return ok(c);
}
