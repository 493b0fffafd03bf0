// SPDX-License-Identifier: Apache-2.0
// The reader of symbolic configurations (docs/formats.md). Numbers are LEB128; whatever is used as an index is checked here.
#include "internal.h"

typedef struct {
    Context *c;
    size_t at, end;
} Reader;

#define SECTIONS 6
#define HEADER (32 + 4 * SECTIONS)

uint32_t load32(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }

// Fletcher's checksum of 32-bit words, modulo 2^32 - 1: the sums of so many words fit 64 bits.
#define BLOCK 4096

uint64_t fletcher64(const uint8_t *data, size_t size) {
    uint64_t a = 0, b = 0;
    for (const uint8_t *end = data + size / 4 * 4; data < end;) {
        for (const uint8_t *stop = end - data > 4 * BLOCK ? data + 4 * BLOCK : end; data < stop; data += 4) {
            a += load32(data);
            b += a;
        }
        a %= 0xFFFFFFFF;
        b %= 0xFFFFFFFF;
    }
    return b << 32 | a;
}

static bool malformed(Reader *r) { return fail(r->c, 705, r->at); }

static uint8_t byte(Reader *r) {
    if (!ok(r->c)) return 0;
    if (r->at < r->end) return r->c->data[r->at++];
    malformed(r);
    return 0;
}

static uint64_t natural(Reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        const uint8_t b = byte(r);
        value |= (uint64_t)(b & 127) << shift;
        if (b >= 128) continue;
        if (shift && !b) malformed(r);
        return ok(r->c) ? value : 0;
    }
    malformed(r);
    return 0;
}

static uint32_t below(Reader *r, uint32_t limit) {
    const uint64_t v = natural(r);
    if (v >= limit) malformed(r);
    return ok(r->c) ? (uint32_t)v : 0;
}

// At most a number of 32 bits; larger ones are not malformed, but do not fit here.
static uint32_t fitting(Reader *r, uint32_t most) {
    const uint64_t v = natural(r);
    if (v > most) fail(r->c, POLYLOOM_OVERFLOW, r->at);
    return ok(r->c) ? (uint32_t)v : 0;
}

// A number that has to fit 31 bits here, whatever the format says.
static uint32_t number(Reader *r) { return fitting(r, INT32_MAX); }

static uint32_t count(Reader *r) {
    const uint64_t v = natural(r);
    if (v > r->end - r->at) malformed(r);
    return ok(r->c) ? (uint32_t)v : 0;
}

// An array of as many items as are announced, all zero.
static void *items(Reader *r, uint32_t *number, size_t size) {
    *number = count(r);
    return keep(r->c, *number, size);
}

static Int integer(Reader *r) {
    const uint32_t v = fitting(r, UINT32_MAX - 1);
    return v % 2 == 0 ? (Int)(v >> 1) : -(Int)(v >> 1) - 1;
}

// The bits of a signed number of 32 bits; the least one has no magnitude, so that `integer` does not take it.
static uint32_t immediate(Reader *r) {
    const uint32_t v = fitting(r, UINT32_MAX);
    return v % 2 == 0 ? v >> 1 : ~(v >> 1);
}

// A limit that no number can exceed is as good as any larger one.
static Int optional(Reader *r) {
    const uint64_t v = natural(r);
    return v > (uint64_t)INT_MOST ? INT_MOST : (Int)v - 1;
}

// The numbers of a mask's bits, ascending, at the low end of the scratch.
static bool mask(Reader *r, uint32_t limit, List *out) {
    out->at = keep(r->c, 0, 1);
    out->count = 0;
    uint32_t shift = 0;
    for (uint8_t b = 128; b & 128; shift += 7) {
        b = byte(r);
        if (shift && !b) malformed(r);
        for (uint32_t k = 0; k < 7; ++k)
            if (b >> k & 1) {
                if (shift + k >= limit) malformed(r);
                TRY(ok(r->c));
                if (out->count % 2 == 0) TRY(keep(r->c, 2, sizeof(uint32_t)));
                out->at[out->count++] = shift + k;
            }
        TRY(ok(r->c));
    }
    return true;
}

static bool sparse(Reader *r, uint32_t limit, Int *out) {
    const size_t low = r->c->low;
    List places;
    TRY(mask(r, limit, &places));
    for (uint32_t i = 0; i < places.count; ++i) {
        out[places.at[i]] = integer(r);
        if (ok(r->c) && !out[places.at[i]]) malformed(r);
    }
    r->c->low = low;
    return ok(r->c);
}

static bool list(Reader *r, uint32_t size, uint32_t limit, List *out) {
    out->count = size;
    TRY(out->at = keep(r->c, size, sizeof(uint32_t)));
    for (uint32_t i = 0; i < size; ++i) out->at[i] = below(r, limit);
    return ok(r->c);
}

