// SPDX-License-Identifier: Apache-2.0
// Concrete configurations as bytes (docs/formats.md), written from front to back; the checksum is filled in at the end.
#include "internal.h"

#define SECTIONS 7
#define HEADER (32 + 4 * SECTIONS)

typedef struct {
    Context *c;
    uint8_t *data;
    size_t size, at;
    uint32_t section;
} Out;

static bool bytes(Out *o, const uint8_t *data, size_t size) {
    if (size > o->size - o->at) return fail(o->c, POLYLOOM_OUTPUT, 0);
    if (size && o->data) memcpy(o->data + o->at, data, size);
    o->at += size;
    return true;
}

static void store(uint8_t *at, uint64_t value, int size) {
    for (int i = 0; i < size; ++i) at[i] = (uint8_t)(value >> 8 * i);
}

static bool put(Out *o, Int value, int size) {
    uint8_t word[4];
    if (value < 0 || (uint64_t)value >> 8 * size) return refuse(o->c, 706, POLYLOOM_FIELD, o->section, value, (Int)((int64_t)1 << 8 * size));
    store(word, (uint64_t)value, size);
    return bytes(o, word, (size_t)size);
}

static bool put_signed(Out *o, Int value) {
    uint8_t word[4];
    const int64_t wide = value;
    if (wide < INT32_MIN || wide > INT32_MAX) return refuse(o->c, 706, POLYLOOM_FIELD, o->section, value, (Int)((int64_t)1 << 31));
    store(word, (uint64_t)value, 4);
    return bytes(o, word, 4);
}

static bool all(Out *o, const Int *values, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) TRY(put(o, values[i], 4));
    return true;
}

static bool close(Out *o) {
    if ((uint64_t)o->at >> 32) return refuse(o->c, 706, POLYLOOM_FIELD, o->section, 0, 0);
    if (o->data) store(o->data + 32 + 4 * o->section, o->at, 4);
    ++o->section;
    while (o->at % 4) TRY(put(o, 0, 1));
    return true;
}

static bool controller(Out *o, bool empty) {
    Context *c = o->c;
    for (int axis = 0; axis < 2; ++axis) TRY(put(o, !empty && c->delay[axis] < 0, 1));
    TRY(put(o, empty ? 0 : c->start, 4));
    for (int axis = 0; axis < 2; ++axis) TRY(put(o, empty ? 0 : magnitude(c->delay[axis]), 4));
    TRY(put(o, empty ? 0 : c->steps, 4) && put(o, empty ? 0 : c->signals, 2));
    for (uint32_t i = 0, number; i < c->signals && !empty; ++i) TRY(pool_domain(c, c->signal[i], &number) && put(o, number, 4));
    return true;
}

static bool head(Out *o, uint32_t rows, uint32_t columns, bool empty) {
    Context *c = o->c;
    TRY(put(o, empty ? 1 : c->schedule->interval, 4) && put(o, rows, 2) && put(o, columns, 2) && put(o, c->n, 1));
    for (uint32_t g = 0; g < c->n; ++g) TRY(put(o, empty ? 0 : c->t->extents[g], 4));
    TRY(controller(o, empty) && put(o, c->s.arrays, 2));
    uint32_t placed = 0;
    for (uint32_t i = 0; i < c->s.arrays; ++i) {
        const uint32_t rank = c->s.array[i].shape.count;
        TRY(put(o, c->s.array[i].head, 1) && all(o, c->layout[i].shape, rank) && all(o, c->layout[i].strides, rank));
        placed += c->layout[i].placed;
    }
    TRY(put(o, placed, 2));
    for (uint32_t i = 0; i < c->s.arrays; ++i)
        if (c->layout[i].placed) TRY(put(o, i, 2) && put(o, c->layout[i].bank, 2) && put(o, c->layout[i].base, 4));
    return close(o);
}

static bool same_depths(const Int *a, uint32_t count, const Int *b, uint32_t other) {
    return count == other && same_bytes(a, b, count * sizeof *a);
}

static bool same_class(const Context *c, const Class *a, const Class *b) {
    for (uint32_t unit = 0; unit < c->s.units; ++unit) {
        const uint32_t x = a->program[unit], y = b->program[unit];
        if ((x == NONE) != (y == NONE) || (x != NONE && c->graph[x].same != c->graph[y].same)) return false;
    }
    return same_depths(a->feedback, a->feedbacks, b->feedback, b->feedbacks) && same_depths(a->input, a->inputs, b->input, b->inputs);
}

// Equal programs become one class: trees may differ where the words do not.
static void number_classes(Context *c) {
    for (uint32_t g = 0; g < c->units; ++g) {
        uint32_t f = 0;
        while (!same_program(&c->graph[f], &c->graph[g])) ++f;
        c->graph[g].same = f;
    }
    c->distinct = 0;
    for (uint32_t k = 0; k < c->classes; ++k) {
        uint32_t other = 0;
        while (!same_class(c, &c->class_[other], &c->class_[k])) ++other;
        c->class_[k].number = other == k ? c->distinct++ : c->class_[other].number;
    }
}

