// SPDX-License-Identifier: Apache-2.0
// Sets of iterations: boxes with half-spaces on the digits of a scan (the paper, section 6.1). Sets are interned
// (intern.c), but for boxes that `shift` moves.
#include "internal.h"

// The common box and the half-spaces of both, in temporary memory; false where the boxes have no point in common.
static bool common(Context *c, const Set *a, const Set *b, Int *low, Int *high, const Half ***both) {
    for (uint32_t g = c->n; g-- > 0;) {  // the outermost digit tells most sets apart
        low[g] = max(a->lower[g], b->lower[g]);
        high[g] = min(upper_of(c, a)[g], upper_of(c, b)[g]);
        if (low[g] > high[g]) return false;
    }
    TRY(*both = temp(c, a->spaces + b->spaces, sizeof **both));
    for (uint32_t i = 0; i < a->spaces; ++i) (*both)[i] = spaces_of(c, a)[i];
    for (uint32_t i = 0; i < b->spaces; ++i) (*both)[a->spaces + i] = spaces_of(c, b)[i];
    return true;
}

bool intersect(Context *c, const Set *a, const Set *b, const Set **out) {
    Int low[DIMENSIONS], high[DIMENSIONS];
    const Half **both;
    const size_t mark = c->high;
    *out = NULL;
    if (common(c, a, b, low, high, &both)) {
        const size_t bytes = c->n * sizeof(Int);
        if (!b->spaces && same_bytes(a->lower, low, bytes) && same_bytes(upper_of(c, a), high, bytes))
            *out = a;
        else
            convex(c, low, high, a->spaces + b->spaces, both, out);
    }
    c->high = mark;
    return ok(c);
}

// Whether two sets have a point in common. Where all half-spaces bound differences, `least` is then the least such
// point.
bool share_point(Context *c, const Set *a, const Set *b, Int *least, bool *out) {
    Int high[DIMENSIONS];
    const Half **both;
    const size_t mark = c->high;
    *out = common(c, a, b, least, high, &both);
    if (*out && a->spaces + b->spaces) TRY(inhabited(c, least, high, a->spaces + b->spaces, both, out));
    c->high = mark;
    return ok(c);
}

bool holds(Context *c, const Set *s, const Int *x) {
    for (uint32_t g = c->n; g-- > 0;)
        if (x[g] < s->lower[g] || x[g] > upper_of(c, s)[g]) return false;
    for (uint32_t i = 0; i < s->spaces; ++i) {
        const Half *h = spaces_of(c, s)[i];
        Int value = add(c, h->a[c->n], sub(c, x[h->plus], x[h->minus]));
        for (uint32_t g = 0; h->plus == h->minus && g < c->n; ++g) value = add(c, value, mul(c, h->a[g], x[g]));
        if (value < 0) return false;
    }
    return true;
}

bool contains(Context *c, const Domain *d, const Int *point) {
    for (uint32_t i = 0; i < d->count; ++i)
        if (holds(c, d->set[i], point)) return true;
    return false;
}

// Appends what one pattern of carries makes of a set: digits below `moved` are moved, the others stay.
static bool carried(Context *c, const Set *s, const Int *low, const Int *high, const Int *moves, uint32_t moved,
                    Vec *out) {
    Int lower[DIMENSIONS], upper[DIMENSIONS];
    for (uint32_t g = 0; g < c->n; ++g) {
        lower[g] = g < moved ? low[g] : s->lower[g];
        upper[g] = g < moved ? high[g] : upper_of(c, s)[g];
    }
    if (!s->spaces) return append(c, out, filled(c, keep(c, 1, sizeof(Set) + 2 * c->n * sizeof(Int)), lower, upper));
    bool narrowed = false;  // or it is just moved, and in normal form as it was
    for (uint32_t g = 0; g < moved; ++g) narrowed = narrowed || high[g] - low[g] < upper_of(c, s)[g] - s->lower[g];
    const size_t mark = c->high;
    const Half **spaces = temp(c, s->spaces, sizeof *spaces);
    TRY(spaces);
    for (uint32_t i = 0; i < s->spaces; ++i) {
        Int a[DIMENSIONS + 1];
        memcpy(a, spaces_of(c, s)[i]->a, (c->n + 1) * sizeof *a);
        for (uint32_t g = 0; g < moved; ++g) a[c->n] = sub(c, a[c->n], mul(c, a[g], moves[g]));
        TRY(spaces[i] = half_space(c, a));
    }
    const Set *found = NULL;
    if (narrowed)
        convex(c, lower, upper, s->spaces, spaces, &found);
    else
        found = interned(c, lower, upper, s->spaces, spaces);
    c->high = mark;
    TRY(ok(c));
    return !found || append(c, out, found);
}

// Adds a number to all points of a set, digit by digit. A digit may stay below its extent, or wrap and carry into the
// next one; all patterns of carries are tried, depth first.
static bool carries(Context *c, const Set *s, const Int *addend, Vec *out) {
    const uint32_t n = c->n;
    const Int *extents = c->t->extents;
    Int low[DIMENSIONS], high[DIMENSIONS], moves[DIMENSIONS];
    uint8_t carry[DIMENSIONS + 1] = {0}, choice[DIMENSIONS + 1] = {0};
    uint32_t busy = 0;
    for (uint32_t g = 0; g < n; ++g)
        if (addend[g]) busy = g;
    for (uint32_t g = 0;;) {
        bool back = false;
        if (g == n || (g > busy && !carry[g])) {
            TRY(carried(c, s, low, high, moves, g, out));
            back = true;
        } else if (choice[g] > (g + 1 < n)) {
            choice[g] = 0;
            back = true;
        } else {
            const Int amount = add(c, addend[g], carry[g]), wraps = sub(c, extents[g], amount);
            const uint8_t wrap = choice[g]++;
            Int a = s->lower[g], b = upper_of(c, s)[g];
            if (g + 1 == n)
                a = max(a, sub(c, 0, amount));
            else if (wrap)
                a = max(a, wraps);
            else
                b = min(b, wraps - 1);
            TRY(ok(c));
            if (a > b) continue;
            moves[g] = sub(c, amount, wrap ? extents[g] : 0);
            low[g] = add(c, a, moves[g]);
            high[g] = add(c, b, moves[g]);
            carry[++g] = wrap;
            choice[g] = 0;
        }
        if (back && g-- == 0) return ok(c);
    }
}

