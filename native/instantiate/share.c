// SPDX-License-Identifier: Apache-2.0
// Control signals as few as a machine has: a branch is a function of any signals. Steps that no transition set tells apart are
// one atom; branches are coded one after another, those of most successors first. Of all choices of signals the one with the fewest
// new ones is taken, then the smallest, then the first, for which some table from codes to successors serves all atoms of the branch.
#include "internal.h"

#define MOST 64          // signals, sets of which are words, and codes
#define FLAGS 6
#define WORK (1u << 26)  // cells times transition sets: where they are more, nothing is shared

typedef uint64_t Signals;

// The signals that are 1 in some atoms, and those that are 0.
typedef struct {
    Signals ones, zeros;
} Value;

// Atoms of one successor in which the same signals are fixed.
typedef struct {
    uint32_t edge;
    Value value;
} Column;

// A code whose bits in `free` do not matter, and where it has to lead.
typedef struct {
    uint32_t free, code, edge;
} Need;

typedef struct {
    const Set *set;
    uint32_t number;
} Named;

typedef struct {
    Context *c;
    Named *name;  // a hash table
    uint32_t names, sets;
    uint32_t atoms, count, limit;
    Part **part;
    const Domain **domain;  // by atom, as all arrays of atoms
    Value *value, *saved;
    uint32_t *of;  // the column of an atom of the branch
    // Of the branch in hand.
    GraphNode *node;
    Column *column;
    uint32_t columns, clashes;
    Signals *same;  // of pairs of columns of different successors: the signals that do not tell them apart
    Need *need;
    uint32_t needs, size;
    uint32_t chosen[MOST], *table;
    uint8_t code[MOST];  // those of few ones first, then in ascending order
} Shared;

static uint32_t weight(uint64_t x) {
    uint32_t count = 0;
    for (; x; x &= x - 1) ++count;
    return count;
}

static Named *named(Shared *s, const Set *set) {
    uint32_t at = (uint32_t)((uintptr_t)set / sizeof *set) & (s->names - 1);
    while (s->name[at].set && s->name[at].set != set) at = (at + 1) & (s->names - 1);
    return &s->name[at];
}

// Every transition set once, as a family of its own.
static bool number_sets(Shared *s, GraphNode *const *nodes, uint32_t count, Vec *members) {
    uint32_t total = 0;
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t e = 0; e < nodes[b]->edges; ++e) total += nodes[b]->edge[e].domain->count;
    for (s->names = 16; s->names < 2 * total;) s->names *= 2;
    TRY(s->name = temp(s->c, s->names, sizeof *s->name));
    for (uint32_t b = 0; b < count; ++b)
        for (uint32_t e = 0; e < nodes[b]->edges; ++e)
            for (uint32_t i = 0; i < nodes[b]->edge[e].domain->count; ++i) {
                Named *n = named(s, nodes[b]->edge[e].domain->set[i]);
                if (n->set) continue;
                *n = (Named){nodes[b]->edge[e].domain->set[i], s->sets};
                Member *slot = push(s->c, members, sizeof *slot);
                TRY(slot);
                *slot = (Member){n->set, s->sets++};
            }
    return true;
}

static bool make_atoms(Shared *s, const Vec *members) {
    Context *c = s->c;
    Grid *grid;
    TRY(partition(c, members->at, members->count, s->sets, &grid, &s->part, &s->atoms));
    TRY((s->domain = temp(c, s->atoms, sizeof *s->domain)) && (s->value = temp(c, s->atoms, sizeof(Value))));
    TRY((s->saved = temp(c, s->atoms, sizeof(Value))) && (s->of = temp(c, s->atoms, sizeof *s->of)));
    const size_t mark = c->high;
    for (uint32_t i = 0; i < s->atoms; ++i) {
        Vec sets = {0};
        TRY(part_sets(c, grid, s->part[i], &sets));
        TRY(s->domain[i] = domain(c, sets.at, sets.count));
        c->high = mark;
    }
    return true;
}

// Where a signal is 1.
static bool united(Shared *s, uint32_t signal, const Domain **out) {
    Context *c = s->c;
    const size_t mark = c->high;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->atoms; ++i)
        if (s->value[i].ones >> signal & 1) count += s->domain[i]->count;
    const Set **sets = temp(c, count, sizeof *sets);
    TRY(sets);
    count = 0;
    for (uint32_t i = 0; i < s->atoms; ++i)
        for (uint32_t k = 0; s->value[i].ones >> signal & 1 && k < s->domain[i]->count; ++k) sets[count++] = s->domain[i]->set[k];
    TRY(unite(c, sets, count, out));
    c->high = mark;
    return true;
}

static uint32_t column_of(Shared *s, uint32_t edge, Value v, uint32_t guess) {
    for (uint32_t i = 0; i < s->columns; ++i) {
        const uint32_t k = guess + i < s->columns ? guess + i : guess + i - s->columns;
        const Column *x = &s->column[k];
        if (x->edge == edge && x->value.ones == v.ones && x->value.zeros == v.zeros) return k;
    }
    s->column[s->columns] = (Column){edge, v};
    return s->columns++;
}

