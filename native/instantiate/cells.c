// SPDX-License-Identifier: Apache-2.0
// What elements have in common, found without visiting them. A group is a set of tiles with equal conditions; a cell is
// an octagon of elements whose neighbourhoods have the same groups. The constant of a constraint is affine in row and
// column, and clipped to what a tile's box does not imply already, so that it changes at few rows or columns or, where
// it depends on both (triangular nests), at few diagonals. Only where it rises at different rates along rows and
// columns are cells one row high.
#include "internal.h"

// What cuts the region: a row, a column, a diagonal of equal row - column + columns - 1, or one of equal row + column.
// A line that rises at different rates along rows and columns cuts it along no such direction: OTHER.
enum { ROWS, COLUMNS, FALLING, RISING, OTHER };

typedef struct {
    int rows, columns;
} Offset;

static OUTLINED uint32_t places(const Context *c, int direction) {
    return direction == ROWS ? c->t->rows : direction == COLUMNS ? c->t->columns : c->t->rows + c->t->columns - 1;
}

static OUTLINED int direction(const Line *l) {
    if (!l->step[1]) return ROWS;
    if (!l->step[0]) return COLUMNS;
    return l->step[0] == l->step[1] ? RISING : l->step[0] == -l->step[1] ? FALLING : OTHER;
}

static Int unclipped(Context *c, const Line *l, const uint32_t *at) {
    return add(c, l->constant, add(c, mul(c, l->step[0], at[0]), mul(c, l->step[1], at[1])));
}

OUTLINED Int constant_at(Context *c, const Line *l, uint32_t row, uint32_t column) {
    return min(max(unclipped(c, l, (uint32_t[]){row, column}), l->low), l->high);
}

// Inserts x into ascending cuts, unless it is outside of them: they begin with 0 and end with the number of places.
static OUTLINED bool cut(Context *c, Vec *cuts, Int x) {
    const uint32_t *at = cuts->at;
    return x < 0 || x > (Int)at[cuts->count - 1] || insert_once(c, cuts, (uint32_t)x);
}

// The cuts at which the constant of a line changes along a direction, from a row on: from the first place where it is
// not clipped to the first one where it is again. An element sees the tiles at the displacements `seen`, so each cut is
// made for every one of these.
static bool cuts_of_line(Context *c, const Line *l, int d, uint32_t row, const Vec *seen, Vec *cuts) {
    const uint32_t size = places(c, d), start[2] = {row, d == FALLING ? c->t->columns - 1 : 0};
    const Int step = l->step[d == COLUMNS], rise = magnitude(step), first = unclipped(c, l, start);
    if (!step) return true;
    const Int before = step > 0 ? sub(c, l->low, first) : sub(c, first, l->high),
              after = step > 0 ? sub(c, l->high, first) : sub(c, first, l->low);
    const Int last = after > 0 ? min((after - 1) / rise + 1, (Int)size - 1) : 0;
    for (Int at = before < 0 ? 1 : before / rise + 1; at <= last; ++at)
        for (uint32_t i = 0; i < seen->count; ++i) {
            const Offset *p = (Offset *)seen->at + i;
            TRY(cut(c, cuts,
                    at - (d == ROWS      ? p->rows
                          : d == COLUMNS ? p->columns
                          : d == FALLING ? p->rows - p->columns
                                         : p->rows + p->columns)));
        }
    return ok(c);
}

// The cuts along a direction: of the lines that change along it alone or, where some line is OTHER, of all lines within
// one row.
static bool cuts_of(Context *c, int d, uint32_t row, const Vec *seen, Vec *cuts) {
    for (uint32_t i = 0; i < c->s.constraints; ++i) {
        const Line *l = &c->line[i];
        if (!c->sloping && direction(l) == d) TRY(cuts_of_line(c, l, d, 0, seen, cuts));
        for (uint32_t k = 0; k < seen->count && c->sloping; ++k) {
            Offset *p = (Offset *)seen->at + k;
            if (row + (uint32_t)p->rows < c->t->rows)
                TRY(cuts_of_line(c, l, d, row + (uint32_t)p->rows, &(Vec){p, 1, 1}, cuts));
        }
    }
    return true;
}

