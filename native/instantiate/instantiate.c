// SPDX-License-Identifier: Apache-2.0
// The pipeline for one candidate on one region, and the search. Candidates are tried in the order of their predicted
// latency; one that is invalid because its tiles are small, or that exceeds a limit of the machine, is also tried on
// fewer elements.
#include "internal.h"

#define TRIES 24  // configurations that are built before instantiation gives up

typedef struct {
    Tiling tiling;
    Timing timing;
    bool valid, waiting;
} Plan;

// A region that needs too many control signals; `far` says that they are so many that half the region is tried next.
typedef struct {
    uint16_t rows, columns;
    bool far;
    const Tiling *tiling;
} Region;

typedef struct Search {
    Vec plans;  // Plan *, valid or refused
    Region crowded[TRIES];
    uint32_t crowds, failures;
    size_t low, high;  // of the scratch, before the tiling that is being built
    bool shrinks;
    // The first failure, which is the one that is reported.
    uint32_t error;
    About about;
    const Tiling *tiling;
} Search;

static OUTLINED bool infeasible(uint32_t error) { return error >= 510 && error <= 520; }

static OUTLINED bool reset(Context *c) {
    memset(c->sets, 0, sizeof c->sets);
    memset(c->halves, 0, sizeof c->halves);
    memset(c->domains, 0, sizeof c->domains);
    c->kernels = NULL;
    return true;
}

// Builds a plan up to its classes.
static bool begin(Context *c, const polyloom_request *r, const Plan *p) {
    c->t = &p->tiling;
    c->timing = &p->timing;
    c->candidate = &c->s.candidate[p->tiling.number];
    c->schedule = &c->s.schedule[c->candidate->schedule];
    c->classes = 0;
    reset(c);
    polyloom_begins(CONCRETIZATION);
    TRY(make_lines(c) && make_groups(c) && remember(c) && make_traffic(c) && make_cells(c));
    polyloom_begins(PERIPHERY);
    TRY(layouts(c, r->layouts));
    c->nothing = true;
    for (uint32_t g = 0; g < c->groups; ++g) c->nothing = c->nothing && !c->occupied[g];
    if (c->nothing) return true;
    TRY(terminals(c));
    const Int limit = c->s.limits.channels;
    if (limit >= 0 && c->needed > limit) return refuse(c, 517, POLYLOOM_CHANNELS, 0, c->needed, limit);
    polyloom_begins(CLASSES);
    TRY(!c->sloping || (c->line = copied(c, c->line, c->s.constraints, sizeof *c->line)));
    return classify(c, c->search->high) && (c->graph = keep(c, c->units, sizeof(Graph)));
}

// Makes the graphs of the units of one class or, for NONE, of all classes that were not made apart. Units of large
// trees come first: they take most memory while they are made, and what earlier graphs keep would be in the way. An
// error is left to `finish`; the one in the first unit of a class counts.
static uint32_t graphs(Context *c, const Context *from, uint32_t number) {
    const About about = c->about;
    uint32_t end = from->units, error = 0;
    for (uint32_t best;; c->about = about) {
        best = NONE;
        for (uint32_t g = 0; g < end; ++g) {
            const uint32_t k = from->unit[g].class_;
            if ((number == NONE ? from->class_[k].apart : k != number) || from->graph[g].node) continue;
            if (best == NONE || from->unit[g].size > from->unit[best].size) best = g;
        }
        if (best == NONE) return error;
        if (control_flow(c, &from->unit[best], &from->graph[best])) continue;
        Class *k = &from->class_[from->unit[best].class_];
        error = k->error = c->error;
        k->about = c->about;
        c->error = 0;
        end = best;
    }
}

// Trees are no longer needed: the packed sets of the graphs move to where they were.
static bool drop_trees(Context *c) {
    const size_t end = (size_t)(c->trees - c->base), gone = c->search->high - end;
    move(c->base + c->high + gone, c->base + c->high, end - c->high);
    c->high += gone;
    for (uint32_t g = 0; g < c->units; ++g)
        for (GraphNode *v = c->graph[g].node; v < c->graph[g].node + c->graph[g].nodes; ++v)
            if (c->class_[c->unit[g].class_].apart)
                TRY(adopt(c, v));
            else if (v->edges > 1)
                v->sets += gone;
    return true;
}

