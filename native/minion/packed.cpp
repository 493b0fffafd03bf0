// SPDX-License-Identifier: Apache-2.0
#include "packed_rows.hpp"

namespace polyloom::minion {

void add_packed(riscv::Code<Timed>& code, Needs& needs, const Latencies& latencies) {
    packed::add_rows(code, needs, latencies);
}
void add_packed(riscv::Code<Functional>& code, Needs& needs, const Latencies& latencies) {
    packed::add_rows(code, needs, latencies);
}

}  // namespace polyloom::minion
