// SPDX-License-Identifier: Apache-2.0
// Concretization: parameters and a region become numbers (the paper, section 6, step 1). The constant of a constraint
// depends on the tile. Tiles with equal constants, up to what their box implies, form a group, and have equal
// conditions.
#include "internal.h"

// The value of a row at the parameters and dimensions of 0; its coefficients.
static Int valued(Context *c, const Row *row, Int *a) {
    Int value = read_row(c, row, a);
    for (uint32_t k = 0; k < c->s.parameters; ++k) value = add(c, value, mul(c, a[c->n + k], c->values[k]));
    return value;
}

Int parametric(Context *c, const Row *row) {
    Int a[DIMENSIONS + PARAMETERS];
    return valued(c, row, a);
}

static bool all_hold(Context *c, const List *rows) {
    for (uint32_t i = 0; i < rows->count; ++i)
        if (parametric(c, &c->s.row[rows->at[i]]) < 0) return false;
    return true;
}

bool check_request(Context *c, const polyloom_request *r) {
    if (r->value_count != c->s.parameters) return fail(c, r->value_count < c->s.parameters ? 501 : 502, 0);
    for (uint32_t k = 0; k < r->value_count; ++k)
        if ((uint64_t)r->values[k] > INT32_MAX) return refuse(c, 503, POLYLOOM_NOTHING, k, 0, 0);
    Int *values = keep(c, r->value_count, sizeof *values);
    TRY(values);
    for (uint32_t k = 0; k < r->value_count; ++k) values[k] = (Int)r->values[k];
    c->values = values;
    bool inside = false;
    for (uint32_t i = 0; i < c->s.assumptions.count; ++i) inside = inside || all_hold(c, &c->s.assumptions.at[i]);
    if (!inside) return fail(c, 504, 0);
    const Limits *l = &c->s.limits;
    if (!r->rows || !r->columns || (l->rows >= 0 && r->rows > (uint64_t)l->rows) ||
        (l->columns >= 0 && r->columns > (uint64_t)l->columns))
        return fail(c, 505, 0);
    if (r->rows > 65535 || r->columns > 65535)
        return refuse(c, 706, POLYLOOM_FIELD, 0, r->rows > 65535 ? r->rows : r->columns, 65536);
    c->closed = r->closed;
    if ((c->closed & 5) == 5 || (c->closed & 10) == 10 || c->closed > 15)
        return refuse(c, 505, POLYLOOM_CLOSED, c->closed, 0, 0);
    return ok(c);
}

static bool bound(Context *c, const Pieces *p, Int *out) {
    for (uint32_t i = 0; i < p->count; ++i)
        if (all_hold(c, &p->at[i].guards)) {
            *out = floor_div(parametric(c, &c->s.row[p->at[i].numerator]), p->at[i].denominator);
            return true;
        }
    return false;
}

bool space_bounds(Context *c, bool *empty) {
    TRY((c->lower = keep(c, c->n, sizeof(Int))) && (c->upper = keep(c, c->n, sizeof(Int))));
    *empty = false;
    for (uint32_t m = 0; m < c->n; ++m)
        if (!bound(c, &c->s.extent[m][0], &c->lower[m]) || !bound(c, &c->s.extent[m][1], &c->upper[m]) ||
            c->lower[m] > c->upper[m])
            *empty = true;
    return ok(c);
}

static Int ceiling(Int a, Int b) { return -floor_div(-a, b); }

Int extent_of(Context *c, uint32_t m) { return add(c, sub(c, c->upper[m], c->lower[m]), 1); }

// Whether a constraint depends on both tiled dimensions at the same rate, as in triangular nests. Tiles of equal sizes
// then make its constant rise equally along rows and columns, which keeps cells large (cells.c).
static bool coupled(Context *c, const uint32_t *axis) {
    for (uint32_t i = 0; i < c->s.constraints; ++i) {
        Int a[DIMENSIONS + PARAMETERS];
        read_row(c, &c->s.row[i], a);
        if (a[axis[0]] && magnitude(a[axis[0]]) == magnitude(a[axis[1]])) return true;
    }
    return false;
}

// How many tiles the space has along rows or columns.
Int tiles_along(const Context *c, const Tiling *t, int axis) {
    const uint32_t m = c->s.candidate[t->number].axis[axis];
    return m == NONE ? 1 : t->tiles[m];
}

static bool allocated(Context *c, Tiling *t) {
    return (t->sizes = keep(c, c->n, sizeof(Int))) && (t->tiles = keep(c, c->n, sizeof(Int))) &&
           (t->extents = keep(c, c->n, sizeof(Int)));
}

// What follows from the sizes.
static void count_tiles(Context *c, Tiling *t) {
    for (uint32_t m = 0; m < c->n; ++m) t->tiles[m] = ceiling(extent_of(c, m), max(t->sizes[m], 1));
    for (uint32_t g = 0; g < c->n; ++g) t->extents[g] = t->sizes[c->s.candidate[t->number].order[g]];
}

