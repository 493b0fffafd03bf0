# SPDX-License-Identifier: Apache-2.0
"""Strength reduction of addresses: the meaning stays, multiplications and counters leave the loops."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.transform.ssa import programs

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function, Instruction
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.preheaders import with_preheaders
from polyloom.transform.ssa.strength_reduction import reduce_strength

STENCIL = """\
function f(%a: ptr, %b: ptr, %n: i64, %m: i64) -> i64 {
entry:
    jump loop(1:i64, 0:i64)
loop(%i: i64, %s: i64):
    %row: i64 = add %m, %i
    %byte: i64 = shl %row, 3:i64
    %at: ptr = offset %b, %byte
    %x: i64 = load %at align 8
    %before: i64 = add %row, -1:i64
    %less: i64 = mul %before, 8:i64
    %there: ptr = offset %b, %less
    %y: i64 = load %there align 8
    %sum: i64 = add %x, %y
    %own: i64 = shl %i, 3:i64
    %to: ptr = offset %a, %own
    store %sum, %to align 8
    %t: i64 = add %s, %sum
    %next: i64 = add %i, 1:i64
    %again: i1 = ne %next, %n
    branch %again, loop(%next, %t), end
end:
    return %t
}
"""
READ_BEHIND = STENCIL.replace("return %t", "%r: i64 = add %t, %next\n    return %r")
"""The counter is needed after the loop."""


def _in_loop(function: Function) -> list[Instruction]:
    loop = next(b for b in function.blocks if b.name == "loop")
    return list(loop.instructions)


def _results(function: Function) -> tuple[object, list[int], list[int]]:
    a, b = np.zeros(12, "i8"), np.arange(12, dtype="i8") ** 2
    return interpret(function, [a, b, 9, 2]), a.tolist(), b.tolist()


def test_addresses_become_two_pointers_and_the_counter_goes() -> None:
    before = verify(read(STENCIL))
    after = verify(reduce_strength(before))
    assert _results(after) == _results(before)
    operations = [i.operation for i in _in_loop(after)]
    assert not {"shl", "mul"} & set(operations)
    # One distance of -8 from the first pointer, and a step of each of the two.
    assert operations.count("offset") == 3
    assert operations.count("add") == 2
    (loop,) = (b for b in after.blocks if b.name == "loop")
    assert [str(p.type) for p in loop.parameters] == ["i64", "ptr", "ptr"]


def test_a_counter_that_is_read_elsewhere_stays() -> None:
    before = verify(read(READ_BEHIND))
    after = verify(reduce_strength(before))
    assert _results(after) == _results(before)
    assert [i.operation for i in _in_loop(after)].count("add") == 3


def test_an_address_in_a_branch_within_the_loop_is_left_alone() -> None:
    """It may not be computed in each iteration: a pointer that moves in each would cost more."""
    text = """\
function f(%a: ptr, %n: i64) -> i64 {
entry:
    jump loop(0:i64)
loop(%i: i64):
    %odd: i64 = and %i, 1:i64
    %is: i1 = ne %odd, 0:i64
    branch %is, store, latch
store:
    %byte: i64 = shl %i, 3:i64
    %to: ptr = offset %a, %byte
    store %i, %to align 8
    jump latch
latch:
    %next: i64 = add %i, 1:i64
    %again: i1 = ne %next, %n
    branch %again, loop(%next), end
end:
    return %next
}
"""
    assert verify(reduce_strength(read(text))) == read(text)


@given(programs.functions(), st.integers(-50, 50))
@settings(max_examples=60)
def test_any_jumps(function: Function, n: int) -> None:
    """Irreducible loops, too, and several jumps back."""
    for each in (function, construct(function)):
        try:
            expected = interpret(each, [n], 50_000)
        except PolyloomError:
            assume(False)
            return
        assert interpret(verify(with_preheaders(each)), [n], 100_000) == expected
        assert interpret(verify(reduce_strength(each)), [n], 200_000) == expected


@given(st.integers(1, 12), st.integers(1, 5), st.integers(-3, 3), st.integers(0, 3))
def test_steps_and_distances(trips: int, step: int, distance: int, more: int) -> None:
    text = STENCIL.replace("add %i, 1:i64", f"add %i, {step}:i64").replace(
        "add %row, -1:i64", f"add %row, {distance}:i64"
    )
    before = verify(read(text))
    n = 1 + trips * step
    b = np.arange(n + 16, dtype="i8") ** 2

    def results(function: Function) -> tuple[object, list[int]]:
        a = np.zeros(n + 16, "i8")
        return interpret(function, [a, b, n, more + 2]), a.tolist()

    assert results(verify(reduce_strength(before))) == results(before)
