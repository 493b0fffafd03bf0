// SPDX-License-Identifier: Apache-2.0
// Folding, kernel classes and control flow of one functional unit (the paper, section 6.1, Algorithms 2 and 3). The
// content of a step is the set of folded leaves that hold in it. Steps are partitioned by their contents and those of
// the next steps; equal contents are one kernel, and the parts give its successors and their transition sets. A kernel
// with more successors than a branch has targets is split by what follows it, looking further and further ahead.
#include "internal.h"

#define LOOK_AHEAD 4  // how many steps ahead a kernel class may be told apart to reduce out-degrees

typedef struct {
    Int steps;
    const Domain *domain;
    uint32_t end;  // of its sets among those of all families
} Leaf;

// The steps of a part, with the names of the kernels of theirs and of the next ones; NONE after the last step.
typedef struct {
    const Part *part;
    uint32_t levels;           // up to the step that halts
    uint32_t *content, *name;  // by level; bit sets of leaves
} Stretch;

typedef struct {
    Context *c;
    UnitTree unit;
    Int last[DIMENSIONS];
    uint32_t epilogue, count, words;  // leaves, and words of a bit set of them
    Leaf *leaf;
    const Grid *grid;
    Stretch *line;
    uint32_t lines, levels;
    const Kernel **kernel;
    uint32_t kernels;
    // The stretches of a kernel, from the last one on: by kernel, by stretch; NONE at the end.
    uint32_t *latest, *previous;
} Folded;

static bool has(const uint32_t *bits, uint32_t i) { return bits[i / 32] >> i % 32 & 1; }
static void set(uint32_t *bits, uint32_t i) { bits[i / 32] |= (uint32_t)1 << i % 32; }

static bool fold(Context *c, const Unit *from, Folded *f) {
    const Int interval = c->t->interval;
    const UnitTree *unit = &f->unit;
    *f = (Folded){.c = c};
    TRY(unpack_tree(c, c->trees + from->tree, &f->unit));
    Int steps = 1;
    for (uint32_t g = 0; g < c->n; ++g) steps = mul(c, steps, c->t->extents[g]);
    for (uint32_t i = 0; i < unit->operations; ++i) {
        f->epilogue = (uint32_t)max(f->epilogue, unit->operation[i].tau / interval);
        f->count += 1 + unit->operation[i].fragments;
    }
    TRY(ok(c) && (f->leaf = temp(c, f->count + 1, sizeof(Leaf))));
    digits_of(c, add(c, steps, f->epilogue) - 1, f->last);
    uint32_t k = 0;
    for (uint32_t i = 0; i < unit->operations; ++i) {
        const Operation *o = &unit->operation[i];
        f->leaf[k++] = (Leaf){o->tau / interval, o->domain, 0};
        for (uint32_t j = 0; j < o->fragments; ++j) f->leaf[k++] = (Leaf){o->tau / interval, o->fragment[j].domain, 0};
    }
    const Set *end = box(c, f->last, f->last);
    TRY(end && (f->leaf[k].domain = domain(c, &end, 1)));
    f->words = (++f->count + 31) / 32;
    return true;
}

// The families by which steps are partitioned, each once: the leaves, shifted by their steps and by each level; then
// all steps; then those after the last one.
static bool families(Folded *f, uint32_t levels, Member **members, uint32_t *number, uint32_t *family,
                     uint32_t *count) {
    Context *c = f->c;
    Leaf *known = temp(c, (size_t)levels * f->count + 2, sizeof *known);
    Vec sets = {0};
    TRY(known);
    *count = 0;
    for (uint32_t i = 0; i < levels * f->count; ++i) {
        const Leaf wanted = {f->leaf[i % f->count].steps - i / f->count, f->leaf[i % f->count].domain, 0};
        uint32_t k = 0;
        while (k < *count && (known[k].steps != wanted.steps || known[k].domain != wanted.domain)) ++k;
        family[i] = k;
        if (k < *count) continue;
        known[(*count)++] = wanted;
        TRY(shift(c, wanted.domain, wanted.steps, &sets));
        known[k].end = sets.count;
    }
    Int lower[DIMENSIONS] = {0}, upper[DIMENSIONS];
    for (uint32_t g = 0; g < c->n; ++g) upper[g] = g + 1 < c->n ? c->t->extents[g] - 1 : f->last[g];
    TRY(append(c, &sets, box(c, lower, upper)));
    known[(*count)++].end = sets.count;
    TRY(after(c, f->last, lower, upper, &sets));
    known[(*count)++].end = *number = sets.count;
    TRY(*members = temp(c, sets.count, sizeof **members));
    for (uint32_t i = 0, k = 0; i < sets.count; ++i) {
        while (known[k].end <= i) ++k;
        (*members)[i] = (Member){((const Set **)sets.at)[i], k};
    }
    return true;
}

