// SPDX-License-Identifier: Apache-2.0
// Functional-unit programs from control flow graphs (the paper, section 6.3, Algorithm 4), as the file has them.
#include "internal.h"

enum { NEXT, HALT, GOTO, IF };

static uint32_t kind(const GraphNode *n, uint32_t v) {
    if (!n->edges) return HALT;
    if (n->edges > 1) return IF;
    return n->edge[0].to == v + 1 ? NEXT : GOTO;
}

static uint32_t branch_size(const GraphNode *n, uint32_t v) {
    const uint32_t k = kind(n, v);
    return k == GOTO ? 2 : k == IF ? 1 + n->signals + (2u << n->signals) : 0;
}

// The edge of a code, or NONE where it cannot occur.
static uint32_t edge_of(const GraphNode *n, uint32_t code) {
    if (n->shared) return signals_of(n)[n->signals + code] == NOWHERE ? NONE : signals_of(n)[n->signals + code];
    for (uint32_t e = 0; e < n->edges; ++e)
        if (n->edge[e].code == code) return e;
    return NONE;
}

// A code that cannot occur repeats the target of the lowest one that can.
static uint32_t target(const GraphNode *n, uint32_t code) {
    uint32_t e = edge_of(n, code);
    for (code = 0; e == NONE; ++code) e = edge_of(n, code);
    return n->edge[e].to;
}

// The words and bytes of a program.
bool measure(Context *c, Graph *g, uint32_t unit) {
    const Int words = mul(c, g->nodes, c->t->interval), limit = c->s.limits.instruction_words;
    c->about.place = g->nodes;
    if (limit >= 0 && words > limit) return refuse(c, 516, POLYLOOM_UNIT, unit, words, limit);
    if (words > 65535) return refuse(c, 706, POLYLOOM_FIELD, 1, words, 65536);
    g->words = (uint32_t)words;
    g->size = 0;
    for (uint32_t v = 0; v < g->nodes; ++v) {
        if (g->node[v].signals > 15) return refuse(c, 706, POLYLOOM_FIELD, 1, g->node[v].signals, 16);
        g->size += g->node[v].kernel->size + branch_size(&g->node[v], v);
    }
    return ok(c);
}

void write_program(const Context *c, const Graph *g, uint8_t *at) {
    for (uint32_t v = 0; v < g->nodes; ++v) {
        const GraphNode *n = &g->node[v];
        const uint32_t k = kind(n, v);
        memcpy(at, n->kernel->bytes, n->kernel->size);
        at[n->kernel->last] |= (uint8_t)(k << 6);
        at += n->kernel->size;
        if (k == IF) {
            *at++ = n->signals;
            // `emit` refuses more than 256.
            for (uint32_t i = 0; i < n->signals; ++i) *at++ = (uint8_t)signals_of(n)[i];
        }
        for (uint32_t code = 0; k >= GOTO && code >> n->signals == 0; ++code) {
            const uint32_t place = target(n, code) * (uint32_t)c->t->interval;
            *at++ = (uint8_t)place;
            *at++ = (uint8_t)(place >> 8);
        }
    }
}

// Finds the first program that has the same bytes.
void first_program(Context *c, uint32_t number) {
    Graph *g = &c->graph[number];
    const size_t high = c->high;
    uint8_t *bytes = temp(c, g->size, 2), *other = bytes + g->size;
    if (!bytes) return;
    write_program(c, g, bytes);
    for (g->same = 0; g->same < number; ++g->same) {
        const Graph *f = &c->graph[g->same];
        if (f->size != g->size || f->words != g->words) continue;
        write_program(c, f, other);
        if (same_bytes(bytes, other, g->size)) break;
    }
    c->high = high;
}
