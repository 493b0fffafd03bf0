# SPDX-License-Identifier: Apache-2.0
"""Indices of 32 bits in 64: wherever a loop begins, and whatever wraps around before, addresses are those of the loop
as it was; and an index that no access vouches for stays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.transform.ssa import programs

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.index_widening import widen_indices
from polyloom.transform.ssa.strength_reduction import reduce_strength

TEXT = """\
function f(%p: ptr, %row: i32, %m: i32, %s: i64, %n: i64) -> i32 {
entry:
    %middle: ptr = offset %p, 256:i64
    %r: i64 = zext %row
    jump loop(%s, 0:i32)
loop(%i: i64, %t: i32):
    %low: i32 = trunc %i
    SUM
    %byte: i64 = shl %wide, 2:i64
    %at: ptr = offset %middle, %byte
    %v: i32 = load %at align 4
    %more: i32 = mul %t, 3:i32
    %u: i32 = add %more, %v
    %next: i64 = add %i, STEP:i64
    %again: i1 = ne %next, %n
    branch %again, loop(%next, %u), end
end:
    return %u
}
"""
SUMS: dict[str, tuple[str, Callable[[int, int], int], int]] = {
    "row": ("%x: i32 = add %row, %low\n%y: i32 = add %x, -1:i32\n%wide: i64 = sext %y", lambda low, m: low - 1, 1),
    "factor": ("%x: i32 = mul %low, -3:i32\n%y: i32 = sub %x, %row\n%wide: i64 = sext %y", lambda low, m: -3 * low, -1),
    "shift": (
        "%x: i32 = shl %low, 2:i32\n%z: i32 = or %x, 3:i32\n%y: i32 = add %z, %row\n%wide: i64 = sext %y",
        lambda low, m: 4 * low + 3,
        1,
    ),
    "product": ("%x: i32 = mul %m, %low\n%y: i32 = add %x, %row\n%wide: i64 = sext %y", lambda low, m: m * low, 1),
    "later": (
        "%k: i32 = add %low, 2:i32\n%x: i32 = mul %k, %m\n%z: i32 = add %x, %low\n%y: i32 = sub %z, %row\n"
        "%wide: i64 = sext %y",
        lambda low, m: (low + 2) * m + low,
        -1,
    ),
    "up-and-back": (
        "%q: i64 = shl %r, 32:i64\n%x: i64 = shl %i, 33:i64\n%z: i64 = add %x, %q\n"
        "%y: i64 = add %z, 4294967296:i64\n%wide: i64 = ashr %y, 31:i64",
        lambda low, m: 2 * low + 1,
        1,
    ),
}
"""The index; its sum without the row; and how the row counts."""
FACTORS = (0, 1, -1, 5, -7, 2**31 - 1, -(2**31), 2**30, 2**31 - 3)
STARTS = (0, 1, -3, 46341, 2**31 - 2, 2**31 + 1, 2**32 - 2, -(2**32), -(2**31) - 1, 2**62)


def _function(name: str, step: int = 1, text: str = TEXT) -> Function:
    lines = SUMS[name][0].replace("\n", "\n    ")
    return verify(read(text.replace("SUM", lines).replace("STEP", str(step))))


def _wrapped(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _extends(function: Function) -> bool:
    """Whether a loop extends an index: what is before it does so once."""
    loops = [b for b in function.blocks if any(i.operation == "load" for i in b.instructions)]
    return any(i.operation in ("sext", "ashr") for b in loops for i in b.instructions)


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("step", [1, -1, 3])
def test_the_loop_extends_nothing(name: str, step: int) -> None:
    before = _function(name, step)
    assert _extends(before)
    after = verify(widen_indices(before))
    assert not _extends(after)
    (loop,) = (b for b in verify(reduce_strength(after)).blocks if any(i.operation == "load" for i in b.instructions))
    assert [i.operation for i in loop.instructions if i.operation in ("shl", "mul", "trunc", "offset")] == [
        *["mul"],
        *["offset"],
    ]


@given(
    st.sampled_from(list(SUMS)),
    st.sampled_from(FACTORS),
    st.sampled_from(STARTS),
    st.integers(-40, 40),
    st.integers(1, 6),
    st.sampled_from((1, -1, 2, 3)),
)
@settings(max_examples=300)
def test_whatever_wraps_around_before(name: str, m: int, start: int, index: int, trips: int, step: int) -> None:
    """The first index is near the middle of the array, whatever the sum is before it wraps around."""
    before = _function(name, step)
    _, sum, sign = SUMS[name]
    scale = 2 if name == "up-and-back" else 1
    row = _wrapped(sign * (index // scale - sum(_wrapped(start), m)))
    values = [np.arange(128, dtype="i4"), row, m, start, start + trips * step]
    try:
        expected = interpret(before, values)
    except PolyloomError:
        assume(False)
        return
    after = verify(widen_indices(before))
    assert interpret(after, values) == expected
    assert interpret(verify(reduce_strength(after)), values) == expected


LOAD = "    %v: i32 = load %at align 4\n"
SHIFT = "    %byte: i64 = shl %wide, 2:i64\n"
UNKNOWN = {
    "not in each iteration": {
        LOAD: "    %even: i1 = trunc %i\n    branch %even, some, other(0:i32)\nsome:\n"
        + LOAD
        + "    jump other(%v)\nother(%w: i32):\n",
        "add %more, %v": "add %more, %w",
    },
    "read elsewhere": {"%more: i32 = mul %t, 3:i32": "%more: i32 = trunc %wide"},
    "left before": {
        SHIFT: "    %far: i1 = slt %wide, 9:i64\n    branch %far, near, out\nout:\n    return 7:i32\nnear:\n" + SHIFT
    },
    "address stored": {LOAD: LOAD + "    store %at, %p align 8\n"},
    "address behind": {"    return %u\n": "    %last: i32 = load %at align 4\n    return %last\n"},
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_no_access_vouches_for_stays(name: str) -> None:
    text = TEXT
    for old, new in UNKNOWN[name].items():
        assert old in text
        text = text.replace(old, new)
    before = _function("row", text=text)
    assert widen_indices(before) == before


PAIR = """\
function f(%p: ptr, %row: i32, %n: i64) -> i32 {
entry:
    %middle: ptr = offset %p, 256:i64
    jump loop(0:i64, 0:i32)
loop(%i: i64, %t: i32):
    %low: i32 = trunc %i
    %x: i32 = add %row, %low
    %wide: i64 = sext %x
    %byte: i64 = shl %wide, 2:i64
    %at: ptr = offset %middle, %byte
    %v: i32 = load %at align 4
    %y: i32 = add %x, DISTANCE:i32
    %there: i64 = sext %y
    %bytes: i64 = shl %there, 2:i64
    %beside: ptr = offset BASE, %bytes
    %odd: i1 = trunc %v
    branch %odd, some, next(%v)
some:
    %w: i32 = load %beside align 4
    jump next(%w)
next(%a: i32):
    %u: i32 = add %t, %a
    %next.i: i64 = add %i, 1:i64
    %again: i1 = ne %next.i, %n
    branch %again, loop(%next.i, %u), end
end:
    return %u
}
"""


def test_what_some_iterations_access_is_beside_what_all_do() -> None:
    """An access at a constant distance needs no pointer of its own; one of another array stays, for nothing tells that
    it does not wrap around."""
    for base, left in (("%middle", 0), ("%p", 1)):
        before = verify(read(PAIR.replace("DISTANCE", "2").replace("BASE", base)))
        after = verify(widen_indices(before))
        loops = [b for b in after.blocks if b.name in ("loop", "some")]
        assert sum(i.operation == "sext" for b in loops for i in b.instructions) == left
        for row in (3, -40, 2**31 - 1):
            values = [np.arange(128, dtype="i4"), row, 5]
            try:
                expected = interpret(before, values)
            except PolyloomError:
                continue
            assert interpret(after, values) == expected


def test_nothing_is_done_to_pointers_of_32_bits() -> None:
    narrow = "pointers 32\nfunction f(%p: ptr) {\nentry:\n    return\n}\n"
    assert widen_indices(read(narrow)) == read(narrow)


@given(programs.functions(), st.integers(-50, 50))
@settings(max_examples=30)
def test_any_jumps(function: Function, n: int) -> None:
    for each in (function, construct(function)):
        try:
            expected = interpret(each, [n], 50_000)
        except PolyloomError:
            assume(False)
            return
        assert interpret(verify(widen_indices(each)), [n], 200_000) == expected
