// SPDX-License-Identifier: Apache-2.0
// The elements without visiting them: groups of tiles that have the same conditions, and cells, octagons of elements whose
// neighbourhoods have the same groups. The constant of a constraint is affine in row and column and clipped to what a tile's box
// does not imply, so that it changes at few rows or columns or, where it depends on both (triangular nests), at few diagonals. Only
// where it rises unequally along rows and columns are cells one row high.
#include "internal.h"

// The directions that cut the region: by the value of row, column, row - column + columns - 1, row + column; all others.
enum { ROWS, COLUMNS, FALLING, RISING, OTHER };

typedef struct {
    int rows, columns;
} Offset;

static uint32_t places(const Context *c, int direction) {
    return direction == ROWS ? c->t->rows : direction == COLUMNS ? c->t->columns : c->t->rows + c->t->columns - 1;
}

static uint32_t place(const Context *c, int direction, uint32_t row, uint32_t column) {
    return direction == ROWS ? row : direction == COLUMNS ? column : direction == FALLING ? row + (c->t->columns - 1 - column) : row + column;
}

static int direction(const Line *l) {
    if (!l->step[1]) return ROWS;
    if (!l->step[0]) return COLUMNS;
    return l->step[0] == l->step[1] ? RISING : l->step[0] == -l->step[1] ? FALLING : OTHER;
}

static Int unclipped(Context *c, const Line *l, const uint32_t *at) {
    return add(c, l->constant, add(c, mul(c, l->step[0], at[0]), mul(c, l->step[1], at[1])));
}

Int constant_at(Context *c, const Line *l, uint32_t row, uint32_t column) {
    return min(max(unclipped(c, l, (uint32_t[]){row, column}), l->low), l->high);
}

// The next place after `at` where the constant, `value` there and then larger by `step` at a time, is another one; or `size`.
static uint32_t change(Context *c, const Line *l, Int value, Int step, uint32_t at, uint32_t size) {
    if (!step || (step > 0 ? value >= l->high : value <= l->low)) return size;
    const Int implied = step > 0 ? sub(c, l->low, value) : sub(c, value, l->high);
    const Int skipped = implied > 0 ? floor_div(implied, magnitude(step)) : 0;
    return skipped < (Int)(size - at) ? at + (uint32_t)skipped + 1 : size;
}

// Insert x into ascending cuts, the first of which is 0, if it lies within (0, size).
static bool cut(Context *c, Vec *cuts, Int x, uint32_t size) {
    if (x <= 0 || x >= (Int)size) return true;
    uint32_t *at = cuts->at, i = cuts->count;
    while ((Int)at[i - 1] > x) --i;
    if ((Int)at[i - 1] == x) return true;
    TRY(push(c, cuts, sizeof *at));
    at = cuts->at;
    move(at + i + 1, at + i, (cuts->count - 1 - i) * sizeof *at);
    at[i] = (uint32_t)x;
    return true;
}

static bool zero(Context *c, Vec *cuts) {
    *cuts = (Vec){0};
    return push(c, cuts, sizeof(uint32_t)) != NULL && (*(uint32_t *)cuts->at = 0, true);
}

// The cuts of a line's changes, seen from every displacement.
static bool cuts_of_line(Context *c, const Line *l, int d, const Vec *seen, Vec *cuts) {
    const uint32_t size = places(c, d);
    const uint32_t start[2] = {0, d == FALLING ? c->t->columns - 1 : 0};
    const Int first = unclipped(c, l, start), step = l->step[d == COLUMNS];
    for (uint32_t at = 0; (at = change(c, l, add(c, first, mul(c, step, at)), step, at, size)) < size;)
        for (uint32_t i = 0; i < seen->count; ++i) {
            const Offset *p = (Offset *)seen->at + i;
            const int moved = d == ROWS ? p->rows : d == COLUMNS ? p->columns : d == FALLING ? p->rows - p->columns : p->rows + p->columns;
            TRY(cut(c, cuts, (Int)at - moved, size));
        }
    return ok(c);
}

static bool cuts_of(Context *c, int d, const Vec *seen, Vec *cuts) {
    TRY(zero(c, cuts));
    for (uint32_t i = 0; i < c->s.constraints; ++i)
        if (direction(&c->line[i]) == d) TRY(cuts_of_line(c, &c->line[i], d, seen, cuts));
    return ok(c);
}

