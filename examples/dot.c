/* SPDX-License-Identifier: Apache-2.0 */
/* A dot product: polyloom run examples/dot.c n=1000 --on riscv:rv64gc_zicond */
int dot(int n, const int a[n], const int b[n]) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}
