# SPDX-License-Identifier: Apache-2.0
"""Construction and destruction of SSA form keep what a function means; construction agrees with a second method."""

from __future__ import annotations

import re
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.transform.ssa import braun
from tests.transform.ssa.programs import NAMES, functions

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Constant, Function, Operand, Value, successor_edges
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_types import I32
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.destruct import destruct, sequential, split_critical_edges

INTEGERS = st.integers(-(2**31), 2**31 - 1)


def outcome(function: Function, n: int) -> object:
    """The result; a fault is one too, whatever its place."""
    try:
        return interpret(function, [n], 5000)
    except PolyloomError as error:
        return error.diagnostics[0].code


@given(functions(), INTEGERS)
@settings(max_examples=80)
def test_keeps_the_meaning(function: Function, n: int) -> None:
    verify(function)
    expected = outcome(function, n)
    assert expected != "PL0974"
    constructed = verify(construct(function))
    assert not any(
        i.operation in ("alloca", "load", "store") for block in constructed.blocks for i in block.instructions
    )
    assert read(print_ssa(constructed)) == constructed
    assert outcome(constructed, n) == expected
    assert outcome(destruct(constructed), n) == expected
    assert not any(block.parameters for block in destruct(constructed).blocks[1:])
    assert outcome(destruct(verify(split_critical_edges(constructed))), n) == expected


@given(functions(reducible=True))
@settings(max_examples=80)
def test_agrees_with_braun(function: Function) -> None:
    made = {
        (block.name, re.sub(r"\.\d+$", "", p.name))
        for block in construct(function).blocks[1:]
        for p in block.parameters
    }
    assert made == braun.parameters(function, set(NAMES))


@given(functions())
@settings(max_examples=50)
def test_needs_no_more_than_braun(function: Function) -> None:
    """Where control flow is irreducible, Braun's method may leave parameters that are too many, never too few."""
    made = {
        (block.name, re.sub(r"\.\d+$", "", p.name))
        for block in construct(function).blocks[1:]
        for p in block.parameters
    }
    assert made <= braun.parameters(function, set(NAMES))


@given(functions())
@settings(max_examples=40)
def test_critical_edges_are_split(function: Function) -> None:
    blocks = split_critical_edges(function).blocks
    arrivals = [edge.block for block in blocks for edge in successor_edges(block.terminator)]
    for block in blocks:
        edges = successor_edges(block.terminator)
        assert len(edges) < 2 or all(arrivals.count(edge.block) == 1 for edge in edges)


def test_copies_one_after_the_other_are_those_at_once() -> None:
    """All parallel copies of four variables from them and a constant."""
    for sources in product(range(5), repeat=4):
        _check_copies(sources)


def _check_copies(sources: tuple[int, ...]) -> None:
    values: list[Operand] = [*(Value(name, I32) for name in "abcd"), Constant(I32, 7)]
    targets = [Value(name, I32) for name in "abcd"]
    state: dict[Operand, int] = {value: k for k, value in enumerate(values)}
    expected = [state[values[source]] for source in sources]
    for target, operand in sequential(
        [(t, values[s]) for t, s in zip(targets, sources, strict=True)], lambda name: f"{name}.kept"
    ):
        state[target] = state[operand]
    assert [state[target] for target in targets] == expected


SWAP = """\
function swap(%n: i32) -> i32 {
entry:
    %p: ptr = alloca 4:i64 align 4 !1
    %q: ptr = alloca 4:i64 align 4 !1
    %kept: ptr = alloca 4:i64 align 4 !1
    store 1:i32, %p align 4 !2
    store %n, %q align 4 !2
    store %n, %kept align 4 volatile !2
    jump loop !3
loop:
    %a: i32 = load %p align 4 !4
    %b: i32 = load %q align 4 !4
    store %b, %p align 4 !5
    store %a, %q align 4 !5
    %c: i1 = sgt %b, 5:i32 !6
    branch %c, loop, done !6
done:
    %r: i32 = load %p align 4 !7
    return %r !7
nowhere:
    jump done
}
"""


def test_a_swap(golden: Golden) -> None:
    constructed = construct(read(SWAP))
    golden("swap", f"{print_ssa(constructed)}\n{print_ssa(destruct(constructed))}")
