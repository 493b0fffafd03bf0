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

// The least and the greatest value of a row in a box.
void range(Context *c, const Int *a, const Int *lower, const Int *upper, Int *least, Int *most) {
    *least = *most = a[c->n];
    for (uint32_t g = 0; g < c->n; ++g) {
        if (!a[g]) continue;
        *least = add(c, *least, mul(c, a[g], a[g] > 0 ? lower[g] : upper[g]));
        *most = add(c, *most, mul(c, a[g], a[g] > 0 ? upper[g] : lower[g]));
    }
}

enum { IMPLIED, EMPTY, KEPT, SHORTENED, REDUCED };

// Tighten the box by a row: `moved` says whether it became tighter. The row becomes one without fixed digits (SHORTENED) and in
// lowest terms (REDUCED); unless it is REDUCED, it cannot tighten the box any further.
static int propagate(Context *c, Int *a, Int *lower, Int *upper, bool *moved) {
    Int least, most, divisor = 0;
    int kind = KEPT;
    range(c, a, lower, upper, &least, &most);
    if (least >= 0) return IMPLIED;
    if (most < 0) return EMPTY;
    for (uint32_t g = 0; g < c->n; ++g) {
        if (!a[g]) continue;
        const Int x = magnitude(a[g]), reach = x == 1 ? most : most / x;  // from the end that makes the row greatest
        const Int beyond = sub(c, sub(c, upper[g], lower[g]), reach);
        if (beyond > 0) {
            *moved = true;
            least = add(c, least, mul(c, x, beyond));
            if (a[g] > 0)
                lower[g] = upper[g] - reach;
            else
                upper[g] = lower[g] + reach;
        }
        if (lower[g] == upper[g]) {
            a[c->n] = add(c, a[c->n], mul(c, a[g], lower[g]));
            a[g] = 0;
            kind = SHORTENED;
        } else if (divisor != 1)
            divisor = x == 1 ? 1 : gcd(divisor, x);
    }
    if (least >= 0) return IMPLIED;
    if (!divisor) return EMPTY;  // after an overflow only
    if (divisor == 1) return kind;
    for (uint32_t g = 0; g < c->n; ++g) a[g] /= divisor;
    a[c->n] = floor_div(a[c->n], divisor);
    return REDUCED;
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

// Whether another row has the same coefficients: it takes the smaller constant.
static bool joined(const Context *c, const Rows *rows, uint32_t i) {
    const Int *a = row(c, rows, i);
    for (uint32_t k = 0; k < rows->count; ++k) {
        Int *b = row(c, rows, k);
        if (k == i || memcmp(a, b, c->n * sizeof *a)) continue;
        b[c->n] = min(a[c->n], b[c->n]);
        return true;
    }
    return false;
}

static void drop(const Context *c, Rows *rows, uint32_t i) {
    memmove(row(c, rows, i), row(c, rows, i + 1), (--rows->count - i) * (c->n + 1) * sizeof(Int));
}

// Tighten the box by rows until nothing changes, for a while; false where the set is empty. `tight` where the box then is.
static bool settle(Context *c, Int *lower, Int *upper, Rows *rows, bool *tight) {
    uint32_t idle = 0;  // rows, the latest ones, by which the box cannot become tighter
    *tight = false;
    for (uint32_t i = 0, turns = ROUNDS * rows->count; idle < rows->count && turns; --turns) {
        bool moved = false;
        if (i >= rows->count) i = 0;
        const int kind = propagate(c, row(c, rows, i), lower, upper, &moved);
        if (kind == EMPTY || !ok(c)) return false;
        if (moved || kind == REDUCED) idle = 0;
        if (kind == IMPLIED || (kind > KEPT && joined(c, rows, i))) {
            drop(c, rows, i);
            continue;
        }
        idle += kind != REDUCED;
        ++i;
    }
    const bool settled = idle >= rows->count;
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
    bool moved;
    for (uint32_t i = rows->count; i-- > 0;)
        if (propagate(c, row(c, rows, i), lower, upper, &moved) < KEPT || joined(c, rows, i)) drop(c, rows, i);
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

// Whether all other rows have the opposite coefficients.
static bool lone(const Context *c, const Rows *rows, uint32_t i) {
    const Int *a = row(c, rows, i);
    for (uint32_t k = 0; k < rows->count; ++k)
        for (uint32_t g = 0; g < c->n && k != i; ++g)
            if (a[g] != -row(c, rows, k)[g]) return false;
    return true;
}

// Drop, in ascending order, every row whose complement has no point in common with the others. Opposite rows hold in the complement.
static bool irredundant(Context *c, const Int *lower, const Int *upper, Rows *rows) {
    const size_t bytes = (c->n + 1) * sizeof(Int), mark = c->high;
    for (uint32_t i = 0; i < rows->count;) {
        Int low[DIMENSIONS], high[DIMENSIONS], *a;
        if (lone(c, rows, i)) {
            ++i;
            continue;
        }
        memcpy(low, lower, sizeof low[0] * c->n);
        memcpy(high, upper, sizeof high[0] * c->n);
        Rows others = {temp(c, rows->count, bytes), rows->count};
        TRY(others.at);
        memcpy(others.at, rows->at, rows->count * bytes);
        a = row(c, &others, i);
        for (uint32_t g = 0; g <= c->n; ++g) a[g] = -a[g];
        a[c->n] = sub(c, a[c->n], 1);
        bool tight;
        const bool needed = settle(c, low, high, &others, &tight);
        TRY(ok(c));
        c->high = mark;
        if (needed)
            ++i;
        else
            drop(c, rows, i);
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
    for (uint32_t i = 0; i < rows->count; ++i) TRY(spaces[i] = half_space(c, row(c, rows, i)));
    TRY(ok(c));
    return (*out = interned(c, lower, upper, rows->count, spaces)) != NULL;
}

static bool rows_of(Context *c, uint32_t spaces, const Half *const *space, Rows *out) {
    *out = (Rows){temp(c, spaces + 1, (c->n + 1) * sizeof(Int)), 0};
    TRY(out->at);
    for (uint32_t i = 0; i < spaces; ++i) merge(c, out, space[i]->a);
    return true;
}

// Half-spaces of one form bound its value: a form with coefficients of 1 and -1 takes all values between its extremes. Decided in
// closed form; false where they are not of one form.
static bool parallel(Context *c, const Int *lower, const Int *upper, uint32_t spaces, const Half *const *space, bool *out) {
    const Int *a = space[0]->a;
    Int least, most;
    range(c, a, lower, upper, &least, &most);
    least = max(least, 0);
    for (uint32_t i = 1; i < spaces; ++i) {
        const Int *b = space[i]->a;
        bool same = true, opposite = true;
        for (uint32_t g = 0; g < c->n; ++g) {
            if (magnitude(a[g]) > 1) return false;
            same = same && a[g] == b[g];
            opposite = opposite && a[g] == -b[g];
        }
        if (same)
            least = max(least, sub(c, a[c->n], b[c->n]));
        else if (opposite)
            most = min(most, add(c, a[c->n], b[c->n]));
        else
            return false;
    }
    *out = least <= most;
    return true;
}

// Whether a box has a point in all half-spaces, of which there are some.
bool inhabited(Context *c, const Int *lower, const Int *upper, uint32_t spaces, const Half *const *space, bool *out) {
    if (parallel(c, lower, upper, spaces, space, out)) return ok(c);
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
