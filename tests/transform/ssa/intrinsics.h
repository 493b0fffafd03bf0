/* SPDX-License-Identifier: Apache-2.0 */
struct vec_s;
struct mask_s;
typedef __attribute__((address_space(1))) struct vec_s *vec;
typedef __attribute__((address_space(2))) struct mask_s *mask;
struct pair {
  vec low, high;
};
#ifdef __cplusplus
extern "C" {
#endif
vec row(int number);
void put(vec value, int number);
vec add(vec a, vec b);
mask less(vec a, vec b);
vec merge(mask m, vec a, vec b);
struct pair swap(vec a, vec b);
void tick(void);
void fill(int *out, int value);
int look(const int *in);
#ifdef __cplusplus
}
#endif
#define TWICE(x) add(x, x)
static inline vec thrice(vec x) {
  return add(
      x, TWICE(x));
}
