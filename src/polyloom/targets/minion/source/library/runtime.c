// SPDX-License-Identifier: Apache-2.0
// What the C compiler calls: memory, and floats, which it computes by calls so that all f registers hold vectors. Names
// and meanings: GCC Internals, "Soft float library routines"; C17, 7.24.2. The hardware traps at a division of floats
// and at conversions of 64 bits (ET Programmer's Reference Manual, chapter 3), so these are computed in integers, and
// rounded to nearest even; subnormal numbers are zero, as everywhere on this machine.
#define WEAK __attribute__((weak))
typedef unsigned int u32;
typedef unsigned long u64;

WEAK void *memcpy(void *restrict to, const void *restrict from, u64 bytes) {
    for (u64 k = 0; k < bytes; k++) ((volatile char *)to)[k] = ((const char *)from)[k];
    return to;
}
WEAK void *memmove(void *to, const void *from, u64 bytes) {
    if (to < from) return memcpy(to, from, bytes);
    while (bytes--) ((volatile char *)to)[bytes] = ((const char *)from)[bytes];
    return to;
}
WEAK void *memset(void *to, int value, u64 bytes) {
    for (u64 k = 0; k < bytes; k++) ((volatile char *)to)[k] = (char)value;
    return to;
}
WEAK int memcmp(const void *a, const void *b, u64 bytes) {
    for (u64 k = 0; k < bytes; k++) {
        int difference = ((const unsigned char *)a)[k] - ((const unsigned char *)b)[k];
        if (difference) return difference;
    }
    return 0;
}

// Bits in an integer register, computed in f0 to f2, which callers expect to change.
static inline u32 bits_of(float x) {
    union {
        float value;
        u32 bits;
    } both = {x};
    return both.bits;
}
static inline float float_of(u32 bits) {
    union {
        u32 bits;
        float value;
    } both = {bits};
    return both.value;
}
#define IN_TWO "fmv.w.x f0, %1\nfmv.w.x f1, %2\n"
#define BINARY(name, instruction)                                                        \
    WEAK float name(float a, float b) {                                                  \
        u32 bits;                                                                        \
        __asm__ volatile(IN_TWO instruction " f0, f0, f1\nfmv.x.w %0, f0"                \
                         : "=r"(bits)                                                    \
                         : "r"(bits_of(a)), "r"(bits_of(b))                              \
                         : "v0", "v1");                                                  \
        return float_of(bits);                                                           \
    }
BINARY(__addsf3, "fadd.s")
BINARY(__subsf3, "fsub.s")
BINARY(__mulsf3, "fmul.s")
BINARY(fminf, "fmin.s")
BINARY(fmaxf, "fmax.s")
WEAK float fmaf(float a, float b, float c) {
    u32 bits;
    __asm__ volatile(IN_TWO "fmv.w.x f2, %3\nfmadd.s f0, f0, f1, f2\nfmv.x.w %0, f0"
                     : "=r"(bits)
                     : "r"(bits_of(a)), "r"(bits_of(b)), "r"(bits_of(c))
                     : "v0", "v1", "v2");
    return float_of(bits);
}

static inline long compare(const u32 a, const u32 b, int kind) {
    long result;
    if (kind == 0)
        __asm__ volatile(IN_TWO "feq.s %0, f0, f1" : "=r"(result) : "r"(a), "r"(b) : "v0", "v1");
    else if (kind == 1)
        __asm__ volatile(IN_TWO "flt.s %0, f0, f1" : "=r"(result) : "r"(a), "r"(b) : "v0", "v1");
    else
        __asm__ volatile(IN_TWO "fle.s %0, f0, f1" : "=r"(result) : "r"(a), "r"(b) : "v0", "v1");
    return result;
}
WEAK long __eqsf2(float a, float b) { return !compare(bits_of(a), bits_of(b), 0); }
WEAK long __nesf2(float a, float b) { return !compare(bits_of(a), bits_of(b), 0); }
WEAK long __ltsf2(float a, float b) { return -compare(bits_of(a), bits_of(b), 1); }
WEAK long __lesf2(float a, float b) { return 1 - compare(bits_of(a), bits_of(b), 2); }
WEAK long __gtsf2(float a, float b) { return compare(bits_of(b), bits_of(a), 1); }
WEAK long __gesf2(float a, float b) { return compare(bits_of(b), bits_of(a), 2) - 1; }
WEAK long __unordsf2(float a, float b) {
    return !(compare(bits_of(a), bits_of(a), 0) & compare(bits_of(b), bits_of(b), 0));
}

