// SPDX-License-Identifier: Apache-2.0
// Depths of feedback and input registers: the greatest number of tokens that are ever in them (docs/targets/tcpa.md,
// Mapping to time). Exact for a box. Where iterations form no box, or a register serves uses of different slack, the
// reads of a tile are replayed if it is short; if not, the depth is an upper bound.
#include "internal.h"

#define REPLAYED ((Int)1 << 18)  // steps of the longest tile that is replayed

typedef struct {
    uint32_t reg;  // id registers have bit 31
    Int tau, slack;
    Piece piece;
} Taker;

typedef struct {
    Int tau, slack;
    const Domain *domain;
    Vec sets;
} Reads;

#define INPUT_FILE ((uint32_t)1 << 31)

static bool readers_of(Context *c, Vec *out) {
    Taker *r;
    for (uint32_t u = 0; u < c->s.uses; ++u) {
        const Use *use = &c->s.use[u];
        for (uint32_t i = 0; i < c->candidate->links[u].count && use->writers; ++i) {
            const Link *link = &c->candidate->links[u].at[i];
            if (link->kind == GENERAL) continue;
            TRY(r = push(c, out, sizeof *r));
            r->reg = link->kind == CHANNEL ? c->candidate->route[link->number].input | INPUT_FILE : link->number;
            r->tau = c->schedule->tau[use->consumer];
            r->slack = slack(c, c->t, c->timing, use, link);
            r->piece = reads(c, use, link);
        }
    }
    for (uint32_t i = 0; i < c->s.inputs; ++i) {
        const uint32_t v = c->s.input[i].node;
        TRY(r = push(c, out, sizeof *r));
        *r = (Taker){.reg = c->candidate->input[i] | INPUT_FILE,
                     .tau = c->schedule->tau[v],
                     .piece.condition = c->s.node[v].condition};
    }
    return ok(c);
}

// Walks the steps of a domain in order, one interval of the innermost digit after another. At `time` the number of
// tokens changes by `tokens`.
typedef struct {
    const Domain *domain;
    Int tau, tokens, time, line, last, digits[DIMENSIONS];
} Cursor;

// Moves to the first point on this line, from the present innermost digit on; `last` is where its interval ends.
static bool interval(Context *c, Cursor *at) {
    const Int from = at->digits[0];
    at->digits[0] = INT_MOST;
    for (uint32_t i = 0; i < at->domain->count; ++i) {
        const Set *s = at->domain->set[i];
        Int low = max(from, s->lower[0]), high = upper_of(c, s)[0];
        for (uint32_t g = 1; g < c->n; ++g)
            if (at->digits[g] < s->lower[g] || at->digits[g] > upper_of(c, s)[g]) high = -1;
        for (uint32_t k = 0; k < s->spaces && low <= high; ++k) {
            const Int *a = spaces_of(c, s)[k]->a;
            Int rest = a[c->n];
            for (uint32_t g = 1; g < c->n; ++g) rest = add(c, rest, mul(c, a[g], at->digits[g]));
            if (a[0] > 0)
                low = max(low, -floor_div(rest, a[0]));
            else if (a[0])
                high = min(high, floor_div(rest, -a[0]));
            else if (rest < 0)
                high = -1;
        }
        if (low > high || low >= at->digits[0]) continue;
        at->digits[0] = low;
        at->last = high;
    }
    return at->digits[0] != INT_MOST;
}

// To the next step of the domain; after all of them the time is INT_MOST.
static void advance(Context *c, Cursor *at, Int steps) {
    if (++at->digits[0] > at->last)
        while (!interval(c, at)) {
            at->digits[0] = 0;
            at->line += c->t->extents[0];
            for (uint32_t g = 1; g < c->n && ++at->digits[g] == c->t->extents[g] && g + 1 < c->n; ++g)
                at->digits[g] = 0;
            if (at->line < steps) continue;
            at->time = INT_MOST;
            return;
        }
    at->time = add(c, mul(c, at->line + at->digits[0], c->t->interval), at->tau);
}

// Merges arrivals and pops by time. A token is present from its arrival to its pop, both inclusive.
static bool replay(Context *c, const Reads *uses, uint32_t count, Int steps, Int *out) {
    Cursor *cursor = temp(c, 2 * (size_t)count, sizeof *cursor), *end = cursor + 2 * (size_t)count;
    TRY(cursor);
    for (uint32_t i = 0; i < 2 * count; ++i) {
        const Reads *r = &uses[i % count];
        const bool pops = i < count;
        cursor[i] =
            (Cursor){r->domain, pops ? add(c, r->tau, 1) : sub(c, r->tau, r->slack), pops ? -1 : 1, 0, 0, -1, {-1}};
        advance(c, &cursor[i], steps);
    }
    for (Int present = 0; ok(c); *out = max(*out, present)) {
        Cursor *next = cursor;
        for (Cursor *at = cursor; at < end; ++at)
            if (at->time < next->time) next = at;
        if (next->time == INT_MOST) return true;
        present += next->tokens;
        advance(c, next, steps);
    }
    return false;
}

// The least box that has all sets of a domain.
void hull(const Context *c, const Domain *d, Int *lower, Int *upper) {
    for (uint32_t i = 0; i < d->count; ++i)
        for (uint32_t g = 0; g < c->n; ++g) {
            const Int low = d->set[i]->lower[g], high = upper_of(c, d->set[i])[g];
            lower[g] = i ? min(lower[g], low) : low;
            upper[g] = i ? max(upper[g], high) : high;
        }
}

