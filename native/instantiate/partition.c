// SPDX-License-Identifier: Apache-2.0
// The parts of a union of families, by which of them hold (the paper, section 6.1): cells between the bounds of all boxes, split
// where half-spaces cut them. The sets of a part are made on demand: few disjoint boxes that cover its cells.
#include "internal.h"

struct Grid {
    uint32_t axes, axis[DIMENSIONS], cells;
    uint32_t shape[DIMENSIONS], stride[DIMENSIONS];  // by axis; axis 0, the innermost digit, is dense
    uint32_t cuts[DIMENSIONS];
    Int *start[DIMENSIONS];  // by digit
    uint32_t words;
    uint32_t *ids;  // the part of every cell that no half-space cuts
};

// A family that holds in a cell where its half-spaces do.
typedef struct Cut {
    struct Cut *next;
    uint32_t family, spaces;
    const Half **space;
} Cut;

typedef struct Group {
    struct Group *next;
    uint32_t spaces;
    const Half **space;
    Vec cells;
} Group;

typedef struct {
    Context *c;
    Grid *grid;
    Part *parts[BUCKETS];
    uint32_t count;
    uint32_t cell;
} Collector;


static void insert(Int *values, uint32_t *count, Int x) {
    uint32_t first = 0, last = *count;
    while (first < last) {
        const uint32_t middle = (first + last) / 2;
        if (values[middle] < x)
            first = middle + 1;
        else
            last = middle;
    }
    if (first < *count && values[first] == x) return;
    memmove(values + first + 1, values + first, (*count - first) * sizeof(Int));
    values[first] = x;
    ++*count;
}

static bool cut(Context *c, Grid *grid, const Member *members, uint32_t count) {
    for (uint32_t g = 0; g < c->n; ++g) {
        TRY(grid->start[g] = temp(c, 2 * (size_t)count, sizeof(Int)));
        for (uint32_t i = 0; i < count; ++i) {
            insert(grid->start[g], &grid->cuts[g], members[i].set->lower[g]);
            insert(grid->start[g], &grid->cuts[g], members[i].set->upper[g] + 1);
        }
        if (grid->cuts[g] > 2) grid->axis[grid->axes++] = g;
    }
    if (!grid->axes) grid->axis[grid->axes++] = 0;
    return true;
}

// How many cells `partition` has.
bool cells_of(Context *c, const Member *members, uint32_t count, uint64_t *out) {
    const size_t mark = c->high;
    Grid *grid = temp(c, 1, sizeof *grid);
    TRY(grid && cut(c, grid, members, count));
    *out = 1;
    for (uint32_t k = 0; k < grid->axes && *out >> 31 == 0; ++k) *out *= grid->cuts[grid->axis[k]] - 1;
    c->high = mark;
    return true;
}

static bool lay(Context *c, Grid *grid, const Member *members, uint32_t count) {
    TRY(cut(c, grid, members, count));
    uint64_t cells = 1;
    for (uint32_t k = 0; k < grid->axes; ++k) {
        grid->shape[k] = grid->cuts[grid->axis[k]] - 1;
        grid->stride[k] = (uint32_t)cells;
        cells *= grid->shape[k];
        if (cells >> 31) return fail(c, POLYLOOM_SCRATCH, 0);
    }
    grid->cells = (uint32_t)cells;
    return true;
}

