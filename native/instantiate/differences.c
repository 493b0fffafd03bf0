// SPDX-License-Identifier: Apache-2.0
// Half-spaces that bound the difference of two digits, as those of triangular nests do. Together with the bounds of a
// box they are a shortest path problem, whose solution is exact for integers (Bellman and Ford; Dill, "Timing
// assumptions and verification of finite-state concurrent systems", 1989): it gives tight bounds, or a negative cycle
// where there is no point.
#include "internal.h"

bool differences(uint32_t spaces, const Half *const *space) {
    for (uint32_t i = 0; i < spaces; ++i)
        if (space[i]->plus == space[i]->minus) return false;
    return true;
}

// Tightens a box by half-spaces; `outside` is the number of one whose complement is taken instead. False where no point
// is left.
bool tighten(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space, uint32_t outside) {
    bool moved = true;
    for (uint32_t round = 0; moved; ++round) {
        if (round > c->n) return false;  // shortest paths have at most n edges
        moved = false;
        for (uint32_t i = 0; i < spaces; ++i) {
            const Half *h = space[i];
            const uint32_t p = i == outside ? h->minus : h->plus, q = i == outside ? h->plus : h->minus;
            const Int w = i == outside ? -1 - h->a[c->n] : h->a[c->n], least = sub(c, lower[q], w),
                      most = add(c, upper[p], w);
            if (least > upper[p] || most < lower[q]) return false;
            if (least <= lower[p] && most >= upper[q]) continue;
            lower[p] = max(lower[p], least);
            upper[q] = min(upper[q], most);
            moved = true;
        }
    }
    return true;
}

// Inserts a half-space into those sorted by coefficients; of two with equal coefficients, the tighter one stays.
static uint32_t insert(const Context *c, const Half **space, uint32_t count, const Half *h) {
    uint32_t i = count;
    while (i && lexical(h->a, space[i - 1]->a, c->n) < 0) --i;
    if (i && space[i - 1]->plus == h->plus && space[i - 1]->minus == h->minus) {
        if (h->a[c->n] < space[i - 1]->a[c->n]) space[i - 1] = h;
        return count;
    }
    move(space + i + 1, space + i, (count - i) * sizeof *space);
    space[i] = h;
    return count + 1;
}

// Drops, in ascending order, each half-space that the tight box and the others imply: one whose complement leaves no
// point.
static uint32_t irredundant(Context *c, const Int *lower, const Int *upper, const Half **space, uint32_t count) {
    for (uint32_t i = 0; i < count && count > 1;) {
        Int low[DIMENSIONS], high[DIMENSIONS];
        memcpy(low, lower, c->n * sizeof(Int));
        memcpy(high, upper, c->n * sizeof(Int));
        if (tighten(c, low, high, count, space, i))
            ++i;
        else
            move(space + i, space + i + 1, (--count - i) * sizeof *space);
    }
    return count;
}

// `normalize` for these half-spaces.
bool normalize_differences(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space,
                           const Set **out) {
    if (!tighten(c, lower, upper, spaces, space, NONE)) return ok(c);
    const Half **kept = temp(c, spaces, sizeof *kept);
    TRY(kept);
    uint32_t count = 0;
    for (uint32_t i = 0; i < spaces; ++i)
        if (add(c, sub(c, lower[space[i]->plus], upper[space[i]->minus]), space[i]->a[c->n]) < 0)
            count = insert(c, kept, count, space[i]);
    count = irredundant(c, lower, upper, kept, count);
    return (*out = interned(c, lower, upper, count, kept)) != NULL;
}
