# SPDX-License-Identifier: Apache-2.0
"""The whole pipeline: words on the native model leave what the interpreter leaves, on all lanes, without hazards."""

from random import Random

import pytest
from tests.targets.tensix.sfpi.kernels import ARGUMENTS, kernel, state
from tests.targets.tensix.sfpi.passes.bench import agree, plain, run
from tests.targets.tensix.sfpi.passes.bench import kernel as text

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_text import print_ssa
from polyloom.targets.tensix.source.lower.compile import SWITCHES, Options, lower
from polyloom.targets.tensix.words.isa import Member

ABS = """%a: i32x32 = call @load 0:i32, 3:i32, 0:i32
%b: i32x32 = call @sfpabs %a, 1:i32
call @store %b, 0:i32, 3:i32, 0:i32
"""
LEAKY_RELU = """%a: i32x32 = call @load 0:i32, 3:i32, 0:i32
%z: i32x32 = call @splat 0:i32
call @push
%m: maskx32 = call @cmp_f 0:i32, %a, %z
call @cond %m
%k: i32x32 = call @splat 1036779520:i32
%t: i32x32 = call @sfpmul %a, %k, 0:i32
%b: i32x32 = call @assign %a, %t
call @pop
call @store %b, 0:i32, 3:i32, 0:i32
"""


@pytest.mark.parametrize("body", [ABS, LEAKY_RELU])
def test_kernels_by_hand(body: str) -> None:
    agree(run(text(body), plain()))


def _agrees(function: Function, seed: int, options: Options) -> bool:
    """Whether the kernel fits into the registers; it agrees then."""
    try:
        agree(run(function, state(seed, options.member), ARGUMENTS, options))
    except PolyloomError as error:
        assert error.diagnostics[0].code == "PL1280", str(error)
        return False
    return True


@pytest.mark.parametrize("member", ["wormhole", "blackhole"])
@pytest.mark.parametrize("without", ["", *SWITCHES])
def test_random_kernels(member: Member, without: str) -> None:
    """With each pass switched off in turn. SFPTRANSP leaves no register to others, so that a few do not fit."""
    options = Options(member, frozenset({without} - {""}))
    fits = [_agrees(kernel(Random(seed), member), seed, options) for seed in range(5)]
    assert sum(fits) > 2


@pytest.mark.long
@pytest.mark.parametrize("member", ["wormhole", "blackhole"])
@pytest.mark.parametrize("without", ["", *SWITCHES])
@pytest.mark.parametrize("variables", [3, 6])
def test_many_random_kernels(member: Member, without: str, variables: int) -> None:
    options = Options(member, frozenset({without} - {""}))
    fits = [_agrees(kernel(Random(s), member, variables=variables), s, options) for s in range(100, 300)]
    assert sum(fits) > 120


def test_the_same_source_gives_the_same_words() -> None:
    made = [lower(kernel(Random(5))) for _ in range(2)]
    assert print_ssa(made[0].function) == print_ssa(made[1].function)
    assert made[0].notes == made[1].notes
