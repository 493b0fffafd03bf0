// SPDX-License-Identifier: Apache-2.0
// The reader of symbolic files of phases (docs/formats.md), for given values of the parameters: arrays with their
// extents, phases, and the tree of steps. The file of a single program becomes a plan of one phase without arrays.
#include "internal.h"

#define SECTIONS 3
#define OF_PHASE 6  // sections of its file
#define VALUES 64   // parameters and counters
#define DEPTH 16    // loops of steps in one another

// An affine expression of the parameters and counters.
static Int affine_of(Whole *w, Reader *r) {
    const uint32_t number = w->parameters + w->counters;
    Int a[VALUES] = {0};
    sparse(r, number, a);
    Int value = integer(r);
    for (uint32_t k = 0; k < number; ++k)
        if (a[k]) value = add(w->c, value, mul(w->c, a[k], w->value[k]));
    return value;
}

// A bound of a loop: the greatest lower or the least upper one.
static Int bound(Whole *w, Reader *r, bool upper) {
    const uint32_t number = count(r);
    Int found = upper ? INT_MOST : -INT_MOST;
    if (!number) malformed(r);
    for (uint32_t k = 0; k < number && ok(w->c); ++k) {
        const Int value = affine_of(w, r);
        found = upper ? min(found, value) : max(found, value);
    }
    return found;
}

// Whether no piece of the assumptions holds.
static bool outside(Whole *w, Reader *r) {
    bool inside = false;
    for (uint32_t pieces = count(r); pieces && ok(w->c); --pieces) {
        bool holds_all = true;
        for (uint32_t n = count(r); n && ok(w->c); --n) holds_all &= affine_of(w, r) >= 0;
        inside |= holds_all;
    }
    return !inside;
}

static bool read_slots(Whole *w, Reader *r) {
    w->slots = count(r);
    TRY(w->slot = keep(w->c, w->slots, sizeof *w->slot));
    for (uint32_t i = 0; i < w->slots && ok(w->c); ++i) {
        Variable *s = &w->slot[i];
        const polyloom_layout *l = w->layout ? &w->layout[i] : NULL;
        below(r, 64);
        *s = (Variable){.role = below(r, PARAMETRIC + 1), .rank = below(r, 32), .at = (uint32_t)r->at};
        const bool known = s->role == PARAMETRIC;
        uint64_t size = 1, words = 1;
        if (known && s->rank != 1) return malformed(r);
        for (uint32_t k = 0; k < s->rank && ok(w->c); ++k) {
            const Int extent = known ? (affine_of(w, r), 1) : affine_of(w, r);
            size *= (uint64_t)max(extent, 0);
            if (size > UINT32_MAX) fail(w->c, POLYLOOM_OVERFLOW, r->at);
            if (l && l->strides && !known) add_words(&words, l->strides[k], extent);
        }
        s->size = (uint32_t)size;
        w->elements = size > UINT32_MAX - w->elements ? UINT32_MAX : w->elements + s->size;
        if (l) span_words(w->c, s, l->base, l->strides ? words : size + !size);
    }
    return ok(w->c) && number_words(w);
}

static bool read_stages(Whole *w, Reader *r) {
    const Reader files = section_of(w->c, 1, SECTIONS);
    size_t at = files.at;
    w->stages = count(r);
    TRY(w->stage = keep(w->c, w->stages, sizeof *w->stage));
    if (!w->stages) return malformed(r);
    for (Stage *s = w->stage; s < w->stage + w->stages && ok(w->c); ++s) {
        if (r->end - r->at < 4) return malformed(r);
        s->at = (uint32_t)at;
        s->length = load32(w->c->data + r->at);
        r->at += 4;
        if (s->length > files.end - at) return malformed(r);
        at += s->length;
        s->arrays = count(r);
        TRY(s->array = keep(w->c, s->arrays, sizeof *s->array));
        for (uint32_t i = 0; i < s->arrays; ++i) s->array[i] = below(r, w->slots);
        s->arguments = (uint32_t)r->at;
        s->values = count(r);
        if (s->values > VALUES) return malformed(r);
        for (uint32_t k = 0; k < s->values && ok(w->c); ++k) bound(w, r, true);
        s->windows = (uint32_t)r->at;
        for (uint32_t k = count(r); k && ok(w->c); --k) {
            const uint32_t array = below(r, s->arrays), rank = below(r, RANK);
            if (ok(w->c) && rank != w->slot[s->array[array]].rank) return malformed(r);
            for (uint32_t i = 0; i < rank && ok(w->c); ++i) affine_of(w, r);
        }
    }
    return at == files.end || malformed(r);
}