// The tiling with sizes that are larger by so much.
bool grown(Context *c, const Tiling *from, const Int *by, Tiling *t) {
    *t = *from;
    TRY(allocated(c, t));
    for (uint32_t m = 0; m < c->n; ++m) t->sizes[m] = add(c, from->sizes[m], by[m]);
    count_tiles(c, t);
    return ok(c);
}

// Tile sizes are p = ceil(N / t), or more where a dependence is longer; to `couple` dimensions both take the larger p.
// A request may give sizes of its own, which must not be smaller (PL0506).
bool make_tiling(Context *c, uint32_t number, uint32_t rows, uint32_t columns, const polyloom_request *r, bool couple,
                 Tiling *t) {
    const Candidate *k = &c->s.candidate[number];
    const int64_t *sizes = r ? r->sizes : NULL;
    bool fitting = !sizes || r->size_count == c->n;
    if (k->axis[0] == NONE) rows = 1;
    if (k->axis[1] == NONE) columns = 1;
    *t = (Tiling){.number = number, .rows = rows, .columns = columns, .interval = c->s.schedule[k->schedule].interval};
    TRY(allocated(c, t));
    for (uint32_t m = 0; m < c->n; ++m) {
        const Int count = k->axis[0] == m ? rows : k->axis[1] == m ? columns : 1;
        t->sizes[m] = ceiling(extent_of(c, m), count);
        for (uint32_t u = 0; u < c->s.uses && count > 1; ++u)
            t->sizes[m] = max(t->sizes[m], magnitude(c->s.use[u].distance[m]));
        fitting = fitting && (!sizes || sizes[m] >= t->sizes[m]);
    }
    if (!fitting) {
        c->t = t;
        return refuse(c, 506, POLYLOOM_TILES, 0, 0, 0);
    }
    if (couple && !sizes && rows > 1 && columns > 1 && coupled(c, k->axis)) {
        Int *row = &t->sizes[k->axis[0]], *column = &t->sizes[k->axis[1]];
        *row = *column = max(*row, *column);
    }
    for (uint32_t m = 0; m < c->n && sizes; ++m) t->sizes[m] = narrowed(c, sizes[m]);
    count_tiles(c, t);
    return ok(c);
}

// A row over x = P K + J: coefficients by dimension; the constant is returned.
Int affine(Context *c, const Candidate *k, const Row *row, Int *coefficients) {
    Int a[DIMENSIONS + PARAMETERS], constant = valued(c, row, a);
    for (uint32_t m = 0; m < c->n; ++m) {
        constant = add(c, constant, mul(c, a[m], k->reflected[m] ? c->upper[m] : c->lower[m]));
        coefficients[m] = k->reflected[m] ? -a[m] : a[m];
    }
    return constant;
}

// A constraint over the digits of the scan; the constant of the first tile is returned.
static Int scanned(Context *c, uint32_t number, Int *x) {
    Int a[DIMENSIONS];
    const Int constant = affine(c, c->candidate, &c->s.row[number], a);
    for (uint32_t g = 0; g < c->n; ++g) x[g] = a[c->candidate->order[g]];
    return constant;
}

// Makes what `condition` needs, in temporary memory of the caller.
bool remember(Context *c) {
    TRY(c->scan = temp(c, (size_t)c->s.constraints * c->n, sizeof *c->scan));
    for (uint32_t i = 0; i < c->s.constraints; ++i) scanned(c, i, c->scan + (size_t)i * c->n);
    return (c->cache = temp(c, (size_t)c->s.conditions * c->groups, sizeof *c->cache)) && ok(c);
}

// How the constants of constraints change from tile to tile, in temporary memory of the caller.
bool make_lines(Context *c) {
    const Tiling *t = c->t;
    TRY(c->line = temp(c, c->s.constraints, sizeof *c->line));
    for (uint32_t i = 0; i < c->s.constraints; ++i) {
        Line *l = &c->line[i];
        Int x[DIMENSIONS];
        l->constant = scanned(c, i, x);
        l->low = -1;
        for (uint32_t g = 0; g < c->n; ++g) {
            const Int end = mul(c, x[g], t->extents[g] - 1);
            if (end < 0) l->high = sub(c, l->high, end);
            if (end > 0) l->low = sub(c, l->low, end);
            for (int axis = 0; axis < 2; ++axis)
                if (c->candidate->axis[axis] == c->candidate->order[g] && (axis ? t->columns : t->rows) > 1)
                    l->step[axis] = mul(c, x[g], t->extents[g]);
        }
    }
    return ok(c);
}

static Int constant_of(const Context *c, uint32_t constraint, uint32_t group) {
    return c->constant[(size_t)constraint * c->groups + group];
}

