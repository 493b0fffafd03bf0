// SPDX-License-Identifier: Apache-2.0
// The instructions of a Blackhole tile, made of the instruction table: do not edit.
#ifndef POLYLOOM_TENSIX_BLACKHOLE_H
#define POLYLOOM_TENSIX_BLACKHOLE_H

#include "tensix.h"

#define TT_OP_MOP(mop_type, loop_count, zmask_lo16) \
    (0x01000000u | \
    TENSIX_FIELD(mop_type, 23, 1) | \
    TENSIX_FIELD(loop_count, 16, 7) | \
    TENSIX_FIELD(zmask_lo16, 0, 16))
#define TT_MOP(mop_type, loop_count, zmask_lo16) TENSIX_PUSH(TT_OP_MOP(mop_type, loop_count, zmask_lo16))
#define TTI_MOP(mop_type, loop_count, zmask_lo16) TENSIX_INLINE(TT_OP_MOP(mop_type, loop_count, zmask_lo16))

#define TT_OP_NOP() \
    (0x02000000u)
#define TT_NOP() TENSIX_PUSH(TT_OP_NOP())
#define TTI_NOP() TENSIX_INLINE(TT_OP_NOP())

#define TT_OP_MOP_CFG(zmask_hi16) \
    (0x03000000u | \
    TENSIX_FIELD(zmask_hi16, 0, 24))
#define TT_MOP_CFG(zmask_hi16) TENSIX_PUSH(TT_OP_MOP_CFG(zmask_hi16))
#define TTI_MOP_CFG(zmask_hi16) TENSIX_INLINE(TT_OP_MOP_CFG(zmask_hi16))

#define TT_OP_REPLAY(start_idx, len, execute_while_loading, load_mode) \
    (0x04000000u | \
    TENSIX_FIELD(start_idx, 14, 10) | \
    TENSIX_FIELD(len, 4, 10) | \
    TENSIX_FIELD(execute_while_loading, 1, 3) | \
    TENSIX_FIELD(load_mode, 0, 1))
#define TT_REPLAY(start_idx, len, execute_while_loading, load_mode) TENSIX_PUSH(TT_OP_REPLAY(start_idx, len, execute_while_loading, load_mode))
#define TTI_REPLAY(start_idx, len, execute_while_loading, load_mode) TENSIX_INLINE(TT_OP_REPLAY(start_idx, len, execute_while_loading, load_mode))

#define TT_OP_RESOURCEDECL(reserved, linger_time, resources, op_class) \
    (0x05000000u | \
    TENSIX_FIELD(reserved, 17, 7) | \
    TENSIX_FIELD(linger_time, 13, 4) | \
    TENSIX_FIELD(resources, 4, 9) | \
    TENSIX_FIELD(op_class, 0, 4))
#define TT_RESOURCEDECL(reserved, linger_time, resources, op_class) TENSIX_PUSH(TT_OP_RESOURCEDECL(reserved, linger_time, resources, op_class))
#define TTI_RESOURCEDECL(reserved, linger_time, resources, op_class) TENSIX_INLINE(TT_OP_RESOURCEDECL(reserved, linger_time, resources, op_class))

#define TT_OP_MOVD2A(dest_32b_lo, src, addr_mode, instr_mod, dst) \
    (0x08000000u | \
    TENSIX_FIELD(dest_32b_lo, 23, 1) | \
    TENSIX_FIELD(src, 17, 6) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(instr_mod, 11, 3) | \
    TENSIX_FIELD(dst, 0, 11))
#define TT_MOVD2A(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_PUSH(TT_OP_MOVD2A(dest_32b_lo, src, addr_mode, instr_mod, dst))
#define TTI_MOVD2A(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_INLINE(TT_OP_MOVD2A(dest_32b_lo, src, addr_mode, instr_mod, dst))

#define TT_OP_MOVDBGA2D(dest_32b_lo, src, addr_mode, instr_mod, dst) \
    (0x09000000u | \
    TENSIX_FIELD(dest_32b_lo, 23, 1) | \
    TENSIX_FIELD(src, 17, 6) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(instr_mod, 11, 3) | \
    TENSIX_FIELD(dst, 0, 11))
#define TT_MOVDBGA2D(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_PUSH(TT_OP_MOVDBGA2D(dest_32b_lo, src, addr_mode, instr_mod, dst))
#define TTI_MOVDBGA2D(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_INLINE(TT_OP_MOVDBGA2D(dest_32b_lo, src, addr_mode, instr_mod, dst))

#define TT_OP_MOVD2B(dest_32b_lo, src, addr_mode, instr_mod, dst) \
    (0x0a000000u | \
    TENSIX_FIELD(dest_32b_lo, 23, 1) | \
    TENSIX_FIELD(src, 17, 6) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(instr_mod, 11, 3) | \
    TENSIX_FIELD(dst, 0, 11))
#define TT_MOVD2B(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_PUSH(TT_OP_MOVD2B(dest_32b_lo, src, addr_mode, instr_mod, dst))
#define TTI_MOVD2B(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_INLINE(TT_OP_MOVD2B(dest_32b_lo, src, addr_mode, instr_mod, dst))

#define TT_OP_MOVB2A(srca, addr_mode, instr_mod, srcb) \
    (0x0b000000u | \
    TENSIX_FIELD(srca, 17, 7) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(instr_mod, 11, 3) | \
    TENSIX_FIELD(srcb, 0, 11))
#define TT_MOVB2A(srca, addr_mode, instr_mod, srcb) TENSIX_PUSH(TT_OP_MOVB2A(srca, addr_mode, instr_mod, srcb))
#define TTI_MOVB2A(srca, addr_mode, instr_mod, srcb) TENSIX_INLINE(TT_OP_MOVB2A(srca, addr_mode, instr_mod, srcb))

#define TT_OP_MOVDBGB2D(dest_32b_lo, src, addr_mode, movb2d_instr_mod, dst) \
    (0x0c000000u | \
    TENSIX_FIELD(dest_32b_lo, 23, 1) | \
    TENSIX_FIELD(src, 17, 6) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(movb2d_instr_mod, 11, 3) | \
    TENSIX_FIELD(dst, 0, 11))
#define TT_MOVDBGB2D(dest_32b_lo, src, addr_mode, movb2d_instr_mod, dst) TENSIX_PUSH(TT_OP_MOVDBGB2D(dest_32b_lo, src, addr_mode, movb2d_instr_mod, dst))
#define TTI_MOVDBGB2D(dest_32b_lo, src, addr_mode, movb2d_instr_mod, dst) TENSIX_INLINE(TT_OP_MOVDBGB2D(dest_32b_lo, src, addr_mode, movb2d_instr_mod, dst))

