// SPDX-License-Identifier: Apache-2.0
// What the integer instructions do. Source: The RISC-V Instruction Set Manual, Volume I, version 20250508.
#pragma once

#include <bit>
#include <type_traits>

#include "steps.hpp"
#include "riscv/table.hpp"

namespace polyloom::riscv {

__extension__ using i128 = __int128;

// rd = F(rs1, rs2)
template <class P, auto F>
struct Binary {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        h.x[d->rd] = F(h.x[d->rs1], h.x[d->rs2]);
        return next(h, d + 1, left);
    }
};

// rd = F(rs1, imm)
template <class P, auto F>
struct Immediate {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        h.x[d->rd] = F(h.x[d->rs1], typename P::X(d->imm));
        return next(h, d + 1, left);
    }
};

template <class P, auto F>
struct Unary {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        h.x[d->rd] = F(h.x[d->rs1]);
        return next(h, d + 1, left);
    }
};

template <class P, auto F>
struct Branch {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N) {
        const bool taken = F(h.x[d->rs1], h.x[d->rs2]);
        if constexpr (P::Timing::PRESENT) h.timing.branch(h, *d, taken, d->target->pc);
        if (taken) return enter(h, d->target, left);
        return enter(h, d + 1, left);
    }
};

template <class X, class T>
X extended(T value) {
    return X(std::conditional_t<std::is_signed_v<T>, std::make_signed_t<X>, X>(value));
}

// Where a loaded value goes.
template <class P, class T>
struct ToInteger {
    POLYLOOM_INLINE static void put(Hart<P>& h, int number, T value) { h.x[number] = extended<typename P::X>(value); }
};

template <class P, class T, class To>
POLYLOOM_COLD void load_elsewhere(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    using X = typename P::X;
    uint64_t value = 0;
    h.place = d, h.left = left;
    const Answer answer = h.read(h.x[d->rs1] + X(d->imm), sizeof(T), value);
    if (answer.kind == Answer::done) To::put(h, d->rd, T(value));
    return finish(h, d, left, answer);
}

template <class P, class T, class To = ToInteger<P, T>>
struct Load {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        using X = typename P::X;
        const X address = h.x[d->rs1] + X(d->imm);
        if constexpr (P::TRANSLATED) h.place = d, h.left = left;
        if constexpr (P::Timing::PRESENT) h.timing.access(h, *d, address, sizeof(T), Access::load);
        uint64_t physical;
        const uint8_t* from = h.template direct<T, Access::load>(address, physical);
        if (!from) [[unlikely]]
            return load_elsewhere<P, T, To>(h, d, left);
        T value;
        std::memcpy(&value, from, sizeof value);
        To::put(h, d->rd, value);
        return next(h, d + 1, left);
    }
};

template <class P, class T>
struct FromInteger {
    POLYLOOM_INLINE static T get(const Hart<P>& h, int number) { return T(h.x[number]); }
};

template <class P, class T, class From>
POLYLOOM_COLD void store_elsewhere(Hart<P>& h, const Decoded<P>* d, int64_t left) {
    using X = typename P::X;
    h.place = d, h.left = left;
    return finish(h, d, left, h.write(h.x[d->rs1] + X(d->imm), sizeof(T), From::get(h, d->rs2)));
}

template <class P, class T, class From = FromInteger<P, T>>
struct Store {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        using X = typename P::X;
        const X address = h.x[d->rs1] + X(d->imm);
        if constexpr (P::TRANSLATED) h.place = d, h.left = left;
        if constexpr (P::Timing::PRESENT) h.timing.access(h, *d, address, sizeof(T), Access::store);
        uint64_t physical;
        uint8_t* to = h.template direct<T, Access::store>(address, physical);
        if (!to) [[unlikely]]
            return store_elsewhere<P, T, From>(h, d, left);
        const T value = From::get(h, d->rs2);
        std::memcpy(to, &value, sizeof value);
        h.reservations.stored(physical, sizeof value);
        return next(h, d + 1, left);
    }
};