// The contents of each part, level by level up to the step that halts.
static bool trace(Folded *f, uint32_t levels) {
    Context *c = f->c;
    const size_t low = c->low;
    Member *members = NULL;
    uint32_t *family = temp(c, (size_t)levels * f->count, sizeof *family), sets, count, number;
    Grid *grid = NULL;
    Part **parts = NULL;
    TRY(family && families(f, levels, &members, &sets, family, &count));
    TRY(partition(c, members, sets, count, &grid, &parts, &number));
    bool slanted = false;
    for (uint32_t i = 0; i < sets; ++i) slanted = slanted || members[i].set->spaces;
    if (!slanted) release(c, low);  // parts refer to half-spaces alone
    f->grid = grid;
    f->levels = levels;
    f->lines = 0;
    TRY(f->line = temp(c, number, sizeof(Stretch)));
    for (uint32_t p = 0; p < number; ++p) {
        if (has(parts[p]->key, count - 1)) continue;
        Stretch *line = &f->line[f->lines++];
        line->part = parts[p];
        TRY((line->content = temp(c, (size_t)levels * f->words, sizeof *line->content)) &&
            (line->name = temp(c, levels, sizeof *line->name)));
        for (bool halts = false; line->levels < levels && !halts; ++line->levels) {
            uint32_t *content = line->content + (size_t)line->levels * f->words;
            for (uint32_t leaf = 0; leaf < f->count; ++leaf)
                if (has(parts[p]->key, family[line->levels * f->count + leaf])) set(content, leaf);
            halts = has(content, f->count - 1);
        }
    }
    return true;
}

