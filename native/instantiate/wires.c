// SPDX-License-Identifier: Apache-2.0
// Routes between elements and banks, and interconnect wrappers (the paper, section 6). An access takes the border directly where
// all its elements lie on one; otherwise every element has a straight route of its own, nearest elements first.
#include "internal.h"

static uint32_t opposite(uint32_t location) { return location == PE ? PE : 1 + (location + 1) % 4; }

bool has_terminal(const Context *c, const Mapped *m, uint32_t group) { return c->accessing[c->s.node[m->access->node].condition][group]; }

// Lines of elements are rows (axis 0, which end west and east) or columns (axis 1, north and south). Border ports at the same end
// of lines of the same interval and parity serve the same elements: they are one pattern.
static uint32_t end_of(int axis, uint32_t end) { return axis ? (end ? SOUTH : NORTH) : end ? EAST : WEST; }

static uint32_t line_class(const Context *c, int axis, uint32_t line) { return c->slanted ? line : interval(&c->cut[axis], line); }

static uint32_t line_classes(const Context *c, int axis) { return c->slanted ? (axis ? c->t->columns : c->t->rows) : c->cut[axis].count; }

static uint32_t pattern(const Context *c, int axis, uint32_t line, uint32_t end) {
    return 4 * ((axis ? line_classes(c, 0) : 0) + line_class(c, axis, line)) + 2 * (line & 1) + end;
}

static uint32_t patterns(const Context *c) { return 4 * (line_classes(c, 0) + line_classes(c, 1)); }

static uint32_t length(const Context *c, int axis) { return axis ? c->t->rows : c->t->columns; }

// How many numbers of a parity are below x.
static uint32_t below(uint32_t x, uint32_t parity) { return (x + 1 - parity) / 2; }

// The elements of an access on a line that have their bank at its end and are at most `links` away from it: elements with even
// row + column have it at an end of their row, the others at one of their column, the nearer one.
static uint32_t served(Context *c, const Mapped *m, int axis, uint32_t line, uint32_t end, uint32_t links) {
    const uint32_t size = length(c, axis), depth = (size + 1 - end) / 2, parity = (line ^ (uint32_t)axis) & 1;
    const uint32_t nearest = links < depth ? links + 1 : depth, first = end ? size - nearest : 0, last = end ? size : nearest;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->cells && c->slanted; ++i) {
        uint32_t from, to;
        if (!has_terminal(c, m, c->cell[i].group) || !span(&c->cell[i], axis, line, &from, &to)) continue;
        from = from > first ? from : first;
        to = to < last ? to : last;
        if (from < to) count += below(to, parity) - below(from, parity);
    }
    for (uint32_t at = first; at < last && !c->slanted;) {
        const List *cuts = &c->cut[!axis];
        const uint32_t i = interval(cuts, at) + 1, stop = i < cuts->count && cuts->at[i] < last ? cuts->at[i] : last;
        if (has_terminal(c, m, axis ? group_at(c, at, line) : group_at(c, line, at))) count += below(stop, parity) - below(at, parity);
        at = stop;
    }
    return count;
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
    const int axis = m->side == NORTH || m->side == SOUTH;
    for (uint32_t i = 0; i < c->cells; ++i) {
        const Cell *cell = &c->cell[i];
        if (!has_terminal(c, m, cell->group)) continue;
        const uint32_t line = axis ? cell->west : cell->row, lines = axis ? cell->width : cell->height;
        for (uint32_t k = 0; k < lines && (k < 2 || c->slanted); ++k) {
            uint32_t *bits = taken + (size_t)pattern(c, axis, line + k, m->side == EAST || m->side == SOUTH) * c->words;
            if (!taking && has(bits, channel)) return false;
            if (taking) set(bits, channel);
        }
    }
    return true;
}

static uint32_t channels_end(const Context *c) { return c->s.limits.restricted ? last_channel(&c->s.limits) : 32 * c->words; }

static bool border(Context *c, Mapped *m, uint32_t *taken) {
    const uint32_t end = channels_end(c);
    for (m->channel = 0; m->channel < end; ++m->channel)
        if (connectable(c, m, m->side, m->channel, 0) && border_channel(c, m, taken, m->channel, false)) {
            c->needed = max(c->needed, (Int)m->channel + 1);
            return border_channel(c, m, taken, m->channel, true);
        }
    return no_channel(c, m, m->side);
}

// The lowest free channels, nearest elements first: `out` has as many as there are.
static uint32_t serve(Context *c, const Mapped *m, uint32_t side, uint32_t count, bool at_border, uint32_t *taken, Served *out) {
    const uint32_t end = channels_end(c), direction = m->is_output ? side : opposite(side);
    out->zero = NONE;
    out->count = 0;
    for (uint32_t channel = 0; channel < end && at_border && out->zero == NONE; ++channel)
        if (!has(taken, channel) && connectable(c, m, side, channel, 0)) out->zero = channel;
    if (at_border && out->zero == NONE) return 0;
    if (at_border) set(taken, out->zero);
    out->count = at_border;
    c->needed = max(c->needed, at_border ? (Int)out->zero + 1 : 0);
    for (uint32_t channel = 0; channel < end && out->count < count; ++channel) {
        if (has(taken, channel) || propagates(c, direction, channel) || !connectable(c, m, side, channel, 1)) continue;
        set(taken, channel);
        set(out->bits, channel);
        c->needed = max(c->needed, (Int)channel + 1);
        ++out->count;
    }
    return out->count;
}

