// SPDX-License-Identifier: Apache-2.0
// Loops in the manner of suites for high-level synthesis: labelled loops, flattened arrays, running offsets, blocking.
#include <stddef.h>
#include <stdint.h>

void scale_labelled(int n, const int a[n], int b[n]) {
scale_loop:
    for (int i = 0; i < n; i++) {
        b[i] = 3 * a[i] + 1;
    }
}

// Offsets of rows are kept in variables that are assigned in the loop around.
void gemm_offsets(int row_size, const int m1[row_size * row_size], const int m2[row_size * row_size],
                  int prod[row_size * row_size]) {
    int i, j, k, k_col, i_col, mult;
outer:
    for (i = 0; i < row_size; i++) {
    middle:
        for (j = 0; j < row_size; j++) {
            i_col = i * row_size;
            int sum = 0;
        inner:
            for (k = 0; k < row_size; k++) {
                k_col = k * row_size;
                mult = m1[i_col + k] * m2[k_col + j];
                sum += mult;
            }
            prod[i_col + j] = sum;
        }
    }
}

#define SIZE 8
#define BLOCK 4

void gemm_blocked(const int m1[SIZE * SIZE], const int m2[SIZE * SIZE], int prod[SIZE * SIZE]) {
    int i, k, j, jj, kk, i_row, k_row, temp_x, mul;
    for (i = 0; i < SIZE * SIZE; i++) prod[i] = 0;
loopjj:
    for (jj = 0; jj < SIZE; jj += BLOCK) {
    loopkk:
        for (kk = 0; kk < SIZE; kk += BLOCK) {
        loopi:
            for (i = 0; i < SIZE; ++i) {
            loopk:
                for (k = 0; k < BLOCK; ++k) {
                    i_row = i * SIZE;
                    k_row = (k + kk) * SIZE;
                    temp_x = m1[i_row + k + kk];
                loopj:
                    for (j = 0; j < BLOCK; ++j) {
                        mul = temp_x * m2[k_row + j + jj];
                        prod[i_row + j + jj] += mul;
                    }
                }
            }
        }
    }
}

#define ROWS 8
#define COLS 8

void stencil2d_flat(const int orig[ROWS * COLS], int sol[ROWS * COLS], const int filter[9]) {
    int r, c, k1, k2, temp, mul;
stencil_label1:
    for (r = 0; r < ROWS - 2; r++) {
    stencil_label2:
        for (c = 0; c < COLS - 2; c++) {
            temp = 0;
        stencil_label3:
            for (k1 = 0; k1 < 3; k1++) {
            stencil_label4:
                for (k2 = 0; k2 < 3; k2++) {
                    mul = filter[k1 * 3 + k2] * orig[(r + k1) * COLS + c + k2];
                    temp += mul;
                }
            }
            sol[r * COLS + c] = temp;
        }
    }
}

#define INDX(row, col, i, j, k) ((i) + (row) * ((j) + (col) * (k)))

void stencil3d_flat(int c0, int c1, const int orig[4 * 5 * 6], int sol[4 * 5 * 6]) {
    for (int k = 1; k < 6 - 1; k++)
        for (int j = 1; j < 5 - 1; j++)
            for (int i = 1; i < 4 - 1; i++) {
                int sum0 = orig[INDX(4, 5, i, j, k)];
                int sum1 = orig[INDX(4, 5, i, j, k + 1)] + orig[INDX(4, 5, i, j, k - 1)] +
                           orig[INDX(4, 5, i, j + 1, k)] + orig[INDX(4, 5, i, j - 1, k)] +
                           orig[INDX(4, 5, i + 1, j, k)] + orig[INDX(4, 5, i - 1, j, k)];
                sol[INDX(4, 5, i, j, k)] = sum0 * c0 + sum1 * c1;
            }
}

// A line of registers is shifted down once per sample.
void fir_shift_register(int n, const int x[n], const int taps[5], int y[n]) {
    int shift_reg[5];
    for (int i = 0; i < 5; i++) shift_reg[i] = 0;
    for (int s = 0; s < n; s++) {
        int acc = 0;
    shift_accum:
        for (int i = 5 - 1; i > 0; i--) {
            shift_reg[i] = shift_reg[i - 1];
            acc += shift_reg[i] * taps[i];
        }
        acc += x[s] * taps[0];
        shift_reg[0] = x[s];
        y[s] = acc;
    }
}

int dot_returned(int n, const int a[n], const int b[n]) {
    int sum = 0;
dot:
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

int greatest_returned(int n, const int a[n + 1]) {
    int best = a[0];
    for (int i = 1; i <= n; ++i)
        if (a[i] > best) best = a[i];
    return best;
}

void sum_while(int n, const int a[n], int out[n]) {
    int i = 0;
    int total = 0;
    while (i < n) {
        total += a[i];
        out[i] = total;
        i++;
    }
}

void vector_add_size_t(size_t n, const float a[n], const float b[n], float c[n]) {
    for (size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void mean_of_pairs(unsigned n, const int a[2 * n], int b[n]) {
    unsigned out = 0;
    for (unsigned i = 0; i < 2 * n; i += 2) {
        b[out] = (a[i] + a[i + 1]) / 2;
        out++;
    }
}

void tail_first(long n, const int a[n], int b[n]) {
    for (long i = n - 1; i >= 0; i--) b[n - 1 - i] = a[i];
}

void copy_walking(int n, const float *src, float *dst) {
    for (int i = 0; i < n; i++) *dst++ = 0.5f * *src++;
}

void interleave_walking(int n, const int *left, const int *right, int *out) {
    for (int i = 0; i < n; i++) {
        *out++ = *left++;
        *out++ = *right++;
    }
}

static int limited(int value, int low, int high) {
    if (value < low) return low;
    if (value > high) return high;
    return value;
}

void add_limited(int n, const int a[n], const int b[n], int c[n]) {
    for (int i = 0; i < n; i++) c[i] = limited(a[i] + b[i], -100, 100);
}

static void multiply_add(int *accumulator, int a, int b) {
    *accumulator += a * b;
}

void matvec_by_helper(int n, int m, const int A[n][m], const int x[m], int y[n]) {
    for (int i = 0; i < n; i++) {
        int acc = 0;
        for (int j = 0; j < m; j++) multiply_add(&acc, A[i][j], x[j]);
        y[i] = acc;
    }
}

void skip_margins(int n, const int a[n], int b[n]) {
    for (int i = 0; i < n; i++) {
        b[i] = 0;
        if (i < 2 || i >= n - 2) continue;
        b[i] = a[i - 2] + a[i] + a[i + 2];
    }
}

// Where an entry goes depends on the data: no loop machine can place it beforehand.
void histogram_of_data(int n, const int a[n], int bins[16]) {
    for (int i = 0; i < n; i++) bins[a[i] & 15] += 1;
}