// A token that waits `slack` cycles is there while `length` steps begin: the tokens of a box are those of its
// iterations in so many consecutive steps. For several boxes the sum is an upper bound, and so is what their hull would
// have.
static bool occupancy(Context *c, const Reads *uses, uint32_t count, Int *out) {
    Int steps = 1;
    for (uint32_t g = 0; g < c->n; ++g) steps = mul(c, steps, c->t->extents[g]);
    const bool one_box = count == 1 && uses[0].domain->count == 1 && !uses[0].domain->set[0]->spaces;
    if (!one_box && ok(c) && steps <= REPLAYED) return replay(c, uses, count, steps, out);
    for (const Reads *r = uses; r < uses + count; ++r) {
        const Domain *d = r->domain;
        const Int length = floor_div(r->slack, c->t->interval) + 1;
        Int lower[DIMENSIONS], upper[DIMENSIONS], sum = 0;
        hull(c, d, lower, upper);
        for (uint32_t k = 0; k < d->count; ++k)
            sum = add(c, sum, window(c, d->set[k]->lower, upper_of(c, d->set[k]), length));
        *out = add(c, *out, min(sum, window(c, lower, upper, length)));
    }
    return ok(c);
}

static bool depth(Context *c, const Vec *readers, uint32_t reg, uint32_t group, Int *out) {
    Vec uses = {0};
    *out = 0;
    for (const Taker *r = readers->at, *end = r + readers->count; r < end; ++r) {
        if (r->reg != reg) continue;
        Vec sets = {0};
        TRY(piece_sets(c, &r->piece, group, &sets));
        Reads *at = uses.at;
        uint32_t k = 0;
        while (k < uses.count && (at[k].tau != r->tau || at[k].slack != r->slack)) ++k;
        if (k == uses.count && sets.count) {
            TRY(at = push(c, &uses, sizeof *at));
            *at = (Reads){r->tau, r->slack, NULL, {0}};
            at = uses.at;
        }
        for (uint32_t i = 0; i < sets.count; ++i) TRY(append(c, &at[k].sets, ((const Set **)sets.at)[i]));
    }
    Reads *at = uses.at;
    for (uint32_t k = 0; k < uses.count; ++k) TRY(unite(c, at[k].sets.at, at[k].sets.count, &at[k].domain));
    return !uses.count || occupancy(c, at, uses.count, out);
}

// The depths of a register by class, `step` apart. Groups that agree on the conditions of its readers share one depth.
static bool register_depths(Context *c, const Vec *readers, uint32_t reg, uint32_t step, Int *out) {
    const size_t mark = c->high;
    const uint32_t *same;
    bool *conditions = temp(c, c->s.conditions, 1);
    Int *known = temp(c, c->groups, sizeof *known);
    TRY(conditions && known);
    for (const Taker *r = readers->at, *end = r + readers->count; r < end; ++r)
        conditions[r->piece.condition] |= r->reg == reg;
    TRY(same = alike(c, conditions));
    for (uint32_t g = 0; g < c->groups; ++g) known[g] = -1;
    for (const Cell *cell = c->cell; cell < c->cell + c->cells; ++cell) {
        if (cell->class_ == NONE) continue;
        const size_t inner = c->high;
        const uint32_t group = same[cell->group];
        if (known[group] < 0) TRY(depth(c, readers, reg, group, &known[group]));
        c->high = inner;
        out[(size_t)cell->class_ * step] = max(out[(size_t)cell->class_ * step], known[group]);
    }
    c->high = mark;
    return true;
}

// The depths of a class, out of those by reader, where the first reader of each register has its depth. PL0511 beyond
// the machine's.
static bool of_class(Context *c, const Vec *readers, const Int *depths, Class *out) {
    const Taker *reader = readers->at;
    const Int limit = c->s.limits.fifo_depth;
    for (uint32_t i = 0; i < readers->count; ++i) {
        const uint32_t input = (reader[i].reg & INPUT_FILE) != 0, index = reader[i].reg & ~INPUT_FILE;
        if (!depths[i]) continue;
        if (limit >= 0 && depths[i] > limit)
            return refuse(c, 511, input ? POLYLOOM_INPUT : POLYLOOM_FEEDBACK, index, depths[i], limit);
        if (sizeof(Int) > 4 && depths[i] > (Int)UINT32_MAX)
            return refuse(c, 706, POLYLOOM_FIELD, 1, depths[i], (Int)((int64_t)UINT32_MAX + 1));
        if (index >= 64) return refuse(c, 706, POLYLOOM_FIELD, 1, index, 64);
        if (index >= out->depths[input]) out->depths[input] = index + 1;
    }
    for (int file = 0; file < 2; ++file) TRY(out->depth[file] = keep(c, out->depths[file], sizeof(Int)));
    for (uint32_t i = 0; i < readers->count; ++i)
        if (depths[i]) out->depth[(reader[i].reg & INPUT_FILE) != 0][reader[i].reg & ~INPUT_FILE] = depths[i];
    return true;
}

// The depths of all classes.
bool depths(Context *c) {
    const size_t high = c->high;
    Vec readers = {0};
    TRY(readers_of(c, &readers));
    const Taker *reader = readers.at;
    Int *found = temp(c, (size_t)c->classes * readers.count, sizeof *found);
    TRY(found);
    for (uint32_t i = 0; i < readers.count; ++i) {
        uint32_t k = 0;
        while (reader[k].reg != reader[i].reg) ++k;
        if (k == i) TRY(register_depths(c, &readers, reader[i].reg, readers.count, found + i));
    }
    for (uint32_t k = 0; k < c->classes; ++k)
        TRY(of_class(c, &readers, found + (size_t)k * readers.count, &c->class_[k]));
    c->high = high;
    return true;
}
