// SPDX-License-Identifier: Apache-2.0
// Loops in the manner of suites for coarse-grained arrays: small bodies, many counters, global tables, steps of two.
#include <stdint.h>

void accumulate_counted(int n, const int a[n], const int b[n], int out[n]) {
    int k = 0;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum = sum + a[k] * b[k];
        out[k] = sum;
        k++;
    }
}

void every_third(int n, const int a[3 * n], int b[n]) {
    int x = 0;
    for (int i = 0; i < n; i++) {
        b[i] = a[x];
        x += 3;
    }
}

static const int weights[4] = {3, -1, 4, 2};

void conv1d_table(int n, const int x[n + 3], int y[n]) {
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = 0; k < 4; k++) y[i] += weights[k] * x[i + k];
    }
}

void window_table(int n, const int x[n][4], int y[n]) {
    const int ramp[4] = {1, 2, 2, 1};
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int j = 0; j < 4; j++) s += ramp[j] * x[i][j];
        y[i] = s >> 2;
    }
}

static const float twiddle[2][3] = {{1.0f, 0.5f, 0.25f}, {-1.0f, 0.75f, 0.125f}};

void project_table(int n, const float x[n][3], float y[n][2]) {
    for (int i = 0; i < n; i++)
        for (int r = 0; r < 2; r++) {
            float s = 0.0f;
            for (int c = 0; c < 3; c++) s += twiddle[r][c] * x[i][c];
            y[i][r] = s;
        }
}

void clear_three(int n, int a[n], int b[n], int c[n]) {
    for (int i = 0; i < n; i++) a[i] = b[i] = c[i] = i;
}

void running_two(int n, const int x[n], int low[n], int high[n]) {
    int lo, hi;
    lo = hi = x[0];
    for (int i = 0; i < n; i++) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
        low[i] = lo;
        high[i] = hi;
    }
}

void same_both(int n, const int x[n], int y[n], int z[n]) {
    int t;
    for (int i = 0; i < n; i++) {
        t = y[i] = 2 * x[i];
        z[i] = t + 1;
    }
}

struct sample {
    int re, im;
};

void rotate_struct(int n, const int re[n], const int im[n], int out_re[n], int out_im[n]) {
    for (int i = 0; i < n; i++) {
        struct sample s = {re[i], im[i]};
        struct sample t;
        t.re = 3 * s.re - 4 * s.im;
        t.im = 4 * s.re + 3 * s.im;
        out_re[i] = t.re;
        out_im[i] = t.im;
    }
}

struct state {
    int last, sum;
};

void differences_struct(int n, const int x[n], int d[n], int total[n]) {
    struct state s = {0, 0};
    for (int i = 0; i < n; i++) {
        d[i] = x[i] - s.last;
        s.sum += d[i];
        s.last = x[i];
        total[i] = s.sum;
    }
}

typedef struct {
    float a1, b0;
} coefficients;

void smooth_struct(int n, float a, float b, const float x[n], float y[n]) {
    coefficients c;
    c.a1 = a;
    c.b0 = b;
    float last = 0.0f;
    for (int i = 0; i < n; i++) {
        last = c.b0 * x[i] + c.a1 * last;
        y[i] = last;
    }
}

void unrolled_by_two(int n, const int a[2 * n], const int b[2 * n], int c[2 * n]) {
    for (int i = 0; i < 2 * n; i += 2) {
        c[i] = a[i] + b[i];
        c[i + 1] = a[i + 1] - b[i + 1];
    }
}

void reversed_by_two(int n, const int a[2 * n], int c[n]) {
    int j = 0;
    for (int i = 2 * n - 2; i >= 0; i -= 2) {
        c[j] = a[i];
        j++;
    }
}

// Two loops in one: the row and the column come from the counter.
void transpose_flattened(const int a[6 * 5], int b[5 * 6]) {
    for (int t = 0; t < 30; t++) {
        int i = t / 5;
        int j = t % 5;
        b[j * 6 + i] = a[i * 5 + j];
    }
}

void outer_flattened(const int x[4], const int y[7], int p[28]) {
    for (int t = 0; t < 28; ++t) p[t] = x[t / 7] * y[t % 7];
}

void row_sums_flattened(const int a[48], int s[6]) {
    for (int t = 0; t < 48; t++) {
        if (t % 8 == 0) s[t / 8] = 0;
        s[t / 8] += a[t];
    }
}

void parity_select(int n, const int even[n], const int odd[n], int out[n]) {
    for (int i = 0; i < n; i++) {
        if (i % 2)
            out[i] = odd[i];
        else
            out[i] = even[i];
    }
}

void upsample_two(int n, const int x[n], int y[2 * n]) {
    for (int i = 0; i < 2 * n; i++) y[i] = x[i / 2];
}

void ring_neighbours(int n, const int x[n], int y[n]) {
    for (int i = 0; i < n; i++) y[i] = x[(i + 1) % n] - x[(i + n - 1) % n];
}

void ring_eight(const int x[8], int y[8]) {
    for (int i = 0; i < 8; i++) y[i] = x[(i + 7) % 8] + x[(i + 1) & 7];
}

void nest_while(int n, int m, const int a[n][m], int s[n]) {
    int i = 0;
    while (i < n) {
        int j = 0;
        s[i] = 0;
        while (j < m) {
            s[i] += a[i][j];
            ++j;
        }
        ++i;
    }
}

void countdown_while(int n, const int a[n], int b[n]) {
    int left = n;
    while (left > 0) {
        left--;
        b[left] = a[left] * left;
    }
}
