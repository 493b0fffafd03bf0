# A barrier of all minions of a shire: everyone joins FLB 0, the last one gives everyone a credit, everyone takes one.
# Minion 31 stores a number before it, and minion 0 reads it behind it.
#   polyloom asm examples/minion/barrier.s --on minion -o barrier.elf
#   polyloom simulate barrier.elf --on minion:32 --out seen=seen.npy:1:i32
_start: csrr    s0, mhartid
        andi    t0, s0, 1
        bnez    t0, end
        srli    s0, s0, 1
        li      t0, 31
        bne     s0, t0, join

        la      a0, word
        li      t0, 42
        amoswapg.w t1, t0, (a0)     # global: past the caches, to where the line is at home

join:   li      t0, 0x3e0           # (32 - 1) << 5 | barrier 0
        csrrw   t1, flb, t0
        beqz    t1, take            # not the last one
        li      t0, 0xffffffff      # minions 0 to 31
        li      t2, 0x13ff400c0     # CREDINC0 of one's own shire
        sd      t0, 0(t2)
take:   csrwi   fcc, 0              # sleeps until there is a credit
        bnez    s0, end

        la      a0, word
        amoorg.w t0, zero, (a0)
        la      a1, seen
        amoswapg.w t1, t0, (a1)
end:    li      t0, 0x1FEED000
        csrw    validation0, t0

.data
        .balign 64
word:   .zero   64
seen:   .zero   64
