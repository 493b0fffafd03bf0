// SPDX-License-Identifier: Apache-2.0
// Loops over images: bytes, three channels side by side, borders that are clamped or wrapped.
#include <math.h>
#include <stdint.h>

void gray_of_rgb(int h, int w, const uint8_t rgb[h * w * 3], uint8_t gray[h * w]) {
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            int r = rgb[(i * w + j) * 3 + 0];
            int g = rgb[(i * w + j) * 3 + 1];
            int b = rgb[(i * w + j) * 3 + 2];
            gray[i * w + j] = (uint8_t)((77 * r + 150 * g + 29 * b) >> 8);
        }
}

void invert_bytes(int n, const unsigned char in[n], unsigned char out[n]) {
    for (int i = 0; i < n; i++) out[i] = 255 - in[i];
}

void threshold_bytes(int n, unsigned char level, const unsigned char in[n], unsigned char out[n]) {
    for (int i = 0; i < n; i++) out[i] = in[i] > level ? 255 : 0;
}

void brighten_saturating(int n, int by, const uint8_t in[n], uint8_t out[n]) {
    for (int i = 0; i < n; i++) {
        int v = in[i] + by;
        if (v > 255) v = 255;
        if (v < 0) v = 0;
        out[i] = v;
    }
}

void blend_alpha(int n, const uint8_t a[n], const uint8_t b[n], const uint8_t alpha[n], uint8_t out[n]) {
    for (int i = 0; i < n; i++) out[i] = (a[i] * alpha[i] + b[i] * (255 - alpha[i]) + 127) / 255;
}

void box_clamped(int h, int w, const int in[h][w], int out[h][w]) {
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            int s = 0;
            for (int di = -1; di <= 1; di++)
                for (int dj = -1; dj <= 1; dj++) {
                    int y = i + di;
                    int x = j + dj;
                    y = y < 0 ? 0 : y >= h ? h - 1 : y;
                    x = x < 0 ? 0 : x >= w ? w - 1 : x;
                    s += in[y][x];
                }
            out[i][j] = s;
        }
}

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void edge_clamped(int n, const int in[n], int out[n]) {
    for (int i = 0; i < n; i++) out[i] = in[MIN(i + 1, n - 1)] - in[MAX(i - 1, 0)];
}

void wrap_horizontally(int h, const int in[h][16], int out[h][16]) {
    for (int i = 0; i < h; i++)
        for (int j = 0; j < 16; j++) out[i][j] = in[i][(j + 15) % 16] + 2 * in[i][j] + in[i][(j + 1) % 16];
}

void mirror_border(int n, const int in[n + 2], int out[n]) {
    for (int i = 0; i < n; i++) {
        int before = i - 1;
        if (before < 0) before = -before;
        out[i] = in[before] + in[i + 1];
    }
}

void sobel(int h, int w, const int16_t in[h][w], int16_t out[h][w]) {
    for (int i = 1; i < h - 1; i++)
        for (int j = 1; j < w - 1; j++) {
            int gx = in[i - 1][j + 1] + 2 * in[i][j + 1] + in[i + 1][j + 1] - in[i - 1][j - 1] - 2 * in[i][j - 1] -
                     in[i + 1][j - 1];
            int gy = in[i + 1][j - 1] + 2 * in[i + 1][j] + in[i + 1][j + 1] - in[i - 1][j - 1] - 2 * in[i - 1][j] -
                     in[i - 1][j + 1];
            if (gx < 0) gx = -gx;
            if (gy < 0) gy = -gy;
            out[i][j] = (int16_t)(gx + gy);
        }
}

static const signed char sharpen_taps[3][3] = {{0, -1, 0}, {-1, 5, -1}, {0, -1, 0}};

void sharpen_bytes(int h, int w, const uint8_t in[h][w], uint8_t out[h][w]) {
    for (int i = 1; i < h - 1; i++)
        for (int j = 1; j < w - 1; j++) {
            int acc = 0;
            for (int di = 0; di < 3; di++)
                for (int dj = 0; dj < 3; dj++) acc += sharpen_taps[di][dj] * in[i + di - 1][j + dj - 1];
            out[i][j] = acc < 0 ? 0 : acc > 255 ? 255 : (uint8_t)acc;
        }
}

void halve_image(int h, int w, const uint8_t in[2 * h][2 * w], uint8_t out[h][w]) {
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            out[i][j] = (in[2 * i][2 * j] + in[2 * i][2 * j + 1] + in[2 * i + 1][2 * j] + in[2 * i + 1][2 * j + 1] + 2) >> 2;
}

void double_image(int h, int w, const int in[h][w], int out[2 * h][2 * w]) {
    for (int i = 0; i < 2 * h; i++)
        for (int j = 0; j < 2 * w; j++) out[i][j] = in[i / 2][j / 2];
}

void integral_image(int h, int w, const uint8_t in[h][w], uint32_t sum[h + 1][w + 1]) {
    for (int j = 0; j <= w; j++) sum[0][j] = 0;
    for (int i = 0; i < h; i++) {
        sum[i + 1][0] = 0;
        for (int j = 0; j < w; j++) sum[i + 1][j + 1] = in[i][j] + sum[i][j + 1] + sum[i + 1][j] - sum[i][j];
    }
}

void normalise_float(int n, const uint8_t in[n], float out[n]) {
    for (int i = 0; i < n; i++) out[i] = (float)in[i] / 255.0f;
}

void gamma_float(int n, float scale, const uint8_t in[n], uint8_t out[n]) {
    for (int i = 0; i < n; i++) out[i] = (uint8_t)(floorf(scale * in[i]));
}

void mask_pixels(int n, const _Bool keep[n], const uint8_t in[n], uint8_t out[n]) {
    for (int i = 0; i < n; i++) out[i] = keep[i] ? in[i] : 0;
}

void changed_pixels(int n, const uint8_t a[n], const uint8_t b[n], _Bool changed[n]) {
    for (int i = 0; i < n; i++) changed[i] = a[i] != b[i];
}

void both_masks(int n, const _Bool a[n], const _Bool b[n], _Bool c[n]) {
    for (int i = 0; i < n; i++) c[i] = a[i] && !b[i];
}