// lui, and auipc, whose sum is known when it is decoded.
template <class P>
struct Constant {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        h.x[d->rd] = typename P::X(d->imm);
        return next(h, d + 1, left);
    }
};

template <class P>
struct Jump {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N) {
        h.x[d->rd] = typename P::X(d->pc + d->bytes);
        if constexpr (P::Timing::PRESENT) h.timing.branch(h, *d, true, d->target->pc);
        return enter(h, d->target, left);
    }
};

template <class P>
struct JumpRegister {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N) {
        using X = typename P::X;
        const X to = (h.x[d->rs1] + X(d->imm)) & ~X(1);
        h.x[d->rd] = X(d->pc + d->bytes);
        if constexpr (P::Timing::PRESENT) h.timing.branch(h, *d, true, to);
        return enter(h, h.at(to), left);
    }
};

template <class P>
struct Nothing {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N next) {
        return next(h, d + 1, left);
    }
};

template <class P>
struct FenceInstructions {
    template <class N>
    POLYLOOM_INLINE static void go(Hart<P>& h, const Decoded<P>* d, int64_t left, N) {
        const typename P::X behind = d->pc + d->bytes;
        h.code->flush();
        return enter(h, h.at(behind), left);
    }
};

template <class P>
Answer environment_call(Hart<P>& h, const Decoded<P>&) {
    return P::call(h);
}

template <class P>
Answer breakpoint(Hart<P>& h, const Decoded<P>&) {
    return P::breakpoint(h);
}

// fflags, frm and fcsr; without F there is none.
template <class P>
Answer float_control(Hart<P>& h, unsigned number, const Change& change, typename P::X& old) {
    using X = typename P::X;
    if (number < 1 || number > 3 || !(h.code->extensions & 1u << 3)) return ABSENT;
    old = number == 1 ? h.flags : number == 2 ? h.rounding : X(h.rounding << 5 | h.flags);
    if (!change.writes) return DONE;
    const X made = X(change.apply(old));
    if (number != 2) h.flags = made & 31;
    if (number != 1) h.rounding = (number == 2 ? made : made >> 5) & 7;
    return DONE;
}

// Control registers whose number begins with two ones cannot be written.
template <class P, Change::Kind KIND, bool IMMEDIATE>
Answer control(Hart<P>& h, const Decoded<P>& d) {
    using X = typename P::X;
    const unsigned number = unsigned(d.imm) & 0xfff;
    const bool reads = KIND != Change::write || d.rd != 32, writes = KIND == Change::write || d.rs1 != 0;
    if (writes && number >> 10 == 3) return ABSENT;
    const Change change{KIND, reads, writes, IMMEDIATE ? uint64_t(d.rs1) : uint64_t(h.x[d.rs1])};
    X old = 0;
    Answer answer = P::control(h, number, change, old);
    if (answer.kind == Answer::absent) answer = float_control(h, number, change, old);
    if (answer.kind == Answer::done || answer.kind == Answer::jump || answer.kind == Answer::leave) h.x[d.rd] = old;
    return answer;
}

// Atomics are aligned everywhere. `datum` is null where no memory is.
template <class P, class T>
Answer atomic_datum(Hart<P>& h, const Decoded<P>& d, Access access, uint8_t*& datum, uint64_t& physical) {
    const typename P::X address = h.x[d.rs1];
    if constexpr (P::Timing::PRESENT) h.timing.access(h, d, address, sizeof(T), access);
    const Answer answer = h.locate(address, sizeof(T), access, datum, physical);
    if (answer.kind != Answer::done || !(address & (sizeof(T) - 1))) return answer;
    const bool stores = access == Access::store;
    if (!datum) return trap(stores ? Cause::store : Cause::load, address);
    return trap(stores ? Cause::misaligned_store : Cause::misaligned, address);
}