static bool classes(Out *o, bool empty) {
    Context *c = o->c;
    if (!empty) number_classes(c);
    TRY(put(o, empty ? 0 : c->distinct, 2));
    uint32_t written = 0;
    for (uint32_t k = 0; k < c->classes && !empty; ++k) {
        const Class *class_ = &c->class_[k];
        if (class_->number != written) continue;
        ++written;
        TRY(put(o, c->s.units, 1));
        for (uint32_t unit = 0; unit < c->s.units; ++unit) {
            const Graph *g = class_->program[unit] == NONE ? NULL : &c->graph[class_->program[unit]];
            TRY(put(o, g ? g->words : 0, 2));
            if (!g) continue;
            if (g->size > o->size - o->at) return fail(c, POLYLOOM_OUTPUT, 0);
            if (o->data) write_program(c, g, o->data + o->at);
            o->at += g->size;
        }
        TRY(put(o, class_->feedbacks, 1) && all(o, class_->feedback, class_->feedbacks));
        TRY(put(o, class_->inputs, 1) && all(o, class_->input, class_->inputs));
    }
    return close(o);
}

static bool port(Out *o, Port p) { return put(o, p.index * 8 + p.location, 2); }

static bool wrappers(Out *o, bool empty) {
    const Context *c = o->c;
    TRY(put(o, empty ? 1 : c->wires.count, 2));
    if (empty) TRY(put(o, 0, 2));
    for (uint32_t i = 0; i < c->wires.count && !empty; ++i) {
        const Wires *w = (Wires *)c->wires.at + i;
        TRY(put(o, w->count, 2));
        for (uint32_t k = 0; k < w->count; ++k) TRY(port(o, w->at[k].sink) && port(o, w->at[k].source));
    }
    return close(o);
}

// One number of `size` bytes for every element: of each band of equal rows the first one, then copies of it.
static bool map(Out *o, bool wrapper, uint32_t size) {
    Context *c = o->c;
    const size_t row = (size_t)c->t->columns * size;
    const Cell **cell = temp(c, c->cells, sizeof *cell);
    TRY(cell);
    if (!o->data) o->at += c->t->rows * row;
    for (uint32_t r = 0, alike; r < c->t->rows && o->data; r += alike) {
        uint32_t count, first, end;
        const size_t start = o->at;
        alike = row_cells(c, r, cell, &count);
        if (row > o->size - o->at) return fail(c, POLYLOOM_OUTPUT, 0);
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t number = wrapper ? cell[i]->wrapper : cell[i]->class_ == NONE ? 0 : c->class_[cell[i]->class_].number + 1;
            span(cell[i], 0, r, &first, &end);
            for (uint32_t k = first; k < end && size > 1; ++k) store(o->data + o->at + k * size, number, (int)size);
            if (size == 1) memset(o->data + o->at + first, (int)number, end - first);
        }
        o->at += row;
        for (uint32_t k = 1; k < alike; ++k) TRY(bytes(o, o->data + start, row));
    }
    return true;
}

static bool maps(Out *o, uint32_t elements, bool empty) {
    Context *c = o->c;
    for (uint32_t i = 0; i < 2 * elements && empty; ++i) TRY(put(o, 0, 1));
    if (!empty) TRY(map(o, false, c->distinct + 1 <= 256 ? 1 : 2) && map(o, true, c->wires.count <= 256 ? 1 : 2));
    return close(o);
}

static bool domains(Out *o, bool empty) {
    Context *c = o->c;
    const uint32_t count = empty ? 0 : c->pool.count;
    TRY(put(o, count, 4));
    for (uint32_t i = 0; i < count; ++i) {
        const Domain *d = ((const Domain **)c->pool.at)[i];
        TRY(put(o, d->count, 2));
        for (uint32_t k = 0; k < d->count; ++k) {
            const Set *s = d->set[k];
            TRY(all(o, s->lower, c->n) && all(o, upper_of(c, s), c->n) && put(o, s->spaces, 2));
            for (uint32_t h = 0; h < s->spaces; ++h)
                for (uint32_t g = 0; g <= c->n; ++g) TRY(put_signed(o, spaces_of(c, s)[h]->a[g]));
        }
    }
    return close(o);
}

static size_t generator_size(const Context *c) { return 24 + 4 * (size_t)c->n; }

// The channel of an element on a line; `last` is that of the one before, which is nearer, or NONE.
static uint32_t channel(const Served *s, uint32_t links, uint32_t *last) {
    if (!links) return s->zero;
    do ++*last;
    while (!(s->bits[*last / 32] >> *last % 32 & 1));
    return *last;
}

// The generators of a run: copies of the first one but for the channel, and what changes by equal steps.
static bool run_generators(Out *o, const Mapped *m, const Run *r, const Served *s, uint32_t *last) {
    Context *c = o->c;
    const size_t size = generator_size(c);
    const Pattern *p = m->pattern[r->group];
    uint8_t *first = o->data + o->at;
    uint32_t at[2], next[2];
    if (r->count > (o->size - o->at) / size) return fail(c, POLYLOOM_OUTPUT, 0);
    locate(c, r, r->links, at);
    locate(c, r, r->links + (r->count > 1 ? 2 : 0), next);
    const Int start = base_at(c, m, r->group, at[0], at[1]), delay = terminal_delay(c, m, at[0], at[1]);
    const Int words = base_at(c, m, r->group, next[0], next[1]) - start, cycles = terminal_delay(c, m, next[0], next[1]) - delay;
    TRY(put(o, r->side - 1, 2) && put(o, m->reg, 2) && put(o, r->line, 2) && put(o, channel(s, r->links, last), 2) && put(o, r->links, 2));
    TRY(put(o, m->access->array, 2) && put_signed(o, start));
    for (uint32_t g = 0; g < c->n; ++g) TRY(put_signed(o, p->coefficients[g]));
    TRY(put(o, delay, 4) && put(o, p->number, 4));
    for (uint32_t i = 1; i < r->count; ++i, o->at += size) {
        uint8_t *to = o->data + o->at;
        const uint32_t links = r->links + 2 * i;
        memcpy(to, first, size);
        store(to + 6, channel(s, links, last), 2);
        store(to + 8, links, 2);
        store(to + 12, (uint64_t)(start + i * words), 4);
        store(to + size - 8, (uint64_t)(delay + i * cycles), 4);
    }
    return true;
}

static bool access_generators(Out *o, uint32_t access) {
    Context *c = o->c;
    const Mapped *m = &c->mapped[access];
    for (uint32_t side = NORTH; side <= WEST; ++side)
        for (uint32_t line = 0; line < lines(c, side); ++line) {
            Run r = run_along(c, m, side, line);
            uint32_t last = NONE;
            if (!next_run(c, m, &r)) continue;
            const Served *s = served_on(c, access + 1, side, line);
            do TRY(run_generators(o, m, &r, s, &last));
            while (next_run(c, m, &r));
        }
    return true;
}

static bool all_generators(Out *o, bool empty) {
    Context *c = o->c;
    TRY(put(o, empty ? 0 : c->generators, 4));
    if (!empty && !o->data) o->at += c->generators * generator_size(c);
    if (!empty && c->needed > 65536) return refuse(c, 706, POLYLOOM_FIELD, 5, c->needed - 1, 65536);
    TRY(empty || representable(c));
    for (uint32_t i = 0; i < c->s.inputs + c->s.outputs && !empty && o->data; ++i)
        if (c->mapped[i].used) TRY(access_generators(o, i));
    return close(o);
}

// Kernel, machine and arrays, out of the names of the symbolic configuration.
static bool names(Out *o) {
    Context *c = o->c;
    const uint32_t first = 2 + c->s.units + c->s.parameters + c->s.dimensions;
    size_t at = c->s.names;
    for (uint32_t i = 0; i < first + c->s.arrays; ++i) {
        const size_t start = at;
        size_t length = 0;
        for (int shift = 0;; shift += 7) {
            if (at >= c->s.names_end || shift > 21) return fail(c, 705, at);
            length |= (size_t)(c->data[at] & 127) << shift;
            if (c->data[at++] < 128) break;
        }
        if (length > c->s.names_end - at) return fail(c, 705, at);
        at += length;
        if (i < 2 || i >= first) TRY(bytes(o, c->data + start, at - start));
    }
    return close(o);
}

static bool write(Context *c, const polyloom_request *r, bool counting, size_t *size) {
    Out out = {c, counting ? NULL : r->output, counting ? SIZE_MAX : r->output_size, HEADER, 0}, *o = &out;
    const bool empty = c->nothing;
    const uint32_t rows = c->t ? c->t->rows : r->rows, columns = c->t ? c->t->columns : r->columns;
    if (!empty && c->signals > 256) return refuse(c, 706, POLYLOOM_SIGNAL, 0, c->signals, 256);
    if (o->size < HEADER) return fail(c, POLYLOOM_OUTPUT, 0);
    if (!counting) memset(o->data, 0, HEADER);
    TRY(head(o, rows, columns, empty) && classes(o, empty) && wrappers(o, empty) && maps(o, rows * columns, empty));
    TRY(domains(o, empty) && all_generators(o, empty));
    const size_t start = o->at;
    TRY(names(o));
    *size = o->at;
    if (counting) return true;
    memcpy(o->data, "PLCC", 4);
    store(o->data + 4, 3, 4);
    memcpy(o->data + 16, c->data + 16, 8);
    store(o->data + 24, fletcher64(o->data + start, o->at - start), 8);
    store(o->data + 8, fletcher64(o->data + 16, o->at - 16), 8);
    return true;
}

// Counting, nothing is written. May be repeated.
bool emit(Context *c, const polyloom_request *r, bool counting, size_t *size) {
    const size_t low = c->low, high = c->high;
    const bool done = write(c, r, counting, size);
    c->low = low;
    c->high = high;
    return done;
}
