/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of instance structures whose loops count down, walk by pointers and accumulate in 64 bits. */
#include "fixed.h"
#include <assert.h>

typedef enum { MODE_COPY, MODE_SCALE, MODE_NEGATE } mode;
typedef struct { uint16_t taps; float *state; const float *coefficients; } stream_f32;
typedef struct { uint16_t taps; q15 *state; const q15 *coefficients; } stream_q15;
typedef struct { uint16_t taps; q31 *state; const q31 *coefficients; } stream_q31;
typedef struct { uint8_t stages; q31 *state; const q31 *coefficients; int8_t shift; } cascade_q31;
typedef struct { mode kind; q15 factor; uint16_t length; } control_q15;
typedef struct { uint16_t rows, columns; q31 *data; } matrix_q31;
typedef struct { float *now, *next; uint16_t length; } relaxation_f32;

/* shapes S->state=S->taps+n-1 S->coefficients=S->taps in=n out=n */
void stream_filter_f32(const stream_f32 *S, const float *in, float *out, uint32_t n) {
  assert(S->taps >= 1U);
  float *state = S->state;
  const float *coefficients = S->coefficients;
  float *current, *px;
  const float *pb;
  float sum;
  uint32_t taps = S->taps, i, left;
  current = &(S->state[(taps - 1U)]);
  left = n;
  while (left > 0U) {
    *current++ = *in++;
    sum = 0.0f;
    px = state;
    pb = coefficients;
    i = taps;
    while (i > 0U) {
      sum += *px++ * *pb++;
      i--;
    }
    *out++ = sum;
    state = state + 1U;
    left--;
  }
  current = S->state;
  i = taps - 1U;
  while (i > 0U) {
    *current++ = *state++;
    i--;
  }
}

/* shapes S->state=S->taps+n-1 S->coefficients=S->taps in=n out=n */
void stream_filter_q15(const stream_q15 *S, const q15 *in, q15 *out, uint32_t n) {
  q15 *state = S->state;
  for (uint32_t i = 0; i < n; i++) state[S->taps - 1U + i] = *in++;
  for (uint32_t i = 0; i < n; i++) {
    const q15 *px = state + i, *pb = S->coefficients;
    q63 sum = 0;
    uint32_t k = S->taps;
    while (k > 0U) {
      sum += (q31)*px++ * *pb++;
      k--;
    }
    *out++ = (q15)saturate((q31)(sum >> 15), 16);
  }
}

/* shapes S->state=S->taps+n-1 S->coefficients=S->taps in=n out=n */
void stream_filter_q31(const stream_q31 *S, const q31 *in, q31 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) S->state[S->taps - 1U + i] = in[i];
  for (uint32_t i = 0; i < n; i++) {
    q63 sum = 0;
    for (uint16_t k = 0; k < S->taps; k++) sum += (q63)S->state[i + k] * S->coefficients[k];
    out[i] = (q31)(sum >> 31U);
  }
}

/* shapes S->state=4*S->stages S->coefficients=5*S->stages in=n out=n */
void stream_cascade_q31(const cascade_q31 *S, const q31 *in, q31 *out, uint32_t n) {
  q31 *state = S->state;
  const q31 *coefficients = S->coefficients;
  for (uint32_t i = 0; i < n; i++) out[i] = in[i];
  uint32_t stage = S->stages;
  while (stage > 0U) {
    q31 b0 = *coefficients++, b1 = *coefficients++, b2 = *coefficients++;
    q31 a1 = *coefficients++, a2 = *coefficients++;
    q31 x1 = state[0], x2 = state[1], y1 = state[2], y2 = state[3];
    for (uint32_t i = 0; i < n; i++) {
      q31 x = out[i];
      q63 sum = (q63)b0 * x;
      sum += (q63)b1 * x1;
      sum += (q63)b2 * x2;
      sum += (q63)a1 * y1;
      sum += (q63)a2 * y2;
      x2 = x1;
      x1 = x;
      y2 = y1;
      y1 = (q31)(sum >> 30);
      out[i] = y1;
    }
    *state++ = x1;
    *state++ = x2;
    *state++ = y1;
    *state++ = y2;
    stage--;
  }
}

/* shapes in=C->length out=C->length */
status stream_control_q15(const control_q15 *C, const q15 *in, q15 *out) {
  if (C->length == 0U) return STATUS_LENGTH;
  for (uint16_t i = 0; i < C->length; i++) {
    switch (C->kind) {
      case MODE_COPY: out[i] = in[i]; break;
      case MODE_SCALE: out[i] = clip_q31(((q31)in[i] * C->factor) >> 15); break;
      default: out[i] = (q15)-in[i];
    }
  }
  return STATUS_OK;
}

/* shapes a=n b=n result=1 */
void stream_dot_q31(const q31 *a, const q31 *b, uint32_t n, q31 *result) {
  q63 sum = 0;
  uint32_t left = n >> 2U;
  while (left > 0U) {
    sum += ((q63)*a++ * *b++) >> 14U;
    sum += ((q63)*a++ * *b++) >> 14U;
    sum += ((q63)*a++ * *b++) >> 14U;
    sum += ((q63)*a++ * *b++) >> 14U;
    left--;
  }
  left = n % 0x4U;
  while (left > 0U) {
    sum += ((q63)*a++ * *b++) >> 14U;
    left--;
  }
  *result = clip_q63(sum >> 17);
}

/* shapes A->data=A->rows,A->columns B->data=A->columns,B->columns C->data=A->rows,B->columns */
status stream_matrix_q31(const matrix_q31 *A, const matrix_q31 *B, matrix_q31 *C) {
  for (uint16_t i = 0; i < A->rows; i++) {
    for (uint16_t j = 0; j < B->columns; j++) {
      q63 sum = 0;
      for (uint16_t k = 0; k < A->columns; k++) {
        sum += (q63)A->data[i * A->columns + k] * B->data[k * B->columns + j];
      }
      C->data[i * B->columns + j] = (q31)(sum >> 31);
    }
  }
  return STATUS_OK;
}

/* shapes in=n result=1 */
void stream_power_q15(const q15 *in, uint32_t n, q31 *result) {
  q63 sum = 0;
  uint32_t left = n;
  if (left == 0U) goto done;
  do {
    q15 x = *in++;
    sum += (q31)x * x;
  } while (--left > 0U);
done:
  *result = (q31)(sum >> 4);
}

/* shapes R->now=R->length R->next=R->length */
void stream_relax_f32(relaxation_f32 *R, uint32_t steps) {
  float *now = R->now, *next = R->next;
  for (uint32_t t = 0; t < steps; t++) {
    for (uint16_t i = 1; i + 1 < R->length; i++) next[i] = 0.25f * now[i - 1] + 0.5f * now[i] + 0.25f * now[i + 1];
    float *swap = now;
    now = next;
    next = swap;
  }
}

/* shapes in=n out=n */
void stream_mean_q31(const q31 *in, q31 *out, uint32_t n) {
  static const q31 weights[3] = {1 << 29, 1 << 30, 1 << 29};
  uint32_t before = n - 1U;
  for (uint32_t i = 0; i < n; i++) {
    q63 sum = (q63)in[before] * weights[0] + (q63)in[i] * weights[1];
    out[i] = clip_q63((sum + (1 << 30)) >> 31);
    before = i;
  }
}
