// SPDX-License-Identifier: Apache-2.0
// Processor classes: elements whose specialized syntax trees are equal (the paper, section 6.1, Algorithm 1). A
// destination whose port drives nothing takes the pattern of the nearest element that does drive it, because words that
// nobody reads should not make a class.
#include "internal.h"

// A register or constant that a position of an instruction names, and a piece of the iterations in which it does.
typedef struct {
    uint64_t source;
    Piece piece;
} Owned;

typedef struct {
    uint32_t unit, tau, opcode, first;
} Instruction;

static uint64_t source(uint32_t file, uint32_t number) { return (uint64_t)file << 32 | number; }

// By group, whether a condition has iterations.
static bool hold(Context *c, uint32_t number, bool *there) {
    for (uint32_t g = 0; g < c->groups; ++g) {
        const Domain *d;
        TRY(condition(c, number, g, &d));
        there[g] = d->count > 0;
    }
    return true;
}

static bool arrive(Context *c, uint32_t u, const Link *link) {
    const Piece p = reads(c, &c->s.use[u], link);
    const size_t mark = c->high;
    for (uint32_t g = 0; g < c->groups; ++g) {
        Vec sets = {0};
        TRY(piece_sets(c, &p, g, &sets));
        if (sets.count) c->arriving[link->number][g] = true;
        c->high = mark;
    }
    return true;
}

// Which tiles are not empty, and over which routes and output registers tokens pass.
bool make_traffic(Context *c) {
    TRY((c->occupied = keep(c, c->groups, 1)) && (c->accessing = keep(c, c->s.conditions, sizeof *c->accessing)));
    TRY(c->arriving = keep(c, c->candidate->routes, sizeof *c->arriving));
    for (uint32_t v = 0; v < c->s.nodes; ++v) {
        bool **there = &c->accessing[c->s.node[v].condition];
        TRY(*there || (*there = keep(c, c->groups, 1)));
    }
    for (uint32_t r = 0; r < c->candidate->routes; ++r) TRY(c->arriving[r] = keep(c, c->groups, 1));
    const size_t low = c->low;
    for (uint32_t k = 0; k < c->s.conditions; ++k) {
        if (!c->accessing[k]) continue;
        TRY(hold(c, k, c->accessing[k]));
        for (uint32_t g = 0; g < c->groups; ++g) c->occupied[g] = c->occupied[g] || c->accessing[k][g];
    }
    for (uint32_t u = 0; u < c->s.uses; ++u)
        for (uint32_t i = 0; i < c->candidate->links[u].count; ++i)
            if (c->candidate->links[u].at[i].kind == CHANNEL) TRY(arrive(c, u, &c->candidate->links[u].at[i]));
    forget(c, low);
    return ok(c);
}

// Whether an element sends tokens over a route.
bool leaving(Context *c, const Route *r, Int row, Int column) {
    const Int rows = c->t->rows, columns = c->t->columns, to[2] = {row + r->theta.rows, column + r->theta.columns};
    if (row < 0 || column < 0 || row >= rows || column >= columns || to[0] < 0 || to[1] < 0 || to[0] >= rows ||
        to[1] >= columns)
        return false;
    return c->arriving[r - c->candidate->route][group_at(c, (uint32_t)to[0], (uint32_t)to[1])] &&
           c->occupied[group_at(c, (uint32_t)row, (uint32_t)column)];
}

bool driven(Context *c, uint32_t reg, const Cell *cell) {
    for (uint32_t o = 0; o < c->s.outputs; ++o)
        if (c->candidate->output[o] == reg && c->accessing[c->s.node[c->s.output[o].node].condition][cell->group])
            return true;
    for (uint32_t r = 0; r < c->candidate->routes; ++r)
        if (c->candidate->route[r].output == reg && leaving(c, &c->candidate->route[r], cell->row, cell->column))
            return true;
    return false;
}

