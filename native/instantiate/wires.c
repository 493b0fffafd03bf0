// SPDX-License-Identifier: Apache-2.0
// Routes between elements and banks, and interconnect wrappers (the paper, section 6). An access takes the border directly where
// all its elements lie on one; otherwise every element has a straight route of its own, nearest elements first. Routes are of banks:
// wrappers have what elements send each other.
#include "internal.h"

static uint32_t opposite(uint32_t location) { return location == PE ? PE : 1 + (location + 1) % 4; }

bool has_terminal(const Context *c, const Mapped *m, uint32_t group) { return c->accessing[c->s.node[m->access->node].condition][group]; }

// Lines of elements end at sides: rows (axis 0) west and east, columns (axis 1) north and south. Border ports at the same end of lines
// of the same interval and parity serve the same elements: they are one pattern.
static int axis_of(uint32_t side) { return side == NORTH || side == SOUTH; }

static bool is_far(uint32_t side) { return side == EAST || side == SOUTH; }

static uint32_t length(const Context *c, int axis) { return axis ? c->t->rows : c->t->columns; }

uint32_t lines(const Context *c, uint32_t side) { return length(c, !axis_of(side)); }

static uint32_t line_classes(const Context *c, int axis) { return c->slanted ? length(c, !axis) : c->cut[axis].count; }

static uint32_t pattern(const Context *c, uint32_t side, uint32_t line) {
    const int axis = axis_of(side);
    const uint32_t class_ = c->slanted ? line : interval(&c->cut[axis], line);
    return 4 * ((axis ? line_classes(c, 0) : 0) + class_) + 2 * (line & 1) + is_far(side);
}

static uint32_t patterns(const Context *c) { return 4 * (line_classes(c, 0) + line_classes(c, 1)); }

// The elements of an access on a line that have their bank at its end: elements with even row + column have it at an end of their
// row, the others at one of their column, the nearer one. An access of a border has one element on each line.
Run run_along(const Context *c, const Mapped *m, uint32_t side, uint32_t line) {
    const int axis = axis_of(side);
    const uint32_t far = is_far(side), last = length(c, axis) - 1;
    if (m->border) return (Run){.side = side, .line = line, .step = 1, .stop = side == m->side};
    return (Run){.side = side, .line = line, .step = 2, .next = (line ^ (uint32_t)axis ^ (far ? last : 0)) & 1, .stop = (last + 2 - far) / 2};
}

void locate(const Context *c, const Run *r, uint32_t links, uint32_t *at) {
    const int axis = axis_of(r->side);
    at[axis] = r->line;
    at[!axis] = is_far(r->side) ? length(c, axis) - 1 - links : links;
}

// The elements on a line that have tiles equal to that of one of them and lie beside it.
static void equals(Context *c, Run *r, int axis, const uint32_t *at, uint32_t *from, uint32_t *to) {
    const uint32_t x = at[!axis];
    if (!c->slanted) {
        const List *cuts = &c->cut[!axis];
        const uint32_t i = interval(cuts, x);
        *from = cuts->at[i];
        *to = i + 1 < cuts->count ? cuts->at[i + 1] : length(c, axis);
        r->group = group_at(c, at[0], at[1]);
        return;
    }
    const Cell *k = &c->cell[r->cell];
    while (at[0] - k->row >= k->height || at[1] - k->west >= k->width || !span(k, axis, at[axis], from, to) || x < *from || x >= *to)
        if (++k == c->cell + c->cells) k = c->cell;
    r->cell = (uint32_t)(k - c->cell);
    r->group = k->group;
}

// The next of them that lie in equal tiles, nearest first.
bool next_run(Context *c, const Mapped *m, Run *r) {
    while (r->next < r->stop) {
        const int axis = axis_of(r->side);
        uint32_t at[2], from, to;
        locate(c, r, r->next, at);
        equals(c, r, axis, at, &from, &to);
        const uint32_t after = is_far(r->side) ? length(c, axis) - from : to;
        r->links = r->next;
        r->count = ((after < r->stop ? after : r->stop) - r->links + r->step - 1) >> (r->step - 1);  // steps are 1 or 2
        r->next += r->count * r->step;
        if (has_terminal(c, m, r->group)) return true;
    }
    return false;
}

