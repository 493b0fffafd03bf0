/* SPDX-License-Identifier: Apache-2.0 */
struct port { volatile int ready; };
void f(int n, const struct port *S, int A[n]) {
  for (int i = 0; i < n; i++) A[i] = S->ready;
}
