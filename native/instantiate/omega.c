// SPDX-License-Identifier: Apache-2.0
// The normal form of a box with half-spaces: bounds tight, half-spaces primitive, none implied. Emptiness is decided by
// Fourier-Motzkin elimination with the real and the dark shadow of Pugh ("The Omega test", 1991), and by halving the
// box where they differ.
#include "internal.h"

// Rows of n coefficients and a constant.
typedef struct {
    Int *at;
    uint32_t count;
} Rows;

static Int *row(const Context *c, const Rows *r, uint32_t i) { return r->at + (size_t)i * (c->n + 1); }

static Int gcd(Int a, Int b) {
    while (b) {
        const Int r = a % b;
        a = b;
        b = r;
    }
    return a;
}

// Inserts a row in ascending order; of rows with equal coefficients the one with the smaller constant, the tighter one,
// stays.
static void merge(const Context *c, Rows *r, const Int *added) {
    uint32_t i = 0;
    while (i < r->count && lexical(row(c, r, i), added, c->n) < 0) ++i;
    Int *at = row(c, r, i);
    if (i < r->count && same_bytes(at, added, c->n * sizeof *at)) {
        at[c->n] = min(at[c->n], added[c->n]);
        return;
    }
    move(at + c->n + 1, at, (r->count++ - i) * (c->n + 1) * sizeof *at);
    memcpy(at, added, (c->n + 1) * sizeof *at);
}

// The least and the greatest value of a row in a box.
void range(Context *c, const Int *a, const Int *lower, const Int *upper, Int *least, Int *most) {
    *least = *most = a[c->n];
    for (uint32_t g = 0; g < c->n; ++g) {
        if (!a[g]) continue;
        *least = add(c, *least, mul(c, a[g], a[g] > 0 ? lower[g] : upper[g]));
        *most = add(c, *most, mul(c, a[g], a[g] > 0 ? upper[g] : lower[g]));
    }
}

enum { IMPLIED, EMPTY, KEPT };

// Tightens the box by a row, whose fixed digits go into its constant and which is divided by the common divisor of its
// coefficients. `moved` is set where another turn may tighten the box further.
static int propagate(Context *c, Int *a, Int *lower, Int *upper, bool *moved) {
    Int least, most, divisor = 0;
    range(c, a, lower, upper, &least, &most);
    if (least >= 0) return IMPLIED;
    if (most < 0) return EMPTY;
    for (uint32_t g = 0; g < c->n; ++g) {
        if (!a[g]) continue;
        const Int reach = most / magnitude(a[g]);  // from the end that makes the row greatest
        if (sub(c, upper[g], lower[g]) > reach) {
            *moved = true;
            if (a[g] > 0)
                lower[g] = upper[g] - reach;
            else
                upper[g] = lower[g] + reach;
        }
        if (lower[g] == upper[g]) {
            a[c->n] = add(c, a[c->n], mul(c, a[g], lower[g]));
            a[g] = 0;
        }
        divisor = gcd(divisor, magnitude(a[g]));
    }
    if (divisor < 2) return divisor ? KEPT : IMPLIED;
    *moved = true;
    for (uint32_t g = 0; g < c->n; ++g) a[g] /= divisor;
    a[c->n] = floor_div(a[c->n], divisor);
    return KEPT;
}

// Eliminates all digits; false where the shadow is empty. The digit with the fewest combinations goes first, but one
// that is eliminated exactly, with all coefficients 1 or -1 on one side, goes before all others. If not exact, which
// clears `exact`, the real shadow may have points that no integers lie above; the dark one has none of these, but may
// lack others.
static bool shadow(Context *c, const Rows *system, bool dark, bool *exact) {
    Rows rows = *system;
    bool gone[DIMENSIONS] = {false};
    for (uint32_t round = 0; round < c->n && rows.count; ++round) {
        uint32_t best = NONE, best_above = 0, best_below = 0;
        bool best_inexact = false;
        for (uint32_t g = 0; g < c->n; ++g) {
            if (gone[g]) continue;
            uint32_t above = 0, below = 0;
            bool up = false, down = false;
            for (uint32_t i = 0; i < rows.count; ++i) {
                const Int a = row(c, &rows, i)[g];
                above += a > 0;
                below += a < 0;
                up = up || a > 1;
                down = down || a < -1;
            }
            const bool inexact = up && down;
            const uint64_t cost = (uint64_t)above * below, least = (uint64_t)best_above * best_below;
            if (best == NONE || inexact < best_inexact || (inexact == best_inexact && cost < least)) {
                best = g;
                best_inexact = inexact;
                best_above = above;
                best_below = below;
            }
        }
        if (best_inexact) *exact = false;
        gone[best] = true;
        Rows next = {0};
        const size_t most = rows.count + (size_t)best_above * best_below;
        if (!(next.at = temp(c, most + 1, (c->n + 1) * sizeof(Int)))) return false;
        for (uint32_t i = 0; i < rows.count; ++i) {
            const Int *a = row(c, &rows, i);
            if (a[best] < 0) continue;
            for (uint32_t k = 0; k < rows.count; ++k) {
                const Int *b = row(c, &rows, k);
                if (a[best] && b[best] >= 0) continue;
                Int sum[DIMENSIONS + 1];
                if (a[best]) {
                    const Int x = a[best], y = sub(c, 0, b[best]);
                    for (uint32_t g = 0; g <= c->n; ++g) sum[g] = add(c, mul(c, y, a[g]), mul(c, x, b[g]));
                    // Bounds so far apart that an integer lies between them, whatever the remainders are.
                    if (dark) sum[c->n] = sub(c, sum[c->n], mul(c, x - 1, y - 1));
                } else
                    memcpy(sum, a, sizeof sum[0] * (c->n + 1));
                Int divisor = 0;
                for (uint32_t g = 0; g < c->n; ++g) divisor = gcd(divisor, magnitude(sum[g]));
                if (divisor > 1) {
                    for (uint32_t g = 0; g < c->n; ++g) sum[g] /= divisor;
                    sum[c->n] = floor_div(sum[c->n], divisor);
                }
                if (!ok(c) || (!divisor && sum[c->n] < 0)) return false;
                if (divisor) merge(c, &next, sum);
                if (!a[best]) break;
            }
        }
        rows = next;
    }
    return true;
}

