// SPDX-License-Identifier: Apache-2.0
// Concrete configurations as bytes (docs/formats.md), written from front to back; the checksum is filled in at the end.
#include "internal.h"

#define SECTIONS 7
#define HEADER (32 + 4 * SECTIONS)

typedef struct {
    Context *c;
    uint8_t *data;  // null where bytes are but counted
    size_t size, at;
    uint32_t section, rows, columns;
} Out;

// Once the context has an error, nothing more is written.
static void bytes(Out *o, const void *data, size_t size) {
    if (size > o->size - o->at) fail(o->c, POLYLOOM_OUTPUT, 0);
    if (!ok(o->c)) return;
    if (o->data) memcpy(o->data + o->at, data, size);
    o->at += size;
}

static void store(uint8_t *at, uint32_t value, int size) {
    for (int i = 0; i < size; ++i) at[i] = (uint8_t)(value >> 8 * i);
}

static void word(Out *o, uint32_t value, int size) {
    uint8_t stored[4];
    store(stored, value, size);
    bytes(o, stored, (size_t)size);
}

static void put(Out *o, Int value, int size) {
    if (value < 0 || (uint64_t)value >> 8 * size) refuse(o->c, 706, POLYLOOM_FIELD, o->section, value, (Int)((int64_t)1 << 8 * size));
    word(o, (uint32_t)value, size);
}

static void put_signed(Out *o, Int value) {
    if (fits_signed(o->c, o->section, value)) word(o, (uint32_t)value, 4);
}

static void all(Out *o, const Int *values, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) put(o, values[i], 4);
}

static void close(Out *o) {
    if ((uint64_t)o->at >> 32) refuse(o->c, 706, POLYLOOM_FIELD, o->section, 0, 0);
    if (o->data) store(o->data + 32 + 4 * o->section, (uint32_t)o->at, 4);
    ++o->section;
    while (o->at % 4 && ok(o->c)) put(o, 0, 1);
}

static void controller(Out *o) {
    Context *c = o->c;
    for (int axis = 0; axis < 2; ++axis) put(o, c->delay[axis] < 0, 1);
    put(o, c->start, 4);
    for (int axis = 0; axis < 2; ++axis) put(o, magnitude(c->delay[axis]), 4);
    put(o, c->steps, 4);
    put(o, c->signals, 2);
    for (uint32_t i = 0; i < c->signals; ++i) put(o, c->signal[i], 4);
}

static void head(Out *o) {
    Context *c = o->c;
    put(o, c->nothing ? 1 : c->schedule->interval, 4);
    put(o, o->rows, 2);
    put(o, o->columns, 2);
    put(o, c->n, 1);
    for (uint32_t g = 0; g < c->n; ++g) put(o, c->nothing ? 0 : c->t->extents[g], 4);
    controller(o);
    put(o, c->s.arrays, 2);
    uint32_t placed = 0;
    for (uint32_t i = 0; i < c->s.arrays; ++i) {
        const uint32_t rank = c->s.array[i].shape.count;
        put(o, c->s.array[i].head, 1);
        all(o, c->layout[i].shape, rank);
        all(o, c->layout[i].strides, rank);
        placed += c->layout[i].placed;
    }
    put(o, placed, 2);
    for (uint32_t i = 0; i < placed; ++i) {
        put(o, i, 2);
        put(o, c->layout[i].bank, 2);
        put(o, c->layout[i].base, 4);
    }
    close(o);
}

static bool same_class(const Context *c, const Class *a, const Class *b) {
    for (uint32_t unit = 0; unit < c->s.units; ++unit) {
        const uint32_t x = a->program[unit], y = b->program[unit];
        if ((x == NONE) != (y == NONE) || (x != NONE && c->graph[x].same != c->graph[y].same)) return false;
    }
    for (int file = 0; file < 2; ++file)
        if (a->depths[file] != b->depths[file] || !same_bytes(a->depth[file], b->depth[file], a->depths[file] * sizeof(Int))) return false;
    return true;
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

static void classes(Out *o) {
    Context *c = o->c;
    number_classes(c);
    put(o, c->distinct, 2);
    for (uint32_t i = 0, written = 0; i < c->classes && ok(c); ++i) {
        const Class *k = &c->class_[i];
        if (k->number != written) continue;
        ++written;
        put(o, c->s.units, 1);
        for (uint32_t unit = 0; unit < c->s.units; ++unit) {
            const Graph *g = k->program[unit] == NONE ? NULL : &c->graph[k->program[unit]];
            put(o, g ? g->words : 0, 2);
            if (!g) continue;
            if (g->size > o->size - o->at) fail(c, POLYLOOM_OUTPUT, 0);
            if (o->data && ok(c)) write_program(c, g, o->data + o->at);
            o->at += g->size;
        }
        for (int file = 0; file < 2; ++file) {
            put(o, k->depths[file], 1);
            all(o, k->depth[file], k->depths[file]);
        }
    }
    close(o);
}

static void port(Out *o, Port p) { put(o, p.index * 8 + p.location, 2); }

static void wrappers(Out *o) {
    static const Wires none;
    const Wires *w = o->c->nothing ? &none : o->c->wires.at;
    const uint32_t count = o->c->nothing ? 1 : o->c->wires.count;
    put(o, count, 2);
    for (const Wires *end = w + count; w < end; ++w) {
        put(o, w->count, 2);
        for (uint32_t k = 0; k < w->count; ++k) {
            port(o, w->at[k].sink);
            port(o, w->at[k].source);
        }
    }
    close(o);
}

// One number for every element, of two bytes if one does not hold so many: of each band of equal rows the first one, then copies of it.
static void map(Out *o, bool wrapper, uint32_t numbers) {
    Context *c = o->c;
    const uint32_t size = numbers <= 256 ? 1 : 2;
    const size_t row = (size_t)o->columns * size;
    const Cell **cell = temp(c, c->cells, sizeof *cell);
    if (!o->data) o->at += o->rows * row;
    for (uint32_t r = 0, alike; r < o->rows && o->data && ok(c); r += alike) {
        uint32_t count, first, end;
        uint8_t *start = o->data + o->at;
        alike = row_cells(c, r, cell, &count);
        if (row > o->size - o->at) {
            fail(c, POLYLOOM_OUTPUT, 0);
            return;
        }
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t number = wrapper ? cell[i]->wrapper : cell[i]->class_ == NONE ? 0 : c->class_[cell[i]->class_].number + 1;
            span(cell[i], 0, r, &first, &end);
            for (uint32_t k = first; k < end && size > 1; ++k) store(start + k * size, number, 2);
            if (size == 1) memset(start + first, (int)number, end - first);
        }
        o->at += row;
        for (uint32_t k = 1; k < alike; ++k) bytes(o, start, row);
    }
}

static void maps(Out *o) {
    Context *c = o->c;
    for (uint32_t i = 0; i < 2 * o->rows * o->columns && c->nothing && ok(c); ++i) put(o, 0, 1);
    if (!c->nothing) {
        map(o, false, c->distinct + 1);
        map(o, true, c->wires.count);
    }
    close(o);
}

static void domains(Out *o) {
    Context *c = o->c;
    const size_t high = c->high;
    put(o, c->pooled, 4);
    for (const Pooled *p = c->pool; p; p = p->next) {
        const uint8_t *at = p->sets;
        put(o, p->count, 2);
        for (uint32_t k = 0; k < p->count; ++k, c->high = high) {
            const Set *s = unpacked(c, &at);
            if (!s) return;
            all(o, s->lower, 2 * c->n);
            put(o, s->spaces, 2);
            for (uint32_t h = 0; h < s->spaces; ++h)
                for (uint32_t g = 0; g <= c->n; ++g) put_signed(o, spaces_of(c, s)[h]->a[g]);
        }
    }
    close(o);
}

// The channel of an element on a line; `last` is that of the one before, which is nearer, or NONE.
static uint32_t channel(const Served *s, uint32_t links, uint32_t *last) {
    if (!links) return s->zero;
    do ++*last;
    while (!(s->bits[*last / 32] >> *last % 32 & 1));
    return *last;
}

// The generators of a run, each of `size` bytes: copies of the first one but for the channel, and what changes by equal steps.
static void run_generators(Out *o, const Mapped *m, const Run *r, const Served *s, size_t size, uint32_t *last) {
    Context *c = o->c;
    const Pattern *p = m->pattern[r->group];
    uint8_t *first = o->data + o->at;
    uint32_t at[2], next[2];
    if (r->count > (o->size - o->at) / size) fail(c, POLYLOOM_OUTPUT, 0);
    locate(c, r, r->links, at);
    locate(c, r, r->links + (r->count > 1 ? 2 : 0), next);
    const Int start = base_at(c, m, r->group, at[0], at[1]), delay = delay_at(c, m, at[0], at[1]);
    const Int words = base_at(c, m, r->group, next[0], next[1]) - start, cycles = delay_at(c, m, next[0], next[1]) - delay;
    const uint32_t numbers[] = {r->side - 1, m->reg, r->line, channel(s, r->links, last), r->links, m->access->array};
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) put(o, numbers[i], 2);
    put_signed(o, start);
    for (uint32_t g = 0; g < c->n; ++g) put_signed(o, p->coefficients[g]);
    put(o, delay, 4);
    put(o, p->number, 4);
    for (uint32_t i = 1; i < r->count && ok(c); ++i, o->at += size) {
        uint8_t *to = o->data + o->at;
        const uint32_t links = r->links + 2 * i;
        memcpy(to, first, size);
        store(to + 6, channel(s, links, last), 2);
        store(to + 8, links, 2);
        store(to + 12, (uint32_t)(start + i * words), 4);
        store(to + size - 8, (uint32_t)(delay + i * cycles), 4);
    }
}

static void access_generators(Out *o, uint32_t access, size_t size) {
    Context *c = o->c;
    const Mapped *m = &c->mapped[access];
    for (uint32_t side = NORTH; side <= WEST; ++side)
        for (uint32_t line = 0; line < lines(c, side) && ok(c); ++line) {
            Run r = run_along(c, m, side, line);
            uint32_t last = NONE;
            if (!next_run(c, m, &r)) continue;
            const Served *s = served_on(c, access + 1, side, line);
            do run_generators(o, m, &r, s, size, &last);
            while (next_run(c, m, &r));
        }
}

static void generators_of_all(Out *o) {
    Context *c = o->c;
    const size_t size = 24 + 4 * (size_t)c->n;
    put(o, c->generators, 4);
    if (!o->data) o->at += c->generators * size;
    if (c->needed > 65536) refuse(c, 706, POLYLOOM_FIELD, 5, c->needed - 1, 65536);
    for (uint32_t i = 0; c->generators && i < c->s.inputs + c->s.outputs; ++i)
        representable(c, &c->mapped[i]);
    for (uint32_t i = 0; c->generators && i < c->s.inputs + c->s.outputs && o->data; ++i) access_generators(o, i, size);
    close(o);
}

// Kernel, machine and arrays, out of the names of the symbolic configuration.
static void names(Out *o) {
    Context *c = o->c;
    const uint32_t first = 2 + c->s.units + c->s.parameters + c->s.dimensions;
    size_t at = c->s.names;
    for (uint32_t i = 0; i < first + c->s.arrays; ++i) {
        const size_t start = at;
        size_t length = 0;
        for (int shift = 0, more = 128; more; shift += 7) {
            if (at >= c->s.names_end || shift > 21) {
                fail(c, 705, at);
                return;
            }
            length |= (size_t)(c->data[at] & 127) << shift;
            more = c->data[at++] & 128;
        }
        if (length > c->s.names_end - at) fail(c, 705, at);
        at += length;
        if (i < 2 || i >= first) bytes(o, c->data + start, at - start);
    }
    close(o);
}

static void checksum(Out *o, size_t from, uint8_t *to) {
    const uint64_t sum = fletcher64(o->data + from, o->at - from);
    store(to, (uint32_t)sum, 4);
    store(to + 4, (uint32_t)(sum >> 32), 4);
}

static bool write(Context *c, const polyloom_request *r, bool counting, size_t *size) {
    Out out = {.c = c, .data = r->output, .size = r->output_size, .at = HEADER, .rows = r->rows, .columns = r->columns}, *o = &out;
    if (counting) o->data = NULL, o->size = SIZE_MAX;
    if (c->t) o->rows = c->t->rows, o->columns = c->t->columns;
    if (c->signals > 256) return refuse(c, 706, POLYLOOM_SIGNAL, 0, c->signals, 256);
    if (o->size < HEADER) return fail(c, POLYLOOM_OUTPUT, 0);
    if (o->data) memset(o->data, 0, HEADER);
    head(o);
    classes(o);
    wrappers(o);
    maps(o);
    domains(o);
    generators_of_all(o);
    const size_t start = o->at;
    names(o);
    *size = o->at;
    if (!o->data || !ok(c)) return ok(c);
    memcpy(o->data, "PLCC", 4);
    store(o->data + 4, 3, 4);
    memcpy(o->data + 16, c->data + 16, 8);
    checksum(o, start, o->data + 24);
    checksum(o, 16, o->data + 8);
    return true;
}

// Counting, nothing is written. May be repeated.
bool emit(Context *c, const polyloom_request *r, bool counting, size_t *size) {
    const size_t low = c->low, high = c->high;
    const bool done = write(c, r, counting, size);
    release(c, low);
    c->high = high;
    return done;
}
