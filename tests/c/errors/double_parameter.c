/* SPDX-License-Identifier: Apache-2.0 */
#define DATA_TYPE double
void kernel_scale(int n, DATA_TYPE factor, float A[n]) {
  for (int i = 0; i < n; i++) A[i] *= 2.0f;
}
