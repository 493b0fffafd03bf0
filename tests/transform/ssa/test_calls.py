# SPDX-License-Identifier: Apache-2.0
"""Calls of functions in SSA form: text, rules, meaning, and what passes must not do to them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.conftest import Golden

from polyloom.analysis.stores import written_parameters
from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.destruct import destruct
from polyloom.transform.ssa.function_editing import merge_blocks
from polyloom.transform.ssa.if_convert import if_convert

PARITY = """\
data @calls align 4 00000000
function even(%n: i32) -> i1 {
entry:
    %zero: i1 = eq %n, 0:i32 !3
    branch %zero, end(1:i1), other !3
other:
    %less: i32 = sub %n, 1:i32 !3
    %r: i1 = call @odd %less !3
    jump end(%r)
end(%result: i1):
    return %result
}

function odd(%n: i32) -> i1 {
entry:
    call @count 2:i8
    %zero: i1 = eq %n, 0:i32
    branch %zero, end(0:i1), other
other:
    %less: i32 = sub %n, 1:i32
    %r: i1 = call @even %less
    jump end(%r)
end(%result: i1):
    return %result
}

function count(%by: i8 zeroext) {
entry:
    %old: i32 = load @calls align 4
    %wide: i32 = zext %by
    %new: i32 = add %old, %wide
    store %new, @calls align 4
    return
}
"""
HEAD = "function f(%n: i32, %p: ptr) -> i32 {\nentry:\n"
CALLEE = "}\nfunction g(%n: i32) -> i32 {\nentry:\n    return %n\n}\n"
BROKEN = {
    "unknown": HEAD + "    %x: i32 = call @h %n\n    return %x\n" + CALLEE,
    "types": HEAD + "    %x: i32 = call @g %p\n    return %x\n" + CALLEE,
    "number": HEAD + "    %x: i32 = call @g %n, %n\n    return %x\n" + CALLEE,
    "no-result": HEAD + "    call @g %n\n    return %n\n" + CALLEE,
    "twice": HEAD + "    return %n\n" + CALLEE + CALLEE[2:],
    "inside": HEAD + "    return %n\n" + CALLEE.replace("return %n", "%x: i64 = add %n, %n\n    return %n"),
    "between": HEAD + "    return %n\n}\nand\n" + CALLEE[2:],
}


def test_prints_what_it_reads() -> None:
    function = read(PARITY)
    assert print_ssa(function) == PARITY
    assert verify(function) is function
    assert [f.name for f in function.program] == ["even", "odd", "count"]
    assert [f.name for f in function.members[2].program] == ["count", "even", "odd"]


def test_what_is_wrong_is_named(golden: Golden) -> None:
    texts: list[str] = []
    for name, text in BROKEN.items():
        with pytest.raises(PolyloomError) as caught:
            verify(read(text, "f.ssa"))
        texts.append(f"{name}\n{caught.value}")
    golden("calls", "\n\n".join(texts))


@pytest.mark.parametrize("change", [construct, dce, common, merge_blocks, if_convert, destruct])
def test_passes_change_the_whole_program(change: object) -> None:
    """And keep what it means; calls stay where they are, once each."""
    assert callable(change)
    function = read(PARITY)
    found = change(function)
    assert isinstance(found, Function)
    assert [interpret(found, [n]) for n in range(5)] == [1, 0, 1, 0, 1]
    assert print_ssa(found).count("call @") == 3


def test_calls_are_neither_joined_nor_removed() -> None:
    text = (
        HEAD
        + (
            "    %x: i32 = call @g %n\n    %y: i32 = call @g %n\n    %z: i32 = call @g %n\n"
            "    %s: i32 = add %x, %y\n   "
            " return %s\n"
        )
        + CALLEE
    )
    assert print_ssa(dce(common(read(text)))).count("call @g") == 3


def test_recursion_may_be_deep_and_takes_steps() -> None:
    assert interpret(read(PARITY), [20_001]) == 0
    with pytest.raises(PolyloomError, match=r"PL0974.*@even has not returned"):
        interpret(read(PARITY), [-1], 10_000)


def test_local_memory_ends_with_its_call() -> None:
    callee = (
        "}\nfunction g(%n: i32) -> ptr {\nentry:\n    %a: ptr = alloca 4:i64 align 4\n    store %n, %a align 4\n "
        "   return %a\n}\n"
    )
    dangling = (
        HEAD
        + "    %a: ptr = call @g %n\n    %b: ptr = call @g 7:i32\n    %x: i32 = load %a align 4 !6\n    return %x\n"
        + callee
    )
    with pytest.raises(PolyloomError, match=r"PL0972.*@f, line 6, block entry: 4 bytes at address"):
        interpret(verify(read(dangling)), [1, np.zeros(1, np.int32)])


def test_what_is_undefined_passes_through_calls_and_faults_where_it_is_used() -> None:
    body = (
        "    %u: i32 = call @g undef:i32\n    %c: i1 = eq %n, 0:i32\n    %x: i32 = select %c, %u, %n\n    return %x\n"
    )
    function = read(HEAD + body + CALLEE)
    assert interpret(function, [5, np.zeros(1, np.int32)]) == 5
    with pytest.raises(PolyloomError, match=r"PL0972.*never set"):
        interpret(function, [0, np.zeros(1, np.int32)])


def test_stores_are_found_through_calls() -> None:
    """By position, along recursion, and everything where a pointer comes out of memory."""
    head = "function f(%a: ptr, %b: ptr, %c: ptr) {\nentry:\n    call @g %b, %a\n    return\n}\n"
    swapping = "function g(%x: ptr, %y: ptr) {{\nentry:\n    {}    call @g %y, %x\n    return\n}}\n"
    one = "function g(%x: ptr, %y: ptr) {\nentry:\n    store 1:i8, %x align 1\n    return\n}\n"
    assert written_parameters(read(head + one)) == {"b"}
    assert written_parameters(read(head + swapping.format("store 1:i8, %x align 1\n"))) == {"a", "b"}
    assert written_parameters(read(head + swapping.format("%l: i8 = load %x align 1\n"))) == frozenset()
    assert written_parameters(
        read(head + swapping.format("%p: ptr = load %x align 8\n    store 1:i8, %p align 1\n"))
    ) == {
        "a",
        "b",
        "c",
    }