// A conjunction of constraints as a box with half-spaces: a constraint with one coefficient just bounds a digit.
static bool conjunction(Context *c, Mask *constraints, uint32_t group, const Set **out) {
    const size_t mark = c->high;
    Int lower[DIMENSIONS] = {0}, upper[DIMENSIONS];
    for (uint32_t g = 0; g < c->n; ++g) upper[g] = c->t->extents[g] - 1;
    const Half **spaces = temp(c, c->s.constraints, sizeof *spaces);
    TRY(spaces);
    uint32_t cutting = 0;
    for (uint32_t k; (k = next_number(constraints)) != NONE;) {
        Int a[DIMENSIONS + 1];
        a[c->n] = constant_of(c, k, group);
        if (a[c->n] == INT_MOST) continue;
        uint32_t used = 0, last = 0;
        memcpy(a, c->scan + (size_t)k * c->n, c->n * sizeof *a);
        for (uint32_t g = 0; g < c->n; ++g)
            if (a[g]) ++used, last = g;
        if (used > 1) {
            TRY(spaces[cutting++] = half_space(c, a));
        } else if (used && a[last] > 0)
            lower[last] = max(lower[last], -floor_div(a[c->n], a[last]));
        else
            upper[last] = used ? min(upper[last], floor_div(a[c->n], -a[last])) : -1;
    }
    TRY(convex(c, lower, upper, cutting, spaces, out));
    c->high = mark;
    return true;
}

// The digits in a condition within the tiles of a group: distinct sets, perhaps not disjoint.
bool condition(Context *c, uint32_t number, uint32_t group, const Domain **out) {
    const Domain **known = &c->cache[(size_t)number * c->groups + group];
    if (!*known) {
        const size_t mark = c->high;
        const Condition *u = &c->s.condition[number];
        Mask masks = {.at = u->masks};
        Vec sets = {0};
        for (uint32_t i = 0; i < u->count; ++i) {
            const Set *s;
            TRY(conjunction(c, &masks, group, &s));
            TRY(!s || once(c, &sets, &s, sizeof s));
        }
        TRY(*known = domain(c, sets.at, sets.count));
        c->high = mark;
    }
    *out = *known;
    return true;
}

// Appends the digits of a piece in the tiles of a group, without what it is widened by.
bool piece_sets(Context *c, const Piece *p, uint32_t group, Vec *out) {
    const Domain *inside;
    TRY(condition(c, p->condition, group, &inside));
    if (!inside->count) return true;
    const Set *tile = NULL;
    if (p->limited) {
        Int lower[DIMENSIONS] = {0}, upper[DIMENSIONS];
        for (uint32_t g = 0; g < c->n; ++g) {
            upper[g] = c->t->extents[g] - 1;
            for (int axis = 0; axis < 2; ++axis)
                if (c->candidate->axis[axis] == c->candidate->order[g]) {
                    lower[g] = max(0, p->low[axis]);
                    upper[g] = min(upper[g], p->high[axis]);
                }
        }
        TRY(convex(c, lower, upper, 0, NULL, &tile));
        if (!tile) return true;
    }
    for (uint32_t i = 0; i < inside->count; ++i) {
        const Set *s = inside->set[i];
        TRY(!tile || intersect(c, s, tile, &s));
        TRY(!s || append(c, out, s));
    }
    return true;
}

// The positions J in a tile whose source J - d lies in the tile at -theta; backwards, those that send to theta.
Piece transferred(const Context *c, uint32_t condition, const Use *u, Displacement theta, bool backwards) {
    Piece p = {.condition = condition};
    for (int axis = 0; axis < 2; ++axis) {
        const uint32_t m = c->candidate->axis[axis];
        p.low[axis] = 0;
        p.high[axis] = INT_MOST;
        if (m == NONE || !u->distance[m]) continue;
        const Int d = c->candidate->reflected[m] == backwards ? u->distance[m] : -u->distance[m], size = c->t->sizes[m];
        const bool crosses = (axis ? theta.columns : theta.rows) != 0;
        const Int edge = d > 0 ? d : size + d;
        p.limited = true;
        if ((d > 0) == crosses)
            p.high[axis] = edge - 1;
        else
            p.low[axis] = edge;
    }
    return p;
}

Piece reads(const Context *c, const Use *u, const Link *link) {
    return transferred(c, c->s.node[u->consumer].condition, u, link->theta, false);
}

// A number for each group, equal for groups that agree on these conditions; in temporary memory of the caller.
uint32_t *alike(Context *c, const bool *conditions) {
    uint32_t *number = temp(c, c->groups, sizeof *number);
    const size_t mark = c->high;
    bool *used = temp(c, c->s.constraints, 1);
    if (!used || !number) return NULL;
    for (uint32_t k = 0; k < c->s.conditions; ++k) {
        Mask masks = {.at = c->s.condition[k].masks};
        for (uint32_t i = 0, j; conditions[k] && i < c->s.condition[k].count; ++i)
            while ((j = next_number(&masks)) != NONE) used[j] = true;
    }
    for (uint32_t g = 0; g < c->groups; ++g) {
        number[g] = g;
        for (uint32_t f = 0; f < g && number[g] == g; ++f) {
            bool same = number[f] == f;
            for (uint32_t i = 0; i < c->s.constraints && same; ++i)
                same = !used[i] || constant_of(c, i, f) == constant_of(c, i, g);
            if (same) number[g] = f;
        }
    }
    c->high = mark;
    return number;
}
