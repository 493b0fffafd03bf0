// SPDX-License-Identifier: Apache-2.0
// Products of tiles with AVX2 and FMA: the same bytes and flags as element by element. Values that the host treats in
// another way than the machine leave their rows to the plain arithmetic: in fp32 NaNs, infinities, subnormals, and
// results of at most 2^-126, whose flush the machine decides before rounding; in fp16 NaNs and infinities, and
// subnormals of C.
#include "tensor_multiply.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <array>

#include "riscv/float.hpp"

#define POLYLOOM_WIDE __attribute__((target("avx2,fma"), noinline))
#define POLYLOOM_WIDE_INLINE __attribute__((target("avx2,fma"), always_inline)) inline

namespace polyloom::minion::tensor {

namespace {

constexpr unsigned EXCEPTIONS = 0x3F, MASKED = 0x1F80, OVERFLOW = 1 << 3, UNDERFLOW = 1 << 4, INEXACT = 1 << 5;

// The host's rounding and exception flags, for a time. What computes in between stands in functions of its own, which
// no compiler moves across.
class Environment {
  public:
    explicit Environment(unsigned rounding) : before(_mm_getcsr()), own(MASKED | rounding << 13) { _mm_setcsr(own); }
    ~Environment() { _mm_setcsr(before); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    // Flags since the last call.
    [[nodiscard]] uint32_t taken() const {
        const unsigned raised = _mm_getcsr() & EXCEPTIONS;
        _mm_setcsr(own);
        return (raised & OVERFLOW ? uint32_t(riscv::OF) : 0) | (raised & UNDERFLOW ? uint32_t(riscv::UF) : 0) |
               (raised & INEXACT ? uint32_t(riscv::NX) : 0);
    }

  private:
    unsigned before, own;
};

// The host's rounding of RNE, RTZ, RDN, RUP.
constexpr std::array<unsigned, 4> ROUNDING = {0, 3, 1, 2};

// Lanes of a vector of a row that has `columns`.
POLYLOOM_WIDE_INLINE __m256i lanes(unsigned columns, unsigned vector) {
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(int(columns) - int(8 * vector)), index);
}

POLYLOOM_WIDE_INLINE __m256i load(const uint32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
POLYLOOM_WIDE_INLINE void store(uint32_t* to, __m256i value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}
POLYLOOM_WIDE_INLINE bool any(__m256i mask) { return !_mm256_testz_si256(mask, mask); }

// Lanes that hold a NaN, an infinity or a subnormal.
POLYLOOM_WIDE_INLINE __m256i unusual(__m256i bits) {
    const __m256i exponent = _mm256_and_si256(bits, _mm256_set1_epi32(0x7F800000));
    const __m256i fraction = _mm256_and_si256(bits, _mm256_set1_epi32(0x007FFFFF));
    const __m256i zero = _mm256_setzero_si256();
    const __m256i subnormal =
        _mm256_andnot_si256(_mm256_cmpeq_epi32(fraction, zero), _mm256_cmpeq_epi32(exponent, zero));
    return _mm256_or_si256(subnormal, _mm256_cmpeq_epi32(exponent, _mm256_set1_epi32(0x7F800000)));
}

POLYLOOM_WIDE_INLINE bool unusual_words(const uint32_t* words, unsigned count) {
    __m256i found = _mm256_and_si256(unusual(load(words)), lanes(count, 0));
    if (count > 8) found = _mm256_or_si256(found, _mm256_and_si256(unusual(load(words + 8)), lanes(count, 1)));
    return any(found);
}

// B's lines, zero beyond the columns, and which vectors of them have zeros.
struct Lines32 {
    alignas(32) uint32_t b[16][16];
    uint32_t zeros;
};

// Prepares B; false where a value is unusual.
POLYLOOM_WIDE bool prepare32(const Fma& fma, const Operands& o, Lines32& made) {
    made.zeros = 0;
    __m256i found = _mm256_setzero_si256();
    for (unsigned k = 0; k < fma.words; ++k)
        for (unsigned v = 0; v < 2; ++v) {
            const __m256i b = _mm256_and_si256(load(o.b[k] + 8 * v), lanes(fma.columns, v));
            found = _mm256_or_si256(found, unusual(b));
            made.zeros |= uint32_t(any(_mm256_cmpeq_epi32(b, _mm256_setzero_si256()))) << (2 * k + v);
            store(made.b[k] + 8 * v, b);
        }
    return !any(found);
}

POLYLOOM_WIDE_INLINE bool usual_row(const Fma& fma, const Operands& o, const Register* f, unsigned i) {
    if (unusual_words(o.a[i], fma.words)) return false;
    if (fma.first) return true;
    for (unsigned v = 0; 8 * v < fma.columns; ++v)
        if (any(_mm256_and_si256(unusual(load(f[2 * i + v].lane)), lanes(fma.columns, v)))) return false;
    return true;
}

constexpr unsigned BLOCK = 4;

// Four rows; false where a result was of at most 2^-126, but not zero.
template <unsigned VECTORS>
POLYLOOM_WIDE bool block32(const Fma& fma, const Operands& o, const Lines32& lines, const unsigned* rows,
                           uint32_t (*results)[16]) {
    __m256 c[BLOCK][VECTORS];
    __m256i least = _mm256_set1_epi32(-1);
    const __m256i magnitude = _mm256_set1_epi32(0x7FFFFFFF), one = _mm256_set1_epi32(1);
    for (unsigned r = 0; r < BLOCK; ++r)
        for (unsigned v = 0; v < VECTORS; ++v) c[r][v] = _mm256_castsi256_ps(load(results[r] + 8 * v));
    for (unsigned k = 0; k < fma.words; ++k) {
        const bool with_c = k || !fma.first;
        for (unsigned r = 0; r < BLOCK; ++r) {
            const uint32_t word = o.a[rows[r]][k];
            if (with_c && !word) continue;
            const __m256 a = _mm256_castsi256_ps(_mm256_set1_epi32(int(word)));
            for (unsigned v = 0; v < VECTORS; ++v) {
                const __m256 b = _mm256_castsi256_ps(load(lines.b[k] + 8 * v));
                __m256 made = with_c ? _mm256_fmadd_ps(a, b, c[r][v]) : _mm256_mul_ps(a, b);
                if (with_c && (lines.zeros >> (2 * k + v) & 1)) {
                    const __m256i skip = _mm256_cmpeq_epi32(_mm256_castps_si256(b), _mm256_setzero_si256());
                    made = _mm256_blendv_ps(made, c[r][v], _mm256_castsi256_ps(skip));
                }
                c[r][v] = made;
                const __m256i size = _mm256_and_si256(_mm256_castps_si256(made), magnitude);
                least = _mm256_min_epu32(least, _mm256_sub_epi32(size, one));
            }
        }
    }
    for (unsigned r = 0; r < BLOCK; ++r)
        for (unsigned v = 0; v < VECTORS; ++v) store(results[r] + 8 * v, _mm256_castps_si256(c[r][v]));
    return !any(_mm256_cmpeq_epi32(_mm256_srli_epi32(least, 23), _mm256_setzero_si256()));
}

// The rows of a result, zero where a first pass makes them or beyond the columns.
POLYLOOM_WIDE void read_rows(const Fma& fma, const Register* f, const unsigned* rows, unsigned count,
                             uint32_t (*results)[16]) {
    for (unsigned r = 0; r < count; ++r)
        for (unsigned v = 0; v < 2; ++v) {
            const bool used = !fma.first && 8 * v < fma.columns;
            const __m256i zero = _mm256_setzero_si256();
            store(results[r] + 8 * v,
                  used ? _mm256_and_si256(load(f[2 * rows[r] + v].lane), lanes(fma.columns, v)) : zero);
        }
}

POLYLOOM_WIDE void write_row(const Fma& fma, const uint32_t* result, Register* f) {
    std::memcpy(f[0].lane, result, 4 * size_t(fma.columns > 8 ? 8 : fma.columns));
    if (fma.columns > 8) std::memcpy(f[1].lane, result + 8, 4 * size_t(fma.columns - 8));
}

// --- fp16 ----------------------------------------------------------------------------------------------------------

// Halves of B's lines taken apart: significands, 0 of zeros, exponents + 97, signs in bit 31; lanes that skip a step,
// and those with a subnormal.
struct Lines16 {
    alignas(32) uint32_t significand[16][2][2][8], exponent[16][2][2][8], sign[16][2][2][8];
    alignas(32) uint32_t skip[16][2][8], subnormal[16][2][8];
};

struct Halves {
    __m256i significand[2], exponent[2], sign[2];
};

// Of subnormals, the significand is 0.
POLYLOOM_WIDE_INLINE __m256i half_significand(__m256i half) {
    const __m256i normal =
        _mm256_cmpgt_epi32(_mm256_and_si256(half, _mm256_set1_epi32(0x7C00)), _mm256_setzero_si256());
    const __m256i fraction = _mm256_and_si256(half, _mm256_set1_epi32(0x3FF));
    return _mm256_and_si256(_mm256_or_si256(fraction, _mm256_set1_epi32(0x400)), normal);
}

POLYLOOM_WIDE_INLINE __m256i half_exponent(__m256i half) {
    return _mm256_and_si256(_mm256_srli_epi32(half, 10), _mm256_set1_epi32(31));
}

POLYLOOM_WIDE_INLINE __m256i half_subnormal(__m256i half) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i flat = _mm256_cmpeq_epi32(_mm256_and_si256(half, _mm256_set1_epi32(0x7C00)), zero);
    return _mm256_and_si256(flat, _mm256_cmpgt_epi32(_mm256_and_si256(half, _mm256_set1_epi32(0x3FF)), zero));
}

// Whether one half has the exponent of infinities and NaNs.
POLYLOOM_WIDE_INLINE __m256i special_halves(__m256i words) {
    const __m256i full = _mm256_set1_epi16(0x7C00);
    return _mm256_cmpeq_epi16(_mm256_and_si256(words, full), full);
}

POLYLOOM_WIDE bool prepare16(const Fma& fma, const Operands& o, Lines16& made) {
    __m256i found = _mm256_setzero_si256();
    for (unsigned k = 0; k < fma.words; ++k)
        for (unsigned v = 0; v < 2; ++v) {
            const __m256i words = _mm256_and_si256(load(o.b[k] + 8 * v), lanes(fma.columns, v));
            found = _mm256_or_si256(found, special_halves(words));
            const __m256i halves[2] = {_mm256_and_si256(words, _mm256_set1_epi32(0xFFFF)),
                                       _mm256_srli_epi32(words, 16)};
            for (unsigned n = 0; n < 2; ++n) {
                store(made.significand[k][v][n], half_significand(halves[n]));
                store(made.exponent[k][v][n], _mm256_add_epi32(half_exponent(halves[n]), _mm256_set1_epi32(97)));
                store(made.sign[k][v][n], _mm256_slli_epi32(halves[n], 16));
            }
            store(made.skip[k][v], _mm256_cmpeq_epi32(words, _mm256_setzero_si256()));
            store(made.subnormal[k][v], _mm256_or_si256(half_subnormal(halves[0]), half_subnormal(halves[1])));
        }
    return !any(found);
}

struct Flags16 {
    __m256i inexact, underflow, overflow, denormal;
};

struct Sum16 {
    __m256i total, lost;
};

// Adds an operand to the sum, whose sign of reference and greatest exponent are known.
POLYLOOM_WIDE_INLINE void add_term(Sum16& sum, __m256i significand, __m256i exponent, __m256i sign, __m256i most,
                                   __m256i reference) {
    const __m256i distance = _mm256_sub_epi32(most, exponent);
    const __m256i kept = _mm256_srlv_epi32(significand, distance);
    const __m256i exact = _mm256_cmpeq_epi32(_mm256_sllv_epi32(kept, distance), significand);
    const __m256i sticky = _mm256_xor_si256(exact, _mm256_set1_epi32(-1));
    const __m256i differs = _mm256_srai_epi32(_mm256_xor_si256(sign, reference), 31);
    const __m256i negated = _mm256_sub_epi32(_mm256_xor_si256(kept, differs), differs);
    sum.total = _mm256_add_epi32(sum.total, _mm256_add_epi32(negated, _mm256_and_si256(sticky, differs)));
    sum.lost = _mm256_or_si256(sum.lost, sticky);
}

// Cut off to 24 bits, which the host's conversion does, rounding towards zero. `negative`: bit 31 says whether all
// terms are, so that their sum is -0 where it is 0.
POLYLOOM_WIDE_INLINE __m256i finish16(const Sum16& sum, __m256i most, __m256i reference, __m256i negative,
                                      __m256i active, Flags16& flags) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i below = _mm256_srai_epi32(sum.total, 31);
    const __m256i absolute = _mm256_sub_epi32(_mm256_xor_si256(sum.total, below), below);
    const __m256i magnitude = _mm256_add_epi32(absolute, _mm256_and_si256(sum.lost, below));
    const __m256i cut = _mm256_castps_si256(_mm256_cvtepi32_ps(magnitude));
    const __m256i some = _mm256_cmpgt_epi32(magnitude, zero);
    const __m256i exponent =
        _mm256_add_epi32(_mm256_srli_epi32(cut, 23), _mm256_sub_epi32(most, _mm256_set1_epi32(152)));
    const __m256i under = _mm256_and_si256(some, _mm256_cmpgt_epi32(_mm256_set1_epi32(1), exponent));
    const __m256i over = _mm256_and_si256(some, _mm256_cmpgt_epi32(exponent, _mm256_set1_epi32(254)));
    const __m256i fraction = _mm256_and_si256(cut, _mm256_set1_epi32(0x007FFFFF));
    __m256i made = _mm256_or_si256(fraction, _mm256_slli_epi32(exponent, 23));
    made = _mm256_blendv_epi8(made, _mm256_set1_epi32(0x7F7FFFFF), over);
    made = _mm256_and_si256(made, _mm256_andnot_si256(under, some));
    const __m256i sign =
        _mm256_blendv_epi8(_mm256_xor_si256(reference, below), negative, _mm256_cmpeq_epi32(sum.total, zero));
    made = _mm256_or_si256(made, _mm256_and_si256(sign, _mm256_set1_epi32(int(0x80000000))));
    flags.inexact = _mm256_or_si256(flags.inexact, _mm256_and_si256(sum.lost, active));
    flags.underflow = _mm256_or_si256(flags.underflow, _mm256_and_si256(under, active));
    flags.overflow = _mm256_or_si256(flags.overflow, _mm256_and_si256(over, active));
    return made;
}

// One step of eight elements; without C, that is -0, which changes no sum. C and the products in the order in which
// equal exponents give the sign of reference.
POLYLOOM_WIDE_INLINE __m256i step16_wide(const Halves& a, const Lines16& lines, unsigned k, unsigned v, __m256i c,
                                         __m256i active, Flags16& flags) {
    __m256i significand[2], exponent[2], sign[2];
    for (unsigned n = 0; n < 2; ++n) {
        const __m256i product = _mm256_madd_epi16(a.significand[n], load(lines.significand[k][v][n]));
        significand[n] = _mm256_slli_epi32(product, 5);
        const __m256i some = _mm256_cmpgt_epi32(product, _mm256_setzero_si256());
        exponent[n] = _mm256_and_si256(_mm256_add_epi32(a.exponent[n], load(lines.exponent[k][v][n])), some);
        sign[n] = _mm256_xor_si256(a.sign[n], load(lines.sign[k][v][n]));
    }
    const __m256i c_exponent = _mm256_and_si256(_mm256_srli_epi32(c, 23), _mm256_set1_epi32(255));
    const __m256i c_some = _mm256_cmpgt_epi32(c_exponent, _mm256_setzero_si256());
    const __m256i c_bits =
        _mm256_or_si256(_mm256_and_si256(c, _mm256_set1_epi32(0x007FFFFF)), _mm256_set1_epi32(0x00800000));
    const __m256i c_significand = _mm256_slli_epi32(_mm256_and_si256(c_bits, c_some), 2);
    const __m256i most = _mm256_max_epi32(c_exponent, _mm256_max_epi32(exponent[0], exponent[1]));
    __m256i reference = _mm256_blendv_epi8(sign[1], sign[0], _mm256_cmpeq_epi32(exponent[0], most));
    reference = _mm256_blendv_epi8(reference, c, _mm256_cmpeq_epi32(c_exponent, most));
    Sum16 sum = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    add_term(sum, c_significand, c_exponent, c, most, reference);
    add_term(sum, significand[0], exponent[0], sign[0], most, reference);
    add_term(sum, significand[1], exponent[1], sign[1], most, reference);
    const __m256i negative = _mm256_and_si256(c, _mm256_and_si256(sign[0], sign[1]));
    return finish16(sum, most, reference, negative, active, flags);
}

POLYLOOM_WIDE_INLINE Halves halves_of(uint32_t word) {
    Halves made;
    for (unsigned n = 0; n < 2; ++n) {
        const __m256i half = _mm256_set1_epi32(int(n ? word >> 16 : word & 0xFFFF));
        made.significand[n] = half_significand(half);
        made.exponent[n] = half_exponent(half);
        made.sign[n] = _mm256_slli_epi32(half, 16);
    }
    return made;
}

bool subnormal16(uint32_t word) {
    const auto is = [](uint32_t half) { return !(half & 0x7C00) && half & 0x3FF; };
    return is(word & 0xFFFF) || is(word >> 16);
}

POLYLOOM_WIDE void rows16(const Fma& fma, const Operands& o, const Lines16& lines, const unsigned* rows, unsigned count,
                          uint32_t (*results)[16], Flags16& flags) {
    const __m256i columns[2] = {lanes(fma.columns, 0), lanes(fma.columns, 1)};
    const unsigned vectors = fma.columns > 8 ? 2 : 1;
    for (unsigned k = 0; k < fma.words; ++k) {
        const bool with_c = k || !fma.first;
        for (unsigned r = 0; r < count; ++r) {
            const uint32_t word = o.a[rows[r]][k];
            if (with_c && !word) continue;
            const Halves a = halves_of(word);
            const bool denormal = subnormal16(word);
            for (unsigned v = 0; v < vectors; ++v) {
                const __m256i c = with_c ? load(results[r] + 8 * v) : _mm256_set1_epi32(int(0x80000000));
                const __m256i skip = load(lines.skip[k][v]);
                const __m256i active = with_c ? _mm256_andnot_si256(skip, columns[v]) : columns[v];
                const __m256i made = step16_wide(a, lines, k, v, c, active, flags);
                store(results[r] + 8 * v, with_c ? _mm256_blendv_epi8(made, c, skip) : made);
                const __m256i denormals = denormal ? active : _mm256_and_si256(load(lines.subnormal[k][v]), active);
                flags.denormal = _mm256_or_si256(flags.denormal, denormals);
            }
        }
    }
}

POLYLOOM_WIDE_INLINE bool usual_row16(const Fma& fma, const Operands& o, const Register* f, unsigned i) {
    __m256i found = _mm256_and_si256(special_halves(load(o.a[i])), lanes(fma.words, 0));
    found = _mm256_or_si256(found, _mm256_and_si256(special_halves(load(o.a[i] + 8)), lanes(fma.words, 1)));
    for (unsigned v = 0; !fma.first && 8 * v < fma.columns; ++v)
        found = _mm256_or_si256(found, _mm256_and_si256(unusual(load(f[2 * i + v].lane)), lanes(fma.columns, v)));
    return !any(found);
}

// --- int8 ------------------------------------------------------------------------------------------------------------

// Bytes 0 and 2, or 1 and 3, of each word, in 16 bits each.
POLYLOOM_WIDE_INLINE __m256i even(__m256i words, bool is_unsigned) {
    const __m256i up = _mm256_slli_epi16(words, 8);
    return is_unsigned ? _mm256_srli_epi16(up, 8) : _mm256_srai_epi16(up, 8);
}
POLYLOOM_WIDE_INLINE __m256i odd(__m256i words, bool is_unsigned) {
    return is_unsigned ? _mm256_srli_epi16(words, 8) : _mm256_srai_epi16(words, 8);
}

struct Lines8 {
    alignas(32) uint32_t even[16][16], odd[16][16];
};

POLYLOOM_WIDE_INLINE void spread(const uint32_t (*words)[16], unsigned count, bool is_unsigned, Lines8& made) {
    for (unsigned n = 0; n < count; ++n)
        for (unsigned v = 0; v < 2; ++v) {
            const __m256i each = load(words[n] + 8 * v);
            store(made.even[n] + 8 * v, even(each, is_unsigned));
            store(made.odd[n] + 8 * v, odd(each, is_unsigned));
        }
}

POLYLOOM_WIDE_INLINE __m256i step8(const Lines8& a, const Lines8& b, unsigned i, unsigned k, unsigned v, __m256i c) {
    const __m256i a_even = _mm256_set1_epi32(int(a.even[i][k])), a_odd = _mm256_set1_epi32(int(a.odd[i][k]));
    const __m256i first = _mm256_madd_epi16(a_even, load(b.even[k] + 8 * v));
    return _mm256_add_epi32(_mm256_add_epi32(c, first), _mm256_madd_epi16(a_odd, load(b.odd[k] + 8 * v)));
}

POLYLOOM_WIDE void row8(const Fma& fma, const Lines8& a, const Lines8& b, unsigned i, const Tile& tile) {
    uint32_t* const tenc = tile.tenc + size_t(16) * i;
    for (unsigned v = 0; 8 * v < fma.columns; ++v) {
        const size_t bytes = 4 * size_t(fma.columns - 8 * v > 8 ? 8 : fma.columns - 8 * v);
        const unsigned inner = fma.words - fma.to_registers;
        __m256i c = fma.first ? _mm256_setzero_si256() : load(tenc + 8 * v);
        alignas(32) uint32_t made[8];
        for (unsigned k = 0; k < inner; ++k) c = step8(a, b, i, k, v, c);
        store(made, c);
        if (inner) std::memcpy(tenc + 8 * v, made, bytes);
        if (!fma.to_registers) continue;
        store(made, step8(a, b, i, inner, v, c));
        std::memcpy(tile.f[2 * i + v].lane, made, bytes);
    }
}

}  // namespace

