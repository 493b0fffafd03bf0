// SPDX-License-Identifier: Apache-2.0
// Control signals for machines with few of them: a branch may be any function of some signals. Steps that no transition
// set tells apart are one atom. Branches are coded one after another, those of most successors first, each by the first
// choice of signals, with the fewest new ones and then the fewest, for which some table from codes to successors serves
// all atoms of the branch. Codes that no atom needs lead where a neighbouring code does, so that a signal is fixed only
// where it matters to some branch.
#include "internal.h"

#define MOST 64  // signals, sets of which are words, and codes
#define FLAGS 6
#define CLASHES 64       // that are remembered
#define WORK (1u << 26)  // cells times transition sets: where they are more, nothing is shared

typedef uint64_t Signals;

// The signals that are 1 in some atoms, and those that are 0.
typedef struct {
    Signals ones, zeros;
} Value;

// Atoms of one successor in which the same signals are fixed.
typedef struct {
    Value value, fixed;  // what they are, and what the branch makes of them
    uint32_t edge, count;
} Column;

// A code whose bits in `free` do not matter, and where it has to lead.
typedef struct {
    uint32_t free, code, edge;
} Need;

// A branch, and the sets of its edges, by number.
typedef struct {
    GraphNode *node;
    const uint32_t *set;
    uint32_t atoms;
} Branch;

typedef struct {
    Context *c;
    uint32_t sets, atoms, count, limit;
    Part **part;
    const Domain **domain;  // by atom, as all arrays of atoms
    Value *value, *saved;
    // Of the branch in hand.
    uint32_t met, *atom, *of;  // the atoms that it meets, and the column of each
    uint32_t columns, buckets, *bucket;
    Column *column;
    uint32_t clashes, oldest;
    Signals clash[CLASHES];  // more successors than the new signals tell apart are in atoms that agree in these signals
    Signals full;            // signals that would get too many convex sets
    uint64_t *present;       // by code of the old signals and by which of them are free: the ranks of successors of
                             // such atoms
    uint32_t rank[MOST], ranked[MOST];  // of each successor, the most frequent one first, and back
    Need *need;
    uint32_t needs, size, old;
    uint32_t chosen[MOST], table[MOST];
    uint8_t code[MOST];  // those of few ones first, then in ascending order
} Shared;

static uint32_t weight(uint64_t x) {
    uint32_t count = 0;
    for (; x; x &= x - 1) ++count;
    return count;
}

// Numbers every distinct transition set: each is a family of its own.
static bool number_sets(Shared *s, Branch *branch, Vec *members) {
    Context *c = s->c;
    uint32_t count = 0;
    for (const Edge *e = branch->node->edge; e < branch->node->edge + branch->node->edges; ++e) count += e->sets;
    uint32_t *number = temp(c, count, sizeof *number);
    TRY(number);
    branch->set = number;
    for (Walk w = walk(branch->node); more(&w); ++number) {
        const Set *made = unpacked(c, &w.at), *set;
        TRY(made && (set = lasting(c, made)));
        while (*number < s->sets && ((Member *)members->at)[*number].set != set) ++*number;
        if (*number < s->sets) continue;
        Member *slot = push(c, members, sizeof *slot);
        TRY(slot);
        *slot = (Member){set, s->sets++};
    }
    return true;
}

static bool make_atoms(Shared *s, const Vec *members) {
    Context *c = s->c;
    Grid *grid;
    TRY(partition(c, members->at, members->count, s->sets, &grid, &s->part, &s->atoms));
    TRY((s->domain = temp(c, s->atoms, sizeof *s->domain)) && (s->value = temp(c, s->atoms, sizeof(Value))));
    for (s->buckets = 16; s->buckets < 2 * s->atoms;) s->buckets *= 2;
    TRY((s->saved = temp(c, s->atoms, sizeof(Value))) && (s->bucket = temp(c, s->buckets, sizeof *s->bucket)));
    TRY((s->atom = temp(c, s->atoms, sizeof *s->atom)) && (s->of = temp(c, s->atoms, sizeof *s->of)) &&
        (s->column = temp(c, s->atoms, sizeof *s->column)));
    TRY((s->present = temp(c, MOST * MOST, sizeof *s->present)) && (s->need = temp(c, s->atoms, sizeof *s->need)));
    const size_t mark = c->high;
    for (uint32_t i = 0; i < s->atoms; ++i) {
        Vec sets = {0};
        TRY(part_sets(c, grid, s->part[i], &sets));
        TRY(s->domain[i] = domain(c, sets.at, sets.count));
        c->high = mark;
    }
    return true;
}

// The domain in which a signal is 1.
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
        for (uint32_t k = 0; s->value[i].ones >> signal & 1 && k < s->domain[i]->count; ++k)
            sets[count++] = s->domain[i]->set[k];
    TRY(unite(c, sets, count, out));
    c->high = mark;
    return true;
}

