/* SPDX-License-Identifier: Apache-2.0 */
/* Finite differences in the time domain: the fields ex, ey and hz in the plane, driven by fict at one border. */
#include <stdio.h>

#include "kernels.h"

static void kernel_fdtd2d(int tmax, int nx, int ny, DATA_TYPE POLYBENCH_2D(ex, NX, NY, nx, ny),
                          DATA_TYPE POLYBENCH_2D(ey, NX, NY, nx, ny), DATA_TYPE POLYBENCH_2D(hz, NX, NY, nx, ny),
                          DATA_TYPE POLYBENCH_1D(fict, TMAX, tmax)) {
  int t, i, j;
  ASSUME(nx >= 1);
#pragma scop
  for (t = 0; t < _PB_TMAX; t++) {
    for (j = 0; j < _PB_NY; j++)
      ey[0][j] = fict[t];
    for (i = 1; i < _PB_NX; i++)
      for (j = 0; j < _PB_NY; j++)
        ey[i][j] = ey[i][j] - SCALAR_VAL(0.5) * (hz[i][j] - hz[i - 1][j]);
    for (i = 0; i < _PB_NX; i++)
      for (j = 1; j < _PB_NY; j++)
        ex[i][j] = ex[i][j] - SCALAR_VAL(0.5) * (hz[i][j] - hz[i][j - 1]);
    for (i = 0; i < _PB_NX - 1; i++)
      for (j = 0; j < _PB_NY - 1; j++)
        hz[i][j] = hz[i][j] - SCALAR_VAL(0.7) * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
#pragma endscop
}

int main(void) {
  int tmax = 20, nx = 20, ny = 30;
  DATA_TYPE POLYBENCH_2D(ex, NX, NY, nx, ny), POLYBENCH_2D(ey, NX, NY, nx, ny), POLYBENCH_2D(hz, NX, NY, nx, ny),
           POLYBENCH_1D(fict, TMAX, tmax);
  FILL(ex);
  FILL(ey);
  FILL(hz);
  FILL(fict);
  kernel_fdtd2d(tmax, nx, ny, ex, ey, hz, fict);
  PRINT(hz);
  return 0;
}
