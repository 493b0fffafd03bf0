// SPDX-License-Identifier: Apache-2.0
// The pipeline for one candidate on one region, and the search: candidates are tried in the order of their predicted latency;
// one that small tiles make invalid, or that exceeds a limit of the machine, is also tried on fewer elements.
#include "internal.h"

#define TRIES 24  // configurations that are built before instantiation gives up

typedef struct {
    Tiling tiling;
    Timing timing;
    bool done, waiting;
} Plan;

// Of a region that needs too many control signals: whether far too many, so that only half of it is tried next.
typedef struct {
    uint32_t rows, columns;
    bool far;
} Region;

typedef struct {
    Context *c;
    const polyloom_request *request;
    Vec plans;  // Plan *, valid or refused
    Region crowded[TRIES];
    uint32_t crowds, failures, first;
    size_t size;
} Search;

static bool infeasible(uint32_t error) { return error >= 510 && error <= 520; }

static bool reset(Context *c) {
    memset(c->sets, 0, sizeof c->sets);
    memset(c->halves, 0, sizeof c->halves);
    memset(c->domains, 0, sizeof c->domains);
    return true;
}

static bool programs(Context *c) {
    TRY(c->graph = keep(c, c->units, sizeof(Graph)));
    for (uint32_t g = 0; g < c->units; ++g) TRY(control_flow(c, c->unit[g], &c->graph[g]));
    TRY(allocate(c));
    for (uint32_t g = 0; g < c->units; ++g) TRY(program(c, &c->graph[g]));
    return true;
}

static bool build(Search *s, const Plan *p) {
    Context *c = s->c;
    c->t = &p->tiling;
    c->timing = &p->timing;
    c->candidate = &c->s.candidate[p->tiling.number];
    c->schedule = &c->s.schedule[c->candidate->schedule];
    reset(c);
    TRY(make_tiles(c) && make_traffic(c) && layouts(c));
    bool any = false;
    for (uint32_t g = 0; g < c->groups; ++g) any = any || c->occupied[g];
    if (!any) return emit(c, s->request, p->tiling.rows, p->tiling.columns, true, &s->size);
    TRY(terminals(c) && classify(c) && programs(c) && depths(c) && wire(c) && control(c) && generators(c));
    return emit(c, s->request, p->tiling.rows, p->tiling.columns, false, &s->size);
}

static bool same(const Context *c, const Tiling *a, const Tiling *b) {
    return a->number == b->number && a->rows == b->rows && a->columns == b->columns && !memcmp(a->sizes, b->sizes, c->n * sizeof(Int));
}

static bool seen(const Search *s, const Tiling *t) {
    for (uint32_t i = 0; i < s->plans.count; ++i)
        if (same(s->c, &((Plan **)s->plans.at)[i]->tiling, t)) return true;
    return false;
}

// The same candidate with the next larger tiles (unless `halve`), and on half of the elements, along rows and along columns.
static bool smaller(Context *c, const Tiling *t, bool halve, Vec *out) {
    const Candidate *k = &c->s.candidate[t->number];
    for (int axis = 0; axis < 2; ++axis) {
        const uint32_t m = k->axis[axis];
        if (m == NONE || t->tiles[m] <= 1) continue;
        const Int extent = c->upper[m] - c->lower[m] + 1, p = t->sizes[m], half = t->tiles[m] / 2;
        const Int next = halve ? half : min((extent + p) / (p + 1), t->tiles[m] - 1), counts[2] = {min(half, next), max(half, next)};
        for (int i = 0; i < 1 + (counts[0] != counts[1]); ++i) {
            Tiling *slot = push(c, out, sizeof *slot);
            TRY(slot);
            TRY(make_tiling(c, t->number, axis ? t->rows : (uint32_t)counts[i], axis ? (uint32_t)counts[i] : t->columns, slot));
        }
    }
    return true;
}