// The instructions, by unit and offset, then by first equation. Equations with the same unit, offset and operation
// share an instruction; its operands then depend on the iteration.
static Instruction *instructions(Context *c, uint32_t *count) {
    const Schedule *p = c->schedule;
    Instruction *at = temp(c, c->s.nodes, sizeof *at);
    *count = 0;
    for (uint32_t v = 0; at && v < c->s.nodes; ++v) {
        const Instruction made = {p->unit[v], p->tau[v], c->s.node[v].opcode, v};
        uint32_t i = 0;
        while (i < *count && (at[i].unit != made.unit || at[i].tau != made.tau || at[i].opcode != made.opcode)) ++i;
        if (i < *count) continue;
        for (i = (*count)++;
             i && (at[i - 1].unit > made.unit || (at[i - 1].unit == made.unit && at[i - 1].tau > made.tau)); --i)
            at[i] = at[i - 1];
        at[i] = made;
    }
    return at;
}

static bool executes(const Context *c, const Instruction *i, uint32_t v) {
    return c->schedule->unit[v] == i->unit && c->schedule->tau[v] == i->tau && c->s.node[v].opcode == i->opcode;
}

static bool own(Context *c, Vec *out, uint64_t fragment, Piece p) {
    return add_item(c, out, &(Owned){fragment, p}, sizeof(Owned));
}

static uint64_t carrier(const Context *c, const Link *link, bool reading) {
    if (link->kind != CHANNEL) return source(link->kind == GENERAL ? RD : FD, link->number);
    const Route *r = &c->candidate->route[link->number];
    return source(IO, reading ? r->input : r->output);
}

static bool sources(Context *c, const Instruction *instruction, uint32_t position, Vec *out) {
    for (uint32_t v = instruction->first; v < c->s.nodes; ++v) {
        if (!executes(c, instruction, v)) continue;
        const Operand o = c->s.node[v].operand[position];
        const Piece whole = {.condition = c->s.node[v].condition};
        if (o.kind != USE) {
            TRY(own(c, out, o.kind == IMMEDIATE ? source(CONSTANT, o.value) : source(IO, c->candidate->input[o.value]),
                    whole));
            continue;
        }
        const Links *l = &c->candidate->links[o.value];
        for (uint32_t i = 0; i < l->count; ++i)
            TRY(own(c, out, carrier(c, &l->at[i], true), reads(c, &c->s.use[o.value], &l->at[i])));
    }
    return true;
}

static bool destinations(Context *c, const Instruction *instruction, Vec *out) {
    for (uint32_t v = instruction->first; v < c->s.nodes; ++v) {
        if (!executes(c, instruction, v)) continue;
        const Node *n = &c->s.node[v];
        if (n->output != NONE) {
            TRY(own(c, out, source(IO, c->candidate->output[n->output]), (Piece){.condition = n->condition}));
            continue;
        }
        for (uint32_t u = 0; u < c->s.uses; ++u) {
            const Use *use = &c->s.use[u];
            const Links *l = &c->candidate->links[u];
            for (uint32_t w = 0; w < use->writers; ++w)
                for (uint32_t i = 0; i < l->count && use->writer[w].node == v; ++i) {
                    Piece p = transferred(c, use->writer[w].condition, use, l->at[i].theta, true);
                    p.widens = l->at[i].kind == CHANNEL;
                    p.widen = l->at[i].theta;
                    TRY(own(c, out, carrier(c, &l->at[i], false), p));
                }
        }
    }
    return true;
}

// The group of the element nearest to this one that has a tile so many rows and columns away; the group of this element
// where there is none.
static uint32_t clamped(Context *c, int rows, int columns, const Cell *cell) {
    const int step[2] = {rows, columns};
    const uint32_t at[2] = {cell->row, cell->column};
    Int moved[2];
    for (int axis = 0; axis < 2; ++axis) {
        const uint32_t m = c->candidate->axis[axis];
        const Int count = m == NONE ? 1 : c->t->tiles[m];
        if (step[axis] && count <= 1) return cell->group;
        moved[axis] = min(max(at[axis], max(0, -step[axis])), count - 1 - max(0, step[axis]));
    }
    return group_at(c, (uint32_t)moved[0], (uint32_t)moved[1]);
}

// The union of the sets of all pieces of a fragment. Often they are just the sets in which the instruction issues; then
// `out` is right as it is.
static bool united(Context *c, const Vec *owned, uint64_t fragment, uint32_t group, const Vec *issues,
                   const Domain **out) {
    Vec sets = {0};
    for (uint32_t i = 0; i < owned->count; ++i) {
        const Owned *o = (Owned *)owned->at + i;
        if (o->source == fragment) TRY(piece_sets(c, &o->piece, group, &sets));
    }
    const bool same = sets.count == issues->count && same_bytes(sets.at, issues->at, sets.count * sizeof(Set *));
    return same || unite(c, sets.at, sets.count, out);
}

