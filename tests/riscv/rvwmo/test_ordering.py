# SPDX-License-Identifier: Apache-2.0
"""The ordering-preserving pass, judged by the memory model: what a branch forbids stays forbidden, and without the pass
it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.conftest import Golden

from polyloom.ir.ssa import Block, Branch, Edge, Function
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.riscv import names
from polyloom.riscv.ordering import How, preserve_order
from polyloom.riscv.rvwmo import judge
from polyloom.riscv.rvwmo.litmus import print_litmus
from polyloom.riscv.rvwmo.pattern import litmus_tests
from polyloom.transform.ssa.if_convert import Cost, if_convert

HOWS: tuple[How, ...] = get_args(How)
ISAS = ("rv64gc", "rv64gc_zicond", "rv64gc_zicond_zbb")
HEAD = "function f(%x: ptr, %y: ptr, %z: ptr, %n: i32) -> i32 {\nentry:\n"
LOAD = "%r: i32 = load %x align 4 volatile\n%c: i1 = ne %r, 0:i32\n"
SELECT = "%t: i32 = select %c, 7:i32, %n\n"
STORE = "store 1:i32, %y align 4 volatile\n"
END = "return %t\n}\n"

NEEDED = {
    "store": LOAD + SELECT + STORE + END,
    "relaxed": LOAD.replace("volatile", "monotonic") + SELECT + STORE.replace("volatile", "monotonic") + END,
    "plain store": LOAD + SELECT + STORE.replace(" volatile", "") + END,
    "fence before the load": "fence seq_cst\n" + LOAD + SELECT + STORE + END,
    "two selects": LOAD + SELECT + "%u: i32 = select %c, %n, 3:i32\n" + STORE + "%v: i32 = add %t, %u\nreturn %v\n}\n",
    "two stores": LOAD + SELECT + STORE + "store 2:i32, %z align 4\n" + END,
    "dependent store, then another": LOAD + SELECT + "store %t, %z align 4\n" + STORE + END,
    "store on one way": LOAD
    + SELECT
    + "%d: i1 = eq %n, 1:i32\nbranch %d, do, end\ndo:\n"
    + STORE
    + "jump end\nend:\n"
    + END,
    "dependence on one way": LOAD
    + SELECT
    + (
        "%d: i1 = eq %n, 1:i32\nbranch %d, a, b\na:\njump end(0:i32)\nb:\njump end(%t)\nend(%u: i32):\n"
        "%v: i32 = or %u, "
        "1:i32\nstore %v, %y align 4\n"
    )
    + END,
    "branch on another load": "%q: i32 = load %z align 4 volatile\n%d: i1 = ne %q, 5:i32\n"
    + LOAD
    + SELECT
    + "branch %d, do, end\ndo:\n"
    + STORE
    + "jump end\nend:\n"
    + END,
    "through memory order unordered": LOAD.replace("volatile", "unordered") + SELECT + STORE + END,
}
"""Functions whose store, as they stand, may come before the load, which a branch in place of the select forbids."""
OTHERWISE = {
    "data": LOAD + SELECT + "store %t, %y align 4 volatile\n" + END,
    "address": LOAD
    + SELECT
    + "%o: i64 = zext %t\n%p: i64 = and %o, 0:i64\n%a: ptr = offset %y, %p\nstore 1:i32, %a align 4\n"
    + END,
    "branch": LOAD + SELECT + "branch %c, do, do\ndo:\n" + STORE + END,
    "earlier branch": LOAD + "branch %c, do, do\ndo:\n" + SELECT + STORE + END,
    "acquire": LOAD.replace("volatile", "acquire") + SELECT + STORE + END,
    "release": LOAD + SELECT + STORE.replace("volatile", "release") + END,
    "fence": LOAD + SELECT + "fence acquire\n" + STORE + END,
    "fence before the select": LOAD + "fence acq_rel\n" + SELECT + STORE + END,
    "no later store": STORE + LOAD + SELECT + END,
    "plain load": LOAD.replace(" volatile", "") + SELECT + STORE + END,
    "plain condition": LOAD + "%d: i1 = ne %n, 0:i32\n" + SELECT.replace("%c", "%d") + STORE + END,
}
"""Functions that the pass leaves alone: nothing is lost, or order has other reasons."""


def function(body: str) -> Function:
    return verify(read(HEAD + body))


def verdicts(function: Function, isa: str = "rv64gc_zicond") -> list[str]:
    """Of the tests for a load before a store, by shape and locations."""
    values = {"n": 1}
    found = [judge(test) for test in litmus_tests(function, names.parse_isa(isa), values)]
    return [verdict.verdict for verdict in found if "+MP+" not in verdict.name]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", NEEDED)
def test_keeps_what_a_branch_orders(name: str, how: How) -> None:
    """And without the pass, the forbidden state is reached: in some test where several pairs are tested."""
    before = function(NEEDED[name])
    after = verify(preserve_order(before, how))
    assert set(verdicts(with_branches(before))) == {"Never"}
    assert "Sometimes" in verdicts(before)
    assert verdicts(after) == verdicts(with_branches(before))
    assert preserve_order(after, how) == after


@pytest.mark.parametrize("name", OTHERWISE)
def test_leaves_alone_what_needs_nothing(name: str) -> None:
    before = function(OTHERWISE[name])
    assert [preserve_order(before, how) for how in HOWS] == [before, before]


@pytest.mark.parametrize("isa", ISAS)
def test_on_every_instruction_set(isa: str) -> None:
    before = function(NEEDED["store"])
    assert [
        set(verdicts(f, isa)) for f in (before, preserve_order(before, "branch"), preserve_order(before, "fence"))
    ] == [
        {"Sometimes"},
        {"Never"},
        {"Never"},
    ]


def test_if_conversion_and_the_pass() -> None:
    """The claim whole: branches, if-converted, with the order kept; and the converse, a select that orders a load by
    its address."""
    branches = with_branches(function(NEEDED["store"]))
    converted = if_convert(branches, Cost(branch=100))
    assert "select" in print_ssa(converted)
    assert [set(verdicts(f)) for f in (branches, converted, *(preserve_order(converted, how) for how in HOWS))] == [
        {"Never"},
        {"Sometimes"},
        {"Never"},
        {"Never"},
    ]


def test_an_address_is_ordered_by_a_select_alone() -> None:
    select = function(LOAD + "%p: ptr = select %c, %y, %z\n%t: i32 = load %p align 4 volatile\nreturn %t\n}\n")
    found = [
        [judge(test).verdict for test in litmus_tests(f, names.parse_isa("rv64gc_zicond"), {})]
        for f in (select, with_branches(select))
    ]
    assert found == [["Never"], ["Sometimes"]]


def test_a_loop_waits_for_the_load_of_every_round() -> None:
    """Here the last round's load is ordered by a branch, but not the one before, whose select the store comes after."""
    loop = (
        "jump loop(0:i32)\nloop(%i: i32):\n"
        + LOAD
        + "branch %c, again, end\nagain:\n"
        + SELECT
        + "%j: i32 = add %i, %t\njump loop(%j)\nend:\n"
    )
    carried = (
        "jump loop(0:i32, 0:i32)\nloop(%i: i32, %old: i32):\n"
        + LOAD
        + SELECT
        + (
            "store %old, %y align 4\n%j: i32 = add %i, %t\n%k: i1 = slt %j, 9:i32\nbranch %k, loop(%j, %r), end\nend:\n"
            "return %j\n}\n"
        )
    )
    ordered_by_branch = function(loop + STORE + "return %i\n}\n")
    assert preserve_order(ordered_by_branch, "fence") == ordered_by_branch
    assert "fence load_store" in print_ssa(preserve_order(function(carried), "fence"))