static uint32_t column_of(Shared *s, uint32_t edge, Value v) {
    const uint32_t mask = s->buckets - 1;
    uint32_t at = hash(edge, &v, sizeof v) & mask;
    for (; s->bucket[at] != NONE; at = (at + 1) & mask) {
        Column *x = &s->column[s->bucket[at]];
        if (x->edge != edge || x->value.ones != v.ones || x->value.zeros != v.zeros) continue;
        ++x->count;
        return s->bucket[at];
    }
    s->column[s->columns] = (Column){v, v, edge, 1};
    return s->bucket[at] = s->columns++;
}

// The atoms that a branch meets.
static void meet(Shared *s, const Branch *b) {
    const uint32_t *number = b->set;
    s->met = s->columns = 0;
    memset(s->bucket, 0xff, s->buckets * sizeof *s->bucket);
    for (uint32_t e = 0; e < b->node->edges; number += b->node->edge[e++].sets)
        for (uint32_t i = 0; i < s->atoms; ++i)
            for (uint32_t k = 0; k < b->node->edge[e].sets; ++k)
                if (s->part[i]->key[number[k] / 32] >> number[k] % 32 & 1) {
                    s->atom[s->met] = i;
                    s->of[s->met++] = column_of(s, e, s->value[i]);
                    break;
                }
}

// Ranks the successors of a branch by how many atoms lead to them.
static void rank(Shared *s, const GraphNode *v) {
    uint32_t count[MOST] = {0};
    for (uint32_t k = 0; k < s->columns; ++k) count[s->column[k].edge] += s->column[k].count;
    for (uint32_t e = 0; e < v->edges; ++e) {
        uint32_t i = e;
        for (; i && count[s->ranked[i - 1]] < count[e]; --i) s->ranked[i] = s->ranked[i - 1];
        s->ranked[i] = e;
    }
    for (uint32_t i = 0; i < v->edges; ++i) s->rank[s->ranked[i]] = i;
}

// What the atoms of a column ask of a table over the chosen signals. Those from `old` on are new, and free everywhere.
static Need need_of(const Shared *s, const Column *from) {
    const Value v = from->value;
    Need x = {(1u << s->size) - (1u << s->old), 0, from->edge};
    for (uint32_t i = 0; i < s->old; ++i) {
        x.code |= (uint32_t)(v.ones >> s->chosen[i] & 1) << i;
        x.free |= (uint32_t)(~(v.ones | v.zeros) >> s->chosen[i] & 1) << i;
    }
    return x;
}

static bool matches(const Need *n, uint32_t code) { return (code & ~n->free) == n->code; }

static uint32_t served(const Shared *s, const Need *n) {
    for (uint32_t i = 0; i >> s->size == 0; ++i) {
        const uint32_t code = s->code[i];
        if (matches(n, code) && s->table[code] == n->edge) return code;
    }
    return NONE;
}

// Finds codes for the needs from `at` on, by backtracking as deep as there are codes.
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

// Remembers signals in which atoms of more successors agree than new signals can tell apart: a choice of none but such
// signals fails in the same way.
static void learn(Shared *s, uint32_t code, uint64_t edges) {
    Signals ones = ~(Signals)0, zeros = ~(Signals)0;
    uint32_t left = (1u << (s->size - s->old)) + 1;
    for (const Column *k = s->column; left; ++k) {
        const Need x = need_of(s, k);
        if (x.free != (1u << s->size) - (1u << s->old) || x.code != code || !(edges >> s->rank[x.edge] & 1)) continue;
        edges &= ~((uint64_t)1 << s->rank[x.edge]);
        ones &= k->value.ones;
        zeros &= k->value.zeros;
        --left;
    }
    s->clash[s->oldest] = ones | zeros;
    s->oldest = (s->oldest + 1) % CLASHES;
    if (s->clashes < CLASHES) ++s->clashes;
}

// What the table has to serve; false where a code has more successors than the new signals tell apart.
static bool make_needs(Shared *s) {
    const uint32_t fresh = (1u << s->size) - (1u << s->old), codes = 1u << s->old;
    memset(s->present, 0, (size_t)codes * codes * sizeof *s->present);
    for (uint32_t k = 0; k < s->columns; ++k) {
        const Need x = need_of(s, &s->column[k]);
        uint64_t *edges = &s->present[(x.free & ~fresh) * codes + x.code];
        *edges |= (uint64_t)1 << s->rank[x.edge];
        if (x.free != fresh || weight(*edges) <= 1u << (s->size - s->old)) continue;
        learn(s, x.code, *edges);
        return false;
    }
    s->needs = 0;
    for (uint32_t i = 0; i >> s->size == 0; ++i) {
        const uint32_t free = s->code[i];
        for (uint32_t code = 0; free < codes && code < codes; ++code)
            for (uint64_t edges = s->present[free * codes + code]; edges; edges &= edges - 1)
                s->need[s->needs++] = (Need){free | fresh, code, s->ranked[weight((edges & -edges) - 1)]};
    }
    return true;
}