// What a destination that drives nothing here is taken to be: its pattern in the nearest element that drives it, within
// this element's issues.
static bool widened(Context *c, const Vec *owned, uint64_t fragment, const Cell *cell, const Domain *issues,
                    const Domain **out) {
    Vec sets = {0}, inside = {0};
    for (uint32_t i = 0; i < owned->count; ++i) {
        const Owned *o = (Owned *)owned->at + i;
        if (o->source == fragment && o->piece.widens)
            TRY(piece_sets(c, &o->piece, clamped(c, o->piece.widen.rows, o->piece.widen.columns, cell), &sets));
    }
    for (uint32_t i = 0; i < sets.count; ++i)
        for (uint32_t k = 0; k < issues->count; ++k) {
            const Set *s;
            TRY(intersect(c, ((const Set **)sets.at)[i], issues->set[k], &s));
            if (!s) continue;
            TRY(append(c, &inside, s));
        }
    return unite(c, inside.at, inside.count, out);
}

static bool sends(const Vec *owned, uint64_t fragment) {
    for (uint32_t i = 0; i < owned->count; ++i)
        if (((Owned *)owned->at)[i].source == fragment && ((Owned *)owned->at)[i].piece.widens) return true;
    return false;
}

// The distinct fragments, in the order of first occurrence or, if `sorted`, by register.
static bool fragments(Context *c, const Vec *owned, bool sorted, Vec *out) {
    for (uint32_t i = 0; i < owned->count; ++i) {
        TRY(once(c, out, &((Owned *)owned->at)[i].source, sizeof(uint64_t)));
        uint64_t *at = out->at;
        for (uint32_t k = out->count - 1; sorted && k && at[k - 1] > at[k]; --k) {
            const uint64_t s = at[k];
            at[k] = at[k - 1];
            at[k - 1] = s;
        }
    }
    return true;
}

static bool add_fragment(Context *c, Vec *found, uint32_t position, uint64_t s, const Domain *d) {
    if (!d->count) return true;
    if (s >> 32 != CONSTANT && (s & 0xFFFFFFFF) >= 64)
        return refuse(c, 706, POLYLOOM_FIELD, 1, (Int)(s & 0x7FFFFFFF), 64);
    return add_item(c, found, &(Fragment){(uint8_t)position, (uint8_t)(s >> 32), (uint32_t)s, d}, sizeof(Fragment));
}

static bool specialize_one(Context *c, const Instruction *instruction, const Cell *cell, Operation *out) {
    const uint32_t group = cell->group;
    Vec issues = {0}, found = {0};
    for (uint32_t v = instruction->first; v < c->s.nodes; ++v)
        if (executes(c, instruction, v))
            TRY(piece_sets(c, &(Piece){.condition = c->s.node[v].condition}, group, &issues));
    TRY(unite(c, issues.at, issues.count, &out->domain));
    out->tau = instruction->tau;
    out->opcode = instruction->opcode & 1023;
    if (!out->domain->count) return true;
    const uint32_t arity = c->s.node[instruction->first].arity;
    for (uint32_t position = 0; position <= arity; ++position) {
        const bool writes = position == arity;
        Vec owned = {0}, names = {0};
        TRY(writes ? destinations(c, instruction, &owned) : sources(c, instruction, position, &owned));
        TRY(fragments(c, &owned, writes, &names));
        for (uint32_t i = 0; i < names.count; ++i) {
            const uint64_t s = ((uint64_t *)names.at)[i];
            const Domain *d = out->domain;
            if (writes && sends(&owned, s) && !driven(c, (uint32_t)s, cell))
                TRY(widened(c, &owned, s, cell, out->domain, &d));
            else
                TRY(united(c, &owned, s, group, &issues, &d));
            TRY(add_fragment(c, &found, writes ? WRITTEN : position, s, d));
        }
    }
    if (found.count >> 22) return fail(c, POLYLOOM_OVERFLOW, 0);
    out->fragments = found.count & 0x3FFFFF;
    out->fragment = found.at;
    return true;
}

// A tree of a unit of a class, packed.
typedef struct {
    uint32_t class_, unit, size;
    uint8_t bytes[];
} Tree;

