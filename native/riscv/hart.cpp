// SPDX-License-Identifier: Apache-2.0
// The harts that the package itself needs: a static program of Linux in one memory, at both widths.
#include "execute.hpp"

#include <bit>

namespace polyloom::riscv {

static_assert(std::endian::native == std::endian::little, "memory is read and written as the host has it");

template struct Code<Plain32>;
template struct Code<Plain64>;
template struct Hart<Plain32>;
template struct Hart<Plain64>;

}  // namespace polyloom::riscv
