# SPDX-License-Identifier: Apache-2.0
"""Kernels with many values: orders with short lives, spilling to Dst, and the message where neither helps."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from tests.targets.tensix.sfpi.kernels import ARGUMENTS, state
from tests.targets.tensix.sfpi.kernels import kernel as random_kernel
from tests.targets.tensix.sfpi.passes.bench import agree, kernel, plain, run

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Place
from polyloom.targets.tensix.source.lower.compile import Options, lower
from polyloom.targets.tensix.words.isa import Member

EARLY = "".join(f"%l{k}: i32x32 = call @splat {1000003 + k}:i32\n" for k in range(10))
LOADED = "".join(f"%a{k}: i32x32 = call @load 0:i32, 3:i32, {2 * k}:i32\n" for k in range(10))


def _sum(letter: str) -> str:
    """s9 = x0 + x1 + ... + x9, then all of them once more, so that none dies early."""
    first = f"%s0: i32x32 = call @sfpxor %{letter}0, %{letter}0\n"
    chain = "".join(f"%s{k}: i32x32 = call @sfpiadd_v %s{k - 1}, %{letter}{k}, 4:i32\n" for k in range(1, 10))
    again = "".join(
        f"%t{k}: i32x32 = call @sfpxor {'%s9' if k == 0 else f'%t{k - 1}'}, %{letter}{k}\n" for k in range(10)
    )
    return f"{first}{chain}{again}call @store %t9, 4:i32, 3:i32, 64:i32\n"


@pytest.mark.parametrize("body", [EARLY + _sum("l"), LOADED + _sum("a")])
def test_literals_and_rows_are_loaded_again(body: str) -> None:
    agree(run(kernel(body), plain()))


HELD = LOADED + "".join(f"%b{k}: i32x32 = call @sfpnot %a{k}\n" for k in range(10)) + _sum("b")
CHANGED = HELD.replace("%s0: ", "call @store %b0, 0:i32, 3:i32, 0:i32\n%s0: ", 1)


def test_too_many_values(golden: Callable[[str, str], None]) -> None:
    """Placed in lines of a file that is not there, so that the message tells lines in words."""
    function = kernel(CHANGED)
    lines = [replace(i, place=Place("kernel.h", n + 1, 1)) for n, i in enumerate(function.blocks[0].instructions)]
    placed = replace(function, blocks=(replace(function.blocks[0], instructions=tuple(lines)),))
    with pytest.raises(PolyloomError) as raised:
        lower(placed, Options(variables={"b0": "first", "a3": "third"}))
    assert raised.value.diagnostics[0].exit_code == 3
    golden("too-many", str(raised.value) + "\n")


def test_too_many_values_are_spilled() -> None:
    ran = run(kernel(CHANGED), state(1), options=Options(spill=(256, 320)))
    ran.state.dst.known[0][512:] = False  # the rows that were given
    agree(ran)
    assert ran.lowered.spills > 0


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_random_kernels_are_spilled(seed: int) -> None:
    function = random_kernel(Random(seed), variables=10)
    ran = run(function, state(seed), ARGUMENTS, Options(spill=(256, 448)))
    ran.state.dst.known[0][512:] = False
    agree(ran)


def _many(seed: int, variables: int, member: Member) -> None:
    """A spilled variable takes three times the rows where the counter of Dst moves: 30 and 40 leave it alone."""
    function = random_kernel(Random(seed), member, variables=variables, moves=variables <= 20)
    ran = run(function, state(seed, member), ARGUMENTS, Options(member, spill=(256, 512)))
    ran.state.dst.known[0][512:] = False
    agree(ran)
    assert ran.lowered.spills >= variables - 8


@pytest.mark.parametrize(
    ("seed", "variables", "member"),
    [(0, 20, "wormhole"), (0, 30, "blackhole"), pytest.param(0, 40, "wormhole", marks=pytest.mark.long)],
)
def test_random_kernels_with_many_values(seed: int, variables: int, member: Member) -> None:
    _many(seed, variables, member)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_more_random_kernels_with_many_values(seed: int) -> None:
    _many(seed, 20, "wormhole")


def test_spilled_values_that_never_live_at_once_share_rows() -> None:
    """One half after the other, in twelve places."""
    again = HELD.replace("%", "%x").replace("64:i32", "66:i32")
    again = again.replace("%xs0: ", "call @store %xb0, 0:i32, 3:i32, 2:i32\n%xs0: ", 1)
    for body in (CHANGED, CHANGED + again):
        ran = run(kernel(body), state(1), options=Options(spill=(256, 304)))
        ran.state.dst.known[0][512:] = False
        agree(ran)
        assert ran.lowered.spills > 0
