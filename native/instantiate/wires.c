// SPDX-License-Identifier: Apache-2.0
// Routes between elements and banks, and interconnect wrappers (the paper, section 6). An access whose elements all lie
// on one border takes the border's ports directly. Otherwise each element has a straight route to a bank; nearest
// elements are served first. Wrappers have only what elements send each other: routes belong to their banks.
#include "internal.h"

static uint32_t opposite(uint32_t location) { return location == PE ? PE : 1 + (location + 1) % 4; }

// Lines of elements end at sides: rows (axis 0) west and east, columns (axis 1) north and south.
static int axis_of(uint32_t side) { return side % 2; }

static bool is_far(uint32_t side) { return side / 2 % 2; }  // east and south

// Whether there are banks at a side.
static bool is_open(const Context *c, uint32_t side) { return !(c->closed >> (side - 1) & 1); }

static uint32_t length(const Context *c, int axis) { return axis ? c->t->rows : c->t->columns; }

static uint32_t lines(const Context *c, uint32_t side) { return length(c, !axis_of(side)); }

// Elements from the end of a line on that have their banks there: half of them, or all or none where an end is closed.
static uint32_t reach(const Context *c, uint32_t side) {
    const uint32_t size = length(c, axis_of(side));
    return !is_open(c, side) ? 0 : !is_open(c, opposite(side)) ? size : (size + !is_far(side)) / 2;
}

// Finds the segments of a line that has banks at its end, nearest to it first. Where no cell is slanted, all lines up
// to the next one on which a cell begins have the same segments.
static void look(Context *c, uint32_t side, uint32_t line) {
    const int axis = axis_of(side);
    const uint32_t size = length(c, axis);
    Sight *s = &c->sight;
    if (s->side == side && line >= s->line && line < s->stop) return;
    *s = (Sight){side, line, c->slanted ? line + 1 : lines(c, side), 0, s->at};
    for (const Cell *cell = c->cell; cell < c->cell + c->cells; ++cell) {
        const uint32_t from = axis ? cell->west : cell->row;
        if (from > line && from < s->stop) s->stop = from;
        if (line - from >= (axis ? cell->width : cell->height)) continue;
        Segment found = {.group = cell->group}, *at = s->at + s->count;
        if (!span(cell, axis, line, &found.first, &found.end)) continue;
        if (is_far(side)) found = (Segment){size - found.end, size - found.first, found.group};
        if (found.first >= reach(c, side) && found.first > size / 2) continue;
        for (++s->count; at > s->at && at[-1].first > found.first; --at) at[0] = at[-1];
        *at = found;
    }
}

// The next line that may differ from those before it: lines between the same cells alternate between two patterns.
static uint32_t next_line(Context *c, uint32_t side, uint32_t line) {
    look(c, side, line);
    return line == c->sight.line && line + 1 < c->sight.stop ? line + 1 : c->sight.stop;
}

// The next elements of an access on a line that have their bank at its end and lie in equal tiles, nearest first. An
// element with even row + column has its bank at the nearer end of its row, another one at that of its column. An
// access of a border has one element on each line.
static bool next_on_line(Context *c, const Mapped *m, Run *r) {
    const uint32_t axis = (uint32_t)axis_of(r->side), far = is_far(r->side), last = length(c, (int)axis) - 1;
    const uint32_t odd = m->side == PE ? (r->line ^ axis ^ (far ? last : 0)) & 1 : 0;
    const uint32_t stop = m->side == PE ? reach(c, r->side) : m->side == r->side;
    r->first = !r->next;
    if (!stop) return false;
    look(c, r->side, r->line);
    r->lines = (c->sight.stop - r->line + 1) / 2;
    while (r->next < c->sight.count) {
        const Segment *p = &c->sight.at[r->next++];
        const uint32_t end = p->end < stop ? p->end : stop;
        r->links = p->first + ((p->first ^ odd) & 1);
        r->group = p->group;
        r->count = (end - r->links + 1) / 2;
        if (r->links < end && m->there[p->group]) return true;
    }
    return false;
}

bool next_run(Context *c, const Mapped *m, Run *r, bool alike) {
    if (!r->side) r->side = m->side == PE ? NORTH : m->side;
    while (!next_on_line(c, m, r)) {
        r->next = 0;
        r->line = alike ? next_line(c, r->side, r->line) : r->line + 1;
        if (r->line < lines(c, r->side)) continue;
        if (m->side != PE || r->side == WEST) return false;
        ++r->side;
        r->line = 0;
    }
    if (!alike) r->lines = 1;
    return true;
}