// The cuts of one row's columns that lines of other directions make.
static bool cuts_of_row(Context *c, uint32_t row, const Vec *seen, Vec *cuts) {
    for (uint32_t k = 0; k < c->s.constraints * seen->count; ++k) {
        const Line *l = &c->line[k / seen->count];
        const Offset *p = (Offset *)seen->at + k % seen->count;
        uint32_t at[2] = {row + (uint32_t)p->rows, 0};
        if (direction(l) != OTHER || at[0] >= c->t->rows) continue;
        while ((at[1] = change(c, l, unclipped(c, l, at), l->step[1], at[1], c->t->columns)) < c->t->columns)
            TRY(cut(c, cuts, (Int)at[1] - p->columns, c->t->columns));
    }
    return ok(c);
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

static Int half(Int x) { return (x - (x & 1)) / 2; }  // downwards

// The coordinates along an axis of those elements of a cell whose other coordinate is from `from` to `to`. Every pair of bounds on
// the other coordinate bounds this one alone, so that none of these is empty.
static void extent(const Cell *k, int axis, Int from, Int to, Int *first, Int *last) {
    const Int low = axis ? -k->high[0] : k->low[0], high = axis ? -k->low[0] : k->high[0];  // of this coordinate less the other
    *first = max(max(axis ? k->west : k->row, from + low), max(k->low[1] - to, -half(-low - k->low[1])));
    *last = min(min((Int)(axis ? k->west + k->width : k->row + k->height) - 1, to + high), min(k->high[1] - from, half(high + k->high[1])));
}

bool span(const Cell *k, int axis, uint32_t line, uint32_t *first, uint32_t *end) {
    Int low, high;
    *first = *end = 0;
    if (line - (axis ? k->west : k->row) >= (axis ? k->width : k->height)) return false;
    extent(k, !axis, line, line, &low, &high);
    *first = (uint32_t)low;
    *end = (uint32_t)high + 1;
    return low <= high;
}

// Fit the box of a cell to its elements; false where it has none.
static bool fitted(Cell *k) {
    Int first[2], last[2];
    extent(k, 0, k->west, (Int)(k->west + k->width) - 1, &first[0], &last[0]);
    extent(k, 1, k->row, (Int)(k->row + k->height) - 1, &first[1], &last[1]);
    if (first[0] > last[0] || first[1] > last[1] || k->low[0] > k->high[0] || k->low[1] > k->high[1]) return false;
    k->row = (uint32_t)first[0];
    k->west = (uint32_t)first[1];
    k->height = (uint32_t)(last[0] - first[0]) + 1;
    k->width = (uint32_t)(last[1] - first[1]) + 1;
    uint32_t end;
    span(k, 0, k->row, &k->column, &end);
    return true;
}

// The first and the last row of a cell and those in between next to which the ends of its rows change direction, ascending.
uint32_t bends(const Cell *k, uint32_t *out) {
    const Int west = k->west, east = west + (Int)k->width - 1;
    const int32_t *low = k->low, *high = k->high;
    const Int left = half(high[0] + low[1]), right = half(low[0] + high[1]);
    const Int rows[] = {west + high[0], low[1] - west, left, left + 1, east + low[0], high[1] - east, right, right + 1, k->row + (Int)k->height - 1};
    uint32_t count = 0;
    out[count++] = k->row;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (rows[i] < (Int)k->row || rows[i] >= (Int)(k->row + k->height)) continue;
        const uint32_t x = (uint32_t)rows[i];
        uint32_t at = count;
        while (out[at - 1] > x) --at;
        if (out[at - 1] == x) continue;
        move(out + at + 1, out + at, (count++ - at) * sizeof *out);
        out[at] = x;
    }
    return count;
}

// Between bends, lengths of rows are affine.
uint32_t elements(const Cell *k) {
    uint32_t row[BENDS], sum = 0, before = 0;
    const uint32_t count = bends(k, row);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t first, end;
        span(k, 0, row[i], &first, &end);
        if (i) sum += (row[i] - row[i - 1] + 1) * (before + end - first) / 2 - before;
        before = end - first;
        if (!i) sum = before;
    }
    return sum;
}

uint32_t row_cells(Context *c, uint32_t row, const Cell **out, uint32_t *count) {
    uint32_t below = c->t->rows;
    *count = 0;
    for (uint32_t i = 0; i < c->cells && c->cell[i].row <= row; ++i) {
        const Cell *k = &c->cell[i];
        uint32_t first, other, end, at = *count;
        if (!span(k, 0, row, &first, &end)) continue;
        for (++*count; at && span(out[at - 1], 0, row, &other, &end) && other > first; --at) out[at] = out[at - 1];
        out[at] = k;
        below = k->row + k->height < below ? k->row + k->height : below;
    }
    return c->slanted ? 1 : below - row;
}

