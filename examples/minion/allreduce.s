# 32 minions of a shire add a vector each along the tree, and all of them get the sum.
#   polyloom asm examples/minion/allreduce.s --on minion -o allreduce.elf
#   polyloom simulate allreduce.elf --on minion:32 --in x=x.npy --out y=y.npy:32x8:f32
# x and y have a row of eight numbers for each minion, in lines of 64 bytes of which the first half is used.
_start: csrr    s0, mhartid
        andi    t0, s0, 1
        bnez    t0, end
        srli    s0, s0, 1           # the minion
        li      t0, 0x2000
        csrs    mstatus, t0
        mov.m.x m0, zero, 255       # all lanes

        slli    s1, s0, 6
        la      a0, x
        add     a0, a0, s1
        flw.ps  f0, 0(a0)

# At height h the minions whose numbers end in h + 1 zero bits receive from those 2^h above; the others do nothing.
        tensor_reduce f0*1 height=0 fadd
        tensor_reduce f0*1 height=1 fadd
        tensor_reduce f0*1 height=2 fadd
        tensor_reduce f0*1 height=3 fadd
        tensor_reduce f0*1 height=4 fadd

# The sum is minion 0's, and goes back the way it came.
        tensor_broadcast f0*1 height=4 move
        tensor_broadcast f0*1 height=3 move
        tensor_broadcast f0*1 height=2 move
        tensor_broadcast f0*1 height=1 move
        tensor_broadcast f0*1 height=0 move
        tensor_wait reduce

        la      a1, y
        add     a1, a1, s1
        fsw.ps  f0, 0(a1)
        fence
        li      x31, 64
        li      t1, 3
        slli    t1, t1, 58          # to memory
        or      t0, a1, t1
        csrw    flush_va, t0        # one line; without this only this minion's L1 has it
        tensor_wait cacheop
end:    li      t0, 0x1FEED000
        csrw    validation0, t0

.data
        .balign 64
x:      .zero   2048
y:      .zero   2048