static uint32_t place(const Int *starts, uint32_t count, Int x) {
    uint32_t first = 0, last = count - 1;
    while (first < last) {
        const uint32_t middle = (first + last) / 2;
        if (starts[middle] < x)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

// Bounds of the cells from `first` to `last` on every axis, both inclusive.
static void bounds(const Context *c, const Grid *grid, const uint32_t *first, const uint32_t *last, Int *lower, Int *upper) {
    for (uint32_t g = 0; g < c->n; ++g) {
        lower[g] = grid->start[g][0];
        upper[g] = grid->start[g][grid->cuts[g] - 1] - 1;
    }
    for (uint32_t k = 0; k < grid->axes; ++k) {
        const uint32_t g = grid->axis[k];
        lower[g] = grid->start[g][first[k]];
        upper[g] = grid->start[g][last[k] + 1] - 1;
    }
}

static void unravel(const Grid *grid, uint32_t cell, uint32_t *at) {
    for (uint32_t k = 0; k < grid->axes; ++k) at[k] = cell / grid->stride[k] % grid->shape[k];
}

static Int extreme(Context *c, const Half *h, const Int *lower, const Int *upper, bool most) {
    Int value = h->constant;
    for (uint32_t g = 0; g < c->n; ++g)
        if (h->a[g]) value = add(c, value, mul(c, h->a[g], (h->a[g] > 0) == most ? upper[g] : lower[g]));
    return value;
}

static bool mark_cell(Context *c, const Grid *grid, const Member *m, const uint32_t *at, uint32_t *keys, Cut ***tails) {
    uint32_t cell = 0;
    for (uint32_t k = 0; k < grid->axes; ++k) cell += at[k] * grid->stride[k];
    if (m->set->spaces) {
        Int lower[DIMENSIONS], upper[DIMENSIONS];
        bounds(c, grid, at, at, lower, upper);
        uint32_t cutting = 0;
        for (uint32_t i = 0; i < m->set->spaces; ++i) {
            if (extreme(c, m->set->space[i], lower, upper, true) < 0) return ok(c);
            cutting += extreme(c, m->set->space[i], lower, upper, false) < 0;
        }
        TRY(ok(c));
        if (cutting) {
            Cut *cut = temp(c, 1, sizeof *cut);
            TRY(cut && (cut->space = temp(c, cutting, sizeof *cut->space)));
            cut->family = m->family;
            for (uint32_t i = 0; i < m->set->spaces; ++i)
                if (extreme(c, m->set->space[i], lower, upper, false) < 0) cut->space[cut->spaces++] = m->set->space[i];
            *tails[cell] = cut;
            tails[cell] = &cut->next;
            return true;
        }
    }
    keys[(size_t)cell * grid->words + m->family / 32] |= (uint32_t)1 << m->family % 32;
    return true;
}

static bool mark(Context *c, const Grid *grid, const Member *m, uint32_t *keys, Cut ***tails) {
    uint32_t first[DIMENSIONS], last[DIMENSIONS], at[DIMENSIONS];
    for (uint32_t k = 0; k < grid->axes; ++k) {
        const uint32_t g = grid->axis[k];
        at[k] = first[k] = place(grid->start[g], grid->cuts[g], m->set->lower[g]);
        last[k] = place(grid->start[g], grid->cuts[g], m->set->upper[g] + 1);
    }
    for (;;) {
        TRY(mark_cell(c, grid, m, at, keys, tails));
        uint32_t k = 0;
        while (k < grid->axes && ++at[k] == last[k]) at[k] = first[k], ++k;
        if (k == grid->axes) return true;
    }
}

static Part *part_of(Collector *k, const uint32_t *key) {
    Context *c = k->c;
    const size_t bytes = k->grid->words * sizeof *key;
    Part **bucket = &k->parts[hash(2166136261u, key, bytes) % BUCKETS];
    for (Part *p = *bucket; p; p = p->next)
        if (!memcmp(p->key, key, bytes)) return p;
    Part *p = temp(c, 1, sizeof *p);
    if (!p || !(p->key = temp(c, k->grid->words, sizeof *key))) return NULL;
    memcpy(p->key, key, bytes);
    p->id = k->count++;
    p->first = NONE;
    p->next = *bucket;
    return *bucket = p;
}

static bool add_piece(Collector *k, const uint32_t *key, uint32_t spaces, const Half **space) {
    Context *c = k->c;
    Part *p = part_of(k, key);
    TRY(p);
    if (k->cell < p->first) p->first = k->cell;
    Group **tail = &p->groups;
    while (*tail && ((*tail)->spaces != spaces || (spaces && memcmp((*tail)->space, space, spaces * sizeof *space)))) tail = &(*tail)->next;
    if (!*tail) {
        TRY((*tail = temp(c, 1, sizeof(Group))) && ((*tail)->space = temp(c, spaces, sizeof *space)));
        (*tail)->spaces = spaces;
        if (spaces) memcpy((*tail)->space, space, spaces * sizeof *space);
    }
    uint32_t *slot = push(c, &(*tail)->cells, sizeof *slot);
    TRY(slot);
    *slot = k->cell;
    return true;
}

// The combinations of families within a cell. Each level decides one half-space for all pending cuts: as deep as there are different ones.
static bool split(Collector *k, const Set *s, const uint32_t *key, const Cut *pending, uint32_t spaces, const Half **space) {
    Context *c = k->c;
    const uint32_t words = k->grid->words;
    uint32_t *known = temp(c, words, sizeof *known);
    TRY(known);
    memcpy(known, key, words * sizeof *key);
    for (const Cut *p = pending; p; p = p->next)
        if (!p->spaces) known[p->family / 32] |= (uint32_t)1 << p->family % 32;
    const Half *h = NULL;
    for (const Cut *p = pending; p && !h; p = p->next)
        if (!(known[p->family / 32] >> p->family % 32 & 1)) h = p->space[0];
    if (!h) return add_piece(k, known, spaces, space);
    const Half *outer = negated(c, h);
    const Half **grown = temp(c, spaces + 1, sizeof *grown), **all = temp(c, s->spaces + 1, sizeof *all);
    TRY(outer && grown && all);
    if (spaces) memcpy(grown, space, spaces * sizeof *space);
    if (s->spaces) memcpy(all, s->space, s->spaces * sizeof *all);
    for (int side = 0; side < 2; ++side) {
        all[s->spaces] = grown[spaces] = side ? outer : h;
        const Set *half;
        TRY(convex(c, s->lower, s->upper, s->spaces + 1, all, &half));
        if (!half) continue;
        Cut *first = NULL, **tail = &first;
        for (const Cut *p = pending; p; p = p->next) {
            if (known[p->family / 32] >> p->family % 32 & 1) continue;
            bool has = false;
            for (uint32_t i = 0; i < p->spaces; ++i) has = has || p->space[i] == h;
            if (side && has) continue;
            Cut *left = temp(c, 1, sizeof *left);
            TRY(left && (left->space = temp(c, p->spaces, sizeof *left->space)));
            left->family = p->family;
            for (uint32_t i = 0; i < p->spaces; ++i)
                if (p->space[i] != h) left->space[left->spaces++] = p->space[i];
            *tail = left;
            tail = &left->next;
        }
        TRY(split(k, half, known, first, spaces + 1, grown));
    }
    return true;
}

// The cells that half-spaces cut, innermost digit first in their order.
static bool split_all(Collector *k, Cut **cuts, const uint32_t *keys) {
    Context *c = k->c;
    const Grid *grid = k->grid;
    uint32_t at[DIMENSIONS] = {0};
    for (;;) {
        uint32_t cell = 0;
        for (uint32_t a = 0; a < grid->axes; ++a) cell += at[a] * grid->stride[a];
        if (cuts[cell]) {
            Int lower[DIMENSIONS], upper[DIMENSIONS];
            bounds(c, grid, at, at, lower, upper);
            const Set *whole = box(c, lower, upper);
            TRY(whole);
            k->cell = cell;
            TRY(split(k, whole, keys + (size_t)cell * grid->words, cuts[cell], 0, NULL));
            grid->ids[cell] = NONE;
        }
        uint32_t a = grid->axes;
        while (a && ++at[a - 1] == grid->shape[a - 1]) at[--a] = 0;
        if (!a) return true;
    }
}

static bool empty_key(const uint32_t *key, uint32_t words) {
    for (uint32_t i = 0; i < words; ++i)
        if (key[i]) return false;
    return true;
}

static bool precedes(const Part *a, const Part *b, uint32_t words) {
    if (a->first != b->first) return a->first < b->first;
    for (uint32_t i = words; i-- > 0;)
        if (a->key[i] != b->key[i]) return a->key[i] < b->key[i];
    return false;
}

static bool collect(Collector *k, Cut **cuts, const uint32_t *keys, Part ***parts, uint32_t *number) {
    Context *c = k->c;
    Grid *grid = k->grid;
    if (cuts) TRY(split_all(k, cuts, keys));
    for (uint32_t cell = 0; cell < grid->cells; ++cell) {
        if (cuts && cuts[cell]) continue;
        Part *p = part_of(k, keys + (size_t)cell * grid->words);
        TRY(p);
        grid->ids[cell] = p->id;
        p->whole = true;
        if (cell < p->first) p->first = cell;
    }
    TRY(*parts = temp(c, k->count, sizeof **parts));
    *number = 0;
    for (uint32_t b = 0; b < BUCKETS; ++b)
        for (Part *p = k->parts[b]; p; p = p->next) {
            if (empty_key(p->key, grid->words)) continue;
            uint32_t i = (*number)++;
            for (; i && precedes(p, (*parts)[i - 1], grid->words); --i) (*parts)[i] = (*parts)[i - 1];
            (*parts)[i] = p;
        }
    for (uint32_t i = 0; i < *number; ++i) {
        Int upper[DIMENSIONS];
        uint32_t at[DIMENSIONS];
        TRY((*parts)[i]->corner = temp(c, c->n, sizeof(Int)));
        unravel(grid, (*parts)[i]->first, at);
        bounds(c, grid, at, at, (*parts)[i]->corner, upper);
    }
    return true;
}

// The parts ascend by first cell in scan order, then by key: bit f where family f holds. All is temporary memory of the caller.
bool partition(Context *c, const Member *members, uint32_t count, uint32_t families, Grid **out, Part ***parts, uint32_t *number) {
    *number = 0;
    if (!count) return true;
    Grid *grid = temp(c, 1, sizeof *grid);
    TRY(grid);
    *out = grid;
    grid->words = (families + 31) / 32;
    TRY(lay(c, grid, members, count));
    uint32_t *keys = temp(c, (size_t)grid->cells * grid->words, sizeof *keys);
    TRY(keys && (grid->ids = temp(c, grid->cells, sizeof *grid->ids)));
    bool slanted = false;
    for (uint32_t i = 0; i < count; ++i) slanted = slanted || members[i].set->spaces;
    Cut **cuts = NULL, ***tails = NULL;
    if (slanted) {
        TRY((cuts = temp(c, grid->cells, sizeof *cuts)) && (tails = temp(c, grid->cells, sizeof *tails)));
        for (uint32_t i = 0; i < grid->cells; ++i) tails[i] = &cuts[i];
    }
    for (uint32_t i = 0; i < count; ++i) TRY(mark(c, grid, &members[i], keys, tails));
    Collector *k = temp(c, 1, sizeof *k);
    TRY(k);
    k->c = c;
    k->grid = grid;
    return collect(k, cuts, keys, parts, number);
}

// First and last cell by axis of the mask that is read.
typedef struct {
    uint32_t first[DIMENSIONS], last[DIMENSIONS];
} Slab;

static bool has(const uint8_t *cells, uint8_t value, size_t size) {
    for (size_t i = 0; i < size; ++i)
        if (cells[i] == value) return true;
    return false;
}

static bool slabs(Context *c, const uint8_t *cells, const uint32_t *shape, uint32_t axes, uint32_t depth, Slab *prefix, Vec *out) {
    size_t size = 1;
    for (uint32_t k = 0; k < axes; ++k) size *= shape[k];
    const bool all = !has(cells, 0, size);
    if (!all && !has(cells, 1, size)) return true;
    if (all) {
        for (uint32_t k = 0; k < axes; ++k) {
            prefix->first[depth + k] = 0;
            prefix->last[depth + k] = shape[k] - 1;
        }
        Slab *slot = push(c, out, sizeof *slot);
        TRY(slot);
        *slot = *prefix;
        return true;
    }
    const size_t slab = size / shape[0];
    uint32_t start = 0;
    for (uint32_t end = 1; end <= shape[0]; ++end)
        if (end == shape[0] || memcmp(cells + end * slab, cells + start * slab, slab)) {
            prefix->first[depth] = start;
            prefix->last[depth] = end - 1;
            TRY(slabs(c, cells + start * slab, shape + 1, axes - 1, depth + 1, prefix, out));
            start = end;
        }
    return true;
}

// Few disjoint boxes that cover the mask: slabs of the outermost or of the innermost digit first, whichever are fewer.
static bool cover(Context *c, const Grid *grid, const uint8_t *mask, Vec *out) {
    Vec outer = {0}, inner = {0};
    Slab prefix;
    uint32_t reversed[DIMENSIONS];
    for (uint32_t k = 0; k < grid->axes; ++k) reversed[k] = grid->shape[grid->axes - 1 - k];
    TRY(slabs(c, mask, reversed, grid->axes, 0, &prefix, &outer));
    if (outer.count > 3) {
        uint8_t *turned = temp(c, grid->cells, 1);
        TRY(turned);
        for (uint32_t cell = 0; cell < grid->cells; ++cell) {
            uint32_t at[DIMENSIONS], place = 0;
            unravel(grid, cell, at);
            for (uint32_t k = 0; k < grid->axes; ++k) place = place * grid->shape[k] + at[k];
            turned[place] = mask[cell];
        }
        TRY(slabs(c, turned, grid->shape, grid->axes, 0, &prefix, &inner));
        if (inner.count < outer.count) {
            *out = inner;
            return true;
        }
    }
    *out = outer;
    for (uint32_t i = 0; i < outer.count; ++i) {
        Slab *s = (Slab *)outer.at + i;
        const Slab was = *s;
        for (uint32_t k = 0; k < grid->axes; ++k) {
            s->first[k] = was.first[grid->axes - 1 - k];
            s->last[k] = was.last[grid->axes - 1 - k];
        }
    }
    return true;
}

static bool covered(Context *c, const Grid *grid, const uint8_t *mask, uint32_t spaces, const Half *const *space, Vec *out) {
    Vec boxes = {0};
    TRY(cover(c, grid, mask, &boxes));
    for (uint32_t i = 0; i < boxes.count; ++i) {
        const Slab *s = (Slab *)boxes.at + i;
        Int lower[DIMENSIONS], upper[DIMENSIONS];
        bounds(c, grid, s->first, s->last, lower, upper);
        const Set *found;
        TRY(convex(c, lower, upper, spaces, space, &found));
        if (!found) continue;
        const Set **slot = push(c, out, sizeof *slot);
        TRY(slot);
        *slot = found;
    }
    return true;
}

// The disjoint sets of a part, appended.
bool part_sets(Context *c, const Grid *grid, const Part *part, Vec *out) {
    uint8_t *mask = temp(c, grid->cells, 1);
    TRY(mask);
    for (const Group *g = part->groups; g; g = g->next) {
        memset(mask, 0, grid->cells);
        for (uint32_t i = 0; i < g->cells.count; ++i) mask[((uint32_t *)g->cells.at)[i]] = 1;
        TRY(covered(c, grid, mask, g->spaces, g->space, out));
    }
    if (!part->whole) return true;
    for (uint32_t i = 0; i < grid->cells; ++i) mask[i] = grid->ids[i] == part->id;
    return covered(c, grid, mask, 0, NULL, out);
}

// The same points as few disjoint sets, ascending.
bool unite(Context *c, const Set *const *sets, uint32_t count, const Domain **out) {
    const size_t mark = c->high;
    Member *members = temp(c, count, sizeof *members);
    TRY(members);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t k = 0;
        while (k < distinct && members[k].set != sets[i]) ++k;
        if (k == distinct) members[distinct++] = (Member){sets[i], 0};
    }
    if (distinct < 2)
        *out = domain(c, sets, distinct);
    else {
        Grid *grid = NULL;
        Part **parts = NULL;
        uint32_t number;
        Vec found = {0};
        TRY(partition(c, members, distinct, 1, &grid, &parts, &number));
        for (uint32_t i = 0; i < number; ++i) TRY(part_sets(c, grid, parts[i], &found));
        sort_sets(c, found.at, found.count);
        *out = domain(c, found.at, found.count);
    }
    c->high = mark;
    return ok(c) && *out;
}
