/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in the style of signal libraries; a line `shapes` names the extents of bare pointers. */
#include "fixed.h"

typedef struct { uint32_t taps; float *state; const float *coefficients; } fir_f32;
typedef struct { uint32_t taps; q15 *state; const q15 *coefficients; } fir_q15;
typedef struct { uint32_t taps; q31 *state; const q31 *coefficients; } fir_q31;
typedef struct { uint32_t taps; q7 *state; const q7 *coefficients; } fir_q7;
typedef struct { uint32_t stages; float *state; const float *coefficients; } biquad_f32;
typedef struct { uint32_t taps; float *state; float *coefficients; float mu; } lms_f32;
typedef struct { uint32_t taps; uint32_t factor; const float *coefficients; float *state; } decimate_f32;
typedef struct { uint32_t rows, columns; float *data; } matrix_f32;
typedef struct { uint32_t rows, columns; q31 *data; } matrix_q31;
typedef struct { float A0, A1, A2; float state[3]; float Kp, Ki, Kd; } pid_f32;
typedef struct { uint32_t length; float table[8]; } window_f32;
typedef struct { uint32_t stages; float *state; const float *k; } lattice_f32;

/* shapes S->state=S->taps+n-1 S->coefficients=S->taps in=n out=n */
void filter_f32(const fir_f32 *S, const float *in, float *out, uint32_t n) {
  float *state = S->state;
  const float *taps = S->coefficients;
  for (uint32_t i = 0; i < n; i++) state[S->taps - 1U + i] = in[i];
  for (uint32_t i = 0; i < n; i++) {
    float sum = 0.0f;
    for (uint32_t k = 0; k < S->taps; k++) sum += state[i + k] * taps[k];
    out[i] = sum;
  }
}

/* shapes S->state=S->taps+n-1 S->coefficients=S->taps in=n out=n */
void filter_q15_fast(const fir_q15 *S, const q15 *in, q15 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) S->state[S->taps - 1U + i] = in[i];
  for (uint32_t i = 0; i < n; i++) {
    q31 sum = 0;
    for (uint32_t k = 0; k < S->taps; k++) sum += (q31)S->state[i + k] * S->coefficients[k];
    out[i] = (q15)saturate(sum >> 15, 16);
  }
}

/* shapes S->state=S->taps+n-1 S->coefficients=S->taps in=n out=n */
void filter_q7(const fir_q7 *S, const q7 *in, q7 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) S->state[S->taps - 1U + i] = in[i];
  for (uint32_t i = 0; i < n; i++) {
    q31 sum = 0;
    for (uint32_t k = 0; k < S->taps; k++) sum += (q15)S->state[i + k] * S->coefficients[k];
    out[i] = (q7)saturate(sum >> 7, 8);
  }
}

/* shapes S->state=S->taps+n-1 S->coefficients=S->taps in=n out=n */
void filter_q31_fast(const fir_q31 *S, const q31 *in, q31 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) S->state[S->taps - 1U + i] = in[i];
  for (uint32_t i = 0; i < n; i++) {
    q31 sum = 0;
    for (uint32_t k = 0; k < S->taps; k++) sum = add_saturating(sum, multiply_high(S->state[i + k], S->coefficients[k]));
    out[i] = sum << 1;
  }
}

/* shapes S->state=4*S->stages S->coefficients=5*S->stages in=n out=n */
void biquad_cascade_f32(const biquad_f32 *S, const float *in, float *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = in[i];
  for (uint32_t s = 0; s < S->stages; s++) {
    const float b0 = S->coefficients[5 * s], b1 = S->coefficients[5 * s + 1], b2 = S->coefficients[5 * s + 2];
    const float a1 = S->coefficients[5 * s + 3], a2 = S->coefficients[5 * s + 4];
    float x1 = S->state[4 * s], x2 = S->state[4 * s + 1], y1 = S->state[4 * s + 2], y2 = S->state[4 * s + 3];
    for (uint32_t i = 0; i < n; i++) {
      float x = out[i];
      float y = (b0 * x) + (b1 * x1) + (b2 * x2) + (a1 * y1) + (a2 * y2);
      x2 = x1;
      x1 = x;
      y2 = y1;
      y1 = y;
      out[i] = y;
    }
    S->state[4 * s] = x1;
    S->state[4 * s + 1] = x2;
    S->state[4 * s + 2] = y1;
    S->state[4 * s + 3] = y2;
  }
}

/* shapes S->state=S->taps+n-1 S->coefficients=S->taps in=n ref=n out=n err=n */
void adapt_f32(const lms_f32 *S, const float *in, const float *ref, float *out, float *err, uint32_t n) {
  float *state = S->state, *w = S->coefficients;
  float mu = S->mu;
  for (uint32_t i = 0; i < n; i++) state[S->taps - 1U + i] = in[i];
  for (uint32_t i = 0; i < n; i++) {
    float sum = 0.0f;
    for (uint32_t k = 0; k < S->taps; k++) sum += state[i + k] * w[k];
    out[i] = sum;
    float e = ref[i] - sum;
    err[i] = e;
    float step = e * mu;
    for (uint32_t k = 0; k < S->taps; k++) w[k] += step * state[i + k];
  }
}

/* shapes a=n b=n result=1 */
void dot_f32(const float *a, const float *b, uint32_t n, float *result) {
  float sum = 0.0f;
  for (uint32_t i = 0; i < n; i++) sum += a[i] * b[i];
  *result = sum;
}

/* shapes a=n b=n */
void dot_q7(const q7 *a, const q7 *b, uint32_t n, q31 *result) {
  q31 sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += (q15)a[i] * b[i];
  *result = sum;
}

