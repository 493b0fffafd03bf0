// SPDX-License-Identifier: Apache-2.0
// Packed accesses to memory: whole registers, gathers and scatters, those that pass L1 to the shire's L2 (local) or to
// the line's home (global), and atomics. Source: ET Programmer's Reference Manual, chapters 5 and 7.
//
// Only bytes of lanes that are on are accessed. A gather or scatter that is stopped in the middle keeps what is done
// and its place in gsc_progress, where it goes on.
#pragma once

#include <cstring>

#include "packed.hpp"

namespace polyloom::minion::packed {

using riscv::Access;

constexpr uint64_t PAGE_BYTES = 4096, REGISTER_BYTES = 32;

// `count` words of a register from `first` on, at their place behind `address`.
template <class P, bool STORE>
Answer run_of_lanes(Hart<P>& h, uint64_t address, unsigned first, unsigned count, uint32_t* lanes) {
    address += 4 * first, lanes += first;
    const unsigned size = 4 * count;
    if (address % PAGE_BYTES <= PAGE_BYTES - size) [[likely]] {
        uint8_t* datum = nullptr;
        uint64_t physical = 0;
        const Answer answer = h.locate(address, size, STORE ? Access::store : Access::load, datum, physical);
        if (answer.kind != Answer::done) [[unlikely]]
            return answer;
        if (datum) [[likely]] {
            std::memcpy(STORE ? static_cast<void*>(datum) : lanes, STORE ? static_cast<void*>(lanes) : datum, size);
            return DONE;
        }
    }
    for (unsigned n = 0; n < count; ++n) {
        uint64_t value = lanes[n];
        const Answer answer = STORE ? h.write(address + 4 * n, 4, value) : h.read(address + 4 * n, 4, value);
        if (answer.kind != Answer::done) return answer;
        lanes[n] = uint32_t(value);
    }
    return DONE;
}

// The lanes that `on` has, by runs of neighbours.
template <class G>
Answer each_run(uint8_t on, G access) {
    for (unsigned first = 0; first < LANES;) {
        first += unsigned(std::countr_zero(unsigned(on) >> first | 1u << (LANES - first)));
        const unsigned count = unsigned(std::countr_one(unsigned(on) >> first));
        if (count) {
            const Answer answer = access(first, count);
            if (answer.kind != Answer::done) return answer;
        }
        first += count;
    }
    return DONE;
}

inline uint64_t load_offset(uint32_t word) { return uint64_t(int64_t(int32_t(word)) >> 20); }
inline uint64_t store_offset(uint32_t word) {
    return uint64_t(int64_t(int32_t(word & 0xfe000000)) >> 20 | int64_t(word >> 7 & 31));
}

template <class P, bool MASKED>
Answer load(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    const uint64_t address = h.x[at.rs1()] + load_offset(at.word);
    Register made = h.f[at.rd()];
    const Answer answer = each_run(MASKED ? mask(h) : ALL, [&](unsigned first, unsigned count) {
        return run_of_lanes<P, false>(h, address, first, count, made.lane);
    });
    if (answer.kind == Answer::done) h.f[at.rd()] = made;
    return answer;
}

template <class P, bool MASKED>
Answer store(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    const uint64_t address = h.x[at.rs1()] + store_offset(at.word);
    Register from = h.f[at.rs2()];
    return each_run(MASKED ? mask(h) : ALL, [&](unsigned first, unsigned count) {
        return run_of_lanes<P, true>(h, address, first, count, from.lane);
    });
}

template <class P>
Answer load_broadcast(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    if (!mask(h)) return DONE;
    uint64_t value = 0;
    const Answer answer = h.read(h.x[at.rs1()] + load_offset(at.word), 4, value);
    return answer.kind == Answer::done ? broadcast(h, at.rd(), uint32_t(value)) : answer;
}

inline uint32_t extended(uint64_t value, unsigned bytes) {
    const unsigned shift = 32 - 8 * bytes;
    return uint32_t(int32_t(uint32_t(value) << shift) >> shift);
}

// One lane after the other from gsc_progress on; ACCESS does one, and may be asked again for the one where it stopped.
template <class P, class G>
Answer by_lanes(Hart<P>& h, G access) {
    uint8_t& progress = h.state.hart->gsc_progress;
    const uint8_t on = mask(h);
    for (unsigned e = progress & 7; e < LANES; ++e) {
        if (!(on >> e & 1)) continue;
        const Answer answer = access(e);
        if (answer.kind != Answer::done) {
            progress = uint8_t(e);
            return answer;
        }
    }
    progress = 0;
    return DONE;
}

// The address of a lane: the index in rs1, signed, from the base in rs2.
template <class P>
uint64_t indexed(const Hart<P>& h, const Fields<P>& at, unsigned e) {
    return h.x[at.rs2()] + uint64_t(int64_t(int32_t(h.f[at.rs1()].lane[e])));
}

// The index vector may be the destination: a lane is read before it is written.
template <class P, unsigned BYTES>
Answer gather(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    return by_lanes(h, [&](unsigned e) {
        uint64_t value = 0;
        const Answer answer = h.read(indexed(h, at, e), BYTES, value);
        if (answer.kind == Answer::done) h.f[at.rd()].lane[e] = extended(value, BYTES);
        return answer;
    });
}

template <class P, unsigned BYTES>
Answer scatter(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    return by_lanes(h, [&](unsigned e) {
        const uint64_t value = h.f[at.rd()].lane[e] & (~uint64_t(0) >> (64 - 8 * BYTES));
        return h.write(indexed(h, at, e), BYTES, value);
    });
}

// Within the 32 bytes around rs2: each lane's index is a few bits of rs1, counted from where rs2 points.
template <class P, unsigned BYTES>
uint64_t near_address(const Hart<P>& h, const Fields<P>& at, unsigned e) {
    constexpr unsigned BITS = BYTES == 4 ? 3 : BYTES == 2 ? 4 : 5;
    const uint64_t base = h.x[at.rs2()], index = h.x[at.rs1()] >> BITS * e;
    return (base & ~uint64_t(31)) | ((base + index * BYTES) & 31 & ~uint64_t(BYTES - 1));
}

template <class P, unsigned BYTES>
Answer gather_near(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    const uint8_t on = mask(h);
    Register made{};
    for (unsigned e = 0; e < LANES; ++e) {
        if (!(on >> e & 1)) continue;
        uint64_t value = 0;
        const Answer answer = h.read(near_address<P, BYTES>(h, at, e), BYTES, value);
        if (answer.kind != Answer::done) return answer;
        made.lane[e] = extended(value, BYTES);
    }
    merge(h, at.rd(), made);
    return DONE;
}

template <class P, unsigned BYTES>
Answer scatter_near(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    const uint8_t on = mask(h);
    for (unsigned e = 0; e < LANES; ++e) {
        if (!(on >> e & 1)) continue;
        const uint64_t value = h.f[at.rd()].lane[e] & (~uint64_t(0) >> (64 - 8 * BYTES));
        const Answer answer = h.write(near_address<P, BYTES>(h, at, e), BYTES, value);
        if (answer.kind != Answer::done) return answer;
    }
    return DONE;
}

// The width of an access in memory, which need not be aligned to more.
template <unsigned BYTES>
uint64_t fetched(const uint8_t* datum) {
    uint64_t value = 0;
    std::memcpy(&value, datum, BYTES);
    return value;
}

template <class P, unsigned BYTES, bool GLOBAL>
Answer gather_shared(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    return by_lanes(h, [&](unsigned e) {
        uint8_t* datum = nullptr;
        const Answer answer = shared(h, indexed(h, at, e), BYTES, Kind::load, GLOBAL, datum);
        if (answer.kind == Answer::done) h.f[at.rd()].lane[e] = extended(fetched<BYTES>(datum), BYTES);
        return answer;
    });
}

template <class P, unsigned BYTES, bool GLOBAL>
Answer scatter_shared(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    return by_lanes(h, [&](unsigned e) {
        uint8_t* datum = nullptr;
        const Answer answer = shared(h, indexed(h, at, e), BYTES, Kind::store, GLOBAL, datum);
        if (answer.kind == Answer::done) std::memcpy(datum, &h.f[at.rd()].lane[e], BYTES);
        return answer;
    });
}

// A whole register, aligned to its size, of which parts are masked: its words one by one, once the address is right.
template <class P, bool GLOBAL, Kind KIND>
Answer register_shared(Hart<P>& h, uint64_t address, Register& lanes) {
    const uint8_t on = mask(h);
    const bool whole = on == ALL || address % REGISTER_BYTES;
    if (!on) return DONE;
    for (unsigned e = 0; e < LANES; e += whole ? LANES : 1) {
        if (!whole && !(on >> e & 1)) continue;
        const unsigned size = whole ? REGISTER_BYTES : 4;
        uint8_t* datum = nullptr;
        const Answer answer = shared(h, address + 4 * e, size, KIND, GLOBAL, datum);
        if (answer.kind != Answer::done) return answer;
        if constexpr (KIND == Kind::store)
            std::memcpy(datum, lanes.lane + e, size);
        else
            std::memcpy(lanes.lane + e, datum, size);
    }
    return DONE;
}

template <class P, bool GLOBAL>
Answer load_shared(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    Register made = h.f[at.rd()];
    const Answer answer = register_shared<P, GLOBAL, Kind::load>(h, h.x[at.rs1()], made);
    if (answer.kind == Answer::done) h.f[at.rd()] = made;
    return answer;
}

template <class P, bool GLOBAL>
Answer store_shared(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    return register_shared<P, GLOBAL, Kind::store>(h, h.x[at.rs1()], h.f[at.rd()]);
}

// Atomics: G makes the new value of the old one and the operand. Lanes in order; each gets the old value.
template <class P, bool GLOBAL, auto G>
Answer lanes_atomic(Hart<P>& h, const Decoded<P>& d) {
    POLYLOOM_FLOATING;
    present(h);
    const Fields<P> at(d);
    return by_lanes(h, [&](unsigned e) {
        uint8_t* datum = nullptr;
        const Answer answer = shared(h, indexed(h, at, e), 4, Kind::atomic, GLOBAL, datum);
        if (answer.kind != Answer::done) return answer;
        uint32_t& lane = h.f[at.rd()].lane[e];
        const uint32_t old = uint32_t(fetched<4>(datum)), made = G(old, lane);
        std::memcpy(datum, &made, 4);
        lane = old;
        return DONE;
    });
}

template <class P, class T, bool GLOBAL, auto G>
Answer atomic(Hart<P>& h, const Decoded<P>& d) {
    present(h);
    if (const Answer order = one_at_a_time(*h.state.hart); order.kind != Answer::done) return order;
    const Fields<P> at(d);
    uint8_t* datum = nullptr;
    const Answer answer = shared(h, h.x[at.rs1()], sizeof(T), Kind::atomic, GLOBAL, datum);
    if (answer.kind != Answer::done) return answer;
    const T old = T(fetched<sizeof(T)>(datum)), made = G(old, T(h.x[at.rs2()]));
    std::memcpy(datum, &made, sizeof(T));
    h.x[d.rd] = uint64_t(int64_t(std::make_signed_t<T>(old)));
    return DONE;
}

// The expected value is in x31.
template <class P, class T, bool GLOBAL>
Answer compare_and_swap(Hart<P>& h, const Decoded<P>& d) {
    present(h);
    if (const Answer order = one_at_a_time(*h.state.hart); order.kind != Answer::done) return order;
    const Fields<P> at(d);
    uint8_t* datum = nullptr;
    const Answer answer = shared(h, h.x[at.rs1()], sizeof(T), Kind::atomic, GLOBAL, datum);
    if (answer.kind != Answer::done) return answer;
    const T old = T(fetched<sizeof(T)>(datum)), made = T(h.x[at.rs2()]);
    if (old == T(h.x[31])) std::memcpy(datum, &made, sizeof(T));
    h.x[d.rd] = uint64_t(int64_t(std::make_signed_t<T>(old)));
    return DONE;
}

template <class P, unsigned BYTES, bool GLOBAL>
Answer store_x(Hart<P>& h, const Decoded<P>& d) {
    present(h);
    const Fields<P> at(d);
    uint8_t* datum = nullptr;
    const Answer answer = shared(h, h.x[at.rs1()], BYTES, Kind::store, GLOBAL, datum);
    if (answer.kind == Answer::done) std::memcpy(datum, &h.x[at.rs2()], BYTES);
    return answer;
}

}  // namespace polyloom::minion::packed
