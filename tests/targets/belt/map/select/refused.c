/* SPDX-License-Identifier: Apache-2.0 */
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int entered(int n, int *a) {
  int i = 0;
  if (n > 3) goto inside;
  while (i < n) {
    a[i] = i;
  inside:
    i += a[i] + 1;
  }
  return i;
}
int growing(int n, int *a) {
  int b[n];
  for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];
  for (int i = 0; i < n; i++) a[i] += b[i];
  return b[n / 2];
}
