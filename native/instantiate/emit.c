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

// Where the next bytes go; null where they are but counted, and once the context has an error.
static uint8_t *room(Out *o, size_t count, size_t size) {
    size_t taken;
    if (__builtin_mul_overflow(count, size, &taken) || taken > o->size - o->at) fail(o->c, POLYLOOM_OUTPUT, 0);
    if (!ok(o->c)) return NULL;
    o->at += taken;
    return o->data ? o->data + o->at - taken : NULL;
}

static uint8_t *zeros(Out *o, size_t count, size_t size) {
    uint8_t *at = room(o, count, size);
    return at ? memset(at, 0, count * size) : NULL;
}

static void bytes(Out *o, const void *data, size_t size) {
    uint8_t *at = room(o, 1, size);
    if (at) memcpy(at, data, size);
}

OUTLINED static void store(uint8_t *at, uint32_t value, int size) {
    for (int i = 0; i < size; ++i) at[i] = (uint8_t)(value >> 8 * i);
}

static void word(Out *o, uint32_t value, int size) {
    uint8_t *at = room(o, 1, (size_t)size);
    if (at) store(at, value, size);
}

static void put(Out *o, Int value, int size) {
    const Int most = size < (int)sizeof value ? ((Int)1 << 8 * size) - 1 : INT_MOST;
    if (value < 0 || value > most) refuse(o->c, 706, POLYLOOM_FIELD, o->section, value, most + (most < INT_MOST));
    word(o, (uint32_t)value, size);
}

static void put_signed(Out *o, Int value) {
    if (fits_signed(o->c, o->section, value)) word(o, (uint32_t)value, 4);
}

static void all(Out *o, const Int *values, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) put(o, values[i], 4);
}

static void all_signed(Out *o, const Int *values, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) put_signed(o, values[i]);
}

static void close(Out *o) {
    if ((uint64_t)o->at >> 32) refuse(o->c, 706, POLYLOOM_FIELD, o->section, 0, 0);
    if (o->data) store(o->data + 32 + 4 * o->section, (uint32_t)o->at, 4);
    ++o->section;
    zeros(o, -o->at & 3, 1);
}

static void controller(Out *o) {
    Context *c = o->c;
    for (int axis = 0; axis < 2; ++axis) put(o, c->delay[axis] < 0, 1);
    all(o, (Int[]){c->start, magnitude(c->delay[0]), magnitude(c->delay[1]), c->steps}, 4);
    put(o, c->signals, 2);
    for (uint32_t i = 0; i < c->signals; ++i) put(o, c->signal[i], 4);
}

static void head(Out *o, const polyloom_layout *given) {
    Context *c = o->c;
    const uint32_t placed = given ? c->s.arrays : 0;
    put(o, c->nothing ? 1 : c->t->interval, 4);
    put(o, o->rows, 2);
    put(o, o->columns, 2);
    put(o, c->n, 1);
    for (uint32_t g = 0; g < c->n; ++g) put(o, c->nothing ? 0 : c->t->extents[g], 4);
    controller(o);
    put(o, c->s.arrays, 2);
    for (uint32_t i = 0; i < c->s.arrays; ++i) {
        put(o, c->s.array[i].head, 1);
        put(o, c->s.array[i].shape.count, 1);
        all(o, c->layout[i].shape, 2 * c->s.array[i].shape.count);
    }
    put(o, placed, 2);
    for (uint32_t i = 0; i < placed; ++i) {
        put(o, i, 2);
        put(o, given[i].bank, 2);
        put(o, c->layout[i].base, 4);
    }
    close(o);
}

// Whether two classes are one: trees may differ where the words do not.
static bool same_class(const Context *c, const Class *a, const Class *b) {
    bool same = same_bytes(a->program, b->program, c->s.units * sizeof *a->program);
    for (int file = 0; file < 2; ++file)
        same = same && a->depths[file] == b->depths[file] &&
               same_bytes(a->depth[file], b->depth[file], a->depths[file] * sizeof(Int));
    return same;
}

