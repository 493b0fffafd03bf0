// SPDX-License-Identifier: Apache-2.0
// Schedule vectors of a tiling, and the latency that they predict (the paper, section 5.2; docs/targets/tcpa.md,
// Mapping to time). The wavefront skew is an integer program in two variables.
#include "internal.h"

// The displacement of a link along a dimension.
static int along(const Candidate *k, const Link *link, uint32_t m) {
    return k->axis[0] == m ? link->theta.rows : k->axis[1] == m ? link->theta.columns : 0;
}

// How many cycles a value waits for its consumer: the consumer's offset, less the writer's offset and latency and the
// way between elements, plus what the schedule vectors make of the distance. Negative where it comes too late.
Int slack(Context *c, const Tiling *t, const Timing *timing, const Use *u, const Link *link) {
    const Candidate *k = &c->s.candidate[t->number];
    const Schedule *p = &c->s.schedule[k->schedule];
    const uint32_t w = u->writer[0].node;
    Int value = sub(c, p->tau[u->consumer], add(c, p->tau[w], p->latency[w]));
    if (link->kind == CHANNEL) value = sub(c, value, mul(c, c->s.limits.hop_delay, k->route[link->number].hops));
    for (uint32_t m = 0; m < c->n; ++m) {
        const Int d = sub(c, k->reflected[m] ? -u->distance[m] : u->distance[m], along(k, link, m) * t->sizes[m]);
        value = add(c, value, mul(c, timing->inner[m], d));
    }
    return add(c, value, add(c, timing->outer[0] * link->theta.rows, timing->outer[1] * link->theta.columns));
}

// row * x + column * y >= least, of displacements -1, 0 and 1.
typedef struct {
    int row, column;
    Int least;
} Demand;

// Demands of different displacements; the first two are the axes, at which the cost bends, and demand nothing.
typedef struct {
    Demand at[10];
    uint32_t count;
} Demands;

static void demand(Demands *all, int row, int column, Int least) {
    uint32_t i = 2;
    while (i < all->count && (all->at[i].row != row || all->at[i].column != column)) ++i;
    if (i == all->count)
        all->at[all->count++] = (Demand){row, column, least};
    else
        all->at[i].least = max(all->at[i].least, least);
}

// The column skew nearest to 0 that all demands admit, for this row skew: the cheapest one.
static bool admissible(Context *c, const Demands *all, Int row, Int *column) {
    Int low = -INT_MOST, high = INT_MOST;
    for (uint32_t i = 2; i < all->count; ++i) {
        const Demand *d = &all->at[i];
        const Int rest = sub(c, d->least, d->row * row);
        if (!d->column && rest > 0) return false;
        if (d->column > 0) low = max(low, rest);
        if (d->column < 0) high = min(high, -rest);
    }
    *column = min(max(0, low), high);
    return low <= high;
}

// The cheapest skew. With the best column skew for each row skew, the cost is convex and piecewise linear in the row
// skew; it bends only where two demands meet, or a demand and an axis. An optimum in integers is therefore such a
// meeting point, rounded down or up.
static bool skew(Context *c, const Demands *all, const Int *counts, Int *outer) {
    Int best[4] = {INT_MOST};
    for (uint32_t i = 0; i < all->count; ++i)
        for (uint32_t k = 0; k < i; ++k) {
            const Demand *a = &all->at[i], *b = &all->at[k];
            const int determinant = a->row * b->column - b->row * a->column;
            if (!determinant) continue;
            const Int meeting = floor_div(sub(c, b->column * a->least, a->column * b->least), determinant);
            for (int next = 0; next < 2; ++next) {
                const Int x = add(c, meeting, next);
                Int y;
                if (!admissible(c, all, x, &y)) continue;
                const Int cost[4] = {add(c, mul(c, magnitude(x), counts[0] - 1), mul(c, magnitude(y), counts[1] - 1)),
                                     add(c, magnitude(x), magnitude(y)), x, y};
                if (lexical(cost, best, 4) < 0) memcpy(best, cost, sizeof best);
            }
        }
    memcpy(outer, best + 2, 2 * sizeof *outer);
    return best[0] < INT_MOST;
}

// Whether some value takes a link in this tiling: crossing needs a second tile, staying needs a tile longer than the
// distance.
static bool has_instances(const Context *c, const Tiling *t, const Candidate *k, const Use *u, const Link *link) {
    if ((k->axis[0] == NONE && link->theta.rows) || (k->axis[1] == NONE && link->theta.columns)) return false;
    for (uint32_t m = 0; m < c->n; ++m)
        if (along(k, link, m) ? t->tiles[m] <= 1 : magnitude(u->distance[m]) >= t->sizes[m]) return false;
    return true;
}

bool timing(Context *c, const Tiling *t, Timing *out, bool *valid) {
    const Candidate *k = &c->s.candidate[t->number];
    const Schedule *p = &c->s.schedule[k->schedule];
    TRY(out->inner = keep(c, c->n, sizeof(Int)));
    Int weight = t->interval, counts[2], latency = 0;
    for (uint32_t g = 0; g < c->n; ++g) {
        out->inner[k->order[g]] = weight;
        weight = mul(c, weight, t->extents[g]);
    }
    out->held = collides(c, t, &out->use);
    if (out->held) return ok(c);
    Demands all = {{{1, 0, 0}, {0, 1, 0}}, 2};
    for (int axis = 0; axis < 2; ++axis) {
        counts[axis] = tiles_along(c, t, axis);
        for (int sign = -1; sign <= 1 && counts[axis] == 1; sign += 2)
            demand(&all, axis ? 0 : sign, axis ? sign : 0, 0);
    }
    for (uint32_t u = 0; u < c->s.uses; ++u) {
        const Use *use = &c->s.use[u];
        for (uint32_t i = 0; i < k->links[u].count && use->writers; ++i) {
            const Link *link = &k->links[u].at[i];
            if (!has_instances(c, t, k, use, link)) continue;
            const Int least = slack(c, t, out, use, link);
            if (link->theta.rows || link->theta.columns) {
                demand(&all, link->theta.rows, link->theta.columns, -least);
                out->use = u;
            } else if (least < 0) {
                out->use = u;
                out->slack = least;
                return ok(c);
            }
        }
    }
    *valid = skew(c, &all, counts, out->outer);
    for (uint32_t v = 0; v < c->s.nodes; ++v) latency = max(latency, add(c, p->tau[v], p->latency[v]));
    for (int axis = 0; axis < 2; ++axis)
        latency = add(c, latency, mul(c, magnitude(out->outer[axis]), counts[axis] - 1));
    for (uint32_t m = 0; m < c->n; ++m) latency = add(c, latency, mul(c, out->inner[m], t->sizes[m] - 1));
    out->latency = latency;
    return ok(c);
}