static bool finish(Context *c) {
    polyloom_begins(CONTROL_FLOW);
    graphs(c, c, NONE);
    for (const Class *k = c->class_; k < c->class_ + c->classes; ++k) {
        if (!k->error) continue;
        c->about = k->about;
        return fail(c, k->error, 0);
    }
    TRY(drop_trees(c));
    polyloom_begins(PROGRAMS);
    TRY(allocate(c));
    c->high = c->search->high;  // the packed sets are no longer needed
    for (uint32_t g = 0; g < c->units; ++g) TRY(measure(c, &c->graph[g], c->unit[g].unit));
    polyloom_begins(PERIPHERY);
    return remember(c) && depths(c) && control(c) && generators(c) && wire(c);
}

static bool same(const Context *c, const Tiling *a, const Tiling *b) {
    return a->number == b->number && a->interval == b->interval && a->rows == b->rows && a->columns == b->columns &&
           same_bytes(a->sizes, b->sizes, c->n * sizeof(Int));
}

static bool seen(const Context *c, const Search *s, const Tiling *t) {
    for (uint32_t i = 0; i < s->plans.count; ++i)
        if (same(c, &((Plan **)s->plans.at)[i]->tiling, t)) return true;
    return false;
}

// The same candidate on fewer elements, along rows and along columns: on the most that make tiles larger (unless
// `halve`), and on half of them.
static OUTLINED bool smaller(Context *c, const Tiling *t, bool halve, Vec *out) {
    const Candidate *k = &c->s.candidate[t->number];
    for (int axis = 0; axis < 2; ++axis) {
        const uint32_t m = k->axis[axis];
        if (m == NONE || t->tiles[m] <= 1) continue;
        const Int extent = extent_of(c, m), p = t->sizes[m], half = t->tiles[m] / 2;
        const Int next = halve ? half : min((extent - 1) / add(c, p, 1) + 1, t->tiles[m] - 1),
                  counts[2] = {min(half, next), max(half, next)};
        for (int i = 0; i < 2; ++i) {
            Tiling *slot = push(c, out, sizeof *slot);
            TRY(slot);
            TRY(make_tiling(c, t->number, axis ? t->rows : (uint32_t)counts[i], axis ? (uint32_t)counts[i] : t->columns,
                            NULL, true, slot));
        }
    }
    return true;
}

// Puts a tiling among the plans. One that is invalid is replaced by smaller ones, until these are valid, and by slower
// ones where that may help.
static bool offer(Context *c, const Tiling *t) {
    Search *s = c->search;
    Vec pending = {0};
    Tiling *slot = push(c, &pending, sizeof *slot);
    TRY(slot);
    *slot = *t;
    while (pending.count) {
        const Tiling next = ((Tiling *)pending.at)[--pending.count];
        if (seen(c, s, &next)) continue;
        Plan *plan = keep(c, 1, sizeof *plan), **at = push(c, &s->plans, sizeof *at);
        TRY(plan && at);
        *at = plan;
        plan->tiling = next;
        TRY(timing(c, &plan->tiling, &plan->timing, &plan->valid));
        plan->waiting = plan->valid;
        if (!plan->valid && s->shrinks) TRY(smaller(c, &plan->tiling, false, &pending));
        if (!plan->valid && stretches(c, &plan->tiling)) {
            TRY(slot = push(c, &pending, sizeof *slot));
            *slot = plan->tiling;
            slot->interval += c->s.schedule[c->s.candidate[slot->number].schedule].interval;
        }
        if (!plan->valid && s->shrinks) TRY(longer(c, &plan->tiling, &pending));
    }
    return true;
}

static bool fewer(Context *c, const Tiling *t, bool halve) {
    Vec found = {0};
    TRY(smaller(c, t, halve, &found));
    for (uint32_t i = 0; i < found.count; ++i) TRY(offer(c, (Tiling *)found.at + i));
    return true;
}

// Offers the tiling with tiled dimensions of sizes of their own: smaller tiles, whose signals may be fewer.
static bool uncoupled(Context *c, const Tiling *t) {
    Tiling made;
    return make_tiling(c, t->number, t->rows, t->columns, NULL, false, &made) && offer(c, &made);
}

// Takes the waiting plan of least latency; of several, that of the least candidate, then the oldest.
static Plan *pop(const Search *s) {
    Plan *best = NULL;
    for (uint32_t i = 0; i < s->plans.count; ++i) {
        Plan *p = ((Plan **)s->plans.at)[i];
        if (!p->waiting) continue;
        if (!best || p->timing.latency < best->timing.latency ||
            (p->timing.latency == best->timing.latency && p->tiling.number < best->tiling.number))
            best = p;
    }
    if (best) best->waiting = false;
    return best;
}

