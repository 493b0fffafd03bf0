# SPDX-License-Identifier: Apache-2.0
"""Common subexpressions: what is computed twice on a path is computed once, and the meaning stays."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.transform.ssa.programs import functions

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.construct import construct

TWICE = """\
function f(%n: i32, %c: i1) -> i32 {
entry:
    %a: i32 = mul %n, %n
    %b: i32 = mul %n, %n
    %s: i32 = add %a, %b
    branch %c, left, right
left:
    %l: i32 = add %b, %a
    %t: i32 = add %a, %b
    %d: i32 = sub %t, %n
    jump end(%d)
right:
    %r: i32 = sub %s, %n
    %w: i32 = mul nsw %n, %n
    %v: i32 = xor %r, %w
    jump end(%v)
end(%x: i32):
    %e: i32 = sub %s, %n
    %z: i32 = xor %x, %e
    return %z
}
"""
ONCE = """\
function f(%n: i32, %c: i1) -> i32 {
entry:
    %a: i32 = mul %n, %n
    %s: i32 = add %a, %a
    branch %c, left, right
left:
    %d: i32 = sub %s, %n
    jump end(%d)
right:
    %r: i32 = sub %s, %n
    %w: i32 = mul nsw %n, %n
    %v: i32 = xor %r, %w
    jump end(%v)
end(%x: i32):
    %e: i32 = sub %s, %n
    %z: i32 = xor %x, %e
    return %z
}
"""


def test_only_what_dominates_counts() -> None:
    """Neither side of a branch computes for the other, or for what follows; `nsw` is another operation."""
    assert print_ssa(common(read(TWICE))) == print_ssa(read(ONCE))


@given(functions(), st.integers(-50, 50))
@settings(max_examples=40)
def test_the_meaning_stays(function: Function, n: int) -> None:
    for each in (function, construct(function)):
        try:
            expected = interpret(each, [n], 50_000)
        except PolyloomError:
            assume(False)
        assert interpret(verify(common(each)), [n], 50_000) == expected
