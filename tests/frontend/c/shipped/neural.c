/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in the style of neural libraries for int8 and float. */
#include "fixed.h"

typedef struct { int32_t n, h, w, c; } dims;
typedef struct { int32_t multiplier, shift; } per_tensor;
typedef struct { int32_t least, most; } activation;
typedef struct { int32_t w, h; } tile;
typedef struct { int32_t input_offset, output_offset; tile stride, padding; activation range; } conv_params;
typedef struct { int32_t input_offset, filter_offset, output_offset; activation range; } fc_params;
typedef struct { int32_t *multiplier; int32_t *shift; } per_channel;

INLINE int32_t clamp(int32_t x, const activation *range) {
  x = larger(x, range->least);
  return smaller(x, range->most);
}

/* shapes in=in_dims->c weights=out_dims->c,in_dims->c bias=out_dims->c out=out_dims->c */
status fully_connected_s8(const fc_params *p, const per_tensor *q, const dims *in_dims, const q7 *in, const q7 *weights,
                          const q31 *bias, const dims *out_dims, q7 *out) {
  for (int32_t o = 0; o < out_dims->c; o++) {
    int32_t sum = bias[o];
    for (int32_t i = 0; i < in_dims->c; i++) sum += (in[i] + p->input_offset) * weights[o * in_dims->c + i];
    sum = requantize(sum, q->multiplier, q->shift);
    out[o] = (q7)clamp(sum + p->output_offset, &p->range);
  }
  return STATUS_OK;
}

/* shapes in=in_dims->c weights=out_dims->c,in_dims->c bias=out_dims->c out=out_dims->c */
status fully_connected_f32(const activation *range, const dims *in_dims, const float *in, const float *weights,
                           const float *bias, const dims *out_dims, float *out) {
  for (int32_t o = 0; o < out_dims->c; o++) {
    float sum = bias[o];
    for (int32_t i = 0; i < in_dims->c; i++) sum += in[i] * weights[o * in_dims->c + i];
    out[o] = sum > 0.0f ? sum : 0.0f;
  }
  return STATUS_OK;
}

/* shapes in=d->h,d->w,d->c k=f->n,f->h,f->w,d->c bias=f->n out=d->h-f->h+1,d->w-f->w+1,f->n q->multiplier=f->n q->shift=f->n */
void convolve_s8(const conv_params *p, const per_channel *q, const dims *d, const q7 *in, const dims *f, const q7 *k,
                 const q31 *bias, q7 *out) {
  for (int32_t y = 0; y < d->h - f->h + 1; y++)
    for (int32_t x = 0; x < d->w - f->w + 1; x++)
      for (int32_t c = 0; c < f->n; c++) {
        q31 sum = bias[c];
        for (int32_t r = 0; r < f->h; r++)
          for (int32_t s = 0; s < f->w; s++)
            for (int32_t i = 0; i < d->c; i++)
              sum += (in[((y + r) * d->w + x + s) * d->c + i] + p->input_offset) *
                     k[((c * f->h + r) * f->w + s) * d->c + i];
        sum = requantize(sum, q->multiplier[c], q->shift[c]) + p->output_offset;
        out[(y * (d->w - f->w + 1) + x) * f->n + c] = (q7)clamp(sum, &p->range);
      }
}

/* shapes in=2*h,2*w,c out=h,w,c */
void max_pool_s8(const q7 *in, int32_t h, int32_t w, int32_t c, const activation *range, q7 *out) {
  for (int32_t y = 0; y < h; y++)
    for (int32_t x = 0; x < w; x++)
      for (int32_t i = 0; i < c; i++) {
        q31 most = -128;
        for (int32_t r = 0; r < 2; r++)
          for (int32_t s = 0; s < 2; s++) most = larger(most, in[(2 * y + r) * (2 * w * c) + (2 * x + s) * c + i]);
        out[y * (w * c) + x * c + i] = (q7)clamp(most, range);
      }
}

/* shapes in=2*h,8,3 out=h,4,3 */
void average_pool_s8(const q7 in[][2 * 4][3], int32_t h, const activation *range, q7 out[][4][3]) {
  for (int32_t y = 0; y < h; y++)
    for (int32_t x = 0; x < 4; x++)
      for (int32_t i = 0; i < 3; i++) {
        q31 sum = 0;
        for (int32_t r = 0; r < 2; r++)
          for (int32_t s = 0; s < 2; s++) sum += in[2 * y + r][2 * x + s][i];
        sum = sum > 0 ? (sum + 2) / 4 : (sum - 2) / 4;
        out[y][x][i] = (q7)clamp(sum, range);
      }
}

/* shapes data=n */
void relu_q7(q7 *data, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (data[i] < 0) data[i] = 0;
}

/* shapes data=n */
void relu6_s8(q7 *data, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) data[i] = (q7)smaller(larger(data[i], 0), 6);
}

/* shapes a=n b=n out=n */
void elementwise_add_s8(const q7 *a, const q7 *b, int32_t a_offset, int32_t b_offset, const per_tensor *q,
                        const activation *range, q7 *out, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    int32_t sum = (a[i] + a_offset) * (1 << 10) + (b[i] + b_offset) * (1 << 10);
    sum = requantize(sum, q->multiplier, q->shift);
    out[i] = (q7)clamp(sum, range);
  }
}

/* shapes a=n b=n out=n */
void elementwise_multiply_s8(const q7 *a, const q7 *b, const fc_params *p, const per_tensor *q, q7 *out, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    int32_t x = (a[i] + p->input_offset) * (b[i] + p->filter_offset);
    x = requantize(x, q->multiplier, q->shift) + p->output_offset;
    x = larger(x, p->range.least);
    x = smaller(x, p->range.most);
    out[i] = (q7)x;
  }
}

/* shapes in=d->h,d->w,d->c k=3,3,d->c out=d->h-2,d->w-2,d->c */
void depthwise_s8(const conv_params *p, const dims *d, const q7 *in, const q7 *k, q7 *out) {
  for (int32_t y = 0; y < d->h - 2; y++)
    for (int32_t x = 0; x < d->w - 2; x++)
      for (int32_t c = 0; c < d->c; c++) {
        q31 sum = 0;
        for (int32_t r = 0; r < 3; r++)
          for (int32_t s = 0; s < 3; s++)
            sum += (in[((y + r) * d->w + x + s) * d->c + c] + p->input_offset) * k[(r * 3 + s) * d->c + c];
        out[(y * (d->w - 2) + x) * d->c + c] = (q7)saturate(sum >> 8, 8);
      }
}

/* shapes v=columns m=rows,columns out=rows */
void matrix_vector_q7(const q7 *v, const q7 *m, uint32_t columns, uint32_t rows, int32_t out_shift, q7 *out) {
  for (uint32_t i = 0; i < rows; i++) {
    q31 sum = 0;
    for (uint32_t j = 0; j < columns; j++) sum += v[j] * m[i * columns + j];
    out[i] = (q7)saturate(sum >> 7, 8);
  }
}

/* shapes in=n out=n */
void requantize_s8(const q31 *in, q7 *out, int32_t n, const per_tensor *q, const conv_params *p) {
  for (int32_t i = 0; i < n; i++) {
    q31 x = requantize(in[i], q->multiplier, q->shift);
    out[i] = (q7)clamp(x + p->output_offset, &p->range);
  }
}
