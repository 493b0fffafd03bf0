// SPDX-License-Identifier: Apache-2.0
// The cycles that a configuration will take, from its words alone, from the first issue to the last bank write
// (docs/targets/tcpa.md, Time). The last write is that of the output generator that finishes last. The first issue is
// found by following the units' programs with the controller's signals. Equal to targets/tcpa/run/predict.py.
#include "internal.h"

enum { NEXT, HALT, GOTO, IF };
static const int64_t FOLLOWED[] = {64, 1 << 16};  // instructions followed while nothing issues, of all programs

// `codes` targets, one for each value of the signals.
typedef struct {
    uint32_t opcode, branch, signals, codes;
    const uint8_t *signal, *target, *next;
} Instruction;

// False where it does not end before `end`.
static bool read_instruction(const uint8_t *at, const uint8_t *end, Instruction *i) {
    if (end - at < 2) return false;
    *i = (Instruction){.opcode = (uint32_t)(at[0] & 63) << 4 | at[1] >> 4, .branch = at[0] >> 6};
    const uint32_t first = 2 + (at[1] & 15), arity = i->opcode == NOP << 4 ? 0 : arity_of(at[0] & 63);
    uint32_t size = first + arity;
    if (end - at < (ptrdiff_t)size + 1) return false;
    for (uint32_t k = 0; k < arity; ++k)
        if (at[first + k] >> 6 == 3) size += is_wide(i->opcode, k) ? 8 : 4;
    if (i->branch == IF) {
        if (end - at <= (ptrdiff_t)size || at[size] > 15) return false;
        i->signals = at[size++];
        i->signal = at + size;
    }
    i->codes = i->branch == IF ? 1u << i->signals : i->branch == GOTO;
    if (end - at < (ptrdiff_t)(size + i->signals + 2 * i->codes)) return false;
    i->target = at + size + i->signals;
    i->next = i->target + 2 * i->codes;
    return true;
}

// Whether a program leads from instruction to instruction, up to one that halts, and where the next program begins; a
// malformed symbolic file can make others.
static bool check_program(const Head *h, const uint8_t *at, const uint8_t *end, const uint8_t **next) {
    if (end - at < 2) return false;
    const uint32_t count = load16(at);
    Instruction i = {.branch = HALT, .next = at + 2};
    for (uint32_t n = 0; n < count; ++n) {
        if (!read_instruction(i.next, end, &i)) return false;
        for (uint32_t k = 0; k < i.signals; ++k)
            if (i.signal[k] >= h->signals) return false;
        for (uint32_t k = 0; k < i.codes; ++k)
            if (load16(i.target + 2 * k) >= count) return false;
    }
    *next = i.next;
    return i.branch != NEXT;
}

static bool check_class(const Head *h, const uint8_t *at, const uint8_t *end, const uint8_t **next) {
    if (at >= end) return false;
    uint32_t programs = *at++;
    for (; programs; --programs)
        if (!check_program(h, at, end, &at)) return false;
    for (int file = 0; file < 2; ++file) {
        if (at >= end || end - at < 1 + 4 * *at) return false;
        at += 1 + 4 * *at;
    }
    *next = at;
    return true;
}

static const uint8_t *skipped_to(const uint8_t *program, const uint8_t *end, uint32_t number) {
    for (Instruction i = {.next = program}; number--; program = i.next) read_instruction(i.next, end, &i);
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
static int64_t first_operation(const uint8_t *words, const Head *h, const uint8_t *program, const uint8_t *end,
                               int64_t limit) {
    Instruction i = {.next = program};
    for (int64_t cycle = 0; cycle < limit; ++cycle) {
        if (!read_instruction(i.next, end, &i)) return -1;
        uint32_t code = 0;
        if (i.opcode != NOP << 4) return cycle;
        if (i.branch == HALT) return -1;
        for (uint32_t k = 0; k < i.signals; ++k)
            code |= (uint32_t)is_one(words, h, i.signal[k], (uint32_t)(cycle / h->interval)) << k;
        if (i.codes) i.next = skipped_to(program, end, load16(i.target + 2 * code));
    }
    return limit;
}

// Cycles from the start token of an element of a class to its first operation, or -1.
static int64_t first_issue(const uint8_t *words, const Head *h, const uint8_t *class_, const uint8_t *end) {
    int64_t least = -1;
    for (int look = 0; look < 2; ++look) {
        const uint8_t *at = class_ + 1;
        least = -1;
        for (uint32_t programs = *class_; programs; --programs) {
            const uint32_t count = load16(at);
            const int64_t offset = count ? first_operation(words, h, at + 2, end, FOLLOWED[look]) : -1;
            if (offset >= 0 && (least < 0 || offset < least)) least = offset;
            at = skipped_to(at + 2, end, count);
        }
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
// False for programs that lead nowhere.
bool cycles_of(const uint8_t *words, int64_t *cycles) {
    Head h;
    head_of(words, &h);
    const int64_t end = end_of_writes(words, &h);
    *cycles = 0;
    if (!end) return true;
    const uint8_t *at = classes_of(words), *const stop = maps_of(words), *next;
    const uint32_t classes = load16(at);
    int64_t first = -1;
    at += 2;
    for (uint32_t k = 0; k < classes; ++k, at = next) {
        if (!check_class(&h, at, stop, &next)) return false;
        const int64_t start = start_of_class(words, &h, k, classes), offset = first_issue(words, &h, at, stop);
        if (start >= 0 && offset >= 0 && (first < 0 || start + offset < first)) first = start + offset;
    }
    if (first >= 0) *cycles = end - first;
    return true;
}
