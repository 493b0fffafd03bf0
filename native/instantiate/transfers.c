// SPDX-License-Identifier: Apache-2.0
// What moves between banks before a step starts, and who holds which element after it (docs/targets/tcpa.md, Phases).
// An element is held by the banks that touched it in the latest step that touched it; another bank that needs it
// receives it from the lowest holder. Keys are those of touches.c.
#include "internal.h"

static polyloom_bank bank_of(uint32_t bank) { return (polyloom_bank){bank >> 30, bank >> 14 & 65535, bank & 16383}; }

static bool tell(const Whole *w, const polyloom_calls *calls, uint32_t element, uint32_t from, uint32_t to,
                 bool outside) {
    if (!calls || !calls->transfer) return true;
    polyloom_transfer t = {0, element, {POLYLOOM_OUTSIDE, 0, 0}, bank_of(to)};
    // Of arrays without elements none has this one.
    while (element - w->slot[t.array].first >= w->slot[t.array].size) ++t.array;
    t.element += w->slot[t.array].base - w->slot[t.array].first;
    if (!outside) t.from = bank_of(from);
    return !calls->transfer(calls->context, &t) || fail(w->c, POLYLOOM_STOPPED, 0);
}

// Tells every word that a bank needs and does not hold; those that another bank sends are listed in `moved`, sender in
// the upper half, receiver in the lower one.
bool transfers(const Whole *w, const polyloom_calls *calls, const uint64_t *held, uint32_t holders,
               const uint64_t *needed, uint32_t needs, uint64_t *moved, size_t room, uint32_t *count) {
    uint32_t first = 0;
    *count = 0;
    for (const uint64_t *key = needed; key < needed + needs; ++key) {
        const uint32_t element = (uint32_t)(*key >> 32);
        while (first < holders && held[first] >> 32 < element) ++first;
        const bool outside = first == holders || held[first] >> 32 != element;
        bool here = false;
        for (uint32_t i = first; i < holders && held[i] >> 32 == element && !here; ++i) here = held[i] == *key;
        if (here) continue;
        TRY(tell(w, calls, element, outside ? 0 : (uint32_t)held[first], (uint32_t)*key, outside));
        if (outside) continue;
        if (*count == room) return fail(w->c, POLYLOOM_SCRATCH, 0);
        moved[(*count)++] = held[first] << 32 | (uint32_t)*key;
    }
    return true;
}

// The most words that one bank sends or receives: it does either once per cycle.
uint32_t busiest(uint64_t *moved, uint32_t count) {
    uint32_t most = 0;
    for (int side = 0; side < 2; ++side) {
        sort_keys(moved, count);
        for (uint32_t i = 0, run = 0; i < count; ++i) {
            run = i && moved[i] >> 32 == moved[i - 1] >> 32 ? run + 1 : 1;
            if (run > most) most = run;
        }
        for (uint32_t i = 0; i < count; ++i) moved[i] = moved[i] << 32 | moved[i] >> 32;
    }
    return most;
}

// The holders after a step: elements that it touched are held where it touched them. The keys of these follow `held`;
// the number of all is returned.
uint32_t held_after(uint64_t *held, uint32_t holders, uint32_t touched) {
    const uint64_t *key = held + holders, *const end = key + touched;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < holders; ++i) {
        while (key < end && *key >> 32 < held[i] >> 32) ++key;
        if (key == end || *key >> 32 != held[i] >> 32) held[kept++] = held[i];
    }
    move(held + kept, held + holders, touched * sizeof *held);
    sort_keys(held, kept + touched);
    return kept + touched;
}
