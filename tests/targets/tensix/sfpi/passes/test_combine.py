# SPDX-License-Identifier: Apache-2.0
"""Combination: SFPMULI and SFPADDI give the bits of what they stand for, for every BF16 literal and edge values."""

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tensix.sfpi.passes.bench import agree, kernel, listing, plain, run
from tests.targets.tensix.vector.words import SPECIAL

from polyloom._native.tensix import VectorBench
from polyloom.targets.tensix.source.lower.compile import Options
from polyloom.targets.tensix.words.isa import Member

_LANES = np.resize(np.array(SPECIAL, np.uint32), 32)
_LITERALS = [bits for bits in range(1 << 16) if bits & 0x7FFF <= 0x7F80]
"""All numbers of BF16, infinities too."""


def _values(seed: int) -> NDArray[np.uint32]:
    return np.random.default_rng(seed).integers(0, 1 << 32, 32, np.uint32)


@pytest.mark.parametrize("member", ["wormhole", pytest.param("blackhole", marks=pytest.mark.long)])
def test_products_with_literals(member: Member) -> None:
    """SFPMUL L1, L0, L2, L9 and SFPMULI L0, exhaustively over literals, on edge values and random ones."""
    bench = VectorBench(member == "blackhole")
    for literal in _LITERALS:
        bench.registers[0] = _LANES if literal & 1 else _values(literal)
        bench.registers[2] = literal << 16
        bench.run(np.array([0x86 << 24 | 2 << 12 | 9 << 8 | 1 << 4, 0x74 << 24 | literal << 8], np.uint32))
        assert (bench.registers[0] == bench.registers[1]).all(), f"{literal:#x}"


@pytest.mark.parametrize("member", [pytest.param("wormhole", marks=pytest.mark.long), "blackhole"])
def test_sums_with_literals(member: Member) -> None:
    """SFPADD L1, L10, L2, L0, where the literal comes first, and SFPADDI L0."""
    bench = VectorBench(member == "blackhole")
    for literal in _LITERALS:
        bench.registers[0] = _LANES if literal & 1 else _values(literal)
        bench.registers[2] = literal << 16
        words = [0x85 << 24 | 10 << 16 | 2 << 12 | 0 << 8 | 1 << 4, 0x75 << 24 | literal << 8]
        bench.run(np.array(words, np.uint32))
        assert (bench.registers[0] == bench.registers[1]).all(), f"{literal:#x}"


def test_sums_the_other_way_round_differ_in_nans_alone() -> None:
    """Why a literal that comes second is no SFPADDI on Wormhole."""
    bench = VectorBench()
    differs = 0
    for literal in range(0, 1 << 16, 64):
        bench.registers[0] = _LANES
        bench.registers[2] = literal << 16
        words = [0x85 << 24 | 10 << 16 | 0 << 12 | 2 << 8 | 1 << 4, 0x75 << 24 | literal << 8]
        bench.run(np.array(words, np.uint32))
        unlike = bench.registers[0] != bench.registers[1]
        is_nan = (_LANES & 0x7FFFFFFF) >= 0x7F800000
        assert not (unlike & ~is_nan).any() or literal & 0x7FFF > 0x7F80
        differs += int(unlike.sum())
    assert differs


BODY = """%a: i32x32 = call @load 0:i32, 3:i32, 0:i32
%e: i32x32 = call @sfpexexp %a, 0:i32
%z: i32x32 = call @splat 0:i32
%five: i32x32 = call @splat 5:i32
%half: i32x32 = call @splat 1056964608:i32
call @push
%m: maskx32 = call @cmp_i CONDITION:i32, %e, %LITERAL
call @cond %m
%t: i32x32 = call @sfpmul %a, %half, 0:i32
%b: i32x32 = call @assign %a, %t
call @pop
call @store %b, 0:i32, 3:i32, 0:i32
"""


@pytest.mark.parametrize("condition", range(6))
@pytest.mark.parametrize("literal", ["z", "five"])
def test_tests_join_what_computes_the_value(condition: int, literal: str) -> None:
    function = kernel(BODY.replace("CONDITION", str(condition)).replace("LITERAL", literal))
    ran = run(function, plain(condition))
    agree(ran)
    apart = run(function, plain(condition), options=Options(without=frozenset({"combine"})))
    agree(apart)
    assert "SFPMULI" in listing(ran) and "SFPMULI" not in listing(apart)
    assert len(ran.words) < len(apart.words)
