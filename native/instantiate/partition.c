// SPDX-License-Identifier: Apache-2.0
// Partitions the union of families of sets by which families hold (the paper, section 6.1). The faces of all boxes
// divide space into a grid of cells; a cell that half-spaces cut is split further. The sets of a part are made on
// demand: few disjoint boxes that cover its cells.
#include "internal.h"

#define CUT 0xFFFF     // in `ids`, a cell that half-spaces cut
#define MARKED 0xFFFE  // a cell of the group in hand

typedef uint16_t Place;  // of an interval on an axis

// A digit with several intervals.
typedef struct {
    uint32_t digit, shape, stride;
    Int *start;  // of its intervals, and of what follows the last one
} Axis;

struct Grid {
    uint32_t axes, cells, words, halves;  // of a key: words of 32 bits, of 16 bits
    Axis *axis;                           // axis 0, the innermost digit, is dense
    Int *lower, *upper;                   // of all members
    uint16_t *ids;                        // the part of every cell; before they are known, `halves` words of families
    bool *cut;                            // by cell, or null
};

// A half-space and its complement, and where the cell in hand lies.
enum { BOTH, INSIDE, OUTSIDE, UNKNOWN };

typedef struct {
    const Half *space[2];
    uint32_t side;
} Face;

typedef size_t Faces;  // bits of a set of faces
#define FACES (8 * sizeof(Faces))

// A set that holds in part of the present cell, inside of its faces. Those that cut the cell are `open`.
typedef struct {
    const Member *member;
    const uint16_t *face;  // of its half-spaces
    Faces *open;
} Cut;

typedef struct Group {
    struct Group *next;
    uint32_t spaces;
    Vec cells;
    const Half **space;
    Place *span;  // of all cells: the first and the last one, by axis
} Group;

typedef struct {
    Context *c;
    Grid *grid;
    Part *bucket[16];
    Vec parts;  // Part *
    // The cell that is split.
    uint32_t cell, faces, cuts, depth;
    const Place *at;
    Int *lower, *upper;
    Face *face;         // of all members
    uint32_t sets;      // words of a set of faces
    Faces *decided[2];  // inside and outside of which the piece in hand is
    Cut *cut;
    const Half **path;        // of the piece in hand
    uint32_t *whole, *known;  // the families that hold in the cell, and in a piece of it
} Collector;