// Where operations are rare, one tiling says nothing of another, as they differ in how many iterations overlap, unless
// far more signals are needed than there are: then, with half of the tries spent, only half of the elements are tried.
static bool says(const Context *c, const Region *region, const Tiling *t) {
    const Tiling *other = region->tiling;
    if (!c->s.schedule[c->s.candidate[t->number].schedule].pairs)
        return region->rows == t->rows && region->columns == t->columns;
    if (region->far && c->search->failures >= TRIES / 2)
        return t->rows <= region->rows && t->columns <= region->columns &&
               2 * t->rows * t->columns > (uint32_t)region->rows * region->columns;
    return region->rows == t->rows && region->columns == t->columns && other->number == t->number &&
           same_bytes(other->sizes, t->sizes, c->n * sizeof(Int));
}

static const Region *crowded(const Context *c, const Search *s, const Tiling *t) {
    for (uint32_t i = 0; i < s->crowds; ++i)
        if (says(c, &s->crowded[i], t)) return &s->crowded[i];
    return NULL;
}

// The tiling that was being built is refused: notes why, and offers it on fewer elements.
static bool failed(Context *c) {
    Search *s = c->search;
    const uint32_t error = c->error;
    const Tiling *t = c->t;
    if (!infeasible(error)) return false;
    c->error = 0;
    c->low = s->low;
    c->high = s->high;
    if (!s->failures++) {
        s->error = error;
        s->about = c->about;
        s->tiling = t;
    }
    const bool far = error == 513 && mul(c, 2, c->about.needed) > mul(c, 5, max(c->about.available, 1));
    if (error == 513) s->crowded[s->crowds++] = (Region){(uint16_t)t->rows, (uint16_t)t->columns, far, t};
    if (error == 517 || !s->shrinks) return true;
    TRY(error != 513 || uncoupled(c, t));
    return fewer(c, t, far);
}

static bool channels_of_square(Context *c, uint32_t size, Int *out) {
    const size_t low = c->low, high = c->high;
    Plan *p = keep(c, 1, sizeof *p);
    TRY(p && make_tiling(c, c->search->tiling->number, size, size, NULL, true, &p->tiling));
    c->t = &p->tiling;
    TRY(reset(c) && make_lines(c) && make_groups(c) && remember(c) && make_traffic(c) && make_cells(c) && terminals(c));
    *out = c->needed;
    c->low = low;
    c->high = high;
    return true;
}

// The largest square that the channels suffice for.
static bool find_square(Context *c, uint32_t *out) {
    const Tiling *t = c->search->tiling;
    c->candidate = &c->s.candidate[t->number];
    c->schedule = &c->s.schedule[c->candidate->schedule];
    Int needed = 0;
    for (*out = t->rows < t->columns ? t->rows : t->columns; *out; --*out) {
        TRY(channels_of_square(c, *out, &needed));
        if (needed <= c->s.limits.channels) break;
    }
    return true;
}

// No plan is left: reports the first failure.
static bool give_up(Context *c) {
    Search *s = c->search;
    if (s->failures) {
        if (s->about.kind == POLYLOOM_CHANNELS) TRY(find_square(c, &s->about.place));
        c->about = s->about;
        c->t = s->tiling;
        return fail(c, s->error, 0);
    }
    for (uint32_t i = 0; i < s->plans.count; ++i) {
        const Plan *p = ((Plan **)s->plans.at)[i];
        if (p->valid) continue;
        c->t = &p->tiling;
        const uint32_t kind = p->timing.held ? POLYLOOM_HELD : p->timing.slack < 0 ? POLYLOOM_USE : POLYLOOM_WAVEFRONT;
        return refuse(c, 510, kind, p->timing.use, p->timing.slack, 0);
    }
    return fail(c, 510, 0);
}

// Builds, up to its classes, the plan of least latency that the machine may hold.
static bool next(Context *c, const polyloom_request *r) {
    Search *s = c->search;
    for (Plan *p; s->failures < TRIES && (p = pop(s));) {
        const Region *region = crowded(c, s, &p->tiling);
        if (region) {
            TRY(fewer(c, &p->tiling, region->far));
            continue;
        }
        s->low = c->low;
        s->high = c->high;
        if (begin(c, r, p)) return true;
        TRY(failed(c));
    }
    return give_up(c);
}

