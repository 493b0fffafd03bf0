// SPDX-License-Identifier: Apache-2.0
// Unions as few disjoint sets. Boxes are cut into slabs; where there are half-spaces, the union is the one part of a
// partition by one family.
#include "internal.h"

// Whether no face of `other` cuts a set: it stays one box of the grid.
static bool whole(const Context *c, const Set *s, const Set *other) {
    for (uint32_t g = 0; g < c->n; ++g) {
        const Int low = other->lower[g], high = upper_of(c, other)[g];
        if ((low > s->lower[g] && low <= upper_of(c, s)[g]) || (high >= s->lower[g] && high < upper_of(c, s)[g]))
            return false;
    }
    return true;
}

// Whether the union of two sets is just these two: neither shares a cell with the other, or would be covered together
// with it.
static bool apart(const Context *c, const Set *a, const Set *b) {
    for (uint32_t g = 0; g < c->n; ++g)
        if (a->lower[g] > upper_of(c, b)[g] || b->lower[g] > upper_of(c, a)[g]) {
            if (!a->spaces || !b->spaces) return a->spaces ? whole(c, a, b) : b->spaces && whole(c, b, a);
            const bool alike =
                a->spaces == b->spaces && same_bytes(spaces_of(c, a), spaces_of(c, b), a->spaces * sizeof(Half *));
            return !alike && whole(c, a, b) && whole(c, b, a);
        }
    return false;
}

// Disjoint boxes that cover several boxes: slabs along one digit after another, the same boxes that `cover` finds on
// cells.
typedef struct {
    Context *c;
    const Set **set;
    bool inner;  // the innermost digit first, else the outermost
    Vec boxes;   // lower and upper bounds
} Layers;

// Covers the first `count` sets, which are reordered. As deep as there are digits.
static bool layers(Layers *w, uint32_t depth, uint32_t count) {
    Context *c = w->c;
    const uint32_t n = c->n;
    const size_t size = 2 * n * sizeof(Int);
    if (count == 1 || depth == n) return add_item(c, &w->boxes, w->set[0]->lower, size);
    const uint32_t g = w->inner ? depth : n - 1 - depth, from = w->inner ? g + 1 : 0, deeper = n - 1 - depth;
    uint32_t last = w->boxes.count, inside;
    for (Int x = -INT_MOST, end = 0; end != INT_MOST; x = end) {
        end = INT_MOST;
        inside = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const Set *s = w->set[i];
            if (upper_of(c, s)[g] < x) continue;
            end = min(end, s->lower[g] > x ? s->lower[g] : upper_of(c, s)[g] + 1);
            if (s->lower[g] > x) continue;
            w->set[i] = w->set[inside];
            w->set[inside++] = s;
        }
        const uint32_t made = w->boxes.count;
        if (!inside) {
            last = made;
            continue;
        }
        TRY(layers(w, depth + 1, inside));
        Int *old = (Int *)w->boxes.at + (size_t)last * 2 * n, *box = (Int *)w->boxes.at + (size_t)made * 2 * n;
        bool same = made - last == w->boxes.count - made;
        for (uint32_t i = made; i < w->boxes.count; ++i, box += 2 * n, old += same ? 2 * n : 0) {
            box[g] = x;
            box[n + g] = end - 1;
            same = same && old[n + g] == x - 1 && same_bytes(old + from, box + from, deeper * sizeof(Int)) &&
                   same_bytes(old + n + from, box + n + from, deeper * sizeof(Int));
        }
        if (!same)
            last = made;
        else
            for (uint32_t i = w->boxes.count = made; i-- > last;)
                ((Int *)w->boxes.at)[(size_t)i * 2 * n + n + g] = end - 1;
    }
    return true;
}

static bool unite_boxes(Context *c, const Set **sets, uint32_t count, Vec *out) {
    Layers w = {.c = c, .set = sets}, other = {.c = c, .set = sets, .inner = true};
    TRY(layers(&w, 0, count) && (w.boxes.count < 4 || layers(&other, 0, count)));
    if (w.boxes.count > 3 && other.boxes.count < w.boxes.count) w = other;
    for (uint32_t i = 0; i < w.boxes.count; ++i) {
        const Int *lower = (Int *)w.boxes.at + (size_t)i * 2 * c->n;
        TRY(append(c, out, box(c, lower, lower + c->n)));
    }
    return true;
}

static bool unite_cells(Context *c, const Set **sets, uint32_t count, Vec *out) {
    Grid *grid = NULL;
    Part **parts = NULL;
    uint32_t number;
    Member *members = temp(c, count, sizeof *members);
    TRY(members);
    for (uint32_t i = 0; i < count; ++i) members[i] = (Member){sets[i], 0};
    TRY(partition(c, members, count, 1, &grid, &parts, &number));
    for (uint32_t i = 0; i < number; ++i) TRY(part_sets(c, grid, parts[i], out));
    return true;
}

// The union of sets as few disjoint ones, in ascending order.
bool unite(Context *c, const Set *const *sets, uint32_t count, const Domain **out) {
    const size_t mark = c->high;
    const Set **distinct = temp(c, count, sizeof *distinct);
    TRY(distinct);
    Vec found = {.at = distinct};
    uint32_t spaces = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t k = 0;
        while (k < found.count && distinct[k] != sets[i]) ++k;
        if (k < found.count) continue;
        distinct[found.count++] = sets[i];
        spaces += sets[i]->spaces;
    }
    if (found.count == 2 && apart(c, distinct[0], distinct[1]))
        for (int i = 0; i < 2; ++i) TRY(distinct[i] = lasting(c, distinct[i]));
    else if (found.count > 1) {
        const uint32_t number = found.count;
        found = (Vec){0};
        TRY((spaces ? unite_cells : unite_boxes)(c, distinct, number, &found));
    }
    sort_sets(c, found.at, found.count);
    *out = domain(c, found.at, found.count);
    c->high = mark;
    return ok(c) && *out;
}
