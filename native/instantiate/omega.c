// SPDX-License-Identifier: Apache-2.0
// The normal form of a box with half-spaces: bounds tight, half-spaces primitive, none implied. Emptiness is decided by
// Fourier-Motzkin elimination with Pugh's exact and dark shadows (the Omega test) and by halving the box where they differ.
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

// Append, or take the smaller constant of equal rows.
static void merge(const Context *c, Rows *r, const Int *added) {
    for (uint32_t i = 0; i < r->count; ++i)
        if (!memcmp(row(c, r, i), added, c->n * sizeof(Int))) {
            row(c, r, i)[c->n] = min(row(c, r, i)[c->n], added[c->n]);
            return;
        }
    memcpy(row(c, r, r->count++), added, (c->n + 1) * sizeof(Int));
}

static Int extreme(Context *c, const Int *a, const Int *lower, const Int *upper, bool most) {
    Int value = a[c->n];
    for (uint32_t g = 0; g < c->n; ++g)
        if (a[g]) value = add(c, value, mul(c, a[g], (a[g] > 0) == most ? upper[g] : lower[g]));
    return value;
}

enum { IMPLIED, EMPTY, KEPT };

// Tighten the box by a row; what is left of it, in lowest terms and without fixed digits, is in `out`.
static int propagate(Context *c, const Int *a, Int *lower, Int *upper, Int *out) {
    if (extreme(c, a, lower, upper, false) >= 0) return IMPLIED;
    const Int most = extreme(c, a, lower, upper, true);
    if (most < 0) return EMPTY;
    Int divisor = 0, constant = a[c->n], least = 0;
    for (uint32_t g = 0; g < c->n; ++g) {
        out[g] = a[g];
        if (!a[g]) continue;
        const Int reach = most / magnitude(a[g]);  // from the end that makes the row greatest
        if (reach < sub(c, upper[g], lower[g])) {
            if (a[g] > 0)
                lower[g] = upper[g] - reach;
            else
                upper[g] = lower[g] + reach;
        }
        if (lower[g] == upper[g]) {
            constant = add(c, constant, mul(c, a[g], lower[g]));
            out[g] = 0;
            continue;
        }
        least = add(c, least, mul(c, a[g], a[g] > 0 ? lower[g] : upper[g]));
        if (divisor != 1) divisor = gcd(divisor, magnitude(a[g]));
    }
    if (add(c, least, constant) >= 0) return IMPLIED;
    if (!divisor) return EMPTY;  // after an overflow only
    out[c->n] = constant;
    if (divisor == 1) return KEPT;
    for (uint32_t g = 0; g < c->n; ++g) out[g] /= divisor;
    out[c->n] = floor_div(constant, divisor);
    return KEPT;
}

// Eliminates all digits; false where the (dark) shadow is empty. `exact` is cleared where an elimination was not exact.
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

