// SPDX-License-Identifier: Apache-2.0
// How steps follow each other: the next instruction, another block, a trap, the end of a run.
//
// `left` is what may still be executed once the present block is through. A block is entered only when all of it may
// run; the last few instructions of a run are executed one by one from a copy (Hart::run), so that a limit is exact.
//
// What an instruction does is a kernel: a class whose `go` ends in a call of `next`, or of a function below. So a
// kernel can be a step by itself, or the first part of a step of two. All calls are in tail position.
#pragma once

#include "hart.hpp"

#define POLYLOOM_INLINE __attribute__((always_inline)) inline
#define POLYLOOM_COLD __attribute__((noinline, cold))

namespace polyloom::riscv {

template <class P>
POLYLOOM_INLINE void resume(Hart<P>& h, const Decoded<P>* d, int64_t left) {
#ifdef POLYLOOM_CHAINED
    return d->step(h, d, left);
#else
    h.place = d, h.left = left;
#endif
}

template <class P>
POLYLOOM_COLD void exhausted(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    h.pc = d->pc, h.left = left + d->run;
    h.running = false, h.paused = true;
}

template <class P>
POLYLOOM_INLINE void enter(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    left -= d->run;
    if (left < 0) [[unlikely]]
        return exhausted(h, d, left);
    d->entries.add(1);
    return resume(h, d, left);
}

// The rest of a block, from an instruction on or behind it, is left out: its executions are taken back.
template <class P>
POLYLOOM_INLINE void leave_before(const Decoded<P>* d) {
    if (d->run) d->entries.add(-1);
}
template <class P>
POLYLOOM_INLINE void leave_behind(const Decoded<P>* d) {
    if (d->run > 1) (d + 1)->entries.add(-1);
}

// The run ends before the instruction. Where the limit ends it as well, that is what is said.
template <class P>
POLYLOOM_COLD void end(Hart<P>& h, const Decoded<P>* d, int64_t left, Cause cause, uint64_t value) {
    leave_before(d);
    if (left + d->run == 0) return exhausted(h, d, left);
    h.pc = d->pc, h.left = left + d->run;
    h.ended = {cause, d->pc, value, 0, 0};
    h.running = h.paused = false;
}

// The run ends behind the instruction.
template <class P>
POLYLOOM_COLD void end_behind(Hart<P>& h, const Decoded<P>* d, int64_t left, Cause cause, uint64_t value) {
    leave_behind(d);
    h.pc = typename P::X(d->pc + d->bytes), h.left = left + d->run - 1;
    h.ended = {cause, d->pc, value, 0, 0};
    h.running = h.paused = false;
}

// The instruction is through, and goes on elsewhere.
template <class P>
POLYLOOM_COLD void leave(Hart<P>& h, const Decoded<P>* d, int64_t left, Answer answer) {
    leave_behind(d);
    return enter(h, h.at(typename P::X(answer.value)), left + d->run - 1);
}

template <class P>
POLYLOOM_COLD void fail(Hart<P>& h, const Decoded<P>* d, int64_t left, Cause cause, uint64_t value) {
    if (left + d->run == 0) {
        leave_before(d);
        return exhausted(h, d, left);
    }
    h.place = d, h.left = left;
    const Answer answer = P::trap(h, d->pc, cause, value);
    if (answer.kind == Answer::jump) return leave(h, d, left, answer);
    if (answer.kind == Answer::wait) return end(h, d, left, Cause::wait, 0);
    if (answer.kind == Answer::leave) return end_behind(h, d, left, answer.cause, answer.value);
    return end(h, d, left, cause, value);
}

// Goes on as an answer says; an instruction that is absent is illegal.
template <class P>
POLYLOOM_COLD void finish(Hart<P>& h, const Decoded<P>* d, int64_t left, Answer answer) {
    switch (answer.kind) {
        case Answer::done: return resume(h, d + 1, left);
        case Answer::wait: return end(h, d, left, Cause::wait, 0);
        case Answer::trap: return fail(h, d, left, answer.cause, answer.value);
        case Answer::leave: return end_behind(h, d, left, answer.cause, answer.value);
        case Answer::jump: return leave(h, d, left, answer);
        default: return fail(h, d, left, Cause::illegal, 0);
    }
}

template <class P>
struct Next {
    POLYLOOM_INLINE void operator()(Hart<P>& h, const Decoded<P>* d, int64_t left) const { return resume(h, d, left); }
};

template <class P, class K>
void step(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    if constexpr (P::Timing::PRESENT)
        if (!h.timing.issue(h, *d)) return end(h, d, left, Cause::wait, 0);
    return K::go(h, d, left, Next<P>{});
}

// Two instructions that follow each other; the first is never the last of its block.
template <class P, class K, class L>
struct Pair {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        return K::go(h, d, left, [next](Hart<P>& h, const Decoded<P>* d, int64_t left) __attribute__((always_inline)) {
            return L::go(h, d, left, next);
        });
    }
};

// An instruction that a function over the hart and the decoded instruction does.
template <class P, auto F>
struct Function {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        h.place = d, h.left = left;
        const Answer answer = F(h, *d);
        if (answer.kind == Answer::done) [[likely]]
            return next(h, d + 1, left);
        return finish(h, d, left, answer);
    }
};

template <class P, auto F>
inline constexpr Action<P> custom_step = step<P, Function<P, F>>;

// Steps that are no instructions.

template <class P>
void linked(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    return enter(h, d->target, left);
}

template <class P>
void illegal(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    return fail(h, d, left, Cause::illegal, 0);
}

template <class P>
void stopped(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    return end(h, d, left, Cause::stop, 0);
}

// Half an instruction, where the code ends. Once there is more of it, it is decoded anew.
template <class P>
POLYLOOM_COLD void cut(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    const typename P::X pc = d->pc;
    unsigned there = 0;
    h.code->word(pc, there);
    const Answer answer = P::fetch(h, typename P::X(pc + there));
    if (answer.kind == Answer::done) {
        const int64_t all = left + d->run;
        leave_before(d);
        h.code->flush();
        return enter(h, h.at(pc), all);
    }
    if (answer.kind == Answer::wait) return end(h, d, left, Cause::wait, 0);
    if (answer.kind == Answer::trap) return fail(h, d, left, answer.cause, answer.value);
    return fail(h, d, left, Cause::fetch, pc);
}

// Behind the only instruction that was to be executed.
template <class P>
void passed(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    return exhausted(h, d, left);
}

// An address that has not been decoded, or where no code is.
template <class P>
POLYLOOM_COLD void resolve(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    const typename P::X address = d->pc;
    if (const Decoded<P>* found = h.code->at(address)) return enter(h, found, left);
    if (address == h.stop) return end(h, d, left, Cause::stop, 0);
    const Answer answer = P::fetch(h, address);
    if (answer.kind == Answer::done)
        if (const Decoded<P>* found = h.code->at(address)) return enter(h, found, left);
    if (answer.kind == Answer::wait) return end(h, d, left, Cause::wait, 0);
    if (answer.kind == Answer::trap) return fail(h, d, left, answer.cause, answer.value);
    return fail(h, d, left, Cause::fetch, address);
}

}  // namespace polyloom::riscv
