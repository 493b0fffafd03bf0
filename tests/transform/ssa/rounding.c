// SPDX-License-Identifier: Apache-2.0
// Rounding to integral values in every direction, and reversed bits: test_rounding.py.
#include <math.h>
#include <stdint.h>

float even_f(float x) { return rintf(x); }
float near_f(float x) { return nearbyintf(x); }
float down_f(float x) { return floorf(x); }
float up_f(float x) { return ceilf(x); }
float cut_f(float x) { return truncf(x); }
float away_f(float x) { return roundf(x); }
double even_d(double x) { return rint(x); }
double down_d(double x) { return floor(x); }
double up_d(double x) { return ceil(x); }
double cut_d(double x) { return trunc(x); }
double away_d(double x) { return round(x); }
int32_t integer_f(float x) { return (int32_t)rintf(x); }
int64_t long_f(float x) { return lrintf(x); }
int64_t long_d(double x) { return llround(x); }

uint8_t bits_8(uint8_t x) { return __builtin_bitreverse8(x); }
uint16_t bits_16(uint16_t x) { return __builtin_bitreverse16(x); }
uint32_t bits_32(uint32_t x) { return __builtin_bitreverse32(x); }
uint64_t bits_64(uint64_t x) { return __builtin_bitreverse64(x); }