static bool numbers(Reader *r, uint32_t size, uint32_t **out) {
    TRY(*out = keep(r->c, size, sizeof(uint32_t)));
    for (uint32_t i = 0; i < size; ++i) (*out)[i] = number(r);
    return ok(r->c);
}

static Port port(Reader *r) {
    const uint32_t v = number(r);
    return (Port){v % 5, v / 5};
}

static bool limits(Reader *r, Limits *l) {
    l->fifo_depth = optional(r);
    l->instruction_words = optional(r);
    l->branch_flags = number(r);
    l->channels = optional(r);
    l->restricted = below(r, 2);
    if (l->restricted) {
        TRY(l->adjacent = items(r, &l->pairs, sizeof *l->adjacent));
        for (uint32_t i = 0; i < l->pairs; ++i) {
            l->adjacent[i][0] = port(r);
            l->adjacent[i][1] = port(r);
        }
    }
    l->hop_delay = number(r);
    l->control_signals = optional(r);
    l->signal_sets = optional(r);
    l->half_spaces = below(r, 2);
    l->counter_bits = number(r);
    l->generator_dimensions = optional(r);
    l->delay_bits = number(r);
    l->bank_words = optional(r);
    l->rows = optional(r);
    l->columns = optional(r);
    return ok(r->c);
}

static bool rows(Reader *r, Symbolic *s) {
    const size_t start = r->at;
    const uint32_t width = s->dimensions + s->parameters;
    Int *a = NULL;
    for (int pass = 0; pass < 2; ++pass) {  // the two tables are read twice: counted, then stored
        uint32_t stored = 0;
        r->at = start;
        for (int table = 0; table < 2; ++table) {
            const uint32_t stated = count(r);
            for (uint32_t i = 0; i < stated; ++i, ++stored) {
                Int unused[DIMENSIONS + PARAMETERS] = {0};
                Int *coefficients = pass ? a + (size_t)stored * width : unused;
                TRY(sparse(r, width, coefficients));
                const Int constant = integer(r);
                if (pass) s->row[stored] = (Row){coefficients, constant};
            }
            if (!table) s->constraints = stated;
            TRY(ok(r->c));
        }
        s->rows = stored;
        if (!pass) TRY((s->row = keep(r->c, stored, sizeof(Row))) && (a = keep(r->c, (size_t)stored * width, sizeof(Int))));
    }
    return true;
}

static bool piece_of_rows(Reader *r, const Symbolic *s, List *out) { return list(r, count(r), s->rows, out); }

static bool sets(Reader *r, Symbolic *s) {
    TRY(rows(r, s));
    TRY(s->condition = items(r, &s->conditions, sizeof(Condition)));
    for (uint32_t k = 0; k < s->conditions; ++k) {
        const uint32_t pieces = count(r);
        const size_t low = r->c->low;
        s->condition[k] = (Condition){pieces, r->c->data + r->at};
        for (uint32_t i = 0; i < pieces; ++i) {
            List unused;
            TRY(mask(r, s->constraints, &unused));
            r->c->low = low;
        }
    }
    TRY(s->assumptions.at = items(r, &s->assumptions.count, sizeof(List)));
    for (uint32_t i = 0; i < s->assumptions.count; ++i) TRY(piece_of_rows(r, s, &s->assumptions.at[i]));
    TRY(s->extent = keep(r->c, s->dimensions, sizeof *s->extent));
    for (uint32_t m = 0; m < 2 * s->dimensions; ++m) {
        Pieces *p = &s->extent[m / 2][m % 2];
        TRY(p->at = items(r, &p->count, sizeof(Bound)));
        for (uint32_t i = 0; i < p->count; ++i) {
            TRY(piece_of_rows(r, s, &p->at[i].guards));
            p->at[i].numerator = below(r, s->rows);
            p->at[i].denominator = add(r->c, (Int)number(r), 1);
        }
    }
    TRY(s->array = keep(r->c, s->arrays, sizeof(Array)));
    for (uint32_t i = 0; i < s->arrays; ++i) {
        s->array[i].head = byte(r);
        TRY(list(r, s->array[i].head >> 3, s->rows, &s->array[i].shape));
    }
    return ok(r->c);
}

// Arity in bits 0 and 1, element types in bits 2 to 5, by operation: the rows of the table of operations, in its order.
#define ALL(arity) (0x3c | (arity))
#define INTEGERS(arity) (0x1c | (arity))
static const uint8_t OPERATION[] = {
    ALL(1), ALL(2), ALL(2), ALL(2), ALL(2), ALL(2), ALL(2), INTEGERS(2), INTEGERS(2), INTEGERS(2), INTEGERS(2), INTEGERS(2), ALL(2),
    ALL(2), ALL(2), ALL(2), ALL(2), ALL(2), ALL(3), ALL(1), ALL(1), ALL(3), 0x20 | 1, INTEGERS(2), INTEGERS(2), INTEGERS(2),
};

