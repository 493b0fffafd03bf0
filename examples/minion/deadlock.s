# Two minions that both send first: neither is ready to receive. `simulate` says who waits for whom.
#   polyloom asm examples/minion/deadlock.s --on minion -o deadlock.elf
#   polyloom simulate deadlock.elf --on minion:2
_start: csrr    s0, mhartid
        andi    t0, s0, 1
        bnez    t0, end
        srli    s0, s0, 1
        li      t0, 0x2000
        csrs    mstatus, t0
        xori    s1, s0, 1           # the other one
        slli    s1, s1, 3
        li      t0, 0x10000         # one register, f0
        or      t0, t0, s1
        csrw    tensor_reduce, t0   # send
        ori     t0, t0, 1
        csrw    tensor_reduce, t0   # receive
        tensor_wait reduce
end:    li      t0, 0x1FEED000
        csrw    validation0, t0
