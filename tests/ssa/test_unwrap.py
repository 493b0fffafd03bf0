# SPDX-License-Identifier: Apache-2.0
"""Indices of 32 bits in two versions of a loop: whatever wraps around, addresses are those of the loop as it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.ssa import programs

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.strength import strength
from polyloom.transform.ssa.unwrap import unwrap

TEXT = """\
function f(%p: ptr, %row: i32, %m: i32, %s: i64, %n: i64) -> i64 {
entry:
    jump loop(%s, 0:i64)
loop(%i: i64, %t: i64):
    %low: i32 = trunc %i
    SUM
    %byte: i64 = shl %wide, 2:i64
    %at: ptr = offset %p, %byte
    %bits: i64 = ptrtoint %at
    %more: i64 = mul %t, 3:i64
    %u: i64 = add %more, %bits
    %next: i64 = add %i, STEP:i64
    %again: i1 = ne %next, %n
    branch %again, loop(%next, %u), end
end:
    return %u
}
"""
SUMS = {
    "row": "%x: i32 = add %row, %low\n%y: i32 = add %x, -1:i32\n%wide: i64 = sext %y",
    "factor": "%x: i32 = mul %low, -3:i32\n%y: i32 = sub %x, %row\n%wide: i64 = sext %y",
    "shift": "%x: i32 = shl %low, 2:i32\n%y: i32 = or %x, 3:i32\n%wide: i64 = sext %y",
    "product": "%x: i32 = mul %m, %low\n%y: i32 = add %x, %row\n%wide: i64 = sext %y",
    "later": "%k: i32 = add %low, 2:i32\n%x: i32 = mul %k, %m\n%y: i32 = add %x, %low\n%wide: i64 = sext %y",
    "up-and-back": "%x: i64 = shl %i, 33:i64\n%y: i64 = add %x, 4294967296:i64\n%wide: i64 = ashr %y, 31:i64",
    "own-variable": "%x: i32 = trunc %s\n%y: i32 = add %x, %low\n%wide: i64 = sext %y",
}
EDGES = (0, 1, -1, 5, 2**31 - 1, 2**31 - 3, -(2**31), 2 - 2**31, 2**30, 46341)
STARTS = (*EDGES, 2**31 + 1, 2**32 - 2, -(2**32), 2**62)


def _function(name: str, step: int = 1) -> Function:
    lines = SUMS[name].replace("\n", "\n    ")
    return verify(read(TEXT.replace("SUM", lines).replace("STEP", str(step))))


@pytest.mark.parametrize("name", SUMS)
def test_there_are_two_versions_one_of_which_extends_nothing(name: str) -> None:
    after = verify(unwrap(_function(name)))
    loops = [b for b in after.blocks if any(i.operation == "ptrtoint" for i in b.instructions)]
    assert len(loops) == 2
    narrow = [{"sext", "ashr", "trunc"} & {i.operation for i in block.instructions} for block in loops]
    assert sorted(map(bool, narrow)) == [False, True]


@given(
    st.sampled_from(list(SUMS)),
    st.sampled_from(EDGES),
    st.sampled_from(EDGES),
    st.sampled_from(STARTS),
    st.integers(1, 6),
    st.sampled_from((1, -1, 2, 3)),
)
@settings(max_examples=150)
def test_whatever_wraps_around(name: str, row: int, m: int, start: int, trips: int, step: int) -> None:
    before = _function(name, step)
    after = verify(unwrap(before))
    values = [np.zeros(4, "i4"), row, m, start, start + trips * step]
    expected = interpret(before, values)
    assert interpret(after, values) == expected
    assert interpret(verify(strength(after)), values) == expected


def test_each_version_is_entered() -> None:
    """Up to the last number of 32 bits the first one, from there on the other one: it alone extends."""
    after = unwrap(_function("row"))
    text = [b for b in after.blocks if any(i.operation == "sext" for i in b.instructions)]
    (slow,) = (b for b in text if any(i.operation == "ptrtoint" for i in b.instructions))
    only_fast = read(_without(after, slow.name))
    array = np.zeros(4, "i4")
    last = 2**31 - 1
    assert interpret(only_fast, [array, last - 4, 0, 0, 5]) == interpret(_function("row"), [array, last - 4, 0, 0, 5])
    with pytest.raises(PolyloomError, match="never reaches"):
        interpret(only_fast, [array, last - 4, 0, 0, 7])


def _without(function: Function, name: str) -> str:
    """The text of the function with nothing in a block."""
    lines = print_ssa(function).split("\n")
    start = next(k for k, line in enumerate(lines) if line.startswith(f"{name}("))
    end = next(k for k in range(start, len(lines)) if lines[k].startswith("    branch"))
    return "\n".join([*lines[: start + 1], "    unreachable", *lines[end + 1 :]])


def test_what_is_read_behind_the_loop_comes_from_the_version_that_ran() -> None:
    text = (
        TEXT.replace("SUM", SUMS["row"])
        .replace("STEP", "1")
        .replace("return %u", "%r: i64 = add %u, %wide\n    return %r")
    )
    before = verify(read(text))
    after = verify(unwrap(before))
    assert len(after.blocks) == len(before.blocks) + 1
    for row in (3, 2**31 - 2):
        values = [np.zeros(4, "i4"), row, 0, 0, 4]
        assert interpret(after, values) == interpret(before, values)


def test_loops_without_a_known_end_stay() -> None:
    other = TEXT.replace("SUM", SUMS["row"]).replace("STEP", "1").replace("ne %next, %n", "slt %u, %n")
    assert unwrap(read(other)) == read(other)
    narrow = "pointers 32\nfunction f(%p: ptr) {\nentry:\n    return\n}\n"
    assert unwrap(read(narrow)) == read(narrow)


@given(programs.functions(), st.integers(-50, 50))
@settings(max_examples=30)
def test_any_jumps(function: Function, n: int) -> None:
    for each in (function, construct(function)):
        try:
            expected = interpret(each, [n], 50_000)
        except PolyloomError:
            assume(False)
            return
        assert interpret(verify(unwrap(each)), [n], 200_000) == expected