typedef struct {
    Tree **at;
    uint32_t count;
} Trees;

// The number of an equal tree in the list, to which it is added if there is none; NONE for a tree without operations.
// Gives back what is temporary from `mark` on.
static bool number_of(Context *c, Trees *trees, const UnitTree *tree, uint32_t class_, uint32_t unit, size_t mark,
                      uint32_t *out) {
    *out = NONE;
    if (!tree->operations) return true;
    const size_t size = pack_tree(c, tree, NULL);
    Tree *made = temp(c, 1, sizeof *made + size);
    TRY(made);
    *made = (Tree){class_, unit, (uint32_t)size};
    pack_tree(c, tree, made->bytes);
    c->high = mark;
    for (*out = 0; *out < trees->count; ++*out)
        if (trees->at[*out]->size == size && same_bytes(trees->at[*out]->bytes, made->bytes, size)) return true;
    trees->at[trees->count++] = shrink(c, made, mark, sizeof *made + size);
    return true;
}

// The syntax tree of a unit in the elements of a cell, in temporary memory.
static bool specialize(Context *c, const Instruction *at, uint32_t count, uint32_t unit, const Cell *cell,
                       UnitTree *out) {
    Vec made = {0};
    for (uint32_t i = 0; i < count; ++i) {
        if (at[i].unit != unit) continue;
        Operation one = {0};
        TRY(specialize_one(c, &at[i], cell, &one));
        if (!one.domain->count) continue;
        TRY(add_item(c, &made, &one, sizeof one));
    }
    *out = (UnitTree){.operations = made.count, .operation = made.at};
    return true;
}

// A port that sends to neighbours, of one unit.
typedef struct {
    uint32_t unit, reg;
    int32_t rows, columns;
} Sender;

static bool senders(Context *c, const Instruction *at, uint32_t count, Vec *out) {
    for (uint32_t i = 0; i < count; ++i) {
        Vec owned = {0};
        TRY(destinations(c, &at[i], &owned));
        for (uint32_t k = 0; k < owned.count; ++k) {
            const Owned *o = (Owned *)owned.at + k;
            const Displacement theta = o->piece.widen;
            if (o->piece.widens)
                TRY(once(c, out, &(Sender){at[i].unit, (uint32_t)o->source, theta.rows, theta.columns},
                         sizeof(Sender)));
        }
    }
    return true;
}

// Elements with equal marks. A mark is a number per unit that groups share if they agree on all conditions of the unit,
// and one per sending port that drives nothing here, of the element whose pattern it takes. Equal marks give equal
// trees, so that one element of a kind is specialized for all.
typedef struct Kind {
    struct Kind *next;
    uint32_t tuple;
    const Cell *cell;  // the first one
    uint32_t *marks;
} Kind;

typedef struct {
    Instruction *at;
    uint32_t count;
    Vec senders;
    uint32_t **alike;  // by unit, by group
    uint32_t length;
    Vec kinds;  // Kind *
    Kind *buckets[BUCKETS];
} Classifier;

static bool label_units(Context *c, Classifier *k) {
    TRY(k->alike = temp(c, c->s.units, sizeof *k->alike));
    bool *used = temp(c, c->s.conditions, 1);
    TRY(used);
    for (uint32_t unit = 0; unit < c->s.units; ++unit) {
        memset(used, 0, c->s.conditions);
        for (uint32_t i = 0; i < k->count; ++i) {
            if (k->at[i].unit != unit) continue;
            const size_t mark = c->high;
            Vec owned = {0};
            for (uint32_t position = 0; position < c->s.node[k->at[i].first].arity; ++position)
                TRY(sources(c, &k->at[i], position, &owned));
            TRY(destinations(c, &k->at[i], &owned));
            for (uint32_t j = 0; j < owned.count; ++j) used[((Owned *)owned.at)[j].piece.condition] = true;
            for (uint32_t v = 0; v < c->s.nodes; ++v)
                if (executes(c, &k->at[i], v)) used[c->s.node[v].condition] = true;
            c->high = mark;
        }
        TRY(k->alike[unit] = alike(c, used));
    }
    return true;
}

