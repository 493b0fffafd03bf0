# SPDX-License-Identifier: Apache-2.0
"""Passes on superblock loops keep what functions mean, and do what they say; memory dependences are those that a run
has."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.transform.ssa.structured import structured
from tests.transform.ssa.test_ifconvert import NUMBERS, check
from tests.transform.ssa.test_vectorize import differs
from tests.transform.ssa.vector_loops import draw

from polyloom.analysis.affine import ITERATION, Affine, in_iteration_numbers
from polyloom.analysis.aliases import Aliases
from polyloom.analysis.memory_dependences import memory_dependences
from polyloom.analysis.superblocks import superblocks
from polyloom.ir.ssa import SPECULATED, Function, Instruction, Operand, Value
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_types import Type
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa import materialize
from polyloom.transform.ssa.address_modes import AddressMode, select_addresses
from polyloom.transform.ssa.exit_test_replacement import replace_loop_tests
from polyloom.transform.ssa.expand_operations import Makers, expand_operations
from polyloom.transform.ssa.hoist import HoistCosts, hoist
from polyloom.transform.ssa.hyperblocks import form_hyperblocks
from polyloom.transform.ssa.loop_closed import close_loops
from polyloom.transform.ssa.reassociate import reassociate_recurrences
from polyloom.transform.ssa.redundant_loads import forward_loads
from polyloom.transform.ssa.simplify import simplify
from polyloom.transform.ssa.sinking import sink
from polyloom.transform.ssa.speculation import Speculation

ALL = Speculation(frozenset(SPECULATED), frozenset({"store", "call"}))
MODE = AddressMode((8, 4, 2, 1), 12)


def _hoisted(function: Function) -> Function:
    return hoist(function, HoistCosts(0, lambda i: False, 99, ALL, True))


PASSES: dict[str, Callable[[Function], Function]] = {
    "hoist": _hoisted,
    "reassociate": reassociate_recurrences,
    "loads": lambda f: forward_loads(f, True),
    "count": replace_loop_tests,
    "addresses": lambda f: select_addresses(f, MODE),
    "count, addresses": lambda f: select_addresses(simplify(replace_loop_tests(f)), MODE),
    "sink": lambda f: sink(close_loops(f)),
}


@pytest.mark.parametrize("name", PASSES)
def test_drawn_loops_keep_their_meaning(name: str) -> None:
    changed = 0
    for seed in range(24):
        function = verify(draw(Random(seed), (8, 20)[seed % 2], chains=True))
        made = verify(PASSES[name](function))
        changed += made != function
        assert not differs(function, made, seed), seed
    assert changed >= 2


@given(structured(), NUMBERS, st.sampled_from([*PASSES]))
@settings(max_examples=60)
def test_structured_functions_keep_their_meaning(function: Function, n: int, name: str) -> None:
    check(function, PASSES[name](form_hyperblocks(function, ALL)), n)


def test_a_wrong_base_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(form: Affine, to: list[Instruction], fresh: Callable[[str], str], address: Type) -> Operand:
        return materialize.materialize(form + Affine(4), to, fresh, address)

    monkeypatch.setattr("polyloom.transform.ssa.address_modes.materialize", wrong)
    functions = [(seed, draw(Random(seed), 20)) for seed in range(8)]

    def is_noticed(seed: int, function: Function) -> bool:
        try:
            return differs(function, select_addresses(replace_loop_tests(function), MODE), seed)
        except Exception:
            return True

    assert any(is_noticed(seed, function) for seed, function in functions)


COUNTED = """pointers 32
function f(%n: i32, %x: ptr, %y: ptr restrict) -> i32 {
entry:
    jump loop(0:i32, 0:i32)
loop(%i: i32, %s: i32):
    %p: i32 = shl %i, 2:i32
    %a: ptr = offset %x, %p
    %b: ptr = offset %y, %p
    %b4: ptr = offset %b, 4:i32
    %v: i32 = load %a align 4
    %w: i32 = load %b align 4
    %t: i32 = add %s, %v
    %u: i32 = add %t, %w
    store %u, %b4 align 4
    %j: i32 = add %i, 1:i32
    %e: i1 = eq %j, %n
    branch %e, out, loop(%j, %u)
out:
    %r: i32 = mul %j, %u
    return %r
}
"""


def test_what_each_pass_does() -> None:
    function = verify(read(COUNTED))
    assert "add %s" not in print_ssa(reassociate_recurrences(function))
    counted = print_ssa(simplify(select_addresses(simplify(replace_loop_tests(function)), MODE)))
    assert "eq %i.2, 0:i32" in counted
    closed = close_loops(function)
    assert "branch %e, exit" in print_ssa(closed)
    (loop,) = superblocks(closed)
    assert {o.name for e in loop.exits for o in e.edge.arguments if isinstance(o, Value)} == {"j", "u"}


def test_volatile_loads_stay_in_their_loop() -> None:
    """Also on a machine whose loads may run where nobody asked for them."""
    for flag, moves in (("", True), (" volatile", False)):
        text = COUNTED.replace("%v: i32 = load %a align 4", f"%v: i32 = load %x align 4{flag}")
        (loop,) = superblocks(_hoisted(read(text)))
        assert ("v" in loop.definitions) != moves


def test_dependences_are_those_of_a_run() -> None:
    """By brute force over eight iterations of subscripts i * a + b of two arrays."""
    random = Random(7)
    for _ in range(60):
        accesses = [
            (random.choice("xy"), random.choice((0, 1, 1, 2, -1)), random.randrange(-4, 5), random.random() < 0.5)
            for _ in range(3)
        ]
        lines = [
            line
            for k, (array, stride, base, stores) in enumerate(accesses)
            for line in (
                f"    %m{k}: i32 = mul %i, {4 * stride}:i32",
                f"    %o{k}: ptr = offset %{array}, %m{k}",
                f"    %q{k}: ptr = offset %o{k}, {4 * base}:i32",
                f"    store %i, %q{k} align 4" if stores else f"    %l{k}: i32 = load %q{k} align 4",
            )
        ]
        text = COUNTED.splitlines()
        body = [*text[:5], *lines, "    %u: i32 = add %s, 1:i32", *text[14:]]
        function = verify(read("\n".join(body) + "\n"))
        (loop,) = superblocks(function)
        aliases = Aliases(function, True)
        memory = [i for i in loop.instructions if i.operation in ("load", "store")]
        found = {(d.source, d.sink): d.distance for d in memory_dependences(memory, loop, aliases, {})}
        form = in_iteration_numbers(aliases.forms.address(memory[0]), loop, aliases.forms)
        assert form.coefficient(ITERATION) == 4 * accesses[0][1]
        assert found == _brute(accesses)


def _brute(accesses: list[tuple[str, int, int, bool]]) -> dict[tuple[int, int], int]:
    """The least distance after which each pair of accesses, one of them a store, meets."""
    found: dict[tuple[int, int], int] = {}
    for k, (array, a, b, stores) in enumerate(accesses):
        for m, (other, c, d, also) in enumerate(accesses):
            if k == m or array != other or not (stores or also):
                continue
            least = 0 if k < m else 1
            if a != c:  # unlike strides are not told apart
                found[k, m] = least
                continue
            distances = [t for t in range(least, 20) if b == c * t + d]
            if distances:
                found[k, m] = distances[0]
    return found


def _lacks(i: Instruction, makers: Makers) -> bool:
    name = i.callee or i.operation
    words = [makers.get(getattr(o, "name", "")) for o in i.operands]
    of_words = all(w is not None and w.operation == "zext" for w in words)
    return name in ("smin", "smax", "umin", "umax", "abs", "ctpop", "ctlz", "cttz", "bswap", "fshl", "fshr") or (
        name == "mul" and i.results[0].type.bits == 64 and not of_words
    )


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize(
    "text",
    [
        *("call smin %a, %b", "call umax %a, %b", "call abs %a", "call ctpop %a", "call ctlz %a", "call cttz %a"),
        *("call bswap %a", "call fshl %a, %a, %b", "call fshr %a, %a, %b", "call fshl %a, %a, 5:iN", "mul %a, %b"),
    ],
)
def test_expansions_give_what_the_operation_gives(text: str, bits: int) -> None:
    source = f"function f(%a: iN, %b: iN) -> iN {{\nentry:\n    %r: iN = {text}\n    return %r\n}}\n"
    function = verify(read(source.replace("iN", f"i{bits}")))
    made = verify(expand_operations(function, _lacks, AssertionError))
    assert made != function or (text[:3] == "mul" and bits < 64)
    assert not any(
        _lacks(i, {r.name: o for o in made.blocks[0].instructions for r in o.results})
        for i in made.blocks[0].instructions
    )
    random = Random(bits)
    for _ in range(40):
        a, b = (random.getrandbits(64) - 2**63 >> random.randrange(63) for _ in range(2))
        assert interpret(function, [a, b]) == interpret(made, [a, b]), (a, b)