template <class P, class T>
Answer load_reserved(Hart<P>& h, const Decoded<P>& d) {
    uint8_t* datum;
    uint64_t physical;
    const Answer answer = atomic_datum<P, T>(h, d, Access::load, datum, physical);
    if (answer.kind != Answer::done) return answer;
    if (!datum) return trap(Cause::load, h.x[d.rs1]);
    T value;
    std::memcpy(&value, datum, sizeof value);
    h.reservations.reserve(physical);
    h.x[d.rd] = extended<typename P::X>(value);
    return DONE;
}

// Succeeds after a load-reserved of the same address with no other between; 1 tells failure.
template <class P, class T>
Answer store_conditional(Hart<P>& h, const Decoded<P>& d) {
    uint8_t* datum;
    uint64_t physical;
    const Answer answer = atomic_datum<P, T>(h, d, Access::store, datum, physical);
    if (answer.kind != Answer::done) return answer;
    if (!datum) return trap(Cause::store, h.x[d.rs1]);
    const bool succeeds = h.reservations.claim(physical);
    if (succeeds) {
        const T value = T(h.x[d.rs2]);
        std::memcpy(datum, &value, sizeof value);
        h.reservations.stored(physical, sizeof value);
    }
    h.x[d.rd] = !succeeds;
    return DONE;
}

// At a device it is a load and a store; one that answers "not yet" to the store is asked for the load again.
template <class P, class T, auto F>
Answer atomic(Hart<P>& h, const Decoded<P>& d) {
    uint8_t* datum;
    uint64_t physical, bits = 0;
    Answer answer = atomic_datum<P, T>(h, d, Access::store, datum, physical);
    if (answer.kind != Answer::done) return answer;
    if (datum)
        std::memcpy(&bits, datum, sizeof(T));
    else
        answer = h.memory.load(physical, sizeof(T), bits);
    const T old = T(bits), made = T(F(old, T(h.x[d.rs2])));
    if (datum) {
        std::memcpy(datum, &made, sizeof made);
        h.reservations.stored(physical, sizeof made);
    } else if (answer.kind == Answer::done) {
        answer = h.memory.store(physical, sizeof(T), std::make_unsigned_t<T>(made));
    }
    if (answer.kind == Answer::absent) return trap(Cause::store, h.x[d.rs1]);
    if (answer.kind == Answer::done || answer.kind == Answer::leave) h.x[d.rd] = extended<typename P::X>(old);
    return answer;
}

// The high half of a product, of signed operands where S and T say so.
template <class X, class S, class T>
constexpr auto high = [](X a, X b) -> X {
    if constexpr (sizeof(X) == 4)
        return X((int64_t(S(a)) * int64_t(T(b))) >> 32);
    else
        return X((i128(S(a)) * i128(T(b))) >> 64);
};

// RISC-V's division: by zero gives all ones and the dividend, the one overflow gives the dividend and 0.
template <class T>
constexpr auto quotient = [](auto a, auto b) -> T {
    const T n = T(a), d = T(b);
    if (d == 0) return T(-1);
    if (std::is_signed_v<T> && d == T(-1)) return T(0 - std::make_unsigned_t<T>(n));
    return n / d;
};
template <class T>
constexpr auto remainder = [](auto a, auto b) -> T {
    const T n = T(a), d = T(b);
    if (d == 0) return n;
    if (std::is_signed_v<T> && d == T(-1)) return 0;
    return n % d;
};

// Every byte that is not 0 becomes 255.
template <class X>
constexpr auto whole_bytes = [](X a) -> X {
    X made = 0;
    for (unsigned n = 0; n < 8 * sizeof(X); n += 8) made |= a >> n & 255 ? X(255) << n : 0;
    return made;
};

// Sign-extends the low 32 bits: what the instructions of RV64 that end in w give.
template <class X>
X word(uint32_t a) {
    return X(std::make_signed_t<X>(int32_t(a)));
}

}  // namespace polyloom::riscv
