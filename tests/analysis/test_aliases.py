# SPDX-License-Identifier: Apache-2.0
"""Which accesses may meet: objects, constant distances, and what makes an address unknown."""

from __future__ import annotations

import pytest

from polyloom.analysis.aliases import Aliases
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_read import read

TEXT = """\
data @table align 4 0100000002000000
function f(%p: ptr, %q: ptr restrict, %r: ptr, %i: i64, %j: i64) {
entry:
    %own: ptr = alloca 8:i64 align 8
    %shown: ptr = alloca 8:i64 align 8
    store %shown, %r align 8
    %loaded: ptr = load %r align 8
    %byte: i64 = shl %i, 2:i64
    %at: ptr = offset %p, %byte
    %next: i64 = add %i, 1:i64
    %more: i64 = shl %next, 2:i64
    %after: ptr = offset %p, %more
    %other: i64 = mul %j, 4:i64
    %there: ptr = offset %p, %other
    %half: ptr = offset %at, 2:i64
    return
}
"""


def function() -> Function:
    return read(TEXT)


@pytest.mark.parametrize(
    ("a", "b", "meet"),
    [
        ("%at", "%at", True),
        ("%at", "%after", False),
        ("%at", "%half", True),
        ("%after", "%half", True),
        ("%at", "%there", True),
        ("%p", "%q", False),
        ("%p", "%r", True),
        ("%own", "%p", False),
        ("%own", "%loaded", False),
        ("%shown", "%loaded", True),
        ("%own", "%shown", False),
        ("%p", "@table", True),
        ("@table", "@table+4", False),
        ("%loaded", "%q", True),
    ],
)
def test_accesses_of_four_bytes(a: str, b: str, meet: bool) -> None:
    accesses = f"    %x: i32 = load {a} align 2\n    store 1:i32, {b} align 2\n    return\n}}"
    changed = read(TEXT.replace("    return\n}", accesses))
    load, store = changed.blocks[0].instructions[-2:]
    aliases = Aliases(changed)
    assert aliases.may_meet(load, store) == meet
    assert aliases.may_meet(store, load) == meet


def test_a_call_reaches_all_but_variables_whose_addresses_stay() -> None:
    loads = "    %x: i32 = load %own align 4\n    %y: i32 = load %shown align 4\n"
    accesses = f"    call @f %p, %q, %r, %i, %j\n{loads}    return\n}}"
    changed = read(TEXT.replace("    return\n}", accesses))
    call, own, shown = changed.blocks[0].instructions[-3:]
    aliases = Aliases(changed)
    assert not aliases.may_meet(call, own)
    assert aliases.may_meet(call, shown)
