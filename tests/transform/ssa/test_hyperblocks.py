# SPDX-License-Identifier: Apache-2.0
"""Hyperblocks mean what the loops meant, on machines that predicate and speculate and on those that do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.transform.ssa.programs import functions
from tests.transform.ssa.structured import structured
from tests.transform.ssa.test_construct import INTEGERS, outcome
from tests.transform.ssa.test_ifconvert import NUMBERS, check

from polyloom import ssa
from polyloom.analysis.loops import loop_forest
from polyloom.analysis.superblocks import innermost, superblocks
from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import SPECULATED, Instruction, Operand, flow_edges
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.transform.ssa import hyperblocks
from polyloom.transform.ssa.hyperblocks import form_hyperblocks
from polyloom.transform.ssa.loop_closed import close_loops
from polyloom.transform.ssa.speculation import Speculation

ALL = Speculation(frozenset(SPECULATED), frozenset({"store", "call"}))
NONE = Speculation()


@given(structured(), NUMBERS)
@settings(max_examples=100)
def test_structured_loops_keep_their_meaning(function: ssa.Function, n: int) -> None:
    for speculation in (ALL, NONE):
        made = form_hyperblocks(function, speculation)
        check(function, made, n)
        check(function, close_loops(made), n)
    assert read(print_ssa(made)) == made


@given(functions(reducible=True), INTEGERS)
@settings(max_examples=100)
def test_any_jumps(function: ssa.Function, n: int) -> None:
    constructed = ssa.construct(function)
    expected = outcome(constructed, n)
    made = form_hyperblocks(constructed, ALL)
    assert expected == "PL0972" or outcome(ssa.verify(made), n) == expected
    assert expected == "PL0972" or outcome(ssa.verify(close_loops(made)), n) == expected


@given(structured())
@settings(max_examples=60)
def test_a_machine_that_predicates_gets_every_innermost_loop_as_a_superblock(function: ssa.Function) -> None:
    made = form_hyperblocks(function, ALL)
    forest = loop_forest(len(made.blocks), flow_edges(made))
    assert len(superblocks(made)) == sum(not loop.irreducible for _, loop in innermost(forest))


GUARDED = """pointers 32
function f(%n: i32, %x: ptr) -> i32 {
entry:
    jump loop(0:i32)
loop(%i: i32):
    %p: i32 = shl %i, 2:i32
    %at: ptr = offset %x, %p
    %odd: i32 = and %i, 1:i32
    %is: i1 = ne %odd, 0:i32
    branch %is, then, next(0:i32)
then:
    %d: i32 = load %at align 4
    %q: i32 = sdiv 100:i32, %d
    store %q, %at align 4
    %c: i32 = call @g %q
    jump next(%c)
next(%v: i32):
    %j: i32 = add nsw %i, 1:i32
    %ends: i1 = sge %j, %n
    branch %ends, out, loop(%j)
out:
    return %v
}

function g(%a: i32) -> i32 {
entry:
    %b: i32 = add %a, 1:i32
    return %b
}
"""


def test_effects_are_predicated_and_faults_are_speculative() -> None:
    function = ssa.verify(read(GUARDED))
    made = ssa.verify(form_hyperblocks(function, ALL))
    assert len(made.blocks) == 3
    text = print_ssa(made)
    assert "load speculative %at" in text
    assert "sdiv speculative" in text
    assert "store %q, %at, %is" in text
    assert "call guarded @g %q, %is" in text
    for n in (1, 6):
        arrays = [np.array([0, 3, 0, 7, 0, 9], np.int32) for _ in range(2)]  # zeros are divisors of nobody
        assert interpret(function, [n, arrays[0]]) == interpret(made, [n, arrays[1]])
        assert arrays[0].tolist() == arrays[1].tolist()
    assert form_hyperblocks(function, NONE) == function


def test_what_is_speculative_is_verified() -> None:
    for old, new in (("add nsw", "add speculative"), ("call @g %q", "call guarded @g %q")):
        with pytest.raises(PolyloomError, match="PL0971"):
            ssa.verify(read(GUARDED.replace(old, new)))


def test_a_predicate_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unpredicated(i: Instruction, predicate: Operand) -> Instruction:
        del predicate
        return i

    monkeypatch.setattr(hyperblocks, "_predicate_instruction", unpredicated)
    made = form_hyperblocks(ssa.verify(read(GUARDED)), ALL)
    with pytest.raises(PolyloomError, match="PL0972"):
        interpret(made, [6, np.array([0, 3, 0, 7, 0, 9], np.int32)])
