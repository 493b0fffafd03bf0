// SPDX-License-Identifier: Apache-2.0
// The counters of the math thread, which say where in Dst a kernel works.
#ifndef POLYLOOM_CKERNEL_CMATH_COMMON_H
#define POLYLOOM_CKERNEL_CMATH_COMMON_H

#include "ckernel.h"
#include "ckernel_defs.h"

namespace ckernel::math {

constexpr std::uint32_t replay_buf_offset = 16;

inline void reset_counters(std::uint32_t which) { TTI_SETRWC(p_setrwc::CLR_NONE, 0, 0, 0, 0, which); }
template <std::uint32_t WHICH>
inline void _reset_counters_() {
    TTI_SETRWC(p_setrwc::CLR_NONE, 0, 0, 0, 0, WHICH);
}
inline void incr_counters(std::uint32_t a, std::uint32_t b, std::uint32_t d, std::uint32_t cr) { TT_INCRWC(cr, d, b, a); }
inline void clear_dst_reg_addr() { TTI_SETRWC(p_setrwc::CLR_NONE, 0, 0, 0, 0, p_setrwc::SET_D); }
inline void set_addr_mod_base() { TTI_SETC16(ADDR_MOD_SET_Base_ADDR32, 1); }
inline void clear_addr_mod_base() { TTI_SETC16(ADDR_MOD_SET_Base_ADDR32, 0); }
template <std::uint32_t ROWS = 8>
inline void inc_dst_addr() {
    static_assert(ROWS <= 15, "at most 15 rows at once");
    TTI_SETRWC(p_setrwc::CLR_NONE, p_setrwc::CR_D, ROWS, 0, 0, p_setrwc::SET_D);
}

}  // namespace ckernel::math

namespace ckernel {
// The kernel has all of Dst.
inline std::uint32_t get_dest_buffer_base() { return 0; }
}  // namespace ckernel

using namespace ckernel;

#endif
