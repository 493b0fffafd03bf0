// SPDX-License-Identifier: Apache-2.0
// Start-up of a program in C: every hart gets a stack; hart 0 of a minion calls `main`, hart 1 calls `thread1` where the
// program has one. What they return is the result of the hart: 0 passes. Source: ET Programmer's Reference Manual,
// chapters 4 (masks), 8 (modes of L1); RISC-V Privileged Architecture, mstatus.FS.

    .section .text.start, "ax"
    .globl _start
_start:
#ifdef ET_ERBIUM
    csrr t0, mhartid                    // hart 0 alone is started there: it enables the others
    bnez t0, 1f
    li t0, 0x80F40000
    sd zero, 0x240(t0)                  // thread0_disable
    sd zero, 0x10(t0)                   // thread1_disable
1:
#endif
    li t0, 0x6000                       // mstatus.FS: f registers are used
    csrs mstatus, t0
    csrw fcsr, zero
    mov.m.x m0, zero, 255               // all lanes
    csrr t0, mhartid
    andi t1, t0, 1
    bnez t1, 1f
    li t1, 1                            // L1: split, then with a scratchpad, the only order that is allowed
    csrw mcache_control, t1
    li t1, 3
    csrw mcache_control, t1
    j 2f
1:  csrr t1, ucache_control             // the change of modes drops what L1 holds: hart 1 waits before it writes
    andi t1, t1, 3
    addi t1, t1, -3
    bnez t1, 1b
2:  la sp, __stack_end                  // lines of equal stacks would share banks and sets: they are 64 bytes apart
    lui t1, %hi(__stack_pitch)
    addi t1, t1, %lo(__stack_pitch)
    mul t1, t0, t1
    sub sp, sp, t1
    andi t0, t0, 1
    la t1, thread1
    bnez t0, 3f
    la t1, main
3:  jalr t1
    li t0, 0x1FEED000
    sext.w a0, a0
    beqz a0, 4f
    li t0, 0x50BAD000
4:  csrw validation0, t0
5:  wfi
    j 5b

    .weak thread1                       // where the program has none
thread1:
    li a0, 0
    ret
