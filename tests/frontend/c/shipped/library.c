/* SPDX-License-Identifier: Apache-2.0 */
/* Habits of signal libraries: states and results of 64 bits, pointers that change their array, sizes that are exchanged,
   unsigned counts from n - 1, untyped fields. The comment above a function has its shapes. */
#include <stdint.h>

typedef int64_t q63_t;
typedef int32_t q31_t;
typedef int16_t q15_t;

/** The outcome of a function. */
typedef enum {
  LIBRARY_SUCCESS = 0, /**< all is well */
  LIBRARY_MISMATCH = -3 /**< sizes do not match */
} status;

typedef struct {
  int8_t stages;
  float *state;
  const float *coefficients;
} cascade;

typedef struct {
  uint16_t rows;
  uint16_t columns;
  float *data;
} matrix;

struct run {
  int reserved;
  void *parameters;
};

extern float table[24];
extern float *window;

/* shapes S.state=2*S.stages S.coefficients=3*S.stages x=n y=n */
void cascade_f32(const cascade *S, const float *x, float *y, uint32_t n) {
  const float *in = x;
  float *out = y, *state = S->state;
  const float *c = S->coefficients;
  uint32_t stage = (uint32_t)S->stages, k;
  do {
    float b0 = *c++, b1 = *c++, a1 = *c++, s0 = state[0], s1 = state[1];
    k = n;
    while (k > 0U) {
      float v = *in++;
      float w = b0 * v + s0;
      s0 = b1 * v + a1 * w;
      s1 = w;
      *out++ = w;
      k--;
    }
    *state++ = s0;
    *state++ = s1;
    in = y;
    out = y;
  } while (--stage);
}

/* shapes a=na b=nb c=na+nb-1 */
void convolve_f32(const float *a, uint32_t na, const float *b, uint32_t nb, float *c) {
  const float *longer, *shorter;
  if (na >= nb) {
    longer = a;
    shorter = b;
  } else {
    longer = b;
    shorter = a;
    uint32_t j = na;
    na = nb;
    nb = j;
  }
  for (uint32_t i = 0; i < na + nb - 1U; i++) c[i] = 0.0f;
  for (uint32_t i = 0; i < na; i++)
    for (uint32_t j = 0; j < nb; j++) c[i + j] += longer[i] * shorter[j];
}

/* shapes x=n */
void maximum_f32(const float *x, uint32_t n, float *result, uint32_t *place) {
  float best = *x++;
  uint32_t at = 0U, count = n - 1U;
  while (count > 0U) {
    float v = *x++;
    if (best < v) {
      best = v;
      at = n - count;
    }
    count--;
  }
  *result = best;
  *place = at;
}

/* shapes x=n */
void power_q31(const q31_t *x, uint32_t n, q63_t *result) {
  q63_t sum = 0;
  uint32_t count = n;
  while (count > 0U) {
    q31_t in = *x++;
    sum += ((q63_t)in * in) >> 14U;
    count--;
  }
  *result = sum;
}

/* shapes state=n x=n */
void leak_q63(q63_t *state, const q31_t *x, uint32_t n) {
  for (uint32_t i = 0U; i < n; i++) {
    state[i] += (q63_t)x[i] << 20;
    state[i]--;
  }
}

/* shapes x=n */
void mean_q31(const q31_t *x, uint32_t n, q31_t *result) {
  q63_t sum = 0;
  for (uint32_t i = 0U; i < n; i++) sum += x[i];
  *result = (q31_t)(sum / n);
}

/* shapes s.data=s.rows d.data=s.rows */
status reverse_f32(const matrix *s, matrix *d) {
  const float *in = s->data;
  float *out = d->data + s->rows;
  uint16_t rows = s->rows;
  uint32_t row = rows;
  do {
    *--out = *in++;
    row--;
  } while (row > 0U);
  return LIBRARY_SUCCESS;
}

static inline q31_t read_two(q15_t const *p) {
  q31_t value;
  value = (p[1] << 16) | (p[0] & 0x0FFFF);
  return value;
}
#define read_two_and_step(p) read_two((*(p) += 2) - 2)

/* shapes x=2*n y=2*n out=n */
void packed_q15(const q15_t *x, const q15_t *y, q31_t *out, uint32_t n) {
  while (n > 0U) {
    q31_t a = read_two_and_step((q15_t **)&x), b = read_two_and_step((q15_t **)&y);
    *out++ = a + b;
    n--;
  }
}

/* shapes a=n */
void delayed(const struct run *p, int n, float *a) {
  int by = *(int *)p->parameters;
  for (int i = 0; i < n - by; i++) a[i] = a[i + by] + 1.0f;
}

/* shapes p.parameters.weights=n a=n */
void weighted(const struct run *p, int n, int *a) {
  struct {
    int *weights;
    int gain;
  } *own = p->parameters;
  int *w = own->weights, gain = own->gain;
  for (int i = 0; i < n; i++) a[i] = a[i] + w[i] * gain;
}

void windowed(int n) {
  window = table;
  for (int i = 0; i < 23; i++) window[i + 1] = table[i] * 0.5f + (float)n;
}

/* shapes x=n y=n out=n */
void both(const float *x, const float *y, float *out, int n) {
  const float *in;
  in = x;
  for (int i = 0; i < n; i++) out[i] = *in++;
  in = y;
  for (int i = 0; i < n; i++) out[i] += *in++;
}

struct timing {
  double first, last;
};

/* shapes a=n ignore:clock */
void untouched(struct timing *timing, int n, float *a) {
  (void)timing;
  for (int i = 0; i < n; i++) a[i] = a[i] * 0.5f;
}
