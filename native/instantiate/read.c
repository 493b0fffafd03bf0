// SPDX-License-Identifier: Apache-2.0
// The reader of symbolic configurations (docs/formats.md). Numbers are LEB128; whatever is used as an index is checked
// here.
#include "internal.h"

#define SECTIONS 6

OUTLINED uint32_t load32(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

// Fletcher's checksum of 32-bit words, modulo 2^32 - 1: the sums of so many words fit 64 bits.
#define BLOCK 4096

static OUTLINED uint64_t reduced(uint64_t x) {
    for (int i = 0; i < 2; ++i) x = (x >> 32) + (uint32_t)x;
    return x < 0xFFFFFFFF ? x : x - 0xFFFFFFFF;
}

uint64_t fletcher64(const uint8_t *data, size_t size) {
    uint64_t a = 0, b = 0;
    for (const uint8_t *end = data + size / 4 * 4; data < end;) {
        for (const uint8_t *stop = end - data > 4 * BLOCK ? data + 4 * BLOCK : end; data < stop; data += 4) {
            a += load32(data);
            b += a;
        }
        a = reduced(a);
        b = reduced(b);
    }
    return b << 32 | a;
}

OUTLINED bool malformed(Reader *r) { return fail(r->c, 705, r->at); }

static uint8_t byte(Reader *r) {
    if (!ok(r->c)) return 0;
    if (r->at < r->end) return r->c->data[r->at++];
    malformed(r);
    return 0;
}

uint64_t natural(Reader *r) {
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

uint32_t below(Reader *r, uint32_t limit) {
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
static OUTLINED uint32_t number(Reader *r) { return fitting(r, INT32_MAX); }

uint32_t count(Reader *r) {
    const uint64_t v = natural(r);
    if (v > r->end - r->at) malformed(r);
    return ok(r->c) ? (uint32_t)v : 0;
}

// Past a name of the last section, which is read when it is written.
size_t after_name(Context *c, size_t at) {
    Reader r = {.c = c, .at = at, .end = c->s.names_end};
    const uint32_t length = count(&r);
    return r.at + length;
}

// Reads one item of an array, which is zero before. After an error every number reads as 0 and nothing more is read.
typedef void One(Reader *r, void *item);

static OUTLINED void *each(Reader *r, uint32_t number, size_t size, One *one) {
    uint8_t *at = keep(r->c, number, size);
    for (uint32_t i = 0; i < number && ok(r->c); ++i) one(r, at + i * size);
    return at;
}

// An array of as many items as are announced.
static OUTLINED void *items(Reader *r, uint32_t *number, size_t size, One *one) {
    *number = count(r);
    return each(r, *number, size, one);
}

OUTLINED Int integer(Reader *r) {
    const uint32_t v = fitting(r, UINT32_MAX - 1);
    return v % 2 == 0 ? (Int)(v >> 1) : -(Int)(v >> 1) - 1;
}

// The bits of a signed number of 32 bits; the least one has no magnitude, so that `integer` does not take it.
static uint32_t immediate(Reader *r) {
    const uint32_t v = fitting(r, UINT32_MAX);
    return v % 2 == 0 ? v >> 1 : ~(v >> 1);
}

// A limit that no number can exceed is as good as any larger one.
static OUTLINED Int optional(Reader *r) {
    const uint64_t v = natural(r);
    return v > (uint64_t)INT_MOST ? INT_MOST : (Int)v - 1;
}

// Over a mask, of numbers below a limit.
static void mask(Reader *r, uint32_t limit) {
    uint8_t b = 128;
    for (uint32_t base = 0; b & 128; base += 7) {
        b = byte(r);
        if ((base && !b) || (limit < base + 7 && (b & 127) >> (limit < base ? 0 : limit - base))) malformed(r);
    }
}

// The next number, or NONE at the end, which is where the next mask begins.
uint32_t next_number(Mask *m) {
    uint32_t k = 0;
    while (!m->bits) {
        if (m->base && !(m->at[-1] & 128)) {
            m->base = 0;
            return NONE;
        }
        m->bits = *m->at++ & 127;
        m->base += 7;
    }
    while (!(m->bits >> k & 1)) ++k;
    m->bits &= m->bits - 1;
    return m->base - 7 + k;
}

void sparse(Reader *r, uint32_t limit, Int *out) {
    Mask places = {.at = r->c->data + r->at};
    mask(r, limit);
    for (uint32_t k; ok(r->c) && (k = next_number(&places)) != NONE;)
        if (!(out[k] = integer(r))) malformed(r);
}

static void plain(Reader *r, void *out) { *(uint32_t *)out = number(r); }

static uint32_t *numbers(Reader *r, uint32_t size) { return each(r, size, sizeof(uint32_t), plain); }

static void row_number(Reader *r, void *out) { *(uint32_t *)out = below(r, r->c->s.rows); }

static void row_numbers(Reader *r, void *out) {
    List *l = out;
    l->at = items(r, &l->count, sizeof(uint32_t), row_number);
}

static OUTLINED Port port(Reader *r) {
    const uint32_t v = number(r);
    return (Port){v % 5, v / 5};
}

static void neighbours(Reader *r, void *out) {
    Port *pair = out;
    pair[0] = port(r);
    pair[1] = port(r);
}

static void limits(Reader *r, Limits *l) {
    l->fifo_depth = optional(r);
    l->instruction_words = optional(r);
    l->branch_flags = number(r);
    l->channels = optional(r);
    l->restricted = below(r, 2);
    if (l->restricted) l->adjacent = items(r, &l->pairs, sizeof *l->adjacent, neighbours);
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
    // At the end of its section, and there only where words are narrow.
    l->narrow = ok(r->c) && r->at < r->end;
    if (l->narrow && number(r) != 32) malformed(r);
}

// The coefficients of dimensions, then of parameters; the constant is returned.
static OUTLINED Int coefficients(Reader *r, Int *a) {
    sparse(r, r->c->s.dimensions + r->c->s.parameters, a);
    return integer(r);
}

static void row(Reader *r, void *out) {
    Int unused[DIMENSIONS + PARAMETERS];
    *(Row *)out = (Row){(uint32_t)r->at};
    coefficients(r, unused);
}

Int read_row(Context *c, const Row *row, Int *a) {
    Reader r = {.c = c, .at = row->at, .end = SIZE_MAX};
    memset(a, 0, (c->s.dimensions + c->s.parameters) * sizeof *a);
    return coefficients(&r, a);
}

static void masks(Reader *r, void *out) {
    Condition *u = out;
    u->count = count(r);
    u->masks = r->c->data + r->at;
    for (uint32_t i = 0; i < u->count && ok(r->c); ++i) mask(r, r->c->s.constraints);
}

static void bound(Reader *r, void *out) {
    Bound *b = out;
    row_numbers(r, &b->guards);
    b->numerator = below(r, r->c->s.rows);
    b->denominator = add(r->c, (Int)number(r), 1);
}

static void pieces(Reader *r, void *out) {
    Pieces *p = out;
    p->at = items(r, &p->count, sizeof(Bound), bound);
}

static void array(Reader *r, void *out) {
    Array *a = out;
    a->head = byte(r);
    a->shape.count = byte(r);
    if (a->head >> 1 > F64 || a->shape.count >= 32 || (r->c->s.limits.narrow && a->head >> 1 == F64)) malformed(r);
    a->shape.at = each(r, a->shape.count, sizeof(uint32_t), row_number);
}

static void sets(Reader *r, Symbolic *s) {
    s->row = items(r, &s->constraints, sizeof(Row), row);
    items(r, &s->rows, sizeof(Row), row);
    s->rows += s->constraints;
    s->condition = items(r, &s->conditions, sizeof(Condition), masks);
    s->assumptions.at = items(r, &s->assumptions.count, sizeof(List), row_numbers);
    s->extent = each(r, 2 * s->dimensions, sizeof(Pieces), pieces);
    s->array = each(r, s->arrays, sizeof(Array), array);
}

// Arity in bits 0 and 1, element types from bit 2 on, by operation: the rows of the table of operations, in its order.
#define TYPES(types, arity) ((types) << 2 | (arity))
#define ALL(arity) TYPES(0x1ff, arity)
#define NUMBERS(arity) TYPES(0x17f, arity)  // without bool
#define BITWISE(arity) TYPES(0x0f7, arity)
#define INTEGERS(arity) TYPES(0x077, arity)
#define FLOATS(arity) TYPES(0x108, arity)
#define BUT(type) TYPES(0x1ff & ~(1 << (type)), 1)
#define ONLY(type) TYPES(1 << (type), 1)
static const uint16_t OPERATION[] = {
    ALL(1),     NUMBERS(2),  NUMBERS(2),  NUMBERS(2), NUMBERS(2), NUMBERS(2),  NUMBERS(2),  BITWISE(2),  BITWISE(2),
    BITWISE(2), INTEGERS(2), INTEGERS(2), ALL(2),     ALL(2),     NUMBERS(2),  NUMBERS(2),  NUMBERS(2),  NUMBERS(2),
    ALL(3),     NUMBERS(1),  NUMBERS(1),  NUMBERS(3), FLOATS(1),  INTEGERS(2), INTEGERS(2), INTEGERS(2), BUT(0),
    BUT(1),     BUT(2),      BUT(4),      BUT(5),     BUT(6),     BUT(7),      BUT(3),      BUT(8),      0,
    FLOATS(1),  ONLY(2),     ONLY(2),     ONLY(3),    ONLY(2),
};

// How many operands an operation has; of one that there is not, none.
uint32_t arity_of(uint32_t operation) {
    return operation < sizeof OPERATION / sizeof *OPERATION ? OPERATION[operation] & 3 : 0;
}

// The number of a constant of 64 bits among those of the file.
static uint32_t wide(Reader *r) {
    uint32_t half[2] = {0, 0}, number = 0;
    for (int i = 0; i < 64; i += 8) half[i / 32] |= (uint32_t)byte(r) << i % 32;
    Wide **at = &r->c->s.wide;
    for (; *at && ((*at)->low != half[0] || (*at)->high != half[1]); at = &(*at)->next) ++number;
    if (!*at && (*at = keep(r->c, 1, sizeof **at))) **at = (Wide){NULL, half[0], half[1]};
    return number;
}

static void node(Reader *r, void *out) {
    Node *v = out;
    const uint32_t opcode = below(r, NOP << 4), operation = opcode >> 4;
    if (operation >= sizeof OPERATION / sizeof *OPERATION || !(OPERATION[operation] >> (2 + (opcode & 15)) & 1)) {
        malformed(r);
        return;
    }
    if (r->c->s.limits.narrow && ((opcode & 15) == F64 || operation == TO_F64)) malformed(r);
    v->opcode = (uint16_t)opcode;
    v->arity = (uint8_t)arity_of(operation);
    v->condition = below(r, r->c->s.conditions);
    for (uint32_t k = 0; k < v->arity; ++k) {
        const uint32_t tag = number(r);
        v->operand[k] = (Operand){tag & 3, tag >> 2};
        if (tag == IMMEDIATE)
            v->operand[k].value = is_wide(opcode, k) ? wide(r) : immediate(r);
        else if ((tag & 3) != USE && (tag & 3) != INPUT)
            malformed(r);
    }
    const Int output = optional(r);
    if (output >= INT32_MAX) malformed(r);
    v->output = output < 0 ? NONE : (uint32_t)output;
}

static void writer(Reader *r, void *out) {
    Writer *w = out;
    w->node = below(r, r->c->s.nodes);
    w->condition = below(r, r->c->s.conditions);
}

static void use(Reader *r, void *out) {
    Use *u = out;
    u->consumer = NONE;
    u->distance = keep(r->c, r->c->s.dimensions, sizeof(Int));
    sparse(r, r->c->s.dimensions, u->distance);
    u->writer = items(r, &u->writers, sizeof(Writer), writer);
}

static void access(Reader *r, void *out) {
    Access *a = out;
    a->array = below(r, r->c->s.arrays);
    a->node = NONE;
    if (!ok(r->c)) return;
    a->index.count = r->c->s.array[a->array].shape.count;
    a->index.at = each(r, a->index.count, sizeof(uint32_t), row_number);
}

// A node's operand or result: exactly one of each use, input and output.
static bool own(uint32_t *owner, uint32_t node, uint32_t *found) {
    if (*owner != NONE) return false;
    *owner = node;
    ++*found;
    return true;
}

static bool resolved(Symbolic *s) {
    uint32_t found = 0;
    for (uint32_t v = 0; v < s->nodes; ++v) {
        const Node *n = &s->node[v];
        for (uint32_t k = 0; k < n->arity; ++k) {
            const Operand o = n->operand[k];
            if (o.kind == IMMEDIATE) continue;
            if (o.value >= (o.kind == USE ? s->uses : s->inputs)) return false;
            TRY(own(o.kind == USE ? &s->use[o.value].consumer : &s->input[o.value].node, v, &found));
        }
        if (n->output == NONE) continue;
        TRY(n->output < s->outputs && own(&s->output[n->output].node, v, &found));
    }
    return found == (uint64_t)s->uses + s->inputs + s->outputs;
}

static void graph(Reader *r, Symbolic *s) {
    s->node = each(r, s->nodes, sizeof(Node), node);
    s->use = items(r, &s->uses, sizeof(Use), use);
    s->input = items(r, &s->inputs, sizeof(Access), access);
    s->output = items(r, &s->outputs, sizeof(Access), access);
    if (ok(r->c) && !resolved(s)) malformed(r);
}

static void unit(Reader *r, void *out) { *(uint32_t *)out = below(r, r->c->s.units); }

// The most cycles that a machine's operation takes: differences of so many cycles are enumerated.
#define LONGEST 255

static void apart(Reader *r, void *out) {
    Apart *a = out;
    a->first = below(r, r->c->s.nodes);
    a->second = below(r, r->c->s.nodes);
    a->where.at = items(r, &a->where.count, sizeof(List), row_numbers);
}

static void schedule(Reader *r, void *out) {
    Schedule *p = out;
    p->interval = number(r);
    p->tau = numbers(r, r->c->s.nodes);
    p->unit = each(r, r->c->s.nodes, sizeof(uint32_t), unit);
    p->latency = numbers(r, r->c->s.nodes);
    p->apart = items(r, &p->pairs, sizeof(Apart), apart);
    for (uint32_t i = 0; i < p->pairs && ok(r->c); ++i)
        if (p->latency[p->apart[i].first] > LONGEST || p->latency[p->apart[i].second] > LONGEST) malformed(r);
    number(r);
    below(r, 2);
    if (p->interval < 1) malformed(r);
}

static void schedules(Reader *r, Symbolic *s) { s->schedule = items(r, &s->schedules, sizeof(Schedule), schedule); }

static OUTLINED Displacement displacement(uint32_t v) {
    return (Displacement){(int8_t)(v / 3 - 1), (int8_t)(v % 3 - 1)};
}

static void hop(Reader *r, void *out) {
    Port *p = out;
    *p = port(r);
    if (p->location == PE) malformed(r);
}

static void route(Reader *r, void *out) {
    Route *p = out;
    p->theta = displacement(below(r, 9));
    p->output = number(r);
    p->hop = items(r, &p->hops, sizeof(Port), hop);
    p->input = number(r);
}

// A channel is one of the routes of its candidate, the latest one.
static void link(Reader *r, void *out) {
    const uint32_t tag = below(r, 27);
    Link *l = out;
    *l = (Link){displacement(tag % 9), (uint8_t)(tag / 9), number(r)};
    if (l->kind == CHANNEL && l->number >= r->routes) malformed(r);
}

static void links(Reader *r, void *out) {
    Links *l = out;
    l->at = items(r, &l->count, sizeof(Link), link);
}

static void scan(Reader *r, Candidate *k) {
    const uint32_t n = r->c->s.dimensions;
    uint64_t seen = 0;
    k->order = keep(r->c, n, sizeof(uint32_t));
    k->reflected = keep(r->c, n, 1);
    for (uint32_t g = 0; g < n && ok(r->c); ++g) {
        const uint32_t m = below(r, 2 * n);
        k->order[g] = m >> 1;
        k->reflected[m >> 1] = m & 1;
        if (seen >> (m >> 1) & 1) malformed(r);
        seen |= (uint64_t)1 << (m >> 1);
    }
}

static void candidate(Reader *r, void *out) {
    const Symbolic *s = &r->c->s;
    Candidate *k = out;
    for (int axis = 0; axis < 2; ++axis) {
        const Int m = optional(r);
        if (m >= (Int)s->dimensions) malformed(r);
        k->axis[axis] = m < 0 ? NONE : (uint32_t)m;
    }
    if (k->axis[0] == k->axis[1] && k->axis[0] != NONE) malformed(r);
    scan(r, k);
    k->schedule = below(r, s->schedules);
    k->route = items(r, &k->routes, sizeof(Route), route);
    r->routes = k->routes;
    k->links = each(r, s->uses, sizeof(Links), links);
    k->input = numbers(r, s->inputs);
    k->output = numbers(r, s->outputs);
}

static void candidates(Reader *r, Symbolic *s) {
    s->candidate = items(r, &s->candidates, sizeof(Candidate), candidate);
}

static void opening(Reader *r, Symbolic *s) {
    s->parameters = below(r, 64);
    s->dimensions = below(r, 64);
    s->arrays = below(r, 1 << 16);
    s->nodes = below(r, 1 << 16);
    s->units = below(r, 1 << 16);
    if (!s->dimensions) malformed(r);
    if (s->dimensions > DIMENSIONS) fail(r->c, POLYLOOM_OVERFLOW, r->at);
    limits(r, &s->limits);
}

// Words of the header: the ends of sections follow each other from `ENDS` on.
enum { VERSION = 1, CHECKSUM = 2, ENDS = 8 };

static OUTLINED uint32_t word(const Context *c, int number) { return load32(c->data + 4 * number); }

// Where a section of a file of so many begins: after the one before, at a multiple of 4.
static OUTLINED size_t start_of(const Context *c, int section, int sections) {
    return section ? ((size_t)word(c, ENDS + section - 1) + 3) & ~(size_t)3 : 4 * (size_t)(ENDS + sections);
}

OUTLINED Reader section_of(Context *c, int section, int sections) {
    return (Reader){.c = c, .at = start_of(c, section, sections), .end = word(c, ENDS + section)};
}

// Checks what all files begin with; `version` is the one that is read.
bool check_container(Context *c, size_t size, const char *magic, uint32_t version, int sections) {
    if (size < 4 || !same_bytes(c->data, magic, 4)) return fail(c, 701, 0);
    if (size < 4 * (size_t)(ENDS + sections)) return fail(c, 702, size);
    if (word(c, VERSION) != 0 && word(c, VERSION) != version) return fail(c, 703, 4);
    bool ordered = word(c, VERSION) == version;
    for (int i = 0; i < sections; ++i) {
        const size_t end = word(c, ENDS + i);
        if (end > SIZE_MAX - 3) return fail(c, 702, size);
        ordered = ordered && end >= start_of(c, i, sections);
    }
    if (size < start_of(c, sections, sections)) return fail(c, 702, size);
    if (size % 4 || fletcher64(c->data + 16, size - 16) != (word(c, CHECKSUM) | (uint64_t)word(c, CHECKSUM + 1) << 32))
        return fail(c, 704, 8);
    return (ordered && size == start_of(c, sections, sections)) || fail(c, 705, 4);
}

bool read_symbolic(Context *c, size_t size) {
    static void (*const section[])(Reader *, Symbolic *) = {opening, sets, graph, schedules, candidates};
    TRY(check_container(c, size, "PLSC", SYMBOLIC_VERSION, SECTIONS));
    for (int i = 0; i < SECTIONS - 1; ++i) {
        Reader r = section_of(c, i, SECTIONS);
        section[i](&r, &c->s);
        TRY(ok(c));
        if (r.at != r.end) return malformed(&r);
    }
    c->s.names = start_of(c, SECTIONS - 1, SECTIONS);
    c->s.names_end = word(c, ENDS + SECTIONS - 1);
    c->n = c->s.dimensions;
    return true;
}
