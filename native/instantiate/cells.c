// SPDX-License-Identifier: Apache-2.0
// The elements without visiting them: groups of tiles that have the same conditions, and cells, rectangles of elements whose
// neighbourhoods have the same groups. The constant of a constraint is affine in row and column and clipped to what a tile's box
// does not imply, so that it changes at few of them; where it depends on both (triangular nests), cells are one row high.
#include "internal.h"

static Int unclipped(Context *c, const Line *l, const uint32_t *at) {
    return add(c, l->constant, add(c, mul(c, l->step[0], at[0]), mul(c, l->step[1], at[1])));
}

Int constant_at(Context *c, const Line *l, uint32_t row, uint32_t column) {
    return min(max(unclipped(c, l, (uint32_t[]){row, column}), l->low), l->high);
}

// The next coordinate on an axis at which the constant is another one, `size` if there is none.
static uint32_t change(Context *c, const Line *l, int axis, const uint32_t *at, uint32_t size) {
    const Int step = l->step[axis], value = unclipped(c, l, at);
    if (!step || (step > 0 ? value >= l->high : value <= l->low)) return size;
    const Int implied = step > 0 ? sub(c, l->low, value) : sub(c, value, l->high);
    const Int skipped = implied > 0 ? floor_div(implied, magnitude(step)) : 0;
    return skipped < (Int)(size - at[axis]) ? at[axis] + (uint32_t)skipped + 1 : size;
}

// Insert x into ascending cuts if it lies within (0, size).
static bool cut(Context *c, Vec *cuts, Int x, uint32_t size) {
    if (x <= 0 || x >= (Int)size) return true;
    uint32_t *at = cuts->at, i = cuts->count;
    while (i && (Int)at[i - 1] > x) --i;
    if (i && (Int)at[i - 1] == x) return true;
    TRY(push(c, cuts, sizeof *at));
    at = cuts->at;
    memmove(at + i + 1, at + i, (cuts->count - 1 - i) * sizeof *at);
    at[i] = (uint32_t)x;
    return true;
}

static bool zero(Context *c, Vec *cuts) {
    *cuts = (Vec){0};
    return push(c, cuts, sizeof(uint32_t)) != NULL && (*(uint32_t *)cuts->at = 0, true);
}

// The cuts of the constraints that depend on this axis alone; or, of those that depend on both, the ones in row `row`.
static bool cuts_of(Context *c, int axis, bool slanted, uint32_t row, Int radius, Vec *cuts) {
    const uint32_t size = axis ? c->t->columns : c->t->rows;
    for (uint32_t i = 0; i < c->s.constraints; ++i) {
        const Line *l = &c->line[i];
        if (!l->step[axis] || (l->step[!axis] != 0) != slanted) continue;
        uint32_t at[2] = {slanted ? row : 0, 0};
        while ((at[axis] = change(c, l, axis, at, size)) < size)
            for (Int x = (Int)at[axis] - radius; x <= (Int)at[axis] + radius; ++x) TRY(cut(c, cuts, x, size));
    }
    return ok(c);
}

static bool kept(Context *c, const Vec *cuts, List *out) {
    out->count = cuts->count;
    TRY(out->at = keep(c, cuts->count, sizeof(uint32_t)));
    memcpy(out->at, cuts->at, cuts->count * sizeof(uint32_t));
    return true;
}

uint32_t interval(const List *cuts, uint32_t x) {
    uint32_t first = 0, last = cuts->count;
    while (first + 1 < last) {
        const uint32_t middle = (first + last) / 2;
        if (cuts->at[middle] <= x)
            first = middle;
        else
            last = middle;
    }
    return first;
}

// The tile that a group was found at, of groups that differ in constraints that depend on both axes.
struct Tile {
    struct Tile *next;
    uint32_t row, column, pair, group;
};

static bool slants(const Line *l) { return l->step[0] && l->step[1]; }

static bool alike_here(Context *c, const Tile *a, uint32_t row, uint32_t column) {
    for (uint32_t i = 0; i < c->s.constraints; ++i) {
        const Line *l = &c->line[i];
        if (slants(l) && constant_at(c, l, a->row, a->column) != constant_at(c, l, row, column)) return false;
    }
    return true;
}

static Tile **bucket(Context *c, uint32_t pair, uint32_t row, uint32_t column) {
    uint32_t h = pair * 2654435761u;
    for (uint32_t i = 0; i < c->s.constraints; ++i)
        if (slants(&c->line[i])) h = (h ^ (uint32_t)constant_at(c, &c->line[i], row, column)) * 16777619u;
    return &c->tile[h % BUCKETS];
}

// The group of an element's tile. Constants are monotonic in row and column: those of different intervals differ.
uint32_t group_at(Context *c, uint32_t row, uint32_t column) {
    const uint32_t pair = interval(&c->cut[0], row) * c->cut[1].count + interval(&c->cut[1], column);
    if (!c->tile) return pair;
    for (const Tile *p = *bucket(c, pair, row, column); p; p = p->next)
        if (p->pair == pair && alike_here(c, p, row, column)) return p->group;
    return NONE;
}

static bool find_tile(Context *c, uint32_t row, uint32_t column, Tile ***tail) {
    if (group_at(c, row, column) != NONE) return ok(c);
    const uint32_t pair = interval(&c->cut[0], row) * c->cut[1].count + interval(&c->cut[1], column);
    Tile **head = bucket(c, pair, row, column), *made = keep(c, 1, sizeof *made), *listed = temp(c, 1, sizeof *listed);
    TRY(made && listed);
    *made = (Tile){*head, row, column, pair, c->groups++};
    *head = made;
    *listed = *made;
    listed->next = NULL;
    **tail = listed;
    *tail = &listed->next;
    return ok(c);
}

