# SPDX-License-Identifier: Apache-2.0
"""Selects as branches, where these are shorter; and that functions mean the same before and after."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.riscv.backend.programs import SLOTS, functions
from tests.riscv.backend.test_functions import copied, equal
from tests.transform.ssa.native import arguments, same

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Branch, Function
from polyloom.ir.ssa_interpret import Argument, interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_verify import verify
from polyloom.passes import run_passes
from polyloom.riscv import names
from polyloom.riscv.backend.branches import convert_selects
from polyloom.riscv.backend.compile import SCALAR_PASSES
from polyloom.riscv.backend.legalize import legalize
from polyloom.riscv.backend.returns import duplicate_returns
from polyloom.riscv.backend.sink import sink_steps
from polyloom.transform.ssa.destruct import split_critical_edges
from polyloom.transform.ssa.select_identities import sink_into_selects

TEXT = "function f(%x: i64, %y: i64, %a: i64) -> i64 {\nentry:\nLINES\n    return %r\n}\n"
SETS = ("rv64gc", "rv64gc_zicond", "rv64gc_zbb", "rv64gc+sfb")


def _function(*lines: str) -> Function:
    return verify(read(TEXT.replace("LINES", "\n".join(f"    {line}" for line in lines))))


def _branches(function: Function) -> int:
    return sum(isinstance(block.terminator, Branch) for block in function.blocks)


LONG = _function("%c: i1 = slt %x, %y", "%r: i64 = select %c, %a, %x")
SHORT = _function("%c: i1 = slt %x, 0:i64", "%r: i64 = select %c, %a, 0:i64")
LEAST = _function("%r: i64 = call smin %x, %y")
BOTH = _function(
    "%c: i1 = slt %x, %y",
    "%s: i64 = select %c, %a, 0:i64",
    "%d: i64 = mul %y, 3:i64",
    "%t: i64 = select %c, %d, %x",
    "%r: i64 = add %s, %t",
)
EXPECTED = {
    "long": (LONG, (1, 0, 1, 0)),
    "short": (SHORT, (0, 0, 0, 0)),
    "least": (LEAST, (1, 0, 0, 0)),
    "both": (BOTH, (1, 0, 1, 0)),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_cheaper_one_is_taken(name: str) -> None:
    """A branch where there is no short sequence: so none with Zicond, nor with short forward branches."""
    function, expected = EXPECTED[name]
    assert tuple(_branches(convert_selects(function, names.parse_isa(isa))) for isa in SETS) == expected


def test_floats_have_no_other_selects() -> None:
    text = "function f(%c: i1, %a: f64, %b: f64) -> f64 {\nentry:\n    %r: f64 = select %c, %a, %b\n    return %r\n}\n"
    assert [_branches(convert_selects(read(text), names.parse_isa(isa))) for isa in SETS] == [1] * len(SETS)


def test_what_one_arm_uses_is_computed_there_and_the_comparison_stands_last() -> None:
    first, arm, *_ = verify(convert_selects(BOTH, names.parse_isa("rv64gc"))).blocks
    assert [i.operation for i in first.instructions] == ["slt"]
    assert [i.operation for i in arm.instructions] == ["mul"]


def test_a_thousand_selects_are_no_deep_recursion() -> None:
    lines = ["%c: i1 = slt %x, %y", "%v0: i64 = add %x, 1:i64"]
    for k in range(1000):
        lines += [f"%c{k}: i1 = slt %v{k}, %y", f"%v{k + 1}: i64 = select %c{k}, %a, %v{k}"]
    function = _function(*lines, "%r: i64 = add %v1000, 0:i64")
    assert _branches(convert_selects(function, names.parse_isa("rv64gc"))) == 1000


def test_an_identity_goes_into_the_select() -> None:
    """x & (c ? y : -1) needs a sequence for the mask; c ? x & y : x does not."""
    masked = _function("%c: i1 = slt %x, %y", "%m: i64 = select %c, %y, -1:i64", "%r: i64 = and %a, %m")
    block = sink_into_selects(masked).blocks[0]
    assert [i.operation for i in block.instructions] == ["slt", "and", "select"]
    other = _function("%c: i1 = slt %x, %y", "%m: i64 = select %c, %y, 1:i64", "%r: i64 = and %a, %m")
    assert sink_into_selects(other) == other
    twice = _function(
        "%c: i1 = slt %x, %y", "%m: i64 = select %c, %y, -1:i64", "%s: i64 = and %a, %m", "%r: i64 = add %s, %m"
    )
    assert sink_into_selects(twice) == twice


@given(functions(), st.sampled_from(("rv64gc", "rv32gc", "rv64gc_zicond", "rv32imafd_zbb")), st.integers(0, 9))
@settings(max_examples=30)
def test_functions_mean_the_same(function: Function, isa: str, seed: int) -> None:
    """As they are read, legal, and with each pass between."""
    machine, random = names.parse_isa(isa), np.random.default_rng(seed)
    values: list[Argument] = [random.integers(-9, 9, 2 * SLOTS).astype("i4"), *arguments(function, random)[1:]]
    original = copied(values)
    try:
        expected = interpret(function, original, 50_000)
    except PolyloomError:
        assume(False)
        return
    step = legalize(function, machine)
    for change in (
        sink_into_selects,
        partial(convert_selects, isa=machine),
        split_critical_edges,
        duplicate_returns,
        sink_steps,
    ):
        step, ours = verify(change(step)), copied(values)
        assert same(interpret(step, ours, 5_000_000), expected)
        assert equal(original, ours)


def test_atomic_minima_stay() -> None:
    text = (
        "function f(%p: ptr, %x: i32) -> i32 {\nentry:\n    %r: i32 = rmw smin %p, %x align 4 seq_cst\n"
        "    return %r\n}\n"
    )
    assert _branches(convert_selects(read(text), names.parse_isa("rv64gc"))) == 0


def test_a_choice_of_two_values_executes_no_branch() -> None:
    """As clang's at -O0: a block of its own for one value, and not for longer arms, whose branch saves them."""
    text = """function f(%x: i64, %y: i64) -> i64 {{
entry:
    %c: i1 = slt %x, %y
    branch %c, less, end(%x)
less:
{}    jump end(%t)
end(%r: i64):
    return %r
}}
"""
    for length, branches in ((0, 0), (4, 1)):
        lines = "".join(f"    %t{k}: i64 = mul %{f't{k - 1}' if k else 'y'}, %x\n" for k in range(length))
        given = read(text.format(lines).replace("%t)", f"%t{length - 1})" if length else "%y)"))
        changed: Function = run_passes(given, SCALAR_PASSES)
        assert _branches(changed) == branches