// The tile that a group was found at, of groups that differ in constraints that depend on both axes.
struct Tile {
    struct Tile *next;
    uint32_t row, column, at[4], group;
};

static bool alike_here(Context *c, const Tile *a, const uint32_t *at, uint32_t row, uint32_t column) {
    if (!same_bytes(a->at, at, sizeof a->at)) return false;
    for (uint32_t i = 0; i < c->s.constraints && c->sloping; ++i) {
        const Line *l = &c->line[i];
        if (direction(l) == OTHER && constant_at(c, l, a->row, a->column) != constant_at(c, l, row, column)) return false;
    }
    return true;
}

// The bucket of a tile's intervals in all directions.
static Tile **bucket(Context *c, uint32_t row, uint32_t column, uint32_t *at) {
    for (int d = 0; d < 4; ++d) at[d] = interval(&c->cut[d], place(c, d, row, column));
    return &c->tile[((at[0] * 31 + at[1]) * 31 + at[2] * 7 + at[3]) % BUCKETS];
}

// The group of an element's tile. Constants are monotonic in row and column: those of different intervals differ.
uint32_t group_at(Context *c, uint32_t row, uint32_t column) {
    if (!c->slanted) return interval(&c->cut[0], row) * c->cut[1].count + interval(&c->cut[1], column);
    uint32_t at[4];
    for (const Tile *p = *bucket(c, row, column, at); p; p = p->next)
        if (alike_here(c, p, at, row, column)) return p->group;
    return NONE;
}

static bool add_tile(Context *c, uint32_t row, uint32_t column) {
    uint32_t at[4];
    Tile **head = bucket(c, row, column, at), *made = keep(c, 1, sizeof *made);
    TRY(made);
    *made = (Tile){*head, row, column, {at[0], at[1], at[2], at[3]}, c->groups};
    *head = made;
    return true;
}

static uint32_t stop(const List *cuts, uint32_t i, uint32_t size) { return i + 1 < cuts->count ? cuts->at[i + 1] : size; }

// Add a cell, if it has elements, to those of its strip of rows: in the order of their first elements.
static bool insert(Context *c, Cell k, uint32_t strip, Vec *found) {
    if (!fitted(&k)) return true;
    TRY(push(c, found, sizeof k));
    Cell *at = found->at;
    uint32_t i = found->count - 1;
    for (; i > strip && (at[i - 1].row > k.row || (at[i - 1].row == k.row && at[i - 1].column > k.column)); --i) at[i] = at[i - 1];
    at[i] = k;
    return true;
}

static bool strip(Context *c, uint32_t row, uint32_t below, const List *cuts, const List *columns, Vec *found) {
    const List *falling = &cuts[FALLING], *rising = &cuts[RISING];
    const uint32_t first = found->count;
    for (uint32_t i = 0; i < columns->count; ++i) {
        const uint32_t west = columns->at[i], end = stop(columns, i, c->t->columns);
        for (uint32_t f = interval(falling, place(c, FALLING, row, end - 1)); f < falling->count && falling->at[f] <= place(c, FALLING, below - 1, west); ++f)
            for (uint32_t r = interval(rising, row + west); r < rising->count && rising->at[r] <= below + end - 2; ++r) {
                const Int shifted = (Int)c->t->columns - 1;
                Cell k = {.row = row, .height = below - row, .west = west, .width = end - west, .class_ = NONE};
                k.low[0] = (int32_t)(falling->at[f] - shifted);
                k.high[0] = (int32_t)(stop(falling, f, places(c, FALLING)) - 1 - shifted);
                k.low[1] = (int32_t)rising->at[r];
                k.high[1] = (int32_t)stop(rising, r, places(c, RISING)) - 1;
                TRY(insert(c, k, first, found));
            }
    }
    return true;
}

// The cells between cuts in the order of their first elements, row by row.
static bool arrange(Context *c, const List *cuts, const Vec *seen, Vec *found) {
    *found = (Vec){0};
    for (uint32_t i = 0, row = 0, below; row < c->t->rows; row = below, ++i) {
        Vec columns = {0};
        below = c->sloping ? row + 1 : stop(&cuts[ROWS], i, c->t->rows);
        if (c->sloping) {
            TRY(zero(c, &columns));
            for (uint32_t k = 1; k < cuts[COLUMNS].count; ++k) TRY(cut(c, &columns, cuts[COLUMNS].at[k], c->t->columns));
            TRY(cuts_of_row(c, row, seen, &columns));
        }
        const List own = {columns.count, columns.at};
        TRY(strip(c, row, below, cuts, c->sloping ? &own : &cuts[COLUMNS], found));
    }
    return ok(c);
}

