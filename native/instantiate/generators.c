// SPDX-License-Identifier: Apache-2.0
// Address generators from access mappings (the paper, section 6.4), and the global controller. An input's token is at the border
// port so early that it reaches the id in the cycle of its pop; an output's is taken when it arrives.
#include "internal.h"

// The arrays, row-major; a shape that would be negative is 0.
bool layouts(Context *c, const polyloom_layout *given) {
    TRY(c->layout = keep(c, c->s.arrays, sizeof(Layout)));
    for (uint32_t i = 0; i < c->s.arrays; ++i) {
        const List *rows = &c->s.array[i].shape;
        Layout *l = &c->layout[i];
        TRY((l->shape = keep(c, rows->count, sizeof(Int))) && (l->strides = keep(c, rows->count, sizeof(Int))));
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
        l->bank = given[i].bank;
        l->placed = true;
    }
    return ok(c);
}

// The cycle of step 0 at the border port.
Int delay_at(Context *c, const Mapped *m, uint32_t row, uint32_t column) {
    const uint32_t at[2] = {row, column}, size[2] = {c->t->rows, c->t->columns};
    const uint32_t v = m->access->node;
    uint32_t links;
    terminal_side(c, m, row, column, &links);
    const Int travel = mul(c, links, c->s.limits.hop_delay);
    Int issue = add(c, c->start, c->schedule->tau[v]);
    for (int axis = 0; axis < 2; ++axis) {
        const Int skew = c->timing->outer[axis];
        issue = add(c, issue, mul(c, magnitude(skew), skew >= 0 ? at[axis] : size[axis] - 1 - at[axis]));
    }
    return m->is_output ? add(c, issue, add(c, c->schedule->latency[v], travel)) : sub(c, issue, travel);
}

// The extremes of the delays in one row of a cell.
static void row_delays(Context *c, Mapped *m, const Cell *cell, uint32_t row, bool all) {
    uint32_t first, end;
    if (!span(cell, 0, row, &first, &end)) return;
    const uint32_t middle = c->t->columns / 2, wanted[] = {first, end - 1, first + 1, end - 2, middle - 2, middle - 1, middle, middle + 1};
    for (uint32_t i = 0; i < (all ? 8 : 2); ++i) {
        if (wanted[i] - first >= end - first) continue;
        const Int x = delay_at(c, m, row, wanted[i]);
        m->least = min(m->least, x);
        m->most = max(m->most, x);
    }
}

// The least and the greatest delay of an access. Delays are affine in a cell and, where they depend on the nearer border, up to the
// middle of the region, for elements of one parity: their extremes are at or next to bends and middles.
static void extreme_delays(Context *c, Mapped *m) {
    const bool all = m->side == PE && c->s.limits.hop_delay;
    m->least = INT_MOST;
    m->most = -INT_MOST;
    for (const Cell *cell = c->cell; cell < c->cell + c->cells; ++cell) {
        uint32_t row[BENDS];
        if (!m->there[cell->group]) continue;
        const uint32_t count = bends(cell, row);
        for (uint32_t i = 0; i < count; ++i)
            for (int step = all ? -1 : 0; step <= all; ++step) row_delays(c, m, cell, row[i] + (uint32_t)step, all);
        for (uint32_t r = c->t->rows / 2 - 2, i = 0; all && i < 4; ++i) row_delays(c, m, cell, r + i, all);
    }
}

static bool address(Context *c, Mapped *m) {
    const Layout *l = &c->layout[m->access->array];
    TRY((m->weights = keep(c, c->n, sizeof(Int))) && (m->pattern = keep(c, c->groups, sizeof *m->pattern)));
    m->base = l->base;
    for (uint32_t r = 0; r < m->access->index.count; ++r) {
        Int a[DIMENSIONS];
        const Int constant = affine(c, c->candidate, &c->s.row[m->access->index.at[r]], a);
        m->base = add(c, m->base, mul(c, l->strides[r], constant));
        for (uint32_t g = 0; g < c->n; ++g) m->weights[g] = add(c, m->weights[g], mul(c, l->strides[r], a[g]));
    }
    return ok(c);
}

static bool pattern(Context *c, const Mapped *m, uint32_t group, Pattern *p) {
    Int lower[DIMENSIONS], upper[DIMENSIONS], least = 0, most = 0;
    const Domain *d;
    TRY(condition(c, c->s.node[m->access->node].condition, group, &d) && unite(c, d->set, d->count, &p->domain));
    TRY(p->coefficients = keep(c, c->n, sizeof(Int)));
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
        const Int *x = d->set[i]->lower, *y = upper_of(c, d->set[i]);
        Int low = 0, high = 0;
        for (uint32_t g = 0; g < c->n; ++g) {
            const Int a = p->coefficients[g];
            low = add(c, low, mul(c, a, a > 0 ? x[g] : y[g]));
            high = add(c, high, mul(c, a, a > 0 ? y[g] : x[g]));
        }
        least = i ? min(least, low) : low;
        most = i ? max(most, high) : high;
    }
    p->words = add(c, sub(c, most, least), 1);
    return ok(c);
}

static bool over(Int value, Int bits) { return bits < (Int)sizeof(Int) * 8 - 1 && value >> bits; }