static Int half(Int x) { return (x - (x & 1)) / 2; }  // rounded down

// The coordinates along an axis of those elements of a cell whose other coordinate is from `from` to `to`: the other
// coordinate eliminated (Fourier and Motzkin), each lower bound of it with each upper one. All coefficients are 1 or
// -1, so that there is an element for every coordinate from *first to *last.
static void extent(const Cell *k, int axis, Int from, Int to, Int *first, Int *last) {
    // Of this coordinate less the other.
    const Int low = axis ? -k->high[0] : k->low[0], high = axis ? -k->low[0] : k->high[0];
    *first = max(max(axis ? k->west : k->row, from + low), max(k->low[1] - to, -half(-low - k->low[1])));
    *last = min(min((Int)(axis ? k->west + k->width : k->row + k->height) - 1, to + high),
                min(k->high[1] - from, half(high + k->high[1])));
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

// Shrinks the box of a cell to its elements; false where it has none.
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

static bool alike_here(Context *c, const Cell *k, uint32_t row, uint32_t column) {
    for (uint32_t i = 0; i < c->s.constraints; ++i)
        if (constant_at(c, &c->line[i], k->row, k->column) != constant_at(c, &c->line[i], row, column)) return false;
    return true;
}

static OUTLINED bool inside(const Cell *k, uint32_t row, uint32_t column) {
    const int32_t falling = (int32_t)(row - column), rising = (int32_t)(row + column);
    return row - k->row < k->height && column - k->west < k->width && k->low[0] <= falling && falling <= k->high[0] &&
           k->low[1] <= rising && rising <= k->high[1];
}

// Cuts are where a constant changes, and constants are monotonic in row and column: elements of different home cells
// have different constants. Where lines are OTHER, home cells do not cover all elements, and constants are compared.
uint32_t group_at(Context *c, uint32_t row, uint32_t column) {
    for (uint32_t g = 0; g < c->groups; ++g)
        if (c->sloping ? alike_here(c, &c->home[g], row, column) : inside(&c->home[g], row, column)) return g;
    return NONE;
}

static bool before(const Cell *a, const Cell *b) {
    return a->row < b->row || (a->row == b->row && a->column < b->column);
}

// Adds the cells of a strip of rows, without those that have no element, in the order of their first elements.
static bool strip(Context *c, uint32_t row, uint32_t below, const Vec *columns, const Vec *falling, const Vec *rising,
                  Vec *found) {
    const uint32_t *x = columns->at, *f = falling->at, *r = rising->at, first = found->count, shift = c->t->columns;
    for (uint32_t i = 0; i + 1 < columns->count; ++i)
        for (uint32_t j = 0; j + 1 < falling->count; ++j)
            for (uint32_t k = 0; k + 1 < rising->count; ++k) {
                Cell made = {.row = row, .height = below - row, .west = x[i], .width = x[i + 1] - x[i], .class_ = NONE};
                made.low[0] = (int32_t)(f[j] + 1 - shift);
                made.high[0] = (int32_t)(f[j + 1] - shift);
                made.low[1] = (int32_t)r[k];
                made.high[1] = (int32_t)r[k + 1] - 1;
                if (!fitted(&made)) continue;
                Cell *at = push(c, found, sizeof made);
                TRY(at);
                for (; at > (Cell *)found->at + first && before(&made, at - 1); --at) *at = at[-1];
                *at = made;
            }
    return true;
}

// Cuts where a displacement leaves the region, or the part of it that has tiles.
static bool borders(Context *c, int axis, const Vec *seen, Vec *cuts) {
    const Int tiles = tiles_along(c, c->t, axis);
    for (uint32_t i = 0; i < seen->count; ++i) {
        const Offset *p = (Offset *)seen->at + i;
        const Int step = axis ? p->columns : p->rows;
        TRY(cut(c, cuts, -step) && cut(c, cuts, (Int)places(c, axis) - step) &&
            cut(c, cuts, step < 0 ? tiles + step : step));
    }
    return cut(c, cuts, tiles) && cut(c, cuts, tiles - 1);
}

// The cells between cuts in the order of their first elements, strip by strip of rows.
static bool arrange(Context *c, const Vec *seen, bool bordered, Vec *found) {
    Vec cuts[4] = {{0}};
    for (int d = 0; d < 4; ++d) {
        TRY(insert_once(c, &cuts[d], 0) && insert_once(c, &cuts[d], places(c, d)));
        TRY(c->sloping || cuts_of(c, d, 0, seen, &cuts[d]));
        TRY(!bordered || d > COLUMNS || borders(c, d, seen, &cuts[d]));
    }
    c->slanted = c->sloping || cuts[FALLING].count > 2 || cuts[RISING].count > 2;
    for (uint32_t i = 1, row = 0, below; row < c->t->rows; row = below, ++i) {
        Vec columns = cuts[COLUMNS];
        below = ((uint32_t *)cuts[ROWS].at)[i];
        if (c->sloping) {
            below = row + 1;
            columns.capacity = columns.count;  // so that the first insertion copies the list
            TRY(cuts_of(c, COLUMNS, row, seen, &columns));
        }
        TRY(strip(c, row, below, &columns, &cuts[FALLING], &cuts[RISING], found));
    }
    return ok(c);
}

// Makes the groups, numbered by first element, and their constants by constraint.
bool make_groups(Context *c) {
    const size_t mark = c->high;
    Offset here = {0, 0};
    Vec found = {0};
    c->sloping = false;
    for (uint32_t i = 0; i < c->s.constraints; ++i) c->sloping = c->sloping || direction(&c->line[i]) == OTHER;
    TRY(arrange(c, &(Vec){&here, 1, 1}, false, &found));
    c->home = found.at;
    c->groups = 0;
    for (uint32_t i = 0; i < found.count; ++i)
        if (!c->sloping || group_at(c, c->home[i].row, c->home[i].column) == NONE) c->home[c->groups++] = c->home[i];
    TRY(c->home = copied(c, c->home, c->groups, sizeof *c->home));
    TRY(c->constant = keep(c, (size_t)c->s.constraints * c->groups, sizeof(Int)));
    for (uint32_t i = 0; i < c->s.constraints * c->groups; ++i) {
        const Line *l = &c->line[i / c->groups];
        const Cell *k = &c->home[i % c->groups];
        const Int constant = constant_at(c, l, k->row, k->column);
        c->constant[i] = constant < l->high ? constant : INT_MOST;
    }
    c->high = mark;
    return ok(c);
}

static OUTLINED bool see(Context *c, int rows, int columns, Vec *seen) {
    return once(c, seen, &(Offset){rows, columns}, sizeof(Offset));
}

// The displacements of all tiles on which the work of an element depends: those that values come from on its routes, or
// pass between on their way through it, and, at the border, the nearest element that has a neighbour.
static bool seen_of(Context *c, Vec *seen) {
    TRY(see(c, 0, 0, seen));
    for (uint32_t r = 0; r < c->candidate->routes; ++r) {
        const Route *p = &c->candidate->route[r];
        int at[2] = {0, 0};
        for (uint32_t i = 0; i <= p->hops; ++i) {
            TRY(see(c, at[0], at[1], seen) && see(c, at[0] + p->theta.rows, at[1] + p->theta.columns, seen) &&
                see(c, -at[0], -at[1], seen));
            for (int axis = 0; axis < 2 && i < p->hops; ++axis) at[axis] -= STEP[p->hop[i].location][axis];
        }
        TRY(see(c, -p->theta.rows, -p->theta.columns, seen) && see(c, -p->theta.rows, 0, seen) &&
            see(c, 0, -p->theta.columns, seen));
    }
    return ok(c);
}

bool make_cells(Context *c) {
    const size_t mark = c->high;
    Vec seen = {0}, found = {0};
    TRY(seen_of(c, &seen) && arrange(c, &seen, true, &found));
    c->cells = found.count;
    TRY(c->cell = copied(c, found.at, found.count, sizeof(Cell)));
    for (uint32_t i = 0; i < c->cells; ++i) c->cell[i].group = group_at(c, c->cell[i].row, c->cell[i].column);
    c->high = mark;
    return ok(c);
}
