// SPDX-License-Identifier: Apache-2.0
// Bare-metal C for minions: vectors, tensor operations, messages, barriers and cache operations.
//
// Functions with the names of the vendor's platform (`tensor_load`, `fcc_send`, `flbarrier`, ...) take what they take
// there: fields as the hardware has them, so that a count of lines is one less. Names that begin with `et_` are ours.
// Source of encodings: ET Programmer's Reference Manual, chapters 4 to 11 and 15.
#ifndef POLYLOOM_MINION_H
#define POLYLOOM_MINION_H

#include <stdbool.h>
#include <stdint.h>

#define ET_INTRINSIC static inline __attribute__((always_inline, nodebug, unused))

// A whole f register: eight lanes. What computes with them is below, in place of C's operators.
typedef __rvv_int32m1_t et_register __attribute__((riscv_rvv_vector_bits(256)));
typedef struct {
    et_register lanes;
} et_f32x8;
typedef struct {
    et_register lanes;
} et_i32x8;

ET_INTRINSIC et_i32x8 et_bits_of_f32x8(et_f32x8 x) {
    et_i32x8 bits = {x.lanes};
    return bits;
}
ET_INTRINSIC et_f32x8 et_f32x8_of_bits(et_i32x8 bits) {
    et_f32x8 x = {bits.lanes};
    return x;
}

#include "minion_simd.h"

// All eight lanes of a vector in memory. A vector is aligned to 32 bytes.
ET_INTRINSIC et_f32x8 et_load_f32x8(const volatile float *from) { return et_flw_ps(from); }
ET_INTRINSIC et_i32x8 et_load_i32x8(const volatile int32_t *from) { return et_bits_of_f32x8(et_flw_ps(from)); }
ET_INTRINSIC void et_store_f32x8(volatile float *to, et_f32x8 x) { et_fsw_ps(x, to); }
ET_INTRINSIC void et_store_i32x8(volatile int32_t *to, et_i32x8 x) { et_fsw_ps(et_f32x8_of_bits(x), to); }
ET_INTRINSIC et_f32x8 et_set_f32x8(float x) {
    union {
        float value;
        uint32_t bits;
    } both = {x};
    return et_fbcx_ps(both.bits);
}
ET_INTRINSIC et_i32x8 et_set_i32x8(int32_t x) { return et_bits_of_f32x8(et_fbcx_ps((uint32_t)x)); }
// Lanes that instructions write: bit i of m0 is lane i.
ET_INTRINSIC void et_set_lanes(uint64_t mask) {
    et_mov_m_x(0, mask, 0);
}

// --- Harts ---------------------------------------------------------------------------------------------------------

// Registers of a shire that programs of users may reach, where the shire's number stands in their addresses, and what
// means one's own. Erbium, `-D ET_ERBIUM`, is one neighbourhood with addresses of 32 bits.
#ifdef ET_ERBIUM
#define SOC_MINIONS_PER_SHIRE 8
#define THIS_SHIRE 0
#define ET_SHIRE_REGISTERS 0x80340000ul
#define ET_SHIRE_BIT 24
#else
#define SOC_MINIONS_PER_SHIRE 32
#define THIS_SHIRE 0xFF
#define ET_SHIRE_REGISTERS 0x100340000ul
#define ET_SHIRE_BIT 22
#endif

ET_INTRINSIC unsigned int get_hart_id(void) {
    uint64_t id;
    __asm__ __volatile__("csrr %0, mhartid" : "=r"(id));
    return (unsigned int)id;
}
ET_INTRINSIC unsigned int get_shire_id(void) { return get_hart_id() >> 6; }
ET_INTRINSIC unsigned int get_neighborhood_id(void) { return get_hart_id() >> 4 & 3; }
ET_INTRINSIC unsigned int get_minion_id(void) { return get_hart_id() >> 1; }
ET_INTRINSIC unsigned int get_thread_id(void) { return get_hart_id() & 1; }