static bool check(Context *c, const Mapped *m, const Pattern *p, uint32_t row, uint32_t column) {
    const Limits *l = &c->s.limits;
    const uint32_t array = m->access->array;
    const Int wait = delay_at(c, m, row, column);
    uint32_t links;
    Int dimensions = 0;
    c->about.side = terminal_side(c, m, row, column, &links);
    c->about.place = c->about.side % 2 ? column : row;
    for (uint32_t g = 0; g < c->n; ++g) dimensions += p->coefficients[g] != 0;
    const uint32_t error = l->generator_dimensions >= 0 && dimensions > l->generator_dimensions ? 518
                           : over(wait, l->delay_bits)                                          ? 519
                           : l->bank_words >= 0 && p->words > l->bank_words                     ? 520
                                                                                                : 0;
    if (!error) return check_domain(c, p->domain, POLYLOOM_GENERATOR, array);
    return refuse(c, error, POLYLOOM_GENERATOR, array, error == 518 ? dimensions : error == 519 ? wait : p->words,
                  error == 518 ? l->generator_dimensions : error == 519 ? l->delay_bits : l->bank_words);
}

// The first generator of an access that is refused, in the order of elements.
static bool refuse_first(Context *c, const Mapped *m) {
    for (uint32_t row = 0; row < c->t->rows; ++row)
        for (uint32_t column = 0; column < c->t->columns; ++column) {
            const uint32_t group = group_at(c, row, column);
            if (m->there[group]) TRY(check(c, m, m->pattern[group], row, column));
        }
    return true;
}

static bool access_generators(Context *c, Mapped *m) {
    bool fit = !over(add(c, c->start, m->most), c->s.limits.delay_bits);
    TRY(address(c, m));
    for (const Cell *cell = c->cell; cell < c->cell + c->cells; ++cell) {
        if (!m->there[cell->group]) continue;
        Pattern **p = &m->pattern[cell->group];
        if (!*p) TRY((*p = keep(c, 1, sizeof **p)) && pattern(c, m, cell->group, *p));
        fit = fit && check(c, m, *p, cell->row, cell->column);
        c->generators += elements(cell);
    }
    if (!fit && c->error >= 500) c->error = 0;
    TRY(ok(c));
    if (!fit) return refuse_first(c, m);
    for (uint32_t i = 0; i < m->groups; ++i) TRY(pool(c, m->pattern[m->group[i]]->domain, c->low, &m->pattern[m->group[i]]->number));
    return true;
}

// The patterns of all generators, checked; their domains, after those of the signals, are numbered by first use.
bool generators(Context *c) {
    c->generators = 0;
    for (uint32_t i = 0; i < c->s.inputs + c->s.outputs; ++i)
        if (c->mapped[i].groups) TRY(access_generators(c, &c->mapped[i]));
    return ok(c);
}

// The word that an element's generator begins with.
Int base_at(Context *c, const Mapped *m, uint32_t group, uint32_t row, uint32_t column) {
    const uint32_t at[2] = {row, column};
    Int base = add(c, m->base, m->pattern[group]->base);
    for (int axis = 0; axis < 2; ++axis) {
        const uint32_t d = c->candidate->axis[axis];
        if (d != NONE) base = add(c, base, mul(c, mul(c, m->weights[d], c->t->sizes[d]), at[axis]));
    }
    return base;
}

// Whether a number of a section fits 32 bits with a sign.
bool fits_signed(Context *c, uint32_t section, Int x) {
    const int64_t wide = x;
    return ok(c) && ((wide >= INT32_MIN && wide <= INT32_MAX) || refuse(c, 706, POLYLOOM_FIELD, section, x, (Int)((int64_t)1 << 31)));
}

// Whether the file has room for the numbers of an access's generators: what differs in a cell is affine, and extreme at its bends.
bool representable(Context *c, const Mapped *m) {
    if (!m->groups) return true;
    const Int most = add(c, c->start, m->most);
    if ((uint64_t)most >> 32) return refuse(c, 706, POLYLOOM_FIELD, 5, most, (Int)((int64_t)1 << 32));
    for (const Cell *cell = c->cell; cell < c->cell + c->cells && ok(c); ++cell) {
        uint32_t row[BENDS], first, end;
        if (!m->there[cell->group]) continue;
        for (uint32_t i = bends(cell, row); i-- > 0;) {
            span(cell, 0, row[i], &first, &end);
            fits_signed(c, 5, base_at(c, m, cell->group, row[i], first));
            fits_signed(c, 5, base_at(c, m, cell->group, row[i], end - 1));
        }
        for (uint32_t g = 0; g < c->n; ++g) fits_signed(c, 5, m->pattern[cell->group]->coefficients[g]);
    }
    return ok(c);
}

// Whether any element that is not empty is away from the border where a skew starts.
static bool waits(const Context *c, int axis, Int skew) {
    const uint32_t border = skew >= 0 ? 0 : (axis ? c->t->columns : c->t->rows) - 1;
    for (uint32_t i = 0; i < c->cells; ++i) {
        const Cell *cell = &c->cell[i];
        if (c->occupied[cell->group] && ((axis ? cell->west : cell->row) != border || (axis ? cell->width : cell->height) > 1)) return true;
    }
    return false;
}

// The global controller; a delay that no element waits for is 0. PL0515 where a counter or a delay does not fit.
bool control(Context *c) {
    Int digits[DIMENSIONS], least = 0, epilogue = 0, counted = 0;
    c->start = 0;
    for (Mapped *m = c->mapped; m < c->mapped + c->s.inputs + c->s.outputs; ++m) {
        extreme_delays(c, m);
        least = min(least, m->least);
    }
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
    return !over(counted, c->s.limits.counter_bits) || refuse(c, 515, POLYLOOM_COUNTER, 0, counted, c->s.limits.counter_bits);
}
