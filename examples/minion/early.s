# A hazard: lines of the L1 scratchpad are multiplied before the load that fills them was waited for.
#   polyloom asm examples/minion/early.s --on minion -o early.elf
#   polyloom simulate early.elf --on minion
_start: csrr    t0, mhartid
        bnez    t0, end
        li      t0, 0x2000
        csrs    mstatus, t0
        csrwi   mcache_control, 1
        csrwi   mcache_control, 3
        li      x31, 64
        la      a0, a
        addi    t0, a0, 15          # 16 rows to lines 0 to 15
        csrw    tensor_load, t0
        li      t0, 0x01FF800000000001
        csrw    tensor_fma, t0      # `csrwi tensor_wait, 0` is missing above
        csrwi   tensor_wait, 7
end:    li      t0, 0x1FEED000
        csrw    validation0, t0

.data
        .balign 64
a:      .zero   1024
