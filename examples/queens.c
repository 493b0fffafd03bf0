/* SPDX-License-Identifier: Apache-2.0 */
/* How many ways there are to put n queens on a board of n rows so that none attacks another: row by row, by recursion. */
static int place(int n, int row, unsigned columns, unsigned rising, unsigned falling) {
  int count = 0;
  if (row == n) return 1;
  for (int k = 0; k < n; k++) {
    unsigned column = 1u << k, up = 1u << (row + k), down = 1u << (row - k + n);
    if (!(columns & column || rising & up || falling & down)) count += place(n, row + 1, columns | column, rising | up, falling | down);
  }
  return count;
}

int queens(int n) { return place(n, 0, 0, 0, 0); }