static int compare(const uint32_t *a, const uint32_t *b, uint32_t words) {
    for (uint32_t i = words; i-- > 0;)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static uint32_t where(uint32_t *const *contents, uint32_t count, const uint32_t *content, uint32_t words) {
    uint32_t first = 0, last = count;
    while (first < last) {
        const uint32_t middle = (first + last) / 2;
        if (compare(contents[middle], content, words) < 0)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

static bool clash(Context *c) { return fail(c, 530, 0); }

typedef struct {
    const Operation *operation;
    uint32_t first;  // its leaf
} Slot;

static uint32_t constant(uint8_t *out, uint32_t at, uint32_t bits) {
    for (int k = 0; k < 4; ++k) out[at++] = (uint8_t)(bits >> 8 * k);
    return at;
}

// The bytes of an instruction without its branch (docs/formats.md). One that writes nothing has 1 for all constants,
// whatever they are.
static uint32_t instruction(Context *c, const Slot *s, const uint32_t *content, uint8_t *out) {
    const Operation *o = s->operation;
    uint32_t destinations = 0, sources = 0, at = 2;
    if (!o) {
        out[0] = NOP;
        out[1] = 0;
        return 2;
    }
    for (uint32_t i = 0; i < o->fragments; ++i)
        if (has(content, s->first + 1 + i) && o->fragment[i].position == WRITTEN) {
            out[at++] = (uint8_t)(o->fragment[i].file << 6 | o->fragment[i].number);
            if (++destinations > 15) return refuse(c, 706, POLYLOOM_FIELD, 1, destinations, 16);
        }
    const Fragment *immediate[3];
    uint32_t immediates = 0;
    for (uint32_t i = 0; i < o->fragments; ++i) {
        const Fragment *f = &o->fragment[i];
        if (!has(content, s->first + 1 + i) || f->position == WRITTEN) continue;
        if (f->position != sources++) return clash(c);
        out[at++] = f->file == CONSTANT ? 0xC0 : (uint8_t)(f->file << 6 | f->number);
        if (f->file == CONSTANT) immediate[immediates++] = f;
    }
    for (uint32_t i = 0; i < immediates; ++i) {
        const uint32_t number = immediate[i]->number;
        const bool wide = is_wide(o->opcode, immediate[i]->position);
        const Wide *w = c->s.wide;
        for (uint32_t k = 0; wide && k < number; ++k) w = w->next;
        at = constant(out, at, !destinations ? 1 : wide ? w->low : number);
        if (wide) at = constant(out, at, destinations ? w->high : 0);
    }
    out[0] = (uint8_t)(o->opcode >> 4);
    out[1] = (uint8_t)(destinations | o->opcode << 4);
    return at;
}

#define LONGEST 48  // bytes of an instruction without its branch

static Kernel *kernel(Folded *f, const uint32_t *content) {
    Context *c = f->c;
    const size_t mark = c->high;
    const uint32_t interval = (uint32_t)c->t->interval;
    Slot *slots = temp(c, interval, sizeof *slots);
    Kernel *out = temp(c, 1 + sizeof *out / LONGEST + (size_t)interval, LONGEST);
    if (!slots || !out) return NULL;
    uint32_t bit = 0;
    for (uint32_t i = 0; i < f->unit.operations; ++i) {
        const Operation *o = &f->unit.operation[i];
        bool any = false;
        for (uint32_t k = 0; k <= o->fragments; ++k) any = any || has(content, bit + k);
        if (any) {
            Slot *s = &slots[o->tau % interval];
            if (s->operation || !has(content, bit)) {
                c->about.place = (uint32_t)(o->tau % interval);
                refuse(c, 530, POLYLOOM_SLOT, 0, o->tau, 0);
                return NULL;
            }
            *s = (Slot){o, bit};
        }
        bit += 1 + o->fragments;
    }
    for (uint32_t i = 0; i < interval; ++i) {
        out->last = out->size;
        out->size += instruction(c, &slots[i], content, out->bytes + out->size);
        if (!ok(c)) return NULL;
    }
    out->halts = has(content, f->count - 1);
    return shrink(c, out, mark, sizeof *out + out->size);
}

static bool same_kernel(const Kernel *a, const Kernel *b) {
    return a->size == b->size && a->halts == b->halts && same_bytes(a->bytes, b->bytes, a->size);
}

// Numbers the kernels in ascending order of their contents; contents that give the same words are one kernel.
static bool name(Folded *f) {
    Context *c = f->c;
    uint32_t count = 0;
    uint32_t **contents = temp(c, (size_t)f->lines * f->levels, sizeof *contents);
    TRY(contents);
    for (uint32_t i = 0; i < f->lines * f->levels; ++i) {
        if (i % f->levels >= f->line[i / f->levels].levels) continue;
        uint32_t *content = f->line[i / f->levels].content + i % f->levels * f->words;
        const uint32_t at = where(contents, count, content, f->words);
        if (at < count && !compare(contents[at], content, f->words)) continue;
        move(contents + at + 1, contents + at, (count - at) * sizeof *contents);
        contents[at] = content;
        ++count;
    }
    uint32_t *names = temp(c, count, sizeof *names), *following = temp(c, count, sizeof *following), bucket[BUCKETS];
    TRY(names && following && (f->kernel = temp(c, count, sizeof *f->kernel)));
    memset(bucket, 0xff, sizeof bucket);
    f->kernels = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const size_t mark = c->high;
        const Kernel *made = kernel(f, contents[i]);
        TRY(made);
        uint32_t *head = &bucket[hash(made->halts, made->bytes, made->size) % BUCKETS], k = *head;
        while (k != NONE && !same_kernel(f->kernel[k], made)) k = following[k];
        if (k != NONE)
            c->high = mark;
        else {
            k = f->kernels++;
            f->kernel[k] = made;
            following[k] = *head;
            *head = k;
        }
        names[i] = k;
    }
    for (uint32_t i = 0; i < f->lines; ++i)
        for (uint32_t level = 0; level < f->levels; ++level) {
            const uint32_t *content = f->line[i].content + level * f->words;
            f->line[i].name[level] =
                level < f->line[i].levels ? names[where(contents, count, content, f->words)] : NONE;
        }
    return true;
}

// Divides the successors of each kernel into batches of `targets`. A kernel that follows itself is followed by each of
// its clones, which leaves less room in the first batch.
static bool batches(Folded *f, uint32_t targets, uint32_t *batch) {
    Context *c = f->c;
    bool *follows = temp(c, (size_t)f->kernels * f->kernels, 1);
    TRY(follows);
    for (uint32_t i = 0; i < f->lines; ++i)
        for (uint32_t level = 0; level + 1 < f->levels; ++level) {
            const uint32_t a = f->line[i].name[level], b = f->line[i].name[level + 1];
            if (a != NONE && b != NONE) follows[(size_t)a * f->kernels + b] = true;
        }
    for (uint32_t a = 0; a < f->kernels; ++a) {
        const bool *next = follows + (size_t)a * f->kernels;
        uint32_t successors = 0, place = 0;
        for (uint32_t b = 0; b < f->kernels; ++b) successors += next[b];
        if (successors <= targets) continue;
        const uint32_t room = targets > 1 ? targets - 1 : 1, clones = next[a] ? (successors - 1 + room - 1) / room : 1;
        const uint32_t first = targets + 1 > clones + 1 ? targets - clones + 1 : 1;
        for (uint32_t k = 0; k <= f->kernels; ++k) {  // itself first
            const uint32_t b = k ? k - 1 : a;
            if ((k && b == a) || !next[b]) continue;
            batch[(size_t)a * f->kernels + b] = place < first ? 0 : 1 + (place - first) / targets;
            ++place;
        }
    }
    return true;
}

// Clones each kernel with too many successors, once per batch of them: the branch before it then chooses among the
// clones.
static bool look_ahead(Folded *f, uint32_t targets) {
    Context *c = f->c;
    uint32_t *batch = temp(c, (size_t)f->kernels * f->kernels, sizeof *batch);
    TRY(batch && batches(f, targets, batch));
    Vec clones = {0};
    for (uint32_t i = 0; i < f->lines; ++i)
        for (uint32_t level = 0; level + 1 < f->levels; ++level) {
            const uint32_t a = f->line[i].name[level], b = f->line[i].name[level + 1];
            if (a == NONE) continue;
            const Writer wanted = {a, b == NONE ? 0 : batch[(size_t)a * f->kernels + b]};
            uint32_t k = 0;
            while (k < clones.count && (((Writer *)clones.at)[k].node != wanted.node ||
                                        ((Writer *)clones.at)[k].condition != wanted.condition))
                ++k;
            if (k == clones.count) {
                Writer *slot = push(c, &clones, sizeof *slot);
                TRY(slot);
                *slot = wanted;
            }
            f->line[i].name[level] = k;
        }
    --f->levels;
    const Kernel **cloned = temp(c, clones.count, sizeof *cloned);
    TRY(cloned);
    for (uint32_t k = 0; k < clones.count; ++k) cloned[k] = f->kernel[((Writer *)clones.at)[k].node];
    f->kernel = cloned;
    f->kernels = clones.count;
    return true;
}

static bool index_stretches(Folded *f) {
    TRY((f->latest = temp(f->c, f->kernels, sizeof(uint32_t))) &&
        (f->previous = temp(f->c, f->lines, sizeof(uint32_t))));
    for (uint32_t v = 0; v < f->kernels; ++v) f->latest[v] = NONE;
    for (uint32_t i = 0; i < f->lines; ++i) {
        uint32_t *latest = &f->latest[f->line[i].name[0]];
        f->previous[i] = *latest;
        *latest = i;
    }
    return true;
}

// The node of step 0. Where half-spaces split the first cell, several nodes begin there, and that whose sets have the
// origin is meant.
static bool start(Folded *f, const uint32_t *order, uint32_t nodes, uint32_t *out) {
    Context *c = f->c;
    static const Int zero[DIMENSIONS] = {0};
    uint32_t candidates = 0;
    *out = order[0];
    for (int pass = 0; pass < 2; ++pass) {
        for (uint32_t v = 0; v < nodes; ++v)
            for (uint32_t i = f->latest[order[v]]; i != NONE; i = f->previous[i]) {
                const Stretch *line = &f->line[i];
                if (line->part->first || line->name[1] == NONE) continue;
                if (!pass) {
                    if (!candidates++) *out = order[v];
                    continue;
                }
                Vec sets = {0};
                TRY(part_sets(c, f->grid, line->part, &sets));
                const Domain *d = domain(c, sets.at, sets.count);
                TRY(d);
                if (contains(c, d, zero)) {
                    *out = order[v];
                    return true;
                }
            }
        if (candidates == 1) return true;
        if (pass) *out = order[0];
    }
    return ok(c);
}

// The distinct successors of a kernel; `seen` has, by successor, 1 more than the kernel that it was last found for.
static uint32_t successors(const Folded *f, uint32_t v, uint32_t *seen, uint32_t *out) {
    uint32_t count = 0;
    for (uint32_t i = f->latest[v]; i != NONE; i = f->previous[i]) {
        const uint32_t to = f->line[i].name[1];
        if (to == NONE || seen[to] == v + 1) continue;
        seen[to] = v + 1;
        out[count++] = to;
    }
    return count;
}

// The lasting copy of a kernel; equal kernels share one.
static const Kernel *kept(Context *c, const Kernel *from) {
    for (const Kernel *k = c->kernels; k; k = k->next)
        if (same_kernel(k, from)) return k;
    Kernel *made = keep(c, 1, sizeof *made + from->size);
    if (!made) return NULL;
    memcpy(made, from, sizeof *made + from->size);
    made->next = c->kernels;
    return c->kernels = made;
}

// Packs the sets of a part in front of what was packed before, and gives all other memory back. Returns their number.
static uint32_t packed(Folded *f, const Part *part) {
    Context *c = f->c;
    const size_t high = c->high, low = c->low;
    size_t size = 0;
    Vec sets = {0};
    if (!part_sets(c, f->grid, part, &sets)) return 0;
    for (uint32_t i = 0; i < sets.count; ++i) size += pack(c, ((const Set **)sets.at)[i], NULL);
    uint8_t *at = temp(c, size, 1);
    if (!at) return 0;
    size = 0;
    for (uint32_t i = 0; i < sets.count; ++i) size += pack(c, ((const Set **)sets.at)[i], at + size);
    shrink(c, at, high, (size + 7) & ~(size_t)7);  // with the zeros after them
    forget(c, low);
    return sets.count;
}

// The transition sets of a node: those of its parts, in the order of first steps.
static bool transitions(Folded *f, uint32_t v, const uint32_t *order, GraphNode *out) {
    for (uint32_t k = out->edges; k-- > 0;) {
        Edge *e = &out->edge[k];
        for (uint32_t i = f->latest[v]; i != NONE; i = f->previous[i]) {
            if (f->line[i].name[1] != order[e->to]) continue;
            const uint32_t count = e->sets + packed(f, f->line[i].part);
            if (count >> 16) return fail(f->c, POLYLOOM_OVERFLOW, 0);
            e->sets = (uint16_t)count;
        }
    }
    out->sets = f->c->base + f->c->high;
    return ok(f->c);
}

// Makes a node; its edges, sets and kernel are temporary.
static bool node(Folded *f, uint32_t v, const uint32_t *order, const uint32_t *place, uint32_t *seen, uint32_t *next,
                 GraphNode *out) {
    Context *c = f->c;
    out->kernel = f->kernel[v];
    out->edges = (uint16_t)successors(f, v, seen, next);
    TRY(out->edge = temp(c, out->edges, sizeof(Edge)));
    for (uint32_t k = 0; k < out->edges; ++k) {
        uint32_t i = k;
        if (f->latest[next[k]] == NONE) return clash(c);
        for (; i && out->edge[i - 1].to > place[next[k]]; --i) out->edge[i] = out->edge[i - 1];
        out->edge[i] = (Edge){.to = (uint16_t)place[next[k]]};
    }
    return out->edges < 2 || transitions(f, v, order, out);
}

// Makes a graph last: all else of its construction is given back, and its packed sets move up to `high`.
static bool settle(Context *c, const GraphNode *from, size_t low, size_t high, Graph *out) {
    forget(c, low);
    TRY(out->node = keep(c, out->nodes, sizeof *from));
    for (uint32_t v = 0; v < out->nodes; ++v) {
        GraphNode *n = &out->node[v];
        *n = from[v];
        uint32_t signals = 0;
        while (n->edges > (uint32_t)1 << signals) ++signals;
        TRY((n->kernel = kept(c, n->kernel)) &&
            (n->edge = keep(c, n->edges * sizeof(Edge) + signals * sizeof(uint16_t), 1)));
        memcpy(n->edge, from[v].edge, n->edges * sizeof(Edge));
    }
    c->high = high;
    for (uint32_t v = 0; v < out->nodes; ++v) {
        GraphNode *n = &out->node[v];
        if (n->edges < 2) continue;
        size_t size = 0;
        for (Walk w = walk(n); more(&w);) {
            const uint8_t *at = unpadded(w.at);  // parts begin at multiples of 8
            w.at = skipped(at);
            move(n->sets + size, at, (size_t)(w.at - at));
            size += (size_t)(w.at - at);
        }
        c->high -= size;
        n->sets = move(c->base + c->high, n->sets, size);
    }
    c->high &= ~(size_t)7;
    return true;
}

// Makes the nodes: first that of step 0, then the others in the order of their first steps.
static bool ordered(Folded *f, size_t low, size_t high, Graph *out) {
    Context *c = f->c;
    uint32_t *place = temp(c, f->kernels, sizeof *place), *seen = temp(c, f->kernels, sizeof *seen),
             *next = temp(c, f->kernels, sizeof *next);
    uint32_t *order = temp(c, f->kernels, sizeof *order), nodes = 0, first;
    TRY(place && seen && next && order);
    for (uint32_t i = 0; i < f->lines; ++i) {
        const uint32_t v = f->line[i].name[0];
        if (!place[v]++) order[nodes++] = v;
    }
    if (!nodes) return clash(c);
    TRY(start(f, order, nodes, &first));
    uint32_t at = 0;
    while (order[at] != first) ++at;
    for (; at; --at) order[at] = order[at - 1];
    order[0] = first;
    for (uint32_t v = 0; v < nodes; ++v) place[order[v]] = v;
    if (nodes >> 16) return refuse(c, 706, POLYLOOM_FIELD, 1, (Int)(nodes & 0x7FFFFFFF), 65536);
    *out = (Graph){.nodes = nodes, .epilogue = f->epilogue};
    GraphNode *made = temp(c, nodes, sizeof *made);
    TRY(made);
    for (uint32_t v = 0; v < nodes; ++v) TRY(node(f, order[v], order, place, seen, next, &made[v]));
    return settle(c, made, low, high, out);
}

static uint32_t degree(Folded *f) {
    uint32_t most = 0, *seen = temp(f->c, f->kernels, sizeof *seen), *next = temp(f->c, f->kernels, sizeof *next);
    for (uint32_t v = 0; seen && next && v < f->kernels; ++v) {
        const uint32_t count = successors(f, v, seen, next);
        most = most > count ? most : count;
    }
    return most;
}

bool control_flow(Context *c, const Unit *unit, Graph *out) {
    const size_t low = c->low, high = c->high;
    const Int flags = c->s.limits.branch_flags;
    const uint32_t targets = flags > 30 ? (uint32_t)1 << 30 : (uint32_t)1 << flags;
    Folded *f = temp(c, 1, sizeof *f);
    TRY(f && fold(c, unit, f));
    const size_t folded = c->high;
    for (uint32_t rounds = 0; rounds < LOOK_AHEAD; ++rounds) {
        c->high = folded;
        TRY(trace(f, rounds + 2) && name(f));
        for (uint32_t i = 0; i < rounds; ++i) TRY(look_ahead(f, targets));
        TRY(index_stretches(f));
        const uint32_t worst = degree(f);
        TRY(ok(c));
        if (worst > targets) continue;
        return ordered(f, low, high, out) && ok(c);
    }
    TRY(ordered(f, low, high, out));
    uint32_t worst = 0;
    for (uint32_t v = 0; v < out->nodes; ++v)
        if (out->node[v].edges > out->node[worst].edges) worst = v;
    c->about.place = worst;
    return refuse(c, 512, POLYLOOM_KERNEL, unit->unit, out->node[worst].edges, targets);
}
