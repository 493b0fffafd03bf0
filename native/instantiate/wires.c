// SPDX-License-Identifier: Apache-2.0
// Routes between elements and banks, and interconnect wrappers (the paper, section 6). An access takes the border directly where
// all its elements lie on one; otherwise every element has a straight route of its own, nearest elements first. Routes are of banks:
// wrappers have what elements send each other.
#include "internal.h"

static uint32_t opposite(uint32_t location) { return location == PE ? PE : 1 + (location + 1) % 4; }

// Lines of elements end at sides: rows (axis 0) west and east, columns (axis 1) north and south.
static int axis_of(uint32_t side) { return side % 2; }

static bool is_far(uint32_t side) { return side / 2 % 2; }  // east and south

static uint32_t length(const Context *c, int axis) { return axis ? c->t->rows : c->t->columns; }

uint32_t lines(const Context *c, uint32_t side) { return length(c, !axis_of(side)); }

// The segments of half a line in cells with iterations, nearest first. Where none is slanted, other lines between the same cells have them.
static void look(Context *c, uint32_t side, uint32_t line) {
    const int axis = axis_of(side);
    const uint32_t size = length(c, axis);
    Sight *s = &c->sight;
    if (s->side == side && line >= s->line && line < s->stop) return;
    *s = (Sight){side, c->slanted ? line : 0, c->slanted ? line + 1 : lines(c, side), 0, s->at};
    for (const Cell *cell = c->cell; cell < c->cell + c->cells; ++cell) {
        const uint32_t from = axis ? cell->west : cell->row, to = from + (axis ? cell->width : cell->height);
        if (from > line && from < s->stop) s->stop = from;
        if (to <= line && to > s->line) s->line = to;
        Segment found = {.group = cell->group};
        if (from > line || to <= line || !c->occupied[cell->group] || !span(cell, axis, line, &found.first, &found.end)) continue;
        if (is_far(side)) found = (Segment){size - found.end, size - found.first, found.group};
        if (found.first > size / 2) continue;
        Segment *at = s->at + s->count++;
        for (; at > s->at && at[-1].first > found.first; --at) at[0] = at[-1];
        *at = found;
    }
}

// The next line that may differ from all before: lines of one parity between the same cells are alike.
static uint32_t next_line(Context *c, uint32_t side, uint32_t line) {
    look(c, side, line);
    return line == c->sight.line && line + 1 < c->sight.stop ? line + 1 : c->sight.stop;
}

// The elements of an access on a line that have their bank at its end: elements with even row + column have it at an end of their
// row, the others at one of their column, the nearer one. An access of a border has one element on each line.
Run run_along(const Context *c, const Mapped *m, uint32_t side, uint32_t line) {
    const int axis = axis_of(side);
    const uint32_t far = is_far(side), last = length(c, axis) - 1;
    if (m->side != PE) return (Run){.side = side, .line = line, .stop = side == m->side};
    return (Run){.side = side, .line = line, .odd = (line ^ (uint32_t)axis ^ (far ? last : 0)) & 1, .stop = (last + 2 - far) / 2};
}

void locate(const Context *c, const Run *r, uint32_t links, uint32_t *at) {
    const int axis = axis_of(r->side);
    at[axis] = r->line;
    at[!axis] = is_far(r->side) ? length(c, axis) - 1 - links : links;
}

// The next of them that lie in equal tiles, nearest first.
bool next_run(Context *c, const Mapped *m, Run *r) {
    if (!r->stop) return false;
    look(c, r->side, r->line);
    while (r->next < c->sight.count) {
        const Segment *p = &c->sight.at[r->next++];
        const uint32_t end = p->end < r->stop ? p->end : r->stop;
        r->links = p->first + ((p->first ^ r->odd) & 1);
        r->group = p->group;
        r->count = (end - r->links + 1) / 2;
        if (r->links < end && m->there[p->group]) return true;
    }
    return false;
}

static bool adjacent(const Limits *l, Port a, Port b) {
    for (uint32_t i = 0; i < l->pairs; ++i)
        if (l->adjacent[i][0].location == a.location && l->adjacent[i][0].index == a.index && l->adjacent[i][1].location == b.location &&
            l->adjacent[i][1].index == b.index)
            return true;
    return false;
}

// Whether the wrappers can connect a register with the border over a channel, from further inside or not.
static bool connectable(const Context *c, const Mapped *m, uint32_t side, uint32_t channel, bool inside) {
    const Limits *l = &c->s.limits;
    if (!l->restricted) return true;
    const Port near = {side, channel}, far = {opposite(side), channel}, pe = {PE, m->reg};
    if (!(m->is_output ? adjacent(l, pe, near) : adjacent(l, near, pe))) return false;
    return !inside || (m->is_output ? adjacent(l, far, near) : adjacent(l, near, far));
}

