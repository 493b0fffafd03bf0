// SPDX-License-Identifier: Apache-2.0
// Which candidates phases take together, as targets/tcpa/run/phases/candidate_choice.py has it: from the best
// candidates one phase at a time takes another one that brings the sum of cycles and transfers down, until none does.
// The keys of what each phase touches are kept meanwhile, and behind them those of the candidate that is tried.
#include "internal.h"

#define LARGE (1 << 18)  // elements, above which nothing is tried
#define SMALL 8          // the part of all cycles that transfers take at least, for anything to be tried

// Fills a block with what the configuration that was made last touches; its keys lie behind all that are kept.
static bool note(Walker *k, const Stage *s, Block *b) {
    Whole *w = &k->whole;
    *b = (Block){.at = k->held};
    if (!cycles_of(k->words, &b->cycles)) return fail(w->c, 530, 0);
    TRY(touches(w, s, k->words, false, keys(k), room_for_keys(k, 0), &b->reads));
    used(k, w->most * sizeof(uint64_t));
    TRY(touches(w, s, k->words, true, keys(k) + b->reads, room_for_keys(k, b->reads), &b->writes));
    used(k, (b->reads + w->most) * sizeof(uint64_t));
    return true;
}

// The cycles of all transfers, where the phase `changed` takes the block that is tried. All blocks are kept.
static bool moving(Walker *k, uint32_t changed, int64_t *cycles) {
    Whole *w = &k->whole;
    uint64_t *held = keys(k);
    uint32_t holders = 0;
    *cycles = 0;
    for (uint32_t i = 0; i < w->stages; ++i) {
        const Block *b = &k->block[i == changed ? w->stages : i];
        const uint64_t *own = (uint64_t *)k->start + b->at;
        const uint32_t touched[] = {b->reads, b->writes};
        uint32_t moved;
        TRY(transfers(w, NULL, held, holders, own, b->reads, held + holders, room_for_keys(k, holders), &moved));
        *cycles += busiest(held + holders, moved);
        for (int side = 0; side < 2; own += touched[side++]) {
            if (room_for_keys(k, holders) < touched[side]) return fail(w->c, POLYLOOM_SCRATCH, 0);
            used(k, ((size_t)holders + touched[side]) * sizeof(uint64_t));
            memcpy(held + holders, own, touched[side] * sizeof(uint64_t));
            holders = held_after(held, holders, touched[side]);
        }
    }
    return true;
}

// Puts the block that was tried, whose keys are the last ones, in the place of a phase's.
static void replace(Walker *k, uint32_t phase) {
    Block *old = &k->block[phase], tried = k->block[k->whole.stages];
    const size_t at = old->at;
    const uint32_t gone = old->reads + old->writes;
    uint64_t *const from = (uint64_t *)k->start + at;
    move(from, from + gone, (k->held - at - gone) * sizeof(uint64_t));
    *old = tried;
    for (uint32_t i = 0; i < k->whole.stages; ++i)
        if (k->block[i].at > at) k->block[i].at -= gone;
    k->held -= gone;
}

// Whether a candidate is no choice: it does not fit these values. In a build of small integers another host could
// choose what does not fit here.
static bool unfit(const Context *c) {
#ifdef POLYLOOM_INT32
    return c->error >= 500;
#else
    return c->error >= 500 || c->error == POLYLOOM_OVERFLOW;
#endif
}

// Tries one candidate of a phase; `moved` are the cycles of all transfers as long as none is better.
static bool attempt(Walker *k, uint32_t phase, uint32_t candidate, int64_t *moved, bool *better) {
    Whole *w = &k->whole;
    const Stage *s = &w->stage[phase];
    Block *tried = &k->block[w->stages];
    int64_t cycles;
    if (!make(k, s, candidate)) {
        if (!unfit(w->c) || w->c->error == 815) return false;
        w->c->error = 0;
        return true;
    }
    if (!cycles_of(k->words, &cycles)) return fail(w->c, 530, 0);
    const int64_t longer = cycles - k->block[phase].cycles;
    if (longer >= *moved) return true;
    TRY(note(k, s, tried));
    k->held += tried->reads + tried->writes;
    TRY(moving(k, phase, &cycles));
    *better = longer + cycles < *moved;
    if (!*better) {
        k->held -= tried->reads + tried->writes;
        return true;
    }
    replace(k, phase);
    w->candidate[phase] = candidate;
    *moved = cycles;
    return true;
}

// Whether some phase took another candidate.
static bool improve(Walker *k, const bool *given, int64_t *moved, bool *better) {
    Whole *w = &k->whole;
    *better = false;
    for (uint32_t phase = 0; phase < w->stages && *moved && !*better; ++phase)
        for (uint32_t candidate = 0; !given[phase] && !*better; ++candidate) {
            if (attempt(k, phase, candidate, moved, better)) continue;
            if (w->c->error != 815) return false;
            w->c->error = 0;  // that was the last one
            break;
        }
    return true;
}

bool choose_together(Walker *k) {
    Whole *w = &k->whole;
    const uint32_t blocks = w->stages + 1;
    if (w->is_concrete || w->counters || w->stages < 2 || w->elements > LARGE) return true;
    bool *given = (bool *)(k->block + blocks), better = true;
    int64_t cycles = 0, moved;
    for (uint32_t i = 0; i < w->stages; ++i) {
        given[i] = w->candidate[i] != POLYLOOM_ALL;
        k->out->phase = i;
        TRY(make(k, &w->stage[i], w->candidate[i]) && note(k, &w->stage[i], &k->block[i]));
        cycles += k->block[i].cycles;
        k->held += k->block[i].reads + k->block[i].writes;
    }
    TRY(moving(k, NONE, &moved));
    if (SMALL * moved < moved + cycles) better = false;
    while (better) TRY(improve(k, given, &moved, &better));
    k->held = 0;
    return true;
}
