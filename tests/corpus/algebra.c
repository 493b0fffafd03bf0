// SPDX-License-Identifier: Apache-2.0
// Linear algebra: blocked products, factorizations, iterations whose steps need all of the step before.
#include <math.h>
#include <stddef.h>

void gemm_double(int n, int m, int k, double alpha, const double a[n][k], const double b[k][m], double c[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int p = 0; p < k; p++) c[i][j] += alpha * a[i][p] * b[p][j];
}

void gemm_pointers(int n, int m, int k, const float *a, const float *b, float *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0.0f;
            for (int p = 0; p < k; p++) s += a[i * k + p] * b[p * m + j];
            c[i * m + j] = s;
        }
}

void matmul_tiled(const float a[12][12], const float b[12][12], float c[12][12]) {
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) c[i][j] = 0.0f;
    for (int ii = 0; ii < 12; ii += 4)
        for (int jj = 0; jj < 12; jj += 4)
            for (int kk = 0; kk < 12; kk += 4)
                for (int i = ii; i < ii + 4; i++)
                    for (int j = jj; j < jj + 4; j++)
                        for (int k = kk; k < kk + 4; k++) c[i][j] += a[i][k] * b[k][j];
}

void transpose_tiled(int n, const int a[n][n], int b[n][n]) {
    for (int ii = 0; ii < n; ii += 4)
        for (int jj = 0; jj < n; jj += 4)
            for (int i = ii; i < (ii + 4 < n ? ii + 4 : n); i++)
                for (int j = jj; j < (jj + 4 < n ? jj + 4 : n); j++) b[j][i] = a[i][j];
}

void power_iteration(int n, int steps, const float a[n][n], float x[n], float y[n]) {
    for (int t = 0; t < steps; t++) {
        float norm = 0.0f;
        for (int i = 0; i < n; i++) {
            y[i] = 0.0f;
            for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];
            norm += fabsf(y[i]);
        }
        for (int i = 0; i < n; i++) x[i] = y[i] / (norm + 1.0f);
    }
}

void orthogonalise(int m, int n, float a[m][n], float r[n][n], float q[m][n]) {
    for (int k = 0; k < n; k++) {
        float norm = 0.0f;
        for (int i = 0; i < m; i++) norm += a[i][k] * a[i][k];
        r[k][k] = sqrtf(norm) + 1.0f;
        for (int i = 0; i < m; i++) q[i][k] = a[i][k] / r[k][k];
        for (int j = k + 1; j < n; j++) {
            r[k][j] = 0.0f;
            for (int i = 0; i < m; i++) r[k][j] += q[i][k] * a[i][j];
            for (int i = 0; i < m; i++) a[i][j] = a[i][j] - q[i][k] * r[k][j];
        }
    }
}

void jacobi_solver(int n, int steps, const float a[n][n], const float b[n], float x[n], float y[n]) {
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) {
            float s = b[i];
            for (int j = 0; j < n; j++)
                if (j != i) s -= a[i][j] * x[j];
            y[i] = s / (4.0f + a[i][i] * a[i][i]);
        }
        for (int i = 0; i < n; i++) x[i] = y[i];
    }
}

void alternating_directions(int n, int steps, float u[n][n], float v[n][n]) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) {
            v[i][0] = 1.0f;
            for (int j = 1; j < n - 1; j++) v[i][j] = 0.5f * v[i][j - 1] + u[j][i];
        }
        for (int i = 1; i < n - 1; i++) {
            u[i][n - 1] = 1.0f;
            for (int j = n - 2; j >= 1; j--) u[i][j] = 0.5f * u[i][j + 1] + v[j][i];
        }
    }
}

void toeplitz_solver(int n, const float r[n], float y[n], float z[n]) {
    float alpha = -r[0];
    float beta = 1.0f;
    y[0] = -r[0];
    for (int k = 1; k < n; k++) {
        beta = (1.0f - alpha * alpha) * beta + 4.0f;
        float sum = 0.0f;
        for (int i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;
        for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
        for (int i = 0; i < k; i++) y[i] = z[i];
        y[k] = alpha;
    }
}

void lower_solve_double(int n, const double l[n][n], const double b[n], double x[n]) {
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++) x[i] -= l[i][j] * x[j];
        x[i] = x[i] / (l[i][i] * l[i][i] + 1.0);
    }
}