static OUTLINED uint32_t place(const Int *starts, uint32_t count, Int x) {
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

static OUTLINED void insert(Int *values, uint32_t *count, Int x) {
    const uint32_t at = place(values, *count, x);
    if (at < *count && values[at] == x) return;
    move(values + at + 1, values + at, (*count - at) * sizeof(Int));
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
        if (cuts >> 16) overflow(c);
        if (cuts > 2 || (!grid->axes && g + 1 == c->n)) {
            start = shrink(c, start, mark, cuts * sizeof(Int));
            grid->axis[grid->axes++] = (Axis){g, cuts - 1, (uint32_t)cells, start};
            cells *= cuts - 1;
            if (cells >> 31) cells = (uint64_t)1 << 31;
        } else
            c->high = mark;
    }
    grid->cells = (uint32_t)cells;
    return ok(c);
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

// The least and the greatest digits of the cells from `first` to `last` on every axis, both inclusive.
static OUTLINED void digits_between(const Context *c, const Grid *grid, const Place *first, const Place *last,
                                    Int *lower, Int *upper) {
    memcpy(lower, grid->lower, c->n * sizeof(Int));
    memcpy(upper, grid->upper, c->n * sizeof(Int));
    for (uint32_t k = 0; k < grid->axes; ++k) {
        const Axis *a = &grid->axis[k];
        lower[a->digit] = a->start[first[k]];
        upper[a->digit] = a->start[last[k] + 1] - 1;
    }
}

static OUTLINED bool has(const uint32_t *key, uint32_t family) { return key[family / 32] >> family % 32 & 1; }

// The side of a half-space on which a box lies.
static uint32_t side_of(Context *c, const Half *h, const Int *lower, const Int *upper) {
    const uint32_t p = h->plus, q = h->minus;
    Int least = h->a[c->n], most = least;
    if (p == q)
        range(c, h->a, lower, upper, &least, &most);
    else {
        least = add(c, least, sub(c, lower[p], upper[q]));
        most = add(c, most, sub(c, upper[p], lower[q]));
    }
    return least >= 0 ? INSIDE : most < 0 ? OUTSIDE : BOTH;
}

// Of a row of cells those that no half-space leaves out, and of these the ones inside of all.
typedef struct {
    Int *lower, *upper;
    uint32_t first, last, begin, end;
} Strip;

static uint32_t side_at(Context *c, const Axis *a, const Half *h, const Strip *w, uint32_t x) {
    w->lower[a->digit] = a->start[x];
    w->upper[a->digit] = a->start[x + 1] - 1;
    return side_of(c, h, w->lower, w->upper);
}

// A half-space is monotonic along a row of cells, which are outside, then on both sides, then inside, or the other way
// round: it is enough to look from the ends.
static void clip(Context *c, const Axis *a, const Half *h, Strip *w) {
    const Int slope = h->a[a->digit];
    if (slope > 0) {
        while (w->first < w->last && side_at(c, a, h, w, w->first) == OUTSIDE) ++w->first;
        if (w->begin < w->first) w->begin = w->first;
        while (w->begin < w->end && side_at(c, a, h, w, w->begin) == BOTH) ++w->begin;
    } else if (slope < 0) {
        while (w->first < w->last && side_at(c, a, h, w, w->last - 1) == OUTSIDE) --w->last;
        if (w->end > w->last) w->end = w->last;
        while (w->begin < w->end && side_at(c, a, h, w, w->end - 1) == BOTH) --w->end;
    } else {
        const uint32_t side = side_at(c, a, h, w, w->first);
        if (side == OUTSIDE) w->last = w->first;
        if (side != INSIDE) w->end = w->begin;
    }
}

// Notes the cells in which a set holds, and those that its half-spaces cut.
static bool mark(Context *c, const Grid *grid, const Member *m) {
    const Set *s = m->set;
    const Axis *axis = grid->axis;
    Place first[DIMENSIONS], last[DIMENSIONS], at[DIMENSIONS];
    uint32_t row = 0;
    Int lower[DIMENSIONS], upper[DIMENSIONS];
    for (uint32_t k = 0; k < grid->axes; ++k) {
        at[k] = first[k] = (Place)place(axis[k].start, axis[k].shape, s->lower[axis[k].digit]);
        last[k] = (Place)place(axis[k].start, axis[k].shape, upper_of(c, s)[axis[k].digit] + 1);
        if (k) row += at[k] * axis[k].stride;
    }
    const uint16_t bit = (uint16_t)(1u << m->family % 16);
    uint16_t *ids = grid->ids + m->family / 16;
    if (s->spaces) digits_between(c, grid, at, at, lower, upper);
    for (;;) {
        Strip w = {lower, upper, first[0], last[0], first[0], last[0]};
        for (uint32_t i = 0; i < s->spaces && w.first < w.last; ++i) clip(c, axis, spaces_of(c, s)[i], &w);
        for (uint32_t x = w.first; x < w.last; ++x)
            if (x >= w.begin && x < w.end)
                ids[(size_t)(row + x) * grid->halves] |= bit;
            else
                grid->cut[row + x] = true;
        uint32_t k = 1;
        for (bool over = true; k < grid->axes && over; k += over) {
            row += axis[k].stride;
            over = ++at[k] == last[k];
            if (over) {
                row -= (uint32_t)(last[k] - first[k]) * axis[k].stride;
                at[k] = first[k];
            }
            lower[axis[k].digit] = axis[k].start[at[k]];
            upper[axis[k].digit] = axis[k].start[at[k] + 1] - 1;
        }
        if (k >= grid->axes) return ok(c);
    }
}

static OUTLINED void include(const Grid *grid, Place *span, const Place *at, bool first) {
    for (uint32_t k = 0; k < grid->axes; ++k) {
        if (first || at[k] < span[k]) span[k] = at[k];
        if (first || at[k] > span[grid->axes + k]) span[grid->axes + k] = at[k];
    }
}

// The first and the last whole cell of a part, by axis.
static Place *span_of_whole(const Grid *grid, const Part *p) { return (Place *)(p->key + grid->words); }

static Part *part_of(Collector *k, const uint32_t *key) {
    Context *c = k->c;
    const size_t bytes = k->grid->words * sizeof *key;
    Part **bucket = &k->bucket[hash(0, key, bytes) % 16];
    for (Part *p = *bucket; p; p = p->next)
        if (same_bytes(p->key, key, bytes)) return p;
    Part *p = temp(c, 1, sizeof *p + bytes + 2 * k->grid->axes * sizeof(Place)),
         **slot = push(c, &k->parts, sizeof *slot);
    if (!p || !slot) return NULL;
    memcpy(p->key, key, bytes);
    p->id = k->parts.count - 1;
    p->first = NONE;
    p->next = *bucket;
    return *slot = *bucket = p;
}

static OUTLINED bool empty_key(const uint32_t *key, uint32_t words) {
    for (uint32_t i = 0; i < words; ++i)
        if (key[i]) return false;
    return true;
}

// Adds the present piece of the cell to its part. One in which no family holds belongs to none.
static bool add_piece(Collector *k) {
    Context *c = k->c;
    if (empty_key(k->known, k->grid->words)) return true;
    Part *p = part_of(k, k->known);
    TRY(p);
    if (k->cell < p->first) p->first = k->cell;
    const size_t bytes = k->depth * sizeof *k->path;
    Group **tail = &p->groups;
    while (*tail && ((*tail)->spaces != k->depth || !same_bytes((*tail)->space, k->path, bytes))) tail = &(*tail)->next;
    Group *g = *tail;
    if (!g) {
        TRY(g = *tail = temp(c, 1, sizeof *g + bytes + 2 * k->grid->axes * sizeof *g->span));
        g->spaces = k->depth;
        g->space = (const Half **)(g + 1);
        g->span = (Place *)(g->space + k->depth);
        memcpy(g->space, k->path, bytes);
    }
    include(k->grid, g->span, k->at, !g->cells.count);
    uint32_t *slot = push(c, &g->cells, sizeof *slot);
    return slot && (*slot = k->cell, true);
}

// On which side of a set's faces the present piece lies, as far as it is decided.
static uint32_t side(const Collector *k, const Cut *cut) {
    uint32_t found = INSIDE;
    for (uint32_t i = 0; i < k->sets; ++i) {
        if (cut->open[i] & k->decided[1][i]) return OUTSIDE;
        if (cut->open[i] & ~k->decided[0][i]) found = BOTH;
    }
    return found;
}

static bool in(const Faces *set, uint32_t f) { return set[f / FACES] >> f % FACES & 1; }

// The next face to decide, of a family that is not known to hold; null where there is none. The families that hold are
// known then.
static Face *undecided(Collector *k, uint32_t *out) {
    memcpy(k->known, k->whole, k->grid->words * sizeof *k->known);
    for (const Cut *cut = k->cut; cut < k->cut + k->cuts; ++cut)
        if (!has(k->known, cut->member->family) && side(k, cut) == INSIDE)
            k->known[cut->member->family / 32] |= (uint32_t)1 << cut->member->family % 32;
    for (const Cut *cut = k->cut; cut < k->cut + k->cuts; ++cut) {
        if (has(k->known, cut->member->family) || side(k, cut) != BOTH) continue;
        const uint16_t *f = cut->face;
        while (!in(cut->open, *f) || in(k->decided[0], *f)) ++f;
        *out = *f;
        return &k->face[*f];
    }
    return NULL;
}

// Whether the present piece has a point. If all its half-spaces bound one difference, it is enough that they leave an
// interval of it.
static bool present(Collector *k, bool *out) {
    Context *c = k->c;
    const Half *h = k->path[k->depth - 1];
    Int lower[DIMENSIONS], upper[DIMENSIONS], low = sub(c, k->lower[h->plus], k->upper[h->minus]),
                                              high = sub(c, k->upper[h->plus], k->lower[h->minus]);
    bool alone = h->plus != h->minus;
    for (uint32_t i = 0; i < k->depth && h->plus != h->minus; ++i) {
        const Half *other = k->path[i];
        if (other->plus == h->plus && other->minus == h->minus)
            low = max(low, -other->a[c->n]);
        else if (other->plus == h->minus && other->minus == h->plus)
            high = min(high, other->a[c->n]);
        else
            alone = false;
    }
    *out = low <= high || h->plus == h->minus;
    if (!*out || alone) return ok(c);
    memcpy(lower, k->lower, c->n * sizeof *lower);
    memcpy(upper, k->upper, c->n * sizeof *upper);
    return inhabited(c, lower, upper, k->depth, k->path, out);
}

// Finds the combinations of families that occur in a cell. Each level of the recursion decides one half-space, so that
// it is as deep as there are different ones.
static bool split(Collector *k) {
    Context *c = k->c;
    uint32_t f;
    Face *face = undecided(k, &f);
    if (!face) return add_piece(k);
    TRY(face->space[1] || (face->space[1] = negated(c, face->space[0])));
    bool there = true;  // the face cuts the cell; of what other half-spaces have left of that, one side is there
    for (uint32_t outer = 0; outer < 2; ++outer) {
        Faces *decided = &k->decided[outer][f / FACES];
        const bool certain = !k->depth || !there;
        k->path[k->depth++] = face->space[outer];
        *decided |= (Faces)1 << f % FACES;
        there = true;
        TRY((certain || present(k, &there)) && (!there || split(k)));
        --k->depth;
        *decided &= ~((Faces)1 << f % FACES);
    }
    return true;
}

// Adds what a set has in the present cell, unless it is outside of one of its faces.
static void add_cut(Collector *k, const Member *m, const uint16_t *face) {
    Cut *cut = &k->cut[k->cuts];
    for (uint32_t i = 0; i < k->sets; ++i) cut->open[i] = 0;
    for (uint32_t i = 0; i < m->set->spaces; ++i) {
        Face *f = &k->face[face[i]];
        if (f->side == UNKNOWN) f->side = side_of(k->c, f->space[0], k->lower, k->upper);
        if (f->side == OUTSIDE) return;
        if (f->side == BOTH) cut->open[face[i] / FACES] |= (Faces)1 << face[i] % FACES;
    }
    cut->member = m;
    cut->face = face;
    ++k->cuts;
}

// The number of the face of every half-space of all members.
static uint16_t *number_faces(Collector *k, const Member *members, uint32_t count, uint32_t spaces) {
    Context *c = k->c;
    uint16_t *number = temp(c, spaces, sizeof *number), *next = number;
    if (spaces >> 16) overflow(c);
    if (!(k->face = temp(c, spaces, sizeof *k->face)) || !number || !ok(c)) return NULL;
    for (const Member *m = members; m < members + count; ++m)
        for (uint32_t i = 0; i < m->set->spaces; ++i) {
            const Half *h = spaces_of(c, m->set)[i];
            uint32_t f = 0;
            while (f < k->faces && k->face[f].space[0] != h) ++f;
            if (f == k->faces) k->face[k->faces++].space[0] = h;
            *next++ = (uint16_t)f;
        }
    return number;
}

static bool within(const Context *c, const Set *s, const Int *x) {
    for (uint32_t g = 0; g < c->n; ++g)
        if (x[g] < s->lower[g] || x[g] > upper_of(c, s)[g]) return false;
    return true;
}

static void widen(const uint16_t *from, uint32_t halves, uint32_t *key) {
    for (uint32_t i = 0; i < halves; ++i) key[i / 2] = i % 2 ? key[i / 2] | (uint32_t)from[i] << 16 : from[i];
}

// Splits the cells that half-spaces cut, in their order, innermost digit first.
static bool split_all(Collector *k, const Member *members, uint32_t count, uint32_t spaces) {
    Context *c = k->c;
    const Grid *grid = k->grid;
    Place at[DIMENSIONS] = {0};
    Int lower[DIMENSIONS], upper[DIMENSIONS];
    const uint16_t *number = number_faces(k, members, count, spaces);
    TRY(number && (k->cut = temp(c, count, sizeof *k->cut)));
    k->sets = (uint32_t)((k->faces + FACES - 1) / FACES);
    TRY(k->decided[0] = temp(c, (2 + (size_t)count) * k->sets, sizeof(Faces)));
    k->decided[1] = k->decided[0] + k->sets;
    for (uint32_t i = 0; i < count; ++i) k->cut[i].open = k->decided[1] + (i + 1) * k->sets;
    TRY((k->path = temp(c, k->faces, sizeof *k->path)) && (k->whole = temp(c, 2 * grid->words, sizeof *k->whole)));
    k->lower = lower;
    k->upper = upper;
    k->known = k->whole + grid->words;
    k->at = at;
    for (;;) {
        k->cell = 0;
        for (uint32_t a = 0; a < grid->axes; ++a) k->cell += at[a] * grid->axis[a].stride;
        if (grid->cut[k->cell]) {
            digits_between(c, grid, at, at, lower, upper);
            widen(grid->ids + (size_t)k->cell * grid->halves, grid->halves, k->whole);
            k->cuts = 0;
            for (uint32_t f = 0; f < k->faces; ++f) k->face[f].side = UNKNOWN;
            const uint16_t *face = number;
            for (const Member *m = members; m < members + count; face += m++->set->spaces)
                if (m->set->spaces && !has(k->whole, m->family) && within(c, m->set, lower)) add_cut(k, m, face);
            TRY(split(k));
        }
        uint32_t a = grid->axes;
        while (a && ++at[a - 1] == grid->axis[a - 1].shape) at[--a] = 0;
        if (!a) return ok(c);
    }
}

static bool precedes(const Part *a, const Part *b, uint32_t words) {
    if (a->first != b->first) return a->first < b->first;
    for (uint32_t i = words; i-- > 0;)
        if (a->key[i] != b->key[i]) return a->key[i] < b->key[i];
    return false;
}

// Makes the parts, and puts their numbers into the grid in the place of families.
static bool collect(Collector *k, Part ***parts, uint32_t *number) {
    Context *c = k->c;
    Grid *grid = k->grid;
    const size_t bytes = grid->halves * sizeof(uint16_t);
    uint32_t *key = temp(c, grid->words, sizeof *key);
    Place at[DIMENSIONS] = {0};
    uint16_t *known = temp(c, grid->halves, sizeof *known);
    TRY(key && known);
    Part *p = NULL;
    for (uint32_t cell = 0; cell < grid->cells; ++cell) {
        const uint16_t *found = grid->ids + (size_t)cell * grid->halves;
        if (grid->cut && grid->cut[cell]) {
            grid->ids[cell] = CUT;
            p = NULL;
        } else {
            if (!p || !at[0] || !same_bytes(known, found, bytes)) {
                memcpy(known, found, bytes);
                widen(known, grid->halves, key);
                TRY(p = part_of(k, key));
                include(grid, span_of_whole(grid, p), at, !p->whole);
                p->whole = true;
                if (cell < p->first) p->first = cell;
            } else if (span_of_whole(grid, p)[grid->axes] < at[0])
                span_of_whole(grid, p)[grid->axes] = at[0];
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

// The parts ascend by first cell in scan order, then by key: bit f where family f holds. All is temporary memory of the
// caller. There are at most 65534 of them: more end in POLYLOOM_OVERFLOW.
bool partition(Context *c, const Member *members, uint32_t count, uint32_t families, Grid **out, Part ***parts,
               uint32_t *number) {
    *number = 0;
    if (!count) return true;
    Grid *grid = temp(c, 1, sizeof *grid);
    TRY(grid && cut(c, grid, members, count));
    if (grid->cells >> 31) return fail(c, POLYLOOM_SCRATCH, 0);
    *out = grid;
    grid->halves = (families + 15) / 16;
    grid->words = (grid->halves + 1) / 2;
    TRY(grid->ids = temp(c, (size_t)grid->cells * grid->halves, sizeof *grid->ids));
    uint32_t spaces = 0;
    for (uint32_t i = 0; i < count; ++i) spaces += members[i].set->spaces;
    TRY(!spaces || (grid->cut = temp(c, grid->cells, 1)));
    for (uint32_t i = 0; i < count; ++i) TRY(mark(c, grid, &members[i]));
    Collector *k = temp(c, 1, sizeof *k);
    TRY(k);
    k->c = c;
    k->grid = grid;
    return (!spaces || split_all(k, members, count, spaces)) && collect(k, parts, number);
}

// Disjoint boxes that cover the cells of one number: slabs that are equal across the first axis, each of them likewise.
typedef struct {
    Context *c;
    const Grid *grid;
    uint32_t id, axes;
    const Place *low, *high;                    // by axis, of all cells
    uint32_t order[DIMENSIONS];                 // the axes along which there are several cells
    Place first[DIMENSIONS], last[DIMENSIONS];  // of the box in hand
    Vec boxes;                                  // first and last ones, by axis
} Cover;

static bool same_ids(const Cover *w, uint32_t a, uint32_t b, uint32_t depth) {
    const uint16_t *ids = w->grid->ids;
    if (depth == w->axes) return (ids[a] == w->id) == (ids[b] == w->id);
    const uint32_t k = w->order[depth], stride = w->grid->axis[k].stride;
    for (uint32_t i = w->low[k]; i <= w->high[k]; ++i, a += stride, b += stride)
        if (depth + 1 < w->axes ? !same_ids(w, a, b, depth + 1) : (ids[a] == w->id) != (ids[b] == w->id)) return false;
    return true;
}

static bool slabs(Cover *w, uint32_t cell, uint32_t depth) {
    Context *c = w->c;
    if (depth == w->axes) {
        if (w->grid->ids[cell] != w->id) return true;
        Place *box = push(c, &w->boxes, 2 * w->grid->axes * sizeof *box);
        TRY(box);
        memcpy(box, w->first, w->grid->axes * sizeof *box);
        memcpy(box + w->grid->axes, w->last, w->grid->axes * sizeof *box);
        return true;
    }
    const uint32_t k = w->order[depth], stride = w->grid->axis[k].stride;
    for (uint32_t end = w->low[k], next = cell; end <= w->high[k]; cell = next) {
        w->first[k] = (Place)end;
        do next += stride;
        while (++end <= w->high[k] && same_ids(w, cell, next, depth + 1));
        w->last[k] = (Place)(end - 1);
        TRY(slabs(w, cell, depth + 1));
    }
    return true;
}

// Slabs of the outermost or of the innermost digit first, whichever are fewer.
static bool cover(Context *c, const Grid *grid, uint32_t id, const Place *range, uint32_t spaces,
                  const Half *const *space, Vec *out) {
    Cover w;
    w.c = c;
    w.grid = grid;
    w.id = id;
    w.axes = 0;
    w.low = range;
    w.high = range + grid->axes;
    w.boxes = (Vec){0};
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
        const Place *box = (Place *)w.boxes.at + (size_t)i * 2 * grid->axes;
        const Set *found;
        Int lower[DIMENSIONS], upper[DIMENSIONS];
        digits_between(c, grid, box, box + grid->axes, lower, upper);
        TRY(convex(c, lower, upper, spaces, space, &found));
        if (found) TRY(append(c, out, found));
    }
    return true;
}

// The disjoint sets of a part, appended.
bool part_sets(Context *c, const Grid *grid, const Part *part, Vec *out) {
    for (const Group *g = part->groups; g; g = g->next) {
        const uint32_t *cells = g->cells.at;
        for (uint32_t i = 0; i < g->cells.count; ++i) grid->ids[cells[i]] = MARKED;
        TRY(cover(c, grid, MARKED, g->span, g->spaces, g->space, out));
        for (uint32_t i = 0; i < g->cells.count; ++i) grid->ids[cells[i]] = CUT;
    }
    return !part->whole || cover(c, grid, part->id, span_of_whole(grid, part), 0, NULL, out);
}