static bool node(Reader *r, const Symbolic *s, Node *v) {
    v->opcode = byte(r);
    if (v->opcode >> 2 >= sizeof OPERATION || !(OPERATION[v->opcode >> 2] >> (2 + (v->opcode & 3)) & 1)) return malformed(r);
    v->arity = OPERATION[v->opcode >> 2] & 3;
    v->condition = below(r, s->conditions);
    for (uint32_t k = 0; k < v->arity; ++k) {
        const uint32_t tag = number(r);
        if (tag == IMMEDIATE)
            v->operand[k] = (Operand){IMMEDIATE, immediate(r)};
        else if ((tag & 3) == USE || (tag & 3) == INPUT)
            v->operand[k] = (Operand){tag & 3, tag >> 2};
        else
            malformed(r);
    }
    const Int output = optional(r);
    if (output >= INT32_MAX) malformed(r);
    v->output = output < 0 ? NONE : (uint32_t)output;
    return ok(r->c);
}

static bool access(Reader *r, Symbolic *s, Access *a) {
    a->array = below(r, s->arrays);
    TRY(ok(r->c));
    a->node = NONE;
    return list(r, s->array[a->array].shape.count, s->rows, &a->index);
}

// Whose operand each use and input is, and whose result each output: exactly one each.
static bool resolve(Reader *r, Symbolic *s) {
    uint32_t found = 0;
    for (uint32_t v = 0; v < s->nodes; ++v) {
        const Node *n = &s->node[v];
        for (uint32_t k = 0; k < n->arity; ++k) {
            const Operand o = n->operand[k];
            if (o.kind == IMMEDIATE) continue;
            if (o.value >= (o.kind == USE ? s->uses : s->inputs)) return malformed(r);
            uint32_t *owner = o.kind == USE ? &s->use[o.value].consumer : &s->input[o.value].node;
            if (*owner != NONE) return malformed(r);
            *owner = v;
            ++found;
        }
        if (n->output == NONE) continue;
        if (n->output >= s->outputs || s->output[n->output].node != NONE) return malformed(r);
        s->output[n->output].node = v;
        ++found;
    }
    return found == (uint64_t)s->uses + s->inputs + s->outputs || malformed(r);
}

static bool graph(Reader *r, Symbolic *s) {
    TRY(s->node = keep(r->c, s->nodes, sizeof(Node)));
    for (uint32_t v = 0; v < s->nodes; ++v) TRY(node(r, s, &s->node[v]));
    TRY(s->use = items(r, &s->uses, sizeof(Use)));
    for (uint32_t u = 0; u < s->uses; ++u) {
        Use *use = &s->use[u];
        use->consumer = NONE;
        TRY(use->distance = keep(r->c, s->dimensions, sizeof(Int)));
        TRY(sparse(r, s->dimensions, use->distance));
        TRY(use->writer = items(r, &use->writers, sizeof(Writer)));
        for (uint32_t i = 0; i < use->writers; ++i) {
            use->writer[i].node = below(r, s->nodes);
            use->writer[i].condition = below(r, s->conditions);
        }
    }
    TRY(s->input = items(r, &s->inputs, sizeof(Access)));
    for (uint32_t i = 0; i < s->inputs; ++i) TRY(access(r, s, &s->input[i]));
    TRY(s->output = items(r, &s->outputs, sizeof(Access)));
    for (uint32_t i = 0; i < s->outputs; ++i) TRY(access(r, s, &s->output[i]));
    TRY(ok(r->c));
    return resolve(r, s);
}

static bool schedules(Reader *r, Symbolic *s) {
    TRY(s->schedule = items(r, &s->schedules, sizeof(Schedule)));
    for (uint32_t i = 0; i < s->schedules; ++i) {
        Schedule *p = &s->schedule[i];
        List unit;
        p->interval = number(r);
        TRY(numbers(r, s->nodes, &p->tau));
        TRY(list(r, s->nodes, s->units, &unit));
        p->unit = unit.at;
        TRY(numbers(r, s->nodes, &p->latency));
        number(r);
        below(r, 2);
        if (ok(r->c) && p->interval < 1) malformed(r);
    }
    return ok(r->c);
}

static Displacement displacement(uint32_t v) { return (Displacement){(int8_t)(v / 3 - 1), (int8_t)(v % 3 - 1)}; }

static bool route(Reader *r, Route *p) {
    p->theta = displacement(below(r, 9));
    p->output = number(r);
    TRY(p->hop = items(r, &p->hops, sizeof(Port)));
    for (uint32_t i = 0; i < p->hops; ++i) {
        p->hop[i] = port(r);
        if (ok(r->c) && p->hop[i].location == PE) malformed(r);
    }
    p->input = number(r);
    return ok(r->c);
}