static void mark(Context *c, const Classifier *k, const Cell *cell, uint32_t *marks) {
    uint32_t *at = marks;
    for (uint32_t unit = 0; unit < c->s.units; ++unit) *at++ = k->alike[unit][cell->group];
    for (uint32_t i = 0; i < k->senders.count; ++i) {
        const Sender *s = (Sender *)k->senders.at + i;
        *at++ = driven(c, s->reg, cell) ? NONE : k->alike[s->unit][clamped(c, s->rows, s->columns, cell)];
    }
}

static Kind *kind_of(Context *c, Classifier *k, const Cell *cell, uint32_t *marks) {
    mark(c, k, cell, marks);
    const size_t bytes = k->length * sizeof *marks;
    Kind **bucket = &k->buckets[hash(2166136261u, marks, bytes) % BUCKETS];
    for (Kind *p = *bucket; p; p = p->next)
        if (same_bytes(p->marks, marks, bytes)) return p;
    Kind *made = temp(c, 1, sizeof *made), **slot = push(c, &k->kinds, sizeof *slot);
    if (!made || !slot || !(made->marks = temp(c, k->length, sizeof *marks))) return NULL;
    memcpy(made->marks, marks, bytes);
    made->cell = cell;
    made->tuple = k->kinds.count - 1;
    made->next = *bucket;
    *slot = made;
    return *bucket = made;
}

// Drops the silent destinations of a tree.
static void prune(UnitTree *tree, const bool *silent) {
    for (uint32_t i = 0; i < tree->operations; ++i) {
        Operation *o = &tree->operation[i];
        const uint32_t count = o->fragments;
        o->fragments = 0;
        for (uint32_t k = 0; k < count; ++k) {
            const Fragment *p = &o->fragment[k];
            if (p->position != WRITTEN || p->file != IO || !silent[p->number]) o->fragment[o->fragments++] = *p;
        }
    }
}

// The tree of a unit, if an earlier kind has the same marks for that unit.
static uint32_t known_tree(const Context *c, const Classifier *k, const Kind *kind, uint32_t before, uint32_t unit,
                           const uint32_t *tuple, bool *known) {
    *known = false;
    for (uint32_t i = 0; i < before && !*known; ++i) {
        const Kind *other = ((Kind **)k->kinds.at)[i];
        *known = other->marks[unit] == kind->marks[unit];
        for (uint32_t s = 0; s < k->senders.count && *known; ++s)
            *known = ((Sender *)k->senders.at)[s].unit != unit ||
                     other->marks[c->s.units + s] == kind->marks[c->s.units + s];
        if (*known) return tuple[(size_t)other->tuple * c->s.units + unit];
    }
    return NONE;
}

// The trees of the units of each kind. Equal tuples are one, in the order of first elements; that of a kind is
// tuples[kind->tuple].
static bool tuples(Context *c, Classifier *k, Trees *trees, uint32_t **tuple, uint32_t *count) {
    const uint32_t units = c->s.units;
    TRY(*tuple = temp(c, (size_t)k->kinds.count * units, sizeof **tuple));
    TRY(trees->at = temp(c, (size_t)k->kinds.count * units, sizeof *trees->at));
    *count = 0;
    for (uint32_t i = 0; i < k->kinds.count; ++i) {
        Kind *kind = ((Kind **)k->kinds.at)[i];
        uint32_t *made = *tuple + (size_t)*count * units;
        for (uint32_t unit = 0; unit < units; ++unit) {
            const size_t mark = c->high;
            UnitTree tree;
            bool known;
            made[unit] = known_tree(c, k, kind, i, unit, *tuple, &known);
            if (known) continue;
            TRY(specialize(c, k->at, k->count, unit, kind->cell, &tree));
            TRY(number_of(c, trees, &tree, 0, unit, mark, &made[unit]));
        }
        for (kind->tuple = 0;
             kind->tuple < *count && !same_bytes(*tuple + (size_t)kind->tuple * units, made, units * sizeof *made);)
            ++kind->tuple;
        if (kind->tuple == *count) ++*count;
    }
    return true;
}

