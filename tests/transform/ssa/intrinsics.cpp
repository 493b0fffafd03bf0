/* SPDX-License-Identifier: Apache-2.0 */
#include "intrinsics.h"

namespace lanes {
struct Vec {
  vec handle;
  Vec() = default;
  Vec(vec h) : handle(h) {}
  Vec operator+(Vec other) const { return add(handle, other.handle); }
};

template <int N, bool doubled> void total() {
  Vec sum = row(0);
#pragma GCC unroll 4
  for (int i = 1; i < N; i++) {
    Vec x = row(i);
    if constexpr (doubled)
      x = x + x;
    sum = sum + x;
  }
  put(thrice(sum.handle), 0);
}
} // namespace lanes
