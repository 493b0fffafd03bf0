# SPDX-License-Identifier: Apache-2.0
"""The sixty C loops of `examples/loops`, run on the model and compared with the interpreter of SSA form and the
host: on every member; in the default run half of each family, each on one of them in turn."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from polyloom import api
from polyloom.cli.bench.loops import FAMILIES, Loop, arguments, loops
from polyloom.frontend.source import Options

MEMBERS = ("silver", "gold", "copper", "tin", "gold5", "hex4", "unit")
ALL = tuple(loops())


def compiled(loop: Loop, member: str, **own: Any) -> Any:
    given: dict[str, Any] = {"spl": "always", **own}
    return api.compile(loop.path, f"belt:{member}", options=Options(function=loop.name), **given)


def check(loop: Loop, member: str, *sizes: int, **own: Any) -> None:
    """Verified: the scratch of the smallest member suffices, too."""
    made = compiled(loop, member, **own)
    for n in sizes:
        assert made.run(arguments(loop, made.signature, n)).verified


def test_sixty_loops_in_ten_families() -> None:
    assert Counter(loop.family for loop in ALL) == dict.fromkeys(FAMILIES, 6)


@pytest.mark.parametrize(
    ("number", "loop"),
    [
        pytest.param(number, loop, marks=pytest.mark.long if number % 2 else (), id=loop.name)
        for number, loop in enumerate(ALL)
    ],
)
def test_a_loop_on_one_member(number: int, loop: Loop) -> None:
    check(loop, MEMBERS[number % len(MEMBERS)], 37)


def test_a_product_of_floats_on_the_smallest_member() -> None:
    """Its routine keeps values in scratch from their spill to their last fill: 40 bytes, once 176 of 128."""
    for name in ("dot_float", "saxpy", "sparse_dot"):
        check(next(loop for loop in ALL if loop.name == name), "tin", 9)


@pytest.mark.long
@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("loop", ALL, ids=[loop.name for loop in ALL])
def test_every_loop_on_every_member(loop: Loop, member: str) -> None:
    check(loop, member, 1, 2, 100)
    check(loop, member, 20, solver="torus")
    check(loop, f"{member}:unphased", 20)


@pytest.mark.parametrize("name", ["dot", "find_either", "compact", "iir"])
def test_few_iterations(name: str) -> None:
    """Fewer than stages: nothing of what runs ahead shows."""
    check(next(loop for loop in ALL if loop.name == name), "silver", 1, 2, 3, 5, 8)


def test_almost_all_are_pipelined_on_silver_and_gold() -> None:
    for member, some in (("silver", ALL[::10]), ("gold", ALL[5::10])):
        refused: list[str] = []
        for loop in some:
            made = compiled(loop, member, solver="iterative")
            facts: Any = made.target.made(made.data)
            refused += [f"{loop.name}: {f['reason']}" for f in facts["loops"] if not f["pipelined"]]
        assert refused == []