// 1 or 0 where the shadows decide whether the box has a point in all rows, else -1.
static int decide(Context *c, const Int *lower, const Int *upper, const Rows *rows) {
    const size_t mark = c->high;
    Rows active = {temp(c, rows->count + 2 * (size_t)c->n, (c->n + 1) * sizeof(Int)), 0};
    if (!active.at) return 0;
    bool used[DIMENSIONS] = {false}, fixed = true;
    int verdict = -1;
    for (uint32_t i = 0; i < rows->count && verdict; ++i) {
        const Int *a = row(c, rows, i);
        if (extreme(c, a, lower, upper, false) >= 0) continue;
        if (extreme(c, a, lower, upper, true) < 0) verdict = 0;
        merge(c, &active, a);
        for (uint32_t g = 0; g < c->n; ++g) used[g] = used[g] || a[g];
    }
    for (uint32_t g = 0; g < c->n; ++g) fixed = fixed && (!used[g] || lower[g] == upper[g]);
    if (verdict && (active.count < 2 || fixed)) verdict = 1;
    if (verdict < 0) {
        for (uint32_t g = 0; g < c->n; ++g) {
            if (!used[g]) continue;
            Int bound[DIMENSIONS + 1] = {0};
            bound[g] = 1;
            bound[c->n] = sub(c, 0, lower[g]);
            merge(c, &active, bound);
            bound[g] = -1;
            bound[c->n] = upper[g];
            merge(c, &active, bound);
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

// Whether a box has an integer point in all rows. Exact: undecided boxes are halved, at most 63 times 32 deep.
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

// Whether no row has two positive (negative) coefficients: where propagation has settled, the least (greatest) corner is then a point.
static bool corner_holds(const Context *c, const Rows *rows, bool least) {
    for (uint32_t i = 0; i < rows->count; ++i) {
        uint32_t signs = 0;
        for (uint32_t g = 0; g < c->n; ++g) signs += least ? row(c, rows, i)[g] > 0 : row(c, rows, i)[g] < 0;
        if (signs > 1) return false;
    }
    return true;
}

// Tighten the box by rows until nothing changes, for a while; false where the set is empty. `tight` where the box then is.
static bool settle(Context *c, Int *lower, Int *upper, Rows *rows, bool *tight) {
    bool settled = false;
    *tight = false;
    Rows other = {temp(c, rows->count + 1, (c->n + 1) * sizeof(Int)), 0};
    for (int round = 0; other.at && round < ROUNDS && !settled; ++round) {
        Int low[DIMENSIONS], high[DIMENSIONS];
        memcpy(low, lower, sizeof low[0] * c->n);
        memcpy(high, upper, sizeof high[0] * c->n);
        other.count = 0;
        for (uint32_t i = 0; i < rows->count; ++i) {
            Int left[DIMENSIONS + 1];
            const int kind = propagate(c, row(c, rows, i), lower, upper, left);
            if (kind == EMPTY) return false;
            if (kind == KEPT) merge(c, &other, left);
        }
        settled = rows->count == other.count && !memcmp(low, lower, sizeof low[0] * c->n) && !memcmp(high, upper, sizeof high[0] * c->n);
        const Rows swapped = *rows;
        *rows = other;
        other = swapped;
    }
    if (!ok(c)) return false;
    const bool least = settled && corner_holds(c, rows, true), most = settled && corner_holds(c, rows, false);
    *tight = settled && (rows->count < 2 || (least && most));
    return *tight || least || most || feasible(c, lower, upper, rows);
}

// The least (greatest) value of digit g, by bisection.
static Int bound(Context *c, const Int *lower, const Int *upper, const Rows *rows, uint32_t g, bool least) {
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

// Make the box of a nonempty set tight, and drop the rows that the others imply.
static bool tighten(Context *c, Int *lower, Int *upper, Rows *rows) {
    for (uint32_t g = 0; g < c->n; ++g) {
        bool used = false;
        for (uint32_t i = 0; i < rows->count; ++i) used = used || row(c, rows, i)[g];
        if (!used) continue;
        lower[g] = bound(c, lower, upper, rows, g, true);
        upper[g] = bound(c, lower, upper, rows, g, false);
    }
    Rows kept = {temp(c, rows->count + 1, (c->n + 1) * sizeof(Int)), 0};
    TRY(kept.at);
    for (uint32_t i = 0; i < rows->count; ++i) {
        Int left[DIMENSIONS + 1];
        if (propagate(c, row(c, rows, i), lower, upper, left) == KEPT) merge(c, &kept, left);
    }
    *rows = kept;
    return ok(c);
}

static int compare(const Context *c, const Int *a, const Int *b) {
    for (uint32_t g = 0; g <= c->n; ++g)
        if (a[g] != b[g]) return a[g] < b[g] ? -1 : 1;
    return 0;
}

static void sort(const Context *c, Rows *rows) {
    for (uint32_t i = 1; i < rows->count; ++i)
        for (uint32_t k = i; k && compare(c, row(c, rows, k), row(c, rows, k - 1)) < 0; --k)
            for (uint32_t g = 0; g <= c->n; ++g) {
                const Int x = row(c, rows, k)[g];
                row(c, rows, k)[g] = row(c, rows, k - 1)[g];
                row(c, rows, k - 1)[g] = x;
            }
}

// Drop, in ascending order, every row whose complement has no point in common with the others.
static bool irredundant(Context *c, const Int *lower, const Int *upper, Rows *rows) {
    const size_t bytes = (c->n + 1) * sizeof(Int), mark = c->high;
    for (uint32_t i = 0; i < rows->count;) {
        Int low[DIMENSIONS], high[DIMENSIONS], *a;
        memcpy(low, lower, sizeof low[0] * c->n);
        memcpy(high, upper, sizeof high[0] * c->n);
        Rows others = {temp(c, rows->count + 1, bytes), rows->count};
        TRY(others.at);
        memcpy(others.at, rows->at, rows->count * bytes);
        a = row(c, &others, i);
        for (uint32_t g = 0; g <= c->n; ++g) a[g] = sub(c, 0, a[g]);
        a[c->n] = sub(c, a[c->n], 1);
        bool tight;
        const bool needed = settle(c, low, high, &others, &tight);
        TRY(ok(c));
        c->high = mark;
        if (needed)
            ++i;
        else
            memmove(row(c, rows, i), row(c, rows, i + 1), (--rows->count - i) * bytes);
    }
    return true;
}

static bool reduce(Context *c, Int *lower, Int *upper, Rows *rows, const Set **out) {
    bool tight;
    if (!settle(c, lower, upper, rows, &tight)) return ok(c);
    if (!tight) TRY(tighten(c, lower, upper, rows));
    sort(c, rows);
    if (rows->count > 1) TRY(irredundant(c, lower, upper, rows));
    const Half **spaces = temp(c, rows->count, sizeof *spaces);
    TRY(spaces);
    for (uint32_t i = 0; i < rows->count; ++i) TRY(spaces[i] = half_space(c, row(c, rows, i), row(c, rows, i)[c->n]));
    TRY(ok(c));
    return (*out = interned(c, lower, upper, rows->count, spaces)) != NULL;
}

static bool rows_of(Context *c, uint32_t spaces, const Half *const *space, Rows *out) {
    *out = (Rows){temp(c, spaces + 1, (c->n + 1) * sizeof(Int)), 0};
    TRY(out->at);
    for (uint32_t i = 0; i < spaces; ++i) {
        Int a[DIMENSIONS + 1];
        memcpy(a, space[i]->a, sizeof a[0] * c->n);
        a[c->n] = space[i]->constant;
        merge(c, out, a);
    }
    return true;
}

// Whether a box has a point in all half-spaces.
bool inhabited(Context *c, const Int *lower, const Int *upper, uint32_t spaces, const Half *const *space, bool *out) {
    const size_t mark = c->high;
    Int low[DIMENSIONS], high[DIMENSIONS];
    memcpy(low, lower, sizeof low[0] * c->n);
    memcpy(high, upper, sizeof high[0] * c->n);
    Rows rows;
    bool tight;
    *out = rows_of(c, spaces, space, &rows) && settle(c, low, high, &rows, &tight);
    c->high = mark;
    return ok(c);
}

// `lower` and `upper` are changed; `out` is left alone where the set is empty.
bool normalize(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space, const Set **out) {
    const size_t mark = c->high;
    Rows rows;
    TRY(rows_of(c, spaces, space, &rows));
    const bool done = reduce(c, lower, upper, &rows, out);
    c->high = mark;
    return done && ok(c);
}
