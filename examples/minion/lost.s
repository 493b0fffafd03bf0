# LoadB brings 8 lines, and the product takes 16: it is not done, and bit 6 of tensor_error says so.
_start: csrr t0, mhartid
        bnez t0, end
        li t0, 0x2000
        csrs mstatus, t0
        csrwi mcache_control, 1
        csrwi mcache_control, 3
        tensor_load scp[0..15] from=a stride=64
        tensor_load_b TenB[0..7] from=b stride=64 id=1
        tensor_wait load0
        tensor_fma fp32 16x16x16 A=scp[0..15] B=TenB C=f0..f31 mul
        tensor_store 16x64B f0 to=c stride=64
        tensor_wait store
end:    li t0, 0x1FEED000
        csrw validation0, t0

.data
        .balign 64
a:      .zero 1024
b:      .zero 1024
c:      .zero 1024
