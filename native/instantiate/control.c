// SPDX-License-Identifier: Apache-2.0
// Control signals (the paper, section 6.2). The targets of each branch get codes; each bit of a code is a partial
// signal, 1 in the transition sets of the successors whose code has the bit, 0 in those of the others, and free in all
// other steps. Partial signals of all kernels that nowhere differ are merged, by greedy colouring. Where that takes
// more signals than the machine has, share.c takes fewer.
#include "internal.h"

// A partial signal: bit `bit` of the codes of a branch's edges, or its complement where `flipped`.
typedef struct Placed {
    struct Placed *next;
    const struct Placed *same;  // of the colour
    const GraphNode *node;
    uint16_t colour;
    uint8_t hash, bit : 7, flipped : 1;
} Placed;

// How many steps are remembered in which signals were found to differ.
#define STEPS (sizeof(Int) > 4 ? 128 : 16)
#define WORDS ((STEPS + 31) / 32)

// The steps in which a signal or a colour is 0, and those in which it is 1.
typedef struct {
    uint32_t in[2][WORDS];
} Value;

typedef struct {
    const Placed *first, **last;
    Value value;
} Colour;

// A transition set, and its edge.
typedef struct {
    const Set *set;
    const Edge *edge;
} Taken;

// Signals clash where one is 1 and the other 0 in some step. To find such a step, sets are intersected; the steps that
// were found are remembered, because most signals that clash do so in one of these.
typedef struct {
    Context *c;
    Placed *known;
    Vec colours;  // Colour
    Int *step;    // the first steps in which signals clashed, and the latest one
    uint32_t steps;
    // What is looked at: a graph, a node, its sets, their hull and the edges that are taken in these steps.
    const Graph *graph;
    const GraphNode *node;
    Vec sets;  // Taken
    Int lower[DIMENSIONS], upper[DIMENSIONS];
    const Edge *at[STEPS];
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

// The most frequent successor gets code 0 and rare ones get codes with more ones, so that signals are 1 in few steps.
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

// The edge of a node that is taken in a step, or null.
static bool edge_at(Context *c, const GraphNode *v, const Int *step, const Edge **out) {
    const uint8_t *at = v->sets;
    *out = NULL;
    for (const Edge *e = v->edge; e < v->edge + v->edges && !*out; ++e)
        for (uint32_t k = 0; k < e->sets && !*out; ++k) {
            const size_t mark = c->high;
            const Set *s = unpacked(c, &at);
            TRY(s);
            if (holds(c, s, step)) *out = e;
            c->high = mark;
        }
    return ok(c);
}

// What a signal is in a step.
static void look(const Placed *p, const Edge *e, uint32_t step, Value *out) {
    if (e) out->in[is_one(p, e)][step / 32] |= (uint32_t)1 << step % 32;
}

// Remembers the step that was found, and what every signal so far is in it. At most one node of each graph is run in a
// step.
static bool note(Palette *p, const Placed *placed, Value *own) {
    const uint32_t t = p->steps++;
    const Int *step = p->step + (size_t)t * p->c->n;
    const Graph *graph = p->graph;
    const GraphNode *node = placed->node;
    const Edge *e;
    TRY(edge_at(p->c, node, step, &e));
    p->at[t] = e;
    look(placed, e, t, own);
    bool found = e;
    for (const Placed *q = placed->next; q; q = q->next) {
        for (; q->node < graph->node || q->node >= graph->node + graph->nodes; --graph) found = false;
        if (q->node != node) {
            node = q->node;
            e = NULL;
            TRY(found || edge_at(p->c, node, step, &e));
            found = found || e;
        }
        look(q, e, t, &((Colour *)p->colours.at)[q->colour].value);
    }
    return true;
}

static bool meets_hull(const Palette *p, const Int *lower, const Int *upper) {
    for (uint32_t g = p->c->n; g-- > 0;)
        if (lower[g] > p->upper[g] || upper[g] < p->lower[g]) return false;
    return true;
}

// Looks at a node: its sets, in temporary memory of the caller, and its edges in the remembered steps.
static bool take(Palette *p, const GraphNode *v) {
    Context *c = p->c;
    p->sets = (Vec){0};
    for (Walk w = walk(v); more(&w);) {
        const Set *s = unpacked(c, &w.at);
        TRY(s && add_item(c, &p->sets, &(Taken){s, w.edge}, sizeof(Taken)));
        for (uint32_t g = 0; g < c->n; ++g) {
            p->lower[g] = min(s->lower[g], p->sets.count > 1 ? p->lower[g] : INT_MOST);
            p->upper[g] = max(upper_of(c, s)[g], p->sets.count > 1 ? p->upper[g] : 0);
        }
    }
    const Taken *end = (Taken *)p->sets.at + p->sets.count;
    for (uint32_t t = 0; t < p->steps && v != p->node; ++t) {
        const Int *step = p->step + (size_t)t * c->n;
        const Taken *i = meets_hull(p, step, step) ? p->sets.at : end;
        while (i < end && !holds(c, i->set, step)) ++i;
        p->at[t] = i < end ? i->edge : NULL;
    }
    p->node = v;
    return ok(c);
}

// What a signal is in the remembered steps.
static Value observed(const Palette *p, const Placed *placed) {
    Value out = {{{0}}};
    for (uint32_t t = 0; t < p->steps; ++t) look(placed, p->at[t], t, &out);
    return out;
}

// Whether there is a step in which two signals differ; it is stored behind the remembered steps.
static bool differ(Palette *p, const Placed *a, const Placed *b, bool *out) {
    Context *c = p->c;
    const uint32_t g = c->n - 1;  // the outermost digit tells most sets apart
    // Two nodes of one graph are never run in the same step.
    if (a->node != b->node && b->node >= p->graph->node && b->node < p->graph->node + p->graph->nodes) return true;
    for (Walk w = walk(b->node); more(&w) && !*out;) {
        const size_t mark = c->high;
        const Set *s = unpacked(c, &w.at);
        TRY(s);
        const bool one = is_one(b, w.edge);
        const Taken *i = p->sets.at, *end = i + (meets_hull(p, s->lower, upper_of(c, s)) ? p->sets.count : 0);
        for (; i < end && !*out; ++i) {
            if (is_one(a, i->edge) == one || i->set->lower[g] > upper_of(c, s)[g] ||
                upper_of(c, i->set)[g] < s->lower[g])
                continue;
            TRY(share_point(c, s, i->set, p->step + (size_t)p->steps * c->n, out));
        }
        c->high = mark;
    }
    return true;
}

// Whether a signal and a colour differ in some step. The remembered steps are compared first, as bits.
static bool clashes(Palette *p, const Placed *placed, const Colour *colour, Value *own, bool *out) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < WORDS; ++i)
        seen |= (own->in[0][i] & colour->value.in[1][i]) | (own->in[1][i] & colour->value.in[0][i]);
    if ((*out = seen)) return true;
    for (const Placed *q = colour->first; q && !*out; q = q->same) TRY(differ(p, placed, q, out));
    return !*out || p->steps == STEPS || note(p, placed, own);
}