def test_golden(golden: Golden) -> None:
    """What the pass makes of every function, and the tests of some."""
    parts = [
        f"# {name}, {how}\n{print_ssa(preserve_order(function(body), how))}"
        for name, body in NEEDED.items()
        for how in HOWS
    ]
    golden("ordering", "\n".join(parts))
    shown = [
        preserve_order(function(NEEDED["store"]), "branch"),
        preserve_order(function(NEEDED["store"]), "fence"),
        function(NEEDED["store"]),
    ]
    tests = [test for each in shown for test in litmus_tests(each, names.parse_isa("rv64gc_zicond"), {"n": 1})]
    golden("ordering-tests", "\n".join(print_litmus(test) + f"(* {judge(test).verdict} *)\n" for test in tests))


@st.composite
def programs(draw: DrawFn) -> Function:
    """Volatile loads, selects of what was read before, dependent and plain stores, fences; all in one block."""
    lines = ["%v0: i32 = load %x align 4 volatile"]
    values = ["%v0"]
    for n in range(1, draw(st.integers(3, 7))):
        value = draw(st.sampled_from(values))
        match draw(st.sampled_from(("load", "select", "select", "store", "store", "dependent", "arithmetic", "fence"))):
            case "load":
                lines.append(f"%v{n}: i32 = load %{draw(st.sampled_from('xz'))} align 4 volatile")
                values.append(f"%v{n}")
            case "select":
                a, b = draw(
                    st.sampled_from([("3:i32", value), ("1:i32", "2:i32"), (draw(st.sampled_from(values)), "1:i32")])
                )
                lines += [
                    f"%c{n}: i1 = ne {value}, {draw(st.integers(0, 1))}:i32",
                    f"%v{n}: i32 = select %c{n}, {a}, {b}",
                ]
                values.append(f"%v{n}")
            case "arithmetic":
                lines.append(f"%v{n}: i32 = add {value}, 1:i32")
                values.append(f"%v{n}")
            case "fence":
                lines.append(f"fence {draw(st.sampled_from(('release', 'acq_rel')))}")
            case "dependent":
                lines.append(f"store {value}, %{draw(st.sampled_from('yz'))} align 4")
            case _:
                lines.append(f"store {n + 3}:i32, %{draw(st.sampled_from('yz'))} align 4 volatile")
    return function("\n".join([*lines, f"store 9:i32, %y align 4 volatile\nreturn {values[-1]}\n}}\n"]))


@settings(max_examples=25)
@given(programs(), st.sampled_from(HOWS))
def test_never_stays_never(before: Function, how: How) -> None:
    """Of random programs: no state that branches forbid is allowed after the pass."""
    branches, after = (verdicts(f) for f in (with_branches(before), verify(preserve_order(before, how))))
    assert len(branches) == len(after)
    assert all(a == "Never" for b, a in zip(branches, after, strict=True) if b == "Never")


def with_branches(function: Function) -> Function:
    """Every select as a branch."""
    made: list[Block] = []
    for block in function.blocks:
        name, parameters, start = block.name, block.parameters, 0
        for n, instruction in enumerate(block.instructions):
            if instruction.operation == "select" and instruction.result:
                condition, a, b = instruction.operands
                rest = f"after.{instruction.result.name}"
                made.append(
                    Block(
                        name,
                        parameters,
                        block.instructions[start:n],
                        Branch(condition, Edge(rest, (a,)), Edge(rest, (b,))),
                    )
                )
                name, parameters, start = rest, (instruction.result,), n + 1
        made.append(Block(name, parameters, block.instructions[start:], block.terminator))
    return verify(replace(function, blocks=tuple(made)))
