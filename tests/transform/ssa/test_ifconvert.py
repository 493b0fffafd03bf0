# SPDX-License-Identifier: Apache-2.0
"""If-conversion and the removal of dead code keep what a function means, and do what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.transform.ssa.programs import functions
from tests.transform.ssa.structured import SIZE, structured
from tests.transform.ssa.test_construct import INTEGERS, outcome

from polyloom import ssa
from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import SPECULATED, Branch, successor_edges
from polyloom.ir.ssa_text import print_instruction
from polyloom.transform.ssa import speculation
from polyloom.transform.ssa.if_convert import if_convert
from polyloom.transform.ssa.speculation import Speculation

FREE = ssa.Cost(select=0, branch=1000)
NUMBERS = st.one_of(st.integers(-5, 9), INTEGERS)


def result(function: ssa.Function, n: int) -> object:
    """What the function returns, and what it leaves in memory; or its fault."""
    array = np.arange(3, 3 + SIZE, dtype=np.int32)
    try:
        return ssa.interpret(function, [n, array], 20000), array.tolist()
    except PolyloomError as error:
        return error.diagnostics[0].code


def check(before: ssa.Function, after: ssa.Function, n: int) -> None:
    """The same, unless there was nothing to keep: a fault is undefined behaviour."""
    ssa.verify(after)
    expected = result(before, n)
    assert expected == "PL0972" or result(after, n) == expected


@given(structured(), NUMBERS)
@settings(max_examples=100)
def test_if_conversion_keeps_the_meaning(function: ssa.Function, n: int) -> None:
    for cost in (FREE, ssa.Cost()):
        check(function, ssa.if_convert(function, cost), n)


@given(structured(), NUMBERS)
@settings(max_examples=60)
def test_a_machine_that_defers_faults_keeps_the_meaning(function: ssa.Function, n: int) -> None:
    check(function, if_convert(function, FREE, speculation=Speculation(frozenset(SPECULATED))), n)


def test_a_machine_that_defers_faults_runs_divisions_of_both_arms() -> None:
    converted = if_convert(ssa.read(DIVISION), FREE, speculation=Speculation(frozenset({"sdiv"})))
    assert "sdiv speculative 100:i32, %n" in ssa.print_ssa(converted)
    assert "branch" not in ssa.print_ssa(converted)
    for n in (0, 7):
        check(ssa.read(DIVISION), converted, n)


@given(structured(), NUMBERS)
@settings(max_examples=80)
def test_dead_code_elimination_keeps_the_meaning(function: ssa.Function, n: int) -> None:
    small = ssa.dce(function)
    check(function, small, n)
    assert ssa.dce(small) == small
    check(function, ssa.dce(ssa.merge_blocks(ssa.if_convert(small, FREE))), n)


@given(functions(), INTEGERS)
@settings(max_examples=60)
def test_any_jumps(function: ssa.Function, n: int) -> None:
    constructed = ssa.construct(function)
    expected = outcome(constructed, n)
    for changed in (
        ssa.dce(constructed),
        ssa.if_convert(constructed, FREE),
        ssa.merge_blocks(constructed),
        ssa.dce(function),
    ):
        assert expected == "PL0972" or outcome(ssa.verify(changed), n) == expected


@given(structured())
@settings(max_examples=60)
def test_what_has_an_effect_or_faults_stays_in_its_place(function: ssa.Function) -> None:
    """No access, fence or division disappears or is doubled."""
    converted = ssa.if_convert(function, FREE)
    assert sorted(staying(converted)) == sorted(staying(function))
    assert len(converted.blocks) <= len(function.blocks)


def staying(function: ssa.Function) -> list[str]:
    """Without operands, which are renamed."""
    found = [i for block in function.blocks for i in block.instructions if not speculation.speculable(i, {})]
    return [print_instruction(replace(i, operands=())) for i in found]


def _always(*_: object) -> bool:
    return True


def test_a_wrong_choice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: were everything taken for speculable, programs would fault."""
    division = ssa.read(DIVISION)
    check(division, ssa.if_convert(division, FREE), 0)
    monkeypatch.setattr(speculation, "speculable", _always)
    with pytest.raises(AssertionError):
        check(division, ssa.if_convert(division, FREE), 0)


