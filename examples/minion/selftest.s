# SPDX-License-Identifier: Apache-2.0
# A test program in the manner of those that verify cores: start-up, a trap handler, and its result in validation0.
    .equ PASS, 0x1feed000
    .equ FAIL, 0x50bad000
    .equ ILLEGAL_INSTRUCTION, 2

    .macro finish result
    li t0, \result
    csrw validation0, t0
    wfi
    .endm

    .macro check register, value
    li t6, \value
    bne \register, t6, failed
    .endm

    .section .text.init, "ax"
    .global _start
_start:
    la t0, trap
    csrw mtvec, t0
    la sp, stack_end
    lw a0, table + 4 * 3        # the fourth word of the table
    check a0, 4 * 4
    .insn 4, 0xffffffff         # no instruction: the handler notes the cause, and goes on behind it
    check s0, ILLEGAL_INSTRUCTION
    sd s0, -8(sp)
    ld s1, -8(sp)
    check s1, ILLEGAL_INSTRUCTION
    finish PASS
failed:
    finish FAIL

    .text
    .balign 4096                # mtvec has no lower bits
trap:
    csrr s0, mcause
    csrr t1, mepc
    add t1, t1, 4
    csrw mepc, t1
    mret

    .section .rodata
table:
    .set N, 1
    .rept 4
    .word N * N
    .set N, N + 1
    .endr

    .bss
    .balign 16
    .space 256
stack_end:
