/* SPDX-License-Identifier: Apache-2.0 */
/* A transformer layer as small inference programs in C write it: a token at a time, with buffers that every token uses again, and a cache of keys and
   values. `tokens` tokens follow the `start` that the cache already holds: a prompt has start = 0, and decoding has tokens = 1.
   The same layer as layer.py and layer.onnx, with weights as [in][out]. */
#include <math.h>

#ifndef DIM
#define DIM 64
#define HEADS 4
#define HIDDEN 192
#endif
#define WIDTH (DIM / HEADS)

static void rmsnorm(float *o, const float *x, const float *weight, int size) {
  float ss = 0.0f;
  for (int j = 0; j < size; j++)
    ss += x[j] * x[j];
  ss = 1.0f / sqrtf(ss / size + 1e-5f);
  for (int j = 0; j < size; j++)
    o[j] = weight[j] * (ss * x[j]);
}

static void softmax(float *x, int size) {
  float max = x[0];
  for (int i = 1; i < size; i++)
    if (x[i] > max)
      max = x[i];
  float sum = 0.0f;
  for (int i = 0; i < size; i++) {
    x[i] = expf(x[i] - max);
    sum += x[i];
  }
  for (int i = 0; i < size; i++)
    x[i] /= sum;
}

/* out = x w, with w of n rows and d columns. */
static void matmul(float *out, const float *x, const float *w, int n, int d) {
  for (int i = 0; i < d; i++) {
    float val = 0.0f;
    for (int j = 0; j < n; j++)
      val += x[j] * w[j * d + i];
    out[i] = val;
  }
}

/* Turns neighbouring channels of every head by the angles of the token. */
static void rotate(float *v, const float *cosine, const float *sine) {
  for (int h = 0; h < HEADS; h++)
    for (int i = 0; i < WIDTH / 2; i++) {
      float v0 = v[h * WIDTH + 2 * i], v1 = v[h * WIDTH + 2 * i + 1];
      v[h * WIDTH + 2 * i] = v0 * cosine[i] - v1 * sine[i];
      v[h * WIDTH + 2 * i + 1] = v0 * sine[i] + v1 * cosine[i];
    }
}

/* Attends with every head to the first tokens. */
static void attend(float *o, const float *q, float keys[][DIM], float values[][DIM], float *att, int tokens) {
  for (int m = 0; m < HEADS; m++) {
    for (int u = 0; u < tokens; u++) {
      float score = 0.0f;
      for (int i = 0; i < WIDTH; i++)
        score += q[m * WIDTH + i] * keys[u][m * WIDTH + i];
      att[u] = score / sqrtf(WIDTH);
    }
    softmax(att, tokens);
    for (int i = 0; i < WIDTH; i++) {
      float val = 0.0f;
      for (int u = 0; u < tokens; u++)
        val += att[u] * values[u][m * WIDTH + i];
      o[m * WIDTH + i] = val;
    }
  }
}

void layer(int tokens, int start, const float x[tokens][DIM], const float cosine[tokens][WIDTH / 2],
           const float sine[tokens][WIDTH / 2], const float norm1[DIM], const float wq[DIM * DIM],
           const float wk[DIM * DIM], const float wv[DIM * DIM], const float wo[DIM * DIM], const float norm2[DIM],
           const float gate[DIM * HIDDEN], const float up[DIM * HIDDEN], const float down[HIDDEN * DIM],
           float keys[start + tokens][DIM], float values[start + tokens][DIM], float att[start + tokens],
           float result[tokens][DIM]) {
  float h[DIM], q[DIM], o[DIM], h1[HIDDEN], h3[HIDDEN];
  for (int t = 0; t < tokens; t++) {
    rmsnorm(h, x[t], norm1, DIM);
    matmul(q, h, wq, DIM, DIM);
    matmul(keys[start + t], h, wk, DIM, DIM);
    matmul(values[start + t], h, wv, DIM, DIM);
    rotate(q, cosine[t], sine[t]);
    rotate(keys[start + t], cosine[t], sine[t]);
    attend(o, q, keys, values, att, start + t + 1);
    matmul(h, o, wo, DIM, DIM);
    for (int i = 0; i < DIM; i++)
      result[t][i] = x[t][i] + h[i];
    rmsnorm(h, result[t], norm2, DIM);
    matmul(h1, h, gate, DIM, HIDDEN);
    matmul(h3, h, up, DIM, HIDDEN);
    for (int i = 0; i < HIDDEN; i++)
      h1[i] = h1[i] / (1.0f + expf(-h1[i])) * h3[i];
    matmul(o, h1, down, HIDDEN, DIM);
    for (int i = 0; i < DIM; i++)
      result[t][i] += o[i];
  }
}
