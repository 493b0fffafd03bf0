// SPDX-License-Identifier: Apache-2.0
// Routes between elements and banks, and interconnect wrappers (the paper, section 6). An access takes the border directly where
// all its elements lie on one; otherwise every element has a straight route of its own, nearest elements first.
#include "internal.h"

static uint32_t opposite(uint32_t location) { return location == PE ? PE : 1 + (location + 1) % 4; }

bool has_terminal(const Context *c, const Mapped *m, uint32_t group) { return c->accessing[c->s.node[m->access->node].condition][group]; }

static uint32_t position(uint32_t side, uint32_t row, uint32_t column) { return side == WEST || side == EAST ? row : column; }

// Channels 32 number to 32 number + 31 that are taken at border ports, from the first to the last position.
typedef struct Taken {
    struct Taken *next;
    uint32_t first, last, number, bits;
} Taken;

typedef struct {
    Context *c;
    Taken *side[5];
} Ports;

static bool is_taken(const Ports *p, uint32_t side, uint32_t first, uint32_t last, uint32_t channel) {
    for (const Taken *t = p->side[side]; t; t = t->next)
        if (t->number == channel / 32 && t->first <= last && first <= t->last && t->bits >> channel % 32 & 1) return true;
    return false;
}

static bool take(Ports *p, uint32_t side, uint32_t first, uint32_t last, uint32_t channel) {
    Taken *t = p->side[side];
    while (t && (t->number != channel / 32 || t->first != first || t->last != last)) t = t->next;
    if (!t) {
        TRY(t = temp(p->c, 1, sizeof *t));
        *t = (Taken){p->side[side], first, last, channel / 32, 0};
        p->side[side] = t;
    }
    t->bits |= (uint32_t)1 << channel % 32;
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
    for (uint32_t i = 0; i < c->cells; ++i) {
        const Cell *cell = &c->cell[i];
        if (!has_terminal(c, m, cell->group)) continue;
        *any = true;
        inside[WEST] = inside[WEST] || cell->column + cell->width > 1;
        inside[NORTH] = inside[NORTH] || cell->row + cell->height > 1;
        inside[EAST] = inside[EAST] || cell->column + 1 < c->t->columns;
        inside[SOUTH] = inside[SOUTH] || cell->row + 1 < c->t->rows;
    }
    static const uint8_t preference[] = {WEST, NORTH, EAST, SOUTH};
    for (int i = 0; i < 4; ++i)
        if (!inside[preference[i]]) return preference[i];
    return PE;
}

// Whether a channel is free at the border ports of all elements of an access; with `taking`, it is taken there.
static bool border_channel(Context *c, const Mapped *m, Ports *p, uint32_t channel, bool taking) {
    for (uint32_t i = 0; i < c->cells; ++i) {
        const Cell *cell = &c->cell[i];
        if (!has_terminal(c, m, cell->group)) continue;
        const uint32_t first = position(m->side, cell->row, cell->column), last = first + position(m->side, cell->height, cell->width) - 1;
        TRY(taking ? take(p, m->side, first, last, channel) : !is_taken(p, m->side, first, last, channel));
    }
    return true;
}

static bool no_channel(Context *c, const Mapped *m, uint32_t side) {
    c->about.side = side;
    return refuse(c, 517, m->is_output ? POLYLOOM_RESULT : POLYLOOM_INPUT, m->reg, 0, 0);
}

static bool border(Context *c, Mapped *m, Ports *p) {
    const uint32_t end = c->s.limits.restricted ? last_channel(&c->s.limits) : NONE;
    for (m->channel = 0; m->channel < end; ++m->channel)
        if (connectable(c, m, m->side, m->channel, 0) && border_channel(c, m, p, m->channel, false)) {
            c->needed = max(c->needed, (Int)m->channel + 1);
            return border_channel(c, m, p, m->channel, true);
        }
    return no_channel(c, m, m->side);
}

static void nearest(const Context *c, uint32_t row, uint32_t column, struct Inner *out) {
    const bool even = (row + column) % 2 == 0;
    const uint32_t near = even ? column : row, far = (even ? c->t->columns : c->t->rows) - 1 - near;
    out->links = near <= far ? near : far;
    out->side = near <= far ? (even ? WEST : NORTH) : even ? EAST : SOUTH;
}

static bool route(Context *c, Mapped *m, Ports *p, uint32_t element) {
    struct Inner *inner = &m->inner[element];
    const uint32_t end = c->s.limits.restricted ? last_channel(&c->s.limits) : NONE;
    const uint32_t place = position(inner->side, element / c->t->columns, element % c->t->columns);
    const uint32_t direction = m->is_output ? inner->side : opposite(inner->side);
    for (uint32_t channel = 0; channel < end; ++channel) {
        if (is_taken(p, inner->side, place, place, channel) || (inner->links && propagates(c, direction, channel))) continue;
        if (!connectable(c, m, inner->side, channel, inner->links)) continue;
        inner->channel = channel;
        c->needed = max(c->needed, (Int)channel + 1);
        return take(p, inner->side, place, place, channel);
    }
    return no_channel(c, m, inner->side);
}