static bool make_columns(Shared *s) {
    TRY(s->column = temp(s->c, s->atoms, sizeof *s->column));
    memset(s->of, 0xff, s->atoms * sizeof *s->of);
    s->columns = 0;
    for (uint32_t e = 0; e < s->node->edges; ++e) {
        const Domain *d = s->node->edge[e].domain;
        uint32_t *numbers = temp(s->c, d->count, sizeof *numbers), last = 0;
        TRY(numbers);
        for (uint32_t k = 0; k < d->count; ++k) numbers[k] = named(s, d->set[k])->number;
        for (uint32_t i = 0; i < s->atoms; ++i)
            for (uint32_t k = 0; k < d->count; ++k)
                if (s->part[i]->key[numbers[k] / 32] >> numbers[k] % 32 & 1) {
                    last = s->of[i] = column_of(s, e, s->value[i], last);
                    break;
                }
    }
    TRY(s->same = temp(s->c, (size_t)s->columns * s->columns / 2, sizeof *s->same));
    TRY(s->need = temp(s->c, s->columns, sizeof *s->need));
    s->clashes = 0;
    for (uint32_t i = 0; i < s->columns; ++i)
        for (uint32_t k = 0; k < i; ++k) {
            const Column *a = &s->column[i], *b = &s->column[k];
            if (a->edge != b->edge) s->same[s->clashes++] = (a->value.ones & b->value.ones) | (a->value.zeros & b->value.zeros);
        }
    return true;
}

static Need need_of(const Shared *s, const Column *x) {
    Need n = {0, 0, x->edge};
    for (uint32_t i = 0; i < s->size; ++i) {
        n.code |= (uint32_t)(x->value.ones >> s->chosen[i] & 1) << i;
        n.free |= (uint32_t)(~(x->value.ones | x->value.zeros) >> s->chosen[i] & 1) << i;
    }
    return n;
}

static bool matches(const Need *n, uint32_t code) { return (code & ~n->free) == n->code; }

static uint32_t served(const Shared *s, const Need *n) {
    for (uint32_t i = 0; i >> s->size == 0; ++i) {
        const uint32_t code = s->code[i];
        if (matches(n, code) && s->table[code] == n->edge) return code;
    }
    return NONE;
}

// Codes for the needs from `at` on: as deep as there are codes.
static bool serve(Shared *s, uint32_t at) {
    while (at < s->needs && served(s, &s->need[at]) != NONE) ++at;
    if (at == s->needs) return true;
    for (uint32_t i = 0; i >> s->size == 0; ++i) {
        const uint32_t code = s->code[i];
        if (!matches(&s->need[at], code) || s->table[code] != NONE) continue;
        s->table[code] = s->need[at].edge;
        if (serve(s, at + 1)) return true;
        s->table[code] = NONE;
    }
    return false;
}

