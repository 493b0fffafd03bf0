// SPDX-License-Identifier: Apache-2.0
// Depths of feedback and input registers: the greatest number of tokens that are ever in them (docs: Mapping to time). Exact for
// a box; where the iterations are no box, or a register serves uses of different slack, the reads of a short tile are replayed.
#include "internal.h"

#define REPLAYED ((Int)1 << 18)  // steps of the longest tile that is replayed

typedef struct {
    uint32_t reg;  // id registers have bit 31
    Int tau, slack;
    Piece piece;
} Reader;

typedef struct {
    Int tau, slack;
    const Domain *domain;
    Vec sets;
} Reads;

#define INPUT_FILE ((uint32_t)1 << 31)

static bool add_reader(Context *c, Vec *readers, uint32_t reg, Int tau, Int slack, Piece piece) {
    Reader *slot = push(c, readers, sizeof *slot);
    TRY(slot);
    *slot = (Reader){reg, tau, slack, piece};
    return true;
}

static bool readers_of(Context *c, Vec *out) {
    for (uint32_t u = 0; u < c->s.uses; ++u) {
        const Use *use = &c->s.use[u];
        for (uint32_t i = 0; i < c->candidate->links[u].count && use->writers; ++i) {
            const Link *link = &c->candidate->links[u].at[i];
            if (link->kind == GENERAL) continue;
            const uint32_t reg = link->kind == CHANNEL ? c->candidate->route[link->number].input | INPUT_FILE : link->number;
            const Int cycles = slack(c, c->t, c->timing->inner, c->timing->outer, use, link);
            TRY(add_reader(c, out, reg, c->schedule->tau[use->consumer], cycles, reads(c, use, link)));
        }
    }
    for (uint32_t i = 0; i < c->s.inputs; ++i) {
        const uint32_t v = c->s.input[i].node;
        TRY(add_reader(c, out, c->candidate->input[i] | INPUT_FILE, c->schedule->tau[v], 0, (Piece){.condition = c->s.node[v].condition}));
    }
    return ok(c);
}

// The steps of a domain one by one: how many tokens are more or fewer then, and at what time.
typedef struct {
    const Domain *domain;
    Int tau, step, time, tokens, digits[DIMENSIONS];
} Cursor;

// To the next step of the domain.
static void advance(Context *c, Cursor *at, Int steps) {
    do
        for (uint32_t g = 0; g < c->n && ++at->digits[g] == c->t->extents[g] && g + 1 < c->n; ++g) at->digits[g] = 0;
    while (++at->step < steps && !contains(c, at->domain, at->digits));
    if (at->step < steps) at->time = add(c, mul(c, at->step, c->schedule->interval), at->tau);
}

// A token is there from its arrival to its pop, both inclusive.
static bool replay(Context *c, const Reads *uses, uint32_t count, Int steps, Int *out) {
    Cursor *cursor = temp(c, 2 * (size_t)count, sizeof *cursor);
    TRY(cursor);
    for (uint32_t i = 0; i < 2 * count; ++i) {
        const Reads *r = &uses[i / 2];
        cursor[i] = (Cursor){r->domain, i % 2 ? add(c, r->tau, 1) : sub(c, r->tau, r->slack), -1, 0, i % 2 ? -1 : 1, {-1}};
        advance(c, &cursor[i], steps);
    }
    Int present = 0;
    for (bool any = true; any && ok(c); *out = max(*out, present)) {
        Int now = INT_MOST;
        any = false;
        for (uint32_t i = 0; i < 2 * count; ++i)
            if (cursor[i].step < steps) now = min(now, cursor[i].time);
        for (uint32_t i = 0; i < 2 * count; ++i) {
            Cursor *at = &cursor[i];
            if (at->step >= steps || at->time != now) continue;
            any = true;
            present += at->tokens;
            advance(c, at, steps);
        }
    }
    return ok(c);
}

// The bounds of all sets of a domain.
void hull(const Context *c, const Domain *d, Int *lower, Int *upper) {
    for (uint32_t i = 0; i < d->count; ++i)
        for (uint32_t g = 0; g < c->n; ++g) {
            const Int low = d->set[i]->lower[g], high = upper_of(c, d->set[i])[g];
            lower[g] = i ? min(lower[g], low) : low;
            upper[g] = i ? max(upper[g], high) : high;
        }
}

static bool occupancy(Context *c, const Reads *uses, uint32_t count, Int *out) {
    Int steps = 1;
    for (uint32_t g = 0; g < c->n; ++g) steps = mul(c, steps, c->t->extents[g]);
    const bool one_box = count == 1 && uses[0].domain->count == 1 && !uses[0].domain->set[0]->spaces;
    if (!one_box && ok(c) && steps <= REPLAYED) return replay(c, uses, count, steps, out);
    for (const Reads *r = uses; r < uses + count; ++r) {
        const Domain *d = r->domain;
        const Int length = floor_div(r->slack, c->schedule->interval) + 1;
        Int lower[DIMENSIONS], upper[DIMENSIONS], sum = 0;
        hull(c, d, lower, upper);
        for (uint32_t k = 0; k < d->count; ++k) sum = add(c, sum, window(c, d->set[k]->lower, upper_of(c, d->set[k]), length));
        *out = add(c, *out, min(sum, window(c, lower, upper, length)));
    }
    return ok(c);
}

