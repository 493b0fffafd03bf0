// SPDX-License-Identifier: Apache-2.0
// The replay buffer of the thread: slots in which instructions are recorded, and from which they are issued again.
#ifndef POLYLOOM_CKERNEL_LLTT_H
#define POLYLOOM_CKERNEL_LLTT_H

#include <cstdint>

#include "ckernel_ops.h"

namespace lltt {

enum ExecBool : bool { NoExec, Exec };

template <ExecBool E = NoExec>
sfpi_inline void record(unsigned start, unsigned length) {
    TT_REPLAY(start, length, E, 1);
}
sfpi_inline void replay(unsigned start, unsigned length) { TT_REPLAY(start, length, 0, 0); }
sfpi_inline constexpr std::uint32_t replay_insn(unsigned start, unsigned length) {
    return TT_OP_REPLAY(start, length, 0, 0);
}

}  // namespace lltt

#endif
