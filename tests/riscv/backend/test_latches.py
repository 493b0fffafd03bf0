# SPDX-License-Identifier: Apache-2.0
"""The way back of a loop: copies move in front of the branch where they may, and steps behind the test that reads what
they follow."""

from __future__ import annotations

import numpy as np

from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_verify import verify
from polyloom.riscv import names
from polyloom.riscv.backend.code import ZERO, Block, Code, Op, Reg
from polyloom.riscv.backend.latches import straighten_latches
from polyloom.riscv.backend.sink import sink_steps
from polyloom.transform.ssa.destruct import split_critical_edges

A, B, C, D = (Reg("x", n) for n in (10, 11, 12, 13))
COPY, STEP = Op("mv", (A, C)), Op("addi", (C, A, 1))


def _code(branch: Op, *end: Op, way: tuple[Op, ...] = (COPY, Op("j", ("loop",)))) -> Code:
    loop = Block("loop", (STEP, branch, Op("j", ("back",))))
    return Code("f", names.parse_isa("rv64gc"), (loop, Block("back", way), Block("end", (*end, Op("ret")))))


def _ops(code: Code, k: int) -> tuple[Op, ...]:
    return code.blocks[k].ops


def test_a_copy_moves_in_front_of_the_branch() -> None:
    branch = Op("beq", (B, C, "end"))
    after = straighten_latches(_code(branch, Op("sd", (C, 0, D))))
    assert _ops(after, 0) == (STEP, COPY, branch, Op("j", ("back",)))
    assert _ops(after, 1) == (Op("j", ("loop",)),)


def test_a_copy_stays_where_what_it_overwrites_is_needed() -> None:
    read = _code(Op("beq", (A, B, "end")))
    behind = _code(Op("beq", (B, ZERO, "end")), Op("sd", (A, 0, D)))
    more = _code(Op("beq", (B, C, "end")), way=(Op("addi", (A, C, 1)), Op("j", ("loop",))))
    onward = _code(Op("beq", (B, C, "loop")), way=(COPY, Op("j", ("end",))))
    for code in (read, behind, more, onward):
        assert straighten_latches(code) == code


TEXT = """\
function f(%p: ptr, %n: i32) -> i32 {
entry:
    %end: ptr = offset %p, 64:i64
    jump loop(%n, %end)
loop(%j: i32, %at: ptr):
    %before: ptr = offset %at, -4:i64
    %x: i32 = load %before align 4
    store %j, %at align 4
    %next: i32 = add %j, -1:i32
    %again: i1 = sgt %j, LIMIT
    branch %again, loop(%next, %before), done(%x)
done(%r: i32):
    return %r
}
"""


def test_a_step_stands_behind_the_test_of_what_it_follows() -> None:
    before = split_critical_edges(verify(read(TEXT.replace("LIMIT", "1:i32"))))
    after = verify(sink_steps(before))
    (way,) = (b for b in after.blocks if b.name.startswith("loop."))
    assert [i.operation for i in way.instructions] == ["add", "offset"]
    (loop,) = (b for b in after.blocks if b.name == "loop")
    assert [i.operation for i in loop.instructions] == ["offset", "load", "store", "sgt"]
    for n in (-3, 1, 5):
        assert interpret(after, [np.arange(17, dtype="i4"), n]) == interpret(before, [np.arange(17, dtype="i4"), n])


def test_a_step_stays_where_the_test_reads_another() -> None:
    other = split_critical_edges(verify(read(TEXT.replace("sgt %j, LIMIT", "sgt %next, 1:i32"))))
    assert sink_steps(other) == other
