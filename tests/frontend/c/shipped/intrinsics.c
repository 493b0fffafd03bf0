/* SPDX-License-Identifier: Apache-2.0 */
/* What signal libraries write out where a processor has no instruction for it. */
#include "fixed.h"

INLINE q31 multiply_rounding(q31 a, q31 b) { return (q31)(((q63)a * b + 0x80000000LL) >> 32); }
INLINE q31 multiply_add_high(q31 sum, q31 a, q31 b) { return (q31)((((q63)sum << 32) + (q63)a * b) >> 32); }
INLINE q31 multiply_subtract_high(q31 sum, q31 a, q31 b) { return (q31)((((q63)sum << 32) - (q63)a * b) >> 32); }
INLINE q31 multiply_q31_clipped(q31 a, q31 b) { return clip_q63(((q63)a * b) >> 31); }
INLINE q31 multiply_q15_part(q31 a, q15 b) { return (q31)(((q63)a * b) >> 16); }
INLINE q31 add_clipped(q31 a, q31 b) { return clip_q63((q63)a + b); }
INLINE q31 subtract_clipped(q31 a, q31 b) {
  q63 difference = (q63)a - b;
  if (difference > INT32_MAX) difference = INT32_MAX;
  if (difference < INT32_MIN) difference = INT32_MIN;
  return (q31)difference;
}
INLINE uint32_t average_unsigned(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a + b) >> 1); }
INLINE uint32_t multiply_unsigned(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a * b) >> 32); }
INLINE q31 towards_zero(q31 a, q31 b) { return (q31)(((q63)a + b) / 8); }
INLINE int32_t is_larger(q31 a, q31 b) { return (q63)a * 2 > (q63)b + 1; }
INLINE q15 multiply_q15(q15 a, q15 b) { return (q15)saturate(((q31)a * b + 0x4000) >> 15, 16); }
INLINE uint8_t unsigned_saturate(int32_t x) { return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x); }

void high(int n, const q31 a[n], const q31 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_high(a[i], b[i]); }
void doubling(int n, const q31 a[n], const q31 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_doubling(a[i], b[i]); }
void rounding(int n, const q31 a[n], const q31 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_rounding(a[i], b[i]); }
void adding(int n, const q31 s[n], const q31 a[n], const q31 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_add_high(s[i], a[i], b[i]); }
void subtracting(int n, const q31 s[n], const q31 a[n], const q31 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_subtract_high(s[i], a[i], b[i]); }
void clipped(int n, const q31 a[n], const q31 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_q31_clipped(a[i], b[i]); }
void part(int n, const q31 a[n], const q15 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_q15_part(a[i], b[i]); }
void sums(int n, const q31 a[n], const q31 b[n], q31 y[n], q31 z[n]) { for (int i = 0; i < n; i++) { y[i] = add_clipped(a[i], b[i]); z[i] = add_saturating(a[i], b[i]); } }
void differences(int n, const q31 a[n], const q31 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = subtract_clipped(a[i], b[i]); }
void averages(int n, const uint32_t a[n], const uint32_t b[n], uint32_t y[n]) { for (int i = 0; i < n; i++) y[i] = average_unsigned(a[i], b[i]); }
void unsigned_high(int n, const uint32_t a[n], const uint32_t b[n], uint32_t y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_unsigned(a[i], b[i]); }
void eighths(int n, const q31 a[n], const q31 b[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = towards_zero(a[i], b[i]); }
void comparisons(int n, const q31 a[n], const q31 b[n], int y[n]) { for (int i = 0; i < n; i++) y[i] = is_larger(a[i], b[i]); }
void halves(int n, const q15 a[n], const q15 b[n], q15 y[n]) { for (int i = 0; i < n; i++) y[i] = multiply_q15(a[i], b[i]); }
void bytes(int n, const q31 a[n], uint8_t y[n]) { for (int i = 0; i < n; i++) y[i] = unsigned_saturate(a[i]); }
void shifts(int n, const q31 a[n], q31 y[n]) { for (int i = 0; i < n; i++) y[i] = divide_rounding(a[i], 5); }
void narrow(int n, const q31 a[n], q15 y[n]) { for (int i = 0; i < n; i++) y[i] = clip_q31(a[i]); }
void requantized(int n, const q31 a[n], q31 multiplier, q31 y[n]) { for (int i = 0; i < n; i++) y[i] = requantize(a[i], multiplier, -7); }
