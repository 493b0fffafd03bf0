# Every minion's hart 0 prints its number; hart 1 ends at once.
#   polyloom asm examples/minion/hello.s --on minion -o hello.elf
#   polyloom simulate hello.elf --on minion:4
_start: csrr    s0, mhartid
        andi    t0, s0, 1
        bnez    t0, end
        srli    s0, s0, 1           # the minion
        li      s1, 1
        slli    s1, s1, 56          # validation1 prints the byte below this bit
        addi    t0, s0, 0x30        # '0' + minion, for fewer than ten
        or      t0, t0, s1
        csrw    validation1, t0
        ori     t0, s1, 10          # a line feed
        csrw    validation1, t0
end:    li      t0, 0x1FEED000
        csrw    validation0, t0
