// SPDX-License-Identifier: Apache-2.0
// Address generators from access mappings (the paper, section 6.4), and the global controller. An input's token leaves
// the border port so early that it reaches the element in the cycle of its pop; an output's token is taken when it
// arrives.
#include "internal.h"

// Where arrays lie: row-major, unless it is given. A negative extent counts as 0.
bool layouts(Context *c, const polyloom_layout *given) {
    TRY(c->layout = keep(c, c->s.arrays, sizeof(Layout)));
    for (uint32_t i = 0; i < c->s.arrays; ++i) {
        const List *rows = &c->s.array[i].shape;
        Layout *l = &c->layout[i];
        TRY(l->shape = keep(c, 2 * (size_t)rows->count, sizeof(Int)));
        l->strides = l->shape + rows->count;
        Int words = 1;
        for (uint32_t r = rows->count; r-- > 0;) {
            l->shape[r] = max(0, parametric(c, &c->s.row[rows->at[r]]));
            l->strides[r] = words;
            words = mul(c, words, l->shape[r]);
        }
        if (!given) continue;
        for (uint32_t r = 0; r < rows->count; ++r) {
            if (given[i].strides) l->strides[r] = narrowed(c, given[i].strides[r]);
        }
        l->base = narrowed(c, given[i].base);
    }
    return ok(c);
}

// The cycle of step 0 at the border port.
Int delay_at(Context *c, const Mapped *m, const Spot *s) {
    const uint32_t v = m->access->node, size[2] = {c->t->rows, c->t->columns};
    const Int travel = mul(c, s->links, c->s.limits.hop_delay);
    Int issue = add(c, c->start, c->schedule->tau[v]);
    for (int axis = 0; axis < 2; ++axis) {
        const Int skew = c->timing->outer[axis];
        issue = add(c, issue, mul(c, magnitude(skew), skew >= 0 ? s->at[axis] : size[axis] - 1 - s->at[axis]));
    }
    return m->is_output ? add(c, issue, add(c, c->schedule->latency[v], travel)) : sub(c, issue, travel);
}

// A corner (i < 4) of runs that are alike: delays and words are affine there, and extreme at corners.
Spot corner(const Context *c, const Run *r, int i) {
    return spot_of(c, r, i & 1 ? r->lines - 1 : 0, i & 2 ? r->count - 1 : 0);
}

// Notes the group of a run, and the least and greatest delay. The controller starts so late that the least one is not
// negative.
static void meet(Context *c, Mapped *m, const Run *r) {
    uint32_t k = 0;
    while (k < m->groups && m->group[k] != r->group) ++k;
    m->group[k] = r->group;
    if (k == m->groups) ++m->groups;
    for (int i = 0; i < 4; i += 1 + (r->lines == 1)) {
        const Spot s = corner(c, r, i);
        const Int x = delay_at(c, m, &s);
        m->early = min(m->early, x);
        m->most = max(m->most, x);
    }
}

static bool address(Context *c, Mapped *m) {
    const Layout *l = &c->layout[m->access->array];
    TRY((m->weights = keep(c, c->n, sizeof(Int))));
    m->base = l->base;
    for (uint32_t r = 0; r < m->access->index.count; ++r) {
        Int a[DIMENSIONS];
        const Int constant = affine(c, c->candidate, &c->s.row[m->access->index.at[r]], a);
        m->base = add(c, m->base, mul(c, l->strides[r], constant));
        for (uint32_t g = 0; g < c->n; ++g) m->weights[g] = add(c, m->weights[g], mul(c, l->strides[r], a[g]));
    }
    return ok(c);
}

// The elements of the smallest box of an array that holds all which a generator touches, if these are fewer than
// `most`.
static bool boxed(Context *c, const Mapped *m, const Domain *d, Int most, Int *words) {
    *words = 1;
    for (uint32_t r = 0; r < m->access->index.count; ++r) {
        Int a[DIMENSIONS], scan[DIMENSIONS + 1], first = INT_MOST, last = -INT_MOST;
        affine(c, c->candidate, &c->s.row[m->access->index.at[r]], a);
        for (uint32_t g = 0; g < c->n; ++g) scan[g] = a[c->candidate->order[g]];
        scan[c->n] = 0;
        for (uint32_t i = 0; i < d->count; ++i) {
            Int low, high;
            range(c, scan, d->set[i]->lower, upper_of(c, d->set[i]), &low, &high);
            first = min(first, low);
            last = max(last, high);
        }
        const Int extent = add(c, sub(c, last, first), 1);
        TRY(ok(c));
        if (extent > most / *words) {
            *words = most;
            return true;
        }
        *words *= extent;
    }
    return ok(c);
}

// What the generators of a group share. A digit with a single value adds to the base and takes no dimension of the
// generator.
static bool pattern(Context *c, const Mapped *m, uint32_t group) {
    Pattern *p = m->pattern[group];
    Int lower[DIMENSIONS], upper[DIMENSIONS], least = INT_MOST, most = -INT_MOST;
    const Domain *d;
    TRY(condition(c, c->s.node[m->access->node].condition, group, &d) && unite(c, d->set, d->count, &p->domain));
    TRY(p->coefficients = keep(c, c->n + 1, sizeof(Int)));
    d = p->domain;
    hull(c, d, lower, upper);
    for (uint32_t g = 0; g < c->n; ++g) {
        const Int a = m->weights[c->candidate->order[g]];
        if (lower[g] < upper[g])
            p->coefficients[g] = a;
        else
            p->base = add(c, p->base, mul(c, a, lower[g]));
    }
    for (uint32_t i = 0; i < d->count; ++i) {
        Int low, high;
        range(c, p->coefficients, d->set[i]->lower, upper_of(c, d->set[i]), &low, &high);
        least = min(least, low);
        most = max(most, high);
    }
    p->words = add(c, sub(c, most, least), 1);
    TRY(ok(c) && boxed(c, m, d, p->words, &p->words));
    return pool(c, d, c->low, &p->number);
}

