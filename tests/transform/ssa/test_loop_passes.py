# SPDX-License-Identifier: Apache-2.0
"""What each pass on scalar loops does, and what it must leave alone."""

from __future__ import annotations

import numpy as np
import pytest

from polyloom.ir.ssa import Branch, Function, Instruction, Jump
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.carried_loads import carry_loads
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.exit_tests import equality_tests
from polyloom.transform.ssa.hoist import HoistCosts, hoist
from polyloom.transform.ssa.redundant_loads import forward_loads
from polyloom.transform.ssa.rotate import rotate
from polyloom.transform.ssa.simplify import simplify
from polyloom.transform.ssa.split_variables import split_variables
from polyloom.transform.ssa.stores import remove_dead_stores, sink_stores
from polyloom.transform.ssa.unroll import UnrollCosts, unroll
from polyloom.transform.ssa.widen_counters import widen_counters

WHILE = """\
function f(%p: ptr{restrict}, %q: ptr, %n: i32) -> i32 {{
entry:
    jump test(0:i32, 0:i32)
test(%i: i32, %s: i32):
    %more: i1 = slt %i, {bound}
    branch %more, body, end
body:
    {body}
    %t: i32 = add %s, %x
    %next: i32 = add %i, 1:i32
    jump test(%next, %t)
end:
    return %s
}}
"""
ELEMENT = """%wide: i64 = sext %i
    %byte: i64 = shl %wide, 2:i64
    %at: ptr = offset %p, %byte
"""
PLAIN = ELEMENT + "    %x: i32 = load %at align 4"


def loop(body: str, bound: str = "%n", restrict: bool = False) -> Function:
    return verify(read(WHILE.format(body=body, bound=bound, restrict=" restrict" if restrict else "")))


def inside(function: Function) -> list[Instruction]:
    """The instructions of the blocks that a jump back repeats, where these are one block."""
    (block,) = (b for b in function.blocks if isinstance(b.terminator, Branch) and b.name in _targets(b.terminator))
    return list(block.instructions)


def _targets(end: Branch) -> set[str]:
    return {end.then.block, end.orelse.block}


def operations(function: Function) -> list[str]:
    return [i.operation for i in inside(function)]


def results(function: Function, n: int) -> tuple[object, list[int], list[int]]:
    p, q = np.arange(20, dtype=np.int32) ** 2, np.arange(20, dtype=np.int32)
    return interpret(verify(function), [p, q, n]), p.tolist(), q.tolist()


def assert_same(before: Function, after: Function, *values: int) -> None:
    for n in values or (-2, 0, 1, 5):
        assert results(after, n) == results(before, n)


def test_a_rotated_loop_has_one_jump_per_iteration() -> None:
    before = loop(PLAIN)
    after = simplify(rotate(before))
    assert_same(before, after)
    assert operations(after)[-1] == "slt"
    assert not any(isinstance(b.terminator, Jump) and b.name != "entry" for b in after.blocks)


def test_a_long_test_is_not_copied() -> None:
    long = "\n".join(f"    %a{k}: i32 = add %{'n' if k == 0 else f'a{k - 1}'}, %i" for k in range(13))
    before = read(WHILE.format(body=PLAIN, bound="%a12", restrict="").replace("    %more", f"{long}\n    %more"))
    assert rotate(before) == before


def test_a_counter_that_a_bound_keeps_from_wrapping_becomes_wide() -> None:
    before = loop(PLAIN)
    after = hoist(simplify(rotate(simplify(widen_counters(before)))))
    assert_same(before, after)
    assert "sext" not in operations(after)


@pytest.mark.parametrize("step", ["2:i32", "-1:i32", "%n"])
def test_a_counter_that_may_wrap_stays_narrow(step: str) -> None:
    before = read(WHILE.format(body=PLAIN, bound="%n", restrict="").replace("add %i, 1:i32", f"add %i, {step}"))
    assert widen_counters(before) == before


def test_a_step_of_two_is_safe_below_a_constant() -> None:
    text = WHILE.format(body=PLAIN, bound="9:i32", restrict="").replace("add %i, 1:i32", "add %i, 2:i32")
    after = simplify(rotate(simplify(widen_counters(read(text)))))
    assert_same(read(text), after)
    assert "sext" not in operations(after)


