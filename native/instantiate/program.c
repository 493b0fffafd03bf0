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

static bool target(Context *c, uint8_t **at, uint32_t node) {
    const Int place = mul(c, node, c->schedule->interval);
    if (place >> 16) return refuse(c, 706, POLYLOOM_FIELD, 1, place, 65536);
    *(*at)++ = (uint8_t)place;
    *(*at)++ = (uint8_t)(place >> 8);
    return true;
}

// The edge of a code, or NONE where it cannot occur.
static uint32_t edge_of(const GraphNode *n, uint32_t code) {
    if (n->table) return n->table[code];
    for (uint32_t e = 0; e < n->edges; ++e)
        if (n->edge[e].code == code) return e;
    return NONE;
}

// A code that cannot occur repeats the target of the lowest one that can.
static bool targets(Context *c, uint8_t **at, const GraphNode *n) {
    uint32_t lowest = 0;
    while (edge_of(n, lowest) == NONE) ++lowest;
    for (uint32_t code = 0; code >> n->signals == 0; ++code) {
        const uint32_t e = edge_of(n, code);
        TRY(target(c, at, n->edge[e == NONE ? edge_of(n, lowest) : e].to));
    }
    return true;
}

bool program(Context *c, Graph *g, uint32_t unit) {
    const Int words = mul(c, g->nodes, c->schedule->interval), limit = c->s.limits.instruction_words;
    c->about.place = g->nodes;
    if (limit >= 0 && words > limit) return refuse(c, 516, POLYLOOM_UNIT, unit, words, limit);
    if (words > 65535) return refuse(c, 706, POLYLOOM_FIELD, 1, words, 65536);
    g->words = (uint32_t)words;
    g->size = 0;
    for (uint32_t v = 0; v < g->nodes; ++v) {
        if (g->node[v].signals > 15) return refuse(c, 706, POLYLOOM_FIELD, 1, g->node[v].signals, 16);
        g->size += g->node[v].kernel->size + branch_size(&g->node[v], v);
    }
    TRY(g->bytes = keep(c, g->size, 1));
    uint8_t *at = g->bytes;
    for (uint32_t v = 0; v < g->nodes; ++v) {
        const GraphNode *n = &g->node[v];
        memcpy(at, n->kernel->bytes, n->kernel->size);
        at[n->kernel->last + 1] |= (uint8_t)(kind(n, v) << 6);
        at += n->kernel->size;
        if (kind(n, v) == GOTO) TRY(target(c, &at, n->edge[0].to));
        if (kind(n, v) != IF) continue;
        *at++ = (uint8_t)n->signals;
        memcpy(at, n->signal, n->signals);
        at += n->signals;
        TRY(targets(c, &at, n));
    }
    return true;
}
