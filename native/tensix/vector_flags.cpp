// SPDX-License-Identifier: Apache-2.0
// Flags and their stack (facts §1.2). SFPSETCC narrows in the lanes that execute; the others work on all lanes.
#include "tensix/vector_run.hpp"

namespace polyloom::tensix::vector {

namespace {

void set(const Run& run) {
    Flags& flags = run.vector().flags;
    const Lanes& c = run.at(run.op.vc);
    uint32_t holds = 0;
    if (run.op.mod & 8)
        holds = 0;
    else if (run.op.mod & 1)
        holds = run.op.immediate & 1 ? ALL : 0;
    else if (run.op.mod & 2)
        holds = where([](uint32_t v) { return v != 0; }, c);
    else
        holds = where([](uint32_t v) { return v >> 31; }, c);
    if (!(run.op.mod & 9) && run.op.mod & 4) holds = ~holds;
    flags.set = (flags.set & ~run.lanes) | (holds & flags.used & run.lanes);
}

// SFPENCC takes its bits from the immediate (tensix.md, Machine).
void enable(const Run& run) {
    Flags& flags = run.vector().flags;
    if (run.op.mod & 2)
        flags.used = run.op.immediate & 1 ? ALL : 0;
    else if (run.op.mod & 1)
        flags.used = ~flags.used;
    flags.set = run.op.mod & 8 ? run.op.immediate & 2 ? ALL : 0 : ALL;
}

// An overfull stack drops its bottom (tensix.md, Machine).
void push(const Run& run) {
    VectorState& vector = run.vector();
    if (vector.depth == int(vector.stack.size())) {
        run.report("stack-overflow", "SFPPUSHC on a full stack of eight flags drops the lowest", "pop before it");
        for (size_t k = 1; k < vector.stack.size(); ++k) vector.stack[k - 1] = vector.stack[k];
        --vector.depth;
    }
    vector.stack[size_t(vector.depth++)] = vector.flags;
}

uint32_t combined(int mode, uint32_t a, uint32_t b) {
    switch (mode) {
        case 1: return b;
        case 2: return ~b;
        case 3: return a & b;
        case 4: return a | b;
        case 5: return a & ~b;
        case 6: return a | ~b;
        case 7: return ~a & b;
        case 8: return ~a | b;
        case 9: return ~a & ~b;
        case 10: return ~a | ~b;
        case 11: return a ^ b;
        default: return ~(a ^ b);
    }
}

void pop(const Run& run) {
    VectorState& vector = run.vector();
    const int mode = run.op.mod;
    const Flags top = vector.depth ? vector.stack[size_t(vector.depth - 1)] : Flags{};
    if (!mode && !vector.depth)
        run.report("stack-underflow", "SFPPOPC finds no flags on the stack", "push before it, or drop it");
    if (mode && vector.depth == int(vector.stack.size())) {
        run.report("stack-full", "SFPPOPC with a mode on a full stack overwrites the lowest flags", "pop before it");
        vector.stack[0] = top;
    }
    if (!mode)
        vector.depth -= vector.depth > 0, vector.flags = top;
    else if (mode <= 12)
        vector.flags = {combined(mode, vector.flags.set, top.set), top.used};
    else if (mode == 13)
        vector.flags.set = ~vector.flags.set;
    else
        vector.flags = {mode == 14 ? ALL : 0, ALL};
}

void complement(const Run& run) {
    VectorState& vector = run.vector();
    const Flags top = vector.depth ? vector.stack[size_t(vector.depth - 1)] : Flags{ALL, ALL};
    vector.flags.set = top.used & vector.flags.used & top.set & ~vector.flags.set;
}

}  // namespace

void run_flags(const Run& run) {
    switch (run.op.code) {
        case Code::SetCC: return set(run);
        case Code::EnableCC: return enable(run);
        case Code::Push: return push(run);
        case Code::Pop: return pop(run);
        default: return complement(run);
    }
}

}  // namespace polyloom::tensix::vector
