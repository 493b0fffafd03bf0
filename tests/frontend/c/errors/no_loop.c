/* SPDX-License-Identifier: Apache-2.0 */
float *identity(float *x) { return x; }
int main(void) { for (int i = 0; i < 3; i++) identity(0); return 0; }