float trace_returned(size_t n, const float a[n][n]) {
    float t = 0.0f;
    for (size_t i = 0; i < n; i++) t += a[i][i];
    return t;
}

// Integer sums may be taken in any order.
void upper_substitution(int n, const int u[n][n], const int b[n], int x[n]) {
    for (int i = n - 1; i >= 0; i--) {
        int s = b[i];
        for (int j = i + 1; j < n; j++) s -= u[i][j] * x[j];
        x[i] = s;
    }
}

void row_minima(int n, int m, const int a[n][m], int low[n], int high[n]) {
    for (int i = 0; i < n; i++) {
        low[i] = a[i][0];
        high[i] = a[i][0];
        for (int j = m - 1; j >= 1; j--) {
            low[i] = a[i][j] < low[i] ? a[i][j] : low[i];
            high[i] = a[i][j] > high[i] ? a[i][j] : high[i];
        }
    }
}

void column_sums_backwards(int n, int m, const int a[n][m], int s[m]) {
    for (int j = 0; j < m; j++) {
        s[j] = 0;
        for (int i = n - 1; i >= 0; i--) s[j] += a[i][j];
    }
}

void cholesky_labelled(int n, float a[n][n]) {
columns:
    for (int j = 0; j < n; j++) {
    rows:
        for (int i = j; i < n; i++) {
            float s = i == j ? a[i][i] * a[i][i] + 100.0f : a[i][j];
            for (int k = 0; k < j; k++) s -= a[i][k] * a[j][k] * 0.001f;
            if (i == j)
                a[i][i] = sqrtf(s > 1.0f ? s : 1.0f);
            else
                a[i][j] = s / a[j][j];
        }
    }
}

// Many values live at once: more than one element's registers hold.
void eight_moments(int n, const float x[n], const float w[n], float m[16]) {
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f, s4 = 0.0f, s5 = 0.0f, s6 = 0.0f, s7 = 0.0f;
    float t0 = 0.0f, t1 = 0.0f, t2 = 0.0f, t3 = 0.0f, t4 = 0.0f, t5 = 0.0f, t6 = 0.0f, t7 = 0.0f;
    for (int i = 0; i < n; i++) {
        float v = x[i], u = w[i];
        s0 += u;
        s1 += u * v;
        s2 += u * v * v;
        s3 += u * v * v * v;
        s4 += v;
        s5 += v * v;
        s6 += v * v * v;
        s7 += v * v * v * v;
        t0 += u * u;
        t1 += u * u * v;
        t2 += u * u * v * v;
        t3 += u * u * u;
        t4 += u * u * u * v;
        t5 += u * u * u * u;
        t6 += u - v;
        t7 += (u - v) * (u - v);
    }
    m[0] = s0, m[1] = s1, m[2] = s2, m[3] = s3, m[4] = s4, m[5] = s5, m[6] = s6, m[7] = s7;
    m[8] = t0, m[9] = t1, m[10] = t2, m[11] = t3, m[12] = t4, m[13] = t5, m[14] = t6, m[15] = t7;
}

void polynomials(int n, const float x[n], float p[n][12]) {
    for (int i = 0; i < n; i++) {
        float a = x[i];
        float b = 2.0f * a * a - 1.0f, c = 2.0f * a * b - a, d = 2.0f * a * c - b, e = 2.0f * a * d - c;
        float f = 2.0f * a * e - d, g = 2.0f * a * f - e, h = 2.0f * a * g - f, k = 2.0f * a * h - g;
        p[i][0] = a + k;
        p[i][1] = b + h;
        p[i][2] = c + g;
        p[i][3] = d + f;
        p[i][4] = e * e;
        p[i][5] = a * k;
        p[i][6] = b * h;
        p[i][7] = c * g;
        p[i][8] = d * f;
        p[i][9] = a - k;
        p[i][10] = b - h;
        p[i][11] = c - g;
    }
}