/* shapes A->data=A->rows,A->columns B->data=A->columns,B->columns C->data=A->rows,B->columns */
status matrix_multiply_f32(const matrix_f32 *A, const matrix_f32 *B, matrix_f32 *C) {
  for (uint32_t i = 0; i < A->rows; i++)
    for (uint32_t j = 0; j < B->columns; j++) {
      float sum = 0.0f;
      for (uint32_t k = 0; k < A->columns; k++) sum += A->data[i * A->columns + k] * B->data[k * B->columns + j];
      C->data[i * B->columns + j] = sum;
    }
  return STATUS_OK;
}

/* shapes A->data=A->rows,A->columns B->data=A->rows,A->columns C->data=A->rows,A->columns */
void matrix_add_q31(const matrix_q31 *A, const matrix_q31 *B, matrix_q31 *C) {
  for (uint32_t i = 0; i < A->rows; i++)
    for (uint32_t j = 0; j < A->columns; j++)
      C->data[i * A->columns + j] = add_saturating(A->data[i * A->columns + j], B->data[i * A->columns + j]);
}

/* shapes A->data=A->rows,A->columns C->data=A->columns,A->rows */
void matrix_transpose_f32(const matrix_f32 *A, matrix_f32 *C) {
  for (uint32_t i = 0; i < A->rows; i++)
    for (uint32_t j = 0; j < A->columns; j++) C->data[j * A->rows + i] = A->data[i * A->columns + j];
}

/* shapes in=n out=n */
void regulate_f32(pid_f32 *S, const float *in, float *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    float y = (S->A0 * in[i]) + (S->A1 * S->state[0]) + (S->A2 * S->state[1]) + (S->state[2]);
    S->state[1] = S->state[0];
    S->state[0] = in[i];
    S->state[2] = y;
    out[i] = y;
  }
}

void regulator_reset_f32(pid_f32 *S, int32_t clear) {
  S->A0 = S->Kp + S->Ki + S->Kd;
  S->A1 = (-S->Kp) - (2.0f * S->Kd);
  S->A2 = S->Kd;
  for (int i = 0; i < 3; i++) S->state[i] = clear ? 0.0f : S->state[i];
}

/* shapes in=n */
void statistics_f32(const float *in, uint32_t n, float *mean, float *power) {
  float sum = 0.0f, squares = 0.0f;
  for (uint32_t i = 0; i < n; i++) {
    sum += in[i];
    squares += in[i] * in[i];
  }
  *mean = sum / (float)n;
  *power = squares;
}

/* shapes in=n out=n */
void scale_q15(const q15 *in, q15 factor, int32_t shift, q15 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = (q15)saturate(((q31)in[i] * factor) >> 15, 16);
}

/* shapes a=n b=n out=n */
void add_q15(const q15 *a, const q15 *b, q15 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = (q15)saturate((q31)a[i] + b[i], 16);
}

/* shapes a=n b=n out=n */
void add_q31(const q31 *a, const q31 *b, q31 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = add_saturating(a[i], b[i]);
}

/* shapes a=n b=n out=n */
void multiply_q31(const q31 *a, const q31 *b, q31 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    q31 high = multiply_high(a[i], b[i]);
    out[i] = saturate(high, 31) << 1;
  }
}

/* shapes in=n out=n */
void narrow_q31(const q31 *in, q15 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = clip_q31(in[i] >> 8);
}

/* shapes in=n out=n */
void absolute_q7(const q7 *in, q7 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = in[i] > 0 ? in[i] : (q7)saturate(-in[i], 8);
}

/* shapes in=n out=n */
void negate_q15(const q15 *in, q15 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = (in[i] == (q15)0x8000) ? (q15)0x7fff : (q15)-in[i];
}

/* shapes in=2*n out=n */
void squared_magnitude_f32(const float *in, float *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = in[2 * i] * in[2 * i] + in[2 * i + 1] * in[2 * i + 1];
}

/* shapes in=S->length out=S->length */
void apply_window_f32(const window_f32 *S, const float *in, float *out) {
  for (uint32_t i = 0; i < S->length; i++) out[i] = in[i] * S->table[i];
}

/* shapes S->state=S->taps+4*n-1 S->coefficients=S->taps in=4*n out=n */
void decimate_by_4_f32(const decimate_f32 *S, const float *in, float *out, uint32_t n) {
  for (uint32_t i = 0; i < 4 * n; i++) S->state[S->taps - 1U + i] = in[i];
  for (uint32_t i = 0; i < n; i++) {
    float sum = 0.0f;
    for (uint32_t k = 0; k < S->taps; k++) sum += S->state[4 * i + k] * S->coefficients[k];
    out[i] = sum;
  }
}

/* shapes S->k=S->stages S->state=S->stages in=n out=n */
void lattice_f32_run(const lattice_f32 *S, const float *in, float *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    float f = in[i], last = in[i];
    for (uint32_t s = 0; s < S->stages; s++) {
      float g = S->state[s];
      S->state[s] = last;
      last = f * S->k[s] + g;
      f = f + S->k[s] * g;
    }
    out[i] = f;
  }
}

/* shapes a=n b=m out=n+m-1 */
void convolve_f32(const float *a, uint32_t n, const float *b, uint32_t m, float *out) {
  for (uint32_t i = 0; i < n + m - 1; i++) out[i] = 0.0f;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < m; j++) out[i + j] += a[i] * b[j];
}

/* shapes in=2*n out=2*n */
void rotate_q31(const q31 *in, q31 re, q31 im, q31 *out, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    complex_q31 x = {in[2 * i], in[2 * i + 1]};
    complex_q31 w = {re, im};
    complex_q31 y = product_of(x, w);
    out[2 * i] = y.re;
    out[2 * i + 1] = y.im;
  }
}