static void write_class(Out *o, const Class *k) {
    Context *c = o->c;
    put(o, c->s.units, 1);
    for (uint32_t unit = 0; unit < c->s.units; ++unit) {
        const Graph *g = k->program[unit] == NONE ? NULL : &c->graph[k->program[unit]];
        put(o, g ? g->words : 0, 2);
        uint8_t *at = g ? room(o, 1, g->size) : NULL;
        if (at) write_program(c, g, at);
    }
    for (int file = 0; file < 2; ++file) {
        put(o, k->depths[file], 1);
        all(o, k->depth[file], k->depths[file]);
    }
}

// Writes the number of distinct classes, then each of them once.
static void classes(Out *o) {
    Context *c = o->c;
    const size_t start = o->at;
    put(o, 0, 2);
    c->distinct = 0;
    for (uint32_t g = 0; g < c->units; ++g) first_program(c, g);
    for (uint32_t i = 0; i < c->classes && ok(c); ++i) {
        Class *k = &c->class_[i];
        const Class *same = c->class_;
        for (uint32_t unit = 0; unit < c->s.units; ++unit)
            if (k->program[unit] != NONE) k->program[unit] = c->graph[k->program[unit]].same;
        while (!same_class(c, same, k)) ++same;
        k->number = same->number;
        if (same < k) continue;
        k->number = c->distinct++;
        write_class(o, k);
    }
    if (c->distinct >> 16) refuse(c, 706, POLYLOOM_FIELD, o->section, c->distinct, 1 << 16);
    if (o->data && ok(c)) store(o->data + start, c->distinct, 2);
    close(o);
}

static void port(Out *o, uint32_t code) { put(o, code % 8192 * 8 + code / 8192, 2); }

static void wrappers(Out *o) {
    Context *c = o->c;
    const Wires *w = c->wires.at;
    const uint32_t count = c->nothing ? 1 : c->wires.count;
    put(o, count, 2);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t connections = c->nothing ? 0 : w[i].count;
        put(o, connections, 2);
        for (uint32_t k = 0; k < connections; ++k) {
            port(o, w[i].at[k] >> 16);
            port(o, w[i].at[k] & 65535);
        }
    }
    close(o);
}

// One number for every element, in two bytes where one byte does not hold all numbers. Where no cell is slanted, a row
// is like the one before it, unless a cell begins there.
static void map(Out *o, bool wrapper, uint32_t numbers) {
    const Context *c = o->c;
    const uint32_t size = numbers <= 256 ? 1 : 2;
    const size_t width = (size_t)o->columns * size;
    uint8_t *start = room(o, o->rows, width);
    for (const Cell *k = c->cell, *end = k + c->cells; start && k < end; ++k) {
        const uint32_t number = wrapper ? k->wrapper : k->class_ == NONE ? 0 : c->class_[k->class_].number + 1;
        for (uint32_t row = k->row, first, stop; row < k->row + (c->slanted ? k->height : 1); ++row) {
            span(k, 0, row, &first, &stop);
            uint8_t *at = start + row * width + first * size;
            if (size == 1)
                memset(at, (int)number, stop - first);
            else
                for (; first < stop; ++first, at += 2) store(at, number, 2);
        }
        const uint32_t next = k + 1 < end ? k[1].row : o->rows;
        for (uint32_t row = k->row + 1; row < next && !c->slanted; ++row)
            memcpy(start + row * width, start + (row - 1) * width, width);
    }
}

static void maps(Out *o) {
    Context *c = o->c;
    if (c->nothing)
        zeros(o, o->rows * o->columns, 2);
    else {
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
            for (uint32_t h = 0; h < s->spaces; ++h) all_signed(o, spaces_of(c, s)[h]->a, c->n + 1);
        }
    }
    close(o);
}