def test_an_end_becomes_a_test_of_equality_where_the_loop_is_entered_below_it() -> None:
    before = common(simplify(rotate(loop(PLAIN))))
    after = equality_tests(before)
    assert_same(before, after)
    assert operations(after)[-1] == "ne"


def test_a_loop_that_may_be_entered_above_its_bound_keeps_its_test() -> None:
    """A `do` loop is run through once, whatever the bound."""
    text = """\
function f(%p: ptr, %q: ptr, %n: i32) -> i32 {
entry:
    jump body(0:i32)
body(%i: i32):
    %next: i32 = add %i, 1:i32
    %more: i1 = slt %next, %n
    branch %more, body(%next), end
end:
    return %next
}
"""
    assert equality_tests(read(text)) == read(text)


def test_few_iterations_become_straight_code() -> None:
    before = loop(PLAIN, bound="4:i32")
    after = unroll(simplify(rotate(before)))
    assert_same(before, after, 0)
    assert len(after.blocks) == 1
    assert [i.operation for i in after.blocks[0].instructions].count("load") == 4
    assert len(unroll(simplify(rotate(before)), UnrollCosts(trips=3)).blocks) > 1


INVARIANT = "store %i, {place} align 4\n    %x: i32 = load %q align 4"


def test_a_load_leaves_a_loop_whose_stores_are_elsewhere() -> None:
    before = loop(INVARIANT.format(place="%p"), restrict=True)
    after = hoist(simplify(rotate(before)))
    assert_same(before, after)
    assert "load" not in operations(after)


def test_a_load_stays_behind_a_store_that_may_be_to_its_place() -> None:
    for body, restrict in ((INVARIANT.format(place="%p"), False), (INVARIANT.format(place="%q"), True)):
        assert "load" in operations(hoist(simplify(rotate(loop(body, restrict=restrict)))))


def test_a_load_that_only_some_iterations_make_stays() -> None:
    """It could fault: nobody says that the address may be read."""
    text = WHILE.format(body="%x: i32 = add %i, 1:i32", bound="%n", restrict="").replace(
        "    %t: i32 = add %s, %x",
        "    %some: i1 = eq %i, %n\n    branch %some, seldom, go(0:i32)\nseldom:\n    %y: i32 = load %q align 4\n"
        "    jump go(%y)\ngo(%z: i32):\n    %t: i32 = xor %z, %x",
    )
    after = hoist(simplify(rotate(read(text))))
    (seldom,) = (b for b in after.blocks if b.name == "seldom")
    assert [i.operation for i in seldom.instructions] == ["load"]


def test_near_distances_stay_with_their_loads() -> None:
    body = "%at: ptr = offset %q, 8:i64\n    store %i, %at align 4\n    %x: i32 = load %at align 4"
    assert "offset" in operations(hoist(simplify(rotate(loop(body)))))
    assert "offset" not in operations(hoist(simplify(rotate(loop(body))), HoistCosts(near=0)))


def test_a_stored_value_is_loaded_from_nowhere_in_the_next_iteration() -> None:
    """A prefix sum: p[i + 1] += p[i]."""
    body = (
        ELEMENT
        + """    %old: i32 = load %at align 4
    %there: ptr = offset %at, 4:i64
    %own: i32 = load %there align 4
    %x: i32 = add %old, %own
    store %x, %there align 4"""
    )
    before = loop(body)
    after = simplify(carry_loads(common(simplify(rotate(simplify(widen_counters(before)))))))
    assert_same(before, after)
    assert operations(after).count("load") == 1


def test_nothing_is_carried_past_a_store_that_may_change_it() -> None:
    body = (
        ELEMENT
        + """    %old: i32 = load %at align 4
    %there: ptr = offset %at, 4:i64
    store %i, %there align 4
    store 7:i32, %q align 4
    %x: i32 = add %old, 1:i32"""
    )
    after = simplify(carry_loads(common(simplify(rotate(simplify(widen_counters(loop(body))))))))
    assert "load" in operations(after)


