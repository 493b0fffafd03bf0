// SPDX-License-Identifier: Apache-2.0
// The sum of an array by 32 minions: each adds its share in eight lanes, the partial sums travel down the tree of
// minions by tensor_reduce, and the total goes back up to all of them.
#include <minion.h>

enum { MINIONS = 32, SHARE = 64, HEIGHTS = 5 };

float in[MINIONS * SHARE];
_Alignas(64) float totals[MINIONS][16];  // a line each: a minion owns the lines that it writes

static et_f32x8 sum_lanes(et_f32x8 x) {
    x = et_fadd_ps(x, et_fswizz_ps(x, 0x4e));  // lanes 2, 3, 0, 1 of each half
    x = et_fadd_ps(x, et_fswizz_ps(x, 0xb1));  // lanes 1, 0, 3, 2
    // The halves meet in scalar registers: swizzles stay within a half.
    return et_fadd_ps(et_fbcx_ps(et_fmvz_x_ps(x, 0)), et_fbcx_ps(et_fmvz_x_ps(x, 4)));
}

int main(void) {
    const unsigned minion = get_minion_id();
    et_f32x8 sum = et_set_f32x8(0);
    for (int k = 0; k < SHARE; k += 8) sum = et_fadd_ps(sum, et_load_f32x8(&in[minion * SHARE + k]));
    for (unsigned height = 0; height < HEIGHTS; height++)
        sum = et_reduce_f32x8(sum, TENSOR_REDUCE_OP_FADD, height, ET_REDUCE);
    for (unsigned height = HEIGHTS; height-- > 0;)
        sum = et_reduce_f32x8(sum, TENSOR_REDUCE_OP_FGET, height, ET_BROADCAST);
    et_store_f32x8(totals[minion], sum_lanes(sum));
    return 0;
}