// Visits lines that are alike once.
void each_run(Context *c, Visit *visit) {
    for (uint32_t side = NORTH; side <= WEST; ++side)
        for (uint32_t line = 0; line < lines(c, side); line = next_line(c, side, line))
            for (Mapped *m = c->mapped; m < c->mapped + c->s.inputs + c->s.outputs; ++m)
                for (Run r = {.side = side, .line = line}; next_on_line(c, m, &r);) visit(c, m, &r);
}

Spot spot_of(const Context *c, const Run *r, uint32_t line, uint32_t element) {
    const int axis = axis_of(r->side);
    Spot s = {.links = r->links + 2 * element, .group = r->group};
    s.at[axis] = r->line + 2 * line;
    s.at[!axis] = is_far(r->side) ? length(c, axis) - 1 - s.links : s.links;
    return s;
}

// Where an element has its bank, and how far away.
uint32_t terminal_side(const Context *c, const Mapped *m, Spot *s) {
    s->links = 0;
    if (m->side != PE) return m->side;
    const int axis = (s->at[0] + s->at[1]) % 2 != 0;
    const uint32_t near = s->at[!axis], far = length(c, axis) - 1 - near;
    const uint32_t sides[2] = {axis ? NORTH : WEST, axis ? SOUTH : EAST};
    const bool at_far = is_open(c, sides[1]) && (near > far || !is_open(c, sides[0]));
    s->links = at_far ? far : near;
    return sides[at_far];
}

// Whether wrappers may connect a border port with a port: outwards, or else inwards.
static bool adjacent(const Limits *l, bool outwards, Port border, Port other) {
    for (uint32_t i = 0; i < l->pairs; ++i)
        if (same_bytes(&l->adjacent[i][outwards], &border, sizeof border) &&
            same_bytes(&l->adjacent[i][!outwards], &other, sizeof other))
            return true;
    return !l->restricted;
}

static uint32_t last_channel(const Limits *l) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < 2 * l->pairs; ++i) {
        const Port p = l->adjacent[i / 2][i % 2];
        if (p.location != PE && p.index >= last) last = p.index + 1;
    }
    return last;
}

// The border that has all elements of an access, or PE. Without elements it is WEST.
static uint32_t common_border(const Context *c, const Mapped *m) {
    uint32_t north = NONE, south = 0, west = NONE, east = 0;
    for (const Cell *cell = c->cell; cell < c->cell + c->cells; ++cell) {
        if (!m->there[cell->group]) continue;
        if (cell->row < north) north = cell->row;
        if (cell->west < west) west = cell->west;
        if (cell->row + cell->height > south) south = cell->row + cell->height;
        if (cell->west + cell->width > east) east = cell->west + cell->width;
    }
    return east < 2 && is_open(c, WEST)                    ? WEST
           : south < 2 && is_open(c, NORTH)                ? NORTH
           : west + 1 == c->t->columns && is_open(c, EAST) ? EAST
           : north + 1 == c->t->rows && is_open(c, SOUTH)  ? SOUTH
                                                           : PE;
}

static bool has(const uint32_t *bits, uint32_t i) { return bits[i / 32] >> i % 32 & 1; }
static void set(uint32_t *bits, uint32_t i) { bits[i / 32] |= (uint32_t)1 << i % 32; }

// The first channel that is usable and not taken, or NONE.
static uint32_t lowest(const Context *c, const uint32_t *usable, const uint32_t *taken) {
    for (uint32_t channel = 0; channel < 32 * c->words; ++channel)
        if (has(usable, channel) && !has(taken, channel)) return channel;
    return NONE;
}

// Whether elements send each other something on a route.
static bool sends(Context *c, const Route *r) {
    for (uint32_t i = 0; i < c->cells; ++i)
        if (leaving(c, r, c->cell[i].row, c->cell[i].column)) return true;
    return false;
}

// The channels over which elements at a border, or further inside, can have their banks there: those that wrappers can
// connect and, further inside, over which elements do not send each other anything.
static uint32_t *usable(Context *c, const Mapped *m, uint32_t side, bool inside) {
    const uint32_t across = opposite(side);
    uint32_t *bits = keep(c, c->words, sizeof *bits);
    for (uint32_t channel = 0; bits && channel < 32 * c->words; ++channel) {
        const Port border = {side, channel};
        const bool near = adjacent(&c->s.limits, m->is_output, border, (Port){PE, m->reg});
        if (near && (!inside || adjacent(&c->s.limits, m->is_output, border, (Port){across, channel})))
            set(bits, channel);
    }
    for (const Route *r = c->candidate->route; bits && inside && r < c->candidate->route + c->candidate->routes; ++r)
        for (const Port *hop = r->hop; hop < r->hop + r->hops; ++hop)
            if (hop->location == (m->is_output ? side : across) && hop->index / 32 < c->words && sends(c, r))
                bits[hop->index / 32] &= ~((uint32_t)1 << hop->index % 32);
    return bits;
}

