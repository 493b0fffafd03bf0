// SPDX-License-Identifier: Apache-2.0
// Sums, products and fused ones of all lanes at once with AVX2 and FMA, where the host's results and flags are the
// machine's: to nearest, no subnormals on either side, neither infinities nor NaNs. packed.hpp does the rest by lanes.
#pragma once

#include <cstdint>

namespace polyloom::minion::packed {

enum class Wide : uint8_t { add, sub, mul, fma };

// Whether all lanes of `on` could be done; then `to` has them, other lanes anything, and `flags` has what they raise.
// `to` may be none of the operands. Where NX is known to be set already, less has to be found out.
bool wide(Wide operation, uint8_t on, bool nx_is_set, const uint32_t* a, const uint32_t* b, const uint32_t* c,
          uint32_t* to, uint32_t& flags);

}  // namespace polyloom::minion::packed
