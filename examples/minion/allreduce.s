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

# tensor_reduce: command in [1:0], height in [6:3], one register from bit 16 on, the operation in [27:24].
        li      t0, 0x0000000000010003
        csrw    tensor_reduce, t0
        li      t0, 0x000000000001000b
        csrw    tensor_reduce, t0
        li      t0, 0x0000000000010013
        csrw    tensor_reduce, t0
        li      t0, 0x000000000001001b
        csrw    tensor_reduce, t0
        li      t0, 0x0000000000010023
        csrw    tensor_reduce, t0

# The sum is minion 0's, and goes back the way it came: broadcast, from the greatest height down, the operation `move`.
        li      t0, 0x0000000008010022
        csrw    tensor_reduce, t0
        li      t0, 0x000000000801001a
        csrw    tensor_reduce, t0
        li      t0, 0x0000000008010012
        csrw    tensor_reduce, t0
        li      t0, 0x000000000801000a
        csrw    tensor_reduce, t0
        li      t0, 0x0000000008010002
        csrw    tensor_reduce, t0
        csrwi   tensor_wait, 9

        la      a1, y
        add     a1, a1, s1
        fsw.ps  f0, 0(a1)
        fence
        li      x31, 64
        li      t1, 3
        slli    t1, t1, 58          # to memory
        or      t0, a1, t1
        csrw    flush_va, t0        # one line; without this only this minion's L1 has it
        csrwi   tensor_wait, 6
end:    li      t0, 0x1FEED000
        csrw    validation0, t0

.data
        .balign 64
x:      .zero   2048
y:      .zero   2048