// Remembers the first element that gets no channel: of the first access, in the order in which elements are served.
static void lack(Context *c, uint32_t access, const Run *r, uint32_t element) {
    Served *s = &c->served;
    const Spot spot = spot_of(c, r, 0, element);
    const uint64_t place = ((uint64_t)spot.links << 16 | spot.at[0]) << 16 | spot.at[1];
    if (access > s->access || (access == s->access && place >= s->place)) return;
    s->access = access;
    s->side = r->side;
    s->place = place;
}

// Gives the lowest free channels at a border port to so many accesses, one after another, and to nearest elements
// first.
void serve_port(Context *c, uint32_t accesses, uint32_t side, uint32_t line) {
    Served *s = &c->served;
    s->last = NONE;
    memset(s->taken, 0, c->words * sizeof *s->taken);
    for (uint32_t i = 0; i < accesses; ++i) {
        const Mapped *m = &c->mapped[i];
        uint32_t w = 0;
        memset(s->bits, 0, c->words * sizeof *s->bits);
        for (Run r = {.side = side, .line = line}; next_on_line(c, m, &r);) {
            uint32_t left = r.count;
            if (!r.links && (s->zero = lowest(c, m->usable[0][side], s->taken)) != NONE) {
                set(s->taken, s->zero);
                --left;
            }
            for (; left && w < c->words && m->side == PE; w += left != 0) {
                uint32_t free = m->usable[1][side][w] & ~s->taken[w], some = 0;
                if (!~free && left >= 32) {
                    some = free;
                    left -= 32;
                } else
                    for (; free && left; --left, free &= free - 1) some |= free & -free;
                s->taken[w] |= some;
                s->bits[w] |= some;
            }
            if (left) lack(c, i, &r, r.count - left);
        }
    }
}

// Allocates the channels at one side. An access of the border takes one channel for all its elements, which must be
// free at every port: the accesses before it are served first.
static bool side_channels(Context *c, uint32_t side) {
    const uint32_t accesses = c->s.inputs + c->s.outputs;
    uint32_t *busy = temp(c, c->words, sizeof *busy);
    TRY(busy);
    for (uint32_t i = 0; i <= accesses; ++i) {
        const Mapped *m = &c->mapped[i];
        if (i < accesses && m->side != side) continue;
        memset(busy, 0, c->words * sizeof *busy);
        for (uint32_t line = 0; line < lines(c, side); line = next_line(c, side, line)) {
            serve_port(c, i, side, line);
            if (i == accesses || next_on_line(c, m, &(Run){.side = side, .line = line}))
                for (uint32_t w = 0; w < c->words; ++w) busy[w] |= c->served.taken[w];
        }
        if (i == accesses) break;
        const uint32_t channel = lowest(c, m->usable[0][side], busy);
        memset(m->usable[0][side], 0, c->words * sizeof *busy);
        if (channel != NONE) set(m->usable[0][side], channel);
    }
    for (uint32_t channel = 0; channel < 32 * c->words; ++channel)
        if (has(busy, channel)) c->needed = max(c->needed, (Int)channel + 1);
    return true;
}

