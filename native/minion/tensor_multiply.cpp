// SPDX-License-Identifier: Apache-2.0
// FMA32, FMA16A32 and IMA8A32 element by element, and masked rows. The order of rounding is that of k. Source: ET
// Programmer's Reference Manual, chapter 9; of the sum of three in FMA16A32: the emulator's results.
#include "tensor_multiply.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "single.hpp"

namespace polyloom::minion::tensor {

namespace {

using riscv::NV;
using riscv::NX;
using riscv::OF;
using riscv::UF;

constexpr uint32_t NAN32 = 0x7FC00000, LARGEST = 0x7F7FFFFF, INFINITE = 0x7F800000, SIGN = uint32_t(1) << 31;

// --- fp16 ----------------------------------------------------------------------------------------------------------

struct Half {
    bool sign;
    uint32_t exponent, fraction;

    explicit Half(uint32_t bits) : sign(bits >> 15 & 1), exponent(bits >> 10 & 31), fraction(bits & 0x3FF) {}
    [[nodiscard]] bool is_nan() const { return exponent == 31 && fraction; }
    [[nodiscard]] bool is_signaling() const { return is_nan() && !(fraction & 0x200); }
    [[nodiscard]] bool is_infinite() const { return exponent == 31 && !fraction; }
    [[nodiscard]] bool is_subnormal() const { return !exponent && fraction; }
};

// An operand of the sum: (-1)^sign * significand * 2^(exponent - 127 - 23).
struct Term {
    bool sign = false;
    int32_t exponent = 0;
    uint32_t significand = 0;
};

Term product(const Half& a, const Half& b) {
    const bool sign = a.sign != b.sign;
    if (!a.exponent || !b.exponent) return {sign, 0, 0};
    return {sign, int32_t(a.exponent + b.exponent + 97), (1024 + a.fraction) * (1024 + b.fraction) << 3};
}

Term term(uint32_t c) {
    const int32_t exponent = int32_t(c >> 23 & 255);
    return {bool(c >> 31), exponent, exponent ? 0x800000 | (c & 0x7FFFFF) : 0};
}

// The sum, with two more bits than the greatest operand has, cut off. `terms` are in the order in which equal exponents
// give the sign of reference. A sum of zeros alone is -0 where all of them are, as of single-precision values that are
// added (IEEE 754, 6.3), which the manual says these are; what cancels is +0.
uint32_t sum(const Term* terms, unsigned count, uint32_t& flags) {
    const Term* most = terms;
    for (unsigned n = 1; n < count; ++n)
        if (terms[n].exponent > most->exponent) most = terms + n;
    int32_t total = 0;
    bool lost = false, negative = true;
    for (unsigned n = 0; n < count; ++n) {
        const uint32_t wide = terms[n].significand << 2;
        const uint32_t distance = std::min(uint32_t(most->exponent - terms[n].exponent), 31u);
        const int32_t kept = int32_t(wide >> distance);
        const bool sticky = uint32_t(kept) << distance != wide;
        total += terms[n].sign == most->sign ? kept : -kept - int32_t(sticky);
        lost |= sticky, negative &= terms[n].sign;
    }
    if (lost) flags |= NX;
    if (!total) return negative ? SIGN : 0;
    const bool sign = (total < 0) != most->sign;
    const uint32_t magnitude = uint32_t(total < 0 ? -total - int32_t(lost) : total);
    const uint32_t bits = sign ? SIGN : 0;
    if (!magnitude) return bits;
    const int32_t width = std::bit_width(magnitude), exponent = most->exponent + width - 26;
    if (exponent <= 0) return flags |= UF | NX, bits;
    if (exponent >= 255) return flags |= OF | NX, bits | LARGEST;
    const uint32_t fraction = width > 24 ? magnitude >> (width - 24) : magnitude << (24 - width);
    if (width > 24 && fraction << (width - 24) != magnitude) flags |= NX;
    return bits | uint32_t(exponent) << 23 | (fraction & 0x7FFFFF);
}

// NaNs, infinities times zero, infinities; `made` is the result where it says so.
bool special16(const Half (&a)[2], const Half (&b)[2], uint32_t c, uint32_t& made, uint32_t& flags) {
    const bool c_nan = (c & ~SIGN) > INFINITE;
    bool nan = c_nan, signaling = c_nan && !(c >> 22 & 1), invalid = false;
    bool positive = c == INFINITE, negative = c == (SIGN | INFINITE);
    for (int n = 0; n < 2; ++n) {
        nan |= a[n].is_nan() || b[n].is_nan();
        signaling |= a[n].is_signaling() || b[n].is_signaling();
        if (!a[n].is_infinite() && !b[n].is_infinite()) continue;
        invalid |= !a[n].exponent || !b[n].exponent;
        (a[n].sign != b[n].sign ? negative : positive) = true;
    }
    if (nan) {
        if (signaling) flags |= NV;
        return made = NAN32, true;
    }
    if (invalid || (positive && negative)) return flags |= NV, made = NAN32, true;
    if (positive || negative) return made = negative ? SIGN | INFINITE : INFINITE, true;
    return false;
}

// --- int8 ------------------------------------------------------------------------------------------------------------

int32_t byte_of(uint32_t word, unsigned n, bool is_unsigned) {
    const uint32_t byte = word >> 8 * n & 255;
    return is_unsigned ? int32_t(byte) : int32_t(int8_t(byte));
}

uint32_t dot(uint32_t a, uint32_t b, const Fma& fma) {
    int32_t made = 0;
    for (unsigned n = 0; n < 4; ++n) made += byte_of(a, n, fma.a_unsigned) * byte_of(b, n, fma.b_unsigned);
    return uint32_t(made);
}

// --- rows ------------------------------------------------------------------------------------------------------------

void multiply_row(const Fma& fma, const Operands& o, unsigned i, Register* f, int mode, uint32_t& flags) {
    const bool single = fma.is(Type::fp32);
    for (unsigned j = 0; j < fma.columns; ++j) {
        uint32_t& c = f[2 * i + j / 8].lane[j % 8];
        for (unsigned k = 0; k < fma.words; ++k) {
            const uint32_t a = o.a[i][k], b = o.b[k][j];
            const bool with_c = k || !fma.first;
            if (with_c && (!a || !b)) continue;
            c = single ? step32(a, b, c, with_c, mode, flags) : step16(a, b, c, with_c, flags);
        }
    }
}

void multiply8_row(const Fma& fma, const Operands& o, unsigned i, const Tile& tile) {
    for (unsigned j = 0; j < fma.columns; ++j) {
        uint32_t& sum = tile.tenc[16 * i + j];
        for (unsigned k = 0; k < fma.words; ++k) {
            const uint32_t c = (k || !fma.first ? sum : 0) + dot(o.a[i][k], o.b[k][j], fma);
            (k + 1u == fma.words && fma.to_registers ? tile.f[2 * i + j / 8].lane[j % 8] : sum) = c;
        }
    }
}

// A row that the mask leaves out: zero in a first pass; of TenC, what it holds goes to the registers.
void masked_row(const Fma& fma, unsigned i, const Tile& tile) {
    const bool integer = fma.is(Type::int8);
    for (unsigned j = 0; j < fma.columns; ++j) {
        uint32_t& c = tile.tenc[16 * i + j];
        uint32_t& f = tile.f[2 * i + j / 8].lane[j % 8];
        // The last step writes registers, so that TenC is zeroed by an earlier one only.
        if (integer && fma.first && !(fma.to_registers && fma.words == 1)) c = 0;
        if (integer && fma.to_registers) f = fma.first ? 0 : c;
        if (!integer && fma.first) f = 0;
    }
}

bool host_is_wide() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

std::atomic<bool> use_wide{host_is_wide()};

uint16_t wide_rows([[maybe_unused]] const Fma& fma, [[maybe_unused]] const Operands& o,
                   [[maybe_unused]] const Tile& tile, [[maybe_unused]] int mode, [[maybe_unused]] uint32_t& flags) {
#if defined(__x86_64__)
    if (wide()) {
        if (fma.is(Type::fp32)) return multiply32_wide(fma, o, tile.f, mode, flags);
        if (fma.is(Type::fp16)) return multiply16_wide(fma, o, tile.f, flags);
        return multiply8_wide(fma, o, tile);
    }
#endif
    return 0;
}

}  // namespace

bool wide() { return use_wide.load(std::memory_order_relaxed); }
void set_wide(bool wide) { use_wide.store(wide && host_is_wide(), std::memory_order_relaxed); }

Operands operands(const Fma& fma, const Tile& tile, uint16_t mask) {
    Operands o;
    o.rows = uint16_t((fma.masked ? mask : 0xFFFF) & ((1u << fma.rows) - 1));
    for (unsigned i = 0; i < fma.rows; ++i) {
        const uint8_t* line = tile.scp + LINE * ((fma.a_start + i) % SCP_LINES);
        const unsigned upto = std::min(16u - fma.offset, unsigned(fma.words));
        std::memcpy(o.a[i], line + 4 * fma.offset, 4 * size_t(upto));
        std::memcpy(o.a[i] + upto, line, 4 * size_t(fma.words - upto));
    }
    for (unsigned k = 0; k < fma.words; ++k)
        std::memcpy(o.b[k], fma.from_tenb ? tile.tenb + LINE * k : tile.scp + LINE * ((fma.b_start + k) % SCP_LINES),
                    LINE);
    return o;
}

uint32_t step32(uint32_t a, uint32_t b, uint32_t c, bool with_c, int mode, uint32_t& flags) {
    return with_c ? single::fma(a, b, c, mode, flags) : single::mul(a, b, mode, flags);
}

uint32_t step16(uint32_t a, uint32_t b, uint32_t c, bool with_c, uint32_t& flags) {
    const Half as[2] = {Half(a), Half(a >> 16)}, bs[2] = {Half(b), Half(b >> 16)};
    for (int n = 0; n < 2; ++n)
        if (as[n].is_subnormal() || bs[n].is_subnormal()) flags |= INPUT_DENORMAL;
    if (with_c) c = single::flushed(c, flags);
    uint32_t made = 0;
    if (special16(as, bs, with_c ? c : 0, made, flags)) return made;
    const Term terms[3] = {term(c), product(as[0], bs[0]), product(as[1], bs[1])};
    return sum(terms + !with_c, 2 + with_c, flags);
}

void multiply(const Fma& fma, const Tile& tile, uint16_t mask, int mode, uint32_t& flags) {
    multiply(fma, operands(fma, tile, mask), tile, mode, flags);
}

void multiply(const Fma& fma, const Operands& o, const Tile& tile, int mode, uint32_t& flags) {
    const uint16_t done = wide_rows(fma, o, tile, mode, flags);
    for (unsigned i = 0; i < fma.rows; ++i) {
        if (done >> i & 1) continue;
        if (!(o.rows >> i & 1))
            masked_row(fma, i, tile);
        else if (fma.is(Type::int8))
            multiply8_row(fma, o, i, tile);
        else
            multiply_row(fma, o, i, tile.f, mode, flags);
    }
}

}  // namespace polyloom::minion::tensor
