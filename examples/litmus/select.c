// SPDX-License-Identifier: Apache-2.0
// A condition that is read from memory, and a later access: does what compilers make of it keep the order? docs/memory-model.md

int store(volatile int *x, volatile int *y) {
  int r = *x;
  int t = r ? 7 : 0;
  *y = 1;
  return t;
}

int store_selected(volatile int *x, volatile int *y) {
  int r = *x;
  *y = r ? 7 : 3;
  return r;
}

int load_selected(volatile int *y, volatile int *x, volatile int *z) {
  int r = *y;
  return *(r ? x : z);
}
