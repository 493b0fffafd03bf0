// SPDX-License-Identifier: Apache-2.0
// Until packed.cpp is there.
#include "core.hpp"

namespace polyloom::minion {

__attribute__((weak)) void add_packed(std::vector<riscv::Custom<Timed>>&, Needs&, const Latencies&) {}
__attribute__((weak)) void add_packed(std::vector<riscv::Custom<Functional>>&, Needs&, const Latencies&) {}

}  // namespace polyloom::minion
