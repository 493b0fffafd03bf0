/* SPDX-License-Identifier: Apache-2.0 */
/* A filter as a signal library has it: what belongs to one filter is in a structure. `timed` measures it. */
#include <stdio.h>
#include <time.h>

struct stage { float gain; };

struct filter {
  unsigned taps;
  float *state;
  const float *coefficients;
  struct stage output;
  int runs;
};

static float dot(const float *a, const float *b, unsigned n) {
  float sum = 0.0f;
  for (unsigned k = 0; k < n; k++) sum += *a++ * *b++;
  return sum;
}

void filter_run(struct filter *S, const float in[], float out[], unsigned n) {
  for (unsigned i = 0; i < n; i++) S->state[S->taps - 1U + i] = in[i];
  for (unsigned i = 0; i < n; i++) out[i] = S->output.gain * dot(S->state + i, S->coefficients, S->taps);
  S->runs = S->runs + 1;
}

float samples[16], scaled[16];

void timed(float factor) {
  clock_t start = clock();
  for (int turn = 0; turn < 1000; turn++)
    for (int i = 0; i < 16; i++) scaled[i] = samples[i] * factor;
  printf("%f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
}