static bool plan(Context *c, const polyloom_request *r) {
    polyloom_begins(READING);
    TRY(read_symbolic(c, r->symbolic_size));
    polyloom_begins(CONCRETIZATION);
    if (r->candidate != POLYLOOM_ALL && r->candidate >= c->s.candidates) return fail(c, 815, 0);
    TRY(check_request(c, r) && space_bounds(c, &c->nothing));
    if (c->nothing) return layouts(c, r->layouts);
    Search *s = c->search = temp(c, 1, sizeof *s);
    TRY(s);
    s->shrinks = !r->sizes;
    for (uint32_t i = 0; i < c->s.candidates; ++i) {
        if (r->candidate != POLYLOOM_ALL && r->candidate != i) continue;
        Tiling *t = keep(c, 1, sizeof *t);
        TRY(t && make_tiling(c, i, r->rows, r->columns, r, true, t) && offer(c, t));
    }
    return next(c, r);
}

static uint32_t report(const Context *c, uint32_t status, polyloom_result *out) {
    *out = (polyloom_result){.status = status};
    if (!c) return status;
    out->position = c->position;
    out->classes = c->classes;
    out->scratch_size = ((c->peak + 15) & ~(size_t)15) + 15;  // wherever it begins, a multiple of 16 is left
    out->kind = c->about.kind;
    out->index = c->about.index;
    out->side = c->about.side;
    out->place = c->about.place;
    out->needed = c->about.needed;
    out->available = c->about.available;
    if (!c->t) return status;
    out->candidate = c->t->number;
    out->rows = c->t->rows;
    out->columns = c->t->columns;
    for (uint32_t m = 0; m < c->n; ++m) out->sizes[m] = c->t->sizes[m];
    return status;
}

uint32_t polyloom_plan(const polyloom_request *r, polyloom_result *result) {
    Context *c = context(r->scratch, r->scratch_size);
    if (!c) return report(NULL, POLYLOOM_SCRATCH, result);
    memset(c, 0, sizeof *c);
    claim(c, r->scratch, r->scratch_size);
    c->data = r->symbolic;
    plan(c, r);
    return report(c, c->error, result);
}

uint32_t polyloom_class(const polyloom_request *r, uint32_t number, void *scratch, size_t size,
                        polyloom_result *result) {
    Context *from = context(r->scratch, r->scratch_size), *c = context(scratch, size);
    if (!c) return report(NULL, POLYLOOM_SCRATCH, result);
    *c = *from;
    c->parent = from;
    reset(c);
    claim(c, scratch, size);
    Class *k = &from->class_[number];
    for (uint32_t g = 0; g < from->units; ++g)
        if (from->unit[g].class_ == number) from->graph[g].node = NULL;
    k->error = graphs(c, from, number);
    k->apart = true;
    if (k->error) c->about = k->about;
    return report(c, k->error, result);
}

uint32_t polyloom_merge(const polyloom_request *r, polyloom_result *result) {
    Context *c = context(r->scratch, r->scratch_size);
    if (c->nothing || finish(c)) return report(c, POLYLOOM_OK, result);
    return report(c, failed(c) && next(c, r) ? POLYLOOM_AGAIN : c->error, result);
}

uint32_t polyloom_emit(const polyloom_request *r, polyloom_result *result) {
    Context *c = context(r->scratch, r->scratch_size);
    size_t size = 0;
    if (!emit(c, r, false, &size)) size = 0;
    report(c, c->error, result);
    result->output_size = size;
    return c->error;
}

// Measures what the classes take in scratch of their own, by making them in what is free of the request's.
static uint32_t try_classes(const polyloom_request *r, size_t *most) {
    Context *c = context(r->scratch, r->scratch_size);
    for (uint32_t i = 0; i < c->classes; ++i) {
        polyloom_result own;
        const uint32_t status = polyloom_class(r, i, c->base + c->low, c->high - c->low, &own);
        if (status && !infeasible(status)) return status;
        if (own.scratch_size > *most) *most = own.scratch_size;
        c->class_[i].apart = false;
    }
    if (c->classes) memset(c->graph, 0, c->units * sizeof(Graph));
    return POLYLOOM_OK;
}

uint32_t polyloom_query(const polyloom_request *r, polyloom_result *result) {
    size_t size = 0, most = 0;
    uint32_t status = polyloom_plan(r, result);
    while (!status && !(status = try_classes(r, &most)) && (status = polyloom_merge(r, result)) == POLYLOOM_AGAIN)
        status = POLYLOOM_OK;
    Context *c = context(r->scratch, r->scratch_size);
    if (!status && !emit(c, r, true, &size)) status = c->error;
    report(c, status, result);
    result->output_size = size;
    result->class_size = most;
    return status;
}

uint32_t polyloom_instantiate(const polyloom_request *r, polyloom_result *result) {
    uint32_t status = polyloom_plan(r, result);
    while (!status && (status = polyloom_merge(r, result)) == POLYLOOM_AGAIN) status = POLYLOOM_OK;
    return status ? status : polyloom_emit(r, result);
}
