// SPDX-License-Identifier: Apache-2.0
// Rare operations (docs/targets/tcpa.md, Mapping to time): their unit is not reserved, so that a tiling is valid only
// if no two executions in a tile are closer than the unit is held. Only differences of few steps of the scan can be;
// each of them is looked up in the differences that there are.
#include "internal.h"

// Whether a row holds for a difference between iterations, whose digits are those of the scan.
static bool admits(Context *c, const Tiling *t, const Row *row, const Int *digit) {
    const Candidate *k = &c->s.candidate[t->number];
    Int a[DIMENSIONS + PARAMETERS], value = read_row(c, row, a);
    for (uint32_t i = 0; i < c->s.parameters; ++i) value = add(c, value, mul(c, a[c->n + i], c->values[i]));
    for (uint32_t g = 0; g < c->n; ++g) {
        const uint32_t m = k->order[g];
        value = add(c, value, mul(c, k->reflected[m] ? -a[m] : a[m], digit[g]));
    }
    return value >= 0;
}

static bool inside(Context *c, const Tiling *t, const Apart *pair, const Int *digit) {
    Int any = pair->first != pair->second;
    for (uint32_t g = 0; g < c->n; ++g) any |= digit[g];
    for (uint32_t i = 0; any && i < pair->where.count; ++i) {
        const List *rows = &pair->where.at[i];
        uint32_t r = 0;
        while (r < rows->count && admits(c, t, &c->s.row[rows->at[r]], digit)) ++r;
        if (r == rows->count) return true;
    }
    return false;
}

// Whether two iterations of a tile are so many steps apart, at a difference that there is. A digit is what the steps
// leave modulo its extent, or less by the extent; the rest is up to the digits further out.
static bool steps_apart(Context *c, const Tiling *t, const Apart *pair, Int steps) {
    Int digit[DIMENSIONS], rest[DIMENSIONS + 1] = {steps};
    uint32_t g = 0;
    for (;;) {
        if (g < c->n) {
            digit[g] = rest[g] - floor_div(rest[g], t->extents[g]) * t->extents[g];
            rest[g + 1] = floor_div(rest[g], t->extents[g]);
            ++g;
            continue;
        }
        if (!rest[g] && inside(c, t, pair, digit)) return true;
        while (g && digit[g - 1] <= 0) --g;
        if (!g) return false;
        digit[g - 1] -= t->extents[g - 1];
        ++rest[g];
    }
}

bool collides(Context *c, const Tiling *t, uint32_t *node) {
    const Schedule *p = &c->s.schedule[c->s.candidate[t->number].schedule];
    for (uint32_t i = 0; i < p->pairs; ++i) {
        const Apart *pair = &p->apart[i];
        const Int shift = sub(c, p->tau[pair->second], p->tau[pair->first]),
                  least = sub(c, sub(c, 1, p->latency[pair->second]), shift),
                  most = sub(c, sub(c, p->latency[pair->first], 1), shift);
        *node = pair->second;
        for (Int steps = -floor_div(-least, t->interval); steps <= floor_div(most, t->interval); ++steps)
            if (steps_apart(c, t, pair, steps)) return true;
    }
    return false;
}

// Whether iterations may as well start more seldom: in a multiple of the interval the schedule is as right, and rare
// operations are further apart. Beyond their latency, a schedule that reserves the unit is no slower.
bool stretches(const Context *c, const Tiling *t) {
    const Schedule *p = &c->s.schedule[c->s.candidate[t->number].schedule];
    for (uint32_t i = 0; i < p->pairs; ++i)
        if (t->interval + p->interval <= (Int)p->latency[p->apart[i].first]) return true;
    return false;
}

// Appends tilings whose tiles are longer by one along the innermost dimension, alone and with the other tiled one, on
// as many elements: the rows of a tile are then further apart, and with them rare operations of neighbouring rows.
bool longer(Context *c, const Tiling *t, Vec *out) {
    const Candidate *k = &c->s.candidate[t->number];
    const uint32_t inner = k->order[0];
    if (!c->s.schedule[k->schedule].pairs || (k->axis[0] != inner && k->axis[1] != inner)) return true;
    for (int both = 0; both < 2; ++both) {
        Int by[DIMENSIONS] = {0};
        bool several = t->tiles[inner] > 1;
        for (int axis = 0; axis < 2 && both; ++axis) {
            several = several && k->axis[axis] != NONE && t->tiles[k->axis[axis]] > 1;
            if (several) by[k->axis[axis]] = 1;
        }
        by[inner] = 1;
        Tiling made, *slot;
        TRY(!several || grown(c, t, by, &made));
        if (!several || !same_bytes(made.tiles, t->tiles, c->n * sizeof(Int))) continue;
        TRY(slot = push(c, out, sizeof *slot));
        *slot = made;
    }
    return true;
}