const Served *served_on(const Context *c, const Mapped *m, uint32_t side, uint32_t line) {
    return m->border ? NULL : &m->served[pattern(c, side, line)];
}

// How many are at most so many links away, and whether one is at the border.
static uint32_t served(Context *c, const Mapped *m, uint32_t side, uint32_t line, uint32_t links, bool *at_border) {
    Run r = run_along(c, m, side, line);
    uint32_t count = 0;
    *at_border = false;
    if (links < r.stop) r.stop = links + 1;
    while (next_run(c, m, &r)) {
        *at_border = *at_border || !r.links;
        count += r.count;
    }
    return count;
}

// The next line that may differ from all before: lines of one interval and parity are alike.
uint32_t next_line(const Context *c, uint32_t side, uint32_t line) {
    if (c->slanted) return line + 1;
    const List *cuts = &c->cut[axis_of(side)];
    const uint32_t i = interval(cuts, line), after = i + 1 < cuts->count ? cuts->at[i + 1] : lines(c, side);
    return line == cuts->at[i] && line + 1 < after ? line + 1 : after;
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

// Whether elements send each other something on a channel in a direction.
static bool propagates(Context *c, uint32_t direction, uint32_t channel) {
    for (const Route *r = c->candidate->route; r < c->candidate->route + c->candidate->routes; ++r) {
        bool passes = false;
        for (uint32_t i = 0; i < r->hops; ++i) passes = passes || (r->hop[i].location == direction && r->hop[i].index == channel);
        for (uint32_t i = 0; i < c->cells && passes; ++i)
            if (leaving(c, r, c->cell[i].row, c->cell[i].column)) return true;
    }
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
        inside[WEST] = inside[WEST] || cell->west + cell->width > 1;
        inside[NORTH] = inside[NORTH] || cell->row + cell->height > 1;
        inside[EAST] = inside[EAST] || cell->west + 1 < c->t->columns;
        inside[SOUTH] = inside[SOUTH] || cell->row + 1 < c->t->rows;
    }
    static const uint8_t preference[] = {WEST, NORTH, EAST, SOUTH};
    for (int i = 0; i < 4; ++i)
        if (!inside[preference[i]]) return preference[i];
    return PE;
}

static bool no_channel(Context *c, const Mapped *m, uint32_t side) {
    c->about.side = side;
    return refuse(c, 517, m->is_output ? POLYLOOM_RESULT : POLYLOOM_INPUT, m->reg, 0, 0);
}

static bool has(const uint32_t *bits, uint32_t i) { return bits[i / 32] >> i % 32 & 1; }
static void set(uint32_t *bits, uint32_t i) { bits[i / 32] |= (uint32_t)1 << i % 32; }

// Whether a channel is free at the border ports of all elements of an access; with `taking`, it is taken there.
static bool border_channel(Context *c, const Mapped *m, uint32_t *taken, uint32_t channel, bool taking) {
    for (uint32_t line = 0; line < lines(c, m->side); line = next_line(c, m->side, line)) {
        bool there;
        if (!served(c, m, m->side, line, 0, &there)) continue;
        uint32_t *bits = taken + (size_t)pattern(c, m->side, line) * c->words;
        if (!taking && has(bits, channel)) return false;
        if (taking) set(bits, channel);
    }
    return true;
}

static uint32_t channels_end(const Context *c) { return c->s.limits.restricted ? last_channel(&c->s.limits) : 32 * c->words; }

static bool border(Context *c, Mapped *m, uint32_t *taken) {
    const uint32_t end = channels_end(c);
    for (m->channel = 0; m->channel < end; ++m->channel)
        if (connectable(c, m, m->side, m->channel, 0) && border_channel(c, m, taken, m->channel, false)) return border_channel(c, m, taken, m->channel, true);
    return no_channel(c, m, m->side);
}

