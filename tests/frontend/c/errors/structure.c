/* SPDX-License-Identifier: Apache-2.0 */
struct pair { int a, b; };
void f(int n, struct pair A[n]) {
  for (int i = 0; i < n; i++) A[i].a = 0;
}
