// SPDX-License-Identifier: Apache-2.0
// Routes between elements and banks, and interconnect wrappers (the paper, section 6). An access takes the border directly where
// all its elements lie on one; otherwise every element has a straight route of its own, nearest elements first.
#include "internal.h"

static const int STEP[5][2] = {{0, 0}, {-1, 0}, {0, 1}, {1, 0}, {0, -1}};

static uint32_t opposite(uint32_t location) { return location == PE ? PE : 1 + (location + 1) % 4; }

bool has_terminal(const Context *c, const Mapped *m, uint32_t element) {
    return c->accessing[c->s.node[m->access->node].condition][c->group[element]];
}

static uint32_t position(const Context *c, uint32_t side, uint32_t element) {
    return side == WEST || side == EAST ? element / c->t->columns : element % c->t->columns;
}

// Channels that are taken, by border port: chunks of a bit set.
typedef struct Taken {
    struct Taken *next;
    uint32_t number, bits;
} Taken;

typedef struct {
    Context *c;
    Taken **ports;  // by side and position
    uint32_t length;
} Ports;

static bool is_taken(const Ports *p, uint32_t side, uint32_t place, uint32_t channel) {
    for (const Taken *t = p->ports[(side - 1) * p->length + place]; t; t = t->next)
        if (t->number == channel / 32) return t->bits >> channel % 32 & 1;
    return false;
}

static bool take(Ports *p, uint32_t side, uint32_t place, uint32_t channel) {
    Taken **t = &p->ports[(side - 1) * p->length + place];
    while (*t && (*t)->number != channel / 32) t = &(*t)->next;
    if (!*t) {
        TRY(*t = temp(p->c, 1, sizeof **t));
        (*t)->number = channel / 32;
    }
    (*t)->bits |= (uint32_t)1 << channel % 32;
    return true;
}

static bool adjacent(const Limits *l, Port a, Port b) {
    for (uint32_t i = 0; i < l->pairs; ++i)
        if (l->adjacent[i][0].location == a.location && l->adjacent[i][0].index == a.index && l->adjacent[i][1].location == b.location &&
            l->adjacent[i][1].index == b.index)
            return true;
    return false;
}

// Whether the wrappers can connect a register with the border over a channel.
static bool connectable(const Context *c, const Mapped *m, uint32_t side, uint32_t channel, uint32_t links) {
    const Limits *l = &c->s.limits;
    if (!l->restricted) return true;
    const Port near = {side, channel}, far = {opposite(side), channel}, pe = {PE, m->reg};
    if (!(m->is_output ? adjacent(l, pe, near) : adjacent(l, near, pe))) return false;
    return !links || (m->is_output ? adjacent(l, far, near) : adjacent(l, near, far));
}

static uint32_t last_channel(const Limits *l) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < 2 * l->pairs; ++i)
        if (l->adjacent[i / 2][i % 2].location != PE) last = (uint32_t)max(last, (Int)l->adjacent[i / 2][i % 2].index + 1);
    return last;
}

static bool propagates(const Context *c, uint32_t direction, uint32_t channel) {
    for (uint32_t r = 0; r < c->candidate->routes; ++r)
        for (uint32_t i = 0; i < c->candidate->route[r].hops; ++i)
            if (c->candidate->route[r].hop[i].location == direction && c->candidate->route[r].hop[i].index == channel) return true;
    return false;
}

// The border that has all elements of an access, or PE; `any` says whether there are elements.
static uint32_t common_border(const Context *c, const Mapped *m, bool *any) {
    bool inside[5] = {false};
    *any = false;
    for (uint32_t e = 0; e < c->elements; ++e) {
        if (!has_terminal(c, m, e)) continue;
        const uint32_t row = e / c->t->columns, column = e % c->t->columns;
        *any = true;
        inside[WEST] = inside[WEST] || column > 0;
        inside[NORTH] = inside[NORTH] || row > 0;
        inside[EAST] = inside[EAST] || column + 1 < c->t->columns;
        inside[SOUTH] = inside[SOUTH] || row + 1 < c->t->rows;
    }
    static const uint32_t preference[] = {WEST, NORTH, EAST, SOUTH};
    for (int i = 0; i < 4; ++i)
        if (!inside[preference[i]]) return preference[i];
    return PE;
}

static bool border(Context *c, Mapped *m, Ports *p) {
    const uint32_t end = c->s.limits.restricted ? last_channel(&c->s.limits) : NONE;
    for (uint32_t channel = 0; channel < end; ++channel) {
        bool open = connectable(c, m, m->side, channel, 0);
        for (uint32_t e = 0; e < c->elements && open; ++e) open = !has_terminal(c, m, e) || !is_taken(p, m->side, position(c, m->side, e), channel);
        if (!open) continue;
        m->channel = channel;
        for (uint32_t e = 0; e < c->elements; ++e)
            if (has_terminal(c, m, e)) TRY(take(p, m->side, position(c, m->side, e), channel));
        return true;
    }
    c->about.side = m->side;
    return refuse(c, 517, m->is_output ? POLYLOOM_RESULT : POLYLOOM_INPUT, m->reg, 0, 0);
}