// Appends the sets in which a signal is 1, in temporary memory, but for those that are among the first `known` ones of
// the list.
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

// The distinct sets where a colour is 1.
static bool ones_of(Context *c, const Colour *colour, Vec *out) {
    for (const Placed *p = colour->first; p; p = p->same) TRY(append_ones(c, p, out->count, out));
    return true;
}

// Whether a colour that takes a signal up still has as few convex sets as the machine's signals may have.
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
    const size_t mark = p->c->high;
    TRY(take(p, placed->node));
    for (int flipped = 0; flipped < 2; ++flipped) {
        placed->flipped = flipped != 0;
        Value own = observed(p, placed);
        for (uint32_t k = 0; k < p->colours.count; ++k) {
            Colour *colour = (Colour *)p->colours.at + k;
            bool bad, fitting;
            TRY(clashes(p, placed, colour, &own, &bad));
            if (bad) continue;
            TRY(fits(p->c, colour, placed, &fitting));
            if (!fitting) continue;
            p->c->high = mark;
            placed->colour = (uint16_t)k;
            *colour->last = placed;
            colour->last = &placed->same;
            for (uint32_t i = 0; i < WORDS; ++i)
                for (int one = 0; one < 2; ++one) colour->value.in[one][i] |= own.in[one][i];
            return true;
        }
    }
    p->c->high = mark;
    Colour *colour = push(p->c, &p->colours, sizeof *colour);
    TRY(colour);
    placed->flipped = false;
    placed->colour = (uint16_t)(p->colours.count - 1);
    *colour = (Colour){placed, &placed->same, observed(p, placed)};
    return true;
}

