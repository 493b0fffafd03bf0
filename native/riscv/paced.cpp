// SPDX-License-Identifier: Apache-2.0
// The harts that count, in a unit of their own: they are compiled beside those that do not.
#include "paced.hpp"

#include "execute.hpp"

namespace polyloom::riscv {

template struct Code<Paced32>;
template struct Code<Paced64>;
template struct Hart<Paced32>;
template struct Hart<Paced64>;

}  // namespace polyloom::riscv
