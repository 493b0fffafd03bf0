// SPDX-License-Identifier: Apache-2.0
// Scratch memory and checked arithmetic. What lasts is taken from the low end of the scratch, what is temporary from
// the high end; callers reset `low` or `high` to what it was to give memory back.
#include "internal.h"

bool fail(Context *c, uint32_t error, size_t position) {
    if (!c->error) {
        c->error = error;
        c->position = (uint32_t)position;
    }
    return false;
}

bool refuse(Context *c, uint32_t error, uint32_t kind, uint32_t index, Int needed, Int available) {
    if (!c->error) c->about = (About){kind, index, c->about.side, c->about.place, needed, available};
    return fail(c, error, 0);
}

// The context lies at the first multiple of 16 in the scratch, and what it allocates follows it. Null where there is no
// room.
OUTLINED Context *context(void *scratch, size_t size) {
    const size_t skipped = (size_t)(-(uintptr_t)scratch & 15);
    return size < skipped + sizeof(Context) + 16 ? NULL : (Context *)((uint8_t *)scratch + skipped);
}

void claim(Context *c, void *scratch, size_t size) {
    c->base = (uint8_t *)c;
    c->size = c->high = (size - (size_t)(c->base - (uint8_t *)scratch)) & ~(size_t)15;
    c->low = c->peak = (sizeof *c + 15) & ~(size_t)15;
}

static bool fits(Context *c, size_t count, size_t size, size_t alignment, size_t *bytes) {
    size_t product;
    if (__builtin_mul_overflow(count, size, &product) || product > ((c->high - c->low) & ~(alignment - 1)))
        return fail(c, POLYLOOM_SCRATCH, 0);
    *bytes = (product + alignment - 1) & ~(alignment - 1);
    const size_t used = c->low + *bytes + c->size - c->high;
    if (used > c->peak) c->peak = used;
    return true;
}

void *keep(Context *c, size_t count, size_t size) {
    size_t bytes = 0;
    if (!fits(c, count, size, sizeof(Int) > sizeof(void *) ? sizeof(Int) : sizeof(void *), &bytes)) return NULL;
    c->low += bytes;
    return memset(c->base + c->low - bytes, 0, bytes);
}

void *copied(Context *c, const void *items, uint32_t count, size_t size) {
    void *to = keep(c, count, size);
    return to && count ? memcpy(to, items, count * size) : to;
}

void *temp(Context *c, size_t count, size_t size) {
    size_t bytes = 0;
    if (!fits(c, count, size, 8, &bytes)) return NULL;
    c->high -= bytes;
    return memset(c->base + c->high, 0, bytes);
}

// Compares by words, but where text counts. A host need not have memcmp: only memcpy and memset are asked of it.
bool same_bytes(const void *a, const void *b, size_t size) {
    const uint8_t *p = a, *q = b;
#ifndef __OPTIMIZE_SIZE__
    for (size_t x, y; size >= sizeof x; size -= sizeof x, p += sizeof x, q += sizeof x) {
        memcpy(&x, p, sizeof x);
        memcpy(&y, q, sizeof y);
        if (x != y) return false;
    }
#endif
    while (size && *p++ == *q++) --size;
    return !size;
}

// Copies to memory that may overlap, from the end at which no byte is overwritten before it is copied.
void *move(void *to, const void *from, size_t size) {
    uint8_t *p = to;
    const uint8_t *q = from;
    const bool up = p < q;
#ifndef __OPTIMIZE_SIZE__
    for (size_t word; size >= sizeof word; size -= sizeof word) {
        const size_t at = up ? 0 : size - sizeof word;
        memcpy(&word, q + at, sizeof word);
        memcpy(p + at, &word, sizeof word);
        if (up) p += sizeof word, q += sizeof word;
    }
#endif
    for (; size; --size, p += up, q += up) p[up ? 0 : size - 1] = q[up ? 0 : size - 1];
    return to;
}

// Room for one more item of a temporary list. If nothing is temporary after the list, it grows in place, by little;
// otherwise it is copied, and doubles.
void *push(Context *c, Vec *v, size_t size) {
    if (v->count == v->capacity) {
        const bool latest = v->capacity && v->at == c->base + c->high;
        const uint32_t more = latest ? v->capacity / 4 + 2 : v->capacity + 4;
        void *grown = v->capacity >> 30 ? NULL : temp(c, latest ? more : v->capacity + more, size);
        if (!grown) {
            fail(c, POLYLOOM_SCRATCH, 0);
            return NULL;
        }
        if (v->count) move(grown, v->at, v->count * size);
        v->at = grown;
        v->capacity += more;
    }
    return (uint8_t *)v->at + size * v->count++;
}

// Appends a copy of an item.
bool add_item(Context *c, Vec *v, const void *item, size_t size) {
    void *slot = push(c, v, size);
    TRY(slot);
    memcpy(slot, item, size);
    return true;
}

// Appends a copy of an item, unless an equal one is there.
bool once(Context *c, Vec *v, const void *item, size_t size) {
    for (uint32_t i = 0; i < v->count; ++i)
        if (same_bytes((uint8_t *)v->at + i * size, item, size)) return true;
    return add_item(c, v, item, size);
}

// Inserts a number into ascending ones, unless it is there.
bool insert_once(Context *c, Vec *numbers, uint32_t x) {
    uint32_t *at = numbers->at, i = numbers->count;
    while (i && at[i - 1] > x) --i;
    if (i && at[i - 1] == x) return true;
    TRY(push(c, numbers, sizeof x));
    at = (uint32_t *)numbers->at + i;
    move(at + 1, at, (numbers->count - 1 - i) * sizeof x);
    *at = x;
    return true;
}

// Keeps the first bytes of what is temporary from `mark` down, moved up to `mark`, and gives back the rest.
void *shrink(Context *c, void *at, size_t mark, size_t bytes) {
    c->high = mark - ((bytes + 7) & ~(size_t)7);
    return move(c->base + c->high, at, bytes);
}

// Hashes words of 32 bits, then byte by byte what is left.
uint32_t hash(uint32_t h, const void *bytes, size_t size) {
    const uint8_t *p = bytes;
    for (size_t taken; size; size -= taken, p += taken) {
        uint32_t word = *p;
        taken = size < 4 ? 1 : 4;
        if (taken > 1) memcpy(&word, p, 4);
        h = (h ^ word) * 2654435769u;
        h ^= h >> 15;
    }
    return h;
}

Int overflow(Context *c) {
    fail(c, POLYLOOM_OVERFLOW, 0);
    return 0;
}

#ifdef __OPTIMIZE_SIZE__
#include "arithmetic.h"
#endif

Int narrowed(Context *c, int64_t x) { return x < -INT_MOST || x > INT_MOST ? overflow(c) : (Int)x; }

Int floor_div(Int a, Int b) {
    const Int q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