// 1 or 0 where the shadows decide whether the box has a point that satisfies all rows, else -1.
static int decide(Context *c, const Int *lower, const Int *upper, const Rows *rows) {
    const size_t mark = c->high;
    Rows active = {temp(c, rows->count + 2 * (size_t)c->n, (c->n + 1) * sizeof(Int)), 0};
    if (!active.at) return 0;
    bool used[DIMENSIONS] = {false}, fixed = true;
    int verdict = -1;
    for (uint32_t i = 0; i < rows->count && verdict; ++i) {
        const Int *a = row(c, rows, i);
        Int least, most;
        range(c, a, lower, upper, &least, &most);
        if (least >= 0) continue;
        if (most < 0) verdict = 0;
        merge(c, &active, a);
        for (uint32_t g = 0; g < c->n; ++g) used[g] = used[g] || a[g];
    }
    for (uint32_t g = 0; g < c->n; ++g) fixed = fixed && (!used[g] || lower[g] == upper[g]);
    if (verdict && (active.count < 2 || fixed)) verdict = 1;
    if (verdict < 0) {
        for (uint32_t g = 0; g < c->n; ++g) {
            if (!used[g]) continue;
            Int side[DIMENSIONS + 1] = {0};
            side[g] = 1;
            side[c->n] = sub(c, 0, lower[g]);
            merge(c, &active, side);
            side[g] = -1;
            side[c->n] = upper[g];
            merge(c, &active, side);
        }
        bool exact = true;
        if (!shadow(c, &active, false, &exact))
            verdict = 0;
        else if (exact || shadow(c, &active, true, &exact))
            verdict = 1;
    }
    c->high = mark;
    return ok(c) ? verdict : 0;
}

// Whether a box has an integer point that satisfies all rows. Exact: boxes that the shadows do not decide are halved,
// at most 32 times along each of at most 63 digits.
static bool feasible(Context *c, const Int *lower, const Int *upper, const Rows *rows) {
    const size_t mark = c->high;
    Int low[DIMENSIONS], high[DIMENSIONS];
    memcpy(low, lower, sizeof low[0] * c->n);
    memcpy(high, upper, sizeof high[0] * c->n);
    Vec pending = {0};
    bool found = false;
    for (;;) {
        const int verdict = decide(c, low, high, rows);
        if (verdict > 0) found = true;
        if (verdict > 0 || !ok(c)) break;
        if (verdict < 0) {
            uint32_t widest = NONE;
            for (uint32_t g = 0; g < c->n; ++g) {
                bool used = false;
                for (uint32_t i = 0; i < rows->count; ++i) used = used || row(c, rows, i)[g];
                if (used && (widest == NONE || high[g] - low[g] > high[widest] - low[widest])) widest = g;
            }
            if (widest == NONE) break;
            const Int middle = low[widest] + (high[widest] - low[widest]) / 2;
            Int *right = push(c, &pending, 2 * c->n * sizeof(Int));
            if (!right) break;
            memcpy(right, low, sizeof low[0] * c->n);
            memcpy(right + c->n, high, sizeof high[0] * c->n);
            right[widest] = middle + 1;
            high[widest] = middle;
            continue;
        }
        if (!pending.count) break;
        const Int *next = (Int *)pending.at + (size_t)--pending.count * 2 * c->n;
        memcpy(low, next, sizeof low[0] * c->n);
        memcpy(high, next + c->n, sizeof high[0] * c->n);
    }
    c->high = mark;
    return found;
}

#define ROUNDS 4  // propagation may go on for as long as the box is wide; the exact tests finish the work

