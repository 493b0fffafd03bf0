/* SPDX-License-Identifier: Apache-2.0 */
/* Stage of a radix-2 complex FFT, decimation in time, in place: in each group the lower half is turned by the twiddle factors,
   then added to the upper half and subtracted from it. Real and imaginary parts alternate, as libraries have them. */

void fft_stage(int groups, int half, const float twiddle[half][2], float data[groups][2][half][2]) {
  for (int g = 0; g < groups; g++)
    for (int k = 0; k < half; k++) {
      float real = data[g][1][k][0] * twiddle[k][0] - data[g][1][k][1] * twiddle[k][1];
      float imaginary = data[g][1][k][0] * twiddle[k][1] + data[g][1][k][1] * twiddle[k][0];
      data[g][1][k][0] = data[g][0][k][0] - real;
      data[g][1][k][1] = data[g][0][k][1] - imaginary;
      data[g][0][k][0] = data[g][0][k][0] + real;
      data[g][0][k][1] = data[g][0][k][1] + imaginary;
    }
}