// The ports that drive nothing in any element of a tuple: what is written there is left out, so that trees that differ
// in nothing else are equal.
static bool silence(Context *c, const Classifier *k, uint32_t tuple, bool *silent) {
    for (uint32_t i = 0; i < k->senders.count; ++i) {
        const uint32_t reg = ((Sender *)k->senders.at)[i].reg;
        if (reg >= 64) continue;
        silent[reg] = true;
        for (uint32_t j = 0; j < k->kinds.count && silent[reg]; ++j) {
            const Kind *kind = ((Kind **)k->kinds.at)[j];
            if (kind->tuple == tuple && driven(c, reg, kind->cell)) silent[reg] = false;
        }
    }
    return ok(c);
}

// Puts classes and trees in the place of all that lasts from `low` on, and of what is temporary from `high` on.
static bool settle(Context *c, const Class *classes, const Trees *trees, size_t low, size_t high) {
    size_t size = 0;
    for (uint32_t i = 0; i < trees->count; ++i) size += trees->at[i]->size;
    uint8_t *bytes = temp(c, size, 1);
    Unit *units = temp(c, trees->count, sizeof *units);
    TRY(bytes && units);
    size = 0;
    for (uint32_t i = 0; i < trees->count; ++i) {
        const Tree *t = trees->at[i];
        units[i] = (Unit){t->class_, t->unit, (uint32_t)size, t->size};
        memcpy(bytes + size, t->bytes, t->size);
        size += t->size;
    }
    forget(c, low);
    c->units = trees->count;
    TRY((c->class_ = copied(c, classes, c->classes, sizeof *classes)) &&
        (c->unit = copied(c, units, c->units, sizeof *units)));
    for (uint32_t i = 0; i < c->classes; ++i)
        TRY(c->class_[i].program = copied(c, classes[i].program, c->s.units, sizeof(uint32_t)));
    c->trees = shrink(c, bytes, high, size);
    return true;
}

static bool make_classes(Context *c, Classifier *k, size_t low, size_t high) {
    const uint32_t units = c->s.units;
    Trees trees = {0}, pruned = {0};
    uint32_t *tuple, count;
    TRY(tuples(c, k, &trees, &tuple, &count));
    c->cache = NULL;
    forget(c, low);
    uint32_t *class_of = temp(c, count, sizeof *class_of);
    Class *classes = temp(c, count, sizeof *classes);
    TRY(class_of && classes && (pruned.at = temp(c, (size_t)count * units, sizeof *pruned.at)));
    c->classes = 0;
    for (uint32_t i = 0; i < count; ++i) {
        bool silent[64] = {false};
        TRY(silence(c, k, i, silent));
        Class *made = &classes[c->classes];
        TRY(made->program || (made->program = temp(c, units, sizeof(uint32_t))));
        for (uint32_t unit = 0; unit < units; ++unit) {
            const size_t mark = c->high;
            const uint32_t n = tuple[(size_t)i * units + unit];
            UnitTree tree;
            made->program[unit] = NONE;
            if (n == NONE) continue;
            TRY(unpack_tree(c, trees.at[n]->bytes, &tree));
            prune(&tree, silent);
            TRY(number_of(c, &pruned, &tree, c->classes, unit, mark, &made->program[unit]));
            forget(c, low);
        }
        uint32_t same = 0;
        while (!same_bytes(classes[same].program, made->program, units * sizeof(uint32_t))) ++same;
        class_of[i] = same;
        if (same == c->classes) ++c->classes;
    }
    for (uint32_t i = 0; i < c->cells; ++i)
        if (c->cell[i].class_ != NONE) c->cell[i].class_ = class_of[((Kind **)k->kinds.at)[c->cell[i].class_]->tuple];
    return settle(c, classes, &pruned, low, high);
}

// The classes, numbered by their first element in row-major order. What is temporary from `high` on is given back.
bool classify(Context *c, size_t high) {
    const size_t low = c->low;
    Classifier *k = temp(c, 1, sizeof *k);
    TRY(k && (k->at = instructions(c, &k->count)));
    TRY(senders(c, k->at, k->count, &k->senders) && label_units(c, k));
    k->length = c->s.units + k->senders.count;
    uint32_t *marks = temp(c, k->length, sizeof *marks);
    TRY(marks);
    for (uint32_t i = 0; i < c->cells; ++i) {
        if (!c->occupied[c->cell[i].group]) continue;
        const Kind *kind = kind_of(c, k, &c->cell[i], marks);
        TRY(kind);
        c->cell[i].class_ = kind->tuple;
    }
    return make_classes(c, k, low, high) && ok(c);
}