POLYLOOM_WIDE uint16_t multiply32_wide(const Fma& fma, const Operands& o, Register* f, int mode, uint32_t& flags) {
    Lines32 lines;
    if (mode >= int(ROUNDING.size()) || !prepare32(fma, o, lines)) return 0;
    unsigned rows[16 + BLOCK], count = 0;
    for (unsigned i = 0; i < fma.rows; ++i)
        if (o.rows >> i & 1 && usual_row(fma, o, f, i)) rows[count++] = i;
    uint16_t done = 0;
    const Environment environment(ROUNDING[size_t(mode)]);
    for (unsigned at = 0; at < count; at += BLOCK) {
        // The last block repeats its last row.
        for (unsigned r = count; r < at + BLOCK; ++r) rows[r] = rows[count - 1];
        alignas(32) uint32_t results[BLOCK][16];
        read_rows(fma, f, rows + at, BLOCK, results);
        const bool sure = fma.columns > 8 ? block32<2>(fma, o, lines, rows + at, results)
                                          : block32<1>(fma, o, lines, rows + at, results);
        const uint32_t raised = environment.taken();
        if (!sure) continue;
        flags |= raised;
        for (unsigned r = 0; r < BLOCK; ++r) {
            write_row(fma, results[r], f + size_t(2) * rows[at + r]);
            done |= uint16_t(1u << rows[at + r]);
        }
    }
    return done;
}

