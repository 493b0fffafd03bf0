# SPDX-License-Identifier: Apache-2.0
"""Intervals of integers, from operations, counters and conditions; random functions stay within theirs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.transform.ssa.counted import SIZE, counted

from polyloom.analysis.value_ranges import ValueRanges
from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Constant, Function, Instruction, Value
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_types import I1, I32

TEXT = """\
function f(%n: i32, %b: i8) -> i32 {
entry:
    %wide: i32 = zext %b
    %low: i32 = and %n, 7:i32
    jump test(2:i32)
test(%i: i32):
    %more: i1 = slt %i, %low
    branch %more, body, end
body:
    %before: i32 = sub %i, 2:i32
    %next: i32 = add %i, 1:i32
    jump test(%next)
end:
    return %wide
}
"""


def test_counters_conditions_and_masks() -> None:
    function = read(TEXT)
    ranges = ValueRanges(function)

    def interval(name: str, block: str) -> tuple[int, int]:
        return ranges.interval(Value(name, I32), ranges.position[block])

    assert interval("wide", "end") == (0, 255)
    assert interval("low", "test") == (0, 7)
    assert interval("i", "body") == (2, 6)
    assert interval("i", "test")[0] == 2
    assert interval("before", "body") == (0, 4)
    (counter,) = function.blocks[1].parameters
    assert ranges.counts_exactly(counter)
    assert not ValueRanges(read(TEXT.replace("slt %i", "ne %i"))).counts_exactly(counter)


def _constant(number: int) -> Constant:
    return Constant(I32, number)


_TYPES = (I1, I32, I32)


def _watched(function: Function, value: Value, low: int, high: int, block: int) -> Function:
    """The function with a fault, a division by zero, where a value is out of its interval."""
    tests: list[Instruction] = []
    for operation, bound in (("sge", low), ("sle", high)):
        test, number, quotient = (Value(f"watched.{operation}.{k}", t) for k, t in enumerate(_TYPES))
        tests += [
            Instruction(operation, (value, _constant(bound)), (test,)),
            Instruction("zext", (test,), (number,)),
            Instruction("sdiv", (_constant(1), number), (quotient,)),
        ]
    blocks = list(function.blocks)
    own = blocks[block].instructions
    at = next((k + 1 for k, i in enumerate(own) if value in i.results), 0)
    blocks[block] = replace(blocks[block], instructions=(*own[:at], *tests, *own[at:]))
    return replace(function, blocks=tuple(blocks))


@given(counted(), st.integers(-3, 6), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_random_functions_stay_within(function: Function, n: int, random: Random) -> None:
    ranges = ValueRanges(function)
    values = [
        (v, k)
        for k, block in enumerate(function.blocks)
        for v in (*block.parameters, *(r for i in block.instructions for r in i.results))
        if v.type == I32
    ]
    for value, k in random.sample(values, min(4, len(values))):
        watched = _watched(function, value, *ranges.interval(value, k), k)
        assert _fault(watched, n) == _fault(function, n)


def _fault(function: Function, n: int) -> str:
    try:
        interpret(function, [n, *(np.arange(SIZE, dtype=np.int32) for _ in range(3))], 20_000)
    except PolyloomError as error:
        return "" if error.diagnostics[0].code == "PL0974" else error.diagnostics[0].code
    return ""
