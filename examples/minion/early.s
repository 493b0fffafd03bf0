# A hazard: lines of the L1 scratchpad are multiplied before the load that fills them was waited for.
#   polyloom asm examples/minion/early.s --on minion -o early.elf
#   polyloom simulate early.elf --on minion
_start: csrr    t0, mhartid
        bnez    t0, end
        li      t0, 0x2000
        csrs    mstatus, t0
        csrwi   mcache_control, 1
        csrwi   mcache_control, 3
        tensor_load scp[0..15] from=a stride=64
        tensor_fma fp32 16x16x16 A=scp[0..15] B=scp[0..15] C=f0..f31 mul
        tensor_wait fma
end:    li      t0, 0x1FEED000
        csrw    validation0, t0

.data
        .balign 64
a:      .zero   1024