// Appends, in order, the iterations `steps` steps after those of `d` (before them, if negative). Boxes that move are
// not interned.
bool shift(Context *c, const Domain *d, Int steps, Vec *out) {
    Int addend[DIMENSIONS];
    for (uint32_t g = 0; g + 1 < c->n; ++g) {
        const Int q = floor_div(steps, c->t->extents[g]);
        addend[g] = steps - q * c->t->extents[g];
        steps = q;
    }
    addend[c->n - 1] = steps;
    bool moved = false;
    for (uint32_t g = 0; g < c->n; ++g) moved = moved || addend[g];
    for (uint32_t i = 0; i < d->count; ++i) TRY(moved ? carries(c, d->set[i], addend, out) : append(c, out, d->set[i]));
    return ok(c);
}

// The digits within [lower, upper] that follow `last` in scan order.
bool after(Context *c, const Int *last, const Int *lower, const Int *upper, Vec *out) {
    for (uint32_t g = c->n; g-- > 0;) {
        Int low[DIMENSIONS], high[DIMENSIONS];
        bool empty = false;
        for (uint32_t k = 0; k < c->n; ++k) {
            low[k] = k < g ? lower[k] : last[k] + (k == g);
            high[k] = k <= g ? upper[k] : last[k];
            empty = empty || low[k] > high[k];
        }
        if (!empty) TRY(append(c, out, box(c, low, high)));
    }
    return true;
}

int scan_compare(Context *c, const Set *a, const Set *b) {
    for (uint32_t g = c->n; g-- > 0;)
        if (a->lower[g] != b->lower[g]) return a->lower[g] < b->lower[g] ? -1 : 1;
    for (uint32_t g = c->n; g-- > 0;)
        if (upper_of(c, a)[g] != upper_of(c, b)[g]) return upper_of(c, a)[g] < upper_of(c, b)[g] ? -1 : 1;
    for (uint32_t i = 0; i < a->spaces && i < b->spaces; ++i) {
        for (uint32_t g = 0; g <= c->n; ++g)
            if (spaces_of(c, a)[i]->a[g] != spaces_of(c, b)[i]->a[g])
                return spaces_of(c, a)[i]->a[g] < spaces_of(c, b)[i]->a[g] ? -1 : 1;
    }
    return (int)a->spaces - (int)b->spaces;
}

void sort_sets(Context *c, const Set **sets, uint32_t count) {
    for (uint32_t i = 1; i < count; ++i) {
        const Set *s = sets[i];
        uint32_t k = i;
        for (; k && scan_compare(c, s, sets[k - 1]) < 0; --k) sets[k] = sets[k - 1];
        sets[k] = s;
    }
}

void digits_of(Context *c, Int step, Int *digits) {
    for (uint32_t g = 0; g + 1 < c->n; ++g) {
        digits[g] = step % c->t->extents[g];
        step /= c->t->extents[g];
    }
    digits[c->n - 1] = step;
}

typedef struct {
    Context *c;
    const Int *lower, *upper;
    Int blocks[DIMENSIONS], counts[DIMENSIONS + 1];
} Window;

static Int cyclic(Window *w, int g, Int steps);

// Both call only each other and themselves with smaller g, of at most 63 digits.
static Int linear(Window *w, int g, Int steps) {
    if (g < 0) return min(steps, 1);
    const Int size = w->upper[g] - w->lower[g] + 1, q = steps / w->blocks[g], r = steps % w->blocks[g];
    if (size <= q) return w->counts[g + 1];
    return add(w->c, mul(w->c, q, w->counts[g]), size == q + 1 ? linear(w, g - 1, r) : cyclic(w, g - 1, r));
}

static Int cyclic(Window *w, int g, Int steps) {
    if (g < 0) return min(steps, 1);
    const Int size = w->upper[g] - w->lower[g] + 1;
    const Int gap = mul(w->c, w->c->t->extents[g] - size, w->blocks[g]), rest = max(sub(w->c, steps, gap), 0);
    const Int q = rest / w->blocks[g], r = rest % w->blocks[g];
    const Int wrapped = q >= size ? w->counts[g + 1] : add(w->c, mul(w->c, q, w->counts[g]), cyclic(w, g - 1, r));
    return max(linear(w, g, steps), wrapped);
}

// The greatest number of a box's iterations in any `steps` consecutive steps of the scan. Exact.
Int window(Context *c, const Int *lower, const Int *upper, Int steps) {
    Window w = {.c = c, .lower = lower, .upper = upper};
    Int block = 1;
    w.counts[0] = 1;
    for (uint32_t g = 0; g < c->n; ++g) {
        w.blocks[g] = block;
        block = mul(c, block, c->t->extents[g]);
        w.counts[g + 1] = mul(c, w.counts[g], upper[g] - lower[g] + 1);
    }
    return ok(c) ? linear(&w, (int)c->n - 1, steps) : 0;
}