// The channels over which elements further inside can have their banks: connectable ones on which elements send each other nothing.
static uint32_t *usable(Context *c, const Mapped *m, uint32_t side) {
    const uint32_t end = channels_end(c), direction = m->is_output ? side : opposite(side);
    uint32_t *bits = temp(c, c->words, sizeof *bits);
    for (uint32_t channel = 0; bits && channel < end; ++channel)
        if (connectable(c, m, side, channel, 1) && !propagates(c, direction, channel)) set(bits, channel);
    return bits;
}

// The lowest free channels, nearest elements first: `out` has as many as there are.
static uint32_t serve(Context *c, const Mapped *m, uint32_t side, const uint32_t *inner, uint32_t count, bool at_border, uint32_t *taken, Served *out) {
    const uint32_t end = channels_end(c);
    out->zero = NONE;
    out->count = 0;
    for (uint32_t channel = 0; channel < end && at_border && out->zero == NONE; ++channel)
        if (!has(taken, channel) && connectable(c, m, side, channel, 0)) out->zero = channel;
    if (at_border && out->zero == NONE) return 0;
    if (at_border) set(taken, out->zero);
    out->count = at_border;
    for (uint32_t w = 0; w < c->words && out->count < count; ++w) {
        uint32_t left = inner[w] & ~taken[w];
        if (left == UINT32_MAX && count - out->count >= 32) {
            out->bits[w] = left;
            out->count += 32;
        } else
            for (; left && out->count < count; ++out->count, left &= left - 1) out->bits[w] |= left & -left;
        taken[w] |= out->bits[w];
    }
    return out->count;
}

// The side at which an element has its bank, and how far away.
uint32_t terminal_side(const Context *c, const Mapped *m, uint32_t row, uint32_t column, uint32_t *links) {
    *links = 0;
    if (m->border) return m->side;
    const int axis = (row + column) % 2 != 0;
    const uint32_t near = axis ? row : column, far = length(c, axis) - 1 - near;
    *links = near > far ? far : near;
    return near > far ? (axis ? SOUTH : EAST) : axis ? NORTH : WEST;
}

// The first element, in the order in which they are served, for which there was no channel.
static bool refuse_first(Context *c, const Mapped *m) {
    for (uint32_t wanted = 0;; ++wanted)
        for (uint32_t e = 0; e < c->t->rows * c->t->columns; ++e) {
            const uint32_t row = e / c->t->columns, column = e % c->t->columns;
            uint32_t links;
            const uint32_t side = terminal_side(c, m, row, column, &links), line = axis_of(side) ? column : row;
            if (links != wanted || !has_terminal(c, m, group_at(c, row, column))) continue;
            bool there;
            if (served(c, m, side, line, links, &there) > served_on(c, m, side, line)->count) return no_channel(c, m, side);
        }
}

static bool interior(Context *c, Mapped *m, uint32_t *taken) {
    bool all = true;
    TRY(m->served = keep(c, patterns(c), sizeof *m->served));
    for (uint32_t side = NORTH; side <= WEST; ++side) {
        const uint32_t *inner = usable(c, m, side);
        TRY(inner);
        for (uint32_t line = 0; line < lines(c, side); line = next_line(c, side, line)) {
            bool at_border;
            const uint32_t p = pattern(c, side, line), count = served(c, m, side, line, NONE - 1, &at_border);
            TRY(m->served[p].bits = keep(c, c->words, sizeof(uint32_t)));
            all = serve(c, m, side, inner, count, at_border, taken + (size_t)p * c->words, &m->served[p]) == count && all;
        }
    }
    return all || refuse_first(c, m);
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
    c->needed = 0;
    for (uint32_t i = 0; i < count; ++i) {
        Mapped *m = &c->mapped[i];
        m->is_output = i >= c->s.inputs;
        m->access = m->is_output ? &c->s.output[i - c->s.inputs] : &c->s.input[i];
        m->reg = m->is_output ? c->candidate->output[i - c->s.inputs] : c->candidate->input[i];
        m->side = common_border(c, m, &m->used);
        m->border = m->side != PE;
        inside = inside || (m->used && !m->border);
    }
    c->words = channel_words(c, inside);
    uint32_t *taken = temp(c, (size_t)patterns(c) * c->words, sizeof *taken);
    TRY(taken);
    for (uint32_t i = 0; i < count; ++i) {
        Mapped *m = &c->mapped[i];
        if (m->used) TRY(m->border ? border(c, m, taken) : interior(c, m, taken));
    }
    for (size_t p = 1; p < patterns(c); ++p)
        for (uint32_t w = 0; w < c->words; ++w) taken[w] |= taken[p * c->words + w];
    for (uint32_t channel = 0; channel < 32 * c->words; ++channel)
        if (has(taken, channel)) c->needed = (Int)channel + 1;
    c->high = high;
    return true;
}

