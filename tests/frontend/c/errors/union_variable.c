/* SPDX-License-Identifier: Apache-2.0 */
union bits { int i; float f; };
void f(int n, int A[n], const float B[n]) {
  for (int i = 0; i < n; i++) {
    union bits u;
    u.f = B[i];
    A[i] = u.i;
  }
}