// The generators of a run. Each is a copy of the first one, but for its channel, and for its base and delay, which
// change by equal steps. If bytes are only counted, all runs that are alike are counted at once.
static void run_generators(Out *o, const Mapped *m, const Run *r) {
    Context *c = o->c;
    const Pattern *p = m->pattern[r->group];
    const Spot first = spot_of(c, r, 0, 0), second = spot_of(c, r, 0, 1);
    const Int base = base_at(c, m, &first), delay = delay_at(c, m, &first);
    for (int i = 0; i < 4; i += 1 + (r->lines == 1)) {
        const Spot s = corner(c, r, i);
        fits_signed(c, o->section, base_at(c, m, &s));
    }
    const size_t start = o->at;
    const uint32_t numbers[] = {r->side - 1, m->reg, r->line, 0, r->links, m->access->array};
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) put(o, numbers[i], 2);
    put_signed(o, base);
    all_signed(o, p->coefficients, c->n);
    put(o, delay, 4);
    put(o, p->number, 4);
    const size_t size = o->at - start;
    room(o, (size_t)r->lines * r->count - 1, size);
    if (!o->data || !ok(c)) return;
    Served *s = &c->served;
    uint8_t *to = o->data + start;
    uint32_t words = 0, cycles = 0, last = s->last;
    if (r->count > 1) {
        words = (uint32_t)base_at(c, m, &second) - (uint32_t)base;
        cycles = (uint32_t)delay_at(c, m, &second) - (uint32_t)delay;
    }
    for (uint32_t i = 0; i < r->count; ++i, to += size) {
        const uint32_t links = r->links + 2 * i;
        if (i) memcpy(to, to - size, size);
        if (links) do
                ++last;
            while (!(s->bits[last / 32] >> last % 32 & 1));
        store(to + 6, links ? last : s->zero, 2);
        store(to + 8, links, 2);
        store(to + 12, (uint32_t)base + i * words, 4);
        store(to + size - 8, (uint32_t)delay + i * cycles, 4);
    }
    s->last = last;
}

static void generators_of_all(Out *o) {
    Context *c = o->c;
    const size_t start = o->at, size = 24 + 4 * (size_t)c->n;
    put(o, 0, 4);
    if (!c->nothing && c->needed > 65536) refuse(c, 706, POLYLOOM_FIELD, 5, c->needed - 1, 65536);
    for (uint32_t i = 0; i < c->s.inputs + c->s.outputs && !c->nothing; ++i) {
        const Mapped *m = &c->mapped[i];
        const Int most = add(c, c->start, m->most);
        if ((uint64_t)most >> 32) refuse(c, 706, POLYLOOM_FIELD, 5, most, (Int)((int64_t)1 << 32));
        for (Run r = {0}; ok(c) && next_run(c, m, &r, !o->data);) {
            if (r.first && o->data) serve_port(c, i + 1, r.side, r.line);
            run_generators(o, m, &r);
        }
    }
    if (o->data && ok(c)) store(o->data + start, (uint32_t)((o->at - start) / size), 4);
    close(o);
}

// Kernel, machine, program and arrays, out of the names of the symbolic configuration. What the configuration is made
// of is left to whoever has room for it.
static void names(Out *o) {
    Context *c = o->c;
    const uint32_t first = 3 + c->s.units + c->s.parameters + c->s.dimensions;
    size_t at = c->s.names;
    for (uint32_t i = 0; i < first + c->s.arrays; ++i) {
        const size_t start = at;
        at = after_name(c, at);
        if (i < 3 || i >= first) bytes(o, c->data + start, at - start);
    }
    put(o, 0, 1);
    close(o);
}

static void checksum(Out *o, size_t from, uint8_t *to) {
    const uint64_t sum = fletcher64(o->data + from, o->at - from);
    store(to, (uint32_t)sum, 4);
    store(to + 4, (uint32_t)(sum >> 32), 4);
}

// Writes the configuration or, if `counting`, only counts its bytes. May be repeated.
bool emit(Context *c, const polyloom_request *r, bool counting, size_t *size) {
    const size_t low = c->low, high = c->high;
    Out out = {c, counting ? NULL : r->output, counting ? SIZE_MAX : r->output_size, 0, 0, r->rows, r->columns},
        *o = &out;
    if (c->t) o->rows = c->t->rows, o->columns = c->t->columns;
    if (c->signals > 256) refuse(c, 706, POLYLOOM_SIGNAL, 0, c->signals, 256);
    uint8_t *start = zeros(o, HEADER, 1);
    if (ok(c)) {
        head(o, r->layouts);
        classes(o);
        wrappers(o);
        maps(o);
        domains(o);
        generators_of_all(o);
        const size_t named = o->at;
        names(o);
        if (start && ok(c)) {
            store(start, 0x43434C50, 4);  // PLCC
            store(start + 4, CONCRETE_VERSION, 4);
            memcpy(start + 16, c->data + 16, 8);
            checksum(o, named, start + 24);
            checksum(o, 16, start + 8);
        }
    }
    *size = o->at;
    release(c, low);
    c->high = high;
    return ok(c);
}