static bool find_tiles(Context *c, Tile **tiles) {
    TRY(c->tile = keep(c, BUCKETS, sizeof *c->tile));
    for (uint32_t row = 0; row < c->t->rows; ++row) {
        Vec cuts;
        TRY(zero(c, &cuts) && cuts_of(c, 1, false, 0, 0, &cuts) && cuts_of(c, 1, true, row, 0, &cuts));
        for (uint32_t i = 0; i < cuts.count; ++i) TRY(find_tile(c, row, ((uint32_t *)cuts.at)[i], &tiles));
    }
    return true;
}

// Groups are numbered by first element; `constant` has their constants by constraint.
bool make_groups(Context *c) {
    const size_t mark = c->high;
    bool slanted = false;
    c->tile = NULL;
    c->groups = 0;
    for (uint32_t i = 0; i < c->s.constraints; ++i) slanted = slanted || slants(&c->line[i]);
    for (int axis = 0; axis < 2; ++axis) {
        Vec cuts;
        TRY(zero(c, &cuts) && cuts_of(c, axis, false, 0, 0, &cuts) && kept(c, &cuts, &c->cut[axis]));
    }
    Tile *tiles = NULL;
    if (slanted)
        TRY(find_tiles(c, &tiles));
    else
        c->groups = c->cut[0].count * c->cut[1].count;
    for (uint32_t i = 0; i < c->s.constraints; ++i) {
        TRY(c->constant[i] = keep(c, c->groups, sizeof(Int)));
        const Tile *p = tiles;
        for (uint32_t g = 0; g < c->groups; ++g) {
            const uint32_t row = p ? p->row : c->cut[0].at[g / c->cut[1].count], column = p ? p->column : c->cut[1].at[g % c->cut[1].count];
            c->constant[i][g] = constant_at(c, &c->line[i], row, column);
            if (p) p = p->next;
        }
    }
    c->high = mark;
    return ok(c);
}

// How far away the tiles are that what an element does depends on: its neighbours, and those whose routes pass it.
static Int reach(const Context *c) {
    Int most = 1;
    for (uint32_t r = 0; r < c->candidate->routes; ++r) {
        const Route *p = &c->candidate->route[r];
        Int at[2] = {p->theta.rows, p->theta.columns};
        for (uint32_t i = 0; i < p->hops; ++i)
            for (int axis = 0; axis < 2; ++axis) {
                at[axis] -= STEP[p->hop[i].location][axis];
                most = max(most, magnitude(at[axis]));
            }
    }
    return most + 1;
}

// Besides, what lies outside of the region or of the iteration space differs.
static bool borders(Context *c, int axis, Int radius, Vec *cuts) {
    const uint32_t size = axis ? c->t->columns : c->t->rows, m = c->candidate->axis[axis];
    const Int tiles = m == NONE ? 1 : c->t->tiles[m];
    for (Int i = 1; i <= radius; ++i) TRY(cut(c, cuts, i, size) && cut(c, cuts, (Int)size - i, size));
    return cut(c, cuts, tiles, size) && cut(c, cuts, tiles - 1, size);
}

static bool every(Context *c, uint32_t size, Vec *cuts) {
    for (uint32_t x = 1; x < size; ++x) {
        uint32_t *slot = push(c, cuts, sizeof *slot);
        TRY(slot);
        *slot = x;
    }
    return true;
}

static bool band(Context *c, uint32_t row, uint32_t below, const Vec *cuts, Vec *found) {
    const uint32_t *at = cuts->at;
    for (uint32_t i = 0; i < cuts->count; ++i) {
        Cell *cell = push(c, found, sizeof *cell);
        TRY(cell);
        *cell = (Cell){row, at[i], below - row, (i + 1 < cuts->count ? at[i + 1] : c->t->columns) - at[i], group_at(c, row, at[i]), NONE, 0};
    }
    return true;
}

// The cells in the order of their first elements, row by row.
bool make_cells(Context *c) {
    const size_t mark = c->high;
    const Int radius = reach(c), rows = c->t->rows;
    Vec bands, cuts = {0}, found = {0};
    TRY(zero(c, &bands));
    if (c->tile)
        TRY(every(c, c->t->rows, &bands));
    else
        TRY(cuts_of(c, 0, false, 0, radius, &bands) && borders(c, 0, radius, &bands));
    for (uint32_t b = 0; b < bands.count; ++b) {
        const uint32_t row = ((uint32_t *)bands.at)[b], below = b + 1 < bands.count ? ((uint32_t *)bands.at)[b + 1] : c->t->rows;
        if (!b || c->tile) TRY(zero(c, &cuts) && cuts_of(c, 1, false, 0, radius, &cuts) && borders(c, 1, radius, &cuts));
        for (Int r = max((Int)row - radius, 0); c->tile && r <= (Int)row + radius && r < rows; ++r)
            TRY(cuts_of(c, 1, true, (uint32_t)r, radius, &cuts));
        TRY(band(c, row, below, &cuts, &found));
    }
    c->cells = found.count;
    TRY(c->cell = keep(c, found.count, sizeof(Cell)));
    memcpy(c->cell, found.at, found.count * sizeof(Cell));
    c->high = mark;
    return ok(c);
}