static void nearest(const Context *c, uint32_t row, uint32_t column, int *axis, uint32_t *end, uint32_t *links) {
    *axis = (row + column) % 2 != 0;
    const uint32_t near = *axis ? row : column, far = length(c, *axis) - 1 - near;
    *end = near > far;
    *links = *end ? far : near;
}

// The first element, in the order in which they are served, for which there was no channel.
static bool refuse_first(Context *c, const Mapped *m) {
    for (uint32_t wanted = 0;; ++wanted)
        for (uint32_t e = 0; e < c->t->rows * c->t->columns; ++e) {
            const uint32_t row = e / c->t->columns, column = e % c->t->columns;
            uint32_t end, links;
            int axis;
            nearest(c, row, column, &axis, &end, &links);
            if (links != wanted || !has_terminal(c, m, group_at(c, row, column))) continue;
            const uint32_t line = axis ? column : row;
            if (served(c, m, axis, line, end, links) > m->served[pattern(c, axis, line, end)].count) return no_channel(c, m, end_of(axis, end));
        }
}

static bool interior(Context *c, Mapped *m, uint32_t *taken) {
    bool all = true;
    TRY(m->served = keep(c, patterns(c), sizeof *m->served));
    for (int axis = 0; axis < 2; ++axis)
        for (uint32_t k = 0; k < line_classes(c, axis); ++k) {
            const uint32_t first = c->slanted ? k : c->cut[axis].at[k];
            const uint32_t last = c->slanted ? k + 1 : k + 1 < c->cut[axis].count ? c->cut[axis].at[k + 1] : length(c, !axis);
            for (uint32_t line = first; line < last && line < first + 2; ++line)
                for (uint32_t end = 0; end < 2; ++end) {
                    const uint32_t p = pattern(c, axis, line, end), count = served(c, m, axis, line, end, NONE - 1);
                    TRY(m->served[p].bits = keep(c, c->words, sizeof(uint32_t)));
                    const bool at_border = served(c, m, axis, line, end, 0);
                    all = serve(c, m, end_of(axis, end), count, at_border, taken + (size_t)p * c->words, &m->served[p]) == count && all;
                }
        }
    c->interior = true;
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
    c->interior = false;
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
    c->high = high;
    return true;
}

uint32_t terminal_links(const Context *c, const Mapped *m, uint32_t row, uint32_t column) {
    uint32_t end, links = 0;
    int axis;
    if (!m->border) nearest(c, row, column, &axis, &end, &links);
    return links;
}

// The n-th number of a set.
static uint32_t nth(const uint32_t *bits, uint32_t n) {
    for (uint32_t i = 0;; ++i)
        if (has(bits, i) && !n--) return i;
}

uint32_t terminal_side(Context *c, const Mapped *m, uint32_t row, uint32_t column, uint32_t *channel) {
    uint32_t end, links;
    int axis;
    *channel = m->channel;
    if (m->border) return m->side;
    nearest(c, row, column, &axis, &end, &links);
    const uint32_t line = axis ? column : row;
    const Served *s = &m->served[pattern(c, axis, line, end)];
    if (!links)
        *channel = s->zero;
    else
        *channel = nth(s->bits, served(c, m, axis, line, end, links - 1) - (s->zero != NONE));
    return end_of(axis, end);
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
        if (starts && (to[0] < 0 || to[1] < 0 || to[0] >= (Int)c->t->rows || to[1] >= (Int)c->t->columns)) return refuse(c, 530, POLYLOOM_REGION, 0, 0, 0);
    }
    return true;
}

static bool bank(Context *c, const Mapped *m, uint32_t side, uint32_t channel, Port inner, Vec *out) {
    const Port outer = {side, channel};
    return m->is_output ? connect(c, out, outer, inner) : connect(c, out, inner, outer);
}

// Routes of elements further inside that pass this one on their way to an end of its row or column.
static bool passing(Context *c, const Mapped *m, const Cell *cell, int axis, uint32_t end, Vec *out) {
    const uint32_t line = axis ? cell->column : cell->row, at = axis ? cell->row : cell->column, side = end_of(axis, end);
    const Served *s = &m->served[pattern(c, axis, line, end)];
    uint32_t left = s->count - served(c, m, axis, line, end, end ? length(c, axis) - 1 - at : at);
    for (uint32_t i = left ? nth(s->bits, s->count - (s->zero != NONE) - left) : 0; left; ++i) {
        if (!has(s->bits, i)) continue;
        TRY(bank(c, m, side, i, (Port){opposite(side), i}, out));
        --left;
    }
    return true;
}

