/* SPDX-License-Identifier: Apache-2.0 */
/* The layer of layer.c with weights in int8 and a scale per column. A row of activations is scaled to 127 at run time, so that sums of products are integers,
   and exact (Jacob et al., 2018). The same as `quantized` in layer.py. */
#include "layer.c"

/* Rounds a row to int8, and returns the step between two of its numbers. */
static float quantize(signed char *o, const float *x, int size) {
  float max = 0.0f;
  for (int j = 0; j < size; j++)
    if (fabsf(x[j]) > max)
      max = fabsf(x[j]);
  float step = max / 127.0f;
  for (int j = 0; j < size; j++)
    o[j] = (signed char)rintf(x[j] / step);
  return step;
}

static void quantized_matmul(float *out, const signed char *x, float step, const signed char *w, const float *scale,
                             int n, int d) {
  for (int i = 0; i < d; i++) {
    int val = 0;
    for (int j = 0; j < n; j++)
      val += x[j] * w[j * d + i];
    out[i] = (float)val * step * scale[i];
  }
}

void quantized(int tokens, int start, const float x[tokens][DIM], const float cosine[tokens][WIDTH / 2],
               const float sine[tokens][WIDTH / 2], const float norm1[DIM], const signed char wq[DIM * DIM],
               const signed char wk[DIM * DIM], const signed char wv[DIM * DIM], const signed char wo[DIM * DIM],
               const float norm2[DIM], const signed char gate[DIM * HIDDEN], const signed char up[DIM * HIDDEN],
               const signed char down[HIDDEN * DIM], const float sq[DIM], const float sk[DIM], const float sv[DIM],
               const float so[DIM], const float sg[HIDDEN], const float su[HIDDEN], const float sd[DIM],
               float keys[start + tokens][DIM], float values[start + tokens][DIM], float att[start + tokens],
               float result[tokens][DIM]) {
  float h[DIM], q[DIM], o[DIM], h1[HIDDEN], h3[HIDDEN];
  signed char row[DIM], wide[HIDDEN];
  for (int t = 0; t < tokens; t++) {
    rmsnorm(h, x[t], norm1, DIM);
    float step = quantize(row, h, DIM);
    quantized_matmul(q, row, step, wq, sq, DIM, DIM);
    quantized_matmul(keys[start + t], row, step, wk, sk, DIM, DIM);
    quantized_matmul(values[start + t], row, step, wv, sv, DIM, DIM);
    rotate(q, cosine[t], sine[t]);
    rotate(keys[start + t], cosine[t], sine[t]);
    attend(o, q, keys, values, att, start + t + 1);
    step = quantize(row, o, DIM);
    quantized_matmul(h, row, step, wo, so, DIM, DIM);
    for (int i = 0; i < DIM; i++)
      result[t][i] = x[t][i] + h[i];
    rmsnorm(h, result[t], norm2, DIM);
    step = quantize(row, h, DIM);
    quantized_matmul(h1, row, step, gate, sg, DIM, HIDDEN);
    quantized_matmul(h3, row, step, up, su, DIM, HIDDEN);
    for (int i = 0; i < HIDDEN; i++)
      h1[i] = h1[i] / (1.0f + expf(-h1[i])) * h3[i];
    step = quantize(wide, h1, HIDDEN);
    quantized_matmul(o, wide, step, down, sd, HIDDEN, DIM);
    for (int i = 0; i < DIM; i++)
      result[t][i] += o[i];
  }
}
