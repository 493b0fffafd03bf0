# One minion: C = A B for tiles of 16x16 in f32. A lies in the L1 scratchpad, B streams through TenB, C is f0 to f31.
#   polyloom asm examples/minion/tile.s --on minion -o tile.elf
#   polyloom simulate tile.elf --on minion --in a=a.npy --in b=b.npy --out c=c.npy:16x16:f32
_start: csrr    t0, mhartid
        bnez    t0, end             # hart 0 of minion 0 does everything
        li      t0, 0x2000
        csrs    mstatus, t0         # floats on
        csrwi   mcache_control, 1   # the L1 cache: split, then with 48 lines as scratchpad
        csrwi   mcache_control, 3

        tensor_load scp[0..15] from=a stride=64
        tensor_load_b TenB[0..15] from=b stride=64 id=1
        tensor_wait load0           # the lines of A are there; B needs no wait
        tensor_fma fp32 16x16x16 A=scp[0..15] B=TenB C=f0..f31 mul
        tensor_store 16x64B f0 to=c stride=64
        tensor_wait store           # C is in memory
end:    li      t0, 0x1FEED000
        csrw    validation0, t0

.data
        .balign 64
a:      .zero   1024
b:      .zero   1024
c:      .zero   1024
