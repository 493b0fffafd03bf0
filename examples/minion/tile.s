# One minion: C = A B for tiles of 16x16 in f32. A lies in the L1 scratchpad, B streams through TenB, C is f0 to f31.
#   polyloom asm examples/minion/tile.s --on minion -o tile.elf
#   polyloom simulate tile.elf --on minion --in a=a.npy --in b=b.npy --out c=c.npy:16x16:f32
_start: csrr    t0, mhartid
        bnez    t0, end             # hart 0 of minion 0 does everything
        li      t0, 0x2000
        csrs    mstatus, t0         # floats on
        csrwi   mcache_control, 1   # the L1 cache: split, then with 48 lines as scratchpad
        csrwi   mcache_control, 3

        li      x31, 64             # rows lie 64 bytes apart; id 0
        la      a0, a
        addi    t0, a0, 15          # 16 rows to lines 0 to 15
        csrw    tensor_load, t0

        li      x31, 65             # id 1
        la      a1, b
        li      t1, 1
        slli    t1, t1, 52          # to TenB
        or      t0, a1, t1
        addi    t0, t0, 15
        csrw    tensor_load, t0

        csrwi   tensor_wait, 0      # the lines of A are there
        li      t0, 0x01FF800000100001
        csrw    tensor_fma, t0      # fp32, 16x16x16, B from TenB, the first product of its sum

        li      x31, 64
        la      a2, c
        li      t1, 0x01F8000000000000
        or      t0, a2, t1          # 16 rows of 64 bytes, from f0 on
        csrw    tensor_store, t0
        csrwi   tensor_wait, 8      # C is in memory
end:    li      t0, 0x1FEED000
        csrw    validation0, t0

.data
        .balign 64
a:      .zero   1024
b:      .zero   1024
c:      .zero   1024