// How many of each are found so far.
typedef struct {
    uint32_t phases, loops;
} Found;

// The nodes of a body with so many loops around it, which bounds the recursion.
static bool read_body(Whole *w, Reader *r, uint32_t parent, int depth, Found *found) {
    for (uint32_t nodes = count(r); nodes && ok(w->c); --nodes) {
        const uint32_t kind = below(r, depth < DEPTH ? DOWNWARDS + 1 : PHASE + 1);
        const uint32_t number = kind == PHASE ? found->phases++ : found->loops++;
        if (!ok(w->c) || number >= (kind == PHASE ? w->stages : w->counters)) return malformed(r);
        Step *s = &w->step[w->steps++];
        *s = (Step){(uint8_t)kind, number, parent, w->steps, (uint32_t)r->at, 0, 0};
        if (kind == PHASE) continue;
        bound(w, r, false);
        bound(w, r, true);
        s->stride = (Int)below(r, (uint32_t)1 << 30) + 1;
        TRY(read_body(w, r, (uint32_t)(s - w->step), depth + 1, found));
        s->end = w->steps;
    }
    return ok(w->c);
}

static bool read_tree(Whole *w, Reader *r) {
    Found found = {0};
    TRY((w->step = keep(w->c, (size_t)w->stages + w->counters, sizeof *w->step)) && read_body(w, r, NONE, 0, &found));
    return (found.loops == w->counters && found.phases == w->stages) || malformed(r);
}

// The position of a name; the reader is past it then.
static uint32_t name_at(Reader *r) {
    const size_t at = r->at;
    const uint32_t length = count(r);
    if (length > r->end - r->at) malformed(r);
    r->at += ok(r->c) ? length : 0;
    return (uint32_t)at;
}

// Reads past a list of names, and tells how many there are.
static void skip_names(Reader *r, uint32_t *number) {
    *number = count(r);
    for (uint32_t i = 0; i < *number && ok(r->c); ++i) name_at(r);
}

// How many parameters the phase has whose file `c->data` is.
static void parameters_of(Context *c, size_t size, uint32_t *number) {
    if (!check_container(c, size, "PLSC", SYMBOLIC_VERSION, OF_PHASE)) return;
    Reader first = section_of(c, 0, OF_PHASE);
    *number = below(&first, 1 << 16);
}

// Whether a phase has one argument for each of its parameters.
static bool check_values(Whole *w, const Stage *s) {
    Context *c = w->c;
    const uint8_t *const whole = c->data;
    uint32_t parameters = 0;
    c->data += s->at;
    if (w->is_concrete)
        check_words(c, s->length);
    else
        parameters_of(c, s->length, &parameters);
    c->data = whole;
    if (!ok(c)) c->position += s->at;
    TRY(ok(c));
    return parameters == s->values || fail(c, 705, s->at);
}

static bool take_values(Whole *w, const polyloom_walk_request *r) {
    const uint32_t count = w->is_concrete ? 0 : r->value_count;
    if (count != w->parameters) return fail(w->c, count < w->parameters ? 501 : 502, 0);
    TRY(w->value = keep(w->c, w->parameters + w->counters, sizeof *w->value));
    for (uint32_t k = 0; k < count; ++k) {
        if ((uint64_t)r->values[k] > INT32_MAX) return refuse(w->c, 503, POLYLOOM_NOTHING, k, 0, 0);
        w->value[k] = (Int)r->values[k];
    }
    return true;
}

static bool take_candidates(Whole *w, const polyloom_walk_request *r) {
    if (w->chosen != NONE && w->chosen != w->stages) return fail(w->c, 705, 0);
    TRY(w->candidate = keep(w->c, w->stages, sizeof *w->candidate));
    for (uint32_t i = 0; i < w->stages; ++i) w->candidate[i] = r->candidates ? r->candidates[i] : POLYLOOM_ALL;
    return true;
}

static bool read_phases(Whole *w, const polyloom_walk_request *q) {
    Context *c = w->c;
    TRY(check_container(c, q->symbolic_size, w->is_concrete ? "PLCP" : "PLSP", 3, SECTIONS));
    Reader head = section_of(c, 0, SECTIONS), names = section_of(c, SECTIONS - 1, SECTIONS);
    c->s.names_end = SIZE_MAX;
    name_at(&names);
    uint32_t arrays;
    skip_names(&names, &w->parameters);
    skip_names(&names, &w->counters);
    skip_names(&names, &arrays);
    if (!ok(c) || (uint64_t)w->parameters + w->counters >= VALUES) return malformed(&names);
    TRY(take_values(w, q));
    const bool refused = outside(w, &head);
    // Layouts and candidates of a request are those of the arrays and phases; a file may say another number.
    if (w->layout && w->placed != NONE && w->placed != arrays) return malformed(&names);
    TRY(ok(c) && read_slots(w, &head) && read_stages(w, &head) && read_tree(w, &head));
    if (head.at != head.end || names.at != names.end || w->slots != arrays) return malformed(&head);
    for (Stage *s = w->stage; s < w->stage + w->stages; ++s) TRY(check_values(w, s));
    if (refused) return fail(c, 504, 0);
    return take_candidates(w, q) && (!w->is_concrete || words_of_phases(w)) && (!w->layout || prepare_layouts(w));
}

