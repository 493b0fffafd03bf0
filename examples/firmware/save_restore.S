// SPDX-License-Identifier: Apache-2.0
// The routines that -msave-restore calls at the beginning and at the end of a function: registers ra and s0 to s(n-1) in the frame that
// the RISC-V calling convention gives them, ra on top (riscv-toolchain-conventions, "Save and restore"). GNU compilers bring their own.
#if __riscv_xlen != 32
#error "rv32 only"
#endif

        .text
        .globl  __riscv_save_0, __riscv_save_1, __riscv_save_2, __riscv_save_3, __riscv_save_4, __riscv_save_5, __riscv_save_6
        .globl  __riscv_save_7, __riscv_save_8, __riscv_save_9, __riscv_save_10, __riscv_save_11, __riscv_save_12
        .globl  __riscv_restore_0, __riscv_restore_1, __riscv_restore_2, __riscv_restore_3, __riscv_restore_4, __riscv_restore_5
        .globl  __riscv_restore_6, __riscv_restore_7, __riscv_restore_8, __riscv_restore_9, __riscv_restore_10, __riscv_restore_11
        .globl  __riscv_restore_12

// Called with the return address in t0. A frame is a multiple of 16 bytes, four registers; t1 is what is given back of the largest one.
        .type   __riscv_save_12, @function
__riscv_save_12:
        addi    sp, sp, -64
        li      t1, 0
        sw      s11, 12(sp)
        j       .Lsave_11
__riscv_save_11:
__riscv_save_10:
__riscv_save_9:
__riscv_save_8:
        addi    sp, sp, -64
        li      t1, 16
.Lsave_11:
        sw      s10, 16(sp)
        sw      s9, 20(sp)
        sw      s8, 24(sp)
        sw      s7, 28(sp)
        j       .Lsave_7
__riscv_save_7:
__riscv_save_6:
__riscv_save_5:
__riscv_save_4:
        addi    sp, sp, -64
        li      t1, 32
.Lsave_7:
        sw      s6, 32(sp)
        sw      s5, 36(sp)
        sw      s4, 40(sp)
        sw      s3, 44(sp)
        j       .Lsave_3
__riscv_save_3:
__riscv_save_2:
__riscv_save_1:
__riscv_save_0:
        addi    sp, sp, -64
        li      t1, 48
.Lsave_3:
        sw      s2, 48(sp)
        sw      s1, 52(sp)
        sw      s0, 56(sp)
        sw      ra, 60(sp)
        add     sp, sp, t1
        jr      t0
        .size   __riscv_save_12, . - __riscv_save_12

// Jumped to; they return to whoever called the function.
        .type   __riscv_restore_12, @function
__riscv_restore_12:
        lw      s11, 12(sp)
        addi    sp, sp, 16
__riscv_restore_11:
__riscv_restore_10:
__riscv_restore_9:
__riscv_restore_8:
        lw      s10, 0(sp)
        lw      s9, 4(sp)
        lw      s8, 8(sp)
        lw      s7, 12(sp)
        addi    sp, sp, 16
__riscv_restore_7:
__riscv_restore_6:
__riscv_restore_5:
__riscv_restore_4:
        lw      s6, 0(sp)
        lw      s5, 4(sp)
        lw      s4, 8(sp)
        lw      s3, 12(sp)
        addi    sp, sp, 16
__riscv_restore_3:
__riscv_restore_2:
__riscv_restore_1:
__riscv_restore_0:
        lw      s2, 0(sp)
        lw      s1, 4(sp)
        lw      s0, 8(sp)
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret
        .size   __riscv_restore_12, . - __riscv_restore_12