DIVISION = """\
function f(%n: i32, %p: ptr) -> i32 {
entry:
    %c: i1 = eq %n, 0:i32
    branch %c, zero, other
zero:
    jump done(7:i32)
other:
    %q: i32 = sdiv 100:i32, %n
    jump done(%q)
done(%r: i32):
    return %r
}
"""
HAMMOCK = """\
function f(%n: i32, %p: ptr) -> i32 {
entry:
    %c: i1 = slt %n, 4:i32 !1
    branch %c, low(%n), high !1
low(%x: i32):
    %a: i32 = add %x, 1:i32 !2
    %d: i1 = eq %a, 2:i32 !2
    branch %d, two, done(%a, %n) !2
two:
    %b: i32 = sub 0:i32, %a !3
    jump done(%b, %n) !3
high:
    %e: i32 = udiv %n, 3:i32 !4
    jump done(%e, %n) !4
done(%r: i32, %s: i32):
    branch %c, quiet, loud !5
quiet:
    jump end(%r) !5
loud:
    store %s, %p align 4 !6
    jump end(undef:i32) !6
end(%t: i32):
    %u: i32 = xor %t, %s !7
    return %u !7
}
"""
DEAD = """\
function f(%n: i32, %p: ptr) -> i32 {
entry:
    %unused: i32 = load %p align 4
    %v: i32 = load %p align 4 volatile
    %x: i32 = sdiv %n, %n
    jump loop(0:i32, 1:i32, %x)
loop(%i: i32, %itself: i32, %more: i32):
    %next: i32 = add %i, 1:i32
    %double: i32 = add %itself, %itself
    %c: i1 = slt %next, %n
    branch %c, loop(%next, %double, %itself), done(%more)
done(%m: i32):
    store %i, %p align 4
    return %next
nowhere(%k: i32):
    jump loop(%k, %k, %k)
}
"""


def test_hammocks(golden: Golden) -> None:
    """From the inside outwards; the division is paid for or not."""
    function = ssa.verify(ssa.read(HAMMOCK))
    texts = {
        "cheap": ssa.if_convert(function),
        "free": ssa.if_convert(function, FREE),
        "kept": ssa.if_convert(function, FREE, keep=["low"]),
    }
    golden(
        "ifconvert", "\n".join(f"{name}\n{ssa.print_ssa(ssa.verify(converted))}" for name, converted in texts.items())
    )
    for converted in texts.values():
        for n in (1, 2, 5, 9):
            check(function, converted, n)


def test_dead(golden: Golden) -> None:
    golden("dce", ssa.print_ssa(ssa.verify(ssa.dce(ssa.verify(ssa.read(DEAD))))))


def test_a_cost_decides() -> None:
    """A select of three, a branch of five: one select and four instructions are converted, five are not."""
    for count, branches in ((4, 0), (5, 1)):
        body = "".join(f"    %x{k}: i32 = add %{'n' if k == 0 else f'x{k - 1}'}, 1:i32\n" for k in range(count))
        text = (
            f"function f(%n: i32) -> i32 {{\nentry:\n    %c: i1 = slt %n, 4:i32\n    branch %c, more, end(%n)\n"
            f"more:\n{body}    jump end(%x{count - 1})\n"
        )
        function = ssa.if_convert(ssa.read(text + "end(%r: i32):\n    return %r\n}\n"))
        assert sum(isinstance(block.terminator, Branch) for block in function.blocks) == branches
        assert sum(len(successor_edges(block.terminator)) for block in function.blocks) == 3 * branches
