// SPDX-License-Identifier: Apache-2.0
#include "packed_wide.hpp"

#include "riscv/float.hpp"
#include "tensor.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#define POLYLOOM_WIDE __attribute__((target("avx2,fma"), noinline))
#define POLYLOOM_WIDE_INLINE __attribute__((target("avx2,fma"), always_inline)) inline

namespace polyloom::minion::packed {
namespace {

constexpr int MAGNITUDE = 0x7FFFFFFF, LEAST = 0x00800000, INFINITE = 0x7F800000, ONE = 0x3F800000;

struct Operands {
    __m256i a, b, c;
};

POLYLOOM_WIDE_INLINE __m256i loaded(const uint32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// By itself, so that no compiler moves it across reads of the host's flags.
template <Wide OPERATION>
POLYLOOM_WIDE void operate(const Operands& o, uint32_t* to) {
    const __m256 a = _mm256_castsi256_ps(o.a), b = _mm256_castsi256_ps(o.b), c = _mm256_castsi256_ps(o.c);
    __m256 made;
    if constexpr (OPERATION == Wide::add)
        made = _mm256_add_ps(a, b);
    else if constexpr (OPERATION == Wide::sub)
        made = _mm256_sub_ps(a, b);
    else if constexpr (OPERATION == Wide::mul)
        made = _mm256_mul_ps(a, b);
    else
        made = _mm256_fmadd_ps(a, b, c);
    _mm256_storeu_ps(reinterpret_cast<float*>(to), made);
}

POLYLOOM_WIDE_INLINE __m256i magnitude(__m256i a) { return _mm256_and_si256(a, _mm256_set1_epi32(MAGNITUDE)); }
POLYLOOM_WIDE_INLINE __m256i is_zero(__m256i size) { return _mm256_cmpeq_epi32(size, _mm256_setzero_si256()); }
// Of magnitudes: subnormal, infinite or NaN.
POLYLOOM_WIDE_INLINE __m256i is_odd(__m256i size) {
    const __m256i small = _mm256_andnot_si256(is_zero(size), _mm256_cmpgt_epi32(_mm256_set1_epi32(LEAST), size));
    return _mm256_or_si256(small, _mm256_cmpgt_epi32(size, _mm256_set1_epi32(INFINITE - 1)));
}

// A result of zero is exact where two numbers cancel, and where a factor is zero; and what is at most the least normal
// number may have been less before it was rounded.
template <Wide OPERATION>
POLYLOOM_WIDE bool is_plain(const Operands& o, const uint32_t* to) {
    const __m256i made = magnitude(loaded(to)), a = magnitude(o.a), b = magnitude(o.b);
    __m256i odd = _mm256_or_si256(is_odd(a), is_odd(b));
    if constexpr (OPERATION == Wide::fma) odd = _mm256_or_si256(odd, is_odd(magnitude(o.c)));
    const __m256i large = _mm256_cmpgt_epi32(made, _mm256_set1_epi32(LEAST));
    const __m256i finite = _mm256_cmpgt_epi32(_mm256_set1_epi32(INFINITE), made);
    __m256i zero = is_zero(made);
    if constexpr (OPERATION == Wide::mul || OPERATION == Wide::fma)
        zero = _mm256_and_si256(zero, _mm256_or_si256(is_zero(a), is_zero(b)));
    const __m256i good = _mm256_andnot_si256(odd, _mm256_or_si256(zero, _mm256_and_si256(large, finite)));
    return _mm256_movemask_epi8(good) == -1;
}

// Lanes that are off multiply and add ones.
POLYLOOM_WIDE_INLINE __m256i masked(const uint32_t* from, __m256i on) {
    return _mm256_blendv_epi8(_mm256_set1_epi32(ONE), loaded(from), on);
}

template <Wide OPERATION>
POLYLOOM_WIDE bool all_lanes(uint8_t on, bool nx_is_set, const uint32_t* a, const uint32_t* b, const uint32_t* c,
                             uint32_t* to, uint32_t& flags) {
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i lanes = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(on), bits), bits);
    const Operands o{masked(a, lanes), masked(b, lanes), masked(c, lanes)};
    if (nx_is_set) [[likely]] {
        operate<OPERATION>(o, to);
        return is_plain<OPERATION>(o, to);
    }
    constexpr unsigned MASKED = 0x1F80, INEXACT = 1 << 5;
    const unsigned before = _mm_getcsr();
    _mm_setcsr(MASKED);
    operate<OPERATION>(o, to);
    const bool inexact = _mm_getcsr() & INEXACT;
    _mm_setcsr(before);
    if (!is_plain<OPERATION>(o, to)) return false;
    if (inexact) flags |= riscv::NX;
    return true;
}

}  // namespace

bool wide(Wide operation, uint8_t on, bool nx_is_set, const uint32_t* a, const uint32_t* b, const uint32_t* c,
          uint32_t* to, uint32_t& flags) {
    if (!tensor::wide()) return false;
    switch (operation) {
        case Wide::add: return all_lanes<Wide::add>(on, nx_is_set, a, b, c, to, flags);
        case Wide::sub: return all_lanes<Wide::sub>(on, nx_is_set, a, b, c, to, flags);
        case Wide::mul: return all_lanes<Wide::mul>(on, nx_is_set, a, b, c, to, flags);
        default: return all_lanes<Wide::fma>(on, nx_is_set, a, b, c, to, flags);
    }
}

}  // namespace polyloom::minion::packed

#else

namespace polyloom::minion::packed {

bool wide(Wide, uint8_t, bool, const uint32_t*, const uint32_t*, const uint32_t*, uint32_t*, uint32_t&) {
    return false;
}

}  // namespace polyloom::minion::packed

#endif
