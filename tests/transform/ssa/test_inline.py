# SPDX-License-Identifier: Apache-2.0
"""Procedure integration: short functions become part of their callers, the meaning stays, recursion stays a call."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.riscv.backend.programs import SLOTS
from tests.riscv.backend.programs import programs as whole
from tests.transform.ssa.native import arguments, same

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.inlining import InlineCosts, inline

PROGRAM = """\
function f(%n: i32) -> i32 {
entry:
    %a: i32 = call @square %n
    %b: i32 = call @down %a
    %c: i32 = call @square %b
    return %c
}

function square(%x: i32) -> i32 {
entry:
    %positive: i1 = sgt %x, 0:i32
    branch %positive, more, less
more:
    %y: i32 = mul %x, %x
    return %y
less:
    return 7:i32
}

function down(%x: i32) -> i32 {
entry:
    %end: i1 = slt %x, 1:i32
    branch %end, done, again
again:
    %less: i32 = sub %x, 5:i32
    %y: i32 = call @down %less
    return %y
done:
    return %x
}
"""


def _calls(function: Function) -> list[str]:
    return [i.called for member in function.program for b in member.blocks for i in b.instructions if i.called]


def test_what_is_short_and_does_not_call_itself_is_copied() -> None:
    program = verify(read(PROGRAM))
    changed = verify(inline(program))
    assert set(_calls(changed)) == {"down"}
    assert [other.name for other in changed.others] == ["down"]
    assert [interpret(changed, [n]) for n in (-3, 4)] == [interpret(program, [n]) for n in (-3, 4)]


def test_what_is_kept_stays_a_call() -> None:
    changed = inline(read(PROGRAM), InlineCosts(keeps=lambda name: name == "square"))
    assert _calls(changed).count("square") == 2


def test_what_is_called_once_is_copied_whatever_its_length() -> None:
    program = read(PROGRAM.replace("call @down %a", "add %a, 1:i32").replace("call @square %b", "sub %b, 2:i32"))
    assert not _calls(inline(program, InlineCosts(instructions=0, once=True)))
    assert _calls(inline(program, InlineCosts(instructions=0))) == ["square"]


@given(whole(), st.integers(0, 9))
@settings(max_examples=20)
def test_random_programs(function: Function, seed: int) -> None:
    """Calls by name and by address, recursion, results that nobody reads."""
    random = np.random.default_rng(seed)
    values = [random.integers(-9, 9, 2 * SLOTS).astype("i4"), *arguments(function, random)[1:]]
    given = [[v.copy() if isinstance(v, np.ndarray) else v for v in values] for _ in range(2)]
    changed = verify(inline(function, InlineCosts(instructions=1000, loops=True, once=True)))
    try:
        expected = interpret(function, given[0], 50_000)
    except PolyloomError:
        return
    assert same(interpret(changed, given[1], 50_000), expected)
    assert np.array_equal(given[0][0], given[1][0])