static bool links(Reader *r, const Candidate *k, Links *l) {
    TRY(l->at = items(r, &l->count, sizeof(Link)));
    for (uint32_t i = 0; i < l->count; ++i) {
        const uint32_t tag = below(r, 27);
        l->at[i] = (Link){displacement(tag % 9), (uint8_t)(tag / 9), number(r)};
        if (l->at[i].kind == CHANNEL && l->at[i].number >= k->routes) malformed(r);
    }
    return ok(r->c);
}

static bool scan(Reader *r, const Symbolic *s, Candidate *k) {
    TRY((k->order = keep(r->c, s->dimensions, sizeof(uint32_t))) && (k->reflected = keep(r->c, s->dimensions, 1)));
    uint64_t seen = 0;
    for (uint32_t g = 0; g < s->dimensions; ++g) {
        const uint32_t m = below(r, 2 * s->dimensions);
        k->order[g] = m >> 1;
        k->reflected[m >> 1] = m & 1;
        if (seen >> (m >> 1) & 1) malformed(r);
        seen |= (uint64_t)1 << (m >> 1);
    }
    return ok(r->c);
}

static bool candidate(Reader *r, const Symbolic *s, Candidate *k) {
    for (int axis = 0; axis < 2; ++axis) {
        const Int m = optional(r);
        if (m >= (Int)s->dimensions) malformed(r);
        k->axis[axis] = m < 0 ? NONE : (uint32_t)m;
    }
    if (k->axis[0] == k->axis[1] && k->axis[0] != NONE) malformed(r);
    TRY(scan(r, s, k));
    k->schedule = below(r, s->schedules);
    TRY(k->route = items(r, &k->routes, sizeof(Route)));
    for (uint32_t i = 0; i < k->routes; ++i) TRY(route(r, &k->route[i]));
    TRY(k->links = keep(r->c, s->uses, sizeof(Links)));
    for (uint32_t u = 0; u < s->uses; ++u) TRY(links(r, k, &k->links[u]));
    TRY(numbers(r, s->inputs, &k->input));
    return numbers(r, s->outputs, &k->output);
}

static bool candidates(Reader *r, Symbolic *s) {
    TRY(s->candidate = items(r, &s->candidates, sizeof(Candidate)));
    for (uint32_t i = 0; i < s->candidates; ++i) TRY(candidate(r, s, &s->candidate[i]));
    return true;
}

static bool check_container(Context *c, size_t size, size_t *start) {
    const uint8_t *d = c->data;
    if (size < 4 || memcmp(d, "PLSC", 4)) return fail(c, 701, 0);
    if (size < HEADER) return fail(c, 702, size);
    if (load32(d + 4) > 1) return fail(c, 703, 4);
    start[0] = HEADER;
    bool ordered = load32(d + 4) == 1;
    for (int i = 0; i < SECTIONS; ++i) {
        const size_t end = load32(d + 32 + 4 * i);
        if (end > SIZE_MAX - 3) return fail(c, 702, size);
        ordered = ordered && end >= start[i];
        start[i + 1] = (end + 3) & ~(size_t)3;
    }
    if (size < start[SECTIONS]) return fail(c, 702, size);
    if (size % 4 || fletcher64(d + 16, size - 16) != (load32(d + 8) | (uint64_t)load32(d + 12) << 32)) return fail(c, 704, 8);
    return (ordered && size == start[SECTIONS]) || fail(c, 705, 4);
}

bool read_symbolic(Context *c, size_t size) {
    static bool (*const section[])(Reader *, Symbolic *) = {sets, graph, schedules, candidates};
    size_t start[SECTIONS + 1];
    TRY(check_container(c, size, start));
    Symbolic *s = &c->s;
    Reader r = {c, start[0], load32(c->data + 32)};
    s->parameters = below(&r, 64);
    s->dimensions = below(&r, 64);
    s->arrays = below(&r, 1 << 16);
    s->nodes = below(&r, 1 << 16);
    s->units = below(&r, 1 << 16);
    TRY(ok(c));
    if (!s->dimensions) return fail(c, 705, r.at);
    if (s->dimensions > DIMENSIONS) return fail(c, POLYLOOM_OVERFLOW, r.at);
    TRY(limits(&r, &s->limits));
    if (r.at != r.end) return malformed(&r);
    for (int i = 1; i < SECTIONS - 1; ++i) {
        r = (Reader){c, start[i], load32(c->data + 32 + 4 * i)};
        TRY(section[i - 1](&r, s));
        if (r.at != r.end) return malformed(&r);
    }
    s->names = start[SECTIONS - 1];
    s->names_end = load32(c->data + 32 + 4 * (SECTIONS - 1));
    c->n = s->dimensions;
    return true;
}