// The connections of an element's wrapper, sorted by sink.
static bool wrapper_of(Context *c, const Cell *cell, Vec *out) {
    for (uint32_t r = 0; r < c->candidate->routes; ++r) TRY(propagation(c, cell, &c->candidate->route[r], out));
    for (uint32_t i = 0; i < c->s.inputs + c->s.outputs; ++i) {
        const Mapped *m = &c->mapped[i];
        if (!m->used) continue;
        if (has_terminal(c, m, cell->group)) {
            uint32_t channel;
            const uint32_t side = terminal_side(c, m, cell->row, cell->column, &channel);
            TRY(bank(c, m, side, channel, (Port){PE, m->reg}, out));
        }
        for (uint32_t k = 0; k < 4 && !m->border; ++k) TRY(passing(c, m, cell, k / 2, k % 2, out));
    }
    return true;
}

typedef struct {
    Wires **bucket;
    uint32_t buckets;
    uint8_t *out;  // where new wrappers are written, or null
    size_t size, used;
} Known;

// The connections in the bytes of the file, after their count.
static uint8_t *encoded(Context *c, const Vec *found) {
    uint8_t *bytes = temp(c, found->count + 1, 4), *at = bytes;
    const Connection *k = found->at;
    for (uint32_t i = 0; bytes && i <= found->count; ++i) {
        const uint32_t word = i ? k[i - 1].sink | k[i - 1].source << 16 : found->count;
        for (int n = 0; n < (i ? 4 : 2); ++n) *at++ = (uint8_t)(word >> 8 * n);
    }
    return bytes;
}

static bool add_wrapper(Context *c, Known *known, const uint8_t *bytes, uint32_t count, Wires **slot) {
    const size_t size = 2 + 4 * (size_t)count;
    uint8_t *to = known->out ? known->out + known->used : keep(c, size, 1);
    if (known->out && size > known->size - known->used) return fail(c, POLYLOOM_OUTPUT, 0);
    TRY(to && (*slot = keep(c, 1, sizeof(Wires))));
    memcpy(to, bytes, size);
    known->used += size;
    **slot = (Wires){NULL, count, c->wrappers++, to};
    return true;
}

static bool wrapper(Context *c, Known *known, const Cell *cell, uint32_t *number) {
    const size_t mark = c->high;
    Vec found = {0};
    c->about.place = cell->row * c->t->columns + cell->column;
    TRY(wrapper_of(c, cell, &found));
    const uint8_t *bytes = encoded(c, &found);
    TRY(bytes);
    const size_t size = 2 + 4 * (size_t)found.count;
    Wires **at = &known->bucket[hash(2166136261u, bytes, size) % known->buckets];
    while (*at && ((*at)->count != found.count || memcmp((*at)->bytes, bytes, size))) at = &(*at)->next;
    if (!*at) TRY(add_wrapper(c, known, bytes, found.count, at));
    *number = (*at)->number;
    c->high = mark;
    if (!known->out && (*at)->number == c->wires.count) {
        const Wires **slot = push(c, &c->wires, sizeof *slot);
        TRY(slot);
        *slot = *at;
    }
    return true;
}

// The wrapper of every cell or, written at once, of every element: routes from inside make them differ. Numbered by first element.
bool wire(Context *c, uint8_t *out, size_t size, size_t *used) {
    const uint32_t elements = c->t->rows * c->t->columns;
    Known known = {NULL, out ? elements / 8 + BUCKETS : BUCKETS, out, size, 0};
    c->wires = (Vec){0};
    c->wrappers = 0;
    TRY(known.bucket = keep(c, known.buckets, sizeof *known.bucket));
    for (uint32_t i = 0; i < c->cells && !out; ++i) TRY(wrapper(c, &known, &c->cell[i], &c->cell[i].wrapper));
    if (!out) return ok(c);
    TRY(c->wrapper = keep(c, elements, sizeof *c->wrapper));
    for (uint32_t e = 0; e < elements; ++e) {
        const uint32_t row = e / c->t->columns, column = e % c->t->columns;
        const Cell element = {.row = row, .column = column, .group = group_at(c, row, column)};
        uint32_t number;
        TRY(wrapper(c, &known, &element, &number));
        if (number > 65535) return refuse(c, 706, POLYLOOM_FIELD, 2, number, 65536);
        c->wrapper[e] = (uint16_t)number;
    }
    *used = known.used;
    return ok(c);
}

// A bound of the connections of one wrapper.
size_t most_connections(const Context *c) {
    size_t most = 0;
    for (uint32_t r = 0; r < c->candidate->routes; ++r) most += c->candidate->route[r].hops + 1;
    for (uint32_t i = 0; i < c->s.inputs + c->s.outputs; ++i) {
        uint32_t ports = 0;
        for (uint32_t p = 0; p < patterns(c) && c->mapped[i].used && !c->mapped[i].border; ++p) ports = (uint32_t)max(ports, c->mapped[i].served[p].count);
        most += 1 + 4 * (size_t)ports;
    }
    return most;
}