static uint32_t last_channel(const Limits *l) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < 2 * l->pairs; ++i)
        if (l->adjacent[i / 2][i % 2].location != PE) last = (uint32_t)max(last, (Int)l->adjacent[i / 2][i % 2].index + 1);
    return last;
}

// The border that has all elements of an access, or PE. Without elements it is WEST.
static uint32_t common_border(const Context *c, const Mapped *m) {
    uint32_t north = NONE, south = 0, west = NONE, east = 0;
    for (const Cell *cell = c->cell; cell < c->cell + c->cells; ++cell) {
        if (!m->there[cell->group]) continue;
        if (cell->row < north) north = cell->row;
        if (cell->west < west) west = cell->west;
        if (cell->row + cell->height - 1 > south) south = cell->row + cell->height - 1;
        if (cell->west + cell->width - 1 > east) east = cell->west + cell->width - 1;
    }
    return !east ? WEST : !south ? NORTH : west + 1 == c->t->columns ? EAST : north + 1 == c->t->rows ? SOUTH : PE;
}

static bool no_channel(Context *c, const Mapped *m, uint32_t side) {
    c->about.side = side;
    return refuse(c, 517, m->is_output ? POLYLOOM_RESULT : POLYLOOM_INPUT, m->reg, 0, 0);
}

static bool has(const uint32_t *bits, uint32_t i) { return bits[i / 32] >> i % 32 & 1; }
static void set(uint32_t *bits, uint32_t i) { bits[i / 32] |= (uint32_t)1 << i % 32; }

static void join(const Context *c, uint32_t *bits, const uint32_t *more) {
    for (uint32_t w = 0; w < c->words; ++w) bits[w] |= more[w];
}

static uint32_t lowest(const Context *c, const uint32_t *bits, const uint32_t *taken) {
    for (uint32_t channel = 0; channel < 32 * c->words; ++channel)
        if (has(bits, channel) && !has(taken, channel)) return channel;
    return NONE;
}

// Whether elements send each other something on a route.
static bool sends(Context *c, const Route *r) {
    for (uint32_t i = 0; i < c->cells; ++i)
        if (leaving(c, r, c->cell[i].row, c->cell[i].column)) return true;
    return false;
}

// The channels over which elements at a border or further inside can have their banks there: connectable ones, on which elements
// further inside must not send each other anything.
static uint32_t *usable(Context *c, const Mapped *m, uint32_t side, bool inside) {
    const uint32_t direction = m->is_output ? side : opposite(side);
    uint32_t *bits = keep(c, c->words, sizeof *bits);
    for (uint32_t channel = 0; bits && channel < 32 * c->words; ++channel)
        if (connectable(c, m, side, channel, inside)) set(bits, channel);
    for (const Route *r = c->candidate->route; bits && inside && r < c->candidate->route + c->candidate->routes; ++r)
        for (const Port *hop = r->hop; hop < r->hop + r->hops; ++hop)
            if (hop->location == direction && hop->index / 32 < c->words && sends(c, r)) bits[hop->index / 32] &= ~((uint32_t)1 << hop->index % 32);
    return bits;
}

// How many elements an access has on a line, and whether one is at the border. Groups are listed as they are met.
static uint32_t wanted(Context *c, Mapped *m, uint32_t side, uint32_t line, bool *at_border) {
    uint32_t sum = 0;
    Run r = run_along(c, m, side, line);
    *at_border = false;
    for (; next_run(c, m, &r); sum += r.count) {
        *at_border = *at_border || !r.links;
        uint32_t i = 0;
        while (i < m->groups && m->group[i] != r.group) ++i;
        if (i == m->groups) m->group[m->groups++] = r.group;
    }
    return sum;
}

// The lowest free channels for an access at a border port, nearest elements first: as many as there are.
static void serve(Context *c, Mapped *m, uint32_t side, uint32_t line, Served *s) {
    bool at_border;
    s->wanted = wanted(c, m, side, line, &at_border);
    if (!s->wanted) return;
    s->count = 0;
    s->zero = NONE;
    memset(s->bits, 0, c->words * sizeof *s->bits);
    if (at_border) {
        if ((s->zero = lowest(c, m->usable[0][side], s->taken)) == NONE) return;
        set(s->taken, s->zero);
        s->count = 1;
    }
    for (uint32_t w = 0; w < c->words && s->count < s->wanted; ++w) {
        uint32_t left = m->usable[1][side][w] & ~s->taken[w];
        if (left == UINT32_MAX && s->wanted - s->count >= 32) {
            s->bits[w] = left;
            s->count += 32;
        } else
            for (; left && s->count < s->wanted; ++s->count, left &= left - 1) s->bits[w] |= left & -left;
        s->taken[w] |= s->bits[w];
    }
}

// Remember the first element that gets no channel: by access, then in the order in which they are served.
static void refuse_later(Context *c, uint32_t access, uint32_t side, uint32_t line) {
    Served *s = &c->served;
    Run r = run_along(c, &c->mapped[access], side, line);
    uint32_t left = s->count, at[2];
    while (next_run(c, &c->mapped[access], &r) && left >= r.count) left -= r.count;
    locate(c, &r, r.links += 2 * left, at);
    const uint64_t place = ((uint64_t)r.links << 16 | at[0]) << 16 | at[1];
    if (access > s->access || (access == s->access && place >= s->place)) return;
    s->access = access;
    s->side = side;
    s->place = place;
}

// What the last of so many accesses that has elements there gets at a border port, and what all of them take.
const Served *served_on(Context *c, uint32_t accesses, uint32_t side, uint32_t line) {
    Served *s = &c->served;
    memset(s->taken, 0, c->words * sizeof *s->taken);
    for (uint32_t i = 0; i < accesses; ++i) {
        serve(c, &c->mapped[i], side, line, s);
        if (s->wanted && s->count < s->wanted) refuse_later(c, i, side, line);
    }
    return s;
}

// The side at which an element has its bank, and how far away.
uint32_t terminal_side(const Context *c, const Mapped *m, uint32_t row, uint32_t column, uint32_t *links) {
    *links = 0;
    if (m->side != PE) return m->side;
    const int axis = (row + column) % 2 != 0;
    const uint32_t near = axis ? row : column, far = length(c, axis) - 1 - near;
    *links = near > far ? far : near;
    return near > far ? (axis ? SOUTH : EAST) : axis ? NORTH : WEST;
}

// The channels at one side. Accesses of the border take one for all their elements: those before them are served first.
static bool side_channels(Context *c, uint32_t side, uint32_t *all) {
    const uint32_t accesses = c->s.inputs + c->s.outputs;
    uint32_t *busy = temp(c, c->words, sizeof *busy);
    TRY(busy);
    for (uint32_t i = 0; i <= accesses; ++i) {
        Mapped *m = &c->mapped[i];
        bool there;
        if (i < accesses && m->side != side) continue;
        memset(busy, 0, c->words * sizeof *busy);
        for (uint32_t line = 0; line < lines(c, side); line = next_line(c, side, line)) {
            const Served *s = served_on(c, i, side, line);
            if (i == accesses || wanted(c, m, side, line, &there)) join(c, busy, s->taken);
        }
        if (i == accesses) break;
        const uint32_t channel = lowest(c, m->usable[0][side], busy);
        memset(m->usable[0][side], 0, c->words * sizeof *busy);
        if (channel != NONE) set(m->usable[0][side], channel);
    }
    join(c, all, busy);
    return true;
}

// More channels than can be taken at a border port.
static uint32_t channel_words(const Context *c, bool interior) {
    uint32_t most = c->s.inputs + c->s.outputs;
    if (interior) most *= (c->t->rows > c->t->columns ? c->t->rows : c->t->columns) / 4 + 2;
    for (uint32_t r = 0; r < c->candidate->routes; ++r) most += c->candidate->route[r].hops;
    if (c->s.limits.restricted) most = (uint32_t)max(most, last_channel(&c->s.limits));
    return most / 32 + 1;
}

// A border port and a route for every access of every element. PL0517 where none is free; `needed` is set.
bool terminals(Context *c) {
    const size_t high = c->high;
    const uint32_t count = c->s.inputs + c->s.outputs;
    bool inside = false;
    TRY(c->mapped = keep(c, count, sizeof(Mapped)));
    for (uint32_t i = 0; i < count; ++i) {
        Mapped *m = &c->mapped[i];
        m->is_output = i >= c->s.inputs;
        m->access = m->is_output ? &c->s.output[i - c->s.inputs] : &c->s.input[i];
        m->reg = m->is_output ? c->candidate->output[i - c->s.inputs] : c->candidate->input[i];
        m->there = c->accessing[c->s.node[m->access->node].condition];
        m->side = common_border(c, m);
        TRY(m->group = keep(c, c->groups, sizeof(uint32_t)));
        inside = inside || m->side == PE;
    }
    c->words = channel_words(c, inside);
    c->served.access = NONE;
    uint32_t *all = temp(c, c->words, sizeof *all);
    TRY(all && (c->served.bits = keep(c, c->words, sizeof *all)) && (c->served.taken = keep(c, c->words, sizeof *all)));
    c->sight = (Sight){.at = keep(c, c->cells, sizeof *c->sight.at)};
    TRY(c->sight.at);
    for (uint32_t side = NORTH; side <= WEST; ++side) {
        for (Mapped *m = c->mapped; m < c->mapped + count; ++m)
            for (int within = 0; within < (m->side == PE ? 2 : m->side == side); ++within) TRY(m->usable[within][side] = usable(c, m, side, within));
        TRY(side_channels(c, side, all));
    }
    c->high = high;
    if (c->served.access != NONE) return no_channel(c, &c->mapped[c->served.access], c->served.side);
    c->needed = 0;
    for (uint32_t channel = 0; channel < 32 * c->words; ++channel)
        if (has(all, channel)) c->needed = (Int)channel + 1;
    return true;
}