// Whether a packed set is one of those in which a signal is 1.
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

// The same for a signal and its complement, and for any order of the sets.
static uint8_t hash_of(const Placed *p) {
    uint32_t sum[2] = {0};
    for (Walk w = walk(p->node); more(&w);) {
        const uint8_t *at = w.at;
        w.at = skipped(at);
        sum[is_one(p, w.edge)] += hash(1, at, (size_t)(w.at - at));
    }
    return (uint8_t)(sum[0] ^ sum[1]);
}

// The partial signal of a bit: an earlier one that is equal or its complement, or a new one, with a colour.
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

// Finds the global signals that a kernel reads, in ascending order, and rewrites its codes for them.
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
    for (uint32_t i = 0; i < bits; ++i) signals_of(v)[i] = chosen[order[i]]->colour;
    for (uint32_t e = 0; e < v->edges; ++e) {
        uint32_t code = 0;
        for (uint32_t i = 0; i < bits; ++i)
            code |= (uint32_t)((v->edge[e].code >> order[i] & 1) ^ flipped[order[i]]) << i;
        v->edge[e].code = (uint16_t)code;
    }
    for (uint32_t i = 0; i < bits; ++i)
        if (chosen[order[i]]->node == v) {
            chosen[order[i]]->bit = i & 127;
            chosen[order[i]]->flipped = false;
        }
    return true;
}

// The distinct sets where a signal is 1.
static bool ones_in_nodes(Context *c, uint32_t signal, Vec *out) {
    for (uint32_t g = 0; g < c->units; ++g)
        for (const GraphNode *v = c->graph[g].node; v < c->graph[g].node + c->graph[g].nodes; ++v)
            for (uint32_t i = 0; i < v->signals; ++i)
                if (signals_of(v)[i] == signal)
                    TRY(append_ones(c, &(Placed){.node = v, .bit = i & 127}, out->count, out));
    return true;
}

// Allocates the signals of all graphs, and fixes the branches of their nodes.
bool allocate(Context *c) {
    const size_t high = c->high;
    Palette *p = temp(c, 1, sizeof *p);
    TRY(p && (p->step = temp(c, (STEPS + 1) * (size_t)c->n, sizeof(Int))));
    p->c = c;
    c->pool = NULL;
    c->pooled = 0;
    for (uint32_t g = 0; g < c->units; ++g)
        for (uint32_t v = 0; v < c->graph[g].nodes; ++v)
            if (c->graph[g].node[v].edges > 1) {
                p->graph = &c->graph[g];
                TRY(branch(p, &c->graph[g].node[v]));
            }
    c->signals = p->colours.count;
    c->high = high;  // nodes know their signals
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
            TRY(ones_in_nodes(c, i, &ones) && unite(c, ones.at, ones.count, &d) && pool_signal(c, d, low, i));
            c->high = mark;
        }
    }
    c->high = high;
    return ok(c);
}
