// SPDX-License-Identifier: Apache-2.0
// Loops of inference with integers: products of bytes that are summed in 32 bits, zero points, rounding shifts, clamps.
#include <math.h>
#include <stdint.h>

void matmul_s8(int n, int m, int k, const int8_t a[n][k], const int8_t b[k][m], int32_t c[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int32_t acc = 0;
            for (int p = 0; p < k; p++) acc += (int32_t)a[i][p] * (int32_t)b[p][j];
            c[i][j] = acc;
        }
}

// Everything that a layer does: bias, multiplier with a rounding shift, zero point, clamp.
void dense_s8(int n, int m, int k, int multiplier, int zero, const int8_t x[n][k], const int8_t w[m][k],
              const int32_t bias[m], int8_t y[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int32_t acc = bias[j];
            for (int p = 0; p < k; p++) acc += x[i][p] * w[j][p];
            int32_t v = ((acc * multiplier + (1 << 7)) >> 8) + zero;
            if (v < -128) v = -128;
            if (v > 127) v = 127;
            y[i][j] = (int8_t)v;
        }
}

void depthwise_s8(int h, int w, const int8_t x[h + 2][w + 2][4], const int8_t f[3][3][4], const int32_t bias[4],
                  int8_t y[h][w][4]) {
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            for (int c = 0; c < 4; c++) {
                int32_t acc = bias[c];
                for (int di = 0; di < 3; di++)
                    for (int dj = 0; dj < 3; dj++) acc += x[i + di][j + dj][c] * f[di][dj][c];
                acc = (acc + 64) >> 7;
                acc = acc > 127 ? 127 : acc;
                acc = acc < -128 ? -128 : acc;
                y[i][j][c] = acc;
            }
}

void matvec_u8(int n, int k, int x_zero, const uint8_t w[n][k], const uint8_t x[k], int32_t y[n]) {
    for (int i = 0; i < n; i++) {
        int32_t acc = 0;
        for (int p = 0; p < k; p++) acc += ((int32_t)x[p] - x_zero) * ((int32_t)w[i][p] - 128);
        y[i] = acc;
    }
}

void relu_s8(int n, const int8_t x[n], int8_t y[n]) {
    for (int i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0;
}

void add_s8(int n, const int8_t a[n], const int8_t b[n], int8_t y[n]) {
    for (int i = 0; i < n; i++) {
        int s = a[i] + b[i];
        y[i] = s > 127 ? 127 : s < -128 ? -128 : s;
    }
}

void average_pool_u8(int h, int w, const uint8_t x[2 * h][2 * w], uint8_t y[h][w]) {
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            int s = 0;
            for (int di = 0; di < 2; di++)
                for (int dj = 0; dj < 2; dj++) s += x[2 * i + di][2 * j + dj];
            y[i][j] = (s + 2) / 4;
        }
}

void max_pool_s8(int h, int w, const int8_t x[2 * h][2 * w], int8_t y[h][w]) {
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            int8_t best = -128;
            for (int di = 0; di < 2; di++)
                for (int dj = 0; dj < 2; dj++) {
                    int8_t v = x[2 * i + di][2 * j + dj];
                    if (v > best) best = v;
                }
            y[i][j] = best;
        }
}

void dequantise(int n, float scale, int zero, const int8_t x[n], float y[n]) {
    for (int i = 0; i < n; i++) y[i] = scale * (float)(x[i] - zero);
}

void quantise(int n, float inverse, const float x[n], int8_t y[n]) {
    for (int i = 0; i < n; i++) {
        float v = x[i] * inverse;
        v = fminf(fmaxf(v, -128.0f), 127.0f);
        y[i] = (int8_t)v;
    }
}

void widen_sum_s16(int n, const short a[n], const signed char b[n], int y[n]) {
    for (int i = 0; i < n; i++) y[i] = a[i] * b[i] + (a[i] << 2);
}

void low_byte(int n, const int x[n], unsigned char low[n], signed char high[n]) {
    for (int i = 0; i < n; i++) {
        low[i] = x[i];
        high[i] = x[i] >> 8;
    }
}

void shift_unsigned_bytes(int n, const uint8_t x[n], uint8_t y[n]) {
    for (int i = 0; i < n; i++) y[i] = (x[i] << 3) | (x[i] >> 5);
}

static int32_t requantised(int32_t acc, int32_t multiplier, int shift) {
    int32_t v = acc * multiplier;
    if (shift == 0) return v;
    return (v + (1 << (shift - 1))) >> shift;
}

void requantise(int n, int multiplier, const int32_t acc[n], int8_t y[n]) {
    for (int i = 0; i < n; i++) {
        int32_t v = requantised(acc[i], multiplier, 6);
        y[i] = v > 127 ? 127 : v < -128 ? -128 : v;
    }
}

static void clamp_byte(int *v) {
    if (*v < 0) *v = 0;
    if (*v > 255) *v = 255;
}

void offset_u8(int n, int zero, const int8_t x[n], uint8_t y[n]) {
    for (int i = 0; i < n; i++) {
        int v = x[i] + zero;
        clamp_byte(&v);
        y[i] = v;
    }
}

void conv1x1_u8(int p, int m, int k, const uint8_t x[p][k], const int8_t w[m][k], int32_t y[p][m]) {
    for (int i = 0; i < p; i++)
        for (int j = 0; j < m; j++) {
            y[i][j] = 0;
            for (int c = 0; c < k; c++) y[i][j] += x[i][c] * w[j][c];
        }
}

void sum_of_products_u16(int n, const uint16_t a[n], const uint8_t b[n], uint32_t y[n]) {
    uint32_t s = 0;
    for (int i = 0; i < n; i++) {
        s += (uint32_t)a[i] * b[i];
        y[i] = s;
    }
}

void largest_of_row(int n, int m, const int8_t x[n][m], int8_t best[n]) {
    for (int i = 0; i < n; i++) {
        int8_t b = -128;
        for (int j = 0; j < m; j++) b = x[i][j] > b ? x[i][j] : b;
        best[i] = b;
    }
}

void exponentials(int n, const float x[n], float e[n], float total[1]) {
    float s = 0.0f;
    for (int i = 0; i < n; i++) {
        e[i] = expf(x[i]);
        s += e[i];
    }
    total[0] = s;
}