// An invalid tiling is replaced by smaller ones, the last one first.
static bool offer(Search *s, const Tiling *t) {
    Context *c = s->c;
    Vec pending = {0};
    Tiling *slot = push(c, &pending, sizeof *slot);
    TRY(slot);
    *slot = *t;
    while (pending.count) {
        const Tiling next = ((Tiling *)pending.at)[--pending.count];
        if (seen(s, &next)) continue;
        Plan *plan = keep(c, 1, sizeof *plan), **at = push(c, &s->plans, sizeof *at);
        TRY(plan && at);
        *at = plan;
        plan->tiling = next;
        TRY(timing(c, &plan->tiling, &plan->timing, &plan->waiting));
        if (!plan->waiting) TRY(smaller(c, &plan->tiling, false, &pending));
    }
    return true;
}

static bool fewer(Search *s, const Tiling *t, bool halve) {
    Vec found = {0};
    TRY(smaller(s->c, t, halve, &found));
    for (uint32_t i = 0; i < found.count; ++i) TRY(offer(s, (Tiling *)found.at + i));
    return true;
}

// The waiting plan of least latency, then of least candidate, then the oldest.
static Plan *pop(const Search *s) {
    Plan *best = NULL;
    for (uint32_t i = 0; i < s->plans.count; ++i) {
        Plan *p = ((Plan **)s->plans.at)[i];
        if (!p->waiting) continue;
        if (!best || p->timing.latency < best->timing.latency || (p->timing.latency == best->timing.latency && p->tiling.number < best->tiling.number)) best = p;
    }
    if (best) best->waiting = false;
    return best;
}

static const Region *crowded(const Search *s, const Tiling *t) {
    for (uint32_t i = 0; i < s->crowds; ++i)
        if (s->crowded[i].rows == t->rows && s->crowded[i].columns == t->columns) return &s->crowded[i];
    return NULL;
}

static bool search(Search *s) {
    Context *c = s->c;
    for (Plan *p; s->failures < TRIES && (p = pop(s));) {
        const Region *region = crowded(s, &p->tiling);
        if (region) {
            TRY(fewer(s, &p->tiling, region->far));
            continue;
        }
        const size_t low = c->low, high = c->high;
        if (build(s, p)) return true;
        const uint32_t error = c->error;
        if (!infeasible(error)) return false;
        c->error = 0;
        c->low = low;
        c->high = high;
        if (!s->failures++) s->first = error;
        const bool far = error == 513 && 2 * (Int)c->signals > 3 * max(c->s.limits.control_signals, 1);
        if (error == 513) s->crowded[s->crowds++] = (Region){p->tiling.rows, p->tiling.columns, far};
        if (error != 517) TRY(fewer(s, &p->tiling, far));
    }
    return fail(c, s->failures ? s->first : 510, 0);
}

static bool run(Context *c, const polyloom_request *r, size_t *size) {
    TRY(read_symbolic(c, r->symbolic_size));
    c->values = r->values;
    TRY(check_request(c, r));
    bool empty;
    TRY(space_bounds(c, &empty));
    if (empty) return layouts(c) && emit(c, r, r->rows, r->columns, true, size);
    Search *s = temp(c, 1, sizeof *s);
    TRY(s);
    s->c = c;
    s->request = r;
    for (uint32_t i = 0; i < c->s.candidates; ++i) {
        Tiling t;
        TRY(make_tiling(c, i, r->rows, r->columns, &t) && offer(s, &t));
    }
    TRY(search(s));
    *size = s->size;
    return true;
}

uint32_t polyloom_instantiate(const polyloom_request *request, polyloom_result *result) {
    *result = (polyloom_result){POLYLOOM_SCRATCH, 0, 0, 0};
    const size_t skipped = (size_t)(-(uintptr_t)request->scratch & 15);
    if (request->scratch_size < skipped + sizeof(Context)) return POLYLOOM_SCRATCH;
    Context *c = (Context *)((uint8_t *)request->scratch + skipped);
    memset(c, 0, sizeof *c);
    c->base = (uint8_t *)c;
    c->size = c->high = (request->scratch_size - skipped) & ~(size_t)15;
    c->low = c->peak = (sizeof *c + 15) & ~(size_t)15;
    if (c->low > c->high) return POLYLOOM_SCRATCH;
    c->data = request->symbolic;
    size_t size = 0;
    if (!run(c, request, &size)) size = 0;
    *result = (polyloom_result){c->error, c->position, size, c->peak + skipped};
    return c->error;
}
