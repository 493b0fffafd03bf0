// SPDX-License-Identifier: Apache-2.0
// Dynamic programs: tables that are filled along diagonals, steps that need all of the step before.
#include <stdint.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void shortest_paths(int n, int d[n][n]) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) d[i][j] = MIN(d[i][j], d[i][k] + d[k][j]);
}

void reachable(int n, _Bool r[n][n]) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) r[i][j] = r[i][j] || (r[i][k] && r[k][j]);
}

void edit_distance(int n, int m, const int8_t a[n], const int8_t b[m], int d[n + 1][m + 1]) {
    for (int i = 0; i <= n; i++) d[i][0] = i;
    for (int j = 0; j <= m; j++) d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int cost = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = MIN(MIN(d[i - 1][j] + 1, d[i][j - 1] + 1), d[i - 1][j - 1] + cost);
        }
}

void viterbi(int t, int s, const int start[s], const int move[s][s], const int emit[t][s], int cost[t][s]) {
    for (int j = 0; j < s; j++) cost[0][j] = start[j] + emit[0][j];
    for (int k = 1; k < t; k++)
        for (int j = 0; j < s; j++) {
            int best = cost[k - 1][0] + move[0][j];
            for (int i = 1; i < s; i++) {
                int c = cost[k - 1][i] + move[i][j];
                if (c < best) best = c;
            }
            cost[k][j] = best + emit[k][j];
        }
}

void matrix_chain(int n, const int p[n + 1], int m[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) m[i][j] = 0;
    for (int length = 1; length < n; length++)
        for (int i = 0; i < n - length; i++) {
            int best = 1 << 28;
            for (int k = i; k < i + length; k++) {
                int c = m[i][k] + m[k + 1][i + length] + p[i] * p[k + 1] * p[i + length + 1];
                best = c < best ? c : best;
            }
            m[i][i + length] = best;
        }
}

void longest_increasing_paths(int h, int w, const int x[h][w], int best[h][w]) {
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            int v = 1;
            if (i > 0 && x[i - 1][j] < x[i][j]) v = MAX(v, best[i - 1][j] + 1);
            if (j > 0 && x[i][j - 1] < x[i][j]) v = MAX(v, best[i][j - 1] + 1);
            best[i][j] = v;
        }
}

void warping(int n, int m, const int a[n], const int b[m], int d[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int cost = a[i] - b[j];
            if (cost < 0) cost = -cost;
            if (i == 0 && j == 0)
                d[i][j] = cost;
            else if (i == 0)
                d[i][j] = cost + d[i][j - 1];
            else if (j == 0)
                d[i][j] = cost + d[i - 1][j];
            else
                d[i][j] = cost + MIN(d[i - 1][j - 1], MIN(d[i - 1][j], d[i][j - 1]));
        }
}

void seam_costs(int h, int w, const int e[h][w], int c[h][w]) {
    for (int j = 0; j < w; j++) c[0][j] = e[0][j];
    for (int i = 1; i < h; i++)
        for (int j = 0; j < w; j++) {
            int best = c[i - 1][j];
            best = MIN(best, c[i - 1][MAX(j - 1, 0)]);
            best = MIN(best, c[i - 1][MIN(j + 1, w - 1)]);
            c[i][j] = best + e[i][j];
        }
}

void pascal_mod(int n, uint32_t c[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            if (j == 0 || j == i)
                c[i][j] = 1;
            else
                c[i][j] = (c[i - 1][j - 1] + c[i - 1][j]) % 10007u;
        }
}

void life_step(int h, int w, int steps, uint8_t a[h][w], uint8_t b[h][w]) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < h - 1; i++)
            for (int j = 1; j < w - 1; j++) {
                int s = a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j - 1] +
                        a[i + 1][j] + a[i + 1][j + 1];
                b[i][j] = s == 3 || (s == 2 && a[i][j]);
            }
        for (int i = 1; i < h - 1; i++)
            for (int j = 1; j < w - 1; j++) a[i][j] = b[i][j];
    }
}

void rod_cutting(int n, const int price[n + 1], int best[n + 1]) {
    best[0] = 0;
    for (int j = 1; j <= n; j++) {
        int q = price[j];
        for (int i = 1; i < j; i++) q = MAX(q, price[i] + best[j - i]);
        best[j] = q;
    }
}

// The index of the weight depends on data: refused, and it says so.
void knapsack_by_weight(int n, int c, const int weight[n], const int value[n], int best[n + 1][c + 1]) {
    for (int j = 0; j <= c; j++) best[0][j] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= c; j++)
            best[i + 1][j] = j >= weight[i] ? MAX(best[i][j], best[i][j - weight[i]] + value[i]) : best[i][j];
}