static bool over(Int value, Int bits) { return bits < (Int)sizeof(Int) * 8 - 1 && value >> bits; }

static bool check(Context *c, const Mapped *m, uint32_t row, uint32_t column) {
    const Limits *l = &c->s.limits;
    const uint32_t array = m->access->array;
    Spot s = {.at = {row, column}, .group = group_at(c, row, column)};
    if (!m->there[s.group]) return true;
    const Pattern *p = m->pattern[s.group];
    Int dimensions = 0;
    c->about.side = terminal_side(c, m, &s);
    c->about.place = s.at[c->about.side % 2];
    const Int wait = delay_at(c, m, &s);
    for (uint32_t g = 0; g < c->n; ++g) dimensions += p->coefficients[g] != 0;
    const Int most = l->generator_dimensions;
    if (most >= 0 && dimensions > most) return refuse(c, 518, POLYLOOM_GENERATOR, array, dimensions, most);
    if (over(wait, l->delay_bits)) return refuse(c, 519, POLYLOOM_GENERATOR, array, wait, l->delay_bits);
    if (l->bank_words >= 0 && p->words > l->bank_words)
        return refuse(c, 520, POLYLOOM_GENERATOR, array, p->words, l->bank_words);
    return check_domain(c, p->domain, POLYLOOM_GENERATOR, array);
}

// Generators of one cell differ in their delays alone: the first one stands for all. Where some delay is too long,
// `check_each` looks for the first such element.
static bool check_all(Context *c, const Mapped *m) {
    for (uint32_t i = 0; i < c->cells; ++i) TRY(check(c, m, c->cell[i].row, c->cell[i].column));
    return true;
}

static bool check_each(Context *c, const Mapped *m) {
    for (uint32_t row = 0; row < c->t->rows; ++row)
        for (uint32_t column = 0; column < c->t->columns; ++column) TRY(check(c, m, row, column));
    return true;
}

// The patterns of all generators, checked; their domains, after those of the signals, are numbered by first use.
bool generators(Context *c) {
    for (Mapped *m = c->mapped; m < c->mapped + c->s.inputs + c->s.outputs; ++m) {
        TRY(!m->groups || address(c, m));
        TRY(m->pattern = keep(c, c->groups, sizeof *m->pattern));
        for (uint32_t i = 0; i < m->groups; ++i)
            TRY((m->pattern[m->group[i]] = keep(c, 1, sizeof **m->pattern)) && pattern(c, m, m->group[i]));
        TRY(over(add(c, c->start, m->most), c->s.limits.delay_bits) ? check_each(c, m) : check_all(c, m));
    }
    return ok(c);
}

// The word that an element's generator begins with.
Int base_at(Context *c, const Mapped *m, const Spot *s) {
    Int base = add(c, m->base, m->pattern[s->group]->base);
    for (int axis = 0; axis < 2; ++axis) {
        const uint32_t d = c->candidate->axis[axis];
        if (d != NONE) base = add(c, base, mul(c, mul(c, m->weights[d], c->t->sizes[d]), s->at[axis]));
    }
    return base;
}

// Whether a number of a section fits 32 bits with a sign.
bool fits_signed(Context *c, uint32_t section, Int x) {
    const int64_t wide = x;
    return ok(c) && ((wide >= INT32_MIN && wide <= INT32_MAX) ||
                     refuse(c, 706, POLYLOOM_FIELD, section, x, (Int)((int64_t)1 << 31)));
}

// Whether some element with a tile is not at the border where the skew begins.
static bool waits(const Context *c, int axis, Int skew) {
    const uint32_t border = skew >= 0 ? 0 : (axis ? c->t->columns : c->t->rows) - 1;
    for (uint32_t i = 0; i < c->cells; ++i) {
        const Cell *cell = &c->cell[i];
        if (c->occupied[cell->group] &&
            ((axis ? cell->west : cell->row) != border || (axis ? cell->width : cell->height) > 1))
            return true;
    }
    return false;
}

// The global controller; a delay that no element waits for is 0. PL0515 where a counter or a delay does not fit.
bool control(Context *c) {
    Int digits[DIMENSIONS], least = 0, epilogue = 0, counted = 0;
    c->start = 0;
    each_run(c, meet);
    for (uint32_t i = 0; i < c->s.inputs + c->s.outputs; ++i) least = min(least, c->mapped[i].early);
    c->start = -least;
    for (uint32_t g = 0; g < c->units; ++g) epilogue = max(epilogue, c->graph[g].epilogue);
    c->steps = 1;
    for (uint32_t g = 0; g < c->n; ++g) c->steps = mul(c, c->steps, c->t->extents[g]);
    c->steps = add(c, c->steps, epilogue);
    digits_of(c, c->steps - 1, digits);
    for (uint32_t g = 0; g < c->n; ++g) counted = max(counted, max(digits[g], c->t->extents[g] - 1));
    for (int axis = 0; axis < 2; ++axis) {
        c->delay[axis] = waits(c, axis, c->timing->outer[axis]) ? c->timing->outer[axis] : 0;
        counted = max(counted, magnitude(c->delay[axis]));
    }
    TRY(ok(c));
    counted = max(counted, c->start);
    return !over(counted, c->s.limits.counter_bits) ||
           refuse(c, 515, POLYLOOM_COUNTER, 0, counted, c->s.limits.counter_bits);
}
