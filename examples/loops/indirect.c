/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that are loaded: polyloom run examples/loops/indirect.c --function gather n=100 --on belt:silver */
#include <stdint.h>

void gather(int n, const uint8_t index[restrict n], const int32_t table[restrict 256], int32_t y[restrict n]) {
  for (int i = 0; i < n; i++) y[i] = table[index[i]];
}

void scatter(int n, const uint8_t index[restrict n], const int32_t x[restrict n], int32_t y[restrict 256]) {
  for (int i = 0; i < n; i++) y[index[i]] = x[i];
}

void histogram(int n, const uint8_t x[restrict n], int32_t bins[restrict 256]) {
  for (int i = 0; i < n; i++) bins[x[i]]++;
}

/* A list in an array: each element names the next. */
int32_t chase(int n, int steps, const uint8_t next[restrict 256]) {
  int32_t at = n & 255;
  for (int i = 0; i < steps; i++) at = next[at];
  return at;
}

uint32_t crc(int n, const uint8_t x[restrict n], const uint32_t table[restrict 256]) {
  uint32_t sum = 0xffffffff;
  for (int i = 0; i < n; i++) sum = sum >> 8 ^ table[(sum ^ x[i]) & 255];
  return ~sum;
}

float sparse_dot(int n, const float value[restrict n], const uint8_t index[restrict n],
                 const float x[restrict 256]) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += value[i] * x[index[i]];
  return sum;
}