WEAK int __fixsfsi(float a) {
    int result;
    __asm__ volatile("fmv.w.x f0, %1\nfcvt.w.s %0, f0, rtz" : "=r"(result) : "r"(bits_of(a)) : "v0");
    return result;
}
WEAK u32 __fixunssfsi(float a) {
    u32 result;
    __asm__ volatile("fmv.w.x f0, %1\nfcvt.wu.s %0, f0, rtz" : "=r"(result) : "r"(bits_of(a)) : "v0");
    return result;
}
WEAK float __floatsisf(int a) {
    u32 bits;
    __asm__ volatile("fcvt.s.w f0, %1\nfmv.x.w %0, f0" : "=r"(bits) : "r"(a) : "v0");
    return float_of(bits);
}
WEAK float __floatunsisf(u32 a) {
    u32 bits;
    __asm__ volatile("fcvt.s.wu f0, %1\nfmv.x.w %0, f0" : "=r"(bits) : "r"(a) : "v0");
    return float_of(bits);
}

// A float of 64 bits of significand, whose lowest bit is sticky, and an exponent of two.
static float rounded(u32 sign, u64 value, int exponent) {
    if (!value) return float_of(sign);
    int shift = __builtin_clzl(value);
    value <<= shift;
    exponent += 63 - shift + 127;
    u64 kept = value >> 40, rest = value << 24;
    kept += rest > 1ul << 63 || (rest == 1ul << 63 && (kept & 1));
    if (kept >> 24) kept >>= 1, exponent++;
    if (exponent >= 255) return float_of(sign | 0x7F800000);
    if (exponent <= 0) return float_of(sign);
    return float_of(sign | (u32)exponent << 23 | ((u32)kept & 0x7FFFFF));
}
WEAK float __floatundisf(u64 a) { return rounded(0, a, 0); }
WEAK float __floatdisf(long a) { return rounded(a < 0 ? 1u << 31 : 0, a < 0 ? 0 - (u64)a : (u64)a, 0); }

// Towards zero; what does not fit becomes the nearest number that does, and no number the greatest.
static u64 integer_of(u32 bits, u64 most) {
    int exponent = (int)(bits >> 23 & 255) - 127;
    if (exponent < 0) return 0;
    if (exponent > 63) return most;
    u64 significand = (u64)((bits & 0x7FFFFF) | 1u << 23) << 40, value = significand >> (63 - exponent);
    return value > most ? most : value;
}
WEAK u64 __fixunssfdi(float a) {
    u32 bits = bits_of(a);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return ~0ul;
    return bits >> 31 ? 0 : integer_of(bits, ~0ul);
}
WEAK long __fixsfdi(float a) {
    u32 bits = bits_of(a);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return ~0ul >> 1;
    return bits >> 31 ? (long)(0 - integer_of(bits, 1ul << 63)) : (long)integer_of(bits, ~0ul >> 1);
}
WEAK float __divsf3(float a, float b) {
    u32 x = bits_of(a), y = bits_of(b), sign = (x ^ y) & 1u << 31;
    x &= 0x7FFFFFFF, y &= 0x7FFFFFFF;
    if (x < 1u << 23) x = 0;
    if (y < 1u << 23) y = 0;
    if (x > 0x7F800000 || y > 0x7F800000 || x == y && (!x || x == 0x7F800000)) return float_of(0x7FC00000);
    if (x == 0x7F800000 || !y) return float_of(sign | 0x7F800000);
    if (!x || y == 0x7F800000) return float_of(sign);
    u64 dividend = (u64)((x & 0x7FFFFF) | 1u << 23) << 32, divisor = (y & 0x7FFFFF) | 1u << 23;
    u64 quotient = dividend / divisor;
    // The rest only matters for whether the quotient is exact.
    quotient = quotient << 1 | (dividend % divisor != 0);
    return rounded(sign, quotient, (int)(x >> 23) - (int)(y >> 23) - 33);
}
