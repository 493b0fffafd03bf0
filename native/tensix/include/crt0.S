# SPDX-License-Identifier: Apache-2.0
# Start of a program on any core: a stack in local memory, no data that is not cleared, main, and the end.
    .section .start, "ax"
    .globl _start
_start:
    la sp, __stack
    la t0, __bss_start
    la t1, __bss_end
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
    ebreak
3:  j 3b