// A border port and a route for every access of every element. PL0517 where none is free; `needed` is set.
bool terminals(Context *c) {
    const size_t high = c->high;
    const uint32_t count = c->s.inputs + c->s.outputs;
    uint32_t channels = 1;  // more than can be taken at a border port
    TRY(c->mapped = keep(c, count, sizeof(Mapped)));
    for (uint32_t i = 0; i < count; ++i) {
        Mapped *m = &c->mapped[i];
        m->is_output = i >= c->s.inputs;
        m->access = m->is_output ? &c->s.output[i - c->s.inputs] : &c->s.input[i];
        m->reg = m->is_output ? c->candidate->output[i - c->s.inputs] : c->candidate->input[i];
        m->there = c->accessing[c->s.node[m->access->node].condition];
        m->side = common_border(c, m);
        channels +=
            m->side == PE ? (c->t->rows > c->t->columns ? c->t->rows : c->t->columns) / (c->closed ? 2 : 4) + 2 : 1;
        TRY(m->group = keep(c, c->groups, sizeof *m->group));
    }
    for (uint32_t r = 0; r < c->candidate->routes; ++r) channels += c->candidate->route[r].hops;
    if (c->s.limits.restricted) channels = (uint32_t)max(channels, last_channel(&c->s.limits));
    c->words = channels / 32 + 1;
    c->needed = 0;
    c->served = (Served){
        .access = NONE, .taken = keep(c, c->words, sizeof(uint32_t)), .bits = keep(c, c->words, sizeof(uint32_t))};
    c->sight = (Sight){.at = keep(c, c->cells, sizeof *c->sight.at)};
    TRY(c->served.taken && c->served.bits && c->sight.at);
    for (uint32_t side = NORTH; side <= WEST; ++side) {
        for (Mapped *m = c->mapped; m < c->mapped + count; ++m)
            for (int inside = 0; inside < (m->side == PE ? 2 : m->side == side); ++inside)
                TRY(m->usable[inside][side] = usable(c, m, side, inside));
        TRY(side_channels(c, side));
    }
    c->high = high;
    if (c->served.access == NONE) return true;
    const Mapped *m = &c->mapped[c->served.access];
    c->about.side = c->served.side;
    return refuse(c, 517, m->is_output ? POLYLOOM_RESULT : POLYLOOM_INPUT, m->reg, 0, 0);
}

static uint32_t code(Port p) { return p.location << 13 | p.index; }

// Adds a connection to those sorted by sink. A sink with two sources is a contradiction of the file: PL0530.
static bool connect(Context *c, Vec *out, Port sink, Port source) {
    const uint32_t most = sink.index > source.index ? sink.index : source.index, made = code(sink) << 16 | code(source);
    if (most >= 8192) return refuse(c, 706, POLYLOOM_FIELD, 2, most, 8192);
    c->about.side = sink.location;
    const uint32_t *at = out->at;
    for (uint32_t i = 0; i < out->count; ++i)
        if (at[i] >> 16 == code(sink)) return at[i] == made || refuse(c, 530, POLYLOOM_PORT, sink.index, 0, 0);
    return insert_once(c, out, made);
}

// The connections of an element for values that take a route, wherever it begins: the i-th hop is here if it begins i
// hops before.
static bool propagation(Context *c, const Cell *cell, const Route *r, Vec *out) {
    Int at[2] = {cell->row, cell->column};  // where a route begins that is here after i hops
    Port source = {PE, r->output};
    for (uint32_t i = 0; i <= r->hops; ++i) {
        const Port sink = i < r->hops ? r->hop[i] : (Port){PE, r->input};
        const int8_t *step = STEP[sink.location];
        if (leaving(c, r, at[0], at[1])) {
            TRY(connect(c, out, sink, source));
            if (cell->row + (uint32_t)step[0] >= c->t->rows || cell->column + (uint32_t)step[1] >= c->t->columns)
                return refuse(c, 530, POLYLOOM_REGION, 0, 0, 0);
        }
        for (int axis = 0; axis < 2; ++axis) at[axis] -= step[axis];
        source = (Port){opposite(sink.location), sink.index};
    }
    return true;
}

// An input's register has one driver.
static bool lone(Context *c, const Cell *cell, uint32_t input, const Vec *wires) {
    const Mapped *m = &c->mapped[input];
    const uint32_t *at = wires->at;
    bool found = false;
    for (uint32_t i = 0; i < input; ++i)
        found = found || (c->mapped[i].reg == m->reg && c->mapped[i].there[cell->group]);
    for (uint32_t i = 0; i < wires->count; ++i) found = found || at[i] >> 16 == m->reg;
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
    Vec found = {0};
    c->about.place = cell->row * c->t->columns + cell->column;
    TRY(wrapper_of(c, cell, &found));
    const Wires *known = c->wires.at;
    uint32_t i = 0;
    while (i < c->wires.count &&
           (known[i].count != found.count || !same_bytes(known[i].at, found.at, found.count * sizeof *known->at)))
        ++i;
    cell->wrapper = i;
    Wires made = {found.count, NULL};
    if (i == c->wires.count) TRY(made.at = copied(c, found.at, found.count, sizeof *made.at));
    c->high = mark;
    return made.at == NULL || add_item(c, &c->wires, &made, sizeof made);
}

// The wrappers of all cells, numbered by first element.
bool wire(Context *c) {
    c->wires = (Vec){0};
    for (uint32_t i = 0; i < c->cells; ++i) TRY(wrapper(c, &c->cell[i]));
    return ok(c);
}