static void nearest(const Context *c, uint32_t element, uint32_t *side, uint32_t *links) {
    const uint32_t row = element / c->t->columns, column = element % c->t->columns;
    const bool even = (row + column) % 2 == 0;
    const uint32_t near = even ? column : row, far = (even ? c->t->columns : c->t->rows) - 1 - near;
    *links = near <= far ? near : far;
    *side = near <= far ? (even ? WEST : NORTH) : even ? EAST : SOUTH;
}

static bool route(Context *c, Mapped *m, Ports *p, uint32_t element) {
    struct Inner *inner = &m->inner[element];
    const uint32_t end = c->s.limits.restricted ? last_channel(&c->s.limits) : NONE, place = position(c, inner->side, element);
    const uint32_t direction = m->is_output ? inner->side : opposite(inner->side);
    for (uint32_t channel = 0; channel < end; ++channel) {
        if (is_taken(p, inner->side, place, channel) || (inner->links && propagates(c, direction, channel))) continue;
        if (!connectable(c, m, inner->side, channel, inner->links)) continue;
        inner->channel = channel;
        return take(p, inner->side, place, channel);
    }
    c->about.side = inner->side;
    return refuse(c, 517, m->is_output ? POLYLOOM_RESULT : POLYLOOM_INPUT, m->reg, 0, 0);
}

static bool interior(Context *c, Mapped *m, Ports *p) {
    TRY(m->inner = keep(c, c->elements, sizeof *m->inner));
    const size_t longest = (c->t->rows > c->t->columns ? c->t->rows : c->t->columns) + 1;
    uint32_t *first = temp(c, longest + 1, sizeof *first), *order = temp(c, c->elements, sizeof *order), count = 0;
    TRY(first && order);
    for (uint32_t e = 0; e < c->elements; ++e) {
        nearest(c, e, &m->inner[e].side, &m->inner[e].links);
        if (has_terminal(c, m, e)) ++first[m->inner[e].links + 1];
    }
    for (size_t i = 0; i < longest; ++i) first[i + 1] += first[i];
    for (uint32_t e = 0; e < c->elements; ++e)
        if (has_terminal(c, m, e)) {
            order[first[m->inner[e].links]++] = e;
            ++count;
        }
    for (uint32_t i = 0; i < count; ++i) TRY(route(c, m, p, order[i]));
    return true;
}

// A border port and a route for every access of every element. PL0517 where there are too few channels.
bool terminals(Context *c) {
    const size_t high = c->high;
    const uint32_t count = c->s.inputs + c->s.outputs;
    Ports p = {c, NULL, c->t->rows > c->t->columns ? c->t->rows : c->t->columns};
    TRY((p.ports = temp(c, 4 * (size_t)p.length, sizeof *p.ports)) && (c->mapped = keep(c, count, sizeof(Mapped))));
    uint32_t needed = 0;
    for (uint32_t i = 0; i < count; ++i) {
        Mapped *m = &c->mapped[i];
        m->is_output = i >= c->s.inputs;
        m->access = m->is_output ? &c->s.output[i - c->s.inputs] : &c->s.input[i];
        m->reg = m->is_output ? c->candidate->output[i - c->s.inputs] : c->candidate->input[i];
        m->side = common_border(c, m, &m->used);
        if (!m->used) continue;
        m->border = m->side != PE;
        TRY(m->border ? border(c, m, &p) : interior(c, m, &p));
        for (uint32_t e = 0; e < c->elements; ++e) {
            uint32_t channel, links;
            if (!has_terminal(c, m, e)) continue;
            terminal_side(c, m, e, &channel, &links);
            if (channel + 1 > needed) needed = channel + 1;
        }
    }
    c->high = high;
    c->needed = needed;
    return true;
}

uint32_t terminal_side(const Context *c, const Mapped *m, uint32_t element, uint32_t *channel, uint32_t *links) {
    (void)c;
    *channel = m->border ? m->channel : m->inner[element].channel;
    *links = m->border ? 0 : m->inner[element].links;
    return m->border ? m->side : m->inner[element].side;
}

