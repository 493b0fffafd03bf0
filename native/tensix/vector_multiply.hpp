// SPDX-License-Identifier: Apache-2.0
// The multiplier of the vector unit: x·y + z with one rounding, partially fused, denormals flushed (facts §1.2.2).
#pragma once

#include "tensix/state.hpp"

namespace polyloom::tensix::vector {

// All lanes of x·y + z in the member's arithmetic. The widest code that the host executes is chosen at run time.
void multiply_add(Member member, const Lanes& x, const Lanes& y, const Lanes& z, Lanes& result);

}  // namespace polyloom::tensix::vector
