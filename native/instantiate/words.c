// SPDX-License-Identifier: Apache-2.0
// Concrete configurations as they lie in memory (docs/formats.md): where the parts that the walk over a plan reads
// begin. Words that this library has made are well formed; those of a file are checked once, by `check_words`.
#include "internal.h"

#define SECTIONS 7
enum { HEAD, CLASS_TABLE, MAPS = 3, DOMAINS, GENERATORS };

uint32_t load16(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }

static const uint8_t *section(const uint8_t *words, int number) {
    return words + (number == HEAD ? 32 + 4 * SECTIONS : (load32(words + 32 + 4 * (number - 1)) + 3) & ~(uint32_t)3);
}

const uint8_t *classes_of(const uint8_t *words) { return section(words, CLASS_TABLE); }

const uint8_t *maps_of(const uint8_t *words) { return section(words, MAPS); }

// The controller's fields, then its signals and the arrays.
void head_of(const uint8_t *words, Head *head) {
    const uint8_t *at = section(words, HEAD);
    *head = (Head){.interval = load32(at), .rows = load16(at + 4), .columns = load16(at + 6), .dimensions = at[8]};
    head->extents = at + 9;
    head->controller = head->extents + 4 * head->dimensions;
    head->signals = load16(head->controller + 18);
    head->signal = head->controller + 20;
    head->arrays = load16(head->signal + 4 * head->signals);
    head->array = head->signal + 4 * head->signals + 2;
}

// Whether an array is an output: bit 0 of the byte before its rank.
bool is_output(const Head *head, uint32_t number) {
    const uint8_t *at = head->array;
    for (; number; --number) at += 2 + 8 * at[1];
    return *at & 1;
}

const uint8_t *next_set(const uint8_t *set, uint32_t dimensions) {
    set += 8 * dimensions;
    return set + 2 + (size_t)load16(set) * 4 * (dimensions + 1);
}

// The sets of a domain, and how many there are.
const uint8_t *sets_of(const uint8_t *words, uint32_t dimensions, uint32_t number, uint32_t *count) {
    const uint8_t *at = section(words, DOMAINS) + 4;
    for (;; --number) {
        *count = load16(at);
        at += 2;
        if (!number) return at;
        for (uint32_t k = 0; k < *count; ++k) at = next_set(at, dimensions);
    }
}

// Whether digits are in the half-spaces of a set.
bool in_spaces(const uint8_t *set, uint32_t dimensions, const uint32_t *digit) {
    const uint8_t *row = set + 8 * dimensions + 2;
    for (uint32_t left = load16(row - 2); left; --left, row += 4 * (dimensions + 1)) {
        int64_t value = (int32_t)load32(row + 4 * dimensions);
        for (uint32_t m = 0; m < dimensions; ++m) value += (int64_t)(int32_t)load32(row + 4 * m) * digit[m];
        if (value < 0) return false;
    }
    return true;
}

const uint8_t *generators_of(const uint8_t *words, uint32_t *count) {
    const uint8_t *at = section(words, GENERATORS);
    *count = load32(at);
    return at + 4;
}

// Takes bytes of a section, which ends at `end`; null where there are not so many.
static const uint8_t *taken(Reader *r, size_t count, size_t size) {
    if (!ok(r->c) || count > (r->end - r->at) / size) {
        malformed(r);
        return NULL;
    }
    r->at += count * size;
    return r->c->data + r->at - count * size;
}

static uint32_t field(Reader *r, int size) {
    const uint8_t *at = taken(r, 1, (size_t)size);
    return !at ? 0 : size == 1 ? *at : size == 2 ? load16(at) : load32(at);
}

static uint32_t check_head(Reader *r, uint32_t *arrays) {
    taken(r, 1, 8);
    const uint32_t dimensions = field(r, 1);
    if (dimensions > DIMENSIONS) fail(r->c, POLYLOOM_OVERFLOW, r->at);
    taken(r, dimensions, 4);
    taken(r, 1, 18);
    taken(r, field(r, 2), 4);
    *arrays = field(r, 2);
    for (uint32_t i = 0; i < *arrays && ok(r->c); ++i) {
        taken(r, 1, 1);
        taken(r, field(r, 1), 8);
    }
    taken(r, field(r, 2), 8);
    return dimensions;
}

static uint32_t check_domains(Reader *r, uint32_t dimensions) {
    const uint32_t domains = field(r, 4);
    for (uint32_t i = 0; i < domains && ok(r->c); ++i)
        for (uint32_t sets = field(r, 2); sets && ok(r->c); --sets) {
            taken(r, dimensions, 8);
            taken(r, field(r, 2), 4 * (size_t)(dimensions + 1));
        }
    return domains;
}

// Checks the container of a file at `c->data`, and what the functions of this file read but classes, wrappers and maps.
bool check_words(Context *c, size_t size) {
    TRY(check_container(c, size, "PLCC", CONCRETE_VERSION, SECTIONS));
    Reader head = section_of(c, HEAD, SECTIONS), sets = section_of(c, DOMAINS, SECTIONS),
           all = section_of(c, GENERATORS, SECTIONS);
    uint32_t arrays = 0;
    const uint32_t dimensions = check_head(&head, &arrays), domains = check_domains(&sets, dimensions);
    const size_t length = 24 + 4 * (size_t)dimensions;
    const uint32_t count = field(&all, 4);
    const uint8_t *generator = taken(&all, count, length);
    TRY(ok(c));
    if (head.at != head.end || sets.at != sets.end || all.at != all.end) return malformed(&all);
    for (uint32_t i = 0; i < count; ++i, generator += length)
        if (load16(generator) > 3 || load16(generator + 10) >= arrays || load32(generator + length - 4) >= domains)
            return malformed(&all);
    return true;
}