// Nearest elements first; those equally near in their order.
static bool interior(Context *c, Mapped *m, Ports *p) {
    const uint32_t elements = c->t->rows * c->t->columns, longest = c->t->rows > c->t->columns ? c->t->rows : c->t->columns;
    TRY(m->inner = keep(c, elements, sizeof *m->inner));
    for (uint32_t e = 0; e < elements; ++e) nearest(c, e / c->t->columns, e % c->t->columns, &m->inner[e]);
    uint32_t *first = temp(c, (size_t)longest + 2, sizeof *first), *order = temp(c, elements, sizeof *order), count = 0;
    TRY(first && order);
    for (uint32_t e = 0; e < elements; ++e)
        if (has_terminal(c, m, group_at(c, e / c->t->columns, e % c->t->columns))) {
            ++first[m->inner[e].links + 1];
            ++count;
        }
    for (uint32_t i = 0; i <= longest; ++i) first[i + 1] += first[i];
    for (uint32_t e = 0; e < elements; ++e)
        if (has_terminal(c, m, group_at(c, e / c->t->columns, e % c->t->columns))) order[first[m->inner[e].links]++] = e;
    for (uint32_t i = 0; i < count; ++i) TRY(route(c, m, p, order[i]));
    return true;
}

// A border port and a route for every access of every element. PL0517 where none is free; `needed` is set. Where an access has
// no common border, cells become single elements.
bool terminals(Context *c) {
    const size_t high = c->high;
    const uint32_t count = c->s.inputs + c->s.outputs;
    Ports p = {.c = c};
    bool single = false;
    TRY(c->mapped = keep(c, count, sizeof(Mapped)));
    c->needed = 0;
    for (uint32_t i = 0; i < count; ++i) {
        Mapped *m = &c->mapped[i];
        m->is_output = i >= c->s.inputs;
        m->access = m->is_output ? &c->s.output[i - c->s.inputs] : &c->s.input[i];
        m->reg = m->is_output ? c->candidate->output[i - c->s.inputs] : c->candidate->input[i];
        m->side = common_border(c, m, &m->used);
        if (!m->used) continue;
        m->border = m->side != PE;
        single = single || !m->border;
        TRY(m->border ? border(c, m, &p) : interior(c, m, &p));
    }
    c->high = high;
    return !single || make_cells(c, true);
}

uint32_t terminal_side(const Context *c, const Mapped *m, uint32_t row, uint32_t column, uint32_t *channel, uint32_t *links) {
    const struct Inner at = m->border ? (struct Inner){0, m->channel, m->side} : m->inner[(size_t)row * c->t->columns + column];
    *channel = at.channel;
    *links = at.links;
    return at.side;
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

static bool propagation(Context *c, const Cell *cell, const Route *r, Vec *out) {
    Int at[2] = {cell->row, cell->column}, to[2] = {cell->row, cell->column};
    const bool starts = leaving(c, r, at[0], at[1]);
    for (uint32_t i = 0; i <= r->hops; ++i) {  // the route that starts there is here after i hops
        if (leaving(c, r, at[0], at[1])) {
            const Port source = i ? (Port){opposite(r->hop[i - 1].location), r->hop[i - 1].index} : (Port){PE, r->output};
            TRY(connect(c, out, i < r->hops ? r->hop[i] : (Port){PE, r->input}, source));
        }
        for (int axis = 0; axis < 2 && i < r->hops; ++axis) {
            at[axis] -= STEP[r->hop[i].location][axis];
            to[axis] += STEP[r->hop[i].location][axis];
        }
        if (starts && (to[0] < 0 || to[1] < 0 || to[0] >= c->t->rows || to[1] >= c->t->columns)) return refuse(c, 530, POLYLOOM_REGION, 0, 0, 0);
    }
    return true;
}

static bool bank(Context *c, const Mapped *m, uint32_t row, uint32_t column, bool at_element, Vec *out) {
    uint32_t channel, links;
    const uint32_t side = terminal_side(c, m, row, column, &channel, &links);
    const Port outer = {side, channel}, inner = at_element ? (Port){PE, m->reg} : (Port){opposite(side), channel};
    return m->is_output ? connect(c, out, outer, inner) : connect(c, out, inner, outer);
}

// Routes of elements further inside that pass this one on their way to `side`.
static bool passing(Context *c, const Mapped *m, const Cell *cell, uint32_t side, Vec *out) {
    Int row = cell->row, column = cell->column;
    for (;;) {
        row -= STEP[side][0];
        column -= STEP[side][1];
        if (row < 0 || column < 0 || row >= c->t->rows || column >= c->t->columns) return true;
        if (m->inner[row * c->t->columns + column].side != side || !has_terminal(c, m, group_at(c, (uint32_t)row, (uint32_t)column))) continue;
        TRY(bank(c, m, (uint32_t)row, (uint32_t)column, false, out));
    }
}

// The connections of an element's wrapper, sorted by sink.
static bool wrapper_of(Context *c, const Cell *cell, Vec *out) {
    for (uint32_t r = 0; r < c->candidate->routes; ++r) TRY(propagation(c, cell, &c->candidate->route[r], out));
    for (uint32_t i = 0; i < c->s.inputs + c->s.outputs; ++i) {
        const Mapped *m = &c->mapped[i];
        if (!m->used) continue;
        if (has_terminal(c, m, cell->group)) TRY(bank(c, m, cell->row, cell->column, true, out));
        for (uint32_t side = NORTH; side <= WEST && !m->border; ++side) TRY(passing(c, m, cell, side, out));
    }
    return true;
}

// The wrapper of every element; distinct ones are numbered by first element.
bool wire(Context *c) {
    Wires *buckets[BUCKETS] = {NULL}, **tail = NULL;
    c->wires = (Vec){0};
    for (uint32_t i = 0; i < c->cells; ++i) {
        Cell *cell = &c->cell[i];
        const size_t mark = c->high;
        Vec found = {0};
        c->about.place = cell->row * c->t->columns + cell->column;
        TRY(wrapper_of(c, cell, &found));
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
        cell->wrapper = (*tail)->number;
    }
    return ok(c);
}