static bool connect(Context *c, Vec *out, Port sink, Port source) {
    const uint32_t most = sink.index > source.index ? sink.index : source.index;
    if (most >= 8192) return refuse(c, 706, POLYLOOM_FIELD, 2, most, 8192);
    // Sorted by location, then index.
    const Connection made = {sink.index * 8 + sink.location, source.index * 8 + source.location};
    const uint32_t key = sink.location << 16 | sink.index;
    uint32_t i = out->count;
    for (Connection *at = out->at; i; --i) {
        const uint32_t other = (at[i - 1].sink & 7) << 16 | at[i - 1].sink >> 3;
        if (other == key) {
            c->about.side = sink.location;
            return at[i - 1].source == made.source || refuse(c, 530, POLYLOOM_PORT, sink.index, 0, 0);
        }
        if (other < key) break;
    }
    TRY(push(c, out, sizeof made));
    Connection *at = out->at;
    memmove(at + i + 1, at + i, (out->count - 1 - i) * sizeof made);
    at[i] = made;
    return true;
}

static bool propagation(Context *c, uint32_t element, const Route *r, Vec *out) {
    Int row = element / c->t->columns, column = element % c->t->columns;
    const Int height = c->t->rows, width = c->t->columns;
    const bool starts = leaving(c, r, element);
    for (uint32_t i = 0; i <= r->hops; ++i) {  // the route that starts at (row, column) is here after i hops
        if (row >= 0 && column >= 0 && row < height && column < width && leaving(c, r, (uint32_t)(row * width + column))) {
            const Port source = i ? (Port){opposite(r->hop[i - 1].location), r->hop[i - 1].index} : (Port){PE, r->output};
            TRY(connect(c, out, i < r->hops ? r->hop[i] : (Port){PE, r->input}, source));
        }
        if (i == r->hops) break;
        row -= STEP[r->hop[i].location][0];
        column -= STEP[r->hop[i].location][1];
    }
    row = element / c->t->columns;
    column = element % c->t->columns;
    for (uint32_t i = 0; i < r->hops && starts; ++i) {
        row += STEP[r->hop[i].location][0];
        column += STEP[r->hop[i].location][1];
        if (row < 0 || column < 0 || row >= height || column >= width) return refuse(c, 530, POLYLOOM_REGION, 0, 0, 0);
    }
    return true;
}

static bool bank(Context *c, const Mapped *m, uint32_t from, bool at_element, Vec *out) {
    uint32_t channel, links;
    const uint32_t side = terminal_side(c, m, from, &channel, &links);
    const Port outer = {side, channel}, inner = at_element ? (Port){PE, m->reg} : (Port){opposite(side), channel};
    return m->is_output ? connect(c, out, outer, inner) : connect(c, out, inner, outer);
}

// Routes of elements further inside that pass this one on their way to `side`.
static bool passing(Context *c, const Mapped *m, uint32_t element, uint32_t side, Vec *out) {
    Int row = element / c->t->columns, column = element % c->t->columns;
    for (;;) {
        row -= STEP[side][0];
        column -= STEP[side][1];
        if (row < 0 || column < 0 || row >= c->t->rows || column >= c->t->columns) return true;
        const uint32_t from = (uint32_t)(row * c->t->columns + column);
        if (m->inner[from].side == side && has_terminal(c, m, from)) TRY(bank(c, m, from, false, out));
    }
}

// The connections of an element's wrapper, sorted by sink.
static bool wrapper_of(Context *c, uint32_t element, Vec *out) {
    for (uint32_t r = 0; r < c->candidate->routes; ++r) TRY(propagation(c, element, &c->candidate->route[r], out));
    for (uint32_t i = 0; i < c->s.inputs + c->s.outputs; ++i) {
        const Mapped *m = &c->mapped[i];
        if (!m->used) continue;
        if (has_terminal(c, m, element)) TRY(bank(c, m, element, true, out));
        for (uint32_t side = NORTH; side <= WEST && !m->border; ++side) TRY(passing(c, m, element, side, out));
    }
    return true;
}

// The wrapper of every element; distinct ones are numbered by first element.
bool wire(Context *c) {
    Wires *buckets[BUCKETS] = {NULL}, **tail = NULL;
    TRY(c->wrapper = keep(c, c->elements, sizeof *c->wrapper));
    c->wires = (Vec){0};
    for (uint32_t e = 0; e < c->elements; ++e) {
        const size_t mark = c->high;
        Vec found = {0};
        c->about.place = e;
        TRY(wrapper_of(c, e, &found));
        const size_t bytes = found.count * sizeof(Connection);
        tail = &buckets[(bytes ? hash(2166136261u, found.at, bytes) : 0) % BUCKETS];
        while (*tail && ((*tail)->count != found.count || (bytes && memcmp((*tail)->connection, found.at, bytes)))) tail = &(*tail)->next;
        if (!*tail) {
            TRY(*tail = keep(c, 1, sizeof(Wires) + bytes));
            (*tail)->count = found.count;
            (*tail)->number = c->wires.count;
            if (bytes) memcpy((*tail)->connection, found.at, bytes);
            c->high = mark;
            Wires **slot = push(c, &c->wires, sizeof *slot);
            TRY(slot);
            *slot = *tail;
        } else
            c->high = mark;
        c->wrapper[e] = (*tail)->number;
    }
    return ok(c);
}