// A code that no atom needs leads where a neighbour does, of these the one that most atoms need: the bit between them
// does not matter then.
static void fill(Shared *s) {
    uint32_t count[MOST] = {0};
    for (uint32_t k = 0; k < s->columns; ++k) count[s->column[k].edge] += s->column[k].count;
    for (;;) {
        uint32_t best = NONE, edge = NONE;
        for (uint32_t code = 0; code >> s->size == 0; ++code)
            for (uint32_t k = 0; k < s->size && s->table[code] == NONE; ++k) {
                const uint32_t e = s->table[code ^ 1u << k];
                if (e == NONE || (best != NONE && count[e] <= count[edge])) continue;
                best = code;
                edge = e;
            }
        if (best == NONE) return;
        s->table[best] = edge;
    }
}

static bool leads(const Shared *s, uint32_t free, uint32_t code, uint32_t edge) {
    for (uint32_t x = free;; x = (x - 1) & free) {
        if (s->table[code | x] != edge) return false;
        if (!x) return true;
    }
}

// The same need with the fewest bits that matter.
static Need widest(const Shared *s, Need n) {
    for (uint32_t i = 1u << s->size; i--;)
        for (uint32_t k = 0; !(s->code[i] & ~n.free) && k >> s->size == 0; ++k)
            if (!(s->code[k] & s->code[i]) && matches(&n, s->code[k]) && leads(s, s->code[i], s->code[k], n.edge))
                return (Need){s->code[i], s->code[k], n.edge};
    return n;
}

static Signals picked(const Shared *s, uint32_t bits) {
    Signals out = 0;
    for (uint32_t k = 0; k < s->size; ++k) out |= (Signals)(bits >> k & 1) << s->chosen[k];
    return out;
}

// Fix the chosen signals where they matter; *out where none then has more convex sets than the machine's.
static bool extend(Shared *s, bool *out) {
    const Int sets = s->c->s.limits.signal_sets;
    Signals grown = 0;
    memcpy(s->saved, s->value, s->atoms * sizeof *s->value);
    fill(s);
    for (uint32_t k = 0; k < s->columns; ++k) {
        const Need wide = widest(s, need_of(s, &s->column[k]));
        s->column[k].fixed = (Value){picked(s, wide.code), picked(s, ~(wide.code | wide.free))};
        grown |= s->column[k].fixed.ones & ~s->column[k].value.ones;
    }
    for (uint32_t n = 0; n < s->met; ++n) {
        s->value[s->atom[n]].ones |= s->column[s->of[n]].fixed.ones;
        s->value[s->atom[n]].zeros |= s->column[s->of[n]].fixed.zeros;
    }
    *out = !(grown & s->full);
    for (uint32_t k = 0; k < s->size && sets >= 0 && *out; ++k) {
        const Domain *d;
        if (!(grown >> s->chosen[k] & 1)) continue;
        TRY(united(s, s->chosen[k], &d));
        *out = (Int)d->count <= sets;
        if (!*out) s->full |= (Signals)1 << s->chosen[k];
    }
    if (*out)
        s->count += s->size - s->old;
    else
        memcpy(s->value, s->saved, s->atoms * sizeof *s->value);
    return true;
}

static bool try_choice(Shared *s, bool *out) {
    if (!make_needs(s)) return true;
    memset(s->table, 0xff, sizeof *s->table << s->size);
    return serve(s, 0) ? extend(s, out) : true;
}

// Leaves, of the candidates for the last signal, those that tell apart what the remembered failures say must be told
// apart.
static Signals separating(const Shared *s, uint32_t chosen, Signals last) {
    Signals before = 0;
    for (uint32_t k = 0; k < chosen; ++k) before |= (Signals)1 << s->chosen[k];
    for (uint32_t i = 0; i < s->clashes && last; ++i)
        if (!(before & ~s->clash[i])) last &= ~s->clash[i];
    return last;
}

// Tries all choices of `old` signals that are in use, ascending, with new ones up to `size`; as deep as a branch has
// flags.
static bool choose(Shared *s, uint32_t at, bool *out) {
    if (at == s->old) {
        for (uint32_t k = at; k < s->size; ++k) s->chosen[k] = s->count + k - at;
        return try_choice(s, out);
    }
    const uint32_t first = at ? s->chosen[at - 1] + 1 : 0;
    Signals open = first >= s->count ? 0 : ~(Signals)0 >> (64 - (s->count - first)) << first;
    for (; open && !*out; open &= open - 1) {
        if (at + 1 == s->old && !(open = separating(s, at, open))) break;
        s->chosen[at] = weight((open & -open) - 1);
        TRY(choose(s, at + 1, out));
    }
    return true;
}