// A plan whose only step is the program itself.
static bool read_alone(Whole *w, const polyloom_walk_request *q) {
    const size_t size = q->symbolic_size;
    TRY((w->stage = keep(w->c, 1, sizeof *w->stage)) && (w->step = keep(w->c, 1, sizeof *w->step)));
    *w->stage = (Stage){.length = (uint32_t)size};
    *w->step = (Step){PHASE, 0, NONE, 1, 0, 0, 0};
    w->stages = w->steps = 1;
    if (w->is_concrete)
        check_words(w->c, size);
    else
        parameters_of(w->c, size, &w->parameters);
    TRY(ok(w->c) && take_values(w, q));
    w->stage->values = w->parameters;
    return take_candidates(w, q);
}

// Takes what the request says, but of a file that says it itself what that says.
bool read_plan(Whole *w, const polyloom_walk_request *q) {
    const uint8_t *const data = w->c->data = q->symbolic;
    polyloom_walk_request own = *q;
    w->chosen = w->placed = NONE;
    if (q->symbolic_size >= 4) {
        if (same_bytes(data, "PLCL", 4)) TRY(read_bound(w, &own));
        w->is_concrete = same_bytes(data, "PLCP", 4) || same_bytes(data, "PLCC", 4);
    }
    w->rows = own.rows;
    w->columns = own.columns;
    w->closed = own.closed;
    w->is_alone = own.symbolic_size >= 4 && !same_bytes(w->c->data, "PLSP", 4) && !same_bytes(w->c->data, "PLCP", 4);
    w->layout = w->is_concrete ? NULL : own.layouts;
    return (w->is_alone ? read_alone : read_phases)(w, &own);
}

// The first and the last value of a loop's counter; `first` is beyond `last` where there is none.
bool bounds_of(Whole *w, Step *s, Int *first) {
    Reader r = section_of(w->c, 0, SECTIONS);
    r.at = s->at;
    const Int low = bound(w, &r, false);
    Int high = sub(w->c, bound(w, &r, true), 1);
    // The greatest value is a whole number of strides from the least one.
    if (high > low) high = sub(w->c, high, sub(w->c, high, low) % s->stride);
    *first = s->kind == UPWARDS ? low : high;
    s->last = s->kind == UPWARDS ? high : low;
    return ok(w->c);
}

Int scalar_of(Whole *w, const Variable *slot) {
    Reader r = section_of(w->c, 0, SECTIONS);
    r.at = slot->at;
    return affine_of(w, &r);
}

// The values of a phase's parameters, each the least of its arguments, and at least 0.
bool arguments_of(Whole *w, const Stage *s, int64_t *value) {
    if (w->is_alone) {
        for (uint32_t i = 0; i < s->values; ++i) value[i] = w->value[i];
        return true;
    }
    Reader r = section_of(w->c, 0, SECTIONS);
    r.at = s->arguments;
    count(&r);
    for (uint32_t i = 0; i < s->values && ok(w->c); ++i) value[i] = max(bound(w, &r, true), 0);
    return ok(w->c);
}

// The window that an array of a phase is.
bool window_of(Whole *w, const Stage *s, uint32_t array, ArrayWindow *window) {
    window->rank = 0;
    if (w->is_alone) return true;
    Reader r = section_of(w->c, 0, SECTIONS);
    r.at = s->windows;
    for (uint32_t k = count(&r); k && ok(w->c); --k) {
        const bool found = below(&r, s->arrays) == array;
        const uint32_t rank = below(&r, RANK);
        for (uint32_t i = 0; i < rank && ok(w->c); ++i) window->first[i] = affine_of(w, &r);
        if (!found) continue;
        window->rank = rank;
        r.at = w->slot[s->array[array]].at;
        for (uint32_t i = 0; i < rank && ok(w->c); ++i) window->outside[i] = max(affine_of(w, &r), 0);
        break;
    }
    return ok(w->c);
}
