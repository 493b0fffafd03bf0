// SPDX-License-Identifier: Apache-2.0
// The parts of a union of families, by which of them hold (the paper, section 6.1): cells between the bounds of all boxes, split
// where half-spaces cut them. The sets of a part are made on demand: few disjoint boxes that cover its cells.
#include "internal.h"

#define CUT 0xFFFF     // in `ids`, a cell that half-spaces cut
#define MARKED 0xFFFE  // a cell of the group in hand

// A digit with several intervals.
typedef struct {
    uint32_t digit, shape, stride;
    Int *start;  // of its intervals, and of what follows the last one
} Axis;

struct Grid {
    uint32_t axes, cells, words;  // those of a key, of 32 bits
    Axis *axis;                   // axis 0, the innermost digit, is dense
    Int *lower, *upper;           // of all members
    uint16_t *ids;                // the part of every cell; before they are known, the families by cell, as many as words times 16 bits
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
    uint32_t *bounds;  // of all cells: the first and the last one, by axis
} Group;

typedef struct {
    Context *c;
    Grid *grid;
    Part *bucket[64];
    Vec parts;  // Part *
    // The cell that is split.
    uint32_t cell;
    const uint32_t *at;
    Int *lower, *upper;
} Collector;

static uint32_t place(const Int *starts, uint32_t count, Int x) {
    uint32_t first = 0, last = count;
    while (first < last) {
        const uint32_t middle = (first + last) / 2;
        if (starts[middle] < x)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

static void insert(Int *values, uint32_t *count, Int x) {
    const uint32_t at = place(values, *count, x);
    if (at < *count && values[at] == x) return;
    memmove(values + at + 1, values + at, (*count - at) * sizeof(Int));
    values[at] = x;
    ++*count;
}

static bool cut(Context *c, Grid *grid, const Member *members, uint32_t count) {
    uint64_t cells = 1;
    TRY((grid->axis = temp(c, c->n, sizeof(Axis))) && (grid->lower = temp(c, 2 * c->n, sizeof(Int))));
    grid->upper = grid->lower + c->n;
    for (uint32_t g = 0; g < c->n; ++g) {
        const size_t mark = c->high;
        uint32_t cuts = 0;
        Int *start = temp(c, 2 * (size_t)count, sizeof(Int));
        TRY(start);
        for (uint32_t i = 0; i < count; ++i) {
            insert(start, &cuts, members[i].set->lower[g]);
            insert(start, &cuts, upper_of(c, members[i].set)[g] + 1);
        }
        grid->lower[g] = start[0];
        grid->upper[g] = start[cuts - 1] - 1;
        if (cuts > 2 || (!grid->axes && g + 1 == c->n)) {
            start = shrink(c, start, mark, cuts * sizeof(Int));
            grid->axis[grid->axes++] = (Axis){g, cuts - 1, (uint32_t)cells, start};
            cells *= cuts - 1;
            if (cells >> 31) cells = (uint64_t)1 << 31;
        } else
            c->high = mark;
    }
    grid->cells = (uint32_t)cells;
    return true;
}

// How many cells `partition` has, or 2^31 where they are more.
bool cells_of(Context *c, const Member *members, uint32_t count, uint64_t *out) {
    const size_t mark = c->high;
    Grid grid = {0};
    TRY(cut(c, &grid, members, count));
    *out = grid.cells;
    c->high = mark;
    return true;
}

// Bounds of the cells from `first` to `last` on every axis, both inclusive.
static void bounds(const Context *c, const Grid *grid, const uint32_t *first, const uint32_t *last, Int *lower, Int *upper) {
    memcpy(lower, grid->lower, c->n * sizeof(Int));
    memcpy(upper, grid->upper, c->n * sizeof(Int));
    for (uint32_t k = 0; k < grid->axes; ++k) {
        const Axis *a = &grid->axis[k];
        lower[a->digit] = a->start[first[k]];
        upper[a->digit] = a->start[last[k] + 1] - 1;
    }
}

static void unravel(const Grid *grid, uint32_t cell, uint32_t *at) {
    for (uint32_t k = 0; k < grid->axes; ++k) at[k] = cell / grid->axis[k].stride % grid->axis[k].shape;
}

void corner(const Context *c, const Grid *grid, const Part *part, Int *lower) {
    uint32_t at[DIMENSIONS];
    Int upper[DIMENSIONS];
    unravel(grid, part->first, at);
    bounds(c, grid, at, at, lower, upper);
}

// Whether the half-spaces of a member hold throughout a cell. Where they cut it, that is noted.
static bool whole(Context *c, const Grid *grid, const Member *m, const uint32_t *at, uint32_t cell, Cut ***tails, bool *out) {
    const Set *s = m->set;
    Int lower[DIMENSIONS], upper[DIMENSIONS], least, most;
    const size_t mark = c->high;
    bounds(c, grid, at, at, lower, upper);
    Cut *cut = NULL;
    *out = false;
    for (uint32_t i = 0; i < s->spaces; ++i) {
        range(c, spaces_of(c, s)[i]->a, lower, upper, &least, &most);
        if (most < 0) {
            c->high = mark;
            return ok(c);
        }
        if (least >= 0) continue;
        if (!cut) TRY((cut = temp(c, 1, sizeof *cut)) && (cut->space = temp(c, s->spaces - i, sizeof *cut->space)));
        cut->space[cut->spaces++] = spaces_of(c, s)[i];
    }
    if (!(*out = !cut)) {
        cut->family = m->family;
        *tails[cell] = cut;
        tails[cell] = &cut->next;
    }
    return ok(c);
}

static bool mark(Context *c, const Grid *grid, const Member *m, uint32_t halves, Cut ***tails) {
    uint32_t first[DIMENSIONS], last[DIMENSIONS], at[DIMENSIONS], row = 0;
    for (uint32_t k = 0; k < grid->axes; ++k) {
        const Axis *a = &grid->axis[k];
        at[k] = first[k] = place(a->start, a->shape, m->set->lower[a->digit]);
        last[k] = place(a->start, a->shape, upper_of(c, m->set)[a->digit] + 1);
        if (k) row += at[k] * a->stride;
    }
    const uint16_t bit = (uint16_t)(1u << m->family % 16);
    for (;;) {
        for (uint32_t cell = row + first[0]; cell < row + last[0]; ++cell) {
            bool holds = true;
            at[0] = cell - row;
            if (m->set->spaces) TRY(whole(c, grid, m, at, cell, tails, &holds));
            if (holds) grid->ids[(size_t)cell * halves + m->family / 16] |= bit;
        }
        uint32_t k = 1;
        for (; k < grid->axes; ++k) {
            row += grid->axis[k].stride;
            if (++at[k] < last[k]) break;
            row -= (last[k] - first[k]) * grid->axis[k].stride;
            at[k] = first[k];
        }
        if (k >= grid->axes) return true;
    }
}

static bool include(Collector *k, uint32_t **bounds, const uint32_t *at) {
    const uint32_t axes = k->grid->axes;
    if (!*bounds) {
        TRY(*bounds = temp(k->c, 2 * (size_t)axes, sizeof **bounds));
        memcpy(*bounds, at, axes * sizeof *at);
    }
    for (uint32_t i = 0; i < axes; ++i) {
        if (at[i] < (*bounds)[i]) (*bounds)[i] = at[i];
        if (at[i] > (*bounds)[axes + i]) (*bounds)[axes + i] = at[i];
    }
    return true;
}

static Part *part_of(Collector *k, const uint32_t *key) {
    Context *c = k->c;
    const size_t bytes = k->grid->words * sizeof *key;
    Part **bucket = &k->bucket[hash(0, key, bytes) % 64];
    for (Part *p = *bucket; p; p = p->next)
        if (!memcmp(p->key, key, bytes)) return p;
    Part *p = temp(c, 1, sizeof *p), **slot = push(c, &k->parts, sizeof *slot);
    if (!p || !slot || !(p->key = temp(c, k->grid->words, sizeof *key))) return NULL;
    memcpy(p->key, key, bytes);
    p->id = k->parts.count - 1;
    p->first = NONE;
    p->next = *bucket;
    return *slot = *bucket = p;
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
    return include(k, &(*tail)->bounds, k->at);
}

// The combinations of families within a cell. Each level decides one half-space for all pending cuts: as deep as there are different ones.
static bool split(Collector *k, const uint32_t *key, const Cut *pending, uint32_t spaces, const Half **space) {
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
    const Half **grown = temp(c, spaces + 1, sizeof *grown);
    TRY(outer && grown);
    if (spaces) memcpy(grown, space, spaces * sizeof *space);
    bool there = true;  // h cuts the cell; of what other half-spaces have left of that, one side is there
    for (int side = 0; side < 2; ++side) {
        const bool certain = !spaces || !there;
        grown[spaces] = side ? outer : h;
        there = true;
        if (!certain) TRY(inhabited(c, k->lower, k->upper, spaces + 1, grown, &there));
        if (!there) continue;
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
        TRY(split(k, known, first, spaces + 1, grown));
    }
    return true;
}

static void widen(const uint16_t *from, uint32_t halves, uint32_t *key) {
    for (uint32_t i = 0; i < halves; ++i) key[i / 2] = i % 2 ? key[i / 2] | (uint32_t)from[i] << 16 : from[i];
}

// The cells that half-spaces cut, innermost digit first in their order.
static bool split_all(Collector *k, Cut **cuts, uint32_t halves, uint32_t *key) {
    Context *c = k->c;
    const Grid *grid = k->grid;
    uint32_t at[DIMENSIONS] = {0};
    TRY(k->lower = temp(c, 2 * c->n, sizeof(Int)));
    k->upper = k->lower + c->n;
    k->at = at;
    for (;;) {
        k->cell = 0;
        for (uint32_t a = 0; a < grid->axes; ++a) k->cell += at[a] * grid->axis[a].stride;
        if (cuts[k->cell]) {
            bounds(c, grid, at, at, k->lower, k->upper);
            widen(grid->ids + (size_t)k->cell * halves, halves, key);
            TRY(split(k, key, cuts[k->cell], 0, NULL));
        }
        uint32_t a = grid->axes;
        while (a && ++at[a - 1] == grid->axis[a - 1].shape) at[--a] = 0;
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

// The numbers of parts take the place of families.
static bool collect(Collector *k, Cut **cuts, uint32_t halves, Part ***parts, uint32_t *number) {
    Context *c = k->c;
    Grid *grid = k->grid;
    uint32_t *key = temp(c, grid->words, sizeof *key), at[DIMENSIONS] = {0};
    uint16_t *known = temp(c, halves, sizeof *known);
    TRY(key && known && (!cuts || split_all(k, cuts, halves, key)));
    Part *p = NULL;
    for (uint32_t cell = 0; cell < grid->cells; ++cell) {
        const uint16_t *found = grid->ids + (size_t)cell * halves;
        if (cuts && cuts[cell]) {
            grid->ids[cell] = CUT;
            p = NULL;
        } else {
            if (!p || !at[0] || memcmp(known, found, halves * sizeof *known)) {
                memcpy(known, found, halves * sizeof *known);
                widen(known, halves, key);
                TRY((p = part_of(k, key)) && include(k, &p->bounds, at));
                if (cell < p->first) p->first = cell;
            } else if (p->bounds[grid->axes] < at[0])
                p->bounds[grid->axes] = at[0];
            grid->ids[cell] = (uint16_t)p->id;
        }
        for (uint32_t i = 0; i < grid->axes && ++at[i] == grid->axis[i].shape; ++i) at[i] = 0;
    }
    if (k->parts.count > MARKED) return fail(c, POLYLOOM_OVERFLOW, 0);
    TRY(*parts = temp(c, k->parts.count, sizeof **parts));
    for (uint32_t b = 0; b < k->parts.count; ++b) {
        p = ((Part **)k->parts.at)[b];
        if (empty_key(p->key, grid->words)) continue;
        uint32_t i = (*number)++;
        for (; i && precedes(p, (*parts)[i - 1], grid->words); --i) (*parts)[i] = (*parts)[i - 1];
        (*parts)[i] = p;
    }
    return true;
}

// The parts ascend by first cell in scan order, then by key: bit f where family f holds. All is temporary memory of the caller.
// There are at most 65534 of them: more end in POLYLOOM_OVERFLOW.
bool partition(Context *c, const Member *members, uint32_t count, uint32_t families, Grid **out, Part ***parts, uint32_t *number) {
    *number = 0;
    if (!count) return true;
    Grid *grid = temp(c, 1, sizeof *grid);
    TRY(grid && cut(c, grid, members, count));
    if (grid->cells >> 31) return fail(c, POLYLOOM_SCRATCH, 0);
    *out = grid;
    const uint32_t halves = (families + 15) / 16;
    grid->words = (halves + 1) / 2;
    TRY(grid->ids = temp(c, (size_t)grid->cells * halves, sizeof *grid->ids));
    bool slanted = false;
    for (uint32_t i = 0; i < count; ++i) slanted = slanted || members[i].set->spaces;
    Cut **cuts = NULL, ***tails = NULL;
    if (slanted) {
        TRY((cuts = temp(c, grid->cells, sizeof *cuts)) && (tails = temp(c, grid->cells, sizeof *tails)));
        for (uint32_t i = 0; i < grid->cells; ++i) tails[i] = &cuts[i];
    }
    for (uint32_t i = 0; i < count; ++i) TRY(mark(c, grid, &members[i], halves, tails));
    Collector *k = temp(c, 1, sizeof *k);
    TRY(k);
    k->c = c;
    k->grid = grid;
    return collect(k, cuts, halves, parts, number);
}

// Disjoint boxes that cover the cells of one number: slabs that are equal across the first axis, each of them likewise.
typedef struct {
    Context *c;
    const Grid *grid;
    uint32_t id, axes;
    const uint32_t *low, *high;                  // by axis, of all cells
    uint32_t order[DIMENSIONS];                  // the axes along which there are several cells
    uint32_t first[DIMENSIONS], last[DIMENSIONS];  // of the box in hand
    Vec boxes;                                   // lower and upper bounds
} Cover;

static bool equal(const Cover *w, uint32_t a, uint32_t b, uint32_t depth) {
    const uint16_t *ids = w->grid->ids;
    if (depth == w->axes) return (ids[a] == w->id) == (ids[b] == w->id);
    const uint32_t k = w->order[depth], stride = w->grid->axis[k].stride;
    for (uint32_t i = w->low[k]; i <= w->high[k]; ++i, a += stride, b += stride)
        if (depth + 1 < w->axes ? !equal(w, a, b, depth + 1) : (ids[a] == w->id) != (ids[b] == w->id)) return false;
    return true;
}

static bool slabs(Cover *w, uint32_t cell, uint32_t depth) {
    Context *c = w->c;
    if (depth == w->axes) {
        if (w->grid->ids[cell] != w->id) return true;
        Int *box = push(c, &w->boxes, 2 * c->n * sizeof(Int));
        if (box) bounds(c, w->grid, w->first, w->last, box, box + c->n);
        return box;
    }
    const uint32_t k = w->order[depth], stride = w->grid->axis[k].stride;
    for (uint32_t end = w->low[k], next = cell; end <= w->high[k]; cell = next) {
        w->first[k] = end;
        do next += stride;
        while (++end <= w->high[k] && equal(w, cell, next, depth + 1));
        w->last[k] = end - 1;
        TRY(slabs(w, cell, depth + 1));
    }
    return true;
}

// Slabs of the outermost or of the innermost digit first, whichever are fewer.
static bool cover(Context *c, const Grid *grid, uint32_t id, const uint32_t *range, uint32_t spaces, const Half *const *space, Vec *out) {
    Cover w = {.c = c, .grid = grid, .id = id, .low = range, .high = range + grid->axes};
    uint32_t cell = 0;
    for (uint32_t k = grid->axes; k-- > 0;) {
        w.first[k] = w.last[k] = w.low[k];
        cell += w.low[k] * grid->axis[k].stride;
        if (w.low[k] < w.high[k]) w.order[w.axes++] = k;
    }
    TRY(slabs(&w, cell, 0));
    if (w.boxes.count > 3) {
        const Vec outer = w.boxes;
        w.boxes = (Vec){0};
        for (uint32_t i = 0; i < w.axes / 2; ++i) {
            const uint32_t k = w.order[i];
            w.order[i] = w.order[w.axes - 1 - i];
            w.order[w.axes - 1 - i] = k;
        }
        TRY(slabs(&w, cell, 0));
        if (w.boxes.count >= outer.count) w.boxes = outer;
    }
    for (uint32_t i = 0; i < w.boxes.count; ++i) {
        const Int *box = (Int *)w.boxes.at + (size_t)i * 2 * c->n;
        const Set *found;
        TRY(convex(c, box, box + c->n, spaces, space, &found));
        if (found) TRY(append(c, out, found));
    }
    return true;
}

// The disjoint sets of a part, appended.
bool part_sets(Context *c, const Grid *grid, const Part *part, Vec *out) {
    for (const Group *g = part->groups; g; g = g->next) {
        const uint32_t *cells = g->cells.at;
        for (uint32_t i = 0; i < g->cells.count; ++i) grid->ids[cells[i]] = MARKED;
        TRY(cover(c, grid, MARKED, g->bounds, g->spaces, g->space, out));
        for (uint32_t i = 0; i < g->cells.count; ++i) grid->ids[cells[i]] = CUT;
    }
    return !part->bounds || cover(c, grid, part->id, part->bounds, 0, NULL, out);
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
