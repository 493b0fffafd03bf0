# SPDX-License-Identifier: Apache-2.0
"""Which accesses may meet: objects, constant distances, and what makes an address unknown."""

from __future__ import annotations

import pytest

from polyloom.analysis.aliases import Aliases
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.transform.ssa.redundant_loads import forward_loads
from polyloom.transform.ssa.stores import remove_dead_stores

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


VOLATILE = """\
function f() -> i32 {
entry:
    %own: ptr = alloca 4:i64 align 4
    store 1:i32, %own align 4
    %x: i32 = load %own align 4 volatile
    store 2:i32, %own align 4 volatile
    %y: i32 = load %own align 4
    store 3:i32, %own align 4
    %z: i32 = load %own align 4
    return %z
}
"""


def test_a_volatile_access_reaches_a_variable_of_the_function() -> None:
    """Loads across volatile stores, and stores across volatile loads stay."""
    text = print_ssa(remove_dead_stores(forward_loads(read(VOLATILE))))
    assert "store 1:i32" in text
    assert "%y" in text
    assert "%z" not in text


def test_a_pointer_of_several_objects_meets_each() -> None:
    """Through parameters of blocks and selects; an array from outside is no datum of the program."""
    choice = "    %s: ptr = select %c, %own, @table\n    jump next(%s)\nnext(%t: ptr):\n    %x: i32 = load %t align 2\n"
    text = TEXT.replace(
        "    return\n}", "    %c: i1 = eq %i, %j\n" + choice + "    store 1:i32, {} align 2\n    return\n}}"
    )
    for pointer, meets in {"%own": True, "%shown": False, "@table": True, "%p": False, "%loaded": True}.items():
        changed = read(text.replace("{}", pointer).replace("}}", "}"))
        load, store = changed.blocks[1].instructions
        assert Aliases(changed, outside=True).may_meet(load, store) == meets, pointer
        assert Aliases(changed).may_meet(load, store) or pointer not in ("@table", "%p", "%own")


def test_long_sums_end() -> None:
    """Sums deeper than Python's stack have forms."""
    sums = "".join(f"    %s{k + 1}: i64 = add %s{k}, %j\n" for k in range(5000))
    changed = read(
        f"function f(%p: ptr, %s0: i64, %j: i64) {{\nentry:\n{sums}    %at: ptr = offset %p, %s5000\n"
        "    store 1:i32, %at align 4\n    store 2:i32, %p align 4\n    return\n}\n"
    )
    assert Aliases(changed).may_meet(*changed.blocks[0].instructions[-2:])
