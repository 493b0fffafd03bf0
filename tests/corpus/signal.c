// SPDX-License-Identifier: Apache-2.0
// Loops over signals: 16-bit samples, recursive filters, steps of transforms, double precision.
#include <math.h>
#include <stdint.h>

void gain_q15(int n, int16_t gain, const int16_t x[n], int16_t y[n]) {
    for (int i = 0; i < n; i++) y[i] = (int16_t)((x[i] * gain) >> 15);
}

void add_saturating(int n, const int16_t a[n], const int16_t b[n], int16_t y[n]) {
    for (int i = 0; i < n; i++) {
        int32_t s = (int32_t)a[i] + b[i];
        if (s > 32767) s = 32767;
        if (s < -32768) s = -32768;
        y[i] = s;
    }
}

void energy_wide(int n, const int16_t x[n], int32_t e[n]) {
    int32_t sum = 0;
    for (int i = 0; i < n; i++) {
        sum += (int32_t)x[i] * x[i];
        e[i] = sum;
    }
}

void unsigned_average(int n, const uint16_t a[n], const uint16_t b[n], uint16_t y[n]) {
    for (int i = 0; i < n; i++) y[i] = (a[i] + b[i] + 1) >> 1;
}

void phase_accumulator(int n, uint32_t step, uint32_t phase[n]) {
    uint32_t p = 0;
    for (int i = 0; i < n; i++) {
        phase[i] = p >> 16;
        p += step;
    }
}

void unsigned_ratio(int n, const uint32_t a[n], const uint32_t b[n], uint32_t q[n], uint32_t r[n]) {
    for (int i = 0; i < n; i++) {
        uint32_t d = b[i] | 1u;
        q[i] = a[i] / d;
        r[i] = a[i] % d;
    }
}

void mix_hash(int n, const uint32_t x[n], uint32_t h[n]) {
    uint32_t v = 2166136261u;
    for (int i = 0; i < n; i++) {
        v ^= x[i];
        v *= 16777619u;
        v ^= v >> 13;
        h[i] = v;
    }
}

void unsigned_peaks(int n, const unsigned x[n + 2], int y[n]) {
    for (int i = 0; i < n; i++) y[i] = x[i + 1] > x[i] && x[i + 1] >= x[i + 2];
}

void axpy_double(int n, double a, const double x[n], double y[n]) {
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

double dot_double(int n, const double x[n], const double y[n]) {
    double s = 0.0;
    for (int i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

void biquad_double(int n, double b0, double b1, double a1, const double x[n], double y[n]) {
    double z = 0.0;
    for (int i = 0; i < n; i++) {
        double v = b0 * x[i] + z;
        z = b1 * x[i] - a1 * v;
        y[i] = v;
    }
}

void norm_mixed(int n, const float x[n], float y[n]) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += (double)x[i] * x[i];
        y[i] = (float)sum;
    }
}

void decimate(int n, const float x[4 * n + 3], float y[n]) {
    for (int i = 0; i < 4 * n; i += 4) {
        float s = 0.0f;
        for (int k = 0; k < 4; k++) s += x[i + k];
        y[i / 4] = 0.25f * s;
    }
}

void haar_step(int n, const int x[2 * n], int low[n], int high[n]) {
    for (int i = 0; i < n; i++) {
        low[i] = (x[2 * i] + x[2 * i + 1]) >> 1;
        high[i] = x[2 * i] - x[2 * i + 1];
    }
}

void butterfly(int half, const float re[2 * half], const float im[2 * half], const float wr[half], const float wi[half],
               float out_re[2 * half], float out_im[2 * half]) {
    for (int k = 0; k < half; k++) {
        float tr = wr[k] * re[k + half] - wi[k] * im[k + half];
        float ti = wr[k] * im[k + half] + wi[k] * re[k + half];
        out_re[k] = re[k] + tr;
        out_im[k] = im[k] + ti;
        out_re[k + half] = re[k] - tr;
        out_im[k + half] = im[k] - ti;
    }
}

void circular_convolution(const int x[12], const int h[3], int y[12]) {
    for (int i = 0; i < 12; i++) {
        y[i] = 0;
        for (int k = 0; k < 3; k++) y[i] += h[k] * x[(i + 12 - k) % 12];
    }
}

void moving_average(int n, const int x[n + 4], float y[n]) {
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int k = 0; k < 5; k++) s += x[i + k];
        y[i] = s / 5.0f;
    }
}

void to_samples(int n, const float x[n], int16_t y[n]) {
    for (int i = 0; i < n; i++) {
        float v = x[i] * 100.0f;
        v = v > 32767.0f ? 32767.0f : v < -32768.0f ? -32768.0f : v;
        y[i] = (int16_t)v;
    }
}

void from_samples(int n, const int16_t x[n], float y[n]) {
    for (int i = 0; i < n; i++) y[i] = x[i] * (1.0f / 32768.0f);
}

void soft_clip(int n, const float x[n], float y[n]) {
    for (int i = 0; i < n; i++) y[i] = tanhf(x[i]);
}

void decay_envelope(int n, float rate, const float x[n], float y[n]) {
    for (int i = 0; i < n; i++) y[i] = x[i] * expf(-rate * (float)i);
}

void sigmoid_float(int n, const float x[n], float y[n]) {
    for (int i = 0; i < n; i++) y[i] = 1.0f / (1.0f + expf(-x[i]));
}

void quantise_steps(int n, float step, const float x[n], float y[n]) {
    for (int i = 0; i < n; i++) y[i] = step * floorf(x[i] / step + 0.5f);
}

static float bent(float v) {
    if (v > 1.0f) return 1.0f + 0.25f * (v - 1.0f);
    if (v < -1.0f) return -1.0f + 0.25f * (v + 1.0f);
    return v;
}

void soft_knee(int n, const float x[n], float y[n]) {
    for (int i = 0; i < n; i++) y[i] = bent(x[i]);
}

static void track(float v, float *low, float *high) {
    if (v < *low) *low = v;
    if (v > *high) *high = v;
}

void envelope(int n, const float x[n], float span[n]) {
    float low = 0.0f, high = 0.0f;
    for (int i = 0; i < n; i++) {
        track(x[i], &low, &high);
        span[i] = high - low;
    }
}

void gated_sum(int n, const int x[n], int y[n]) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        y[i] = s;
        if (x[i] < 0) continue;
        s += x[i];
        y[i] = s;
    }
}

// Coefficients of twelve recursive sections that run side by side.
void twelve_sections(int n, const float x[n], float y[n]) {
    float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f, e = 0.0f, f = 0.0f;
    float g = 0.0f, h = 0.0f, k = 0.0f, l = 0.0f, m = 0.0f, o = 0.0f;
    for (int i = 0; i < n; i++) {
        a = 0.50f * a + x[i];
        b = 0.52f * b + x[i];
        c = 0.54f * c + x[i];
        d = 0.56f * d + x[i];
        e = 0.58f * e + x[i];
        f = 0.60f * f + x[i];
        g = 0.62f * g + x[i];
        h = 0.64f * h + x[i];
        k = 0.66f * k + x[i];
        l = 0.68f * l + x[i];
        m = 0.70f * m + x[i];
        o = 0.72f * o + x[i];
        y[i] = a * b + c * d + e * f + g * h + k * l + m * o;
    }
}