static int order(const Need *a, const Need *b) {
    const uint32_t x[] = {weight(a->free), a->free, a->code, a->edge}, y[] = {weight(b->free), b->free, b->code, b->edge};
    for (uint32_t i = 0; i < 4; ++i)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static void make_needs(Shared *s) {
    s->needs = 0;
    for (uint32_t k = 0; k < s->columns; ++k) {
        const Need n = need_of(s, &s->column[k]);
        uint32_t i = s->needs;
        while (i && order(&n, &s->need[i - 1]) < 0) --i;
        if (i && order(&n, &s->need[i - 1]) == 0) continue;
        memmove(s->need + i + 1, s->need + i, (s->needs - i) * sizeof n);
        s->need[i] = n;
        ++s->needs;
    }
}

// Fix the chosen signals in all atoms of the branch; *out where none then has more convex sets than the machine's.
static bool extend(Shared *s, bool *out) {
    const Int sets = s->c->s.limits.signal_sets;
    const uint32_t count = s->count;
    Signals all = 0, grown = 0;
    memcpy(s->saved, s->value, s->atoms * sizeof *s->value);
    for (uint32_t k = 0; k < s->size; ++k) all |= (Signals)1 << s->chosen[k];
    for (uint32_t i = 0; i < s->atoms; ++i) {
        if (s->of[i] == NONE) continue;
        const Need n = need_of(s, &s->column[s->of[i]]);
        const uint32_t code = served(s, &n);
        Signals ones = 0;
        for (uint32_t k = 0; k < s->size; ++k) ones |= (Signals)(code >> k & 1) << s->chosen[k];
        grown |= ones & ~s->value[i].ones;
        s->value[i].ones |= ones;
        s->value[i].zeros |= all & ~ones;
    }
    if (s->chosen[s->size - 1] >= count) s->count = s->chosen[s->size - 1] + 1;
    *out = true;
    for (uint32_t k = 0; k < s->size && sets >= 0 && *out; ++k) {
        const Domain *d;
        if (!(grown >> s->chosen[k] & 1)) continue;
        TRY(united(s, s->chosen[k], &d));
        *out = (Int)d->count <= sets;
    }
    if (*out) return true;
    memcpy(s->value, s->saved, s->atoms * sizeof *s->value);
    s->count = count;
    return true;
}

static bool try_choice(Shared *s, bool *out) {
    make_needs(s);
    memset(s->table, 0xff, sizeof *s->table << s->size);
    return serve(s, 0) ? extend(s, out) : true;
}

// The old signals that tell apart all that those chosen before do not.
static Signals separating(Shared *s, uint32_t chosen, Signals last) {
    Signals before = 0;
    for (uint32_t k = 0; k < chosen; ++k) before |= (Signals)1 << s->chosen[k];
    for (uint32_t i = 0; i < s->clashes && last; ++i) {
        const Signals same = s->same[i];
        if (before & ~same) continue;
        last &= ~same;
        if (last) continue;
        s->same[i] = s->same[i / 2];  // what rules out many comes early
        s->same[i / 2] = same;
    }
    return last;
}

// All choices of `old` signals that are in use, ascending, and of new ones up to `size`; as deep as a branch has flags.
static bool choose(Shared *s, uint32_t at, uint32_t old, bool *out) {
    if (at == old) {
        for (uint32_t k = old; k < s->size; ++k) s->chosen[k] = s->count + k - old;
        return try_choice(s, out);
    }
    const uint32_t first = at ? s->chosen[at - 1] + 1 : 0;
    Signals open = first >= s->count ? 0 : ~(Signals)0 >> (64 - (s->count - first)) << first;
    if (old == s->size && at + 1 == old) open = separating(s, at, open);
    for (; open && !*out; open &= open - 1) {
        s->chosen[at] = weight((open & -open) - 1);
        TRY(choose(s, at + 1, old, out));
    }
    return true;
}

static void resize(Shared *s, uint32_t size) {
    uint32_t count = 0;
    s->size = size;
    for (uint32_t ones = 0; ones <= size; ++ones)
        for (uint32_t code = 0; code >> size == 0; ++code)
            if (weight(code) == ones) s->code[count++] = (uint8_t)code;
}

// *out where a branch has got its signals.
static bool code(Shared *s, GraphNode *node, bool *out) {
    Context *c = s->c;
    const uint32_t flags = (uint32_t)min(min(c->s.limits.branch_flags, (Int)s->limit), FLAGS);
    uint32_t least = 0;
    while (node->edges > (uint32_t)1 << least) ++least;
    s->node = node;
    TRY(node->table = keep(c, (size_t)1 << flags, sizeof *node->table));
    s->table = node->table;
    const size_t mark = c->high;
    TRY(make_columns(s));
    for (uint32_t new = 0; new <= flags && s->count + new <= s->limit; ++new)
        for (uint32_t old = least > new ? least - new : 0; old + new <= flags; ++old) {
            resize(s, old + new);
            TRY(choose(s, 0, old, out));
            if (!*out) continue;
            node->signals = s->size;
            TRY(node->signal = keep(c, s->size, 1));
            for (uint32_t k = 0; k < s->size; ++k) node->signal[k] = (uint8_t)s->chosen[k];
            c->high = mark;
            return true;
        }
    c->high = mark;
    return true;
}

// *out where the signals of the machine suffice for all branches; if not, branches are spoilt.
bool share(Context *c, bool *out) {
    Shared *s = temp(c, 1, sizeof *s);
    uint32_t count = 0, most = 0;
    for (uint32_t g = 0; g < c->units; ++g)
        for (uint32_t v = 0; v < c->graph[g].nodes; ++v) count += c->graph[g].node[v].edges > 1;
    GraphNode **nodes = temp(c, count, sizeof *nodes);
    Vec members = {0};
    uint64_t cells;
    TRY(s && nodes);
    count = 0;
    for (uint32_t g = 0; g < c->units; ++g)
        for (uint32_t v = 0; v < c->graph[g].nodes; ++v)
            if (c->graph[g].node[v].edges > 1) {
                nodes[count++] = &c->graph[g].node[v];
                if (nodes[count - 1]->edges > most) most = nodes[count - 1]->edges;
            }
    s->c = c;
    s->limit = (uint32_t)min(c->s.limits.control_signals, MOST);
    *out = false;
    TRY(number_sets(s, nodes, count, &members) && cells_of(c, members.at, members.count, &cells));
    if (cells * s->sets > WORK) return true;
    TRY(make_atoms(s, &members));
    for (; most > 1; --most)
        for (uint32_t b = 0; b < count; ++b) {
            if (nodes[b]->edges != most) continue;
            *out = false;
            TRY(code(s, nodes[b], out));
            if (!*out) return true;
        }
    c->signals = s->count;
    TRY(c->signal = keep(c, c->signals, sizeof *c->signal));
    for (uint32_t i = 0; i < c->signals; ++i) TRY(united(s, i, &c->signal[i]));
    return true;
}