static void resize(Shared *s, uint32_t old, uint32_t new) {
    uint32_t count = 0;
    s->old = old;
    s->size = old + new;
    for (uint32_t ones = 0; ones <= s->size; ++ones)
        for (uint32_t code = 0; code >> s->size == 0; ++code)
            if (weight(code) == ones) s->code[count++] = (uint8_t)code;
}

// Gives a branch its signals, if it can; *out tells.
static bool code(Shared *s, const Branch *b, bool *out) {
    Context *c = s->c;
    GraphNode *node = b->node;
    const uint32_t flags = (uint32_t)min(min(c->s.limits.branch_flags, (Int)s->limit), FLAGS);
    uint32_t least = 0;
    while (node->edges > (uint32_t)1 << least) ++least;
    s->full = 0;
    meet(s, b);
    rank(s, node);
    for (uint32_t new = 0; new <= flags && s->count + new <= s->limit; ++new) {
        s->clashes = s->oldest = 0;
        for (uint32_t old = least > new ? least - new : 0; old + new <= flags; ++old) {
            resize(s, old, new);
            TRY(choose(s, 0, out));
            if (!*out) continue;
            node->signals = (uint8_t)s->size;
            node->shared = true;
            const Edge *edge = node->edge;
            TRY(node->edge =
                    keep(c, node->edges * sizeof *edge + (s->size + ((size_t)1 << s->size)) * sizeof(uint16_t), 1));
            memcpy(node->edge, edge, node->edges * sizeof *edge);
            for (uint32_t k = 0; k < s->size; ++k) signals_of(node)[k] = (uint16_t)s->chosen[k];
            return true;
        }
    }
    return true;
}

// The codes that a branch meets, once all signals are known.
static void settle(Shared *s, const Branch *b) {
    uint16_t *signal = signals_of(b->node), *edge = signal + b->node->signals;
    meet(s, b);
    memset(edge, NOWHERE, sizeof *edge << b->node->signals);
    for (uint32_t n = 0; n < s->met; ++n) {
        uint32_t code = 0;
        for (uint32_t k = 0; k < b->node->signals; ++k)
            code |= (uint32_t)(s->value[s->atom[n]].ones >> signal[k] & 1) << k;
        edge[code] = (uint16_t)s->column[s->of[n]].edge;
    }
}

// Sorts branches: most successors first, then those that meet fewest atoms.
static void sort(Shared *s, Branch *branch, uint32_t count) {
    for (uint32_t b = 0; b < count; ++b) {
        Branch made = branch[b];
        uint32_t k = b;
        meet(s, &made);
        made.atoms = s->met;
        for (; k && (branch[k - 1].node->edges < made.node->edges ||
                     (branch[k - 1].node->edges == made.node->edges && branch[k - 1].atoms > made.atoms));
             --k)
            branch[k] = branch[k - 1];
        branch[k] = made;
    }
}

// *out where the machine's signals suffice for all branches; if not, the branches are unusable.
bool share(Context *c, bool *out) {
    Shared *s = temp(c, 1, sizeof *s);
    uint32_t count = 0;
    for (uint32_t g = 0; g < c->units; ++g)
        for (uint32_t v = 0; v < c->graph[g].nodes; ++v) count += c->graph[g].node[v].edges > 1;
    Branch *branch = temp(c, count, sizeof *branch);
    Vec members = {0};
    uint64_t cells;
    TRY(s && branch);
    s->c = c;
    s->limit = (uint32_t)min(c->s.limits.control_signals, MOST);
    count = 0;
    for (uint32_t g = 0; g < c->units; ++g)
        for (uint32_t v = 0; v < c->graph[g].nodes; ++v) {
            if (c->graph[g].node[v].edges < 2) continue;
            branch[count].node = &c->graph[g].node[v];
            TRY(number_sets(s, &branch[count++], &members));
        }
    *out = false;
    TRY(cells_of(c, members.at, members.count, &cells));
    if (cells * s->sets > WORK) return true;
    TRY(make_atoms(s, &members));
    sort(s, branch, count);
    for (uint32_t b = 0; b < count; ++b) {
        *out = false;
        TRY(code(s, &branch[b], out));
        if (!*out) return true;
    }
    for (uint32_t b = 0; b < count; ++b) settle(s, &branch[b]);
    c->signals = s->count;
    TRY(c->signal = keep(c, c->signals, sizeof *c->signal));
    for (uint32_t i = 0; i < c->signals; ++i) {
        const size_t low = c->low;
        const Domain *d;
        TRY(united(s, i, &d) && pool_signal(c, d, low, i));
    }
    return true;
}
