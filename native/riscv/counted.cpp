// SPDX-License-Identifier: Apache-2.0
// The harts that count executions, in a unit of their own: each kind of hart takes a compiler as long as all others.
#include "execute.hpp"
#include "paced.hpp"

namespace polyloom::riscv {

template struct Code<Counted32>;
template struct Code<Counted64>;
template struct Hart<Counted32>;
template struct Hart<Counted64>;

}  // namespace polyloom::riscv