static bool depth(Context *c, const Vec *readers, uint32_t reg, uint32_t group, Int *out) {
    Vec uses = {0};
    *out = 0;
    for (uint32_t i = 0; i < readers->count; ++i) {
        const Reader *r = (Reader *)readers->at + i;
        if (r->reg != reg) continue;
        Vec sets = {0};
        TRY(piece_sets(c, &r->piece, group, &sets));
        if (!sets.count) continue;
        Reads *at = uses.at;
        uint32_t k = 0;
        while (k < uses.count && (at[k].tau != r->tau || at[k].slack != r->slack)) ++k;
        if (k == uses.count) {
            TRY(at = push(c, &uses, sizeof *at));
            *at = (Reads){r->tau, r->slack, NULL, sets};
            continue;
        }
        for (uint32_t s = 0; s < sets.count; ++s) {
            const Set **slot = push(c, &at[k].sets, sizeof *slot);
            TRY(slot);
            *slot = ((const Set **)sets.at)[s];
        }
    }
    Reads *at = uses.at;
    for (uint32_t k = 0; k < uses.count; ++k) TRY(unite(c, at[k].sets.at, at[k].sets.count, &at[k].domain));
    return !uses.count || occupancy(c, at, uses.count, out);
}

static bool listed(Context *c, Int **list, uint32_t *count, uint32_t index, uint32_t end, Int depth) {
    if (index >= 64) return refuse(c, 706, POLYLOOM_FIELD, 1, (Int)index, 64);
    if (!*list) TRY(*list = keep(c, end, sizeof(Int)));
    (*list)[index] = depth;
    if (index + 1 > *count) *count = index + 1;
    return true;
}

// The depths of one register, by group; groups that agree on its readers share one that is found once.
typedef struct {
    uint32_t reg;
    const uint32_t *same;
    Int *known;
} Register;

static bool register_of(Context *c, const Vec *readers, uint32_t reg, Register *out) {
    bool *conditions = temp(c, c->s.conditions, 1);
    TRY(conditions && (out->known = temp(c, c->groups, sizeof *out->known)));
    for (uint32_t i = 0; i < readers->count; ++i)
        if (((Reader *)readers->at)[i].reg == reg) conditions[((Reader *)readers->at)[i].piece.condition] = true;
    out->reg = reg;
    for (uint32_t g = 0; g < c->groups; ++g) out->known[g] = -1;
    return (out->same = alike(c, conditions)) != NULL;
}

static bool of_class(Context *c, const Vec *readers, const Register *r, const uint32_t *end, const bool *member, Class *class_) {
    Int most = 0;
    for (uint32_t g = 0; g < c->groups; ++g) {
        if (!member[g]) continue;
        const size_t mark = c->high;
        Int *at = &r->known[r->same[g]];
        if (*at < 0) TRY(depth(c, readers, r->reg, r->same[g], at));
        c->high = mark;
        most = max(most, *at);
    }
    if (!most) return true;
    const bool input = r->reg & INPUT_FILE;
    const uint32_t index = r->reg & ~INPUT_FILE;
    const Int limit = c->s.limits.fifo_depth;
    if (limit >= 0 && most > limit) return refuse(c, 511, input ? POLYLOOM_INPUT : POLYLOOM_FEEDBACK, index, most, limit);
    if (sizeof(Int) > 4 && most > (Int)UINT32_MAX) return refuse(c, 706, POLYLOOM_FIELD, 1, most, (Int)((int64_t)UINT32_MAX + 1));
    return input ? listed(c, &class_->input, &class_->inputs, index, end[1], most) : listed(c, &class_->feedback, &class_->feedbacks, index, end[0], most);
}

// The depths of all classes. PL0511 beyond the machine's.
bool depths(Context *c) {
    const size_t high = c->high;
    Vec readers = {0}, registers = {0};
    uint32_t end[2] = {0};  // of the registers of both files
    bool *member = temp(c, (size_t)c->classes * c->groups, 1);
    TRY(member && readers_of(c, &readers));
    for (uint32_t i = 0; i < c->cells; ++i)
        if (c->cell[i].class_ != NONE) member[(size_t)c->cell[i].class_ * c->groups + c->cell[i].group] = true;
    for (uint32_t i = 0; i < readers.count; ++i) {
        const uint32_t reg = ((Reader *)readers.at)[i].reg;
        uint32_t k = 0;
        while (k < registers.count && ((Register *)registers.at)[k].reg != reg) ++k;
        if (k < registers.count) continue;
        Register *slot = push(c, &registers, sizeof *slot);
        TRY(slot && register_of(c, &readers, reg, slot));
        uint32_t *last = &end[(reg & INPUT_FILE) != 0];
        *last = (uint32_t)min(64, max(*last, (Int)(reg & ~INPUT_FILE) + 1));
    }
    for (uint32_t k = 0; k < c->classes; ++k)
        for (uint32_t i = 0; i < registers.count; ++i)
            TRY(of_class(c, &readers, (Register *)registers.at + i, end, member + (size_t)k * c->groups, &c->class_[k]));
    c->high = high;
    return ok(c);
}