#define TT_OP_ZEROACC(clear_mode, AddrMode, dst) \
    (0x10000000u | \
    TENSIX_FIELD(clear_mode, 19, 5) | \
    TENSIX_FIELD(AddrMode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_ZEROACC(clear_mode, AddrMode, dst) TENSIX_PUSH(TT_OP_ZEROACC(clear_mode, AddrMode, dst))
#define TTI_ZEROACC(clear_mode, AddrMode, dst) TENSIX_INLINE(TT_OP_ZEROACC(clear_mode, AddrMode, dst))

#define TT_OP_ZEROSRC(zero_val, write_mode, bank_mask, src_mask) \
    (0x11000000u | \
    TENSIX_FIELD(zero_val, 4, 20) | \
    TENSIX_FIELD(write_mode, 3, 1) | \
    TENSIX_FIELD(bank_mask, 2, 1) | \
    TENSIX_FIELD(src_mask, 0, 2))
#define TT_ZEROSRC(zero_val, write_mode, bank_mask, src_mask) TENSIX_PUSH(TT_OP_ZEROSRC(zero_val, write_mode, bank_mask, src_mask))
#define TTI_ZEROSRC(zero_val, write_mode, bank_mask, src_mask) TENSIX_INLINE(TT_OP_ZEROSRC(zero_val, write_mode, bank_mask, src_mask))

#define TT_OP_MOVA2D(dest_32b_lo, src, addr_mode, instr_mod, dst) \
    (0x12000000u | \
    TENSIX_FIELD(dest_32b_lo, 23, 1) | \
    TENSIX_FIELD(src, 17, 6) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(instr_mod, 11, 3) | \
    TENSIX_FIELD(dst, 0, 11))
#define TT_MOVA2D(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_PUSH(TT_OP_MOVA2D(dest_32b_lo, src, addr_mode, instr_mod, dst))
#define TTI_MOVA2D(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_INLINE(TT_OP_MOVA2D(dest_32b_lo, src, addr_mode, instr_mod, dst))

#define TT_OP_MOVB2D(dest_32b_lo, src, addr_mode, instr_mod, dst) \
    (0x13000000u | \
    TENSIX_FIELD(dest_32b_lo, 23, 1) | \
    TENSIX_FIELD(src, 17, 6) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(instr_mod, 11, 3) | \
    TENSIX_FIELD(dst, 0, 11))
#define TT_MOVB2D(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_PUSH(TT_OP_MOVB2D(dest_32b_lo, src, addr_mode, instr_mod, dst))
#define TTI_MOVB2D(dest_32b_lo, src, addr_mode, instr_mod, dst) TENSIX_INLINE(TT_OP_MOVB2D(dest_32b_lo, src, addr_mode, instr_mod, dst))

#define TT_OP_TRNSPSRCA() \
    (0x14000000u)
#define TT_TRNSPSRCA() TENSIX_PUSH(TT_OP_TRNSPSRCA())
#define TTI_TRNSPSRCA() TENSIX_INLINE(TT_OP_TRNSPSRCA())

#define TT_OP_RAREB() \
    (0x15000000u)
#define TT_RAREB() TENSIX_PUSH(TT_OP_RAREB())
#define TTI_RAREB() TENSIX_INLINE(TT_OP_RAREB())

#define TT_OP_TRNSPSRCB() \
    (0x16000000u)
#define TT_TRNSPSRCB() TENSIX_PUSH(TT_OP_TRNSPSRCB())
#define TTI_TRNSPSRCB() TENSIX_INLINE(TT_OP_TRNSPSRCB())

#define TT_OP_SHIFTXA(log2_amount2, shift_mode) \
    (0x17000000u | \
    TENSIX_FIELD(log2_amount2, 2, 22) | \
    TENSIX_FIELD(shift_mode, 0, 2))
#define TT_SHIFTXA(log2_amount2, shift_mode) TENSIX_PUSH(TT_OP_SHIFTXA(log2_amount2, shift_mode))
#define TTI_SHIFTXA(log2_amount2, shift_mode) TENSIX_INLINE(TT_OP_SHIFTXA(log2_amount2, shift_mode))

#define TT_OP_SHIFTXB(addr_mode, rot_shift, shift_row) \
    (0x18000000u | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(rot_shift, 10, 4) | \
    TENSIX_FIELD(shift_row, 0, 10))
#define TT_SHIFTXB(addr_mode, rot_shift, shift_row) TENSIX_PUSH(TT_OP_SHIFTXB(addr_mode, rot_shift, shift_row))
#define TTI_SHIFTXB(addr_mode, rot_shift, shift_row) TENSIX_INLINE(TT_OP_SHIFTXB(addr_mode, rot_shift, shift_row))

#define TT_OP_SETASHRMH0(reg_mask, halo_mask) \
    (0x1a000000u | \
    TENSIX_FIELD(reg_mask, 1, 23) | \
    TENSIX_FIELD(halo_mask, 0, 1))
#define TT_SETASHRMH0(reg_mask, halo_mask) TENSIX_PUSH(TT_OP_SETASHRMH0(reg_mask, halo_mask))
#define TTI_SETASHRMH0(reg_mask, halo_mask) TENSIX_INLINE(TT_OP_SETASHRMH0(reg_mask, halo_mask))

#define TT_OP_SETASHRMH1(reg_mask, halo_mask) \
    (0x1b000000u | \
    TENSIX_FIELD(reg_mask, 1, 23) | \
    TENSIX_FIELD(halo_mask, 0, 1))
#define TT_SETASHRMH1(reg_mask, halo_mask) TENSIX_PUSH(TT_OP_SETASHRMH1(reg_mask, halo_mask))
#define TTI_SETASHRMH1(reg_mask, halo_mask) TENSIX_INLINE(TT_OP_SETASHRMH1(reg_mask, halo_mask))

#define TT_OP_SETASHRMV(reg_mask2) \
    (0x1c000000u | \
    TENSIX_FIELD(reg_mask2, 0, 24))
#define TT_SETASHRMV(reg_mask2) TENSIX_PUSH(TT_OP_SETASHRMV(reg_mask2))
#define TTI_SETASHRMV(reg_mask2) TENSIX_INLINE(TT_OP_SETASHRMV(reg_mask2))

#define TT_OP_SETPKEDGOF(y_end, y_start, x_end, x_start) \
    (0x1d000000u | \
    TENSIX_FIELD(y_end, 12, 12) | \
    TENSIX_FIELD(y_start, 8, 4) | \
    TENSIX_FIELD(x_end, 4, 4) | \
    TENSIX_FIELD(x_start, 0, 4))
#define TT_SETPKEDGOF(y_end, y_start, x_end, x_start) TENSIX_PUSH(TT_OP_SETPKEDGOF(y_end, y_start, x_end, x_start))
#define TTI_SETPKEDGOF(y_end, y_start, x_end, x_start) TENSIX_INLINE(TT_OP_SETPKEDGOF(y_end, y_start, x_end, x_start))

#define TT_OP_SETASHRMH(reg_mask, halo_mask) \
    (0x1e000000u | \
    TENSIX_FIELD(reg_mask, 1, 23) | \
    TENSIX_FIELD(halo_mask, 0, 1))
#define TT_SETASHRMH(reg_mask, halo_mask) TENSIX_PUSH(TT_OP_SETASHRMH(reg_mask, halo_mask))
#define TTI_SETASHRMH(reg_mask, halo_mask) TENSIX_INLINE(TT_OP_SETASHRMH(reg_mask, halo_mask))

#define TT_OP_CLREXPHIST() \
    (0x21000000u)
#define TT_CLREXPHIST() TENSIX_PUSH(TT_OP_CLREXPHIST())
#define TTI_CLREXPHIST() TENSIX_INLINE(TT_OP_CLREXPHIST())

#define TT_OP_CONV3S1(clear_dvalid, rotate_weights, addr_mode, dst) \
    (0x22000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(rotate_weights, 17, 5) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_CONV3S1(clear_dvalid, rotate_weights, addr_mode, dst) TENSIX_PUSH(TT_OP_CONV3S1(clear_dvalid, rotate_weights, addr_mode, dst))
#define TTI_CONV3S1(clear_dvalid, rotate_weights, addr_mode, dst) TENSIX_INLINE(TT_OP_CONV3S1(clear_dvalid, rotate_weights, addr_mode, dst))

#define TT_OP_CONV3S2(clear_dvalid, rotate_weights, addr_mode, dst) \
    (0x23000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(rotate_weights, 17, 5) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_CONV3S2(clear_dvalid, rotate_weights, addr_mode, dst) TENSIX_PUSH(TT_OP_CONV3S2(clear_dvalid, rotate_weights, addr_mode, dst))
#define TTI_CONV3S2(clear_dvalid, rotate_weights, addr_mode, dst) TENSIX_INLINE(TT_OP_CONV3S2(clear_dvalid, rotate_weights, addr_mode, dst))

#define TT_OP_MPOOL3S1(clear_dvalid, addr_mode, index_en, dst) \
    (0x24000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(addr_mode, 15, 7) | \
    TENSIX_FIELD(index_en, 14, 1) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_MPOOL3S1(clear_dvalid, addr_mode, index_en, dst) TENSIX_PUSH(TT_OP_MPOOL3S1(clear_dvalid, addr_mode, index_en, dst))
#define TTI_MPOOL3S1(clear_dvalid, addr_mode, index_en, dst) TENSIX_INLINE(TT_OP_MPOOL3S1(clear_dvalid, addr_mode, index_en, dst))

#define TT_OP_APOOL3S1(clear_dvalid, addr_mode, index_en, dst) \
    (0x25000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(addr_mode, 15, 7) | \
    TENSIX_FIELD(index_en, 14, 1) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_APOOL3S1(clear_dvalid, addr_mode, index_en, dst) TENSIX_PUSH(TT_OP_APOOL3S1(clear_dvalid, addr_mode, index_en, dst))
#define TTI_APOOL3S1(clear_dvalid, addr_mode, index_en, dst) TENSIX_INLINE(TT_OP_APOOL3S1(clear_dvalid, addr_mode, index_en, dst))

#define TT_OP_MVMUL(clear_dvalid, instr_mod19, addr_mode, dst) \
    (0x26000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(instr_mod19, 19, 3) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_MVMUL(clear_dvalid, instr_mod19, addr_mode, dst) TENSIX_PUSH(TT_OP_MVMUL(clear_dvalid, instr_mod19, addr_mode, dst))
#define TTI_MVMUL(clear_dvalid, instr_mod19, addr_mode, dst) TENSIX_INLINE(TT_OP_MVMUL(clear_dvalid, instr_mod19, addr_mode, dst))

#define TT_OP_ELWMUL(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) \
    (0x27000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(dest_accum_en, 21, 1) | \
    TENSIX_FIELD(instr_mod19, 19, 2) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_ELWMUL(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) TENSIX_PUSH(TT_OP_ELWMUL(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst))
#define TTI_ELWMUL(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) TENSIX_INLINE(TT_OP_ELWMUL(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst))

#define TT_OP_ELWADD(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) \
    (0x28000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(dest_accum_en, 21, 1) | \
    TENSIX_FIELD(instr_mod19, 19, 2) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_ELWADD(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) TENSIX_PUSH(TT_OP_ELWADD(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst))
#define TTI_ELWADD(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) TENSIX_INLINE(TT_OP_ELWADD(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst))

#define TT_OP_DOTPV(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) \
    (0x29000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(dest_accum_en, 21, 1) | \
    TENSIX_FIELD(instr_mod19, 19, 2) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_DOTPV(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) TENSIX_PUSH(TT_OP_DOTPV(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst))
#define TTI_DOTPV(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) TENSIX_INLINE(TT_OP_DOTPV(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst))

#define TT_OP_ELWSUB(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) \
    (0x30000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(dest_accum_en, 21, 1) | \
    TENSIX_FIELD(instr_mod19, 19, 2) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_ELWSUB(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) TENSIX_PUSH(TT_OP_ELWSUB(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst))
#define TTI_ELWSUB(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst) TENSIX_INLINE(TT_OP_ELWSUB(clear_dvalid, dest_accum_en, instr_mod19, addr_mode, dst))

#define TT_OP_MPOOL3S2(clear_dvalid, addr_mode, index_en, dst) \
    (0x31000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(addr_mode, 15, 7) | \
    TENSIX_FIELD(index_en, 14, 1) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_MPOOL3S2(clear_dvalid, addr_mode, index_en, dst) TENSIX_PUSH(TT_OP_MPOOL3S2(clear_dvalid, addr_mode, index_en, dst))
#define TTI_MPOOL3S2(clear_dvalid, addr_mode, index_en, dst) TENSIX_INLINE(TT_OP_MPOOL3S2(clear_dvalid, addr_mode, index_en, dst))

#define TT_OP_APOOL3S2(clear_dvalid, addr_mode, index_en, dst) \
    (0x32000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(addr_mode, 15, 7) | \
    TENSIX_FIELD(index_en, 14, 1) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_APOOL3S2(clear_dvalid, addr_mode, index_en, dst) TENSIX_PUSH(TT_OP_APOOL3S2(clear_dvalid, addr_mode, index_en, dst))
#define TTI_APOOL3S2(clear_dvalid, addr_mode, index_en, dst) TENSIX_INLINE(TT_OP_APOOL3S2(clear_dvalid, addr_mode, index_en, dst))

#define TT_OP_GMPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst) \
    (0x33000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(instr_mod19, 19, 3) | \
    TENSIX_FIELD(addr_mode, 15, 3) | \
    TENSIX_FIELD(max_pool_index_en, 14, 1) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_GMPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst) TENSIX_PUSH(TT_OP_GMPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst))
#define TTI_GMPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst) TENSIX_INLINE(TT_OP_GMPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst))

#define TT_OP_GAPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst) \
    (0x34000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(instr_mod19, 19, 3) | \
    TENSIX_FIELD(addr_mode, 15, 3) | \
    TENSIX_FIELD(max_pool_index_en, 14, 1) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_GAPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst) TENSIX_PUSH(TT_OP_GAPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst))
#define TTI_GAPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst) TENSIX_INLINE(TT_OP_GAPOOL(clear_dvalid, instr_mod19, addr_mode, max_pool_index_en, dst))

#define TT_OP_GATESRCRST(reset_srcb_gate_control, reset_srca_gate_control) \
    (0x35000000u | \
    TENSIX_FIELD(reset_srcb_gate_control, 1, 23) | \
    TENSIX_FIELD(reset_srca_gate_control, 0, 1))
#define TT_GATESRCRST(reset_srcb_gate_control, reset_srca_gate_control) TENSIX_PUSH(TT_OP_GATESRCRST(reset_srcb_gate_control, reset_srca_gate_control))
#define TTI_GATESRCRST(reset_srcb_gate_control, reset_srca_gate_control) TENSIX_INLINE(TT_OP_GATESRCRST(reset_srcb_gate_control, reset_srca_gate_control))

#define TT_OP_CLEARDVALID(cleardvalid, reset) \
    (0x36000000u | \
    TENSIX_FIELD(cleardvalid, 22, 2) | \
    TENSIX_FIELD(reset, 0, 22))
#define TT_CLEARDVALID(cleardvalid, reset) TENSIX_PUSH(TT_OP_CLEARDVALID(cleardvalid, reset))
#define TTI_CLEARDVALID(cleardvalid, reset) TENSIX_INLINE(TT_OP_CLEARDVALID(cleardvalid, reset))

#define TT_OP_SETRWC(clear_ab_vld, rwc_cr, rwc_d, rwc_b, rwc_a, BitMask) \
    (0x37000000u | \
    TENSIX_FIELD(clear_ab_vld, 22, 2) | \
    TENSIX_FIELD(rwc_cr, 18, 4) | \
    TENSIX_FIELD(rwc_d, 14, 4) | \
    TENSIX_FIELD(rwc_b, 10, 4) | \
    TENSIX_FIELD(rwc_a, 6, 4) | \
    TENSIX_FIELD(BitMask, 0, 6))
#define TT_SETRWC(clear_ab_vld, rwc_cr, rwc_d, rwc_b, rwc_a, BitMask) TENSIX_PUSH(TT_OP_SETRWC(clear_ab_vld, rwc_cr, rwc_d, rwc_b, rwc_a, BitMask))
#define TTI_SETRWC(clear_ab_vld, rwc_cr, rwc_d, rwc_b, rwc_a, BitMask) TENSIX_INLINE(TT_OP_SETRWC(clear_ab_vld, rwc_cr, rwc_d, rwc_b, rwc_a, BitMask))

#define TT_OP_INCRWC(rwc_cr, rwc_d, rwc_b, rwc_a) \
    (0x38000000u | \
    TENSIX_FIELD(rwc_cr, 18, 6) | \
    TENSIX_FIELD(rwc_d, 14, 4) | \
    TENSIX_FIELD(rwc_b, 10, 4) | \
    TENSIX_FIELD(rwc_a, 6, 4))
#define TT_INCRWC(rwc_cr, rwc_d, rwc_b, rwc_a) TENSIX_PUSH(TT_OP_INCRWC(rwc_cr, rwc_d, rwc_b, rwc_a))
#define TTI_INCRWC(rwc_cr, rwc_d, rwc_b, rwc_a) TENSIX_INLINE(TT_OP_INCRWC(rwc_cr, rwc_d, rwc_b, rwc_a))

#define TT_OP_SETIBRWC(rwc_cr, rwc_bias, set_inc_ctrl) \
    (0x39000000u | \
    TENSIX_FIELD(rwc_cr, 18, 6) | \
    TENSIX_FIELD(rwc_bias, 6, 12) | \
    TENSIX_FIELD(set_inc_ctrl, 0, 6))
#define TT_SETIBRWC(rwc_cr, rwc_bias, set_inc_ctrl) TENSIX_PUSH(TT_OP_SETIBRWC(rwc_cr, rwc_bias, set_inc_ctrl))
#define TTI_SETIBRWC(rwc_cr, rwc_bias, set_inc_ctrl) TENSIX_INLINE(TT_OP_SETIBRWC(rwc_cr, rwc_bias, set_inc_ctrl))

#define TT_OP_MFCONV3S1(clear_dvalid, rotate_weights, addr_mode, dst) \
    (0x3a000000u | \
    TENSIX_FIELD(clear_dvalid, 22, 2) | \
    TENSIX_FIELD(rotate_weights, 17, 5) | \
    TENSIX_FIELD(addr_mode, 14, 3) | \
    TENSIX_FIELD(dst, 0, 14))
#define TT_MFCONV3S1(clear_dvalid, rotate_weights, addr_mode, dst) TENSIX_PUSH(TT_OP_MFCONV3S1(clear_dvalid, rotate_weights, addr_mode, dst))
#define TTI_MFCONV3S1(clear_dvalid, rotate_weights, addr_mode, dst) TENSIX_INLINE(TT_OP_MFCONV3S1(clear_dvalid, rotate_weights, addr_mode, dst))

#define TT_OP_XMOV(Mov_block_selection, Last) \
    (0x40000000u | \
    TENSIX_FIELD(Mov_block_selection, 23, 1) | \
    TENSIX_FIELD(Last, 0, 23))
#define TT_XMOV(Mov_block_selection, Last) TENSIX_PUSH(TT_OP_XMOV(Mov_block_selection, Last))
#define TTI_XMOV(Mov_block_selection, Last) TENSIX_INLINE(TT_OP_XMOV(Mov_block_selection, Last))

#define TT_OP_PACR(AddrMode, ZeroWrite, PackSel, OvrdThreadId, Concat, Flush, Last) \
    (0x41000000u | \
    TENSIX_FIELD(AddrMode, 15, 2) | \
    TENSIX_FIELD(ZeroWrite, 12, 1) | \
    TENSIX_FIELD(PackSel, 8, 4) | \
    TENSIX_FIELD(OvrdThreadId, 7, 1) | \
    TENSIX_FIELD(Concat, 4, 3) | \
    TENSIX_FIELD(Flush, 1, 1) | \
    TENSIX_FIELD(Last, 0, 1))
#define TT_PACR(AddrMode, ZeroWrite, PackSel, OvrdThreadId, Concat, Flush, Last) TENSIX_PUSH(TT_OP_PACR(AddrMode, ZeroWrite, PackSel, OvrdThreadId, Concat, Flush, Last))
#define TTI_PACR(AddrMode, ZeroWrite, PackSel, OvrdThreadId, Concat, Flush, Last) TENSIX_INLINE(TT_OP_PACR(AddrMode, ZeroWrite, PackSel, OvrdThreadId, Concat, Flush, Last))

#define TT_OP_UNPACR(Unpack_block_selection, AddrMode, CfgContextCntInc, CfgContextId, AddrCntContextId, OvrdThreadId, SetDatValid, rareb_en, ZeroWrite2, AutoIncContextID, RowSearch, SearchCacheFlush, Last) \
    (0x42000000u | \
    TENSIX_FIELD(Unpack_block_selection, 23, 1) | \
    TENSIX_FIELD(AddrMode, 15, 8) | \
    TENSIX_FIELD(CfgContextCntInc, 13, 2) | \
    TENSIX_FIELD(CfgContextId, 10, 3) | \
    TENSIX_FIELD(AddrCntContextId, 8, 2) | \
    TENSIX_FIELD(OvrdThreadId, 7, 1) | \
    TENSIX_FIELD(SetDatValid, 6, 1) | \
    TENSIX_FIELD(rareb_en, 5, 1) | \
    TENSIX_FIELD(ZeroWrite2, 4, 1) | \
    TENSIX_FIELD(AutoIncContextID, 3, 1) | \
    TENSIX_FIELD(RowSearch, 2, 1) | \
    TENSIX_FIELD(SearchCacheFlush, 1, 1) | \
    TENSIX_FIELD(Last, 0, 1))
#define TT_UNPACR(Unpack_block_selection, AddrMode, CfgContextCntInc, CfgContextId, AddrCntContextId, OvrdThreadId, SetDatValid, rareb_en, ZeroWrite2, AutoIncContextID, RowSearch, SearchCacheFlush, Last) TENSIX_PUSH(TT_OP_UNPACR(Unpack_block_selection, AddrMode, CfgContextCntInc, CfgContextId, AddrCntContextId, OvrdThreadId, SetDatValid, rareb_en, ZeroWrite2, AutoIncContextID, RowSearch, SearchCacheFlush, Last))
#define TTI_UNPACR(Unpack_block_selection, AddrMode, CfgContextCntInc, CfgContextId, AddrCntContextId, OvrdThreadId, SetDatValid, rareb_en, ZeroWrite2, AutoIncContextID, RowSearch, SearchCacheFlush, Last) TENSIX_INLINE(TT_OP_UNPACR(Unpack_block_selection, AddrMode, CfgContextCntInc, CfgContextId, AddrCntContextId, OvrdThreadId, SetDatValid, rareb_en, ZeroWrite2, AutoIncContextID, RowSearch, SearchCacheFlush, Last))

#define TT_OP_UNPACR_NOP(Unpack_block_selection, NoOp) \
    (0x43000000u | \
    TENSIX_FIELD(Unpack_block_selection, 23, 1) | \
    TENSIX_FIELD(NoOp, 0, 23))
#define TT_UNPACR_NOP(Unpack_block_selection, NoOp) TENSIX_PUSH(TT_OP_UNPACR_NOP(Unpack_block_selection, NoOp))
#define TTI_UNPACR_NOP(Unpack_block_selection, NoOp) TENSIX_INLINE(TT_OP_UNPACR_NOP(Unpack_block_selection, NoOp))

#define TT_OP_PACR_SETREG(Push, AddrSel, WrData, PackSel, StreamId, Flush, Last) \
    (0x4a000000u | \
    TENSIX_FIELD(Push, 23, 1) | \
    TENSIX_FIELD(AddrSel, 22, 1) | \
    TENSIX_FIELD(WrData, 12, 10) | \
    TENSIX_FIELD(PackSel, 8, 4) | \
    TENSIX_FIELD(StreamId, 2, 6) | \
    TENSIX_FIELD(Flush, 1, 1) | \
    TENSIX_FIELD(Last, 0, 1))
#define TT_PACR_SETREG(Push, AddrSel, WrData, PackSel, StreamId, Flush, Last) TENSIX_PUSH(TT_OP_PACR_SETREG(Push, AddrSel, WrData, PackSel, StreamId, Flush, Last))
#define TTI_PACR_SETREG(Push, AddrSel, WrData, PackSel, StreamId, Flush, Last) TENSIX_INLINE(TT_OP_PACR_SETREG(Push, AddrSel, WrData, PackSel, StreamId, Flush, Last))

#define TT_OP_TBUFCMD() \
    (0x4b000000u)
#define TT_TBUFCMD() TENSIX_PUSH(TT_OP_TBUFCMD())
#define TTI_TBUFCMD() TENSIX_INLINE(TT_OP_TBUFCMD())

#define TT_OP_RSTDMA() \
    (0x44000000u)
#define TT_RSTDMA() TENSIX_PUSH(TT_OP_RSTDMA())
#define TTI_RSTDMA() TENSIX_INLINE(TT_OP_RSTDMA())

#define TT_OP_SETDMAREG(Payload_SigSelSize, Payload_SigSel, SetSignalsMode, RegIndex16b) \
    (0x45000000u | \
    TENSIX_FIELD(Payload_SigSelSize, 22, 2) | \
    TENSIX_FIELD(Payload_SigSel, 8, 14) | \
    TENSIX_FIELD(SetSignalsMode, 7, 1) | \
    TENSIX_FIELD(RegIndex16b, 0, 7))
#define TT_SETDMAREG(Payload_SigSelSize, Payload_SigSel, SetSignalsMode, RegIndex16b) TENSIX_PUSH(TT_OP_SETDMAREG(Payload_SigSelSize, Payload_SigSel, SetSignalsMode, RegIndex16b))
#define TTI_SETDMAREG(Payload_SigSelSize, Payload_SigSel, SetSignalsMode, RegIndex16b) TENSIX_INLINE(TT_OP_SETDMAREG(Payload_SigSelSize, Payload_SigSel, SetSignalsMode, RegIndex16b))

#define TT_OP_FLUSHDMA(FlushSpec) \
    (0x46000000u | \
    TENSIX_FIELD(FlushSpec, 0, 24))
#define TT_FLUSHDMA(FlushSpec) TENSIX_PUSH(TT_OP_FLUSHDMA(FlushSpec))
#define TTI_FLUSHDMA(FlushSpec) TENSIX_INLINE(TT_OP_FLUSHDMA(FlushSpec))

#define TT_OP_REG2FLOP(SizeSel, TargetSel, ByteOffset, ContextId_2, FlopIndex, RegIndex) \
    (0x48000000u | \
    TENSIX_FIELD(SizeSel, 22, 2) | \
    TENSIX_FIELD(TargetSel, 20, 2) | \
    TENSIX_FIELD(ByteOffset, 18, 2) | \
    TENSIX_FIELD(ContextId_2, 16, 2) | \
    TENSIX_FIELD(FlopIndex, 6, 10) | \
    TENSIX_FIELD(RegIndex, 0, 6))
#define TT_REG2FLOP(SizeSel, TargetSel, ByteOffset, ContextId_2, FlopIndex, RegIndex) TENSIX_PUSH(TT_OP_REG2FLOP(SizeSel, TargetSel, ByteOffset, ContextId_2, FlopIndex, RegIndex))
#define TTI_REG2FLOP(SizeSel, TargetSel, ByteOffset, ContextId_2, FlopIndex, RegIndex) TENSIX_INLINE(TT_OP_REG2FLOP(SizeSel, TargetSel, ByteOffset, ContextId_2, FlopIndex, RegIndex))

#define TT_OP_LOADIND(SizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex) \
    (0x49000000u | \
    TENSIX_FIELD(SizeSel, 22, 2) | \
    TENSIX_FIELD(OffsetIndex, 14, 8) | \
    TENSIX_FIELD(AutoIncSpec, 12, 2) | \
    TENSIX_FIELD(DataRegIndex, 6, 6) | \
    TENSIX_FIELD(AddrRegIndex, 0, 6))
#define TT_LOADIND(SizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex) TENSIX_PUSH(TT_OP_LOADIND(SizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex))
#define TTI_LOADIND(SizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex) TENSIX_INLINE(TT_OP_LOADIND(SizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex))

#define TT_OP_ADDDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) \
    (0x58000000u | \
    TENSIX_FIELD(OpBisConst, 23, 1) | \
    TENSIX_FIELD(ResultRegIndex, 12, 6) | \
    TENSIX_FIELD(OpBRegIndex, 6, 6) | \
    TENSIX_FIELD(OpARegIndex, 0, 6))
#define TT_ADDDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_PUSH(TT_OP_ADDDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex))
#define TTI_ADDDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_INLINE(TT_OP_ADDDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex))

#define TT_OP_SUBDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) \
    (0x59000000u | \
    TENSIX_FIELD(OpBisConst, 23, 1) | \
    TENSIX_FIELD(ResultRegIndex, 12, 6) | \
    TENSIX_FIELD(OpBRegIndex, 6, 6) | \
    TENSIX_FIELD(OpARegIndex, 0, 6))
#define TT_SUBDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_PUSH(TT_OP_SUBDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex))
#define TTI_SUBDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_INLINE(TT_OP_SUBDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex))

#define TT_OP_MULDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) \
    (0x5a000000u | \
    TENSIX_FIELD(OpBisConst, 23, 1) | \
    TENSIX_FIELD(ResultRegIndex, 12, 6) | \
    TENSIX_FIELD(OpBRegIndex, 6, 6) | \
    TENSIX_FIELD(OpARegIndex, 0, 6))
#define TT_MULDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_PUSH(TT_OP_MULDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex))
#define TTI_MULDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_INLINE(TT_OP_MULDMAREG(OpBisConst, ResultRegIndex, OpBRegIndex, OpARegIndex))

#define TT_OP_BITWOPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) \
    (0x5b000000u | \
    TENSIX_FIELD(OpBisConst, 23, 1) | \
    TENSIX_FIELD(OpSel, 18, 5) | \
    TENSIX_FIELD(ResultRegIndex, 12, 6) | \
    TENSIX_FIELD(OpBRegIndex, 6, 6) | \
    TENSIX_FIELD(OpARegIndex, 0, 6))
#define TT_BITWOPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_PUSH(TT_OP_BITWOPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex))
#define TTI_BITWOPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_INLINE(TT_OP_BITWOPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex))

#define TT_OP_SHIFTDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) \
    (0x5c000000u | \
    TENSIX_FIELD(OpBisConst, 23, 1) | \
    TENSIX_FIELD(OpSel, 18, 5) | \
    TENSIX_FIELD(ResultRegIndex, 12, 6) | \
    TENSIX_FIELD(OpBRegIndex, 6, 6) | \
    TENSIX_FIELD(OpARegIndex, 0, 6))
#define TT_SHIFTDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_PUSH(TT_OP_SHIFTDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex))
#define TTI_SHIFTDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_INLINE(TT_OP_SHIFTDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex))

#define TT_OP_CMPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) \
    (0x5d000000u | \
    TENSIX_FIELD(OpBisConst, 23, 1) | \
    TENSIX_FIELD(OpSel, 18, 5) | \
    TENSIX_FIELD(ResultRegIndex, 12, 6) | \
    TENSIX_FIELD(OpBRegIndex, 6, 6) | \
    TENSIX_FIELD(OpARegIndex, 0, 6))
#define TT_CMPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_PUSH(TT_OP_CMPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex))
#define TTI_CMPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex) TENSIX_INLINE(TT_OP_CMPDMAREG(OpBisConst, OpSel, ResultRegIndex, OpBRegIndex, OpARegIndex))

#define TT_OP_ATINCGET(MemHierSel, WrapVal, Sel32b, DataRegIndex, AddrRegIndex) \
    (0x61000000u | \
    TENSIX_FIELD(MemHierSel, 23, 1) | \
    TENSIX_FIELD(WrapVal, 14, 9) | \
    TENSIX_FIELD(Sel32b, 12, 2) | \
    TENSIX_FIELD(DataRegIndex, 6, 6) | \
    TENSIX_FIELD(AddrRegIndex, 0, 6))
#define TT_ATINCGET(MemHierSel, WrapVal, Sel32b, DataRegIndex, AddrRegIndex) TENSIX_PUSH(TT_OP_ATINCGET(MemHierSel, WrapVal, Sel32b, DataRegIndex, AddrRegIndex))
#define TTI_ATINCGET(MemHierSel, WrapVal, Sel32b, DataRegIndex, AddrRegIndex) TENSIX_INLINE(TT_OP_ATINCGET(MemHierSel, WrapVal, Sel32b, DataRegIndex, AddrRegIndex))

#define TT_OP_ATINCGETPTR(MemHierSel, NoIncr, IncrVal, WrapVal, Sel32b, DataRegIndex, AddrRegIndex) \
    (0x62000000u | \
    TENSIX_FIELD(MemHierSel, 23, 1) | \
    TENSIX_FIELD(NoIncr, 22, 1) | \
    TENSIX_FIELD(IncrVal, 18, 4) | \
    TENSIX_FIELD(WrapVal, 14, 4) | \
    TENSIX_FIELD(Sel32b, 12, 2) | \
    TENSIX_FIELD(DataRegIndex, 6, 6) | \
    TENSIX_FIELD(AddrRegIndex, 0, 6))
#define TT_ATINCGETPTR(MemHierSel, NoIncr, IncrVal, WrapVal, Sel32b, DataRegIndex, AddrRegIndex) TENSIX_PUSH(TT_OP_ATINCGETPTR(MemHierSel, NoIncr, IncrVal, WrapVal, Sel32b, DataRegIndex, AddrRegIndex))
#define TTI_ATINCGETPTR(MemHierSel, NoIncr, IncrVal, WrapVal, Sel32b, DataRegIndex, AddrRegIndex) TENSIX_INLINE(TT_OP_ATINCGETPTR(MemHierSel, NoIncr, IncrVal, WrapVal, Sel32b, DataRegIndex, AddrRegIndex))

#define TT_OP_ATSWAP(MemHierSel, SwapMask, DataRegIndex, AddrRegIndex) \
    (0x63000000u | \
    TENSIX_FIELD(MemHierSel, 23, 1) | \
    TENSIX_FIELD(SwapMask, 14, 9) | \
    TENSIX_FIELD(DataRegIndex, 6, 6) | \
    TENSIX_FIELD(AddrRegIndex, 0, 6))
#define TT_ATSWAP(MemHierSel, SwapMask, DataRegIndex, AddrRegIndex) TENSIX_PUSH(TT_OP_ATSWAP(MemHierSel, SwapMask, DataRegIndex, AddrRegIndex))
#define TTI_ATSWAP(MemHierSel, SwapMask, DataRegIndex, AddrRegIndex) TENSIX_INLINE(TT_OP_ATSWAP(MemHierSel, SwapMask, DataRegIndex, AddrRegIndex))

#define TT_OP_ATCAS(MemHierSel, SwapVal, CmpVal, Sel32b, DataRegIndex, AddrRegIndex) \
    (0x64000000u | \
    TENSIX_FIELD(MemHierSel, 23, 1) | \
    TENSIX_FIELD(SwapVal, 18, 5) | \
    TENSIX_FIELD(CmpVal, 14, 4) | \
    TENSIX_FIELD(Sel32b, 12, 2) | \
    TENSIX_FIELD(DataRegIndex, 6, 6) | \
    TENSIX_FIELD(AddrRegIndex, 0, 6))
#define TT_ATCAS(MemHierSel, SwapVal, CmpVal, Sel32b, DataRegIndex, AddrRegIndex) TENSIX_PUSH(TT_OP_ATCAS(MemHierSel, SwapVal, CmpVal, Sel32b, DataRegIndex, AddrRegIndex))
#define TTI_ATCAS(MemHierSel, SwapVal, CmpVal, Sel32b, DataRegIndex, AddrRegIndex) TENSIX_INLINE(TT_OP_ATCAS(MemHierSel, SwapVal, CmpVal, Sel32b, DataRegIndex, AddrRegIndex))

#define TT_OP_STOREIND(MemHierSel, SizeSel, RegSizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex) \
    (0x66000000u | \
    TENSIX_FIELD(MemHierSel, 23, 1) | \
    TENSIX_FIELD(SizeSel, 22, 1) | \
    TENSIX_FIELD(RegSizeSel, 21, 1) | \
    TENSIX_FIELD(OffsetIndex, 14, 7) | \
    TENSIX_FIELD(AutoIncSpec, 12, 2) | \
    TENSIX_FIELD(DataRegIndex, 6, 6) | \
    TENSIX_FIELD(AddrRegIndex, 0, 6))
#define TT_STOREIND(MemHierSel, SizeSel, RegSizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex) TENSIX_PUSH(TT_OP_STOREIND(MemHierSel, SizeSel, RegSizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex))
#define TTI_STOREIND(MemHierSel, SizeSel, RegSizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex) TENSIX_INLINE(TT_OP_STOREIND(MemHierSel, SizeSel, RegSizeSel, OffsetIndex, AutoIncSpec, DataRegIndex, AddrRegIndex))

#define TT_OP_STOREREG(TdmaDataRegIndex, RegAddr) \
    (0x67000000u | \
    TENSIX_FIELD(TdmaDataRegIndex, 18, 6) | \
    TENSIX_FIELD(RegAddr, 0, 18))
#define TT_STOREREG(TdmaDataRegIndex, RegAddr) TENSIX_PUSH(TT_OP_STOREREG(TdmaDataRegIndex, RegAddr))
#define TTI_STOREREG(TdmaDataRegIndex, RegAddr) TENSIX_INLINE(TT_OP_STOREREG(TdmaDataRegIndex, RegAddr))

#define TT_OP_LOADREG(TdmaDataRegIndex, RegAddr) \
    (0x68000000u | \
    TENSIX_FIELD(TdmaDataRegIndex, 18, 6) | \
    TENSIX_FIELD(RegAddr, 0, 18))
#define TT_LOADREG(TdmaDataRegIndex, RegAddr) TENSIX_PUSH(TT_OP_LOADREG(TdmaDataRegIndex, RegAddr))
#define TTI_LOADREG(TdmaDataRegIndex, RegAddr) TENSIX_INLINE(TT_OP_LOADREG(TdmaDataRegIndex, RegAddr))

#define TT_OP_SETADC(CntSetMask, ChannelIndex, DimensionIndex, Value) \
    (0x50000000u | \
    TENSIX_FIELD(CntSetMask, 21, 3) | \
    TENSIX_FIELD(ChannelIndex, 20, 1) | \
    TENSIX_FIELD(DimensionIndex, 18, 2) | \
    TENSIX_FIELD(Value, 0, 18))
#define TT_SETADC(CntSetMask, ChannelIndex, DimensionIndex, Value) TENSIX_PUSH(TT_OP_SETADC(CntSetMask, ChannelIndex, DimensionIndex, Value))
#define TTI_SETADC(CntSetMask, ChannelIndex, DimensionIndex, Value) TENSIX_INLINE(TT_OP_SETADC(CntSetMask, ChannelIndex, DimensionIndex, Value))

#define TT_OP_SETADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) \
    (0x51000000u | \
    TENSIX_FIELD(CntSetMask, 21, 3) | \
    TENSIX_FIELD(Ch1_Y, 15, 6) | \
    TENSIX_FIELD(Ch1_X, 12, 3) | \
    TENSIX_FIELD(Ch0_Y, 9, 3) | \
    TENSIX_FIELD(Ch0_X, 6, 3) | \
    TENSIX_FIELD(BitMask, 0, 6))
#define TT_SETADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) TENSIX_PUSH(TT_OP_SETADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask))
#define TTI_SETADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) TENSIX_INLINE(TT_OP_SETADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask))

#define TT_OP_INCADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X) \
    (0x52000000u | \
    TENSIX_FIELD(CntSetMask, 21, 3) | \
    TENSIX_FIELD(Ch1_Y, 15, 6) | \
    TENSIX_FIELD(Ch1_X, 12, 3) | \
    TENSIX_FIELD(Ch0_Y, 9, 3) | \
    TENSIX_FIELD(Ch0_X, 6, 3))
#define TT_INCADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X) TENSIX_PUSH(TT_OP_INCADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X))
#define TTI_INCADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X) TENSIX_INLINE(TT_OP_INCADCXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X))

#define TT_OP_ADDRCRXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) \
    (0x53000000u | \
    TENSIX_FIELD(CntSetMask, 21, 3) | \
    TENSIX_FIELD(Ch1_Y, 15, 6) | \
    TENSIX_FIELD(Ch1_X, 12, 3) | \
    TENSIX_FIELD(Ch0_Y, 9, 3) | \
    TENSIX_FIELD(Ch0_X, 6, 3) | \
    TENSIX_FIELD(BitMask, 0, 6))
#define TT_ADDRCRXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) TENSIX_PUSH(TT_OP_ADDRCRXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask))
#define TTI_ADDRCRXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) TENSIX_INLINE(TT_OP_ADDRCRXY(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask))

#define TT_OP_SETADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) \
    (0x54000000u | \
    TENSIX_FIELD(CntSetMask, 21, 3) | \
    TENSIX_FIELD(Ch1_Y, 15, 6) | \
    TENSIX_FIELD(Ch1_X, 12, 3) | \
    TENSIX_FIELD(Ch0_Y, 9, 3) | \
    TENSIX_FIELD(Ch0_X, 6, 3) | \
    TENSIX_FIELD(BitMask, 0, 6))
#define TT_SETADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) TENSIX_PUSH(TT_OP_SETADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask))
#define TTI_SETADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) TENSIX_INLINE(TT_OP_SETADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask))

#define TT_OP_INCADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X) \
    (0x55000000u | \
    TENSIX_FIELD(CntSetMask, 21, 3) | \
    TENSIX_FIELD(Ch1_Y, 15, 6) | \
    TENSIX_FIELD(Ch1_X, 12, 3) | \
    TENSIX_FIELD(Ch0_Y, 9, 3) | \
    TENSIX_FIELD(Ch0_X, 6, 3))
#define TT_INCADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X) TENSIX_PUSH(TT_OP_INCADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X))
#define TTI_INCADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X) TENSIX_INLINE(TT_OP_INCADCZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X))

#define TT_OP_ADDRCRZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) \
    (0x56000000u | \
    TENSIX_FIELD(CntSetMask, 21, 3) | \
    TENSIX_FIELD(Ch1_Y, 15, 6) | \
    TENSIX_FIELD(Ch1_X, 12, 3) | \
    TENSIX_FIELD(Ch0_Y, 9, 3) | \
    TENSIX_FIELD(Ch0_X, 6, 3) | \
    TENSIX_FIELD(BitMask, 0, 6))
#define TT_ADDRCRZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) TENSIX_PUSH(TT_OP_ADDRCRZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask))
#define TTI_ADDRCRZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask) TENSIX_INLINE(TT_OP_ADDRCRZW(CntSetMask, Ch1_Y, Ch1_X, Ch0_Y, Ch0_X, BitMask))

#define TT_OP_SETDVALID(setvalid) \
    (0x57000000u | \
    TENSIX_FIELD(setvalid, 0, 24))
#define TT_SETDVALID(setvalid) TENSIX_PUSH(TT_OP_SETDVALID(setvalid))
#define TTI_SETDVALID(setvalid) TENSIX_INLINE(TT_OP_SETDVALID(setvalid))

#define TT_OP_SETADCXX(CntSetMask, x_end2, x_start) \
    (0x5e000000u | \
    TENSIX_FIELD(CntSetMask, 21, 3) | \
    TENSIX_FIELD(x_end2, 10, 11) | \
    TENSIX_FIELD(x_start, 0, 10))
#define TT_SETADCXX(CntSetMask, x_end2, x_start) TENSIX_PUSH(TT_OP_SETADCXX(CntSetMask, x_end2, x_start))
#define TTI_SETADCXX(CntSetMask, x_end2, x_start) TENSIX_INLINE(TT_OP_SETADCXX(CntSetMask, x_end2, x_start))

#define TT_OP_DMANOP() \
    (0x60000000u)
#define TT_DMANOP() TENSIX_PUSH(TT_OP_DMANOP())
#define TTI_DMANOP() TENSIX_INLINE(TT_OP_DMANOP())

#define TT_OP_SFPLOAD(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) \
    (0x70000000u | \
    TENSIX_FIELD(lreg_ind, 20, 4) | \
    TENSIX_FIELD(instr_mod0, 16, 4) | \
    TENSIX_FIELD(sfpu_addr_mode, 13, 3) | \
    TENSIX_FIELD(dest_reg_addr, 0, 10))
#define TT_SFPLOAD(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) TENSIX_PUSH(TT_OP_SFPLOAD(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr))
#define TTI_SFPLOAD(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) TENSIX_INLINE(TT_OP_SFPLOAD(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr))

#define TT_OP_SFPLOADI(lreg_ind, instr_mod0, imm16) \
    (0x71000000u | \
    TENSIX_FIELD(lreg_ind, 20, 4) | \
    TENSIX_FIELD(instr_mod0, 16, 4) | \
    TENSIX_FIELD(imm16, 0, 16))
#define TT_SFPLOADI(lreg_ind, instr_mod0, imm16) TENSIX_PUSH(TT_OP_SFPLOADI(lreg_ind, instr_mod0, imm16))
#define TTI_SFPLOADI(lreg_ind, instr_mod0, imm16) TENSIX_INLINE(TT_OP_SFPLOADI(lreg_ind, instr_mod0, imm16))

#define TT_OP_SFPSTORE(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) \
    (0x72000000u | \
    TENSIX_FIELD(lreg_ind, 20, 4) | \
    TENSIX_FIELD(instr_mod0, 16, 4) | \
    TENSIX_FIELD(sfpu_addr_mode, 13, 3) | \
    TENSIX_FIELD(dest_reg_addr, 0, 10))
#define TT_SFPSTORE(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) TENSIX_PUSH(TT_OP_SFPSTORE(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr))
#define TTI_SFPSTORE(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) TENSIX_INLINE(TT_OP_SFPSTORE(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr))

#define TT_OP_SFPLUT(lreg_ind, instr_mod0, dest_reg_addr) \
    (0x73000000u | \
    TENSIX_FIELD(lreg_ind, 20, 4) | \
    TENSIX_FIELD(instr_mod0, 16, 4) | \
    TENSIX_FIELD(dest_reg_addr, 0, 16))
#define TT_SFPLUT(lreg_ind, instr_mod0, dest_reg_addr) TENSIX_PUSH(TT_OP_SFPLUT(lreg_ind, instr_mod0, dest_reg_addr))
#define TTI_SFPLUT(lreg_ind, instr_mod0, dest_reg_addr) TENSIX_INLINE(TT_OP_SFPLUT(lreg_ind, instr_mod0, dest_reg_addr))

#define TT_OP_SFPMULI(imm16_math, lreg_dest, instr_mod1) \
    (0x74000000u | \
    TENSIX_FIELD(imm16_math, 8, 16) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPMULI(imm16_math, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPMULI(imm16_math, lreg_dest, instr_mod1))
#define TTI_SFPMULI(imm16_math, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPMULI(imm16_math, lreg_dest, instr_mod1))

#define TT_OP_SFPADDI(imm16_math, lreg_dest, instr_mod1) \
    (0x75000000u | \
    TENSIX_FIELD(imm16_math, 8, 16) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPADDI(imm16_math, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPADDI(imm16_math, lreg_dest, instr_mod1))
#define TTI_SFPADDI(imm16_math, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPADDI(imm16_math, lreg_dest, instr_mod1))

#define TT_OP_SFPDIVP2(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x76000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPDIVP2(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPDIVP2(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPDIVP2(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPDIVP2(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPEXEXP(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x77000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPEXEXP(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPEXEXP(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPEXEXP(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPEXEXP(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPEXMAN(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x78000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPEXMAN(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPEXMAN(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPEXMAN(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPEXMAN(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPIADD(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x79000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPIADD(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPIADD(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPIADD(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPIADD(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPSHFT(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x7a000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPSHFT(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPSHFT(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPSHFT(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPSHFT(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPSETCC(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x7b000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPSETCC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPSETCC(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPSETCC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPSETCC(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPMOV(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x7c000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPMOV(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPMOV(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPMOV(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPMOV(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPABS(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x7d000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPABS(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPABS(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPABS(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPABS(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPAND(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x7e000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPAND(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPAND(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPAND(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPAND(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPOR(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x7f000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPOR(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPOR(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPOR(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPOR(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPNOT(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x80000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPNOT(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPNOT(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPNOT(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPNOT(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPLZ(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x81000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPLZ(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPLZ(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPLZ(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPLZ(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPSETEXP(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x82000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPSETEXP(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPSETEXP(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPSETEXP(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPSETEXP(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPSETMAN(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x83000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPSETMAN(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPSETMAN(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPSETMAN(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPSETMAN(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPMAD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) \
    (0x84000000u | \
    TENSIX_FIELD(lreg_src_a, 16, 4) | \
    TENSIX_FIELD(lreg_src_b, 12, 4) | \
    TENSIX_FIELD(lreg_src_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPMAD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPMAD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))
#define TTI_SFPMAD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPMAD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))

#define TT_OP_SFPADD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) \
    (0x85000000u | \
    TENSIX_FIELD(lreg_src_a, 16, 4) | \
    TENSIX_FIELD(lreg_src_b, 12, 4) | \
    TENSIX_FIELD(lreg_src_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPADD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPADD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))
#define TTI_SFPADD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPADD(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))

#define TT_OP_SFPMUL(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) \
    (0x86000000u | \
    TENSIX_FIELD(lreg_src_a, 16, 4) | \
    TENSIX_FIELD(lreg_src_b, 12, 4) | \
    TENSIX_FIELD(lreg_src_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPMUL(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPMUL(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))
#define TTI_SFPMUL(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPMUL(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))

#define TT_OP_SFPPUSHC(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x87000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPPUSHC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPPUSHC(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPPUSHC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPPUSHC(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPPOPC(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x88000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPPOPC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPPOPC(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPPOPC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPPOPC(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPSETSGN(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x89000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPSETSGN(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPSETSGN(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPSETSGN(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPSETSGN(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPENCC(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x8a000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPENCC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPENCC(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPENCC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPENCC(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPCOMPC(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x8b000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPCOMPC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPCOMPC(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPCOMPC(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPCOMPC(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPTRANSP(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x8c000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPTRANSP(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPTRANSP(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPTRANSP(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPTRANSP(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPXOR(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x8d000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPXOR(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPXOR(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPXOR(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPXOR(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFP_STOCH_RND(rnd_mode, imm8_math, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) \
    (0x8e000000u | \
    TENSIX_FIELD(rnd_mode, 21, 2) | \
    TENSIX_FIELD(imm8_math, 16, 5) | \
    TENSIX_FIELD(lreg_src_b, 12, 4) | \
    TENSIX_FIELD(lreg_src_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFP_STOCH_RND(rnd_mode, imm8_math, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFP_STOCH_RND(rnd_mode, imm8_math, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))
#define TTI_SFP_STOCH_RND(rnd_mode, imm8_math, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFP_STOCH_RND(rnd_mode, imm8_math, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))

#define TT_OP_SFPNOP() \
    (0x8f000000u)
#define TT_SFPNOP() TENSIX_PUSH(TT_OP_SFPNOP())
#define TTI_SFPNOP() TENSIX_INLINE(TT_OP_SFPNOP())

#define TT_OP_SFPCAST(lreg_src_c, lreg_dest, instr_mod1) \
    (0x90000000u | \
    TENSIX_FIELD(lreg_src_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPCAST(lreg_src_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPCAST(lreg_src_c, lreg_dest, instr_mod1))
#define TTI_SFPCAST(lreg_src_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPCAST(lreg_src_c, lreg_dest, instr_mod1))

#define TT_OP_SFPCONFIG(imm16_math, config_dest, instr_mod1) \
    (0x91000000u | \
    TENSIX_FIELD(imm16_math, 8, 16) | \
    TENSIX_FIELD(config_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPCONFIG(imm16_math, config_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPCONFIG(imm16_math, config_dest, instr_mod1))
#define TTI_SFPCONFIG(imm16_math, config_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPCONFIG(imm16_math, config_dest, instr_mod1))

#define TT_OP_SFPSWAP(imm12_math, lreg_src_c, lreg_dest, instr_mod1) \
    (0x92000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_src_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPSWAP(imm12_math, lreg_src_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPSWAP(imm12_math, lreg_src_c, lreg_dest, instr_mod1))
#define TTI_SFPSWAP(imm12_math, lreg_src_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPSWAP(imm12_math, lreg_src_c, lreg_dest, instr_mod1))

#define TT_OP_SFPLOADMACRO(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) \
    (0x93000000u | \
    TENSIX_FIELD(lreg_ind, 20, 4) | \
    TENSIX_FIELD(instr_mod0, 16, 4) | \
    TENSIX_FIELD(sfpu_addr_mode, 13, 3) | \
    TENSIX_FIELD(dest_reg_addr, 0, 10))
#define TT_SFPLOADMACRO(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) TENSIX_PUSH(TT_OP_SFPLOADMACRO(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr))
#define TTI_SFPLOADMACRO(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr) TENSIX_INLINE(TT_OP_SFPLOADMACRO(lreg_ind, instr_mod0, sfpu_addr_mode, dest_reg_addr))

#define TT_OP_SFPSHFT2(imm12_math, lreg_src_c, lreg_dest, instr_mod1) \
    (0x94000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_src_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPSHFT2(imm12_math, lreg_src_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPSHFT2(imm12_math, lreg_src_c, lreg_dest, instr_mod1))
#define TTI_SFPSHFT2(imm12_math, lreg_src_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPSHFT2(imm12_math, lreg_src_c, lreg_dest, instr_mod1))

#define TT_OP_SFPLUTFP32(lreg_dest, instr_mod1) \
    (0x95000000u | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPLUTFP32(lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPLUTFP32(lreg_dest, instr_mod1))
#define TTI_SFPLUTFP32(lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPLUTFP32(lreg_dest, instr_mod1))

#define TT_OP_SFPLE(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x96000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPLE(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPLE(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPLE(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPLE(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPGT(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x97000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPGT(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPGT(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPGT(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPGT(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_SFPMUL24(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) \
    (0x98000000u | \
    TENSIX_FIELD(lreg_src_a, 16, 4) | \
    TENSIX_FIELD(lreg_src_b, 12, 4) | \
    TENSIX_FIELD(lreg_src_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPMUL24(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPMUL24(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))
#define TTI_SFPMUL24(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPMUL24(lreg_src_a, lreg_src_b, lreg_src_c, lreg_dest, instr_mod1))

#define TT_OP_SFPARECIP(imm12_math, lreg_c, lreg_dest, instr_mod1) \
    (0x99000000u | \
    TENSIX_FIELD(imm12_math, 12, 12) | \
    TENSIX_FIELD(lreg_c, 8, 4) | \
    TENSIX_FIELD(lreg_dest, 4, 4) | \
    TENSIX_FIELD(instr_mod1, 0, 4))
#define TT_SFPARECIP(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_PUSH(TT_OP_SFPARECIP(imm12_math, lreg_c, lreg_dest, instr_mod1))
#define TTI_SFPARECIP(imm12_math, lreg_c, lreg_dest, instr_mod1) TENSIX_INLINE(TT_OP_SFPARECIP(imm12_math, lreg_c, lreg_dest, instr_mod1))

#define TT_OP_ATGETM(mutex_index) \
    (0xa0000000u | \
    TENSIX_FIELD(mutex_index, 0, 24))
#define TT_ATGETM(mutex_index) TENSIX_PUSH(TT_OP_ATGETM(mutex_index))
#define TTI_ATGETM(mutex_index) TENSIX_INLINE(TT_OP_ATGETM(mutex_index))

#define TT_OP_ATRELM(mutex_index) \
    (0xa1000000u | \
    TENSIX_FIELD(mutex_index, 0, 24))
#define TT_ATRELM(mutex_index) TENSIX_PUSH(TT_OP_ATRELM(mutex_index))
#define TTI_ATRELM(mutex_index) TENSIX_INLINE(TT_OP_ATRELM(mutex_index))

#define TT_OP_STALLWAIT(stall_res, wait_res) \
    (0xa2000000u | \
    TENSIX_FIELD(stall_res, 15, 9) | \
    TENSIX_FIELD(wait_res, 0, 13))
#define TT_STALLWAIT(stall_res, wait_res) TENSIX_PUSH(TT_OP_STALLWAIT(stall_res, wait_res))
#define TTI_STALLWAIT(stall_res, wait_res) TENSIX_INLINE(TT_OP_STALLWAIT(stall_res, wait_res))

#define TT_OP_SEMINIT(max_value, init_value, sem_sel) \
    (0xa3000000u | \
    TENSIX_FIELD(max_value, 20, 4) | \
    TENSIX_FIELD(init_value, 16, 4) | \
    TENSIX_FIELD(sem_sel, 2, 14))
#define TT_SEMINIT(max_value, init_value, sem_sel) TENSIX_PUSH(TT_OP_SEMINIT(max_value, init_value, sem_sel))
#define TTI_SEMINIT(max_value, init_value, sem_sel) TENSIX_INLINE(TT_OP_SEMINIT(max_value, init_value, sem_sel))

#define TT_OP_SEMPOST(sem_sel) \
    (0xa4000000u | \
    TENSIX_FIELD(sem_sel, 2, 22))
#define TT_SEMPOST(sem_sel) TENSIX_PUSH(TT_OP_SEMPOST(sem_sel))
#define TTI_SEMPOST(sem_sel) TENSIX_INLINE(TT_OP_SEMPOST(sem_sel))

#define TT_OP_SEMGET(sem_sel) \
    (0xa5000000u | \
    TENSIX_FIELD(sem_sel, 2, 22))
#define TT_SEMGET(sem_sel) TENSIX_PUSH(TT_OP_SEMGET(sem_sel))
#define TTI_SEMGET(sem_sel) TENSIX_INLINE(TT_OP_SEMGET(sem_sel))

#define TT_OP_SEMWAIT(stall_res, sem_sel, wait_sem_cond) \
    (0xa6000000u | \
    TENSIX_FIELD(stall_res, 15, 9) | \
    TENSIX_FIELD(sem_sel, 2, 13) | \
    TENSIX_FIELD(wait_sem_cond, 0, 2))
#define TT_SEMWAIT(stall_res, sem_sel, wait_sem_cond) TENSIX_PUSH(TT_OP_SEMWAIT(stall_res, sem_sel, wait_sem_cond))
#define TTI_SEMWAIT(stall_res, sem_sel, wait_sem_cond) TENSIX_INLINE(TT_OP_SEMWAIT(stall_res, sem_sel, wait_sem_cond))

#define TT_OP_STREAMWAIT(stall_res, reserved, target_value, target_sel, wait_stream_sel) \
    (0xa7000000u | \
    TENSIX_FIELD(stall_res, 15, 9) | \
    TENSIX_FIELD(reserved, 14, 1) | \
    TENSIX_FIELD(target_value, 4, 10) | \
    TENSIX_FIELD(target_sel, 3, 1) | \
    TENSIX_FIELD(wait_stream_sel, 0, 3))
#define TT_STREAMWAIT(stall_res, reserved, target_value, target_sel, wait_stream_sel) TENSIX_PUSH(TT_OP_STREAMWAIT(stall_res, reserved, target_value, target_sel, wait_stream_sel))
#define TTI_STREAMWAIT(stall_res, reserved, target_value, target_sel, wait_stream_sel) TENSIX_INLINE(TT_OP_STREAMWAIT(stall_res, reserved, target_value, target_sel, wait_stream_sel))

#define TT_OP_WRCFG(GprAddress, wr128b, CfgReg) \
    (0xb0000000u | \
    TENSIX_FIELD(GprAddress, 16, 8) | \
    TENSIX_FIELD(wr128b, 15, 1) | \
    TENSIX_FIELD(CfgReg, 0, 15))
#define TT_WRCFG(GprAddress, wr128b, CfgReg) TENSIX_PUSH(TT_OP_WRCFG(GprAddress, wr128b, CfgReg))
#define TTI_WRCFG(GprAddress, wr128b, CfgReg) TENSIX_INLINE(TT_OP_WRCFG(GprAddress, wr128b, CfgReg))

#define TT_OP_RDCFG(GprAddress, CfgReg) \
    (0xb1000000u | \
    TENSIX_FIELD(GprAddress, 16, 8) | \
    TENSIX_FIELD(CfgReg, 0, 16))
#define TT_RDCFG(GprAddress, CfgReg) TENSIX_PUSH(TT_OP_RDCFG(GprAddress, CfgReg))
#define TTI_RDCFG(GprAddress, CfgReg) TENSIX_INLINE(TT_OP_RDCFG(GprAddress, CfgReg))

#define TT_OP_SETC16(setc16_reg, setc16_value) \
    (0xb2000000u | \
    TENSIX_FIELD(setc16_reg, 16, 8) | \
    TENSIX_FIELD(setc16_value, 0, 16))
#define TT_SETC16(setc16_reg, setc16_value) TENSIX_PUSH(TT_OP_SETC16(setc16_reg, setc16_value))
#define TTI_SETC16(setc16_reg, setc16_value) TENSIX_INLINE(TT_OP_SETC16(setc16_reg, setc16_value))

#define TT_OP_RMWCIB0(Mask, Data, CfgRegAddr) \
    (0xb3000000u | \
    TENSIX_FIELD(Mask, 16, 8) | \
    TENSIX_FIELD(Data, 8, 8) | \
    TENSIX_FIELD(CfgRegAddr, 0, 8))
#define TT_RMWCIB0(Mask, Data, CfgRegAddr) TENSIX_PUSH(TT_OP_RMWCIB0(Mask, Data, CfgRegAddr))
#define TTI_RMWCIB0(Mask, Data, CfgRegAddr) TENSIX_INLINE(TT_OP_RMWCIB0(Mask, Data, CfgRegAddr))

#define TT_OP_RMWCIB1(Mask, Data, CfgRegAddr) \
    (0xb4000000u | \
    TENSIX_FIELD(Mask, 16, 8) | \
    TENSIX_FIELD(Data, 8, 8) | \
    TENSIX_FIELD(CfgRegAddr, 0, 8))
#define TT_RMWCIB1(Mask, Data, CfgRegAddr) TENSIX_PUSH(TT_OP_RMWCIB1(Mask, Data, CfgRegAddr))
#define TTI_RMWCIB1(Mask, Data, CfgRegAddr) TENSIX_INLINE(TT_OP_RMWCIB1(Mask, Data, CfgRegAddr))

#define TT_OP_RMWCIB2(Mask, Data, CfgRegAddr) \
    (0xb5000000u | \
    TENSIX_FIELD(Mask, 16, 8) | \
    TENSIX_FIELD(Data, 8, 8) | \
    TENSIX_FIELD(CfgRegAddr, 0, 8))
#define TT_RMWCIB2(Mask, Data, CfgRegAddr) TENSIX_PUSH(TT_OP_RMWCIB2(Mask, Data, CfgRegAddr))
#define TTI_RMWCIB2(Mask, Data, CfgRegAddr) TENSIX_INLINE(TT_OP_RMWCIB2(Mask, Data, CfgRegAddr))

#define TT_OP_RMWCIB3(Mask, Data, CfgRegAddr) \
    (0xb6000000u | \
    TENSIX_FIELD(Mask, 16, 8) | \
    TENSIX_FIELD(Data, 8, 8) | \
    TENSIX_FIELD(CfgRegAddr, 0, 8))
#define TT_RMWCIB3(Mask, Data, CfgRegAddr) TENSIX_PUSH(TT_OP_RMWCIB3(Mask, Data, CfgRegAddr))
#define TTI_RMWCIB3(Mask, Data, CfgRegAddr) TENSIX_INLINE(TT_OP_RMWCIB3(Mask, Data, CfgRegAddr))

#define TT_OP_STREAMWRCFG(stream_id_sel, StreamRegAddr, CfgReg) \
    (0xb7000000u | \
    TENSIX_FIELD(stream_id_sel, 21, 3) | \
    TENSIX_FIELD(StreamRegAddr, 11, 10) | \
    TENSIX_FIELD(CfgReg, 0, 11))
#define TT_STREAMWRCFG(stream_id_sel, StreamRegAddr, CfgReg) TENSIX_PUSH(TT_OP_STREAMWRCFG(stream_id_sel, StreamRegAddr, CfgReg))
#define TTI_STREAMWRCFG(stream_id_sel, StreamRegAddr, CfgReg) TENSIX_INLINE(TT_OP_STREAMWRCFG(stream_id_sel, StreamRegAddr, CfgReg))

#define TT_OP_CFGSHIFTMASK(disable_mask_on_old_val, operation, mask_width, right_cshift_amt, scratch_sel, CfgReg) \
    (0xb8000000u | \
    TENSIX_FIELD(disable_mask_on_old_val, 23, 1) | \
    TENSIX_FIELD(operation, 20, 3) | \
    TENSIX_FIELD(mask_width, 15, 5) | \
    TENSIX_FIELD(right_cshift_amt, 10, 5) | \
    TENSIX_FIELD(scratch_sel, 8, 2) | \
    TENSIX_FIELD(CfgReg, 0, 8))
#define TT_CFGSHIFTMASK(disable_mask_on_old_val, operation, mask_width, right_cshift_amt, scratch_sel, CfgReg) TENSIX_PUSH(TT_OP_CFGSHIFTMASK(disable_mask_on_old_val, operation, mask_width, right_cshift_amt, scratch_sel, CfgReg))
#define TTI_CFGSHIFTMASK(disable_mask_on_old_val, operation, mask_width, right_cshift_amt, scratch_sel, CfgReg) TENSIX_INLINE(TT_OP_CFGSHIFTMASK(disable_mask_on_old_val, operation, mask_width, right_cshift_amt, scratch_sel, CfgReg))

#endif
