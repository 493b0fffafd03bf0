// SPDX-License-Identifier: Apache-2.0
// Schedule vectors of a tiling and the latency that they predict (the paper, section 5.2; docs: Mapping to time). The wavefront
// skew is an integer program in two variables; an optimum lies next to a breakpoint of its convex cost.
#include "internal.h"

Int slack(Context *c, const Tiling *t, const Int *inner, const Int *outer, const Use *u, const Link *link) {
    const Candidate *k = &c->s.candidate[t->number];
    const Schedule *p = &c->s.schedule[k->schedule];
    const uint32_t w = u->writer[0].node;
    const Int ready = add(c, p->tau[w], p->latency[w]);
    const Int hops = link->kind == CHANNEL ? (Int)k->route[link->number].hops : 0;
    const int theta[2] = {link->theta.rows, link->theta.columns};
    Int value = sub(c, sub(c, p->tau[u->consumer], ready), mul(c, c->s.limits.hop_delay, hops));
    for (uint32_t m = 0; m < c->n; ++m) {
        Int d = k->reflected[m] ? -u->distance[m] : u->distance[m];
        for (int axis = 0; axis < 2; ++axis)
            if (k->axis[axis] == m) d = sub(c, d, mul(c, t->sizes[m], theta[axis]));
        value = add(c, value, mul(c, inner[m], d));
    }
    for (int axis = 0; axis < 2; ++axis) value = add(c, value, mul(c, outer[axis], theta[axis]));
    return value;
}

// The greatest bound by displacement; `known` says that there is one.
typedef struct {
    bool known[3][3];
    Int least[3][3];
} Bounds;

static void bind(Bounds *b, int row, int column, Int value) {
    Int *least = &b->least[row + 1][column + 1];
    bool *known = &b->known[row + 1][column + 1];
    *least = *known ? max(*least, value) : value;
    *known = true;
}

static bool admissible(Context *c, const Bounds *b, Int row, Int *column) {
    bool has_low = false, has_high = false;
    Int low = 0, high = 0;
    for (int a = -1; a <= 1; ++a) {
        if (b->known[a + 1][2]) {
            const Int x = sub(c, b->least[a + 1][2], mul(c, a, row));
            low = has_low ? max(low, x) : x;
            has_low = true;
        }
        if (b->known[a + 1][0]) {
            const Int x = sub(c, mul(c, a, row), b->least[a + 1][0]);
            high = has_high ? min(high, x) : x;
            has_high = true;
        }
    }
    *column = has_low ? max(0, low) : 0;
    if (has_high && *column > high) *column = high;
    return !has_low || *column >= low;
}

static bool better(const Int *a, const Int *b) {
    for (int i = 0; i < 4; ++i)
        if (a[i] != b[i]) return a[i] < b[i];
    return false;
}

#define BREAKPOINTS 24

static uint32_t breakpoints(Context *c, const Bounds *b, bool single, Int *x) {
    uint32_t count = 0;
    x[count++] = 0;
    if (single) return count;
    Int flat[3] = {0}, rising[2], falling[2];
    uint32_t flats = 1, rises = 0, falls = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
        if (b->known[sign + 1][1]) x[count++] = sign * b->least[sign + 1][1];
        if (b->known[1][sign + 1]) flat[flats++] = sign * b->least[1][sign + 1];
        if (b->known[sign + 1][1 - sign]) rising[rises++] = -sign * b->least[sign + 1][1 - sign];
        if (b->known[sign + 1][sign + 1]) falling[falls++] = sign * b->least[sign + 1][sign + 1];
    }
    for (uint32_t i = 0; i < flats; ++i) {
        for (uint32_t k = 0; k < rises; ++k) x[count++] = sub(c, flat[i], rising[k]);
        for (uint32_t k = 0; k < falls; ++k) x[count++] = sub(c, falling[k], flat[i]);
    }
    for (uint32_t i = 0; i < falls; ++i)
        for (uint32_t k = 0; k < rises; ++k) {
            x[count++] = floor_div(sub(c, falling[i], rising[k]), 2);
            x[count++] = sub(c, 0, floor_div(sub(c, rising[k], falling[i]), 2));
        }
    return count;
}