// The channel of an element on a line; `last` is that of the one before, which is nearer, or NONE.
uint32_t terminal_channel(const Mapped *m, const Served *s, uint32_t links, uint32_t *last) {
    if (m->border) return m->channel;
    if (!links) return s->zero;
    do ++*last;
    while (!has(s->bits, *last));
    return *last;
}

static bool connect(Context *c, Vec *out, Port sink, Port source) {
    const uint32_t most = sink.index > source.index ? sink.index : source.index;
    if (most >= 8192) return refuse(c, 706, POLYLOOM_FIELD, 2, most, 8192);
    const Connection *at = out->at;
    uint32_t i = out->count;
    for (; i; --i) {  // sorted by location, then index
        const Port other = at[i - 1].sink, driver = at[i - 1].source;
        if (other.location == sink.location && other.index == sink.index) {
            c->about.side = sink.location;
            return (driver.location == source.location && driver.index == source.index) || refuse(c, 530, POLYLOOM_PORT, sink.index, 0, 0);
        }
        if (other.location < sink.location || (other.location == sink.location && other.index < sink.index)) break;
    }
    TRY(push(c, out, sizeof *at));
    Connection *to = out->at;
    memmove(to + i + 1, to + i, (out->count - 1 - i) * sizeof *to);
    to[i] = (Connection){sink, source};
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
        if (starts && (to[0] < 0 || to[1] < 0 || to[0] >= (Int)c->t->rows || to[1] >= (Int)c->t->columns)) return refuse(c, 530, POLYLOOM_REGION, 0, 0, 0);
    }
    return true;
}

// An input's register has one driver.
static bool lone(Context *c, const Cell *cell, uint32_t input, const Vec *wires) {
    const Mapped *m = &c->mapped[input];
    const Connection *at = wires->at;
    bool found = false;
    for (uint32_t i = 0; i < input; ++i) found = found || (c->mapped[i].reg == m->reg && has_terminal(c, &c->mapped[i], cell->group));
    for (uint32_t i = 0; i < wires->count; ++i) found = found || (at[i].sink.location == PE && at[i].sink.index == m->reg);
    c->about.side = PE;
    return !found || refuse(c, 530, POLYLOOM_PORT, m->reg, 0, 0);
}

// The connections of an element's wrapper, sorted by sink.
static bool wrapper_of(Context *c, const Cell *cell, Vec *out) {
    for (uint32_t r = 0; r < c->candidate->routes; ++r) TRY(propagation(c, cell, &c->candidate->route[r], out));
    for (uint32_t i = 0; i < c->s.inputs; ++i)
        if (has_terminal(c, &c->mapped[i], cell->group)) TRY(lone(c, cell, i, out));
    return true;
}

static bool wrapper(Context *c, Cell *cell) {
    const size_t mark = c->high;
    const Wires *known = c->wires.at;
    Vec found = {0};
    c->about.place = cell->row * c->t->columns + cell->column;
    TRY(wrapper_of(c, cell, &found));
    const size_t size = found.count * sizeof(Connection);
    cell->wrapper = 0;
    while (cell->wrapper < c->wires.count && (known[cell->wrapper].count != found.count || (size && memcmp(known[cell->wrapper].at, found.at, size)))) ++cell->wrapper;
    if (cell->wrapper < c->wires.count) return c->high = mark, true;
    Wires made = {found.count, keep(c, found.count, sizeof(Connection))}, *slot;
    TRY(made.at);
    if (size) memcpy(made.at, found.at, size);
    c->high = mark;
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