def test_a_store_to_one_place_moves_behind_the_loop() -> None:
    before = loop("%x: i32 = add %i, 3:i32\n    store %x, %q align 4", restrict=True)
    after = sink_stores(simplify(rotate(before)))
    assert_same(before, after)
    assert "store" not in operations(after)
    read_again = loop("%x: i32 = load %q align 4\n    store %i, %q align 4")
    assert "store" in operations(sink_stores(simplify(rotate(read_again))))


def test_loads_are_forwarded_until_something_may_change_them() -> None:
    text = """\
function f(%p: ptr, %q: ptr, %n: i32) -> i32 {
entry:
    store %n, %p align 4
    %a: i32 = load %p align 4
    %near: ptr = offset %p, 4:i64
    store 5:i32, %near align 4
    %b: i32 = load %p align 4
    store 6:i32, %q align 4
    %c: i32 = load %p align 4
    %d: i32 = add %a, %b
    %e: i32 = add %d, %c
    return %e
}
"""
    after = forward_loads(read(text))
    assert_same(read(text), after)
    assert [i.operation for i in after.blocks[0].instructions].count("load") == 1


def test_a_store_that_another_covers_goes_unless_something_reads_it() -> None:
    text = """\
function f(%p: ptr, %q: ptr, %n: i32) -> i32 {
entry:
    store 1:i32, %p align 4
    store 2:i32, %p align 4
    %a: i32 = load %q align 4
    store 3:i32, %p align 4
    store volatile 4:i32, %q align 4
    return %a
}
"""
    text = text.replace("store volatile 4:i32, %q align 4", "store 4:i32, %q align 4 volatile")
    after = remove_dead_stores(read(text))
    assert_same(read(text), after)
    stored = [i.operands[0] for i in after.blocks[0].instructions if i.operation == "store"]
    assert [getattr(operand, "value", None) for operand in stored] == [2, 3, 4]


STRUCTURE = """\
function f(%p: ptr, %q: ptr, %n: i32) -> i32 {
entry:
    %pair: ptr = alloca 8:i64 align 4
    %second: ptr = offset %pair, 4:i64
    store %n, %pair align 4
    store 7:i32, %second align 4
    %big: i1 = sgt %n, 3:i32
    branch %big, more, end
more:
    store 9:i32, %second align 4
    jump end
end:
    %a: i32 = load %pair align 4
    %b: i32 = load %second align 4
    %c: i32 = xor %a, %b
    return %c
}
"""


def test_the_fields_of_a_structure_become_values() -> None:
    after = simplify(split_variables(read(STRUCTURE)))
    assert_same(read(STRUCTURE), after)
    assert not {"alloca", "load", "store"} & {i.operation for b in after.blocks for i in b.instructions}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("offset %pair, 4:i64", "offset %pair, 2:i64"),
        ("store 7:i32, %second", "store %second, %q align 8\n    store 7:i32, %second"),
        ("load %second align 2", "load %second align 2 volatile"),
    ],
)
def test_a_structure_stays_in_memory(old: str, new: str) -> None:
    """Where fields overlap, where somebody else has its address, where an access is volatile."""
    text = STRUCTURE.replace("align 4\n", "align 2\n").replace(old, new)
    assert "alloca" in {i.operation for b in split_variables(read(text)).blocks for i in b.instructions}


def test_branches_on_constants_and_blocks_without_code_go() -> None:
    text = """\
function f(%p: ptr, %q: ptr, %n: i32) -> i32 {
entry:
    %two: i32 = add 1:i32, 1:i32
    %is: i1 = slt %two, 3:i32
    branch %is, one, other
one:
    jump both(1:i1)
other:
    jump both(0:i1)
both(%c: i1):
    branch %c, yes, no
yes:
    %a: i32 = add %n, 1:i32
    %b: i32 = sub %a, 3:i32
    return %b
no:
    return %n
}
"""
    after = simplify(read(text))
    assert_same(read(text), after)
    assert len(after.blocks) == 1
    assert [i.operation for i in after.blocks[0].instructions] == ["add"]
