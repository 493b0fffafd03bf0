// SPDX-License-Identifier: Apache-2.0
// The cycles that a configuration will take, from its words alone, from the first issue to the last bank write
// (docs/targets/tcpa.md, Time). The last write is that of the output generator that finishes last. The first issue is
// found by following the units' programs with the controller's signals. Equal to targets/tcpa/predict.py.
#include "internal.h"

enum { NEXT, HALT, GOTO, IF };
static const int64_t FOLLOWED[] = {64, 1 << 16};  // instructions followed while nothing issues, of all programs

typedef struct {
    uint32_t opcode, branch;
    const uint8_t *after, *next;  // what belongs to the branch, and the next instruction
} Instruction;

static Instruction instruction(const uint8_t *at) {
    Instruction i = {(uint32_t)(at[0] & 63) << 4 | at[1] >> 4, at[0] >> 6, NULL, NULL};
    const uint32_t arity = i.opcode == NOP << 4 ? 0 : arity_of(at[0] & 63);
    const uint8_t *source = at + 2 + (at[1] & 15);
    i.after = source + arity;
    for (uint32_t k = 0; k < arity; ++k)
        if (source[k] >> 6 == 3) i.after += is_wide(i.opcode, k) ? 8 : 4;
    i.next = i.after;
    if (i.branch == GOTO) i.next += 2;
    if (i.branch == IF) i.next += 1 + i.after[0] + ((size_t)2 << i.after[0]);
    return i;
}

static const uint8_t *skipped_to(const uint8_t *program, uint32_t number) {
    while (number--) program = instruction(program).next;
    return program;
}

// Whether a control signal is 1 in an iteration of the scan.
static bool is_one(const uint8_t *words, const Head *h, uint32_t signal, uint32_t step) {
    uint32_t digit[DIMENSIONS], sets;
    for (uint32_t m = 0; m + 1 < h->dimensions; ++m) {
        digit[m] = step % load32(h->extents + 4 * m);
        step /= load32(h->extents + 4 * m);
    }
    digit[h->dimensions - 1] = step;  // is not reduced
    const uint8_t *set = sets_of(words, h->dimensions, load32(h->signal + 4 * signal), &sets);
    for (; sets; --sets, set = next_set(set, h->dimensions)) {
        bool inside = in_spaces(set, h->dimensions, digit);
        for (uint32_t m = 0; m < h->dimensions; ++m)
            inside = inside && digit[m] >= load32(set + 4 * m) && digit[m] <= load32(set + 4 * (h->dimensions + m));
        if (inside) return true;
    }
    return false;
}

// Cycles until a program's first operation, at most `limit`; -1 where it only idles.
static int64_t first_operation(const uint8_t *words, const Head *h, const uint8_t *program, int64_t limit) {
    const uint8_t *at = program;
    for (int64_t cycle = 0; cycle < limit; ++cycle) {
        const Instruction i = instruction(at);
        uint32_t code = 0;
        if (i.opcode != NOP << 4) return cycle;
        if (i.branch == HALT) return -1;
        for (uint32_t k = 0; i.branch == IF && k < i.after[0]; ++k)
            code |= (uint32_t)is_one(words, h, i.after[1 + k], (uint32_t)(cycle / h->interval)) << k;
        if (i.branch == NEXT)
            at = i.next;
        else
            at = skipped_to(program, load16(i.after + (i.branch == IF ? 1 + i.after[0] + 2 * code : 0)));
    }
    return limit;
}

// Cycles from the start token of an element of a class to its first operation, or -1; the class after it.
static int64_t first_issue(const uint8_t *words, const Head *h, const uint8_t *class_, const uint8_t **next) {
    int64_t least = -1;
    for (int look = 0; look < 2; ++look) {
        const uint8_t *at = class_ + 1;
        least = -1;
        for (uint32_t programs = *class_; programs; --programs) {
            const uint32_t count = load16(at);
            const int64_t offset = count ? first_operation(words, h, at + 2, FOLLOWED[look]) : -1;
            if (offset >= 0 && (least < 0 || offset < least)) least = offset;
            at = skipped_to(at + 2, count);
        }
        for (int file = 0; file < 2; ++file) at += 1 + 4 * *at;
        *next = at;
        // A short look suffices nearly always.
        if (least < FOLLOWED[look]) break;
    }
    return least;
}

// When the first element of a class gets its start token, or -1 where none has it.
static int64_t start_of_class(const uint8_t *words, const Head *h, uint32_t number, uint32_t classes) {
    const uint8_t *map = maps_of(words);
    const uint32_t size = classes + 1 <= 256 ? 1 : 2;
    const int64_t start = load32(h->controller + 2), delay[] = {load32(h->controller + 6), load32(h->controller + 10)};
    int64_t least = -1;
    for (uint32_t row = 0; row < h->rows; ++row)
        for (uint32_t column = 0; column < h->columns; ++column, map += size) {
            if ((size == 1 ? *map : load16(map)) != number + 1) continue;
            const uint32_t down = h->controller[0] ? h->rows - 1 - row : row,
                           right = h->controller[1] ? h->columns - 1 - column : column;
            const int64_t at = start + down * delay[0] + right * delay[1];
            if (least < 0 || at < least) least = at;
        }
    return least;
}

// The cycle after the last write into a bank; 0 where there is none.
static int64_t end_of_writes(const uint8_t *words, const Head *h) {
    uint32_t count, sets;
    const uint8_t *g = generators_of(words, &count);
    int64_t end = 0;
    for (const size_t size = 24 + 4 * (size_t)h->dimensions; count; --count, g += size) {
        if (!is_output(h, load16(g + 10))) continue;
        const uint8_t *set = sets_of(words, h->dimensions, load32(g + size - 4), &sets);
        for (; sets; --sets, set = next_set(set, h->dimensions)) {
            int64_t step = 0, weight = 1;
            for (uint32_t m = 0; m < h->dimensions; weight *= load32(h->extents + 4 * m++))
                step += weight * load32(set + 4 * (h->dimensions + m));
            const int64_t last = load32(g + size - 8) + h->interval * step + 1;
            if (last > end) end = last;
        }
    }
    return end;
}

// Equal to the simulated cycles where all generator domains are boxes, else an upper bound; 0 where nothing issues.
int64_t cycles_of(const uint8_t *words) {
    Head h;
    head_of(words, &h);
    const int64_t end = end_of_writes(words, &h);
    if (!end) return 0;
    const uint8_t *at = classes_of(words);
    const uint32_t classes = load16(at);
    int64_t first = -1;
    at += 2;
    for (uint32_t k = 0; k < classes; ++k) {
        const int64_t start = start_of_class(words, &h, k, classes), offset = first_issue(words, &h, at, &at);
        if (start >= 0 && offset >= 0 && (first < 0 || start + offset < first)) first = start + offset;
    }
    return first < 0 ? 0 : end - first;
}