static uint32_t code(Port p) { return p.location << 13 | p.index; }

// Add a connection to those sorted by sink.
static bool connect(Context *c, Vec *out, Port sink, Port source) {
    const uint32_t most = sink.index > source.index ? sink.index : source.index;
    if (most >= 8192) return refuse(c, 706, POLYLOOM_FIELD, 2, most, 8192);
    const Connection *at = out->at;
    uint32_t i = out->count;
    while (i && code(at[i - 1].sink) > code(sink)) --i;
    if (i && code(at[i - 1].sink) == code(sink)) {
        c->about.side = sink.location;
        return code(at[i - 1].source) == code(source) || refuse(c, 530, POLYLOOM_PORT, sink.index, 0, 0);
    }
    TRY(push(c, out, sizeof *at));
    Connection *to = (Connection *)out->at + i;
    move(to + 1, to, (out->count - 1 - i) * sizeof *to);
    *to = (Connection){sink, source};
    return true;
}

// What an element passes of values on a route that starts there or elsewhere.
static bool propagation(Context *c, const Cell *cell, const Route *r, Vec *out) {
    Int at[2] = {cell->row, cell->column};  // where a route begins that is here after i hops
    Port source = {PE, r->output};
    for (uint32_t i = 0; i <= r->hops; ++i) {
        const Port sink = i < r->hops ? r->hop[i] : (Port){PE, r->input};
        const int8_t *step = STEP[sink.location];
        if (leaving(c, r, at[0], at[1])) {
            TRY(connect(c, out, sink, source));
            if (cell->row + (uint32_t)step[0] >= c->t->rows || cell->column + (uint32_t)step[1] >= c->t->columns) return refuse(c, 530, POLYLOOM_REGION, 0, 0, 0);
        }
        for (int axis = 0; axis < 2; ++axis) at[axis] -= step[axis];
        source = (Port){opposite(sink.location), sink.index};
    }
    return true;
}

// An input's register has one driver.
static bool lone(Context *c, const Cell *cell, uint32_t input, const Vec *wires) {
    const Mapped *m = &c->mapped[input];
    const Connection *at = wires->at;
    bool found = false;
    for (uint32_t i = 0; i < input; ++i) found = found || (c->mapped[i].reg == m->reg && c->mapped[i].there[cell->group]);
    for (uint32_t i = 0; i < wires->count; ++i) found = found || (at[i].sink.location == PE && at[i].sink.index == m->reg);
    c->about.side = PE;
    return !found || refuse(c, 530, POLYLOOM_PORT, m->reg, 0, 0);
}

// The connections of an element's wrapper, sorted by sink.
static bool wrapper_of(Context *c, const Cell *cell, Vec *out) {
    for (uint32_t r = 0; r < c->candidate->routes; ++r) TRY(propagation(c, cell, &c->candidate->route[r], out));
    for (uint32_t i = 0; i < c->s.inputs; ++i)
        if (c->mapped[i].there[cell->group]) TRY(lone(c, cell, i, out));
    return true;
}

static bool wrapper(Context *c, Cell *cell) {
    const size_t mark = c->high;
    const Wires *known = c->wires.at;
    Vec found = {0};
    c->about.place = cell->row * c->t->columns + cell->column;
    TRY(wrapper_of(c, cell, &found));
    cell->wrapper = 0;
    while (cell->wrapper < c->wires.count && (known[cell->wrapper].count != found.count || !same_bytes(known[cell->wrapper].at, found.at, found.count * sizeof(Connection))))
        ++cell->wrapper;
    Wires made = {found.count, found.at}, *slot;
    const bool another = cell->wrapper == c->wires.count;
    if (another) TRY(made.at = copied(c, found.at, found.count, sizeof(Connection)));
    c->high = mark;
    if (!another) return true;
    TRY(slot = push(c, &c->wires, sizeof *slot));
    *slot = made;
    return true;
}

// The wrappers of all cells, numbered by first element.
bool wire(Context *c) {
    c->wires = (Vec){0};
    for (uint32_t i = 0; i < c->cells; ++i) TRY(wrapper(c, &c->cell[i]));
    return ok(c);
}