static bool skew(Context *c, const Bounds *b, Int rows, Int columns, Int *outer) {
    Int x[BREAKPOINTS], best[4] = {0};
    bool found = false;
    const uint32_t count = breakpoints(c, b, rows == 1, x);
    for (uint32_t i = 0; i < count; ++i) {
        Int column;
        if (rows != 1 && ((b->known[2][1] && x[i] < b->least[2][1]) || (b->known[0][1] && -x[i] < b->least[0][1]))) continue;
        if (!admissible(c, b, x[i], &column)) continue;
        const Int cost[4] = {add(c, mul(c, magnitude(x[i]), rows - 1), mul(c, magnitude(column), columns - 1)), add(c, magnitude(x[i]), magnitude(column)), x[i], column};
        if (!found || better(cost, best)) memcpy(best, cost, sizeof best);
        found = true;
    }
    outer[0] = best[2];
    outer[1] = best[3];
    return found;
}

// Whether a value may take a link in this tiling.
static bool has_instances(const Context *c, const Tiling *t, const Candidate *k, const Use *u, const Link *link) {
    const int theta[2] = {link->theta.rows, link->theta.columns};
    for (int axis = 0; axis < 2; ++axis)
        if (theta[axis] && (k->axis[axis] == NONE || t->tiles[k->axis[axis]] <= 1)) return false;
    for (uint32_t m = 0; m < c->n; ++m) {
        bool crosses = false;
        for (int axis = 0; axis < 2; ++axis) crosses = crosses || (k->axis[axis] == m && theta[axis]);
        if (!crosses && magnitude(u->distance[m]) >= t->sizes[m]) return false;
    }
    return true;
}

bool timing(Context *c, const Tiling *t, Timing *out, bool *valid) {
    const Candidate *k = &c->s.candidate[t->number];
    const Schedule *p = &c->s.schedule[k->schedule];
    TRY(out->inner = keep(c, c->n, sizeof(Int)));
    Int weight = p->interval, counts[2], latency = 0;
    for (uint32_t g = 0; g < c->n; ++g) {
        out->inner[k->order[g]] = weight;
        weight = mul(c, weight, t->extents[g]);
    }
    for (int axis = 0; axis < 2; ++axis) counts[axis] = k->axis[axis] == NONE ? 1 : t->tiles[k->axis[axis]];
    Bounds bounds = {0};
    for (int sign = -1; sign <= 1; sign += 2) {
        if (counts[0] == 1) bind(&bounds, sign, 0, 0);
        if (counts[1] == 1) bind(&bounds, 0, sign, 0);
    }
    *valid = false;
    for (uint32_t u = 0; u < c->s.uses; ++u) {
        const Use *use = &c->s.use[u];
        for (uint32_t i = 0; i < k->links[u].count && use->writers; ++i) {
            const Link *link = &k->links[u].at[i];
            if (!has_instances(c, t, k, use, link)) continue;
            static const Int still[2] = {0, 0};
            const Int least = slack(c, t, out->inner, still, use, link);
            if (link->theta.rows || link->theta.columns)
                bind(&bounds, link->theta.rows, link->theta.columns, sub(c, 0, least)), out->use = u;
            else if (least < 0) {
                out->use = u;
                out->slack = least;
                return ok(c);
            }
        }
    }
    *valid = skew(c, &bounds, counts[0], counts[1], out->outer);
    for (uint32_t v = 0; v < c->s.nodes; ++v) latency = max(latency, add(c, p->tau[v], p->latency[v]));
    for (int axis = 0; axis < 2; ++axis) latency = add(c, latency, mul(c, magnitude(out->outer[axis]), counts[axis] - 1));
    for (uint32_t m = 0; m < c->n; ++m) latency = add(c, latency, mul(c, out->inner[m], t->sizes[m] - 1));
    out->latency = latency;
    return ok(c);
}