POLYLOOM_WIDE uint16_t multiply16_wide(const Fma& fma, const Operands& o, Register* f, uint32_t& flags) {
    Lines16 lines;
    if (!prepare16(fma, o, lines)) return 0;
    unsigned rows[16], count = 0;
    for (unsigned i = 0; i < fma.rows; ++i)
        if (o.rows >> i & 1 && usual_row16(fma, o, f, i)) rows[count++] = i;
    alignas(32) uint32_t results[16][16];
    read_rows(fma, f, rows, count, results);
    const __m256i none = _mm256_setzero_si256();
    Flags16 raised = {none, none, none, none};
    const Environment environment(ROUNDING[riscv::RTZ]);
    rows16(fma, o, lines, rows, count, results, raised);
    flags |= environment.taken();
    if (any(raised.inexact)) flags |= riscv::NX;
    if (any(raised.underflow)) flags |= riscv::UF | riscv::NX;
    if (any(raised.overflow)) flags |= riscv::OF | riscv::NX;
    if (any(raised.denormal)) flags |= INPUT_DENORMAL;
    uint16_t done = 0;
    for (unsigned r = 0; r < count; ++r) {
        write_row(fma, results[r], f + size_t(2) * rows[r]);
        done |= uint16_t(1u << rows[r]);
    }
    return done;
}

POLYLOOM_WIDE uint16_t multiply8_wide(const Fma& fma, const Operands& o, const Tile& tile) {
    Lines8 a, b;
    spread(o.a, fma.rows, fma.a_unsigned, a);
    spread(o.b, fma.words, fma.b_unsigned, b);
    for (unsigned i = 0; i < fma.rows; ++i)
        if (o.rows >> i & 1) row8(fma, a, b, i, tile);
    return o.rows;
}

}  // namespace polyloom::minion::tensor

#endif
