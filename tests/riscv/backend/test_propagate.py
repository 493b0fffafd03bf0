# SPDX-License-Identifier: Apache-2.0
"""Copies within a block: read through while the source keeps its value, and only where all readers can be."""

from __future__ import annotations

from polyloom.riscv import names
from polyloom.riscv.backend.code import PHYSICAL, ZERO, Block, Code, Op, Reg
from polyloom.riscv.backend.live import eliminate_dead_code
from polyloom.riscv.backend.propagate import propagate_copies
from polyloom.riscv.backend.schedule import schedule

V, W, X, Y = (Reg("x", PHYSICAL + n) for n in range(4))


def _ops(change: Code) -> list[str]:
    return [str(op) for block in change.blocks for op in block.ops]


def _code(*blocks: tuple[Op, ...]) -> Code:
    return Code("f", names.parse_isa("rv64gc"), tuple(Block(f"b{k}", ops) for k, ops in enumerate(blocks)))


COPY, NEXT = Op("mv", (W, V)), Op("addi", (V, V, 1))
READ = Op("add", (X, W, Y))
STORE = Op("sd", (X, 0, Y))


def test_a_copy_is_read_through_before_the_next_value() -> None:
    code = _code((COPY, READ, STORE, NEXT, Op("bne", (V, Y, "b0")), Op("j", ("b1",))), (Op("ret"),))
    read = str(Op("add", (X, V, Y)))
    assert _ops(eliminate_dead_code(propagate_copies(code)))[:2] == [read, str(STORE)]


def test_a_copy_that_is_read_behind_the_next_value_stays() -> None:
    code = _code((COPY, NEXT, READ, STORE, Op("bne", (V, Y, "b0")), Op("j", ("b1",))), (Op("ret"),))
    assert propagate_copies(code) == code


def test_a_copy_that_another_block_reads_stays() -> None:
    code = _code((COPY, READ, STORE, Op("j", ("b1",))), (READ, STORE, Op("ret")))
    assert propagate_copies(code) == code


def test_the_next_value_of_a_variable_is_made_behind_its_readers() -> None:
    """Both then can be one register; without the copy the first result on the longest path would come first."""
    load, step = Op("ld", (X, 0, V)), Op("addi", (W, V, 8))
    use = Op("mul", (Y, W, W))
    store = Op("sd", (ZERO, 0, V))
    body = (load, store, step, use, Op("mv", (V, W)), Op("bne", (Y, ZERO, "b0")), Op("j", ("b1",)))
    made = _ops(schedule(_code(body, (Op("ret"),))))
    assert made.index(str(step)) > made.index(str(store))
    free = (*body[:4], *body[5:])
    made = _ops(schedule(_code(free, (Op("ret"),))))
    assert made.index(str(step)) < made.index(str(store))