static bool kept(Context *c, const Vec *cuts, List *out) {
    *out = (List){cuts->count, copied(c, cuts->at, cuts->count, sizeof(uint32_t))};
    return out->at;
}

// Groups are numbered by first element; `constant` has their constants by constraint.
bool make_groups(Context *c) {
    const size_t mark = c->high;
    Offset here = {0, 0};
    const Vec seen = {&here, 1, 1};
    Vec found;
    c->sloping = false;
    for (uint32_t i = 0; i < c->s.constraints; ++i) c->sloping = c->sloping || direction(&c->line[i]) == OTHER;
    for (int d = 0; d < 4; ++d) {
        Vec cuts;
        TRY(cuts_of(c, d, &seen, &cuts) && kept(c, &cuts, &c->cut[d]));
    }
    c->slanted = c->sloping || c->cut[FALLING].count > 1 || c->cut[RISING].count > 1;
    TRY(!c->slanted || (c->tile = keep(c, BUCKETS, sizeof *c->tile)));
    TRY(arrange(c, c->cut, &seen, &found));
    Cell *at = found.at;
    c->groups = 0;
    for (uint32_t i = 0; i < found.count; ++i) {
        if (c->sloping && group_at(c, at[i].row, at[i].column) != NONE) continue;
        TRY(!c->slanted || add_tile(c, at[i].row, at[i].column));
        at[c->groups++] = at[i];
    }
    for (uint32_t i = 0; i < c->s.constraints; ++i) {
        TRY(c->constant[i] = keep(c, c->groups, sizeof(Int)));
        for (uint32_t g = 0; g < c->groups; ++g) c->constant[i][g] = constant_at(c, &c->line[i], at[g].row, at[g].column);
    }
    c->high = mark;
    return ok(c);
}

static bool see(Context *c, int rows, int columns, Vec *seen) { return once(c, seen, &(Offset){rows, columns}, sizeof(Offset)); }

// Where the tiles are that what an element does depends on: where values go that its routes bring or that pass it, and, at the
// border, the nearest element that has a neighbour.
static bool seen_of(Context *c, Vec *seen) {
    TRY(see(c, 0, 0, seen));
    for (uint32_t r = 0; r < c->candidate->routes; ++r) {
        const Route *p = &c->candidate->route[r];
        int at[2] = {0, 0};
        for (uint32_t i = 0; i <= p->hops; ++i) {
            TRY(see(c, at[0], at[1], seen) && see(c, at[0] + p->theta.rows, at[1] + p->theta.columns, seen) && see(c, -at[0], -at[1], seen));
            for (int axis = 0; axis < 2 && i < p->hops; ++axis) at[axis] -= STEP[p->hop[i].location][axis];
        }
        TRY(see(c, -p->theta.rows, -p->theta.columns, seen) && see(c, -p->theta.rows, 0, seen) && see(c, 0, -p->theta.columns, seen));
    }
    return ok(c);
}

// Besides, what lies outside of the region or of the iteration space differs.
static bool borders(Context *c, int axis, const Vec *seen, Vec *cuts) {
    const uint32_t size = places(c, axis), m = c->candidate->axis[axis];
    const Int tiles = m == NONE ? 1 : c->t->tiles[m];
    for (uint32_t i = 0; i < seen->count; ++i) {
        const Offset *p = (Offset *)seen->at + i;
        const Int step = axis ? p->columns : p->rows;
        TRY(cut(c, cuts, step < 0 ? -step : (Int)size - step, size) && cut(c, cuts, step < 0 ? tiles + step : step, size));
    }
    return cut(c, cuts, tiles, size) && cut(c, cuts, tiles - 1, size);
}

bool make_cells(Context *c) {
    const size_t mark = c->high;
    Vec seen = {0}, cuts[4], found;
    List lists[4];
    TRY(seen_of(c, &seen));
    for (int d = 0; d < 4; ++d) {
        TRY(cuts_of(c, d, &seen, &cuts[d]) && (d > COLUMNS || borders(c, d, &seen, &cuts[d])));
        lists[d] = (List){cuts[d].count, cuts[d].at};
    }
    TRY(arrange(c, lists, &seen, &found));
    Cell *at = found.at;
    for (uint32_t i = 0; i < found.count; ++i) at[i].group = group_at(c, at[i].row, at[i].column);
    c->cells = found.count;
    TRY(c->cell = copied(c, found.at, found.count, sizeof(Cell)));
    c->high = mark;
    return ok(c);
}
