// SPDX-License-Identifier: Apache-2.0
// Address modes: what an access adds to the counters of its thread.
#ifndef POLYLOOM_CKERNEL_CKERNEL_ADDRMOD_H
#define POLYLOOM_CKERNEL_CKERNEL_ADDRMOD_H

#include <cstdint>

#include "ckernel_ops.h"
#include "tensix_config.h"

namespace ckernel {

constexpr std::uint8_t ADDR_MOD_0 = 0, ADDR_MOD_1 = 1, ADDR_MOD_2 = 2, ADDR_MOD_3 = 3, ADDR_MOD_4 = 4, ADDR_MOD_5 = 5,
                       ADDR_MOD_6 = 6, ADDR_MOD_7 = 7;

struct addr_mod_t {
    struct addr_mod_src_t {
        std::uint8_t incr = 0, clr = 0, cr = 0;
        constexpr std::uint32_t val() const { return (incr & 63) | ((cr & 1) << 6) | ((clr & 1) << 7); }
    };
    struct addr_mod_dest_t {
        std::int16_t incr = 0;
        std::uint8_t clr = 0, cr = 0, c_to_cr = 0;
        constexpr std::uint32_t val() const {
            return (incr & 1023) | ((cr & 1) << 10) | ((clr & 1) << 11) | ((c_to_cr & 1) << 12);
        }
    };
    struct addr_mod_fidelity_t {
        std::uint8_t incr = 0, clr = 0;
        constexpr std::uint32_t val() const { return (incr & 3) | ((clr & 1) << 2); }
    };
    struct addr_mod_bias_t {
        std::uint8_t incr = 0, clr = 0;
        constexpr std::uint32_t val() const { return (incr & 15) | ((clr & 1) << 4); }
    };

    addr_mod_src_t srca = {}, srcb = {};
    addr_mod_dest_t dest = {};
    addr_mod_fidelity_t fidelity = {};
    addr_mod_bias_t bias = {};
    addr_mod_src_t pack_ysrc = {}, pack_ydst = {};

    sfpi_inline void set(std::uint8_t index) const {
        TTI_SETC16(ADDR_MOD_AB_SEC0_SrcAIncr_ADDR32 + index, srca.val() | (srcb.val() << 8));
        TTI_SETC16(ADDR_MOD_DST_SEC0_DestIncr_ADDR32 + index, dest.val() | (fidelity.val() << 13));
        TTI_SETC16(ADDR_MOD_BIAS_SEC0_BiasIncr_ADDR32 + index, bias.val());
    }
};

}  // namespace ckernel

#endif