// Tightens the box by all rows, ROUNDS times at most; false where no point is left.
static bool settle(Context *c, Int *lower, Int *upper, Rows *rows) {
    bool moved = true;
    for (uint32_t round = 0; round < ROUNDS && moved; ++round) {
        moved = false;
        for (uint32_t i = 0; i < rows->count; ++i)
            if (propagate(c, row(c, rows, i), lower, upper, &moved) == EMPTY) return false;
    }
    return ok(c) && feasible(c, lower, upper, rows);
}

// The least (greatest) value of digit g, by bisection.
static Int extreme(Context *c, const Int *lower, const Int *upper, const Rows *rows, uint32_t g, bool least) {
    Int low[DIMENSIONS], high[DIMENSIONS];
    memcpy(low, lower, sizeof low[0] * c->n);
    memcpy(high, upper, sizeof high[0] * c->n);
    Int first = lower[g], last = upper[g];
    low[g] = high[g] = least ? first : last;
    if (feasible(c, low, high, rows)) return low[g];
    while (first < last && ok(c)) {
        const Int middle = first + (last - first) / 2;
        low[g] = least ? first : middle + 1;
        high[g] = least ? middle : last;
        if (feasible(c, low, high, rows) == least)
            last = middle;
        else
            first = middle + 1;
    }
    return first;
}

// Drops, in ascending order, every row that the others imply: its complement has no point in common with them.
static bool irredundant(Context *c, const Int *lower, const Int *upper, Rows *rows) {
    const size_t bytes = (c->n + 1) * sizeof(Int), mark = c->high;
    for (uint32_t i = 0; i < rows->count && rows->count > 1;) {
        Int low[DIMENSIONS], high[DIMENSIONS], *a;
        memcpy(low, lower, sizeof low[0] * c->n);
        memcpy(high, upper, sizeof high[0] * c->n);
        Rows others = {temp(c, rows->count, bytes), rows->count};
        TRY(others.at);
        memcpy(others.at, rows->at, rows->count * bytes);
        a = row(c, &others, i);
        for (uint32_t g = 0; g <= c->n; ++g) a[g] = -a[g];
        a[c->n] = sub(c, a[c->n], 1);
        const bool needed = settle(c, low, high, &others);
        TRY(ok(c));
        c->high = mark;
        if (needed)
            ++i;
        else
            move(row(c, rows, i), row(c, rows, i + 1), (--rows->count - i) * bytes);
    }
    return true;
}

static bool reduce(Context *c, Int *lower, Int *upper, Rows *rows, const Set **out) {
    if (!settle(c, lower, upper, rows)) return ok(c);
    for (uint32_t g = 0; g < c->n; ++g) {
        lower[g] = extreme(c, lower, upper, rows, g, true);
        upper[g] = extreme(c, lower, upper, rows, g, false);
    }
    Rows kept = {temp(c, rows->count + 1, (c->n + 1) * sizeof(Int)), 0};
    TRY(kept.at);
    bool moved;
    for (uint32_t i = 0; i < rows->count; ++i)
        if (propagate(c, row(c, rows, i), lower, upper, &moved) == KEPT) merge(c, &kept, row(c, rows, i));
    TRY(irredundant(c, lower, upper, &kept));
    const Half **spaces = temp(c, kept.count, sizeof *spaces);
    TRY(spaces);
    for (uint32_t i = 0; i < kept.count; ++i) TRY(spaces[i] = half_space(c, row(c, &kept, i)));
    TRY(ok(c));
    return (*out = interned(c, lower, upper, kept.count, spaces)) != NULL;
}

static bool rows_of(Context *c, uint32_t spaces, const Half *const *space, Rows *out) {
    *out = (Rows){temp(c, spaces + 1, (c->n + 1) * sizeof(Int)), 0};
    TRY(out->at);
    for (uint32_t i = 0; i < spaces; ++i) merge(c, out, space[i]->a);
    return true;
}

// Whether a box has a point in all half-spaces, of which there is at least one. The box is tightened.
bool inhabited(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space, bool *out) {
    const size_t mark = c->high;
    if (differences(spaces, space)) {
        *out = tighten(c, lower, upper, spaces, space, NONE);
        return ok(c);
    }
    Rows rows;
    *out = rows_of(c, spaces, space, &rows) && settle(c, lower, upper, &rows);
    c->high = mark;
    return ok(c);
}

// The normal form of a box with half-spaces of several coefficients, or null where it is empty. `lower` and `upper` are
// changed.
bool convex(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space, const Set **out) {
    const size_t mark = c->high;
    Rows rows;
    *out = NULL;
    for (uint32_t g = 0; g < c->n; ++g)
        if (lower[g] > upper[g]) return true;
    if (!spaces)
        *out = box(c, lower, upper);
    else if (differences(spaces, space))
        normalize_differences(c, lower, upper, spaces, space, out);
    else if (rows_of(c, spaces, space, &rows))
        reduce(c, lower, upper, &rows, out);
    c->high = mark;
    return ok(c);
}