// The end of a run for this hart, and text for the host: these registers exist on emulators only.
ET_INTRINSIC void et_end(bool passed) {
    __asm__ __volatile__("csrw validation0, %0\nwfi" : : "r"(passed ? 0x1FEED000ul : 0x50BAD000ul) : "memory");
}
ET_INTRINSIC void et_put_character(char c) {
    __asm__ __volatile__("csrw validation1, %0" : : "r"(1ul << 56 | (uint8_t)c));
}
ET_INTRINSIC void et_print(const char *text) {
    while (*text) et_put_character(*text++);
}
ET_INTRINSIC uint64_t et_cycles(void) {
    uint64_t cycles;
    __asm__ __volatile__("csrr %0, hpmcounter3" : "=r"(cycles));
    return cycles;
}

// --- Registers of the tensor coprocessor -----------------------------------------------------------------------------

#define ET_WRITE(csr, value) __asm__ __volatile__("csrw " #csr ", %0" : : "r"((uint64_t)(value)) : "memory")
// With a second word in x31.
#define ET_WRITE_2(csr, value, second)                                                                 \
    do {                                                                                               \
        register uint64_t __et_x31 __asm__("x31") = (second);                                          \
        __asm__ __volatile__("csrw " #csr ", %0" : : "r"((uint64_t)(value)), "r"(__et_x31) : "memory"); \
    } while (0)
// Operations that write f registers: no vector of C is in one of them meanwhile.
#define ET_REGISTERS                                                                                               \
    "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", \
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",   \
        "v31"
#define ET_WRITE_REGISTERS(csr, value) \
    __asm__ __volatile__("csrw " #csr ", %0" : : "r"((uint64_t)(value)) : ET_REGISTERS)
#define ET_FIELD(value, width, low) (((uint64_t)(value) & ((1ul << (width)) - 1)) << (low))
#define ET_LINE(address) ((uint64_t)(address) & 0xFFFFFFFFFFC0ul)

#define TENSOR_LOAD_WAIT_0 0
#define TENSOR_LOAD_WAIT_1 1
#define TENSOR_LOAD_L2_WAIT_0 2
#define TENSOR_LOAD_L2_WAIT_1 3
#define TENSOR_CACHEOP_WAIT 6
#define TENSOR_FMA_WAIT 7
#define TENSOR_STORE_WAIT 8
#define TENSOR_REDUCE_WAIT 9
#define TENSOR_QUANT_WAIT 10

#define TENSOR_ERROR_LOAD_TRANSFORM 1
#define TENSOR_ERROR_FCC_OVERFLOW 3
#define TENSOR_ERROR_SCP_DISABLED 4
#define TENSOR_ERROR_LOCKSW 5
#define TENSOR_ERROR_TL1_FMA 6
#define TENSOR_ERROR_MEM_FAULT 7
#define TENSOR_ERROR_STORE_COOP 8
#define TENSOR_ERROR_REDUCE 9

ET_INTRINSIC void tensor_wait(long id) { ET_WRITE_REGISTERS(tensor_wait, id); }
ET_INTRINSIC void tensor_mask(uint64_t zeros, uint64_t mask_bits) {
    (void)zeros;
    ET_WRITE(tensor_mask, mask_bits & 0xFFFF);
}
ET_INTRINSIC uint64_t get_tensor_mask(void) {
    uint64_t mask;
    __asm__ __volatile__("csrr %0, tensor_mask" : "=r"(mask));
    return mask;
}
ET_INTRINSIC unsigned long get_tensor_error(void) {
    unsigned long error;
    __asm__ __volatile__("csrr %0, tensor_error" : "=r"(error) : : "memory");
    return error;
}
ET_INTRINSIC void et_clear_tensor_error(void) { ET_WRITE(tensor_error, 0); }
ET_INTRINSIC void tensor_coop(uint64_t val) { ET_WRITE(tensor_coop, val); }
ET_INTRINSIC void convolution_ctrl(uint64_t row_start, uint64_t col_start) {
    ET_WRITE(tensor_conv_ctrl, ET_FIELD(row_start, 16, 32) | ET_FIELD(col_start, 16, 0));
}
ET_INTRINSIC void convolution_size(uint64_t srow, uint64_t nrow, uint64_t scol, uint64_t ncol) {
    ET_WRITE(tensor_conv_size,
             ET_FIELD(srow, 8, 56) | ET_FIELD(nrow, 16, 32) | ET_FIELD(scol, 8, 24) | ET_FIELD(ncol, 16, 0));
}

// --- Tensor loads and stores -----------------------------------------------------------------------------------------

ET_INTRINSIC void tensor_load(bool use_tmask, bool use_coop, uint64_t dst_start, uint64_t transformation,
                              uint64_t use_tenb, uint64_t addr, uint64_t offset, uint64_t num_lines, uint64_t stride,
                              uint64_t id) {
    ET_WRITE_2(tensor_load,
               ET_FIELD(use_tmask, 1, 63) | ET_FIELD(use_coop, 1, 62) | ET_FIELD(transformation, 3, 59) |
                   ET_FIELD(dst_start, 6, 53) | ET_FIELD(use_tenb, 1, 52) | ET_LINE(addr) | ET_FIELD(offset, 2, 4) |
                   ET_FIELD(num_lines, 4, 0),
               ET_LINE(stride) | ET_FIELD(id, 1, 0));
}
ET_INTRINSIC void tensor_load_setup_b(bool use_coop, uint64_t addr, uint64_t num_lines, uint64_t stride, uint64_t id) {
    tensor_load(false, use_coop, 0, 0, 1, addr, 0, num_lines, stride, id);
}
ET_INTRINSIC void et_tensor_load_l2(bool use_tmask, uint64_t dst_start, uint64_t addr, uint64_t num_lines,
                                    uint64_t stride, uint64_t id) {
    ET_WRITE_2(tensor_load_l2,
               ET_FIELD(use_tmask, 1, 63) | ET_FIELD(dst_start >> 2, 15, 48) | ET_FIELD(dst_start, 2, 4) |
                   ET_LINE(addr) | ET_FIELD(num_lines, 4, 0),
               ET_LINE(stride) | ET_FIELD(id, 1, 0));
}
ET_INTRINSIC void tensor_store(uint64_t reg_stride, uint64_t start_reg, uint64_t cols, uint64_t Arows, uint64_t addr,
                               uint64_t coop_store, uint64_t stride) {
    ET_WRITE_2(tensor_store,
               ET_FIELD(reg_stride, 2, 62) | ET_FIELD(start_reg, 5, 57) | ET_FIELD(cols, 2, 55) |
                   ET_FIELD(Arows, 4, 51) | ET_FIELD(coop_store, 2, 49) | (addr & 0xFFFFFFFFFFF0ul),
               stride & 0xFFFFFFFFFFF0ul);
}
ET_INTRINSIC void tensor_store_scp(uint64_t entry_stride, uint64_t start_scp_entry, uint64_t Arows, uint64_t addr,
                                   uint64_t stride) {
    ET_WRITE_2(tensor_store,
               ET_FIELD(entry_stride, 2, 62) | ET_FIELD(start_scp_entry, 6, 56) | ET_FIELD(Arows, 4, 51) | 1ul << 48 |
                   ET_LINE(addr),
               ET_LINE(stride));
}

// --- Products --------------------------------------------------------------------------------------------------------

#define ET_FMA32 0
#define ET_FMA16A32 1
#define ET_IMA8A32 3

// Bit 22 is B without a sign and bit 21 is A (manual, chapter 9), as these names say; the platform has them exchanged.
ET_INTRINSIC void tensor_fma(bool use_tmask, uint64_t b_num_col, uint64_t a_num_rows, uint64_t a_num_cols,
                             uint64_t offset, bool tenc_loc, bool tenb_unsigned, bool tena_unsigned, bool tenb_loc,
                             uint64_t scp_loc_b, uint64_t scp_loc_a, uint64_t opcode, bool first_pass) {
    ET_WRITE_REGISTERS(tensor_fma, ET_FIELD(use_tmask, 1, 63) | ET_FIELD(b_num_col, 2, 55) |
                                       ET_FIELD(a_num_rows, 4, 51) | ET_FIELD(a_num_cols, 4, 47) |
                                       ET_FIELD(offset, 4, 43) | ET_FIELD(tenc_loc, 1, 23) |
                                       ET_FIELD(tenb_unsigned, 1, 22) | ET_FIELD(tena_unsigned, 1, 21) |
                                       ET_FIELD(tenb_loc, 1, 20) | ET_FIELD(scp_loc_b, 6, 12) |
                                       ET_FIELD(scp_loc_a, 6, 4) | ET_FIELD(opcode, 3, 1) | ET_FIELD(first_pass, 1, 0));
}

#define QUANT_LAST_TRANS 0
#define QUANT_INT32_TO_FP32 1
#define QUANT_FP32_TO_INT32 2
#define QUANT_RELU 3
#define QUANT_INT32_ADD_ROW 4
#define QUANT_INT32_ADD_COL 5
#define QUANT_FP32_MUL_ROW 6
#define QUANT_FP32_MUL_COL 7
#define QUANT_SATINT8 8
#define QUANT_SATUINT8 9
#define QUANT_PACK_128B 10

ET_INTRINSIC void tensor_quant(uint64_t start_reg, uint64_t col, uint64_t row, uint64_t scp_loc, uint64_t transf9,
                               uint64_t transf8, uint64_t transf7, uint64_t transf6, uint64_t transf5, uint64_t transf4,
                               uint64_t transf3, uint64_t transf2, uint64_t transf1, uint64_t transf0) {
    ET_WRITE_REGISTERS(tensor_quant,
                       ET_FIELD(start_reg, 5, 57) | ET_FIELD(col, 2, 55) | ET_FIELD(row, 4, 51) |
                           ET_FIELD(scp_loc, 6, 45) | ET_FIELD(transf9, 4, 36) | ET_FIELD(transf8, 4, 32) |
                           ET_FIELD(transf7, 4, 28) | ET_FIELD(transf6, 4, 24) | ET_FIELD(transf5, 4, 20) |
                           ET_FIELD(transf4, 4, 16) | ET_FIELD(transf3, 4, 12) | ET_FIELD(transf2, 4, 8) |
                           ET_FIELD(transf1, 4, 4) | ET_FIELD(transf0, 4, 0));
}

// --- Messages --------------------------------------------------------------------------------------------------------

#define TENSOR_REDUCE_OP_FADD 0
#define TENSOR_REDUCE_OP_FMAX 2
#define TENSOR_REDUCE_OP_FMIN 3
#define TENSOR_REDUCE_OP_IADD 4
#define TENSOR_REDUCE_OP_IMAX 6
#define TENSOR_REDUCE_OP_IMIN 7
#define TENSOR_REDUCE_OP_FGET 8
#define ET_SEND 0
#define ET_RECEIVE 1
#define ET_BROADCAST 2
#define ET_REDUCE 3

#define ET_REDUCE_WORD(start_reg, operation, num_reg, partner, action)                               \
    (ET_FIELD(start_reg, 5, 57) | ET_FIELD(operation, 4, 24) | ET_FIELD(num_reg, 7, 16) | \
     ET_FIELD(partner, 13, 3) | ET_FIELD(action, 2, 0))

ET_INTRINSIC void tensor_reduce(uint64_t start_reg, uint64_t operation, uint64_t num_reg, uint64_t partnerID,
                                uint64_t action) {
    ET_WRITE_REGISTERS(tensor_reduce, ET_REDUCE_WORD(start_reg, operation, num_reg, partnerID, action));
}
ET_INTRINSIC void tensor_reduce_send(uint64_t start_reg, uint64_t num_reg, uint64_t partnerID) {
    tensor_reduce(start_reg, 0, num_reg, partnerID, ET_SEND);
}
ET_INTRINSIC void tensor_reduce_recv(uint64_t start_reg, uint64_t operation, uint64_t num_reg, uint64_t partnerID) {
    tensor_reduce(start_reg, operation, num_reg, partnerID, ET_RECEIVE);
}
ET_INTRINSIC void tensor_reduce_auto(uint64_t start_reg, uint64_t operation, uint64_t num_reg, uint64_t tree_depth) {
    tensor_reduce(start_reg, operation, num_reg, tree_depth & 0xF, ET_REDUCE);
}
ET_INTRINSIC void tensor_broadcast(uint64_t start_reg, uint64_t operation, uint64_t num_reg, uint64_t tree_depth) {
    tensor_reduce(start_reg, operation, num_reg, tree_depth & 0xF, ET_BROADCAST);
}
// One vector there and back, complete when the function returns. The partner is a minion or, on the tree, the height.
ET_INTRINSIC et_f32x8 et_reduce_f32x8(et_f32x8 x, uint64_t operation, uint64_t partner, uint64_t action) {
    register et_register value __asm__("v0") = x.lanes;
    __asm__ __volatile__("csrw tensor_reduce, %1\ncsrwi tensor_wait, 9"
                         : "+vr"(value)
                         : "r"(ET_REDUCE_WORD(0, operation, 1, partner, action))
                         : "memory");
    et_f32x8 result = {value};
    return result;
}
ET_INTRINSIC et_i32x8 et_reduce_i32x8(et_i32x8 x, uint64_t operation, uint64_t partner, uint64_t action) {
    return et_bits_of_f32x8(et_reduce_f32x8(et_f32x8_of_bits(x), operation, partner, action));
}
// Lane 0 of f0 to and from a scalar.
ET_INTRINSIC uint32_t tensor_reduce_uint32(uint32_t value, uint64_t operation, uint64_t partnerID, uint64_t action) {
    et_i32x8 sent = et_bits_of_f32x8(et_fbcx_ps(value));
    return (uint32_t)et_fmvz_x_ps(et_f32x8_of_bits(et_reduce_i32x8(sent, operation, partnerID, action)), 0);
}

// --- Barriers and credits --------------------------------------------------------------------------------------------

#define THREAD_0 0
#define THREAD_1 1
typedef enum { FCC_0 = 0, FCC_1 = 1 } fcc_t;
#define FLB_COUNT 32

// Joins a barrier of match + 1 harts of the shire; 1 for the last.
ET_INTRINSIC uint64_t flbarrier(uint64_t barrier_num, uint64_t match) {
    uint64_t last;
    __asm__ __volatile__("csrrw %0, flb, %1" : "=r"(last) : "r"(match << 5 | (barrier_num & 0x1F)) : "memory");
    return last;
}
ET_INTRINSIC uint64_t flb(uint64_t barrier_num, uint64_t match) { return flbarrier(barrier_num, match); }
ET_INTRINSIC void fcc_consume(uint64_t fcc_reg) { ET_WRITE(fcc, fcc_reg); }
ET_INTRINSIC void fcc(uint64_t fcc_reg) { fcc_consume(fcc_reg); }
ET_INTRINSIC void wait_fcc(fcc_t counter) { fcc_consume(counter); }
ET_INTRINSIC uint64_t fccnb(void) {
    uint64_t counts;
    __asm__ __volatile__("csrr %0, fccnb" : "=r"(counts) : : "memory");
    return counts;
}
ET_INTRINSIC uint64_t read_fcc(fcc_t counter) { return fccnb() >> 16 * counter & 0xFFFF; }
ET_INTRINSIC volatile uint64_t *et_shire_register(uint64_t shire, uint64_t offset) {
    return (volatile uint64_t *)(ET_SHIRE_REGISTERS + (shire << ET_SHIRE_BIT) + offset);
}
// Gives a credit to one thread of the minions in the mask.
ET_INTRINSIC void fcc_send(uint32_t shire, uint32_t thread, uint32_t fcc_reg, uint64_t hart_mask) {
    *et_shire_register(shire, 0xC0 + 8 * (thread << 1 | fcc_reg)) = hart_mask;
}
ET_INTRINSIC void flbarrier_set(uint32_t shire, uint32_t barrier_num, uint64_t value) {
    *et_shire_register(shire, 0x100 + 8 * barrier_num) = value;
}
// Returns when thread_count harts of the shire are here; the masks say which minions' threads they are.
ET_INTRINSIC uint64_t shire_barrier(uint64_t barrier_num, uint64_t fcc_reg, uint64_t thread_count,
                                    uint64_t minion_mask_t0, uint64_t minion_mask_t1) {
    uint64_t last = flbarrier(barrier_num, thread_count - 1);
    if (last) {
        if (minion_mask_t0) fcc_send(THIS_SHIRE, THREAD_0, (uint32_t)fcc_reg, minion_mask_t0);
        if (minion_mask_t1) fcc_send(THIS_SHIRE, THREAD_1, (uint32_t)fcc_reg, minion_mask_t1);
    }
    fcc_consume(fcc_reg);
    return last;
}

// --- Caches ----------------------------------------------------------------------------------------------------------

enum cop_dest { to_L1 = 0, to_L2 = 1, to_L3 = 2, to_Mem = 3 };

ET_INTRINSIC void riscv_fence(void) { __asm__ __volatile__("fence" : : : "memory"); }
#define ET_CACHE_OPERATION(csr, use_tmask, dst, addr, num_lines, stride, id)                                    \
    ET_WRITE_2(csr, ET_FIELD(use_tmask, 1, 63) | ET_FIELD(dst, 2, 58) | ET_LINE(addr) | ET_FIELD(num_lines, 4, 0), \
               ET_LINE(stride) | ET_FIELD(id, 1, 0))
ET_INTRINSIC void evict_va(uint64_t use_tmask, uint64_t dst, uint64_t addr, uint64_t num_lines, uint64_t stride,
                           uint64_t id) {
    ET_CACHE_OPERATION(evict_va, use_tmask, dst, addr, num_lines, stride, id);
}
ET_INTRINSIC void flush_va(uint64_t use_tmask, uint64_t dst, uint64_t addr, uint64_t num_lines, uint64_t stride,
                           uint64_t id) {
    ET_CACHE_OPERATION(flush_va, use_tmask, dst, addr, num_lines, stride, id);
}
ET_INTRINSIC void prefetch_va(uint64_t use_tmask, uint64_t dst, uint64_t addr, uint64_t num_lines, uint64_t stride,
                              uint64_t id) {
    ET_CACHE_OPERATION(prefetch_va, use_tmask, dst, addr, num_lines, stride, id);
}
ET_INTRINSIC void lock_va(uint64_t use_tmask, uint64_t addr, uint64_t num_lines, uint64_t stride, uint64_t id) {
    ET_CACHE_OPERATION(lock_va, use_tmask, 0, addr, num_lines, stride, id);
}
ET_INTRINSIC void unlock_va(uint64_t use_tmask, uint64_t addr, uint64_t num_lines, uint64_t stride, uint64_t id) {
    ET_CACHE_OPERATION(unlock_va, use_tmask, 0, addr, num_lines, stride, id);
}
// What this hart has written becomes visible to others: of `bytes` from an address on, to a level.
ET_INTRINSIC void et_flush(enum cop_dest to, const volatile void *from, uint64_t bytes) {
    uint64_t line = (uint64_t)from & ~63ul, end = (uint64_t)from + bytes;
    riscv_fence();
    for (; line < end; line += 64) flush_va(0, to, line, 0, 64, 0);
    tensor_wait(TENSOR_CACHEOP_WAIT);
}
ET_INTRINSIC void et_evict(enum cop_dest to, const volatile void *from, uint64_t bytes) {
    uint64_t line = (uint64_t)from & ~63ul, end = (uint64_t)from + bytes;
    riscv_fence();
    for (; line < end; line += 64) evict_va(0, to, line, 0, 64, 0);
    tensor_wait(TENSOR_CACHEOP_WAIT);
}

#endif
